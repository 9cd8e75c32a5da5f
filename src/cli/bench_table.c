/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_table.h"

#include "cli/cli.h"
#include "formats/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *result_object(const sk_bench_result *r, const sk_bench_result *first)
{
    json_t *o = json_object();
    json_object_set_new(o, "runtime_requested", json_string(r->requested));
    json_object_set_new(o, "runtime", json_string(r->runtime));
    if (r->failed) {
        json_object_set_new(o, "error", sk_json_text(r->problem));
        return o;
    }
    json_object_set_new(o, "median_ms", json_real(r->median_ms));
    json_object_set_new(o, "frame_ms", r->frame_ms > 0 ? json_real(r->frame_ms) : json_null());
    if (r->frames_problem[0])
        json_object_set_new(o, "frame_error", sk_json_text(r->frames_problem));
    json_object_set_new(o, "device", json_string(r->device));
    json_object_set_new(o, "precision", json_string(r->precision));
    json_object_set_new(o, "min_ms", json_real(r->min_ms));
    json_object_set_new(o, "p99_ms", json_real(r->p99_ms));
    json_object_set_new(o, "cpu_ms", json_real(r->cpu_ms));
    json_object_set_new(o, "gflops", json_real(r->gflops));
    json_object_set_new(o, "peak_percent", json_real(r->peak_percent));
    json_object_set_new(o, "rss_mb", json_real(r->rss_mb));
    json_object_set_new(o, "open_ms", json_real(r->open_ms));
    json_object_set_new(o, "threads", json_integer(r->threads));
    json_object_set_new(o, "weights_mb", json_real(r->weights_mb));
    json_object_set_new(o, "activations_mb", json_real(r->activations_mb));
    if (!first->failed)
        json_object_set_new(o, "ratio", json_real(r->median_ms / first->median_ms));
    json_object_set_new(o, "detail", sk_json_text(r->detail));
    if (r->n_layers) {
        json_t *layers = json_array();
        for (int32_t i = 0; i < r->n_layers; i++) {
            const sk_profile_row *row = &r->layers[i];
            json_array_append_new(layers, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f}", "name", row->name, "kernel",
                                                    row->kernel, "shape", row->shape, "min_us", row->min_us,
                                                    "mean_us", row->mean_us, "gflop", row->flops * 1e-9));
        }
        json_object_set_new(o, "layers", layers);
    }
    return o;
}

sk_status sk_cli_print_bench_json(const sk_bench_settings *s, const sk_bench_result *results, sk_error *err)
{
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "model", sk_json_text(s->model));
    json_object_set_new(root, "batch", json_integer(s->batch));
    json_object_set_new(root, "iterations", json_integer(s->iterations));
    json_object_set_new(root, "results", list);
    for (int32_t i = 0; i < s->n_runtimes; i++)
        json_array_append_new(list, result_object(&results[i], &results[0]));
    char *text = sk_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(root);
    if (!text)
        return sk_fail(err, SK_ERR_MEMORY, "out of memory writing JSON");
    puts(text);
    free(text);
    return SK_OK;
}

void sk_cli_print_bench(const sk_bench_settings *s, const sk_bench_result *results)
{
    printf("%-12s %10s %10s %10s %10s %9s %7s %9s %9s %7s\n", "runtime", "network ms", "frame ms", "min ms",
           "p99 ms", "GFLOP/s", "% peak", "RSS MB", "open ms", "ratio");
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        const sk_bench_result *r = &results[i];
        if (r->failed) {
            printf("%-12s %s\n", r->runtime, r->problem);
            continue;
        }
        char frame[24] = "-";
        if (r->frame_ms > 0)
            snprintf(frame, sizeof frame, "%.3f", r->frame_ms);
        printf("%-12s %10.3f %10s %10.3f %10.3f %9.1f %7.1f %9.1f %9.1f", r->runtime, r->median_ms, frame,
               r->min_ms, r->p99_ms, r->gflops, r->peak_percent, r->rss_mb, r->open_ms);
        if (results[0].failed)
            printf(" %7s\n", "-");
        else
            printf(" %6.2fx\n", r->median_ms / results[0].median_ms);
    }
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        const sk_bench_result *r = &results[i];
        if (r->detail[0])
            printf("%s: %s\n", r->runtime, r->detail);
        if (r->frames_problem[0])
            printf("%s: not run on frames: %s\n", r->runtime, r->frames_problem);
        if (!s->cut_tail && r->frame_ms > 0 && r->frame_ms < r->median_ms)
            printf("%s: frame is less than network: frames are decoded only where something can pass "
                   "(--raw-heads times the network without its decode tail), and noise moves both\n",
                   r->runtime);
        if (r->n_layers)
            printf("\n%-28s %-36s %-26s %9s %9s %9s\n", r->runtime, "kernel", "shape", "min us", "mean us",
                   "GFLOP/s");
        for (int32_t k = 0; k < r->n_layers; k++) {
            const sk_profile_row *row = &r->layers[k];
            printf("%-28.28s %-36.36s %-26.26s %9.1f %9.1f %9.1f\n", row->name, row->kernel, row->shape,
                   row->min_us, row->mean_us, row->min_us > 0 ? row->flops / (row->min_us * 1e3) : 0);
        }
    }
}
