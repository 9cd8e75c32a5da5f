/* SPDX-License-Identifier: Apache-2.0 */
/* The talk between the benchmark and its processes, played: which orders come in which turn, what is made of the answers, and what is said
 * of those who do not answer. */
#include "bench_play.h"
#include "support/yolo_writer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runner/network.h"
#include "runner/session_settings.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static sk_error err;

/* --- the parent --- */

static sk_bench_result rows[SK_BENCH_MAX_RUNTIMES];

static sk_bench_settings begin(int32_t n)
{
    sk_bench_settings s;
    sk_bench_defaults(&s);
    s.model = "m.pt";
    s.iterations = 6;
    s.warmup = 1;
    s.threads = 1;
    s.n_runtimes = n;
    told[0] = '\0';
    ends[0] = ends[1] = waits = 0;
    memset(actors, 0, sizeof actors);
    for (int i = 0; i < 3; i++) {
        s.runtimes[i] = i == 0 ? "one" : i == 1 ? "two" : "three";
        actors[i].opened = (opened_report){.ok = 1,
                                           .open_ms = 11 + i,
                                           .flops = 4e9,
                                           .weights_mb = 21 + i,
                                           .activations_mb = 31 + i,
                                           .threads = 41 + i,
                                           .detail = "a detail",
                                           .runtime = "ran",
                                           .precision = "f16",
                                           .device = "a device"};
    }
    for (int i = 0; i < SK_BENCH_MAX_RUNTIMES; i++)
        sk_free(rows[i].layers);
    memset(rows, 0, sizeof rows);
    return s;
}

static sk_status run(const sk_bench_settings *s)
{
    char notice[512];
    return sk_bench_run(s, rows, notice, &err);
}

