/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bench.h"

#include "app/bench_frames.h"
#include "app/bench_talk.h"
#include "app/network.h"
#include "app/runtimes.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/pool.h"
#include "kernels/peak.h"
#include "runner/session_settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MAX_LAYERS 1024

void sk_bench_defaults(sk_bench_settings *settings)
{
    *settings =
        (sk_bench_settings){.batch = 1, .iterations = 60, .warmup = 3, .winograd = true, .frames = true};
}

/* --- talk between the parent and a runtime's process --- */

static sk_status put_text(const char *text, char *to, size_t capacity, sk_error *err)
{
    if (text && strlen(text) >= capacity)
        return sk_fail(err, SK_ERR_LIMIT, "'%.80s…' is too long for the benchmark", text);
    snprintf(to, capacity, "%s", text ? text : "");
    return SK_OK;
}

static sk_status make_wish(const sk_bench_settings *s, const char *runtime, bench_wish *w, sk_error *err)
{
    memset(w, 0, sizeof *w);
    w->settings = *s;
    SK_TRY(put_text(s->model, w->model, sizeof w->model, err));
    SK_TRY(put_text(runtime, w->runtime, sizeof w->runtime, err));
    SK_TRY(put_text(s->provider, w->provider, sizeof w->provider, err));
    SK_TRY(put_text(s->engine_options, w->engine_options, sizeof w->engine_options, err));
    return put_text(s->openvino_device, w->openvino_device, sizeof w->openvino_device, err);
}

/* --- the runtime's process --- */

static double processor_ms(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6
               : 0;
}

