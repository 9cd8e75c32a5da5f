/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize.h"

#include <stdarg.h>
#include <stdio.h>

/* What a person should know of a model that was made, and what helps. */

static void note(sk_quantize_report *report, const char *format, ...) SK_PRINTF(2, 3);

static void note(sk_quantize_report *report, const char *format, ...)
{
    va_list args;
    if (report->n_notices == SK_QUANTIZE_MOST_NOTICES)
        return;
    va_start(args, format);
    vsnprintf(report->notices[report->n_notices++], sizeof *report->notices, format, args);
    va_end(args);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void judge_data(const sk_quantize_settings *s, sk_quantize_report *report)
{
    if (report->missing > 0)
        note(
            report,
            "%s: cut off: %lld of the frames its header promises are not in the file. The model is made from "
            "what is there",
            s->data, (long long)report->missing);
}

static void judge_loss(const sk_quantize_settings *s, sk_quantize_report *report)
{
    const sk_quantised *q = &report->about;
    const sk_loss *l = &q->loss;
    if (!q->measured) {
        note(report,
             "%s: what eight bits lose is not known: nothing was found in the %d frame%s it was measured on. "
             "Give frames with animals in them (--data), more of them (--frames) or a lower %s",
             s->output, l->frames, plural(l->frames),
             s->finder || s->detections ? "--conf or --peak-threshold" : "--conf");
        return;
    }
    if (l->percent > SK_QUANTIZE_LOSS_LARGE && report->unsure_part > 0.5)
        note(report,
             "%s: results differ from f32's by %.1f %%, which is much. Most of that comes from %lld animal%s "
             "near %s "
             "%g "
             "that one of the two finds and the other does not (%lld lost, %lld new): more frames or "
             "--precision mixed do not help there, another %s may",
             s->output, l->percent, (long long)report->unsure, plural(report->unsure),
             report->by_peaks ? "--peak-threshold" : "--conf",
             (double)(report->by_peaks ? s->peak_threshold : s->confidence), (long long)l->lost,
             (long long)l->added, report->by_peaks ? "--peak-threshold" : "--conf");
    else if (l->percent > SK_QUANTIZE_LOSS_LARGE)
        note(report,
             "%s: results differ from f32's by %.1f %% (%lld of %lld lost, %lld new, others moved), which is "
             "much. Made from %d frame%s: more of them (--frames %d), like those it will see (--data), help "
             "most%s; else use the model as it was",
             s->output, l->percent, (long long)l->lost, (long long)l->instances, (long long)l->added,
             q->frames, plural(q->frames), q->frames < 100 ? 100 : 2 * q->frames,
             s->precision == SK_QUANTIZE_MIXED ? "" : ", then --precision mixed");
    if (l->frames < SK_QUANTIZE_FEW_FRAMES)
        note(report,
             "%s: its loss was measured on %d frame%s alone and may be chance; a quarter of --frames are "
             "measured on: --frames 100 and %s of so many frames make it sure",
             s->output, l->frames, plural(l->frames), s->data);
}

/* f32 itself finds nothing of it. */
static void judge_truth(const sk_quantize_settings *s, sk_quantize_report *report)
{
    if (report->truth_of[0] && report->truth[0].ap <= 0)
        note(report,
             "%s: nothing that f32 finds in %s is there (AP 0): this does not look like the truth of these "
             "frames. See that --truth and --data are of the same video, and that classes are named alike",
             s->truth, s->data);
}

void sk_quantize_judge(const sk_quantize_settings *settings, sk_quantize_report *report)
{
    report->n_notices = 0;
    judge_data(settings, report);
    judge_loss(settings, report);
    judge_truth(settings, report);
}
