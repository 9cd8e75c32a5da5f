/* SPDX-License-Identifier: Apache-2.0 */
/* What 'run' and 'bench' print of figures made up so that every one can be told from the others. */
#include "said.h"

#include "base/memory.h"
#include "base/text.h"
#include "cli/bench_table.h"
#include "cli/speed_table.h"

static said s;
static sk_speed_report r;

static void put(char *to, size_t capacity, const char *text)
{
    snprintf(to, capacity, "%s", text);
}

static sk_output_check output(int32_t model, int32_t number, double pcc, double least, double diff)
{
    sk_output_check o = {.model = model,
                         .output = number,
                         .pcc = pcc,
                         .pcc_min = least,
                         .max_diff = diff,
                         .mean_diff = diff / 8};
    snprintf(o.name, sizeof o.name, "out%d", number);
    return o;
}

static void make_report(void)
{
    memset(&r, 0, sizeof r);
    r.rounds = 3;
    r.frames_a_round = 25;
    r.basic_fps = 20;
    r.runner_fps = 80;
    r.speedup = 4;
    r.speedup_least = 3.5;
    r.speedup_most = 4.25;
    for (int i = 0; i < 4; i++) {
        r.basic_round[i] = 19 + i;
        r.runner_round[i] = 79 + i;
    }
    r.basic = (sk_basic_times){.frames = 50, .copy = 0.1, .pre = 0.2, .network = 0.4, .post = 0.8};
    r.basic_decode = 1.6;
    r.runner_decode = 3.2;
    r.basic_instances = 111;
    r.runner_instances = 112;
    r.stats.delivered = 100;
    r.stats.bytes = 123456;
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        r.stats.stages[i] = (sk_runner_stage_stats){.count = i == 1 ? 0 : 2 + i,
                                                    .sum = 10 * (i + 1),
                                                    .p50 = i + 0.5,
                                                    .p90 = i + 0.75,
                                                    .p99 = i + 0.875,
                                                    .max = i + 1.25};
    r.stats.n_devices = 2;
    for (int i = 0; i < 2; i++) {
        sk_runner_device_stats *d = &r.stats.devices[i];
        snprintf(d->name, sizeof d->name, "cpu:%d", i);
        snprintf(d->detail, sizeof d->detail, "detail %d", i);
        d->threads = 1 + i;
        d->frames = 40 + i;
        d->captures = 5 + i;
        d->warm_up_ms = 60 + i;
        d->optimised_ms = 7.5 + i;
        d->capture_ms = 8.5 + i;
        d->replays_from_open = i == 0;
    }
    r.depth = 6;
    r.n_models = 1;
    put(r.models[0], sizeof r.models[0], "first.pt");
    put(r.models[1], sizeof r.models[1], "second.pt");
    r.width = 640;
    r.height = 480;
    put(r.runtime, sizeof r.runtime, "cpu");
    put(r.device, sizeof r.device, "a processor");
    put(r.precision, sizeof r.precision, "f32");
}

static void check(int32_t n, ...)
{
    va_list list;
    r.checked = true;
    r.check = (sk_check){.ran = true,
                         .passed = true,
                         .pcc = 0.99999875,
                         .pcc_min = 0.99998,
                         .max_diff = 0.0125,
                         .mean_diff = 0.00025,
                         .n_crops = 9,
                         .n_outputs = n};
    va_start(list, n);
    for (int32_t i = 0; i < n; i++)
        r.check.outputs[i] = va_arg(list, sk_output_check);
    va_end(list);
}

static void print(sk_text *all, const char *what, bool basic)
{
    sk_error err = {0};
    sk_text_appendf(all, "===== %s\n", what);
    said_begin(&s);
    sk_cli_print_speed(&r, basic);
    said_end(&s);
    sk_text_append(all, s.out);
    said_begin(&s);
    s.status = sk_cli_print_speed_json(&r, basic, "throughput", &err);
    said_end(&s);
    assert_ok(s.status, &err);
    sk_text_append(all, s.out);
}

static void speeds(void **state)
{
    (void)state;
    sk_text all = {0};
    make_report();
    print(&all, "not checked", true);
    print(&all, "without basic execution", false);
    check(2, output(0, 0, 0.999999, 0.99999, 0.01), output(0, 1, 0.99999875, 0.99998, 0.0125));
    print(&all, "checked, one output by its roundings", true);
    put(r.precision, sizeof r.precision, "bf16");
    check(3, output(0, 0, 0.98, 0.98, 0.5), output(0, 1, 0.99, 0.98, 0.5), output(0, 2, 0.985, 0.98, 0.5));
    r.check.passed = false;
    r.stats.devices[1].failed = true;
    put(r.stats.devices[1].problem, sizeof r.stats.devices[1].problem, "it burns");
    r.basic.frames = r.stats.delivered = 0; /* nothing was done: no time a frame */
    print(&all, "wrong, and a device failed", true);
    put(r.precision, sizeof r.precision, "f16");
    r.n_models = 2;
    check(4, output(0, 0, 0.9999, 0.999, 0.25), output(1, 0, 0.9998, 0.999, 0.5),
          output(1, 1, 0.9997, 0.999, 0.125), output(0, 1, 0.99995, 0.999, 0.0625));
    print(&all, "two models", true);
    r.check.n_outputs = 1;
    print(&all, "nothing to crop", true);
    said_is("measured_speeds", sk_text_get(&all));
    sk_text_free(&all);
}

