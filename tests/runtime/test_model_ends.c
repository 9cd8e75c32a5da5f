/* SPDX-License-Identifier: Apache-2.0 */
/* What an ONNX file's ends are called and must be like to stand in for a model, and the picture by which the two are compared. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/onnx.h"
#include "models/onnx_export.h"
#include "runtime/model_artifact_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEIGHT = 32, WIDTH = 64, PICTURE = 3 * HEIGHT * WIDTH };

static float seen[PICTURE];
static int submits;

static sk_status look_and_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                                 sk_error *err)
{
    memcpy(seen, inputs[0].data, sizeof seen);
    submits++;
    return sk_engine_reference.submit(session, slot, inputs, err);
}

/* Reads ONNX files, it says, and runs the model's own graph: what it answers is always right. */
static sk_engine reader(void)
{
    static const sk_engine_form form = {
        .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};
    sk_engine e = sk_engine_reference;
    e.name = "reader";
    e.submit = look_and_submit;
    e.form = &form;
    return e;
}

static sk_model *open_yolo(const char *name, char artifact[600])
{
    static int number;
    char cache[600];
    sk_error err = {0};
    const yolo_fixture fixture = {.head = "Pose"};
    sk_model *model = NULL;
    snprintf(cache, sizeof cache, "%s/cache%d", test_folder(), number++);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    unsetenv("SKITTER_ARTIFACTS");
    const char *path = yolo_save(&fixture, name);
    snprintf(artifact, 600, "%.*s.onnx", (int)(strlen(path) - 3), path);
    assert_ok(sk_model_open(path, &model, &err), &err);
    return model;
}

static sk_model_artifact *obtain(const sk_model *model)
{
    const sk_engine e = reader();
    sk_session_settings settings = sk_session_defaults();
    sk_model_artifact *a = NULL;
    sk_error err = {0};
    submits = 0;
    assert_ok(sk_model_artifact_open(model, &e, 1, HEIGHT, WIDTH, &settings, NULL, &a, &err), &err);
    assert_non_null(a);
    return a;
}

/* The names stand one behind the other, where the artifact is. */
static void assert_names(const sk_model_artifact *a, const char *input, const char *output)
{
    assert_string_equal(a->ends.input_names[0], input);
    assert_string_equal(a->ends.output_names[0], output);
    assert_ptr_equal(a->ends.bytes, sk_blob_data(a->kept.bytes));
    assert_int_equal(a->ends.length, sk_blob_bytes(a->kept.bytes));
    assert_string_equal(a->ends.sha256, a->kept.sha256);
    assert_true(a->ends.output_names[0] > a->names && a->ends.output_names[0] < a->names + sizeof a->names);
}

/* One picture for all machines: a wave over columns, rows and channels, squares of 24, and grain of 0.15. */
static void the_picture_is_known(void **state)
{
    (void)state;
    /* by the formula in Python, in doubles: channel, row, column, value */
    static const struct {
        int channel, row, column;
        double value;
    } known[] = {
        {0, 0, 0, 0.0830604},   {0, 0, 1, 0.0877763},   {0, 0, 23, 0.2767534},  {0, 0, 24, 0.4901516},
        {0, 23, 0, 0.1902577},  {0, 24, 0, 0.5012880},  {0, 24, 24, 0.3290610}, {0, 31, 63, 0.8706678},
        {1, 0, 0, 0.2044917},   {1, 7, 48, 0.5203658},  {1, 17, 5, 0.3122554},  {2, 0, 0, 0.2351026},
        {2, 30, 40, 0.1698766}, {2, 31, 63, 0.5007272}, {2, 12, 62, 0.1558879},
    };
    char artifact[600];
    sk_model *model = open_yolo("picture.pt", artifact);
    sk_model_artifact *a = obtain(model);
    assert_true(a->kept.made && submits == 1);
    assert_names(a, "images", "output0");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_float_equal(seen[(known[i].channel * HEIGHT + known[i].row) * WIDTH + known[i].column],
                           known[i].value, 1e-5);
    sk_model_artifact_close(&a);
    sk_model_close(&model);
}

/* Exports the model with its ends changed. */
static void export_changed(const sk_model *model, const char *path,
                           void (*change)(sk_onnx_value *in, sk_onnx_value *out))
{
    sk_onnx_model *onnx = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_error err = {0};
    s.height = HEIGHT;
    s.width = WIDTH;
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    change((sk_onnx_value *)(uintptr_t)onnx->graph.inputs, (sk_onnx_value *)(uintptr_t)onnx->graph.outputs);
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    sk_free(bytes);
    sk_onnx_close(&onnx);
}

static void as_it_is(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)in, (void)out;
}

static void of_any_size(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)out;
    in->shape.dim[0] = in->shape.dim[2] = -1;
    in->param[0] = in->param[2] = "any";
}

static void without_a_shape(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)in;
    out->shape.rank = -1;
}

static void of_another_width(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)out;
    in->shape.dim[3] = WIDTH * 2;
}