static double peak_rss_mb(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

typedef struct bench_model {
    sk_model *model;
    sk_session *session;
    uint8_t *pictures;
    int32_t height, width, channels; /* of the pictures */
    sk_bench_frames *frames;
} bench_model;

static void close_model(bench_model *b)
{
    sk_bench_frames_close(&b->frames);
    sk_session_close(&b->session);
    sk_model_close(&b->model);
    sk_free(b->pictures);
}

static sk_status open_model(const sk_bench_settings *s, const char *runtime, bench_model *b, sk_error *err)
{
    const sk_engine *engine = NULL;
    SK_TRY(sk_net_engine(runtime, &engine, err));
    SK_TRY(sk_model_open_heads(s->model, s->heads, &b->model, err));
    int32_t height = s->height ? s->height : b->model->input.height;
    int32_t width = s->width ? s->width : b->model->input.width;
    b->height = height;
    b->width = width;
    b->channels = b->model->input.channels;
    sk_session_settings settings;
    const sk_network_wish wish = {.threads = s->threads,
                                  .precision = s->precision,
                                  .options = s->engine_options,
                                  .no_winograd = !s->winograd,
                                  .provider = s->provider,
                                  .openvino_device = s->openvino_device,
                                  .openvino_throughput = s->openvino_throughput,
                                  .one_of_several = s->n_runtimes > 1};
    SK_TRY(sk_session_settings_of(engine, &wish, &settings, err));
    settings.tail = s->cut_tail ? SK_TAIL_CUT : SK_TAIL_KEEP;
    bool pictures = b->model->input.dtype != SK_DTYPE_U8;
    settings.input = pictures ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    SK_TRY(sk_net_open(b->model, engine, s->batch, height, width, &settings, &b->session, err));
    SK_TRY(sk_session_capture(b->session, err));
    size_t bytes = (size_t)s->batch * (size_t)height * (size_t)width * (size_t)b->model->input.channels;
    b->pictures = sk_malloc(bytes);
    if (!b->pictures)
        return sk_fail_memory(err, bytes);
    uint32_t noise = 1;
    for (size_t i = 0; i < bytes; i++) {
        noise = noise * 1664525u + 1013904223u;
        b->pictures[i] = (uint8_t)(noise >> 24);
    }
    sk_session_input input = {.data = b->pictures};
    return sk_session_run(b->session, &input, 1, NULL, 0, err);
}

static int send_layers(bench_model *b, int fd)
{
    sk_error err = {0};
    int32_t count = 0;
    sk_profile_row *rows = sk_calloc(MAX_LAYERS, sizeof *rows);
    sk_session_input input = {.data = b->pictures};
    if (rows && sk_session_profile_start(b->session, &err) == SK_OK) {
        sk_status status = SK_OK;
        for (int i = 0; i < 10 && status == SK_OK; i++)
            status = sk_session_run(b->session, &input, 1, NULL, 0, &err);
        if (status != SK_OK || sk_session_profile(b->session, rows, MAX_LAYERS, &count, &err) != SK_OK)
            count = 0;
    }
    int ok = sk_child_send(fd, &count, sizeof count) && sk_child_send(fd, rows, (size_t)count * sizeof *rows);
    sk_free(rows);
    return ok;
}

/* The network alone: by the device's own clock where it has one, which sees no transfer; else the whole call, which is the
 * network. */
static void time_network(bench_model *b, round_report *report)
{
    sk_session_input input = {.data = b->pictures};
    sk_error err = {0};
    for (int i = 0; i < RUNS_A_ROUND && report->ok; i++) {
        sk_session_times times = {0};
        double cpu = processor_ms();
        const int64_t begin = sk_clock_ns();
        report->ok = sk_session_run(b->session, &input, 1, NULL, 0, &err) == SK_OK;
        report->ms[i] = (double)(sk_clock_ns() - begin) * 1e-6;
        cpu = processor_ms() - cpu;
        report->cpu_ms = cpu < report->cpu_ms ? cpu : report->cpu_ms;
        if (report->ok && sk_session_get_times(b->session, &times, NULL) == SK_OK && times.network > 0)
            report->ms[i] = times.network * 1e3;
    }
    snprintf(report->problem, sizeof report->problem, "%.511s", err.message);
}

/* The pipeline is opened by the first round: what the network's process needs is known by then. */
static void time_frames(const sk_bench_settings *s, const char *runtime, bench_model *b, round_report *report)
{
    sk_error err = {0};
    sk_status status = SK_OK;
    if (!b->frames)
        status = sk_bench_frames_open(s, runtime, b->session->settings.options, b->channels, b->pictures,
                                      b->height, b->width, &b->frames, &err);
    for (int i = 0; i < RUNS_A_ROUND && status == SK_OK; i++)
        status = sk_bench_frames_run(b->frames, &report->ms[i], &err);
    report->ok = status == SK_OK;
    snprintf(report->problem, sizeof report->problem, "%.511s", err.message);
}

void sk_bench_serve(int fd)
{
    static bench_wish wish;
    if (!sk_child_receive(fd, &wish, sizeof wish))
        return;
    sk_bench_settings *s = &wish.settings;
    s->model = wish.model;
    s->provider = wish.provider[0] ? wish.provider : NULL;
    s->engine_options = wish.engine_options[0] ? wish.engine_options : NULL;
    s->openvino_device = wish.openvino_device[0] ? wish.openvino_device : NULL;
    bench_model b = {0};
    sk_error err = {0};
    opened_report opened = {0};
    int64_t begin = sk_clock_ns();
    sk_status status = open_model(s, wish.runtime, &b, &err);
    opened.open_ms = (double)(sk_clock_ns() - begin) * 1e-6;
    opened.ok = status == SK_OK;
    opened.status = status;
    snprintf(opened.problem, sizeof opened.problem, "%.511s", err.message);
    if (opened.ok && b.session) {
        const sk_session_info *info = sk_session_about(b.session);
        opened.flops = info->flops;
        sk_engine_probe probe = {0};
        snprintf(opened.runtime, sizeof opened.runtime, "%s", info->engine->name);
        snprintf(opened.precision, sizeof opened.precision, "%s",
                 sk_precision_name(b.session->settings.precision));
        if (info->engine->probe(&probe, &err) == SK_OK)
            snprintf(opened.device, sizeof opened.device, "%s", probe.devices[0].name);
        opened.threads = info->threads;
        opened.weights_mb = (double)info->weight_bytes / 1048576;
        opened.activations_mb = (double)info->activation_bytes / 1048576;
        memcpy(opened.detail, info->detail, sizeof opened.detail);
    }
    int going = sk_child_send(fd, &opened, sizeof opened) && opened.ok;
    for (int32_t order = 0; going && sk_child_receive(fd, &order, sizeof order) && order != ORDER_END;) {
        if (order == ORDER_LAYERS) {
            going = send_layers(&b, fd);
            continue;
        }
        round_report report = {.ok = 1, .cpu_ms = 1e30};
        if (order == ORDER_FRAMES)
            time_frames(s, wish.runtime, &b, &report);
        else
            time_network(&b, &report);
        report.rss_mb = peak_rss_mb();
        going = sk_child_send(fd, &report, sizeof report) && (report.ok || order == ORDER_FRAMES);
    }
    close_model(&b);
}

/* --- the parent --- */

static sk_status start_child(const sk_bench_settings *s, const char *runtime, sk_child *c, sk_error *err)
{
    bench_wish wish;
    SK_TRY(make_wish(s, runtime, &wish, err));
    SK_TRY(sk_child_start("bench", false, c, err));
    if (sk_child_send(c->fd, &wish, sizeof wish))
        return SK_OK;
    (void)sk_child_end(c, false);
    return sk_fail(err, SK_ERR_IO, "the benchmark's process ended before it began");
}

static void end_child(sk_child *c)
{
    const int32_t order = ORDER_END;
    if (c->pid <= 0)
        return;
    (void)sk_child_send(c->fd, &order, sizeof order);
    (void)sk_child_wait(c);
}

typedef struct peak_work {
    sk_peak_loop loop;
    double best[SK_POOL_MAX_THREADS];
} peak_work;

static void measure_peak(void *context, int32_t part, int32_t part_count)
{
    (void)part_count;
    peak_work *work = context;
    float sink;
    for (int i = 0; i < 6; i++) {
        int64_t begin = sk_clock_ns();
        double flops = work->loop(400000, &sink);
        double rate = flops / (double)(sk_clock_ns() - begin);
        if (rate > work->best[part])
            work->best[part] = rate;
    }
}

/* GFLOP/s this CPU reaches with `threads` threads doing nothing but multiply-adds; 0 when it could not be measured. */
static double peak_gflops(int32_t threads)
{
    sk_pool_settings settings = sk_pool_defaults();
    settings.threads = threads;
    sk_pool *pool = NULL;
    if (sk_pool_open(&settings, &pool, NULL) != SK_OK)
        return 0;
    static peak_work work;
    memset(&work, 0, sizeof work);
    work.loop = sk_f32_peak_choose(sk_cpu_detected_flags());
    sk_pool_run(pool, measure_peak, &work, sk_pool_threads(pool));
    double sum = 0;
    for (int32_t i = 0; i < sk_pool_threads(pool); i++)
        sum += work.best[i];
    sk_pool_close(&pool);
    return sum;
}

static void fail_result(sk_bench_result *r, sk_status status, const char *problem)
{
    r->failed = true;
    r->status = status == SK_OK ? SK_ERR_RUNTIME : status;
    snprintf(r->problem, sizeof r->problem, "%.511s",
             problem[0] ? problem : "its process ended without a word");
}

static int run_round(sk_child *c, sk_bench_result *r, double *samples)
{
    int32_t order = ORDER_RUN;
    round_report report = {0};
    if (!sk_child_send(c->fd, &order, sizeof order) || !sk_child_receive(c->fd, &report, sizeof report) ||
        !report.ok) {
        fail_result(r, SK_ERR_RUNTIME, report.problem);
        return 0;
    }
    r->rss_mb = report.rss_mb;
    if (r->cpu_ms == 0 || report.cpu_ms < r->cpu_ms)
        r->cpu_ms = report.cpu_ms;
    memcpy(samples, report.ms, sizeof report.ms);
    return RUNS_A_ROUND;
}

/* 0 rounds where the model cannot be run on frames: `r` says why. */
static int run_frames(sk_child *c, sk_bench_result *r, double *samples)
{
    int32_t order = ORDER_FRAMES;
    round_report report = {0};
    if (r->frames_problem[0])
        return 0;
    if (!sk_child_send(c->fd, &order, sizeof order) || !sk_child_receive(c->fd, &report, sizeof report))
        snprintf(report.problem, sizeof report.problem, "its process ended without a word");
    if (!report.ok) {
        snprintf(r->frames_problem, sizeof r->frames_problem, "%.511s", report.problem);
        return 0;
    }
    memcpy(samples, report.ms, sizeof report.ms);
    return RUNS_A_ROUND;
}

static void fetch_layers(sk_child *c, sk_bench_result *r)
{
    int32_t order = ORDER_LAYERS, count = 0;
    if (!sk_child_send(c->fd, &order, sizeof order) || !sk_child_receive(c->fd, &count, sizeof count) ||
        count < 1 || count > MAX_LAYERS)
        return;
    r->layers = sk_calloc((size_t)count, sizeof *r->layers);
    if (r->layers && sk_child_receive(c->fd, r->layers, (size_t)count * sizeof *r->layers))
        r->n_layers = count;
}

static void open_children(const sk_bench_settings *s, sk_child *children, sk_bench_result *results,
                          double *flops)
{
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        sk_bench_result *r = &results[i];
        snprintf(r->requested, sizeof r->requested, "%s", s->runtimes[i]);
        snprintf(r->runtime, sizeof r->runtime, "%s", s->runtimes[i]);
        sk_error problem = {0};
        opened_report opened = {0};
        sk_status started = start_child(s, s->runtimes[i], &children[i], &problem);
        if (started != SK_OK) {
            fail_result(r, started, problem.message);
        } else if (!sk_child_receive(children[i].fd, &opened, sizeof opened) || !opened.ok) {
            fail_result(r, opened.status, opened.problem);
        } else {
            r->open_ms = opened.open_ms;
            memcpy(r->runtime, opened.runtime, sizeof r->runtime);
            memcpy(r->precision, opened.precision, sizeof r->precision);
            memcpy(r->device, opened.device, sizeof r->device);
            r->threads = opened.threads;
            r->weights_mb = opened.weights_mb;
            r->activations_mb = opened.activations_mb;
            memcpy(r->detail, opened.detail, sizeof r->detail);
            flops[i] = opened.flops;
        }
    }
}

