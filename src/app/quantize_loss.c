/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include <stdio.h>
#include <string.h>

/* What is found in eight bits against what f32 finds, on the frames held back. */

/* What a network finds in a frame. `other`: another whose heads are compared with its; null: none. */
static sk_status find_in(sk_quantize_job *job, sk_session *network, sk_session *other,
                         const sk_quantize_frame *frame, sk_instances *out, sk_quantize_tally *t,
                         sk_error *err)
{
    sk_tensor a[SK_SESSION_MAX_OUTPUTS], b[SK_SESSION_MAX_OUTPUTS];
    sk_task_stage *stage = job->stages[frame->stage].stage;
    const sk_session_info *about = sk_session_about(network);
    const int32_t n = about->n_outputs;
    sk_crop_list list;
    if (job->finder)
        SK_TRY(sk_task_stage_find_crops(stage, &frame->found, out, &list, err));
    for (int32_t i = 0; i < frame->count; i++) {
        const void *input = job->inputs[frame->first + i].data;
        SK_TRY(sk_quantize_run_input(network, input, a, err));
        if (other) {
            SK_TRY(sk_quantize_run_input(other, input, b, err));
            sk_quantize_compare_heads(t, a, b, n);
        }
        SK_TRY(job->finder ? sk_task_stage_crop_result(stage, i, a, n, 0, about->outputs_form, out, err)
                           : sk_task_stage_result(stage, a, n, 0, about->outputs_form, out, err));
        if (job->finder && out->count > 0)
            out->items[out->count - 1].track_id = i;
    }
    if (job->finder)
        SK_TRY(sk_task_stage_crops_end(stage, out, err));
    sk_task_stage_keep(stage, out);
    return SK_OK;
}

static sk_status measure_frame(sk_quantize_job *job, sk_session *plain, sk_session *narrow,
                               const sk_quantize_frame *frame, sk_instances found[2], sk_quantize_tally *t,
                               sk_error *err)
{
    SK_TRY(find_in(job, plain, narrow, frame, &found[0], t, err));
    SK_TRY(find_in(job, narrow, NULL, frame, &found[1], t, err));
    for (int i = 0; job->truth && i < 2; i++)
        SK_TRY(sk_quantize_truth_add(job->truth, i, frame, &found[i], err));
    return sk_quantize_compare(t, &found[0], &found[1], err);
}

/* The engine's own eight bits where it has them, else the same numbers by f32. */
static sk_status open_narrow(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                             bool cut, sk_quantize_report *report, sk_session **out, sk_error *err)
{
    const sk_precision narrow = job->s->precision == SK_QUANTIZE_FP8 ? SK_PRECISION_FP8 : SK_PRECISION_I8;
    bool own = (job->engine->can.precisions & (1u << narrow)) != 0;
    snprintf(report->about.measured_by, sizeof report->about.measured_by, "%s, %s%s", job->engine->name,
             sk_precision_name(narrow), own ? "" : " by f32");
    return sk_quantize_session(job, own ? eight_bits : simulated, NULL, 0, cut,
                               own ? narrow : SK_PRECISION_F32, out, err);
}

sk_status sk_quantize_loss(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                           sk_quantize_report *report, sk_error *err)
{
    sk_loss *loss = &report->about.loss;
    const bool peaks = !sk_family_is_ultralytics(job->model->family);
    sk_quantize_tally t = {.loss = loss,
                           .heads_pcc = 1,
                           .given = job->finder != NULL,
                           .peaks = peaks,
                           .threshold = peaks ? job->s->peak_threshold : job->s->confidence};
    sk_session *plain = NULL, *narrow = NULL;
    sk_instances found[2] = {0};
    const sk_task_plan *plan = sk_task_stage_plan(job->stages[0].stage);
    sk_status status = SK_OK;
    memset(loss, 0, sizeof *loss);
    for (int i = 0; i < 2; i++)
        SK_TRY_GOTO(sk_instances_alloc(plan->capacity, plan->n_keypoints, &found[i], err));
    SK_TRY_GOTO(sk_quantize_session(job, job->graph, NULL, 0, plan->cut_tail, SK_PRECISION_F32, &plain, err));
    SK_TRY_GOTO(open_narrow(job, eight_bits, simulated, plan->cut_tail, report, &narrow, err));
    sk_quantize_begin(job, "measuring what is lost", sk_quantize_count(job, true));
    for (int32_t f = 0; f < job->n_frames; f++) {
        if (!job->frames[f].held)
            continue;
        SK_TRY_GOTO(measure_frame(job, plain, narrow, &job->frames[f], found, &t, err));
        SK_TRY_GOTO(sk_quantize_tick(job, err));
    }
    if (job->truth)
        SK_TRY_GOTO(sk_quantize_truth_measure(job->truth, report, err));
    report->correlation = t.heads_pcc;
    report->about.measured = t.counted > 0;
done:
    sk_quantize_tally_end(&t);
    report->unsure = t.unsure;
    report->unsure_part = t.unsure_part;
    report->by_peaks = peaks;
    for (int i = 0; i < 2; i++)
        sk_instances_free(&found[i]);
    sk_session_close(&plain);
    sk_session_close(&narrow);
    return status;
}
