/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings the flags of export, run and bench reach, and what is printed of what came of it: the work itself is played. */
#include "said.h"

#include "app/artifacts.h"
#include "app/bench.h"
#include "app/export.h"
#include "app/speed.h"
#include "support/yolo_writer.h"

static said s;
static char model[4300];

/* --- the play: in place of app/export.c, artifacts.c, speed.c and bench.c --- */

static sk_export_settings exported;
static sk_artifacts_export wished;
static sk_artifacts_exported made;
static char options_given[256];
static sk_speed_settings speed;
static sk_speed_report measured;
static sk_status speed_status;
static char texts[8][64]; /* what settings borrow ends with the command */
static sk_bench_settings bench;
static int calls;

static const char *kept(int i, const char *text)
{
    snprintf(texts[i], sizeof texts[i], "%s", text ? text : "-");
    return texts[i];
}

sk_status sk_export_run(const sk_export_settings *settings, sk_export_report *report, sk_error *err)
{
    (void)err;
    calls++;
    exported = *settings;
    exported.path = kept(0, settings->path);
    *report =
        (sk_export_report){.path = "m.onnx", .bytes = 2048, .seconds = 1.25, .outputs = "output0 1x6x336"};
    return SK_OK;
}

sk_status sk_artifacts_make(const sk_artifacts_export *wish, sk_artifacts_exported *out, sk_error *err)
{
    (void)err;
    calls++;
    wished = *wish;
    wished.runtime = kept(0, wish->runtime);
    snprintf(options_given, sizeof options_given, "%s", wish->engine_options ? wish->engine_options : "-");
    *out = made;
    return SK_OK;
}

sk_status sk_artifacts_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_row **rows,
                            int32_t *count, sk_error *err)
{
    (void)places, (void)n_places, (void)deep, (void)rows, (void)count;
    return sk_fail(err, SK_ERR_UNSUPPORTED, "not played");
}

bool sk_artifacts_useless(const sk_artifact_row *row)
{
    return row->orphan;
}

void sk_speed_defaults(sk_speed_settings *settings)
{
    *settings = (sk_speed_settings){.width = 1920, .height = 1080};
}

sk_status sk_speed_measure(const sk_speed_settings *settings, sk_speed_watch watch, void *context,
                           sk_speed_report *report, sk_error *err)
{
    calls++;
    speed = *settings;
    speed.input = kept(0, settings->input);
    speed.trace_out = kept(1, settings->trace_out);
    speed.runner.devices = kept(2, settings->runner.devices);
    speed.runner.detector.runtime = kept(3, settings->runner.detector.runtime);
    speed.runner.detector.precision = kept(4, settings->runner.detector.precision);
    speed.runner.detector.engine_options = kept(5, settings->runner.detector.engine_options);
    speed.runner.detector.provider = kept(6, settings->runner.detector.provider);
    assert_false(watch(context, 2, 3));
    *report = measured;
    return speed_status == SK_OK ? SK_OK : sk_fail(err, speed_status, "it was measured, and is wrong");
}

void sk_bench_defaults(sk_bench_settings *settings)
{
    *settings = (sk_bench_settings){.precision = SK_PRECISION_AUTO};
}

void sk_bench_serve(int fd)
{
    (void)fd;
}

sk_status sk_bench_run(const sk_bench_settings *settings, sk_bench_result *results, char notice[512],
                       sk_error *err)
{
    (void)err;
    calls++;
    bench = *settings;
    for (int32_t i = 0; i < settings->n_runtimes; i++) {
        results[i] = (sk_bench_result){.failed = true, .problem = "not played"};
        snprintf(results[i].requested, sizeof results[i].requested, "%s", settings->runtimes[i]);
    }
    bench.provider = kept(0, settings->provider);
    bench.openvino_device = kept(1, settings->openvino_device);
    bench.engine_options = kept(2, settings->engine_options);
    bench.runtimes[0] = kept(3, settings->runtimes[0]);
    bench.runtimes[1] = kept(4, settings->n_runtimes > 1 ? settings->runtimes[1] : NULL);
    snprintf(notice, 512, "a notice");
    return SK_OK;
}

