/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sink.h"

#include "base/file.h"
#include "base/text_out.h"
#include "results/shape.h"
#include "results/stems.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* Ultralytics' label text: a folder with one file a picture, one line an instance, everything divided by the picture's
 * size: class, then x y w h (oriented boxes: four corners), then keypoints as x y visibility. With confidence last in
 * the "-conf" form. Frames of a video are named <video>_<n>.txt counting from 1, as Ultralytics does; frames without
 * instances have no file. */

extern const sk_sink_kind sk_sink_labels, sk_sink_labels_conf;

typedef struct labels_sink {
    sk_sink base;
    char *folder;
    sk_stems *stems;
    bool confidence;
    int32_t n_classes;
    char **classes;  /* names; for what whole pictures show */
    sk_text_out out; /* the file of the frame being written */
} labels_sink;

/* " %g" of each */
static void numbers(sk_text_out *out, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        sk_out_char(out, ' ');
        sk_out_g(out, values[i], 6);
    }
}

static void write_keypoints(sk_text_out *out, const sk_result_frame *frame, const sk_found *in)
{
    const sk_keypoint *p = frame->instances->keypoints + in->first_keypoint;
    for (int32_t k = 0; k < frame->instances->n_keypoints; k++) {
        if (isnan(p[k].x))
            sk_out_text(out, " 0 0 0");
        else
            numbers(out,
                    (const double[]){(double)p[k].x / frame->width, (double)p[k].y / frame->height,
                                     (double)p[k].score},
                    3);
    }
}

static void write_line(sk_text_out *out, const labels_sink *sink, const sk_result_frame *frame,
                       const sk_found *in)
{
    const double w = frame->width, h = frame->height, score = (double)in->score;
    if (!in->has) { /* what the whole picture shows: probability and name, as Ultralytics */
        sk_out_f(out, score, 2);
        sk_out_char(out, ' ');
        if (in->class_id >= 0 && in->class_id < sink->n_classes)
            sk_out_text(out, sink->classes[in->class_id]);
        sk_out_char(out, '\n');
        return;
    }
    sk_out_int(out, in->class_id < 0 ? 0 : in->class_id);
    if (in->has & SK_HAS_OBB) {
        double xy[8];
        sk_obb_corners(in->obb, xy);
        for (int i = 0; i < 8; i++)
            xy[i] /= i % 2 ? h : w;
        numbers(out, xy, 8);
    } else { /* the line of a pose begins with a box: SLEAP's instances have the one around their keypoints */
        double box[4];
        sk_instance_bounds(frame->instances, in, box);
        numbers(
            out,
            (const double[]){(box[0] + box[2] / 2) / w, (box[1] + box[3] / 2) / h, box[2] / w, box[3] / h},
            4);
    }
    if (in->has & SK_HAS_KEYPOINTS)
        write_keypoints(out, frame, in);
    if (sink->confidence)
        numbers(out, &score, 1);
    if (in->track_id >= 0) {
        sk_out_char(out, ' ');
        sk_out_int(out, in->track_id);
    }
    sk_out_char(out, '\n');
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    labels_sink *sink = (labels_sink *)base;
    const char *stem = NULL; /* also of frames without instances: names depend on who came before */
    SK_TRY(sk_stems_of(sink->stems, frame->source, frame->index, &stem, err));
    if (frame->instances->count == 0)
        return SK_OK;
    char path[4600];
    const size_t length = strlen(sink->folder);
    snprintf(path, sizeof path, "%s%s%s.txt", sink->folder,
             length && sink->folder[length - 1] == '/' ? "" : "/", stem);
    sk_text_out *out = &sink->out;
    SK_TRY(sk_file_create_stream(path, &out->file, err));
    for (int32_t i = 0; i < frame->instances->count; i++)
        write_line(out, sink, frame, &frame->instances->items[i]);
    sk_out_push(out);
    bool failed = ferror(out->file) != 0;
    if (fclose(out->file) != 0 || failed)
        return sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", path, strerror(errno),
                       sk_file_remedy(errno));
    return SK_OK;
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    (void)base;
    (void)err;
    return SK_OK;
}

static sk_status close_labels(sk_sink *base, sk_error *err)
{
    labels_sink *sink = (labels_sink *)base;
    (void)err;
    for (int32_t i = 0; i < sink->n_classes; i++)
        sk_free(sink->classes[i]);
    sk_free(sink->classes);
    sk_stems_close(&sink->stems);
    sk_free(sink->folder);
    sk_free(sink);
    return SK_OK;
}

static sk_status open_kind(const char *path, const sk_run_header *header, const sk_sink_kind *kind,
                           bool confidence, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_folder_make_own(path, err));
    labels_sink *sink = sk_calloc(1, sizeof *sink);
    char *folder = sk_strdup(path);
    sk_stems *stems = NULL;
    sk_status status = sink && folder
                           ? sk_stems_open(strcmp(header->source_kind, "pictures") == 0, &stems, err)
                           : sk_fail_memory(err, sizeof *sink);
    if (status != SK_OK) {
        sk_free(sink);
        sk_free(folder);
        return status;
    }
    *sink = (labels_sink){.base = {kind, write_frame, flush, close_labels},
                          .folder = folder,
                          .stems = stems,
                          .confidence = confidence};
    int32_t n = header->has ? 0 : header->n_classes;
    sink->classes = sk_calloc((size_t)n, sizeof *sink->classes);
    bool whole = sink->classes != NULL;
    for (; whole && sink->n_classes < n; sink->n_classes += whole)
        whole = (sink->classes[sink->n_classes] = sk_strdup(header->class_names[sink->n_classes])) != NULL;
    if (!whole) {
        (void)!close_labels(&sink->base, NULL);
        return sk_fail_memory(err, sizeof *sink);
    }
    *out = &sink->base;
    return SK_OK;
}

static sk_status open_plain(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_kind(path, header, &sk_sink_labels, false, out, err);
}

static sk_status open_with_confidence(const char *path, const sk_run_header *header, sk_sink **out,
                                      sk_error *err)
{
    return open_kind(path, header, &sk_sink_labels_conf, true, out, err);
}

const sk_sink_kind sk_sink_labels = {
    .name = "labels",
    .file = "labels/",
    .help = "Ultralytics label text, one file a picture",
    .open = open_plain,
    .no_shapes = true,
};
const sk_sink_kind sk_sink_labels_conf = {
    .name = "labels-conf",
    .file = "labels-conf/",
    .help = "the same with the confidence on every line",
    .open = open_with_confidence,
    .no_shapes = true,
};
