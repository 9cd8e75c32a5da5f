/* SPDX-License-Identifier: Apache-2.0 */
/* Models through artifacts, on an engine that needs no library: it reads the ONNX file back with our importer and runs
 * it by the reference executor. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "models/onnx_export.h"
#include "runner/network.h"
#include "runtime/engine_file.h"
#include "engines/engine_header.h"
#include "runtime/model_artifact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the engine --- */

static float spoil;      /* added to every output */
static int opened_files; /* sessions opened on artifacts */
static char library[32] = "1.0";

static sk_status fake_probe(sk_engine_probe *out, sk_error *err)
{
    SK_TRY(sk_engine_reference.probe(out, err));
    snprintf(out->version, sizeof out->version, "%s", library);
    return SK_OK;
}

static sk_status fake_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                           sk_error *err)
{
    const sk_session_artifact *a = settings->artifact;
    if (!a)
        return sk_engine_reference.open(graph, settings, out, err);
    char path[600];
    sk_model *model = NULL;
    sk_graph *fixed = NULL;
    sk_shape shape = graph->values[graph->inputs[0]].shape;
    sk_status status;
    snprintf(path, sizeof path, "%s/opened.onnx", test_folder());
    SK_TRY(sk_file_replace(path, a->bytes, a->length, err));
    SK_TRY_GOTO(sk_model_open(path, &model, err));
    SK_TRY_GOTO(sk_graph_specialise(model->graph, &shape, 1, &fixed, err));
    assert_string_equal(a->input_names[0], "images");
    SK_TRY_GOTO(sk_engine_reference.open(fixed, settings, out, err));
    opened_files++;
done:
    sk_graph_close(&fixed);
    sk_model_close(&model);
    return status;
}

static sk_status fake_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(sk_engine_reference.wait(session, slot, outputs, err));
    ((float *)outputs[0])[0] += spoil;
    return SK_OK;
}

static const sk_engine_form onnx_form = {
    .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};

static sk_engine fake_engine(void)
{
    sk_engine e = sk_engine_reference;
    e.name = "fake";
    e.probe = fake_probe;
    e.open = fake_open;
    e.wait = fake_wait;
    e.form = &onnx_form;
    return e;
}

static int set_up(void **state)
{
    (void)state;
    static int number;
    char cache[600];
    snprintf(cache, sizeof cache, "%s/cache%d", test_folder(), number++);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    unsetenv("SKITTER_ARTIFACTS");
    spoil = 0;
    opened_files = 0;
    snprintf(library, sizeof library, "1.0");
    return 0;
}

/* A model of our own in a fresh place; its artifact's path in `artifact`. */
static sk_model *open_yolo(const char *head, const char *name, char artifact[600])
{
    sk_model *model = NULL;
    sk_error err = {0};
    yolo_fixture fixture = {.head = head};
    const char *path = yolo_save(&fixture, name);
    snprintf(artifact, 600, "%s", path);
    snprintf(artifact + strlen(artifact) - 3, 8, ".onnx");
    unlink(artifact);
    assert_ok(sk_model_open(path, &model, &err), &err);
    return model;
}

static sk_status run(const sk_model *model, int32_t batch, int32_t side, int32_t cut, char artifact[512],
                     sk_error *err)
{
    static float picture[4 * 3 * 64 * 64];
    sk_engine engine = fake_engine();
    sk_session *session = NULL;
    sk_session_settings settings = sk_session_defaults();
    settings.tail = cut;
    SK_TRY(sk_net_open(model, &engine, batch, side, side, &settings, &session, err));
    snprintf(artifact, 512, "%s", sk_session_about(session)->artifact);
    sk_session_input input = {.data = picture};
    sk_status status = sk_session_run(session, &input, 1, NULL, 0, err);
    sk_session_close(&session);
    return status;
}

/* --- tests --- */