#define REACHES(command, words, condition)                                                                   \
    do {                                                                                                     \
        calls = 0;                                                                                           \
        SAID_OK(&s, command " %s %s", model, words);                                                         \
        assert_int_equal(calls, 1);                                                                          \
        if (!(condition))                                                                                    \
            fail_msg("%s %s: not %s", command, words, #condition);                                           \
    } while (0)

static void exports(void **state)
{
    (void)state;
    const sk_onnx_settings *o = &exported.onnx;
    REACHES("export", "",
            o->opset == 17 && o->batch == 1 && !o->dynamic_size && !o->dynamic_batch && !o->half_io);
    assert_string_equal(s.out, "m.onnx: 2.0 kB, outputs output0 1x6x336, 1.25 s\n");
    assert_true(!o->half && o->with_tail && !exported.overwrite && o->height == 0 && o->width == 0);
    assert_string_equal(exported.path, "-");
    REACHES("export", "--opset 13 --batch 3", o->opset == 13 && o->batch == 3);
    REACHES("export", "--dynamic", o->dynamic_size && o->dynamic_batch);
    REACHES("export", "--dynamic-batch", !o->dynamic_size && o->dynamic_batch);
    REACHES("export", "--half", o->half && !o->half_io);
    REACHES("export", "--half-io", o->half && o->half_io);
    REACHES("export", "--raw-heads --overwrite", !o->with_tail && exported.overwrite);
    REACHES("export", "--imgsz 64x32 -o x.onnx", o->height == 64 && o->width == 32);
    assert_string_equal(exported.path, "x.onnx");
    REACHES("export", "-q", true);
    assert_string_equal(s.out, "");
    REACHES("export", "--json", true);
    assert_string_equal(
        s.out, "{\n  \"path\": \"m.onnx\",\n  \"bytes\": 2048,\n  \"seconds\": 1.25,\n  \"outputs\": "
               "\"output0 1x6x336\"\n}\n");
}

static void artifacts(void **state)
{
    (void)state;
    made = (sk_artifacts_exported){.path = "m.engine",
                                   .runtime = "tensorrt",
                                   .library = "TensorRT 10",
                                   .precision = "f16",
                                   .batch = 2,
                                   .height = 64,
                                   .width = 32,
                                   .bytes = 2048,
                                   .seconds = 1.5,
                                   .made = true};
    REACHES("export", "-r onnx_cpu",
            wished.batch == 1 && wished.precision == SK_PRECISION_AUTO && !wished.anew);
    assert_true(!wished.dynamic_batch && wished.height == 0);
    assert_string_equal(wished.runtime, "onnx_cpu");
    assert_string_equal(s.out, "m.engine: 2.0 kB, made for tensorrt TensorRT 10, 2x64x32 f16\n");
    assert_string_equal(options_given, "-");
    made.made = false;
    REACHES("export", "-r onnx_cpu --half", wished.precision == SK_PRECISION_F16);
    said_has(s.out, ", fresh already for tensorrt ");
    made.users = true;
    made.check = (sk_artifact_check){.pcc = 0.5, .max_difference = 0.25};
    REACHES("export", "-r onnx_cpu --precision bf16 --overwrite",
            wished.precision == SK_PRECISION_BF16 && wished.anew);
    said_has(s.out, ", yours, used as it is for tensorrt ");
    said_has(s.out, "\ncorrelation with skitter's own engine 0.5000000, largest difference 0.25\n");
    REACHES("export", "-r onnx_cpu --dynamic-batch --batch 4 --imgsz 96",
            wished.dynamic_batch && wished.batch == 4);
    assert_true(wished.height == 96 && wished.width == 96);
    REACHES("export", "-r onnx_cpu -q", true);
    assert_string_equal(s.out, "");
    snprintf(made.notice, sizeof made.notice, "a notice");
    REACHES("export", "-r onnx_cpu --json", true);
    assert_string_equal(
        s.out,
        "{\n  \"path\": \"m.engine\",\n  \"runtime\": \"tensorrt\",\n  \"library\": \"TensorRT 10\",\n  "
        "\"precision\": \"f16\",\n  \"batch\": 2,\n  \"height\": 64,\n  \"width\": 32,\n  \"bytes\": "
        "2048,\n  \"made\": false,\n  \"user_made\": true,\n  \"pcc\": 0.5,\n  \"max_difference\": "
        "0.25,\n  \"notice\": \"a notice\",\n  \"seconds\": 1.5\n}\n");
    made.check.pcc = 0;
    REACHES("export", "-r onnx_cpu --json", true);
    said_lacks(s.out, "pcc");
}

static void runs(void **state)
{
    (void)state;
    const sk_runner_settings *r = &speed.runner;
    const sk_detector_settings *d = &r->detector;
    measured = (sk_speed_report){.rounds = 2};
    REACHES("run", "",
            speed.n_models == 1 && r->mode == SK_PIPELINE_THROUGHPUT && !speed.check_pcc && !speed.rgb);
    assert_string_equal(r->devices, "auto");
    assert_string_equal(d->runtime, "cpu");
    assert_string_equal(speed.input, "-");
    said_has(s.err, "measuring: 2 rounds in ");
    REACHES("run", "--mode latency", r->mode == SK_PIPELINE_LATENCY);
    assert_string_equal(r->devices, "-"); /* one frame at a time has all cores */
    REACHES("run", "--threads 3", d->threads == 3);
    assert_string_equal(r->devices, "-");
    REACHES("run", "--devices cpu,cpu --allow-failover", r->allow_failover);
    assert_string_equal(r->devices, "cpu,cpu");
    REACHES("run", "--iterations 7 --rounds 5 --check-pcc", speed.iterations == 7 && speed.rounds == 5);
    assert_true(speed.check_pcc && !r->allow_failover);
    REACHES("run", "--decode-threads 4 --rgb --runner-only",
            speed.decode_threads == 4 && speed.rgb && speed.no_basic);
    REACHES("run", "--check-every 9 --pcc-min 0.5 --depth 6",
            r->check_every == 9 && r->pcc_min == 0.5 && r->depth == 6);
    REACHES("run", "-i film.mp4 --trace-out t.json --batch 2 --imgsz 64x32",
            d->batch == 2 && d->height == 64);
    assert_string_equal(speed.input, "film.mp4");
    assert_string_equal(speed.trace_out, "t.json");
    assert_true(d->width == 32 && !speed.no_basic);
    REACHES("run", "-r reference --precision f32", true);
    assert_string_equal(d->runtime, "reference");
    assert_string_equal(d->precision, "f32");
    REACHES("run", "-q", true);
    assert_string_equal(s.err, "");
    REACHES("run", "--json", true);
    assert_string_equal(s.err, "");
    assert_int_equal(s.out[0], '{');
    snprintf(measured.notice, sizeof measured.notice, "a notice");
    REACHES("run", "-q", true);
    SAID_OK(&s, "run %s", model);
    said_has(s.err, "skitter: warning: a notice\n");
    /* a failed check still shows what was measured; what was not measured is not shown */
    for (int i = 0; i < 3; i++) {
        speed_status = i == 2 ? SK_ERR_IO : SK_ERR_MISMATCH;
        measured.rounds = i == 1 ? 0 : 1;
        SAID_REFUSES(&s, speed_status, "it was measured, and is wrong", "run %s", model);
        assert_int_equal(s.out[0] != '\0', i == 0);
        SAID_REFUSES(&s, speed_status, "it was measured, and is wrong", "run %s --json", model);
        assert_int_equal(s.out[0] != '\0', i == 0);
    }
    speed_status = SK_OK;
}

static void benches(void **state)
{
    (void)state;
    REACHES("bench", "",
            bench.n_runtimes == 1 && bench.frames && !bench.layers && !bench.cut_tail && bench.winograd);
    assert_string_equal(bench.runtimes[0], "cpu");
    said_has(s.err, "skitter: warning: a notice\n");
    assert_true(bench.precision == SK_PRECISION_AUTO && !bench.openvino_throughput);
    REACHES("bench", "--runtime cpu,reference", bench.n_runtimes == 2);
    assert_string_equal(bench.runtimes[1], "reference");
    REACHES("bench", "--iterations 5 --warmup 2 --batch 3 --threads 4",
            bench.iterations == 5 && bench.warmup == 2);
    assert_true(bench.batch == 3 && bench.threads == 4);
    REACHES("bench", "--no-frames --layers --raw-heads", !bench.frames && bench.layers && bench.cut_tail);
    REACHES("bench", "--no-winograd --imgsz 64x32",
            !bench.winograd && bench.height == 64 && bench.width == 32);
    REACHES("bench", "--engine-option winograd=off --nms off",
            bench.heads == SK_HEADS_ONE_TO_ONE && !bench.openvino_throughput);
    assert_string_equal(bench.engine_options, "winograd=off");
    assert_string_equal(bench.provider, "-");
    /* what cannot be used here is replaced, and what was asked of it goes with it */
    setenv("SKITTER_COMPUTE_RUNTIME", "onnx_rocm", 1);
    said_run(&s, "bench %s", model);
    assert_int_not_equal(s.status, SK_OK);
    REACHES("bench", "--allow-fallback --execution-provider rocm", bench.n_runtimes == 1);
    assert_string_equal(bench.runtimes[0], "cpu");
    assert_string_equal(bench.provider, "-");
    said_has(s.err, "skitter: warning: ");
    said_has(s.err, "onnx_rocm");
    REACHES("run", "--allow-fallback --execution-provider rocm", true);
    assert_string_equal(speed.runner.detector.runtime, "cpu");
    assert_string_equal(speed.runner.detector.provider, "-");
    said_has(s.err, "onnx_rocm");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    REACHES("run", "--engine-option winograd=off --nms on --rect on", true);
    assert_string_equal(speed.runner.detector.engine_options, "winograd=off");
    assert_true(speed.runner.detector.heads == SK_HEADS_ONE_TO_MANY &&
                speed.runner.detector.rect == SK_RECT_ON);
    REACHES("bench", "--precision f32 --json", bench.precision == SK_PRECISION_F32);
    assert_true(s.out[0] == '{' || s.out[0] == '[');
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CACHE_DIR", "cache", 1);
    setenv("SKITTER_CONFIG_DIR", "config", 1);
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "m.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(exports), cmocka_unit_test(artifacts),
                                       cmocka_unit_test(runs), cmocka_unit_test(benches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
