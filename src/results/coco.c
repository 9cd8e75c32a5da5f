/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/shape.h"
#include "results/stems.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Two files. The COCO dataset: categories first, annotations as they come, images last; the images wait in a temporary
 * file, so that a long video costs no memory. Image ids count from 1 in the order of frames. Beside it the list of results
 * that COCO's evaluator loads against a dataset (pycocotools' loadRes), with the same image and category ids. */

extern const sk_sink_kind sk_sink_coco;

typedef struct coco_extra {
    sk_text_out images, list;
    char *list_path;
    sk_stems *stems;
    bool pictures;
    int64_t n_images, n_annotations;
} coco_extra;

static double finite_or_zero(float value)
{
    return isfinite(value) ? (double)value : 0;
}

/* "[" a "," b … "]" */
static void numbers(sk_text_out *out, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        sk_out_char(out, i ? ',' : '[');
        sk_out_g(out, values[i], 7);
    }
    sk_out_char(out, ']');
}

/* `key` and a whole number */
static void whole(sk_text_out *out, const char *key, int64_t value)
{
    sk_out_text(out, key);
    sk_out_int(out, value);
}

/* The keypoints; the third number is COCO's visibility in a dataset and the score in a list of results. */
static void write_keypoints(sk_text_out *out, const sk_instances *all, const sk_found *in, bool scores)
{
    int found = 0;
    sk_out_text(out, ",\"keypoints\":[");
    for (int32_t k = 0; k < all->n_keypoints; k++) {
        const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
        bool here = !isnan(p->x);
        found += here;
        if (k)
            sk_out_char(out, ',');
        sk_out_g(out, finite_or_zero(p->x), 7);
        sk_out_char(out, ',');
        sk_out_g(out, finite_or_zero(p->y), 7);
        sk_out_char(out, ',');
        sk_out_g(out, !here ? 0 : scores ? finite_or_zero(p->score) : 2, 7);
    }
    sk_out_char(out, ']');
    if (!scores)
        whole(out, ",\"num_keypoints\":", found);
}

/* What both files say of an instance, after its ids. */
static void write_body(sk_text_out *out, const sk_instances *all, const sk_found *in, bool results)
{
    double box[4];
    sk_instance_bounds(all, in, box);
    whole(out, "\"category_id\":", (in->class_id < 0 ? 0 : in->class_id) + 1);
    sk_out_text(out, ",\"score\":");
    sk_out_g(out, finite_or_zero(in->score), 7);
    sk_out_text(out, ",\"bbox\":");
    numbers(out, box, 4);
    if (!results) {
        sk_out_text(out, ",\"area\":");
        sk_out_g(out, box[2] * box[3], 7);
        sk_out_text(out, ",\"iscrowd\":0");
    }
    if (in->has & SK_HAS_OBB) {
        double xy[8], obb[5];
        sk_obb_corners(in->obb, xy);
        for (int k = 0; k < 5; k++)
            obb[k] = (double)in->obb[k];
        sk_out_text(out, ",\"obb\":");
        numbers(out, obb, 5);
        sk_out_text(out, ",\"segmentation\":[");
        numbers(out, xy, 8);
        sk_out_char(out, ']');
    } else if (!results) {
        sk_out_text(out, ",\"segmentation\":[]");
    }
    if (in->track_id >= 0)
        whole(out, ",\"track_id\":", in->track_id);
    if (in->has & SK_HAS_KEYPOINTS)
        write_keypoints(out, all, in, results);
    sk_out_char(out, '}');
}

static void write_annotation(sk_text_sink *sink, coco_extra *extra, const sk_instances *all,
                             const sk_found *in)
{
    sk_text_out *out = &sink->out, *list = &extra->list;
    const char *comma = extra->n_annotations ? "," : "";
    sk_out_text(out, comma);
    whole(out, "\n{\"id\":", extra->n_annotations + 1);
    whole(out, ",\"image_id\":", extra->n_images);
    sk_out_char(out, ',');
    write_body(out, all, in, false);
    sk_out_text(list, comma);
    whole(list, "\n{\"image_id\":", extra->n_images);
    sk_out_char(list, ',');
    write_body(list, all, in, true);
    extra->n_annotations++;
}

/* Images are files to the programs that read COCO: a frame of a video is called as its label file is, counting from 1. */
static sk_status write_image(sk_text_sink *sink, coco_extra *extra, const sk_result_frame *frame,
                             sk_error *err)
{
    sk_text_out *out = &extra->images;
    const char *source = sk_text_sink_source(sink, frame->source, sk_escape_json);
    sk_out_text(out, extra->n_images > 1 ? "," : "");
    whole(out, "\n{\"id\":", extra->n_images);
    sk_out_text(out, ",\"file_name\":");
    if (extra->pictures) {
        sk_out_text(out, source);
    } else {
        const char *stem = NULL;
        SK_TRY(sk_stems_of(extra->stems, frame->source, frame->index, &stem, err));
        char *escaped = sk_escape_json(stem);
        const size_t length = strlen(sk_text_sink_text(sink, escaped)); /* with its quotation marks */
        sk_out_char(out, '"');
        if (length)
            sk_out_bytes(out, escaped + 1, length - 2);
        sk_out_text(out, ".jpg\",\"video\":");
        sk_out_text(out, source);
        sk_free(escaped);
    }
    whole(out, ",\"width\":", frame->width);
    whole(out, ",\"height\":", frame->height);
    whole(out, ",\"frame\":", frame->index);
    sk_out_char(out, '}');
    sk_out_push(out);
    return SK_OK;
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    coco_extra *extra = sink->extra;
    if (sink->no_empty && frame->instances->count == 0)
        return SK_OK;
    extra->n_images++;
    SK_TRY(write_image(sink, extra, frame, err));
    for (int32_t i = 0; i < frame->instances->count; i++)
        write_annotation(sink, extra, frame->instances, &frame->instances->items[i]);
    sk_out_push(&extra->list);
    return sk_text_sink_check(sink, err);
}

