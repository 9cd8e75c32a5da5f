/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* One JSON object a line and frame, each to be understood alone (a line may be all that a program sees of a run):
 * {"source":…,"frame":n,"time":s,"utc":…,"keypoint_names":[…],"edges":[[i,j],…],"instances":[{"class":i,"name":…,"score":…,"box":[x1,y1,x2,y2],
 *  "obb":[cx,cy,w,h,angle],"keypoints":[[x,y,score],…],"track":id}]}; absent parts are left out. */

extern const sk_sink_kind sk_sink_jsonl;

static void number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.7g", value);
    else
        fputs("null", file); /* a keypoint that was not found */
}

static void numbers(FILE *file, const char *key, const float *values, int count)
{
    fprintf(file, ",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        if (i)
            fputc(',', file);
        number(file, (double)values[i]);
    }
    fputc(']', file);
}

static void write_instance(sk_text_sink *sink, const sk_instances *all, const sk_instance *in)
{
    FILE *file = sink->file;
    fprintf(file, "{\"class\":%d", in->class_id);
    if (in->class_id >= 0 && in->class_id < sink->n_classes)
        fprintf(file, ",\"name\":%s", sink->classes[in->class_id]);
    fputs(",\"score\":", file);
    number(file, (double)in->score);
    if (in->has & SK_HAS_BOX)
        numbers(file, "box", in->box, 4);
    if (in->has & SK_HAS_OBB)
        numbers(file, "obb", in->obb, 5);
    if (in->has & SK_HAS_KEYPOINTS) {
        fputs(",\"keypoints\":[", file);
        const sk_keypoint *points = all->keypoints + in->first_keypoint;
        for (int32_t k = 0; k < all->n_keypoints; k++) {
            fputs(k ? ",[" : "[", file);
            number(file, (double)points[k].x);
            fputc(',', file);
            number(file, (double)points[k].y);
            fputc(',', file);
            number(file, (double)points[k].score);
            fputc(']', file);
        }
        fputc(']', file);
    }
    if (in->track_id >= 0)
        fprintf(file, ",\"track\":%d", in->track_id);
    if (in->tracking_score > 0)
        fprintf(file, ",\"tracking_score\":%.7g", (double)in->tracking_score);
    fputc('}', file);
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    if (sink->no_empty && frame->instances->count == 0)
        return SK_OK;
    char clock[SK_CLOCK_TEXT];
    fprintf(sink->file, "{\"source\":%s,\"frame\":%lld,\"time\":%.6f",
            sk_text_sink_source(sink, frame->source, sk_escape_json), (long long)frame->index, frame->time);
    if (sink->live)
        fprintf(sink->file, ",\"utc\":\"%s\"", sk_clock_text_ns(frame->wall_ns, clock, sizeof clock));
    fprintf(sink->file, "%s,\"instances\":[", (const char *)sink->extra);
    for (int32_t i = 0; i < frame->instances->count; i++) {
        if (i)
            fputc(',', sink->file);
        write_instance(sink, frame->instances, &frame->instances->items[i]);
    }
    fputs("]}\n", sink->file);
    sink->rows++;
    return sk_text_sink_check(sink, err);
}

/* ,"keypoint_names":[…],"edges":[…] or "" */
static sk_status describe_keypoints(const sk_run_header *h, void **out, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_run_header_keypoints(h, "keypoint_names", &json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    char *whole = NULL;
    if (status == SK_OK)
        status = sk_text_take(&text, &whole, err);
    sk_text_free(&text);
    if (status != SK_OK)
        return status;
    *strrchr(whole, '}') = '\0'; /* its pairs go into every line's object */
    whole[0] = whole[1] ? ',' : '\0';
    *out = whole;
    return SK_OK;
}

static sk_status open_jsonl(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    sk_text_sink *sink = NULL;
    SK_TRY(sk_text_sink_open(path, header, &sk_sink_jsonl, sk_escape_json, &sink, err));
    sink->base.write = write_frame;
    sk_status status = describe_keypoints(header, &sink->extra, err);
    if (status == SK_OK)
        *out = &sink->base;
    else
        (void)!sk_text_sink_close(&sink->base, NULL);
    return status;
}

const sk_sink_kind sk_sink_jsonl = {"jsonl", "results.jsonl", "one JSON object a frame, for programs",
                                    open_jsonl, NULL};
