/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/speed_table.h"

#include "base/json_write.h"
#include "cli/cli.h"
#include "engines/tolerance.h"

#include <stdio.h>

static double per_frame(double seconds, int64_t frames)
{
    return frames > 0 ? 1e3 * seconds / (double)frames : 0;
}

/* Outputs of which no more is asked than they have: their roundings explain the rest. */
static void print_explained(const sk_speed_report *r)
{
    const sk_check *c = &r->check;
    sk_precision precision = SK_PRECISION_AUTO;
    (void)sk_precision_find(r->precision, &precision);
    const sk_tolerance *usual = sk_tolerance_of(precision);
    int32_t explained = 0;
    for (int32_t i = 0; i < c->n_outputs; i++)
        explained += c->outputs[i].pcc < usual->pcc && c->outputs[i].pcc == c->outputs[i].pcc_min;
    if (explained && usual->rounding > 0)
        printf("  %d of %d outputs below %g, which the roundings of %s explain: no more than %g times as far "
               "from "
               "f32 as the reference's\n",
               explained, c->n_outputs, usual->pcc, r->precision, usual->rounding);
}

/* One line for the whole, and one a model where there are two. */
static void print_check_table(const sk_speed_report *r)
{
    const sk_check *c = &r->check;
    printf("check: correlation with the reference %.8f (at least %.5f), largest difference %.3g, mean %.3g: "
           "%s\n",
           c->pcc, c->pcc_min, c->max_diff, c->mean_diff, c->passed ? "right" : "WRONG");
    print_explained(r);
    for (int32_t m = 0; m < r->n_models && r->n_models > 1; m++) {
        double pcc = 1, max_diff = 0;
        int32_t outputs = 0;
        for (int32_t i = 0; i < c->n_outputs; i++) {
            const sk_output_check *o = &c->outputs[i];
            if (o->model != m)
                continue;
            outputs++;
            pcc = !(o->pcc >= pcc) ? o->pcc : pcc;
            max_diff = !(o->max_diff <= max_diff) ? o->max_diff : max_diff;
        }
        if (outputs)
            printf("  %s: %.8f, largest difference %.3g, %d outputs", r->models[m], pcc, max_diff, outputs);
        else
            printf("  %s: not checked, nothing was found to crop", r->models[m]);
        if (m > 0 && outputs)
            printf(" on %d crops", c->n_crops);
        printf("\n");
    }
}

void sk_cli_print_speed(const sk_speed_report *r, bool basic)
{
    const sk_runner_stage_stats *total = &r->stats.stages[SK_STAGE_TOTAL];
    printf("%dx%d frames, %s, %s, %s\n\n", r->width, r->height, r->runtime, r->precision, r->device);
    printf("%-20s %12s %12s\n", "", "frames/s", "ms a frame");
    if (basic)
        printf("%-20s %12.1f %12.2f\n", "without the runner", r->basic_fps, 1e3 / r->basic_fps);
    printf("%-20s %12.1f %12.2f\n", "with it", r->runner_fps, 1e3 / r->runner_fps);
    if (basic)
        printf("%-20s %11.2fx  (rounds: %.2fx to %.2fx)\n", "speed-up", r->speedup, r->speedup_least,
               r->speedup_most);
    printf("\nmedians of %d rounds of %d frames each, in turn; found %lld and %lld\n", r->rounds,
           r->frames_a_round, (long long)r->basic_instances, (long long)r->runner_instances);
    if (basic)
        printf("without: decode %.2f, copy %.2f, pre %.2f, network %.2f, post %.2f ms a frame, one after "
               "another\n",
               per_frame(r->basic_decode, r->basic.frames), per_frame(r->basic.copy, r->basic.frames),
               per_frame(r->basic.pre, r->basic.frames), per_frame(r->basic.network, r->basic.frames),
               per_frame(r->basic.post, r->basic.frames));
    printf(
        "with: decode %.2f ms a frame on its own thread; %d frames in flight; from submit to result %.2f ms "
        "(median), %.2f (90 %%), %.2f (99 %%)\n\n",
        per_frame(r->runner_decode, r->stats.delivered), r->depth, total->p50, total->p90, total->p99);
    printf("%-14s %9s %9s %9s %9s %9s\n", "stage, ms", "mean", "median", "90 %", "99 %", "max");
    for (int i = 0; i < SK_STAGE_COUNT; i++) {
        const sk_runner_stage_stats *s = &r->stats.stages[i];
        if (s->count)
            printf("%-14s %9.3f %9.3f %9.3f %9.3f %9.3f\n", sk_stage_name((sk_stage)i),
                   s->sum / (double)s->count, s->p50, s->p90, s->p99, s->max);
    }
    printf("\n");
    for (int32_t i = 0; i < r->stats.n_devices; i++) {
        const sk_runner_device_stats *d = &r->stats.devices[i];
        char captured[48] = "replays from the start";
        if (!d->replays_from_open)
            snprintf(captured, sizeof captured, "capture %.1f ms", d->capture_ms);
        printf(
            "%s: %lld frames, %d thread%s; opened and warmed up in %.0f ms, optimised run %.2f ms, %s%s%s\n",
            d->name, (long long)d->frames, d->threads, d->threads == 1 ? "" : "s", d->warm_up_ms,
            d->optimised_ms, captured, d->failed ? "; FAILED: " : "", d->problem);
    }
    if (r->checked)
        print_check_table(r);
}