static void turns(void **state)
{
    (void)state;
    sk_bench_settings s = begin(2);
    assert_ok(run(&s), &err);
    assert_string_equal(told, "0S 1S 0R 1R 0R 1R 0F 1F 0F 1F 0F 1F 0R 1R 0E 0W 1E 1W");
    assert_true(waits == 2 && ends[0] == 0 && ends[1] == 0);
    for (int i = 0; i < 2; i++) {
        const sk_bench_result *r = &rows[i];
        double network[] = {5, 1, 3, 7, 2, 9}, frames[] = {50, 10, 30, 70, 20, 90};
        const sk_samples_summary a = sk_samples_summarize(network, 6), b = sk_samples_summarize(frames, 6);
        assert_true(r->min_ms == 1 && r->median_ms == a.median && r->p99_ms == a.p99 &&
                    r->frame_ms == b.median);
        assert_true(r->cpu_ms == 3 && r->rss_mb == 20 && r->open_ms == 11 + i && r->threads == 41 + i);
        assert_true(r->weights_mb == 21 + i && r->activations_mb == 31 + i && !r->failed &&
                    r->status == SK_OK);
        assert_true(fabs(r->gflops - 4e9 / (a.median * 1e6)) < 1e-9 && r->peak_percent > 0);
        assert_string_equal(r->requested, i ? "two" : "one");
        assert_string_equal(r->runtime, "ran");
        assert_string_equal(r->precision, "f16");
        assert_string_equal(r->device, "a device");
        assert_string_equal(r->detail, "a detail");
        assert_string_equal(r->frames_problem, "");
        assert_true(r->n_layers == 0 && !r->layers);
        assert_string_equal(actors[i].wish.model, "m.pt");
        assert_string_equal(actors[i].wish.runtime, i ? "two" : "one");
        assert_string_equal(actors[i].wish.provider, "");
    }
    static const struct {
        int32_t iterations, warmup;
        bool frames;
        const char *turns;
    } cases[] = {{1, 0, false, "0S 0R 0E 0W"},         {4, 0, false, "0S 0R 0E 0W"},
                 {5, 0, false, "0S 0R 0R 0E 0W"},      {4, 4, false, "0S 0R 0R 0E 0W"},
                 {4, 5, false, "0S 0R 0R 0R 0E 0W"},   {4, 0, true, "0S 0R 0F 0E 0W"},
                 {8, 0, true, "0S 0R 0F 0F 0R 0E 0W"}, {9, 0, true, "0S 0R 0R 0F 0F 0F 0R 0E 0W"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s = begin(1);
        s.iterations = cases[i].iterations;
        s.warmup = cases[i].warmup;
        s.frames = cases[i].frames;
        assert_ok(run(&s), &err);
        assert_string_equal(told, cases[i].turns);
    }
}

static void wishes(void **state)
{
    (void)state;
    sk_bench_settings s = begin(1);
    s.provider = "P";
    s.openvino_device = "D";
    s.engine_options = "O=1";
    s.layers = true;
    actors[0].n_layers = 3;
    assert_ok(run(&s), &err);
    const bench_wish *w = &actors[0].wish;
    assert_string_equal(w->provider, "P");
    assert_string_equal(w->openvino_device, "D");
    assert_string_equal(w->engine_options, "O=1");
    assert_true(w->settings.iterations == 6 && w->settings.threads == 1 && w->settings.layers);
    assert_true(rows[0].n_layers == 3 && rows[0].layers && rows[0].layers[2].name[0] == 'x');
    assert_non_null(strstr(told, "0R 0L 0E 0W"));
    static const struct {
        int32_t n;
        bool torn;
        int32_t wanted;
    } layers[] = {{0, false, 0},       {-1, false, 0}, {1025, false, 0},
                  {1024, false, 1024}, {1, false, 1},  {2, true, 0}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        s = begin(1);
        s.layers = true;
        actors[0].n_layers = layers[i].n;
        actors[0].layers_torn = layers[i].torn;
        assert_ok(run(&s), &err);
        assert_int_equal(rows[0].n_layers, layers[i].wanted);
    }
    static char text[600];
    memset(text, 'y', sizeof text - 1);
    s = begin(2); /* what is too long is told in its row, the others run */
    text[64] = '\0';
    s.runtimes[0] = text;
    assert_ok(run(&s), &err);
    assert_true(rows[0].failed && rows[0].status == SK_ERR_LIMIT &&
                strstr(rows[0].problem, "is too long for the"));
    assert_int_equal(strncmp(told, "0S 0R", 5), 0); /* its process was not started */
    s = begin(1);
    text[63] = '\0';
    s.provider = text;
    assert_ok(run(&s), &err);
    assert_string_equal(actors[0].wish.provider, text);
    (void)begin(1);
}

static void failed(int i, sk_status status, const char *problem)
{
    assert_true(rows[i].failed);
    assert_int_equal(rows[i].status, status);
    assert_string_equal(rows[i].problem, problem);
    assert_true(rows[i].median_ms == 0 && rows[i].min_ms == 0 && rows[i].gflops == 0 &&
                rows[i].n_layers == 0);
}

static void who_does_not_open(void **state)
{
    (void)state;
    sk_bench_settings s = begin(3);
    s.frames = false;
    s.layers = true;
    actors[0].opened = (opened_report){.status = SK_ERR_FORMAT, .problem = "no model"};
    actors[1].silent_open = true;
    actors[1].opened = (opened_report){0};
    assert_ok(run(&s), &err);
    failed(0, SK_ERR_FORMAT, "no model");
    failed(1, SK_ERR_RUNTIME, "its process ended without a word");
    assert_false(rows[2].failed);
    assert_string_equal(told, "0S 1S 2S 2R 2R 2R 0E 0W 1E 1W 2L 2E 2W");
    s = begin(2);
    actors[0].starts = SK_ERR_NOT_FOUND;
    actors[1].deaf = true;
    assert_int_equal(run(&s), SK_ERR_NOT_FOUND); /* nobody ran: what the first said */
    assert_string_equal(err.message, "no program");
    failed(0, SK_ERR_NOT_FOUND, "no program");
    failed(1, SK_ERR_IO, "the benchmark's process ended before it began");
    assert_string_equal(told, "0S 1S");
    assert_true(ends[0] == 1 && ends[1] == 0 && waits == 0);
}

static void who_fails_on_the_way(void **state)
{
    (void)state;
    sk_bench_settings s = begin(3);
    actors[0].fails_at = 2;
    actors[1].silent_at = 1;
    assert_ok(run(&s), &err);
    failed(0, SK_ERR_RUNTIME, "burnt");
    failed(1, SK_ERR_RUNTIME, "its process ended without a word");
    assert_false(rows[2].failed);
    assert_string_equal(told, "0S 1S 2S 0R 1R 2R 0R 2R 2F 2F 2F 2R 0E 0W 1E 1W 2E 2W");
    s = begin(2);
    actors[0].frames_fail_at = 2; /* the first that counts */
    actors[1].frames_silent = true;
    assert_ok(run(&s), &err);
    assert_string_equal(told, "0S 1S 0R 1R 0R 1R 0F 1F 0F 0R 1R 0E 0W 1E 1W");
    assert_string_equal(rows[0].frames_problem, "no frames");
    assert_string_equal(rows[1].frames_problem, "its process ended without a word");
    for (int i = 0; i < 2; i++)
        assert_true(!rows[i].failed && rows[i].frame_ms == 0 && rows[i].min_ms == 1);
}

/* --- the process --- */

static bench_wish wish;
static int32_t orders[8];
static int n_orders, at_order, n_sent;
static bool has_wish, takes = true;
static opened_report opened;
static round_report rounds[8];
static int n_rounds;
static int32_t layer_count;
static size_t layer_bytes;

static bool served_receive(void *data, size_t bytes)
{
    if (bytes == sizeof wish) {
        memcpy(data, &wish, bytes);
        return has_wish;
    }
    assert_int_equal(bytes, sizeof *orders);
    if (at_order == n_orders)
        return false;
    memcpy(data, &orders[at_order++], bytes);
    return true;
}

static bool served_send(const void *data, size_t bytes)
{
    n_sent++;
    if (bytes == sizeof opened)
        memcpy(&opened, data, bytes);
    else if (bytes == sizeof *rounds)
        memcpy(&rounds[n_rounds++], data, bytes);
    else if (bytes == sizeof layer_count)
        memcpy(&layer_count, data, bytes);
    else
        layer_bytes = bytes;
    return takes;
}

static void serve(int n, const int32_t *given)
{
    n_orders = n;
    memcpy(orders, given, (size_t)n * sizeof *given);
    at_order = n_sent = n_rounds = 0;
    layer_count = -1;
    layer_bytes = 0;
    opened = (opened_report){0};
    serving = true;
    sk_bench_serve(7);
    serving = false;
}

/* Clocks that go on whenever they are looked at, where the test wants that: the processor's by 7 ms, the other by 3. */
static bool clocked;
static int64_t processor_looks, looks;

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (!clocked)
        return (int)syscall(SYS_clock_gettime, id, out);
    const int64_t ms = id == CLOCK_PROCESS_CPUTIME_ID ? 7 * ++processor_looks : 3 * ++looks;
    *out = (struct timespec){ms / 1000, ms % 1000 * 1000000};
    return 0;
}

