/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers stay in f32, by what each hurts and by its share of the work; what is said of fp8; pixels as networks are given them; and
 * files of which nothing can be made. */
#include "runner/runner_fixture.h"

#include "app/export.h"
#include "app/quantize_internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/skq.h"
#include "graph/builder.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <math.h>
#include <unistd.h>

static sk_error err;
static char detect[4300], pose[4300];
static sk_quantize_report r;

static sk_quantize_settings settings(const char *model, sk_quantize_precision precision)
{
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    s.model = model;
    s.data = "five";
    s.output = "made.skq";
    s.report = "made.json";
    s.frames = 4;
    s.height = s.width = 32;
    s.threads = 1;
    s.confidence = 0.01F;
    s.ranges = SK_RANGE_ALL;
    s.precision = precision;
    s.overwrite = true;
    return s;
}

static void put_pictures(void)
{
    char path[256];
    assert_ok(sk_folder_make("five", &err), &err);
    for (int i = 0; i < 5; i++) {
        sk_frame f = make_frame(32, 32, i);
        snprintf(path, sizeof path, "five/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

/* --- what stays --- */

/* Each layer's share of the network's work, in the order of the report's rows. */
static void shares(const char *path, double *out, int32_t n)
{
    sk_model *model = NULL;
    sk_graph *graph = NULL, *fixed = NULL;
    sk_quantise_plan *plan = NULL;
    const sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)32, (int64_t)32);
    assert_ok(sk_model_open(path, &model, &err), &err);
    assert_ok(sk_quantise_prepare(model->graph, &graph, &err), &err);
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_int_equal(plan->n_layers, n);
    for (int32_t i = 0; i < n; i++) {
        const sk_value v = graph->nodes[plan->layers[i].node].out[0];
        out[i] = sk_node_flops(fixed, &fixed->nodes[fixed->values[v].producer]) / sk_graph_flops(fixed);
    }
    sk_graph_close(&fixed);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&graph);
    sk_model_close(&model);
}

/* Layers stay that hurt most for their work, until the rest hurts by no more than a part of what all did or a share of the work is spent:
 * 45 % and 4 %, of mixed ones 25 % and 25 %, of fp8 35 % and 15 %. */
static void what_stays(void **state)
{
    (void)state;
    static const struct {
        sk_quantize_precision precision;
        double hurt, work;
    } rows[] = {{SK_QUANTIZE_I8, 0.45, 0.04}, {SK_QUANTIZE_MIXED, 0.25, 0.25}, {SK_QUANTIZE_FP8, 0.35, 0.15}};
    int kept_at_all = 0;
    for (int m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const sk_quantize_settings s = settings(m ? pose : detect, rows[i].precision);
            double share[32], gain[32], all = 0, rest = 0, spent = 0, least = INFINITY, next = -1,
                                        next_share = 0, last = 0;
            int kept = 0;
            assert_ok(sk_quantize_run(&s, &r, &err), &err);
            assert_true(r.n_rows > 4 && r.n_rows <= 32);
            shares(s.model, share, r.n_rows);
            for (int32_t k = 0; k < r.n_rows; k++) {
                const double hurts = r.rows[k].sensitivity * r.rows[k].sensitivity;
                gain[k] = hurts / fmax(share[k], 1e-4);
                all += hurts;
                rest += r.rows[k].kept ? 0 : hurts;
                spent += r.rows[k].kept ? share[k] : 0;
                kept += r.rows[k].kept;
                if (r.rows[k].kept && gain[k] < least)
                    least = gain[k], last = hurts;
                if (!r.rows[k].kept && gain[k] > next)
                    next = gain[k], next_share = share[k];
                /* what stays has its weights as they were */
                assert_true(r.rows[k].kept ? r.rows[k].weight_error == 0 : r.rows[k].weight_error > 0);
            }
            assert_true(kept < r.n_rows && spent <= rows[i].work && (kept == 0 || least >= next));
            assert_true(rest <= all * rows[i].hurt || spent + next_share > rows[i].work);
            assert_true(kept == 0 ||
                        rest + last >
                            all * rows[i].hurt); /* without the last it would not have been enough */
            assert_true(r.about.layers == r.n_rows - kept);
            kept_at_all += kept;
            sk_quantize_report_free(&r);
        }
    assert_true(kept_at_all > 2);
}

