/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts that an engine builds of a model, as TensorRT does: on an engine that needs no library, whose own form is a description
 * and the ONNX file behind it. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "engines/engine_header.h"
#include "formats/config.h"
#include "models/onnx_export.h"
#include "runtime/model_artifact.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int builds, opened;
static bool refuses;
static char arch[32], version[32], heard[2048];
static const sk_model *expected;
static int32_t expected_batch;

static sk_status build(const void *onnx, size_t length, int32_t batch, const char *metadata,
                       const sk_session_settings *settings, void (*progress)(void *context, double part),
                       void *context, uint8_t **out, size_t *out_length, sk_error *err)
{
    sk_config *said = NULL;
    builds++;
    assert_non_null(settings);
    assert_int_equal(batch, expected_batch);
    SK_TRY(sk_config_open_json(metadata, strlen(metadata), "metadata", &said, err));
    const sk_config_value *root = sk_config_root(said);
    assert_string_equal(sk_config_text_or(root, "source_sha256", ""), expected->content_hash);
    assert_int_equal(sk_config_int_or(root, "batch", 0), batch);
    sk_config_close(&said);
    progress(context, 0.25);
    progress(context, 1);
    return sk_engine_header_join(metadata, onnx, length, out, out_length, err);
}

static sk_status architecture(const sk_session_settings *settings, char *text, size_t capacity, sk_error *err)
{
    (void)settings, (void)err;
    snprintf(text, capacity, "%s", arch);
    return SK_OK;
}

static sk_status probe(sk_engine_probe *out, sk_error *err)
{
    SK_TRY(sk_engine_reference.probe(out, err));
    snprintf(out->version, sizeof out->version, "%s", version);
    return SK_OK;
}

static sk_status supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph;
    if (refuses && settings->artifact)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "not this one");
    return SK_OK;
}

static sk_status open_built(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                            sk_error *err)
{
    const sk_session_artifact *a = settings->artifact;
    size_t begin = 0, end = 0;
    char path[600];
    sk_model *model = NULL;
    sk_graph *fixed = NULL;
    sk_shape shape = graph->values[graph->inputs[0]].shape;
    sk_status status;
    assert_non_null(a);
    assert_true(sk_engine_header_find(a->bytes, a->length, &begin, &end));
    snprintf(path, sizeof path, "%s/opened.onnx", test_folder());
    SK_TRY(sk_file_replace(path, (const char *)a->bytes + end, a->length - end, err));
    SK_TRY_GOTO(sk_model_open(path, &model, err));
    SK_TRY_GOTO(sk_graph_specialise(model->graph, &shape, 1, &fixed, err));
    SK_TRY_GOTO(sk_engine_reference.open(fixed, settings, out, err));
    opened++;
done:
    sk_graph_close(&fixed);
    sk_model_close(&model);
    return status;
}

static const sk_engine_form built_form = {.name = "plan",
                                          .extension = ".plan",
                                          .folder_extension = ".plans",
                                          .file = "model.plan",
                                          .build = build,
                                          .architecture = architecture};
static const sk_engine_form onnx_form = {
    .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};

static sk_engine builder(void)
{
    sk_engine e = sk_engine_reference;
    e.name = "builder";
    e.probe = probe;
    e.open = open_built;
    e.supports = supports;
    e.form = &built_form;
    return e;
}

/* Steps, with their parts where they have some. */
static void hear(void *context, sk_artifact_step step, const char *path, const char *note, double part)
{
    static const char *const names[] = {"", "waiting", "making", "checking", "writing", "done"};
    assert_ptr_equal(context, heard);
    assert_non_null(path);
    assert_string_equal(note, "");
    const size_t used = strlen(heard);
    if (part < 0)
        snprintf(heard + used, sizeof heard - used, "%s ", names[step]);
    else
        snprintf(heard + used, sizeof heard - used, "%s:%g ", names[step], part);
}

static int set_up(void **state)
{
    (void)state;
    static int number;
    char cache[600];
    snprintf(cache, sizeof cache, "%s/cache%d", test_folder(), number++);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    unsetenv("SKITTER_ARTIFACTS");
    snprintf(arch, sizeof arch, "arch_7");
    snprintf(version, sizeof version, "8.1");
    builds = opened = 0;
    refuses = false;
    heard[0] = '\0';
    sk_artifact_set_watch(hear, heard);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sk_artifact_set_watch(NULL, NULL);
    return 0;
}

static sk_model *open_yolo(const char *head, const char *name)
{
    sk_error err = {0};
    const yolo_fixture fixture = {.head = head};
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(&fixture, name), &model, &err), &err);
    return model;
}