/* A run takes from one look at the clock to the next, of the processor's time as of all; opening takes what it takes. */
static void times_of_the_clock(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    wish = (bench_wish){.settings = {.batch = 1, .height = 32, .width = 32, .threads = 1, .n_runtimes = 1}};
    snprintf(wish.model, sizeof wish.model, "%s", yolo_save(&fixture, "clock.pt"));
    snprintf(wish.runtime, sizeof wish.runtime, "reference");
    has_wish = clocked = true;
    serve(3, (int32_t[]){ORDER_RUN, ORDER_RUN, ORDER_END});
    clocked = false;
    assert_true(n_rounds == 2 && fabs(opened.open_ms - 3) < 1e-6);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(rounds[i].cpu_ms - 7) < 1e-6);
        for (int k = 0; k < RUNS_A_ROUND; k++)
            assert_true(fabs(rounds[i].ms[k] - 3) < 1e-6);
    }
    has_wish = false;
}

/* What is told of opening is what the network says of itself, opened as it was asked for; the memory is that of the process. */
static void what_the_network_says(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    for (int way = 0; way < 4; way++) {
        const bool cut = way & 1;
        const int32_t batch = way < 2 ? 1 : 3;
        struct rusage before = {0}, after = {0};
        const sk_engine *engine = NULL;
        sk_model *model = NULL;
        sk_session *session = NULL;
        sk_session_settings settings;
        const bool winograd = way == 1 || way == 2;
        const sk_network_wish as_asked = {.threads = 2, .no_winograd = !winograd, .options = "tune=off"};
        wish = (bench_wish){
            .settings = {
                .batch = batch, .height = 64, .width = 32, .threads = 2, .n_runtimes = 1, .cut_tail = cut}};
        wish.settings.winograd = winograd;
        snprintf(wish.engine_options, sizeof wish.engine_options, "tune=off");
        snprintf(wish.model, sizeof wish.model, "%s", yolo_save(&fixture, "says.pt"));
        snprintf(wish.runtime, sizeof wish.runtime, "cpu");
        has_wish = true;
        getrusage(RUSAGE_SELF, &before);
        serve(2, (int32_t[]){ORDER_RUN, ORDER_END});
        getrusage(RUSAGE_SELF, &after);
        has_wish = false;
        assert_true(n_rounds == 1 && rounds[0].rss_mb * 1024 >= (double)before.ru_maxrss - 0.5 &&
                    rounds[0].rss_mb * 1024 <= (double)after.ru_maxrss + 0.5);
        assert_ok(sk_net_engine("cpu", &engine, &err), &err);
        assert_ok(sk_model_open(wish.model, &model, &err), &err);
        assert_ok(sk_session_settings_of(engine, &as_asked, &settings, &err), &err);
        settings.tail = cut ? SK_TAIL_CUT : SK_TAIL_KEEP;
        settings.input = SK_INPUT_U8_HWC;
        assert_ok(sk_net_open(model, engine, batch, 64, 32, &settings, &session, &err), &err);
        const sk_session_info *info = sk_session_about(session);
        assert_true(opened.flops == info->flops && opened.threads == 2 && info->threads == 2);
        assert_true(fabs(opened.weights_mb * 1048576 - (double)info->weight_bytes) < 1 &&
                    info->weight_bytes > 0);
        assert_true(fabs(opened.activations_mb * 1048576 - (double)info->activation_bytes) < 1);
        assert_string_equal(opened.detail, info->detail);
        sk_session_close(&session);
        sk_model_close(&model);
    }
}

