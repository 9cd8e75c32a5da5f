/* SPDX-License-Identifier: Apache-2.0 */
#include "results/text_sink.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* One row an instance below the line that names the columns; docs/results.md lists them. Frames without instances have no
 * row. What is known of the whole run is in run.json: a table begins with its heading. */

extern const sk_sink_kind sk_sink_csv;

static void number(FILE *file, double value)
{
    if (isnan(value))
        fputc(',', file); /* an empty cell */
    else
        fprintf(file, ",%.7g", value);
}

static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    sk_text_sink *sink = (sk_text_sink *)base;
    const uint32_t has = *(const uint32_t *)sink->extra;
    const char *source = sk_text_sink_source(sink, frame->source, sk_escape_csv);
    char clock[SK_CLOCK_TEXT];
    for (int32_t i = 0; i < frame->instances->count; i++) {
        const sk_instance *in = &frame->instances->items[i];
        fprintf(sink->file, "%s,%lld,%.6f,", source, (long long)frame->index, frame->time);
        if (sink->live)
            fprintf(sink->file, "%s,", sk_clock_text_ns(frame->wall_ns, clock, sizeof clock));
        fprintf(sink->file, "%d,", i);
        if (in->track_id >= 0)
            fprintf(sink->file, "%d", in->track_id);
        fprintf(sink->file, ",%d,%s", in->class_id,
                in->class_id >= 0 && in->class_id < sink->n_classes ? sink->classes[in->class_id] : "");
        number(sink->file, (double)in->score);
        for (int k = 0; k < 4 && (has & SK_HAS_BOX); k++)
            number(sink->file, in->has & SK_HAS_BOX ? (double)in->box[k] : NAN);
        for (int k = 0; k < 5 && (has & SK_HAS_OBB); k++)
            number(sink->file, in->has & SK_HAS_OBB ? (double)in->obb[k] : NAN);
        const sk_keypoint *points = frame->instances->keypoints + in->first_keypoint;
        for (int32_t k = 0; k < sink->n_keypoints; k++) {
            bool found = in->has & SK_HAS_KEYPOINTS;
            number(sink->file, found ? (double)points[k].x : NAN);
            number(sink->file, found ? (double)points[k].y : NAN);
            number(sink->file, found ? (double)points[k].score : NAN);
        }
        fputc('\n', sink->file);
        sink->rows++;
    }
    return sk_text_sink_check(sink, err);
}

static void write_head(sk_text_sink *sink, const sk_run_header *header)
{
    fprintf(sink->file, "source,frame,time,%sinstance,track,class,name,score", sink->live ? "utc," : "");
    if (header->has & SK_HAS_BOX)
        fprintf(sink->file, ",x1,y1,x2,y2");
    if (header->has & SK_HAS_OBB)
        fprintf(sink->file, ",cx,cy,w,h,angle");
    for (int32_t i = 0; i < header->n_keypoints; i++) {
        char *name = sk_escape_csv(header->keypoint_names[i]);
        const char *n = name ? name : "";
        size_t quoted = n[0] == '"';
        int length = (int)strlen(n) - 2 * (int)quoted;
        const char *q = quoted ? "\"" : "";
        for (int k = 0; k < 3; k++) {
            static const char *const parts[] = {"_x", "_y", "_score"};
            fprintf(sink->file, ",%s%.*s%s%s", q, length, n + quoted, parts[k], q);
        }
        sk_free(name);
    }
    fputc('\n', sink->file);
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

const sk_sink_kind sk_sink_csv = {"csv", "results.csv",
                                  "one row an instance, for spreadsheets and data frames", open_csv, NULL};