static void print_stages(sk_json *j, const sk_speed_report *r)
{
    sk_json_key_object(j, "stages_ms");
    for (int i = 0; i < SK_STAGE_COUNT; i++) {
        const sk_runner_stage_stats *s = &r->stats.stages[i];
        if (!s->count)
            continue;
        sk_json_key_object(j, sk_stage_name((sk_stage)i));
        sk_json_key_int(j, "count", s->count);
        sk_json_key_floats(j, {"mean", s->sum / (double)s->count}, {"p50", s->p50}, {"p90", s->p90},
                           {"p99", s->p99}, {"max", s->max});
        sk_json_close(j);
    }
    sk_json_close(j);
}

static void print_devices(sk_json *j, const sk_runner_stats *stats)
{
    sk_json_key_array(j, "devices");
    for (int32_t i = 0; i < stats->n_devices; i++) {
        const sk_runner_device_stats *d = &stats->devices[i];
        sk_json_object(j);
        sk_json_key_string(j, "name", d->name);
        sk_json_key_string(j, "detail", d->detail);
        sk_json_key_ints(j, {"threads", d->threads}, {"frames", d->frames}, {"captures", d->captures});
        sk_json_key_float(j, "warm_up_ms", d->warm_up_ms);
        sk_json_key_float(j, "optimised_ms", d->optimised_ms);
        sk_json_key_string(j, "replay", d->replays_from_open ? "from the start" : "captured");
        if (!d->replays_from_open)
            sk_json_key_float(j, "capture_ms", d->capture_ms);
        sk_json_key_bool(j, "failed", d->failed);
        if (d->failed)
            sk_json_key_string(j, "problem", d->problem);
        sk_json_close(j);
    }
    sk_json_close(j);
}

static void print_rounds(sk_json *j, const double *fps, int32_t rounds)
{
    sk_json_key_array(j, "rounds_fps");
    for (int32_t i = 0; i < rounds; i++)
        sk_json_float(j, fps[i]);
    sk_json_close(j);
}

static void print_basic(sk_json *j, const sk_speed_report *r)
{
    sk_json_key_object(j, "basic");
    sk_json_key_float(j, "fps", r->basic_fps);
    sk_json_key_float(j, "ms_per_frame", 1e3 / r->basic_fps);
    sk_json_key_object(j, "stages_ms");
    sk_json_key_floats(j, {"decode", per_frame(r->basic_decode, r->basic.frames)},
                       {"copy", per_frame(r->basic.copy, r->basic.frames)},
                       {"pre", per_frame(r->basic.pre, r->basic.frames)},
                       {"network", per_frame(r->basic.network, r->basic.frames)},
                       {"post", per_frame(r->basic.post, r->basic.frames)});
    sk_json_close(j);
    print_rounds(j, r->basic_round, r->rounds);
    sk_json_key_int(j, "instances", r->basic_instances);
    sk_json_close(j);
}

static void print_check(sk_json *j, const sk_speed_report *r)
{
    sk_json_key(j, "pcc");
    if (!r->checked) {
        sk_json_null(j);
        return;
    }
    sk_json_double(j, r->check.pcc);
    sk_json_key_object(j, "check");
    sk_json_key_bool(j, "passed", r->check.passed);
    sk_json_key_floats(j, {"pcc_min", r->check.pcc_min}, {"max_diff", r->check.max_diff},
                       {"mean_diff", r->check.mean_diff});
    sk_json_key_int(j, "crops", r->check.n_crops);
    sk_json_key_array(j, "outputs");
    for (int32_t i = 0; i < r->check.n_outputs; i++) {
        sk_json_object(j);
        sk_json_key_int(j, "model", r->check.outputs[i].model);
        sk_json_key_int(j, "output", r->check.outputs[i].output);
        sk_json_key_string(j, "name", r->check.outputs[i].name);
        sk_json_key_floats(j, {"pcc", r->check.outputs[i].pcc}, {"pcc_min", r->check.outputs[i].pcc_min},
                           {"max_diff", r->check.outputs[i].max_diff},
                           {"mean_diff", r->check.outputs[i].mean_diff});
        sk_json_close(j);
    }
    sk_json_close(j);
    sk_json_close(j);
}

sk_status sk_cli_print_speed_json(const sk_speed_report *r, bool basic, const char *mode, sk_error *err)
{
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    if (basic)
        print_basic(&j, r);
    sk_json_key_object(&j, "runner");
    sk_json_key_float(&j, "fps", r->runner_fps);
    sk_json_key_float(&j, "ms_per_frame", 1e3 / r->runner_fps);
    sk_json_key_string(&j, "mode", mode);
    sk_json_key_int(&j, "depth", r->depth);
    sk_json_key_int(&j, "bytes", r->stats.bytes);
    sk_json_key_float(&j, "decode_ms", per_frame(r->runner_decode, r->stats.delivered));
    print_stages(&j, r);
    print_devices(&j, &r->stats);
    print_rounds(&j, r->runner_round, r->rounds);
    sk_json_key_int(&j, "instances", r->runner_instances);
    sk_json_close(&j);
    if (basic) {
        sk_json_key_floats(&j, {"speedup", r->speedup}, {"speedup_least", r->speedup_least},
                           {"speedup_most", r->speedup_most});
    }
    print_check(&j, r);
    sk_json_key_int(&j, "width", r->width);
    sk_json_key_int(&j, "height", r->height);
    sk_json_key_strings(&j, {"runtime", r->runtime}, {"device", r->device}, {"precision", r->precision});
    sk_json_close(&j);
    return sk_json_end(&j, err);
}