static void orders_are_followed(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    wish = (bench_wish){.settings = {.batch = 1, .height = 32, .width = 32, .threads = 1, .n_runtimes = 1}};
    snprintf(wish.model, sizeof wish.model, "%s", yolo_save(&fixture, "bench.pt"));
    snprintf(wish.runtime, sizeof wish.runtime, "reference");
    serve(3, (int32_t[]){ORDER_RUN, ORDER_RUN, ORDER_RUN}); /* no wish: nothing is said */
    assert_true(n_sent == 0 && at_order == 0);
    has_wish = true;
    serve(6, (int32_t[]){ORDER_RUN, ORDER_LAYERS, ORDER_FRAMES, ORDER_RUN, ORDER_END, ORDER_RUN});
    assert_true(opened.ok == 1 && opened.status == SK_OK && at_order == 5 && n_rounds == 3 && n_sent == 6);
    assert_string_equal(opened.problem, "");
    assert_string_equal(opened.runtime, "reference");
    assert_string_equal(opened.precision, "f32");
    assert_true(opened.open_ms > 0 && opened.open_ms < 100000 && opened.flops > 1000 && opened.device[0]);
    for (int i = 0; i < 3; i++) {
        assert_true(rounds[i].ok == 1 && rounds[i].rss_mb > 1 && rounds[i].rss_mb < 16384);
        assert_string_equal(rounds[i].problem, "");
        for (int k = 0; k < RUNS_A_ROUND; k++)
            assert_true(rounds[i].ms[k] > 0 && rounds[i].ms[k] < 100000);
        assert_true(i == 1 ? rounds[i].cpu_ms == 1e30 : rounds[i].cpu_ms > 0 && rounds[i].cpu_ms < 100000);
    }
    assert_true(layer_count >= 0 && layer_bytes == (size_t)layer_count * sizeof(sk_profile_row));
    serve(2, (int32_t[]){ORDER_RUN, ORDER_RUN}); /* its parent goes: so does it */
    assert_true(n_rounds == 2 && at_order == 2);
    takes = false;
    serve(2, (int32_t[]){ORDER_RUN, ORDER_RUN});
    assert_true(n_sent == 1 && at_order == 0);
    takes = true;
    wish.settings.batch = 65; /* more than a pipeline takes: frames fail, the network goes on */
    serve(3, (int32_t[]){ORDER_FRAMES, ORDER_RUN, ORDER_END});
    assert_true(n_rounds == 2 && rounds[0].ok == 0 && rounds[1].ok == 1);
    assert_string_equal(rounds[0].problem, "a pipeline takes at most 64 frames at once");
    wish.settings.batch = 1;
    snprintf(wish.runtime, sizeof wish.runtime, "nonsense");
    serve(2, (int32_t[]){ORDER_RUN, ORDER_END});
    assert_true(opened.ok == 0 && opened.status == SK_ERR_ARG && n_sent == 1 && at_order == 0);
    assert_non_null(strstr(opened.problem, "nonsense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns),
                                       cmocka_unit_test(wishes),
                                       cmocka_unit_test(who_does_not_open),
                                       cmocka_unit_test(who_fails_on_the_way),
                                       cmocka_unit_test(times_of_the_clock),
                                       cmocka_unit_test(what_the_network_says),
                                       cmocka_unit_test(orders_are_followed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
