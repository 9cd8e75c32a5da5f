/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A COCO dataset: categories first, annotations as they come, images last. The images wait in a temporary file, so that
 * a long video costs no memory. Image ids count from 1 in the order of frames. */

extern const sk_sink_kind sk_sink_coco;

typedef struct coco_extra {
    FILE *images;
    int64_t n_images, n_annotations;
} coco_extra;

static double finite_or_zero(float value)
{
    return isfinite(value) ? (double)value : 0;
}

/* The box, or the smallest one around the oriented box or the keypoints; COCO always wants x, y, w, h. */
static void bounds(const sk_instances *all, const sk_instance *in, double box[4])
{
    double x1 = INFINITY, y1 = INFINITY, x2 = -INFINITY, y2 = -INFINITY;
    if (in->has & SK_HAS_BOX) {
        x1 = (double)in->box[0], y1 = (double)in->box[1], x2 = (double)in->box[2], y2 = (double)in->box[3];
    } else if (in->has & SK_HAS_OBB) {
        double c = fabs(cos((double)in->obb[4])), s = fabs(sin((double)in->obb[4]));
        double w = ((double)in->obb[2] * c + (double)in->obb[3] * s) / 2;
        double h = ((double)in->obb[2] * s + (double)in->obb[3] * c) / 2;
        x1 = (double)in->obb[0] - w, x2 = (double)in->obb[0] + w;
        y1 = (double)in->obb[1] - h, y2 = (double)in->obb[1] + h;
    } else {
        for (int32_t k = 0; k < all->n_keypoints; k++) {
            const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
            if (isnan(p->x))
                continue;
            x1 = fmin(x1, (double)p->x), x2 = fmax(x2, (double)p->x);
            y1 = fmin(y1, (double)p->y), y2 = fmax(y2, (double)p->y);
        }
    }
    bool any = x2 >= x1 && y2 >= y1;
    box[0] = any ? x1 : 0, box[1] = any ? y1 : 0;
    box[2] = any ? x2 - x1 : 0, box[3] = any ? y2 - y1 : 0;
}

static void write_annotation(sk_text_sink *sink, coco_extra *extra, const sk_instances *all,
                             const sk_instance *in)
{
    double box[4];
    bounds(all, in, box);
    fprintf(
        sink->file,
        "%s\n{\"id\":%lld,\"image_id\":%lld,\"category_id\":%d,\"score\":%.7g,\"bbox\":[%.7g,%.7g,%.7g,%.7g],"
        "\"area\":%.7g,\"iscrowd\":0",
        extra->n_annotations ? "," : "", (long long)extra->n_annotations + 1, (long long)extra->n_images,
        (in->class_id < 0 ? 0 : in->class_id) + 1, finite_or_zero(in->score), box[0], box[1], box[2], box[3],
        box[2] * box[3]);
    extra->n_annotations++;
    if (in->track_id >= 0)
        fprintf(sink->file, ",\"track_id\":%d", in->track_id);
    if (in->has & SK_HAS_OBB)
        fprintf(sink->file, ",\"obb\":[%.7g,%.7g,%.7g,%.7g,%.7g]", (double)in->obb[0], (double)in->obb[1],
                (double)in->obb[2], (double)in->obb[3], (double)in->obb[4]);
    if (in->has & SK_HAS_KEYPOINTS) {
        int found = 0;
        fputs(",\"keypoints\":[", sink->file);
        for (int32_t k = 0; k < all->n_keypoints; k++) {
            const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
            bool here = !isnan(p->x);
            found += here;
            fprintf(sink->file, "%s%.7g,%.7g,%d", k ? "," : "", finite_or_zero(p->x), finite_or_zero(p->y),
                    here ? 2 : 0);
        }
        fprintf(sink->file, "],\"num_keypoints\":%d", found);
    }
    fputc('}', sink->file);
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    coco_extra *extra = sink->extra;
    extra->n_images++;
    fprintf(extra->images, "%s\n{\"id\":%lld,\"file_name\":%s,\"width\":%d,\"height\":%d,\"frame\":%lld}",
            extra->n_images > 1 ? "," : "", (long long)extra->n_images,
            sk_text_sink_source(sink, frame->source, sk_escape_json), frame->width, frame->height,
            (long long)frame->index);
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
    sk_status closed = sk_text_sink_close(base, status == SK_OK ? err : NULL);
    return status != SK_OK ? status : closed;
}

static sk_status open_coco(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    sk_text_sink *sink = NULL;
    SK_TRY(sk_text_sink_open(path, header, &sk_sink_coco, sk_escape_json, &sink, err));
    coco_extra *extra = sk_calloc(1, sizeof *extra);
    sink->extra = extra;
    if (extra)
        extra->images = tmpfile();
    if (!extra || !extra->images) {
        sk_status status = sk_fail(err, SK_ERR_IO, "%s: no temporary file: %s", path, strerror(errno));
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

const sk_sink_kind sk_sink_coco = {"coco", "results.coco.json", "COCO dataset with boxes and keypoints",
                                   open_coco};
