/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "results/shape.h"
#include "results/text_sink.h"

#include <math.h>

/* MOTChallenge's text: frame and track from 1, left, top, width, height, confidence, class or -1, -1, -1. What else there is
 * follows behind, where other programs do not look: the oriented box (cx, cy, w, h, radians), and x, y and score of every
 * keypoint ("nan" where it was not found). Instances that belong to no track have no line. */

extern const sk_sink_kind sk_sink_mot;

typedef struct extra {
    bool turned, classes;
} extra;

static void number(sk_text_out *out, double value)
{
    sk_out_char(out, ',');
    if (isfinite(value))
        sk_out_g(out, value, 7);
    else
        sk_out_text(out, "nan");
}

static void write_line(sk_text_sink *sink, int64_t frame, const sk_instances *all, const sk_found *in)
{
    sk_text_out *out = &sink->out;
    const extra *e = sink->extra;
    double box[4];
    sk_instance_bounds(all, in, box);
    sk_out_int(out, frame + 1);
    sk_out_char(out, ',');
    sk_out_int(out, (int64_t)in->track_id + 1);
    for (int k = 0; k < 4; k++)
        number(out, box[k]);
    number(out, (double)in->score);
    sk_out_char(out, ',');
    sk_out_int(out, e->classes ? in->class_id : -1);
    sk_out_text(out, ",-1,-1");
    for (int k = 0; e->turned && k < 5; k++)
        number(out, in->has & SK_HAS_OBB ? (double)in->obb[k] : NAN);
    const sk_keypoint *points = all->keypoints + in->first_keypoint;
    const bool posed = in->has & SK_HAS_KEYPOINTS;
    for (int32_t k = 0; k < sink->n_keypoints; k++) {
        number(out, posed ? (double)points[k].x : NAN);
        number(out, posed ? (double)points[k].y : NAN);
        number(out, posed && isfinite(points[k].x) ? (double)points[k].score : 0);
    }
    sk_out_char(out, '\n');
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    for (int32_t i = 0; i < frame->instances->count; i++)
        if (frame->instances->items[i].track_id >= 0)
            write_line(sink, frame->index, frame->instances, &frame->instances->items[i]);
    return sk_text_sink_check(sink, err);
}

static sk_status open_mot(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_run_header_needs_shapes(header, "mot", err));
    if (!header->tracked && !header->identities)
        return sk_fail(err, SK_ERR_ARG,
                       "format mot holds tracks, and nobody is followed here: 'skitter track' does\n"
                       "what was found in every frame is in csv, jsonl and the others");
    sk_text_sink *sink = NULL;
    SK_TRY(sk_text_sink_open(path, header, &sk_sink_mot, sk_escape_csv, &sink, err));
    sink->base.write = write_frame;
    extra *e = sk_malloc(sizeof *e);
    sink->extra = e;
    if (!e) {
        (void)!sk_text_sink_close(&sink->base, NULL);
        return sk_fail_memory(err, sizeof *e);
    }
    *e = (extra){.turned = header->has & SK_HAS_OBB, .classes = header->n_classes > 1 && !header->identities};
    *out = &sink->base;
    return SK_OK;
}

const sk_sink_kind sk_sink_mot = {
    .name = "mot",
    .file = "results.mot.txt",
    .help = "MOTChallenge text: one line a track and frame",
    .open = open_mot,
    .lines = true,
};