static sk_model_artifact *obtain(const sk_model *model, int32_t batch, int32_t side,
                                 const sk_artifact_options *options, sk_precision precision)
{
    sk_error err = {0};
    const sk_engine e = builder();
    sk_model_artifact *a = NULL;
    sk_session_settings settings = sk_session_defaults();
    settings.precision = precision;
    expected = model;
    expected_batch = batch;
    heard[0] = '\0';
    assert_ok(sk_model_artifact_open(model, &e, batch, side, side + 32, &settings, options, &a, &err), &err);
    return a;
}

static void built_once_and_found_again(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB"};
    for (int i = 0; i < 3; i++) {
        char name[32], path[600];
        sk_error err = {0};
        snprintf(name, sizeof name, "built%d.pt", i);
        sk_model *model = open_yolo(heads[i], name);
        snprintf(path, sizeof path, "%.*s.plan", (int)strlen(model->path) - 3, model->path);
        builds = opened = 0;
        sk_model_artifact *a = obtain(model, 2, 32, NULL, SK_PRECISION_F32);
        assert_string_equal(heard, "making making:0.25 making:1 checking writing done ");
        assert_true(builds == 1 && opened == 1 && a->kept.made && !a->kept.users);
        assert_string_equal(a->kept.path, path);
        assert_string_equal(a->ends.path, path);
        assert_string_equal(a->ends.sha256, a->kept.sha256);
        assert_ptr_equal(a->ends.bytes, sk_blob_data(a->kept.bytes));
        assert_int_equal(a->ends.length, sk_blob_bytes(a->kept.bytes));
        assert_string_equal(a->ends.input_names[0], "images");
        assert_null(a->ends.input_names[1]);
        assert_int_equal(model->graph->n_outputs, model->n_outputs);
        for (int32_t k = 0; k < model->n_outputs; k++)
            assert_string_equal(a->ends.output_names[k], model->outputs[k].name);
        assert_null(a->ends.output_names[model->n_outputs]);
        sk_artifact_record r;
        assert_ok(sk_artifact_record_read(path, &r, &err), &err);
        assert_string_equal(r.key.form, "plan");
        assert_string_equal(r.key.architecture, "arch_7");
        assert_string_equal(r.key.library, "8.1");
        assert_string_equal(r.key.precision, "f32");
        assert_true(r.key.batch == 2 && r.key.height == 32 && r.key.width == 64 && !r.key.dynamic_batch);
        assert_int_equal(r.key.opset, SK_ARTIFACT_OPSET);
        assert_true(r.n_checks == 1 && r.checks[0].pcc > 0.999);
        assert_string_equal(r.checks[0].runtime, "builder");
        sk_model_artifact_close(&a);
        assert_null(a);
        a = obtain(model, 2, 32, NULL, SK_PRECISION_F32);
        assert_true(builds == 1 && opened == 1 && !a->kept.made);
        assert_string_equal(heard, "");
        sk_model_artifact_close(&a);
        sk_model_close(&model);
    }
}

/* A graph with more outputs than the model tells of: they are numbered. */
static void outputs_without_names_are_numbered(void **state)
{
    (void)state;
    sk_model *model = open_yolo("Detect", "numbered.pt"), other = *model;
    sk_model_artifact *a = obtain(model, 1, 32, NULL, SK_PRECISION_F32);
    sk_model_artifact_close(&a);
    other.n_outputs = 0;
    a = obtain(&other, 1, 32, NULL, SK_PRECISION_F32);
    assert_int_equal(builds, 1);
    for (int32_t k = 0; k < model->graph->n_outputs; k++) {
        char name[16];
        snprintf(name, sizeof name, "output%d", k);
        assert_string_equal(a->ends.output_names[k], name);
    }
    sk_model_artifact_close(&a);
    sk_model_close(&model);
}

