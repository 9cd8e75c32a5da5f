/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sink.h"

#include "base/file.h"
#include "results/shape.h"
#include "results/stems.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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
    char **classes; /* names; for what whole pictures show */
} labels_sink;

static void write_line(FILE *file, const labels_sink *sink, const sk_result_frame *frame,
                       const sk_instance *in)
{
    bool confidence = sink->confidence;
    double w = frame->width, h = frame->height;
    if (!in->has) { /* what the whole picture shows: probability and name, as Ultralytics */
        fprintf(file, "%.2f %s\n", (double)in->score,
                in->class_id >= 0 && in->class_id < sink->n_classes ? sink->classes[in->class_id] : "");
        return;
    }
    fprintf(file, "%d", in->class_id < 0 ? 0 : in->class_id);
    if (in->has & SK_HAS_OBB) {
        double xy[8];
        sk_obb_corners(in->obb, xy);
        for (int i = 0; i < 4; i++)
            fprintf(file, " %g %g", xy[2 * i] / w, xy[2 * i + 1] / h);
    } else { /* the line of a pose begins with a box: SLEAP's instances have the one around their keypoints */
        double box[4];
        sk_instance_bounds(frame->instances, in, box);
        fprintf(file, " %g %g %g %g", (box[0] + box[2] / 2) / w, (box[1] + box[3] / 2) / h, box[2] / w,
                box[3] / h);
    }
    if (in->has & SK_HAS_KEYPOINTS) {
        const sk_keypoint *p = frame->instances->keypoints + in->first_keypoint;
        for (int32_t k = 0; k < frame->instances->n_keypoints; k++) {
            if (isnan(p[k].x))
                fprintf(file, " 0 0 0");
            else
                fprintf(file, " %g %g %g", (double)p[k].x / w, (double)p[k].y / h, (double)p[k].score);
        }
    }
    if (confidence)
        fprintf(file, " %g", (double)in->score);
    if (in->track_id >= 0)
        fprintf(file, " %d", in->track_id);
    fputc('\n', file);
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
    FILE *file = NULL;
    SK_TRY(sk_file_create_stream(path, &file, err));
    for (int32_t i = 0; i < frame->instances->count; i++)
        write_line(file, sink, frame, &frame->instances->items[i]);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
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
    sink->classes = sk_calloc((size_t)n + 1, sizeof *sink->classes);
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

const sk_sink_kind sk_sink_labels = {"labels", "labels/", "Ultralytics label text, one file a picture",
                                     open_plain, NULL};
const sk_sink_kind sk_sink_labels_conf = {
    "labels-conf", "labels-conf/", "the same with the confidence on every line", open_with_confidence, NULL};