static void summarise(sk_bench_result *r, double *samples, size_t count, double flops, double peak)
{
    if (r->failed || count == 0)
        return;
    sk_samples_summary sum = sk_samples_summarize(samples, count);
    r->median_ms = sum.median;
    r->min_ms = sum.min;
    r->p99_ms = sum.p99;
    r->gflops = flops / (sum.median * 1e6);
    r->peak_percent = peak > 0 ? 100 * r->gflops / peak : 0;
}

/* What is measured of every runtime: `capacity` samples each, of which taken[i] count. */
typedef struct measured {
    double *samples;
    size_t capacity;
    size_t taken[SK_BENCH_MAX_RUNTIMES];
} measured;

/* Rounds of one kind, a runtime after the other; without `into` they warm up. */
static void run_rounds(const sk_bench_settings *s, sk_child *children, sk_bench_result *results,
                       int (*one)(sk_child *, sk_bench_result *, double *), int32_t rounds, measured *into)
{
    double unused[RUNS_A_ROUND];
    for (int32_t round = 0; round < rounds; round++)
        for (int32_t i = 0; i < s->n_runtimes; i++) {
            if (results[i].failed)
                continue;
            double *at = into ? into->samples + (size_t)i * into->capacity + into->taken[i] : unused;
            const int n = one(&children[i], &results[i], at);
            if (into)
                into->taken[i] += (size_t)n;
        }
}