/* What it is bound to, and what was asked for: each makes another file. */
static void bound_to_device_library_and_size(void **state)
{
    (void)state;
    sk_model *model = open_yolo("Detect", "bound.pt");
    static const struct {
        const char *arch, *version;
        int32_t batch, side;
        sk_artifact_options options;
        int builds;
    } cases[] = {{"arch_7", "8.1", 1, 32, {0}, 1},
                 {"arch_7", "8.1", 1, 32, {0}, 1},
                 {"arch_9", "8.1", 1, 32, {0}, 2},
                 {"arch_9", "8.2", 1, 32, {0}, 3},
                 {"arch_9", "8.2", 1, 32, {.anew = true}, 4},
                 {"arch_9", "8.2", 2, 32, {0}, 5},
                 {"arch_9", "8.2", 1, 32, {0}, 5}, /* it was kept */
                 {"arch_9", "8.2", 4, 64, {.dynamic_batch = true}, 6},
                 {"arch_9", "8.2", 3, 64, {0}, 6}, /* for up to four */
                 {"arch_9", "8.2", 5, 64, {0}, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(arch, sizeof arch, "%s", cases[i].arch);
        snprintf(version, sizeof version, "%s", cases[i].version);
        sk_model_artifact *a =
            obtain(model, cases[i].batch, cases[i].side, &cases[i].options, SK_PRECISION_F32);
        if (builds != cases[i].builds)
            fail_msg("case %zu: %d were built", i, builds);
        sk_model_artifact_close(&a);
    }
    sk_model_close(&model);
}

/* An ONNX file is run as it is by who reads such files, and built of by who does not; from memory it is neither read nor kept
 * beside. */
static void onnx_models_are_built_of(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = open_yolo("Pose", "source.pt"), *onnx = NULL;
    char path[600];
    sk_onnx_model *file = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    snprintf(path, sizeof path, "%.*s.onnx", (int)strlen(model->path) - 3, model->path);
    s.batch = 1, s.height = 32, s.width = 64;
    assert_ok(sk_model_to_onnx(model, &s, &file, &err), &err);
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_onnx_write(file, &bytes, &length, &err), &err);
    sk_onnx_close(&file);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    sk_free(bytes);
    assert_ok(sk_model_open(path, &onnx, &err), &err);
    sk_model_artifact *a = obtain(onnx, 1, 32, NULL, SK_PRECISION_F32);
    assert_int_equal(builds, 1);
    assert_non_null(strstr(a->kept.path, ".plan"));
    sk_model_artifact_close(&a);
    sk_engine reads = builder();
    reads.form = &onnx_form;
    sk_session_settings settings = sk_session_defaults();
    assert_ok(sk_model_artifact_open(onnx, &reads, 1, 32, 64, &settings, NULL, &a, &err), &err);
    assert_true(a->kept.users && !a->kept.made);
    assert_string_equal(a->kept.path, path);
    assert_string_equal(a->kept.sha256, onnx->content_hash);
    sk_model_artifact_close(&a);
    sk_model held = *onnx;
    held.in_memory = true;
    assert_ok(sk_model_artifact_open(&held, &reads, 1, 32, 64, &settings, NULL, &a, &err), &err);
    assert_null(a);
    assert_int_equal(unlink(path), 0); /* nothing to read any more */
    assert_ok(sk_model_artifact_open(onnx, &reads, 1, 32, 64, &settings, NULL, &a, &err), &err);
    assert_null(a);
    assert_int_equal(builds, 1);
    sk_model_close(&onnx);
    sk_model_close(&model);
}

static void what_needs_none_gets_none(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = open_yolo("Detect", "none.pt");
    sk_engine e = builder();
    sk_model_artifact *a = NULL;
    sk_session_settings settings = sk_session_defaults();
    expected = model, expected_batch = 1;
    settings.tail = SK_TAIL_CUT;
    assert_ok(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err), &err);
    assert_null(a);
    settings = sk_session_defaults();
    settings.cache_dir = "";
    assert_ok(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err), &err);
    assert_null(a);
    settings = sk_session_defaults();
    setenv("SKITTER_ARTIFACTS", "somewhere", 1);
    assert_int_equal(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "SKITTER_ARTIFACTS=somewhere: give beside, cache or none");
    setenv("SKITTER_ARTIFACTS", "beside", 1);
    refuses = true; /* before minutes go into it */
    assert_int_equal(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err),
                     SK_ERR_UNSUPPORTED);
    assert_true(!a && builds == 0);
    refuses = false;
    assert_ok(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err), &err);
    assert_int_equal(builds, 1);
    sk_model_artifact_close(&a);
    e.form = NULL;
    assert_ok(sk_model_artifact_open(model, &e, 1, 32, 32, &settings, NULL, &a, &err), &err);
    assert_null(a);
    sk_model_close(&model);
}

static atomic_bool ended;
static int calls;
static pthread_t ender;

static void *end_watch(void *unused)
{
    sk_artifact_set_watch(NULL, NULL);
    atomic_store(&ended, true);
    return unused;
}

/* While it is called, another thread wants its end. */
static void hear_and_be_ended(void *context, sk_artifact_step step, const char *path, const char *note,
                              double part)
{
    (void)context, (void)step, (void)path, (void)note, (void)part;
    if (calls++)
        return;
    assert_int_equal(pthread_create(&ender, NULL, end_watch, NULL), 0);
    sk_clock_sleep_ns(30000000);
    assert_false(atomic_load(&ended));
}

/* Whoever ends a watch knows that it is not being called any more: what it looked at can go. */
static void a_watch_ends_when_nobody_is_in_it(void **state)
{
    (void)state;
    sk_model *model = open_yolo("Detect", "watched.pt");
    sk_artifact_set_watch(hear_and_be_ended, NULL);
    sk_model_artifact *a = obtain(model, 1, 32, NULL, SK_PRECISION_F32);
    assert_int_equal(pthread_join(ender, NULL), 0);
    assert_true(calls >= 1 && atomic_load(&ended));
    sk_model_artifact_close(&a);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(built_once_and_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_without_names_are_numbered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bound_to_device_library_and_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(onnx_models_are_built_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_needs_none_gets_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_watch_ends_when_nobody_is_in_it, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