/* Of outputs in so few bits that roundings alone explain what they lost it is told how many there are. */
static void explained(void **state)
{
    (void)state;
    static const struct {
        const char *precision;
        double pcc, least; /* of the second output; the others are as good as is asked */
        bool told;
    } cases[] = {{"fp8", 0.9, 0.9, true},    {"fp8", 0.94, 0.9, false}, {"fp8", 0.96, 0.96, false},
                 {"fp8", 0.95, 0.95, false}, {"f32", 0.9, 0.9, false},  {"f16", 0.9, 0.9, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_report();
        put(r.precision, sizeof r.precision, cases[i].precision);
        check(3, output(0, 0, 0.9999999, 0.95, 0.5), output(0, 1, cases[i].pcc, cases[i].least, 0.5),
              output(0, 2, 0.9999999, 0.95, 0.5));
        said_begin(&s);
        sk_cli_print_speed(&r, true);
        said_end(&s);
        if (cases[i].told)
            said_has(s.out, "  1 of 3 outputs below 0.95, which the roundings of fp8 explain: no more than ");
        else
            said_lacks(s.out, "outputs below");
    }
}

static void put_bench(sk_bench_result *b, int k)
{
    memset(b, 0, sizeof *b);
    snprintf(b->requested, sizeof b->requested, "asked%d", k);
    snprintf(b->runtime, sizeof b->runtime, "runtime%d", k);
    snprintf(b->precision, sizeof b->precision, "f%d", k);
    snprintf(b->device, sizeof b->device, "device %d", k);
    b->open_ms = 100 + k;
    b->median_ms = 8 * (k + 1);
    b->min_ms = 6 + k;
    b->p99_ms = 30 + k;
    b->frame_ms = 40 + k;
    b->cpu_ms = 50 + k;
    b->gflops = 60 + k;
    b->peak_percent = 70 + k;
    b->rss_mb = 80 + k;
    b->weights_mb = 90 + k;
    b->activations_mb = 95 + k;
    b->threads = 3 + k;
}

static void print_benches(sk_text *all, const char *what, const sk_bench_settings *how,
                          const sk_bench_result *rows)
{
    sk_error err = {0};
    sk_text_appendf(all, "===== %s\n", what);
    said_begin(&s);
    sk_cli_print_bench(how, rows);
    said_end(&s);
    sk_text_append(all, s.out);
    said_begin(&s);
    s.status = sk_cli_print_bench_json(how, rows, &err);
    said_end(&s);
    assert_ok(s.status, &err);
    sk_text_append(all, s.out);
}

static void benches(void **state)
{
    (void)state;
    sk_text all = {0};
    static sk_bench_result rows[4];
    static sk_profile_row layers[2];
    sk_bench_settings how;
    sk_bench_defaults(&how);
    how.model = "m.pt";
    how.batch = 2;
    how.iterations = 5;
    how.n_runtimes = 3;
    for (int i = 0; i < 4; i++)
        put_bench(&rows[i], i);
    put(rows[1].detail, sizeof rows[1].detail, "some words");
    rows[1].frame_ms = 15.5; /* less than the network */
    rows[2].frame_ms = 0;
    put(rows[2].frames_problem, sizeof rows[2].frames_problem, "no frames");
    for (int i = 0; i < 2; i++) {
        snprintf(layers[i].name, sizeof layers[i].name, "layer%d", i);
        snprintf(layers[i].kernel, sizeof layers[i].kernel, "kernel%d", i);
        snprintf(layers[i].shape, sizeof layers[i].shape, "1x%d", i);
        layers[i].min_us = i ? 0 : 20;
        layers[i].mean_us = 25 + i;
        layers[i].flops = 3e6 * (i + 1);
    }
    rows[2].n_layers = 2;
    rows[2].layers = layers;
    print_benches(&all, "three", &how, rows);
    rows[0].failed = true;
    put(rows[0].problem, sizeof rows[0].problem, "not here");
    how.cut_tail = true;
    print_benches(&all, "the first failed, without the tail", &how, rows);
    rows[0].failed = false;
    rows[1].failed = true;
    put(rows[1].problem, sizeof rows[1].problem, "broken");
    rows[0].frame_ms = rows[0].median_ms; /* as much as the network: nothing to wonder about */
    how.cut_tail = false;
    how.n_runtimes = 2;
    print_benches(&all, "the second failed", &how, rows);
    said_is("measured_benches", sk_text_get(&all));
    sk_text_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(speeds), cmocka_unit_test(explained),
                                       cmocka_unit_test(benches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