/* One file beside the model, two copies of its heads: the file of the one is not run for the other. */
static void heads_belong_to_the_key(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    sk_model *many = open_yolo("Pose26", "heads.pt", artifact), *one = NULL, *found = NULL;
    char path[600];
    snprintf(path, sizeof path, "%s", many->path);
    assert_ok(sk_model_open_heads(path, SK_HEADS_ONE_TO_ONE, &one, &err), &err);
    assert_string_equal(many->content_hash, one->content_hash);
    const sk_model *turn[] = {many, one, many};
    for (int i = 0; i < 3; i++) {
        assert_ok(run(turn[i], 1, 32, SK_TAIL_KEEP, used, &err), &err);
        assert_ok(sk_model_open(used, &found, &err), &err);
        assert_int_equal(found->yolo.end2end, turn[i]->yolo.end2end);
        sk_model_close(&found);
    }
    sk_model_close(&many);
    sk_model_close(&one);
}

static void made_checked_and_used(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB"};
    for (int i = 0; i < 3; i++) {
        char artifact[600], used[512], name[32];
        sk_error err = {0};
        snprintf(name, sizeof name, "made%d.pt", i);
        sk_model *model = open_yolo(heads[i], name, artifact);
        opened_files = 0;
        assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
        assert_string_equal(used, artifact);
        assert_int_equal(opened_files, 2); /* the comparison, and the session */
        assert_ok(run(model, 1, 32, SK_TAIL_KEEP, used, &err), &err);
        assert_int_equal(opened_files, 3);
        sk_artifact_record r;
        assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
        assert_string_equal(r.key.source, model->content_hash);
        assert_int_equal(r.key.height, 32);
        assert_string_equal(r.checks[0].runtime, "fake");
        assert_true(r.checks[0].pcc > 0.999999);
        assert_true(r.checks[0].max_difference < 1e-4);
        /* another size takes its place; another version of the library compares again */
        assert_ok(run(model, 2, 64, SK_TAIL_FREE, used, &err), &err);
        assert_string_equal(used, artifact);
        assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
        assert_int_equal(r.key.batch, 2);
        opened_files = 0;
        snprintf(library, sizeof library, "2.0");
        assert_ok(run(model, 2, 64, SK_TAIL_FREE, used, &err), &err);
        assert_int_equal(opened_files, 2);
        snprintf(library, sizeof library, "1.0");
        sk_model_close(&model);
    }
}

/* Options that change what an engine makes of a file are part of its library's name: files are compared again for them. */
static void options_that_change_files_count(void **state)
{
    (void)state;
    static const sk_engine_option options[] = {
        {.key = "tiles",
         .kind = SK_ENGINE_OPTION_NUMBER,
         .least = 1,
         .most = 9,
         .usual = "1",
         .changes_files = true},
        {.key = "echo", .kind = SK_ENGINE_OPTION_NUMBER, .least = 1, .most = 9, .usual = "1"},
        {0}};
    static const char *const given[] = {"", "echo=4", "tiles=3", "tiles=3", "tiles=2"};
    static const bool anew[] = {true, false, true, false, true};
    char artifact[600];
    sk_error err = {0};
    sk_model *model = open_yolo("Detect", "options.pt", artifact);
    sk_engine engine = fake_engine();
    engine.options = options;
    for (int i = 0; i < 5; i++) {
        sk_session *session = NULL;
        sk_session_settings settings = sk_session_defaults();
        snprintf(settings.options, sizeof settings.options, "%s", given[i]);
        opened_files = 0;
        assert_ok(sk_net_open(model, &engine, 1, 32, 32, &settings, &session, &err), &err);
        sk_session_close(&session);
        if (opened_files != 1 + anew[i])
            fail_msg("'%s': %d sessions", given[i], opened_files);
    }
    sk_model_close(&model);
}

static void raw_heads_and_none_are_made_in_memory(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    sk_model *model = open_yolo("Detect", "memory.pt", artifact);
    assert_ok(run(model, 1, 32, SK_TAIL_CUT, used, &err), &err);
    assert_string_equal(used, "");
    setenv("SKITTER_ARTIFACTS", "none", 1);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, "");
    assert_false(sk_file_exists(artifact));
    setenv("SKITTER_ARTIFACTS", "cache", 1);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_non_null(strstr(used, "/artifacts/"));
    assert_false(sk_file_exists(artifact));
    setenv("SKITTER_ARTIFACTS", "everywhere", 1);
    assert_int_equal(run(model, 1, 32, SK_TAIL_FREE, used, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "beside, cache or none"));
    sk_model_close(&model);
}