static size_t counted(const sk_bench_settings *s, const measured *m, int32_t i)
{
    return m->taken[i] > (size_t)s->iterations ? (size_t)s->iterations : m->taken[i];
}

/* Half of the network's rounds, the frames', the other half: a machine that gets slower or faster meanwhile does so for both
 * figures. */
static void run_all_rounds(const sk_bench_settings *s, sk_child *children, sk_bench_result *results,
                           measured *network, measured *frames)
{
    const int32_t warmup = (s->warmup + RUNS_A_ROUND - 1) / RUNS_A_ROUND;
    const int32_t rounds = (s->iterations + RUNS_A_ROUND - 1) / RUNS_A_ROUND;
    const int32_t before = s->frames ? (rounds + 1) / 2 : rounds;
    double rss_mb[SK_BENCH_MAX_RUNTIMES];
    run_rounds(s, children, results, run_round, warmup, NULL);
    run_rounds(s, children, results, run_round, before, network);
    for (int32_t i = 0; i < s->n_runtimes; i++)
        rss_mb[i] = results[i].rss_mb; /* the network's, before the frames' pipeline is there as well */
    if (s->frames) {
        run_rounds(s, children, results, run_frames, warmup, NULL);
        run_rounds(s, children, results, run_frames, rounds, frames);
    }
    run_rounds(s, children, results, run_round, rounds - before, network);
    for (int32_t i = 0; i < s->n_runtimes; i++)
        results[i].rss_mb = rss_mb[i];
}