/* --- what is said of fp8, and of the time --- */

static void eights_of_another_kind(void **state)
{
    (void)state;
    const sk_quantize_settings s = settings(detect, SK_QUANTIZE_FP8);
    const int64_t begin = sk_clock_ns();
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    assert_true(r.seconds > 0 && r.seconds <= (double)(sk_clock_ns() - begin) * 1e-9);
    assert_string_equal(r.about.precision, "fp8");
    assert_string_equal(r.about.measured_by, "cpu, fp8 by f32"); /* which has none of its own */
    assert_ok(sk_file_read("made.json", 1 << 20, &text, &length, &err), &err);
    int32_t rows = 0, others = 0;
    for (const char *at = strstr(text, "\"layers\""); (at = strstr(at, "\"precision\": \"")); at++) {
        rows += strncmp(at + 14, "fp8\"", 4) == 0;
        others += strncmp(at + 14, "f32\"", 4) == 0;
    }
    assert_true(rows + others == r.n_rows && rows == r.about.layers);
    assert_int_equal(strncmp(text, "{\n  \"", 5), 0); /* two spaces a step */
    sk_free(text);
    /* in the file itself on one line */
    sk_skq parts;
    assert_ok(sk_file_read("made.skq", 1 << 24, &text, &length, &err), &err);
    assert_ok(sk_skq_read(text, length, "made.skq", &parts, &err), &err);
    const char *end = memchr(parts.json, '\n', parts.json_length);
    assert_true(parts.json_length > 100 && (!end || end == parts.json + parts.json_length - 1));
    sk_free(text);
    sk_quantize_report_free(&r);
}

/* A size of which one side was not given is no usual one. */
static void half_a_size(void **state)
{
    (void)state;
    static const struct {
        int32_t height, width, made_height, made_width, usual_height, usual_width;
    } rows[] = {{64, 0, 64, 32, 32, 32}, {0, 64, 32, 64, 32, 32}, {64, 32, 64, 32, 64, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_quantize_settings s = settings(detect, SK_QUANTIZE_I8);
        sk_model *model = NULL;
        s.height = rows[i].height;
        s.width = rows[i].width;
        assert_ok(sk_quantize_run(&s, &r, &err), &err);
        assert_true(r.about.height == rows[i].made_height && r.about.width == rows[i].made_width);
        sk_quantize_report_free(&r);
        assert_ok(sk_model_open("made.skq", &model, &err), &err);
        assert_true(model->input.height == rows[i].usual_height && model->input.width == rows[i].usual_width);
        sk_model_close(&model);
    }
}

/* --- pixels --- */

/* Bytes become (u8 * scale - mean) / std, channel by channel; a std of 0 is none. */
static void pixels(void **state)
{
    (void)state;
    const sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)4, (int64_t)4);
    sk_graph *g = NULL;
    sk_builder b;
    sk_session *session = NULL;
    sk_tensor out;
    sk_quantize_settings s;
    uint8_t picture[4 * 4 * 3];
    sk_quantize_defaults(&s);
    s.threads = 1;
    sk_quantize_job job = {.s = &s};
    assert_ok(sk_net_engine("cpu", &job.engine, &err), &err);
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "in", SK_DTYPE_F32, &shape)), "out");
    assert_ok(b.status, &b.error);
    const sk_model model = {.graph = g, .path = "made.onnx", .content_hash = ""};
    const sk_task_plan plan = {
        .width = 4, .height = 4, .channels = 3, .u8 = 1, .scale = 0.5F, .mean = {1, 2, 4}, .std = {2, 0, 8}};
    for (int i = 0; i < 48; i++)
        picture[i] = (uint8_t)(5 * i);
    assert_ok(sk_quantize_open_network(&job, &model, &plan, g, false, SK_PRECISION_F32, &session, &err),
              &err);
    assert_ok(sk_quantize_run_input(session, picture, &out, &err), &err);
    const float *x = out.data;
    static const float by[] = {2, 1, 8};
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 16; i++)
            assert_true(fabsf(x[16 * c + i] + (0.5F * (float)picture[3 * i + c] - plan.mean[c]) / by[c]) <
                        1e-4F);
    sk_session_close(&session);
    sk_graph_close(&g);
}