/* An engine whose answers differ is refused before anything is kept. */
static void wrong_answers_are_refused(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    sk_model *model = open_yolo("Pose", "wrong.pt", artifact);
    spoil = 40;
    assert_int_equal(run(model, 1, 32, SK_TAIL_FREE, used, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "differ from skitter's own"));
    assert_non_null(strstr(err.message, "wrong.onnx"));
    assert_false(sk_file_exists(artifact));
    spoil = NAN;
    assert_int_equal(run(model, 1, 32, SK_TAIL_FREE, used, &err), SK_ERR_MISMATCH);
    sk_model_close(&model);
}

static void export_to(const sk_model *model, const char *path, bool dynamic, bool half)
{
    sk_error err = {0};
    sk_onnx_settings s = sk_onnx_defaults();
    s.dynamic_batch = s.dynamic_size = dynamic;
    s.height = s.width = 32;
    s.half = s.half_io = half;
    assert_ok(sk_model_export_onnx(model, &s, path, &err), &err);
}

static void a_users_export_is_used_as_it_is(void **state)
{
    (void)state;
    char artifact[600], other_artifact[600], used[512];
    sk_error err = {0};
    sk_model *model = open_yolo("Detect", "users.pt", artifact), *other = NULL;
    export_to(model, artifact, true, false); /* any size */
    for (int side = 32; side <= 64; side += 32) {
        assert_ok(run(model, 2, side, SK_TAIL_FREE, used, &err), &err);
        assert_string_equal(used, artifact);
    }
    assert_int_equal(opened_files, 4); /* nobody knows its origin: compared each time */
    /* Of a fixed size: fits, or is left alone. */
    export_to(model, artifact, false, false);
    int64_t bytes = sk_file_size(artifact);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, artifact);
    assert_ok(run(model, 1, 64, SK_TAIL_FREE, used, &err), &err);
    assert_non_null(strstr(used, "/artifacts/"));
    assert_int_equal(sk_file_size(artifact), bytes);
    /* Half precision ends, and another task, are left alone too. */
    export_to(model, artifact, false, true);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_non_null(strstr(used, "/artifacts/"));
    other = open_yolo("OBB", "users_other.pt", other_artifact);
    export_to(other, artifact, true, false);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_non_null(strstr(used, "/artifacts/"));
    sk_model_close(&other);
    sk_model_close(&model);
}

/* One per cent more in the first convolution, as after another epoch. */
static void retrain(sk_model *model)
{
    for (size_t i = 0; i < model->graph->n_values; i++) {
        sk_value_info *v = &model->graph->values[i];
        if (!v->blob || v->dtype != SK_DTYPE_F32 || v->shape.rank != 4)
            continue;
        float *weights = (float *)(uintptr_t)((const char *)sk_blob_data(v->blob) + v->offset);
        for (int64_t k = 0; k < sk_shape_count(&v->shape); k++)
            weights[k] *= 1.01f;
        return;
    }
    fail_msg("no weights");
}

static void almost_the_same_weights_are_not_used(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    sk_model *model = open_yolo("Detect", "before.pt", artifact), *other = NULL;
    yolo_fixture fixture = {.head = "Detect", .f32 = true};
    assert_ok(sk_model_open(yolo_save(&fixture, "epoch.pt"), &other, &err), &err);
    retrain(other);
    export_to(other, artifact, false, false);
    int64_t bytes = sk_file_size(artifact);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_non_null(strstr(used, "/artifacts/"));
    assert_int_equal(sk_file_size(artifact), bytes);
    export_to(model, artifact, false, false);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, artifact);
    sk_model_close(&other);
    sk_model_close(&model);
}