static void of_another_batch(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)out;
    in->shape.dim[0] = 2;
}

static void of_another_rank(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)in;
    out->shape.rank = 2;
}

static void of_halves(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)in;
    out->dtype = SK_DTYPE_F16;
}

static void of_an_output_of_another_length(sk_onnx_value *in, sk_onnx_value *out)
{
    (void)in;
    out->shape.dim[2]++;
}

static char infos[2048], warnings[4096];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    char *to = level == SK_LOG_WARN ? warnings : infos;
    const size_t room = level == SK_LOG_WARN ? sizeof warnings : sizeof infos, used = strlen(to);
    snprintf(to + used, room - used, "%s\n", message);
}

/* An ONNX model of a person's runs as it is where its ends are those of the graph that is read from it. */
static void sources_with_ends_like_the_graphs(void **state)
{
    (void)state;
    static const struct {
        void (*change)(sk_onnx_value *, sk_onnx_value *);
        bool used;
    } cases[] = {{as_it_is, true},          {of_any_size, true},
                 {without_a_shape, true},   {of_another_width, false},
                 {of_another_batch, false}, {of_another_rank, false},
                 {of_halves, false},        {of_an_output_of_another_length, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char artifact[600], whole[600];
        sk_error err = {0};
        sk_model *model = open_yolo("source.pt", artifact), *onnx = NULL;
        snprintf(whole, sizeof whole, "%s", artifact);
        export_changed(model, whole, as_it_is);
        assert_ok(sk_model_open(whole, &onnx, &err), &err);
        export_changed(model, whole, cases[i].change); /* the file under the model that was read */
        const sk_engine e = reader();
        sk_session_settings settings = sk_session_defaults();
        sk_model_artifact *a = NULL;
        sk_log_listener *listener = NULL;
        char told[700];
        infos[0] = '\0';
        assert_ok(sk_log_listen(SK_LOG_INFO, hear, NULL, &listener, &err), &err);
        assert_ok(sk_model_artifact_open(onnx, &e, 1, HEIGHT, WIDTH, &settings, NULL, &a, &err), &err);
        sk_log_unlisten(&listener);
        snprintf(told, sizeof told, "%s: run through skitter's graph: ", whole);
        assert_int_equal(strstr(infos, told) != NULL, !cases[i].used);
        if ((a != NULL) != cases[i].used)
            fail_msg("case %zu", i);
        if (a) {
            assert_names(a, "images", "output0");
            assert_string_equal(a->kept.path, whole);
            assert_true(a->kept.users && !a->kept.made);
        }
        sk_model_artifact_close(&a);
        sk_model_close(&onnx);
        sk_model_close(&model);
        assert_int_equal(unlink(whole), 0);
    }
}

/* Whether an ONNX file is of a model is asked of everything they say of themselves, before anything is computed. */
static void files_of_another_model(void **state)
{
    (void)state;
    char artifact[600], want[200];
    sk_error err = {0};
    sk_model *model = open_yolo("another.pt", artifact);
    export_changed(model, artifact, as_it_is);
    assert_ok(sk_model_artifact_compare(model, artifact, &err), &err);
    for (int i = 0; i < 7; i++) {
        sk_model other = *model;
        snprintf(want, sizeof want, "its outputs are of another kind");
        switch (i) {
        case 0:
            other.task = SK_TASK_DETECT;
            snprintf(want, sizeof want, "it is for the task 'pose', the model for 'detect'");
            break;
        case 1:
        case 2:
            other.n_classes += i == 1;
            other.n_keypoints += i == 2;
            snprintf(want, sizeof want, "it has %d classes and %d keypoints, the model %d and %d",
                     model->n_classes, model->n_keypoints, other.n_classes, other.n_keypoints);
            break;
        case 3:
        case 4:
            other.input.channels = i == 3 ? 1 : other.input.channels;
            other.input.scale *= i == 4 ? 2 : 1;
            snprintf(want, sizeof want, "it wants its pictures prepared in another way");
            break;
        case 5: other.n_outputs++; break;
        default: other.outputs[0].kind = SK_OUTPUT_PAFS;
        }
        err = (sk_error){0};
        assert_int_equal(sk_model_artifact_compare(&other, artifact, &err), SK_ERR_MISMATCH);
        assert_string_equal(err.message, want);
    }
    sk_model_close(&model);
}

static sk_status wait_and_spoil(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(sk_engine_reference.wait(session, slot, outputs, err));
    for (int i = 0; i < 40; i++)
        ((float *)outputs[0])[i] += 4000;
    return SK_OK;
}

/* A file is asked what it says of itself and what its ends are, then what it computes. It is called refused where it was made for
 * this; of somebody else's it is told why it is not used. */
static void jobs_by_hand(void **state)
{
    (void)state;
    static sk_model_artifact out;
    char artifact[600], want[800], *bytes = NULL;
    size_t length = 0;
    sk_error err = {0};
    sk_model *model = open_yolo("by_hand.pt", artifact), other = *model;
    sk_engine engine = reader();
    sk_artifact_check check = {0};
    sk_artifact_job job = {.model = model,
                           .engine = &engine,
                           .settings = sk_session_defaults(),
                           .batch = 1,
                           .height = HEIGHT,
                           .width = WIDTH,
                           .out = &out};
    job.settings.precision = SK_PRECISION_F32;
    export_changed(model, artifact, of_another_width);
    assert_ok(sk_file_read(artifact, 1 << 24, &bytes, &length, &err), &err);
    assert_int_equal(sk_artifact_job_fits(&job, artifact, bytes, length, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "has the shape"));
    sk_free(bytes);
    export_changed(model, artifact, as_it_is);
    assert_ok(sk_file_read(artifact, 1 << 24, &bytes, &length, &err), &err);
    other.n_keypoints++;
    job.model = &other;
    assert_int_equal(sk_artifact_job_fits(&job, artifact, bytes, length, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "keypoints, the model"));
    job.model = model;
    out = (sk_model_artifact){0};
    assert_ok(sk_artifact_job_fits(&job, artifact, bytes, length, &err), &err);
    assert_string_equal(out.ends.input_names[0], "images");
    for (int unknown = 0; unknown < 2; unknown++) {
        err = (sk_error){0};
        assert_ok(sk_artifact_job_check(&job, artifact, bytes, length, unknown, &check, &err), &err);
        assert_string_equal(err.message, "");
        assert_true(check.pcc > 0.9999 && check.max_difference < 1e-3);
    }
    other = *model; /* opening a network on bytes is all that can be done with it */
    other.input.dtype = SK_DTYPE_U8;
    job.model = &other;
    check = (sk_artifact_check){0};
    assert_ok(sk_artifact_job_check(&job, artifact, bytes, length, false, &check, &err), &err);
    assert_true(check.pcc == 1 && check.max_difference == 0);
    assert_int_equal(sk_artifact_job_check(&job, artifact, bytes, length, true, &check, &err),
                     SK_ERR_MISMATCH);
    assert_string_equal(err.message, "a network on bytes cannot be compared with its model");
    job.model = model;
    engine.wait = wait_and_spoil;
    assert_int_equal(sk_artifact_job_check(&job, artifact, bytes, length, true, &check, &err),
                     SK_ERR_MISMATCH);
    snprintf(want, sizeof want, "it does not compute what %s computes (", model->path);
    assert_true(strncmp(err.message, want, strlen(want)) == 0);
    assert_true(check.max_difference > 1);
    assert_int_equal(sk_artifact_job_check(&job, artifact, bytes, length, false, &check, &err),
                     SK_ERR_MISMATCH);
    snprintf(want, sizeof want, "%s made for reader is refused: its answers differ", artifact);
    assert_true(strncmp(err.message, want, strlen(want)) == 0);
    assert_int_equal(sk_artifact_job_check(&job, "", bytes, length, false, &check, &err), SK_ERR_MISMATCH);
    snprintf(want, sizeof want, "what was made for reader is refused: its answers differ");
    assert_true(strncmp(err.message, want, strlen(want)) == 0);
    sk_free(bytes);
    sk_model_close(&model);
}

/* What was made and how near it comes is told once; what a person should know of a file is a warning. */
static void what_is_told(void **state)
{
    (void)state;
    char artifact[600], want[800];
    sk_error err = {0};
    sk_log_listener *listener = NULL;
    sk_model *model = open_yolo("told.pt", artifact);
    assert_ok(sk_log_listen(SK_LOG_INFO, hear, NULL, &listener, &err), &err);
    for (int i = 0; i < 3; i++) {
        infos[0] = warnings[0] = '\0';
        if (i == 2) { /* now it could be anybody's */
            snprintf(want, sizeof want, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
            assert_int_equal(unlink(want), 0);
        }
        sk_model_artifact *a = obtain(model);
        assert_string_equal(a->kept.path, artifact);
        if (i == 0) {
            snprintf(
                want, sizeof want,
                "%s: made for reader; correlation with skitter's own engine %.7f, largest difference %.2g\n",
                artifact, a->kept.check.pcc, a->kept.check.max_difference);
            assert_string_equal(infos, want);
        } else {
            assert_string_equal(infos, "");
        }
        if (i < 2) {
            assert_string_equal(warnings, "");
        } else {
            snprintf(want, sizeof want,
                     "%s is used as it is, although it has no record of what it was made from", artifact);
            assert_memory_equal(warnings, want, strlen(want));
            assert_memory_equal(warnings, a->kept.notice, strlen(a->kept.notice));
            assert_true(a->kept.users);
        }
        sk_model_artifact_close(&a);
    }
    sk_log_unlisten(&listener);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_is_known),
        cmocka_unit_test(files_of_another_model),
        cmocka_unit_test(jobs_by_hand),
        cmocka_unit_test(what_is_told),
        cmocka_unit_test(sources_with_ends_like_the_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