/* --- what nothing can be made of --- */

static void files_that_are_refused(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(detect, (size_t)1 << 26, &bytes, &length, &err), &err);
    assert_ok(sk_file_put("half.pt", bytes, length - 600, &err), &err);
    sk_free(bytes);
    sk_quantize_settings s = settings("half.pt", SK_QUANTIZE_I8);
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "half.pt: the file is cut off; fetch it again");
    /* eight bits once more: of skitter's own file, and of what was exported of it, which does not say where it comes from */
    s = settings(detect, SK_QUANTIZE_I8);
    s.output = "first.skq";
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    sk_quantize_report_free(&r);
    sk_export_report exported;
    sk_export_settings e = {.model = "first.skq", .path = "first.onnx", .onnx = sk_onnx_defaults()};
    assert_ok(sk_export_run(&e, &exported, &err), &err);
    e.path = "second.onnx";
    e.onnx.half = 1;
    assert_int_equal(sk_export_run(&e, &exported, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "first.skq: is in eight bits and cannot be written in float16 as well; leave --half "
                        "out, or export the model it was made from");
    assert_false(sk_file_exists("second.onnx"));
    /* one that does not say where it comes from */
    sk_skq parts;
    uint8_t *file = NULL;
    assert_ok(sk_file_read("first.skq", 1 << 24, &bytes, &length, &err), &err);
    assert_ok(sk_skq_read(bytes, length, "first.skq", &parts, &err), &err);
    char *json = sk_malloc(parts.json_length + 1);
    memcpy(json, parts.json, parts.json_length);
    json[parts.json_length] = '\0';
    char *source = strstr(json, "\"source\":\"detect.pt\"");
    assert_non_null(source);
    memcpy(source, "\"source\":\"\"         ", 20);
    parts.json = json;
    assert_ok(sk_skq_write(&parts, &file, &length, &err), &err);
    assert_ok(sk_file_replace("third.skq", file, length, &err), &err);
    sk_free_all(bytes, json, file);
    static const char *const again[] = {"first.skq", "first.onnx", "third.skq"};
    for (int i = 0; i < 3; i++) {
        char wanted[200];
        s = settings(again[i], SK_QUANTIZE_I8);
        assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_ARG);
        snprintf(wanted, sizeof wanted, "%s: is in eight bits already; give the model it was made from%s",
                 again[i], i < 2 ? ": detect.pt" : "");
        assert_string_equal(err.message, wanted);
    }
}

int main(void)
{
    const yolo_fixture boxes = {.head = "Detect", .f32 = true, .imgsz = 32},
                       poses = {.head = "Pose", .f32 = true, .imgsz = 32};
    if (chdir(test_folder()) != 0 || setenv("SKITTER_CPU_MASK", "avx2", 1) != 0)
        return 1;
    snprintf(detect, sizeof detect, "%s", yolo_save(&boxes, "detect.pt"));
    snprintf(pose, sizeof pose, "%s", yolo_save(&poses, "pose.pt"));
    put_pictures();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays), cmocka_unit_test(eights_of_another_kind), cmocka_unit_test(half_a_size),
        cmocka_unit_test(pixels),     cmocka_unit_test(files_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
