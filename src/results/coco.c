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
    FILE *images, *list;
    char *list_path;
    sk_stems *stems;
    bool pictures;
    int64_t n_images, n_annotations;
} coco_extra;

static double finite_or_zero(float value)
{
    return isfinite(value) ? (double)value : 0;
}

/* The keypoints; the third number is COCO's visibility in a dataset and the score in a list of results. */
static void write_keypoints(FILE *file, const sk_instances *all, const sk_instance *in, bool scores)
{
    int found = 0;
    fputs(",\"keypoints\":[", file);
    for (int32_t k = 0; k < all->n_keypoints; k++) {
        const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
        bool here = !isnan(p->x);
        found += here;
        fprintf(file, "%s%.7g,%.7g,%.7g", k ? "," : "", finite_or_zero(p->x), finite_or_zero(p->y),
                !here    ? 0
                : scores ? finite_or_zero(p->score)
                         : 2);
    }
    fputc(']', file);
    if (!scores)
        fprintf(file, ",\"num_keypoints\":%d", found);
}

/* What both files say of an instance, after its ids. */
static void write_body(FILE *file, const sk_instances *all, const sk_instance *in, bool results)
{
    double box[4];
    sk_instance_bounds(all, in, box);
    fprintf(file, "\"category_id\":%d,\"score\":%.7g,\"bbox\":[%.7g,%.7g,%.7g,%.7g]",
            (in->class_id < 0 ? 0 : in->class_id) + 1, finite_or_zero(in->score), box[0], box[1], box[2],
            box[3]);
    if (!results)
        fprintf(file, ",\"area\":%.7g,\"iscrowd\":0", box[2] * box[3]);
    if (in->has & SK_HAS_OBB) {
        double xy[8];
        sk_obb_corners(in->obb, xy);
        fprintf(file, ",\"obb\":[%.7g,%.7g,%.7g,%.7g,%.7g]", (double)in->obb[0], (double)in->obb[1],
                (double)in->obb[2], (double)in->obb[3], (double)in->obb[4]);
        fprintf(file, ",\"segmentation\":[[%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%.7g]]", xy[0], xy[1], xy[2],
                xy[3], xy[4], xy[5], xy[6], xy[7]);
    } else if (!results) {
        fputs(",\"segmentation\":[]", file);
    }
    if (in->track_id >= 0)
        fprintf(file, ",\"track_id\":%d", in->track_id);
    if (in->has & SK_HAS_KEYPOINTS)
        write_keypoints(file, all, in, results);
    fputc('}', file);
}

static void write_annotation(sk_text_sink *sink, coco_extra *extra, const sk_instances *all,
                             const sk_instance *in)
{
    const char *comma = extra->n_annotations ? "," : "";
    fprintf(sink->file, "%s\n{\"id\":%lld,\"image_id\":%lld,", comma, (long long)extra->n_annotations + 1,
            (long long)extra->n_images);
    write_body(sink->file, all, in, false);
    fprintf(extra->list, "%s\n{\"image_id\":%lld,", comma, (long long)extra->n_images);
    write_body(extra->list, all, in, true);
    extra->n_annotations++;
}

/* Images are files to the programs that read COCO: a frame of a video is called as its label file is, counting from 1. */
static sk_status write_image(sk_text_sink *sink, coco_extra *extra, const sk_result_frame *frame,
                             sk_error *err)
{
    const char *source = sk_text_sink_source(sink, frame->source, sk_escape_json);
    fprintf(extra->images, "%s\n{\"id\":%lld,\"file_name\":", extra->n_images > 1 ? "," : "",
            (long long)extra->n_images);
    if (extra->pictures) {
        fputs(source, extra->images);
    } else {
        const char *stem = NULL;
        SK_TRY(sk_stems_of(extra->stems, frame->source, frame->index, &stem, err));
        char *escaped = sk_escape_json(stem);
        size_t length = escaped ? strlen(escaped) : 0; /* with its quotation marks */
        fprintf(extra->images, "\"%.*s.jpg\",\"video\":%s", length ? (int)length - 2 : 0,
                length ? escaped + 1 : "", source);
        sk_free(escaped);
    }
    fprintf(extra->images, ",\"width\":%d,\"height\":%d,\"frame\":%lld}", frame->width, frame->height,
            (long long)frame->index);
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
    return sk_text_sink_check(sink, err);
}

static void write_categories(sk_text_sink *sink, const sk_run_header *h)
{
    int32_t count = h->n_classes > 0 ? h->n_classes : 1;
    fputs("\"categories\":[", sink->file);
    for (int32_t c = 0; c < count; c++) {
        fprintf(sink->file, "%s\n{\"id\":%d,\"name\":%s", c ? "," : "", c + 1,
                h->n_classes > 0 ? sink->classes[c] : "\"animal\"");
        if (h->n_keypoints) {
            fputs(",\"keypoints\":[", sink->file);
            for (int32_t k = 0; k < h->n_keypoints; k++) {
                char *name = sk_escape_json(h->keypoint_names[k]);
                fprintf(sink->file, "%s%s", k ? "," : "", name ? name : "\"\"");
                sk_free(name);
            }
            fputs("],\"skeleton\":[", sink->file);
            for (int32_t e = 0; e < h->n_edges; e++) /* COCO counts keypoints from 1 */
                fprintf(sink->file, "%s[%d,%d]", e ? "," : "", h->edges[e][0] + 1, h->edges[e][1] + 1);
            fputc(']', sink->file);
        }
        fputc('}', sink->file);
    }
    fputs("],\n", sink->file);
}

static sk_status close_list(coco_extra *extra, sk_error *err)
{
    if (!extra->list)
        return SK_OK;
    fputs("]\n", extra->list);
    bool failed = ferror(extra->list) != 0;
    if (fclose(extra->list) != 0 || failed)
        return sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", extra->list_path, strerror(errno),
                       sk_file_remedy(errno));
    return SK_OK;
}

static sk_status close_coco(sk_sink *base, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    coco_extra *extra = sink->extra;
    fputs("],\n\"images\":[", sink->file);
    rewind(extra->images);
    char block[16384];
    for (size_t n; (n = fread(block, 1, sizeof block, extra->images)) > 0;)
        fwrite(block, 1, n, sink->file);
    bool broken = ferror(extra->images) != 0;
    fclose(extra->images);
    fputs("]}\n", sink->file);
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
    SK_TRY(sk_file_create_stream(extra->list_path, &extra->list, err));
    fputc('[', extra->list);
    extra->images = tmpfile();
    if (!extra->images)
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
        if (extra && extra->list)
            fclose(extra->list);
        if (extra && extra->images)
            fclose(extra->images);
        if (extra)
            sk_free(extra->list_path);
        (void)!sk_text_sink_close(&sink->base, NULL);
        return status;
    }
    sink->base.write = write_frame;
    sink->base.close = close_coco;
    char line[2048];
    char *info = sk_escape_json(sk_run_header_line(header, line, sizeof line));
    fprintf(sink->file, "{\"info\":{\"description\":%s},\n", info ? info : "\"\"");
    sk_free(info);
    write_categories(sink, header);
    fputs("\"annotations\":[", sink->file);
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_coco = {"coco", "results.coco.json",
                                   "COCO dataset, and the list of results its evaluator loads", open_coco,
                                   "results.coco_results.json"};