static sk_status run_all(const sk_bench_settings *s, sk_bench_result *results, sk_error *err)
{
    SK_CHECK_ARG(s->n_runtimes >= 1 && s->n_runtimes <= SK_BENCH_MAX_RUNTIMES, err);
    SK_CHECK_ARG(s->iterations >= 1 && s->batch >= 1, err);
    sk_child children[SK_BENCH_MAX_RUNTIMES] = {0};
    double flops[SK_BENCH_MAX_RUNTIMES] = {0};
    const size_t capacity = (size_t)s->iterations + RUNS_A_ROUND, all = capacity * (size_t)s->n_runtimes;
    measured network = {.samples = sk_calloc(2 * all, sizeof(double)), .capacity = capacity},
             frames = network;
    if (!network.samples)
        return sk_fail_memory(err, 2 * all * sizeof(double));
    frames.samples += all;
    memset(results, 0, (size_t)s->n_runtimes * sizeof *results);
    open_children(s, children, results, flops);
    run_all_rounds(s, children, results, &network, &frames);
    double peak = peak_gflops(s->threads);
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        const size_t at = (size_t)i * capacity, n = counted(s, &frames, i);
        summarise(&results[i], network.samples + at, counted(s, &network, i), flops[i], peak);
        if (n > 0)
            results[i].frame_ms = sk_samples_summarize(frames.samples + at, n).median;
        if (s->layers && !results[i].failed)
            fetch_layers(&children[i], &results[i]);
        end_child(&children[i]);
    }
    sk_free(network.samples);
    for (int32_t i = 0; i < s->n_runtimes; i++)
        if (!results[i].failed)
            return SK_OK;
    return sk_fail(err, results[0].status, "%s", results[0].problem);
}

sk_status sk_bench_run(const sk_bench_settings *s, sk_bench_result *results, char notice[512], sk_error *err)
{
    sk_run_lock *lock = NULL;
    SK_TRY(sk_runtimes_hold("skitter bench", &lock, notice, err));
    sk_status status = run_all(s, results, err);
    sk_run_lock_close(&lock);
    return status;
}
