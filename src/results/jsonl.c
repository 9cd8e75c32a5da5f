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

static void number(sk_text_out *out, float value)
{
    if (isfinite(value))
        sk_out_g(out, (double)value, 7);
    else
        sk_out_text(out, "null"); /* a keypoint that was not found */
}

/* values,… between brackets */
static void numbers(sk_text_out *out, const float *values, int count)
{
    for (int i = 0; i < count; i++) {
        sk_out_char(out, i ? ',' : '[');
        number(out, values[i]);
    }
    sk_out_char(out, ']');
}

static void write_keypoints(sk_text_out *out, const sk_keypoint *points, int32_t count)
{
    sk_out_text(out, ",\"keypoints\":[");
    for (int32_t k = 0; k < count; k++) {
        if (k)
            sk_out_char(out, ',');
        numbers(out, (const float[]){points[k].x, points[k].y, points[k].score}, 3);
    }
    sk_out_char(out, ']');
}

/* "state", and where the track is */
static void write_sighting(sk_text_out *out, const sk_sighting *s)
{
    const double values[] = {s->x, s->y, s->heading, s->uncertainty};
    static const char *const names[] = {",\"x\":", ",\"y\":", ",\"heading\":", ",\"uncertainty\":"};
    sk_out_text(out, ",\"state\":\"");
    sk_out_text(out, sk_track_state_name(s->state));
    sk_out_char(out, '"');
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (!isfinite(values[k]))
            continue;
        sk_out_text(out, names[k]);
        sk_out_g(out, values[k], 7);
    }
}

static void write_instance(sk_text_sink *sink, const sk_instances *all, const sk_found *in,
                           const sk_sighting *sighting)
{
    sk_text_out *out = &sink->out;
    sk_out_text(out, "{\"class\":");
    sk_out_int(out, in->class_id);
    if (in->class_id >= 0 && in->class_id < sink->n_classes) {
        sk_out_text(out, ",\"name\":");
        sk_out_text(out, sink->classes[in->class_id]);
    }
    sk_out_text(out, ",\"score\":");
    number(out, in->score);
    if (in->has & SK_HAS_BOX) {
        sk_out_text(out, ",\"box\":");
        numbers(out, in->box, 4);
    }
    if (in->has & SK_HAS_OBB) {
        sk_out_text(out, ",\"obb\":");
        numbers(out, in->obb, 5);
    }
    if (in->has & SK_HAS_KEYPOINTS)
        write_keypoints(out, all->keypoints + in->first_keypoint, all->n_keypoints);
    if (in->track_id >= 0) {
        sk_out_text(out, ",\"track\":");
        sk_out_int(out, in->track_id);
    }
    if (in->tracking_score > 0) {
        sk_out_text(out, ",\"tracking_score\":");
        sk_out_g(out, (double)in->tracking_score, 7);
    }
    if (sighting)
        write_sighting(out, sighting);
    sk_out_char(out, '}');
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    sk_text_out *out = &sink->out;
    if (sink->no_empty && frame->instances->count == 0)
        return SK_OK;
    char clock[SK_CLOCK_TEXT];
    sk_out_text(out, "{\"source\":");
    sk_out_text(out, sk_text_sink_source(sink, frame->source, sk_escape_json));
    sk_out_text(out, ",\"frame\":");
    sk_out_int(out, frame->index);
    sk_out_text(out, ",\"time\":");
    sk_out_f(out, frame->time, 6);
    if (sink->live) {
        sk_out_text(out, ",\"utc\":\"");
        sk_out_text(out, sk_clock_text_ns(frame->wall_ns, clock, sizeof clock));
        sk_out_char(out, '"');
    }
    sk_out_text(out, sink->extra);
    sk_out_text(out, ",\"instances\":[");
    for (int32_t i = 0; i < frame->instances->count; i++) {
        if (i)
            sk_out_char(out, ',');
        write_instance(sink, frame->instances, &frame->instances->items[i],
                       frame->sightings ? &frame->sightings[i] : NULL);
    }
    sk_out_text(out, "]}\n");
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

const sk_sink_kind sk_sink_jsonl = {
    .name = "jsonl",
    .file = "results.jsonl",
    .help = "one JSON object a frame, for programs",
    .open = open_jsonl,
    .lines = true,
    .no_shapes = true,
};
