/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* One row an instance below the line that names the columns; docs/results.md lists them. Frames without instances have no
 * row. What is known of the whole run is in run.json: a table begins with its heading. */

extern const sk_sink_kind sk_sink_csv;

static void number(sk_text_out *out, float value)
{
    sk_out_char(out, ',');
    if (!isnan(value)) /* else an empty cell */
        sk_out_g(out, (double)value, 7);
}

static void numbers(sk_text_out *out, const float *values, int count, bool found)
{
    for (int k = 0; k < count; k++)
        number(out, found ? values[k] : NAN);
}

/* What every row of a frame begins with: source,frame,time,[utc,] */
static void begin_row(sk_text_sink *sink, const sk_result_frame *frame, const char *source, const char *clock)
{
    sk_text_out *out = &sink->out;
    sk_out_text(out, source);
    sk_out_char(out, ',');
    sk_out_int(out, frame->index);
    sk_out_char(out, ',');
    sk_out_f(out, frame->time, 6);
    sk_out_char(out, ',');
    if (sink->live) {
        sk_out_text(out, clock);
        sk_out_char(out, ',');
    }
}

/* ,state,x,y,heading,certainty,uncertainty */
static void write_sighting(sk_text_out *out, const sk_sighting *s)
{
    const double values[] = {s->x, s->y, s->heading, s->certainty, s->uncertainty};
    sk_out_char(out, ',');
    sk_out_text(out, sk_track_state_name(s->state));
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        sk_out_char(out, ',');
        if (isfinite(values[k]))
            sk_out_g(out, values[k], 7);
    }
}

static void write_instance(sk_text_sink *sink, const sk_instances *all, int32_t i,
                           const sk_sighting *sighting)
{
    sk_text_out *out = &sink->out;
    const uint32_t has = *(const uint32_t *)sink->extra;
    const sk_found *in = &all->items[i];
    sk_out_int(out, i);
    sk_out_char(out, ',');
    if (in->track_id >= 0)
        sk_out_int(out, in->track_id);
    sk_out_char(out, ',');
    sk_out_int(out, in->class_id);
    sk_out_char(out, ',');
    if (in->class_id >= 0 && in->class_id < sink->n_classes)
        sk_out_text(out, sink->classes[in->class_id]);
    number(out, in->score);
    if (sighting)
        write_sighting(out, sighting);
    if (has & SK_HAS_BOX)
        numbers(out, in->box, 4, in->has & SK_HAS_BOX);
    if (has & SK_HAS_OBB)
        numbers(out, in->obb, 5, in->has & SK_HAS_OBB);
    const sk_keypoint *points = all->keypoints + in->first_keypoint;
    const bool found = in->has & SK_HAS_KEYPOINTS;
    for (int32_t k = 0; k < sink->n_keypoints; k++) {
        number(out, found ? points[k].x : NAN);
        number(out, found ? points[k].y : NAN);
        number(out, found ? points[k].score : NAN);
    }
    sk_out_char(out, '\n');
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    const char *source = sk_text_sink_source(sink, frame->source, sk_escape_csv);
    char clock[SK_CLOCK_TEXT] = "";
    if (sink->live)
        sk_clock_text_ns(frame->wall_ns, clock, sizeof clock);
    for (int32_t i = 0; i < frame->instances->count; i++) {
        begin_row(sink, frame, source, clock);
        write_instance(sink, frame->instances, i, frame->sightings ? &frame->sightings[i] : NULL);
    }
    return sk_text_sink_check(sink, err);
}

static void write_head(sk_text_sink *sink, const sk_run_header *header)
{
    sk_text_out *out = &sink->out;
    sk_out_text(out, "source,frame,time,");
    sk_out_text(out, sink->live ? "utc," : "");
    sk_out_text(out, "instance,track,class,name,score");
    if (header->tracked)
        sk_out_text(out, ",state,x,y,heading,certainty,uncertainty");
    if (header->has & SK_HAS_BOX)
        sk_out_text(out, ",x1,y1,x2,y2");
    if (header->has & SK_HAS_OBB)
        sk_out_text(out, ",cx,cy,w,h,angle");
    for (int32_t i = 0; i < header->n_keypoints; i++) {
        char *name = sk_escape_csv(header->keypoint_names[i]);
        const char *n = sk_text_sink_text(sink, name);
        const size_t quoted = n[0] == '"';
        for (int k = 0; k < 3; k++) {
            static const char *const parts[] = {"_x", "_y", "_score"};
            sk_out_char(out, ',');
            sk_out_bytes(out, n, strlen(n) - quoted); /* the closing quotation mark comes last */
            sk_out_text(out, parts[k]);
            sk_out_bytes(out, "\"", quoted);
        }
        sk_free(name);
    }
    sk_out_char(out, '\n');
    sk_out_push(out); /* who reads standard output sees the columns before the first frame comes */
}

static sk_status open_csv(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    sk_text_sink *sink = NULL;
    SK_TRY(sk_text_sink_open(path, header, &sk_sink_csv, sk_escape_csv, &sink, err));
    sink->base.write = write_frame;
    uint32_t *has = sk_malloc(sizeof *has);
    sink->extra = has;
    if (!has) {
        (void)!sk_text_sink_close(&sink->base, NULL);
        return sk_fail_memory(err, sizeof *has);
    }
    *has = header->has;
    if (!header->goes_on)
        write_head(sink, header);
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_csv = {
    .name = "csv",
    .file = "results.csv",
    .help = "one row an instance, for spreadsheets and data frames",
    .open = open_csv,
    .lines = true,
    .no_shapes = true,
};