static void an_onnx_model_runs_as_it_is(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    sk_model *model = open_yolo("Pose", "source.pt", artifact), *onnx = NULL;
    export_to(model, artifact, true, false);
    assert_ok(sk_model_open(artifact, &onnx, &err), &err);
    assert_ok(run(onnx, 1, 64, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, artifact);
    sk_model_close(&onnx);
    export_to(model, artifact, false, true); /* halves at its ends: through the graph */
    assert_ok(sk_model_open(artifact, &onnx, &err), &err);
    opened_files = 0;
    assert_ok(run(onnx, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, "");
    assert_int_equal(opened_files, 0);
    sk_model_close(&onnx);
    sk_model_close(&model);
}

static void comparisons(void **state)
{
    (void)state;
    float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8], flat[8] = {2, 2, 2, 2, 2, 2, 2, 2};
    sk_error err = {0};
    memcpy(b, a, sizeof b);
    sk_tensor x = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(2, 2, 4), .data = a};
    sk_tensor y = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(2, 2, 4), .data = b};
    sk_parity p = sk_parity_compare(&x, &y, 1, NULL);
    assert_true(p.pcc > 0.9999999 && p.max_difference == 0);
    assert_ok(sk_parity_judge(&p, SK_PRECISION_F32, &err), &err);
    b[3] = 4.4f; /* 5 % of the largest */
    p = sk_parity_compare(&x, &y, 1, NULL);
    assert_true(fabs(p.max_difference - 0.05) < 1e-6);
    assert_int_equal(sk_parity_judge(&p, SK_PRECISION_F32, &err), SK_ERR_MISMATCH);
    for (int i = 0; i < 8; i++)
        b[i] = -a[i] * 1e-5f; /* small, and the wrong way round */
    for (int i = 0; i < 8; i++)
        a[i] *= 1e-5f;
    p = sk_parity_compare(&x, &y, 1, NULL);
    assert_true(p.pcc < -0.99 && p.max_difference < 1e-3);
    assert_int_equal(sk_parity_judge(&p, SK_PRECISION_F32, &err), SK_ERR_MISMATCH);
    b[0] = NAN;
    p = sk_parity_compare(&x, &y, 1, NULL);
    assert_int_equal(sk_parity_judge(&p, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
    x.data = y.data = flat; /* no correlation to speak of */
    p = sk_parity_compare(&x, &y, 1, NULL);
    assert_ok(sk_parity_judge(&p, SK_PRECISION_F32, &err), &err);
    y.shape = sk_shape_of(2, 4, 2);
    p = sk_parity_compare(&x, &y, 1, NULL);
    assert_int_equal(sk_parity_judge(&p, SK_PRECISION_F32, &err), SK_ERR_MISMATCH);
}

/* Eight bits: answers that part are right where both are as far from f32, and wrong where one is much farther. */
static void comparisons_in_eight_bits(void **state)
{
    (void)state;
    enum {
        ANCHORS = 50,
        ROWS = 7,
        ALL = 2 * ROWS * ANCHORS
    }; /* two pictures; 4 of box, 2 classes, an angle */
    static float plain[ALL], want[ALL], got[ALL];
    sk_error err = {0};
    sk_tensor p = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(3, 2, ROWS, ANCHORS), .data = plain}, w = p,
              g = p;
    w.data = want;
    g.data = got;
    sk_model model = {.n_outputs = 1, .n_classes = 2};
    model.outputs[0].kind = SK_OUTPUT_YOLO;
    uint32_t noise = 1;
    for (int i = 0; i < ALL; i++) {
        const int row = i / ANCHORS % ROWS;
        const float step = row < 4 ? 2 : 0.01f;
        noise = noise * 1664525u + 1013904223u;
        plain[i] = row < 4 ? (float)(i % ANCHORS) * 10
                           : 0.01f * (float)(i % 3); /* scores say almost the same everywhere */
        want[i] = plain[i] + (noise >> 31 ? step : -step);
        got[i] = plain[i] + (noise >> 30 & 1 ? step : -step);
    }
    sk_parity parity = sk_parity_compare(&g, &w, 1, &model);
    assert_true(parity.pcc < 0.7 && parity.rounding == 0);
    assert_int_equal(sk_parity_judge(&parity, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
    sk_parity_compare_rounding(&g, &w, &p, 1, &model, &parity);
    assert_true(fabs(parity.rounding - 1) < 1e-3);
    assert_ok(sk_parity_judge_rounding(&parity, SK_PRECISION_I8, &err), &err);
    assert_int_equal(sk_parity_judge_rounding(&parity, SK_PRECISION_F16, &err), SK_ERR_MISMATCH);
    /* twice as far; half as far again only where the answers are alike */
    static const struct {
        double pcc, rounding;
        sk_status wanted;
    } ends[] = {{0.5, 2, SK_OK},
                {0.98, 2.01, SK_ERR_MISMATCH},
                {0.99, 2.01, SK_OK},
                {0.9999, 3, SK_OK},
                {0.9999, 3.01, SK_ERR_MISMATCH}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const sk_parity end = {.pcc = ends[i].pcc, .rounding = ends[i].rounding};
        assert_int_equal(sk_parity_judge_rounding(&end, SK_PRECISION_I8, &err), ends[i].wanted);
    }
    for (int i = 0; i < ANCHORS; i++) /* one class of the second picture is another's */
        got[(ROWS + 5) * ANCHORS + i] = (float)(i % 2);
    parity = sk_parity_compare(&g, &w, 1, &model);
    sk_parity_compare_rounding(&g, &w, &p, 1, &model, &parity);
    assert_int_equal(sk_parity_judge_rounding(&parity, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "times as far from f32"));
    model.outputs[0].kind = SK_OUTPUT_CONFMAPS; /* as one: boxes drown it */
    parity.rounding = 0;
    sk_parity_compare_rounding(&g, &w, &p, 1, &model, &parity);
    assert_ok(sk_parity_judge_rounding(&parity, SK_PRECISION_I8, &err), &err);
    p.shape = sk_shape_of(3, 2, ANCHORS, ROWS);
    sk_parity_compare_rounding(&g, &w, &p, 1, &model, &parity);
    assert_int_equal(sk_parity_judge_rounding(&parity, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
}

/* The description before an engine's bytes, as Ultralytics writes and reads it. */
static void engine_files(void **state)
{
    (void)state;
    char artifact[600], *json = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0, begin, end;
    sk_error err = {0};
    sk_model *model = open_yolo("Pose", "engine.pt", artifact);
    assert_ok(sk_engine_file_describe(model, 2, 64, 96, &json, &err), &err);
    sk_config *said = NULL;
    assert_ok(sk_config_open_json(json, strlen(json), "description", &said, &err), &err);
    const sk_config_value *root = sk_config_root(said);
    assert_string_equal(sk_config_text_or(root, "task", ""), "pose");
    assert_string_equal(sk_config_text_or(root, "source_sha256", ""), model->content_hash);
    assert_int_equal(sk_config_int_or(root, "stride", 0), model->input.stride);
    assert_int_equal(sk_config_int_or(root, "batch", 0), 2);
    assert_int_equal(sk_config_int_or(root, "imgsz.0", 0), 64);
    assert_int_equal(sk_config_int_or(root, "imgsz.1", 0), 96);
    assert_int_equal(sk_config_int_or(root, "channels", 0), 3);
    assert_int_equal(sk_config_count(sk_config_get(root, "names")), model->n_classes);
    for (int32_t i = 0; i < model->n_classes; i++) {
        char name[32];
        snprintf(name, sizeof name, "names.%d", i);
        assert_string_equal(sk_config_text_or(root, name, "none"), model->class_names[i]);
    }
    assert_int_equal(sk_config_bool_or(root, "end2end", true), model->yolo.end2end);
    assert_int_equal(sk_config_int_or(root, "kpt_shape.0", 0), model->n_keypoints);
    assert_int_equal(sk_config_int_or(root, "kpt_shape.1", 0), model->yolo.keypoint_dims);
    sk_config_close(&said);
    /* classes without names have empty ones */
    sk_model nameless = *model;
    char *without = NULL;
    nameless.class_names = NULL;
    assert_ok(sk_engine_file_describe(&nameless, 2, 64, 96, &without, &err), &err);
    assert_non_null(strstr(without, "\"names\":{\"0\":\"\""));
    sk_free(without);
    assert_ok(sk_engine_header_join(json, "ftrt-plan", 9, &bytes, &length, &err), &err);
    assert_int_equal((size_t)bytes[0] | (size_t)bytes[1] << 8, length - 4 - 9);
    assert_true(sk_engine_header_find(bytes, length, &begin, &end));
    assert_int_equal(begin, 4);
    assert_memory_equal(bytes + end, "ftrt-plan", 9);
    assert_ok(sk_engine_file_fits(model, bytes, length, 2, 64, 96, &err), &err);
    assert_int_equal(sk_engine_file_fits(model, bytes, length, 1, 64, 96, &err), SK_ERR_MISMATCH);
    assert_int_equal(sk_engine_file_fits(model, bytes, length, 2, 96, 96, &err), SK_ERR_MISMATCH);
    sk_model *other = open_yolo("Detect", "engine_other.pt", artifact);
    assert_int_equal(sk_engine_file_fits(other, bytes, length, 2, 64, 96, &err), SK_ERR_MISMATCH);
    /* a plan without a description is taken at its word; a length that cannot be is no description */
    assert_ok(sk_engine_file_fits(model, "ftrt plan", 9, 1, 64, 64, &err), &err);
    assert_ok(sk_engine_file_fits(model, "f", 1, 1, 64, 64, &err), &err);
    assert_int_equal(sk_engine_file_fits(model, "", 0, 1, 64, 64, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "it is empty");
    bytes[2] = 0xff;
    assert_false(sk_engine_header_find(bytes, length, &begin, &end));
    assert_false(sk_engine_header_find(bytes, 3, &begin, &end));
    sk_free(bytes);
    sk_free(json);
    sk_model_close(&other);
    sk_model_close(&model);
}

static sk_status open_and_close(void *context, sk_error *err)
{
    sk_engine engine = fake_engine();
    sk_model_artifact *artifact = NULL;
    sk_session_settings settings = sk_session_defaults();
    SK_TRY(sk_model_artifact_open(context, &engine, 1, 32, 32, &settings, NULL, &artifact, err));
    sk_model_artifact_close(&artifact);
    return SK_OK;
}

/* Finding one again survives every failed allocation, leaks nothing, and never takes the file for another's or makes it
 * anew. (The ONNX reader cannot tell lack of memory from a damaged file.) */
static void out_of_memory(void **state)
{
    (void)state;
    char artifact[600], used[512];
    sk_error err = {0};
    struct stat before, after;
    sk_model *model = open_yolo("Detect", "oom.pt", artifact);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_int_equal(stat(artifact, &before), 0);
    assert_ok(open_and_close(model, &err), &err);
    int64_t live = sk_memory_live_bytes();
    bool reached = true;
    int n = 0;
    while (reached && n < 2000) {
        sk_memory_fail_nth((uint64_t)++n);
        sk_status status = open_and_close(model, &err);
        reached = sk_memory_fail_left() == 0;
        sk_memory_fail_nth(0);
        if (status != SK_OK && status != SK_ERR_MEMORY && status != SK_ERR_FORMAT)
            fail_msg("allocation %d failing: %s (%s)", n, sk_status_text(status), err.message);
        if (sk_memory_live_bytes() != live)
            fail_msg("allocation %d failing: %lld bytes leaked", n,
                     (long long)(sk_memory_live_bytes() - live));
    }
    assert_true(n > 10 && n < 2000);
    assert_int_equal(stat(artifact, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_ok(run(model, 1, 32, SK_TAIL_FREE, used, &err), &err);
    assert_string_equal(used, artifact);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(made_checked_and_used, set_up),
        cmocka_unit_test_setup(heads_belong_to_the_key, set_up),
        cmocka_unit_test_setup(options_that_change_files_count, set_up),
        cmocka_unit_test_setup(raw_heads_and_none_are_made_in_memory, set_up),
        cmocka_unit_test_setup(wrong_answers_are_refused, set_up),
        cmocka_unit_test_setup(a_users_export_is_used_as_it_is, set_up),
        cmocka_unit_test_setup(almost_the_same_weights_are_not_used, set_up),
        cmocka_unit_test_setup(an_onnx_model_runs_as_it_is, set_up),
        cmocka_unit_test_setup(comparisons, set_up),
        cmocka_unit_test_setup(comparisons_in_eight_bits, set_up),
        cmocka_unit_test_setup(engine_files, set_up),
        cmocka_unit_test_setup(out_of_memory, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