static void write_skeleton(sk_text_sink *sink, const sk_run_header *h)
{
    sk_text_out *out = &sink->out;
    sk_out_text(out, ",\"keypoints\":[");
    for (int32_t k = 0; k < h->n_keypoints; k++) {
        char *name = sk_escape_json(h->keypoint_names[k]);
        sk_out_text(out, k ? "," : "");
        sk_out_text(out, sk_text_sink_text(sink, name));
        sk_free(name);
    }
    sk_out_text(out, "],\"skeleton\":[");
    for (int32_t e = 0; e < h->n_edges; e++) { /* COCO counts keypoints from 1 */
        whole(out, e ? ",[" : "[", h->edges[e][0] + 1);
        whole(out, ",", h->edges[e][1] + 1);
        sk_out_char(out, ']');
    }
    sk_out_char(out, ']');
}

static void write_categories(sk_text_sink *sink, const sk_run_header *h)
{
    sk_text_out *out = &sink->out;
    int32_t count = h->n_classes > 0 ? h->n_classes : 1;
    sk_out_text(out, "\"categories\":[");
    for (int32_t c = 0; c < count; c++) {
        whole(out, c ? ",\n{\"id\":" : "\n{\"id\":", c + 1);
        sk_out_text(out, ",\"name\":");
        sk_out_text(out, h->n_classes > 0 ? sink->classes[c] : "\"animal\"");
        if (h->n_keypoints)
            write_skeleton(sink, h);
        sk_out_char(out, '}');
    }
    sk_out_text(out, "],\n");
}

static sk_status close_list(coco_extra *extra, sk_error *err)
{
    if (!extra->list.file)
        return SK_OK;
    sk_out_text(&extra->list, "]\n");
    sk_out_push(&extra->list);
    bool failed = ferror(extra->list.file) != 0;
    if (fclose(extra->list.file) != 0 || failed)
        return sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", extra->list_path, strerror(errno),
                       sk_file_remedy(errno));
    return SK_OK;
}

static sk_status close_coco(sk_sink *base, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    coco_extra *extra = sink->extra;
    sk_text_out *images = &extra->images; /* after the last frame its bytes are free to read into */
    sk_out_text(&sink->out, "],\n\"images\":[");
    sk_out_push(images);
    bool broken = ferror(images->file) != 0; /* rewind forgets */
    rewind(images->file);
    for (size_t n; (n = fread(images->bytes, 1, sizeof images->bytes, images->file)) > 0;)
        sk_out_bytes(&sink->out, images->bytes, n);
    broken = broken || ferror(images->file) != 0;
    fclose(images->file);
    sk_out_text(&sink->out, "]}\n");
    sk_status status =
        broken ? sk_fail(err, SK_ERR_IO, "%s: the temporary list of images was lost", sink->path) : SK_OK;
    sk_status listed = close_list(extra, status == SK_OK ? err : NULL);
    status = status != SK_OK ? status : listed;
    sk_free(extra->list_path);
    sk_stems_close(&extra->stems);
    sk_status closed = sk_text_sink_close(base, status == SK_OK ? err : NULL);
    return status != SK_OK ? status : closed;
}

/* "results.coco.json" -> "results.coco_results.json" */
static sk_status open_list(const char *path, coco_extra *extra, sk_error *err)
{
    extra->list_path = sk_path_with_extension(path, "_results.json");
    if (!extra->list_path)
        return sk_fail_memory(err, strlen(path));
    SK_TRY(sk_file_create_stream(extra->list_path, &extra->list.file, err));
    sk_out_char(&extra->list, '[');
    extra->images.file = tmpfile();
    if (!extra->images.file)
        return sk_fail(err, SK_ERR_IO, "%s: no temporary file: %s", path, strerror(errno));
    return sk_stems_open(extra->pictures, &extra->stems, err);
}

static sk_status open_coco(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_run_header_needs_shapes(header, "coco", err));
    sk_text_sink *sink = NULL;
    SK_TRY(sk_text_sink_open(path, header, &sk_sink_coco, sk_escape_json, &sink, err));
    coco_extra *extra = sk_calloc(1, sizeof *extra);
    sink->extra = extra;
    if (extra)
        extra->pictures = strcmp(header->source_kind, "pictures") == 0;
    sk_status status = extra ? open_list(path, extra, err) : sk_fail_memory(err, sizeof *extra);
    if (status != SK_OK) {
        if (extra && extra->list.file)
            fclose(extra->list.file);
        if (extra && extra->images.file)
            fclose(extra->images.file);
        if (extra)
            sk_free(extra->list_path);
        (void)!sk_text_sink_close(&sink->base, NULL);
        return status;
    }
    sink->base.write = write_frame;
    sink->base.close = close_coco;
    char line[2048];
    char *info = sk_escape_json(sk_run_header_line(header, line, sizeof line));
    sk_out_text(&sink->out, "{\"info\":{\"description\":");
    sk_out_text(&sink->out, sk_text_sink_text(sink, info));
    sk_out_text(&sink->out, "},\n");
    sk_free(info);
    write_categories(sink, header);
    sk_out_text(&sink->out, "\"annotations\":[");
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_coco = {
    .name = "coco",
    .file = "results.coco.json",
    .help = "COCO dataset, and the list of results its evaluator loads",
    .open = open_coco,
    .beside = "results.coco_results.json",
};
