/* SPDX-License-Identifier: Apache-2.0 */
/* Models written as ONNX: where they go by themselves, what is told and recorded of them, what is refused; and which kept files are of no
 * use. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/artifacts.h"
#include "app/export.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static sk_export_settings usual(const char *model, const char *path)
{
    return (sk_export_settings){.model = model, .path = path, .onnx = sk_onnx_defaults()};
}

/* A value of the record beside a file. */
static void record_says(const char *path, const char *key, const char *wanted)
{
    char side[4400], *text = NULL, got[128];
    size_t length = 0;
    sk_config *config = NULL;
    int64_t number = 0;
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    assert_ok(sk_file_read(side, 1 << 20, &text, &length, &err), &err);
    assert_ok(sk_config_open_json(text, length, side, &config, &err), &err);
    const sk_config_value *v = sk_config_find(sk_config_root(config), key);
    bool truth = false;
    if (v && sk_config_text(v))
        snprintf(got, sizeof got, "%s", sk_config_text(v));
    else if (v && sk_config_is(v, SK_CONFIG_BOOL) && sk_config_to_bool(v, &truth))
        snprintf(got, sizeof got, "%s", truth ? "true" : "false");
    else if (v && sk_config_to_int(v, &number))
        snprintf(got, sizeof got, "%lld", (long long)number);
    else
        fail_msg("%s has no %s: %s", side, key, text);
    assert_string_equal(got, wanted);
    sk_config_close(&config);
    sk_free(text);
}

static void where_it_goes(void **state)
{
    (void)state;
    sk_export_report r;
    char model[4300], wanted[4400];
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 64};
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "net.pt"));
    sk_export_settings s = usual(model, NULL);
    assert_ok(sk_export_run(&s, &r, &err), &err);
    snprintf(wanted, sizeof wanted, "%s/net.onnx", test_folder());
    assert_string_equal(r.path, wanted);
    assert_true(r.bytes == sk_file_size(r.path) && r.bytes > 1000 && r.seconds > 0 && r.n_outputs >= 1 &&
                r.outputs[0]);
    record_says(r.path, "form", "onnx");
    record_says(r.path, "precision", "f32");
    record_says(r.path, "batch", "1");
    record_says(r.path, "height", "64");
    record_says(r.path, "width", "64");
    record_says(r.path, "dynamic_size", "false");
    assert_int_equal(sk_export_run(&s, &r, &err), SK_ERR_BUSY);
    snprintf(wanted, sizeof wanted,
             "%s/net.onnx: is there already; --overwrite replaces it, --output names another file",
             test_folder());
    assert_string_equal(err.message, wanted);
    s.overwrite = true;
    s.onnx.half = 1;
    assert_ok(sk_export_run(&s, &r, &err), &err);
    record_says(r.path, "precision", "f16");
    s = usual(model, "named.onnx");
    s.onnx.height = 96;
    s.onnx.width = 64;
    s.onnx.batch = 2;
    assert_ok(sk_export_run(&s, &r, &err), &err);
    assert_string_equal(r.path, "named.onnx");
    record_says("named.onnx", "height", "96");
    record_says("named.onnx", "width", "64");
    record_says("named.onnx", "batch", "2");
    record_says("named.onnx", "dynamic_batch", "false");
    record_says("named.onnx", "opset", "17");
    s = usual("named.onnx", "renamed.onnx"); /* of a file whose batch is fixed: as many */
    assert_ok(sk_export_run(&s, &r, &err), &err);
    record_says("renamed.onnx", "batch", "2");
    record_says("renamed.onnx", "height", "96");
    s = usual(model, "any.onnx");
    s.onnx.dynamic_batch = s.onnx.dynamic_size = 1;
    s.onnx.opset = 16;
    assert_ok(sk_export_run(&s, &r, &err), &err);
    record_says("any.onnx", "dynamic_batch", "true");
    record_says("any.onnx", "dynamic_size", "true");
    record_says("any.onnx", "batch", "0");
    record_says("any.onnx", "height", "64");
    record_says("any.onnx", "opset", "16");
    record_says("any.onnx", "source", model);
    s = usual("nothing.pt", NULL);
    assert_int_equal(sk_export_run(&s, &r, &err), SK_ERR_NOT_FOUND);
    s = usual(model, "nowhere/x.onnx");
    assert_int_not_equal(sk_export_run(&s, &r, &err), SK_OK);
    /* a folder's goes into a folder beside it, also where its name ends in a slash */
    char command[8700];
    snprintf(command, sizeof command, "cp -r '%s' sleap",
             test_source("tests/fixtures/sleap_nn/unet_no_decoder"));
    assert_int_equal(system(command), 0);
    s = usual("sleap/", NULL);
    assert_ok(sk_export_run(&s, &r, &err), &err);
    assert_string_equal(r.path, "sleap.onnx/model.onnx");
    assert_true(sk_file_exists("sleap.onnx/model.onnx"));
}

/* What is read stays as it is, and no ONNX file gets a name by which it would not be read. */
static void what_is_not_written_over(void **state)
{
    (void)state;
    sk_export_report r;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 64};
    char model[4300], command[8700];
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "own.pt"));
    const int64_t bytes = sk_file_size(model);
    snprintf(command, sizeof command, "cp -r '%s' keras && chmod -R u+w keras",
             test_source("tests/fixtures/sleap_keras/convolutions"));
    assert_int_equal(system(command), 0);
    assert_int_equal(link("own.pt", "second.onnx") | symlink("own.pt", "link.onnx"), 0);
    const struct {
        const char *model, *path, *words;
    } rows[] = {
        {model, "own.pt", "own.pt: is the model, which is not written over; --output names another file"},
        {model, "./own.pt", "./own.pt: is the model"},
        {model, "second.onnx", "second.onnx: is the model"},
        {model, "link.onnx", "link.onnx: is the model"},
        {"second.onnx", NULL, "second.onnx: is the model"},
        {"keras", "keras/training_config.json", "is a file of the model (keras), which is not written over"},
        {"keras/best_model.h5", "keras/training_config.json", "is a file of the model (keras/best_model.h5)"},
        {model, "new.skq",
         "new.skq: the name is a model's in eight bits, and an ONNX file is what is written; call it "
         "new.onnx"},
        {model, "film.MP4", "the name is a video's"},
        {model, "a.png", "the name is a picture's"},
        {model, "m.engine", "the name is a TensorRT engine's"},
        {model, "m.pt", "the name is a checkpoint's"},
        {model, "keras", "keras: is a folder"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int overwrite = 1; overwrite >= 0; overwrite--) {
            sk_export_settings s = usual(rows[i].model, rows[i].path);
            s.overwrite = overwrite;
            assert_int_equal(sk_export_run(&s, &r, &err), SK_ERR_ARG);
            if (!strstr(err.message, rows[i].words))
                fail_msg("'%s' is not in '%s'", rows[i].words, err.message);
        }
    assert_int_equal(sk_file_size(model), bytes);
    assert_false(sk_file_exists("new.skq") || sk_file_exists("film.MP4") || sk_file_exists("m.pt"));
    /* names that say nothing are taken, and an export in a model's folder may be made again */
    static const char *const taken[] = {"plain", "net.v2", "keras/again.onnx", "keras/again.onnx"};
    for (int i = 0; i < 4; i++) {
        sk_export_settings s = usual(i < 2 ? model : "keras", taken[i]);
        s.overwrite = true;
        assert_ok(sk_export_run(&s, &r, &err), &err);
    }
}

/* Of a file that is cut off enough may be left to say what it is, but not to write it. */
static void what_cannot_be_written(void **state)
{
    (void)state;
    sk_export_report r;
    sk_artifacts_exported out;
    char *bytes = NULL, longer[4200], words[200];
    size_t length = 0;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 64};
    assert_ok(sk_file_read(yolo_save(&fixture, "n.pt"), (size_t)1 << 26, &bytes, &length, &err), &err);
    assert_ok(sk_file_put("half.pt", bytes, length - 600, &err), &err);
    sk_free(bytes);
    sk_export_settings s = usual("half.pt", NULL);
    assert_int_equal(sk_export_run(&s, &r, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "half.pt: the file is cut off and cannot be exported; fetch it again");
    assert_false(sk_file_exists("half.onnx"));
    const sk_artifacts_export wish = {.model = "half.pt", .runtime = "onnx_cpu"};
    const sk_status kept = sk_artifacts_make(&wish, &out, &err); /* where there is such a runtime */
    if (kept != SK_ERR_UNSUPPORTED && kept != SK_ERR_NOT_FOUND && kept != SK_ERR_ARG) {
        assert_int_equal(kept, SK_ERR_FORMAT);
        assert_string_equal(err.message,
                            "half.pt: the file is cut off and cannot be exported; fetch it again");
    }
    /* a path that can be read, but not with another ending */
    const size_t most = 4095;
    memset(longer, '/', most);
    longer[0] = '.';
    memcpy(longer + most - 4, "n.pt", 5);
    s = usual(longer, NULL);
    assert_int_equal(sk_export_run(&s, &r, &err), SK_ERR_LIMIT);
    snprintf(words, sizeof words, "%.80s…: the path is too long", longer);
    assert_string_equal(err.message, words);
}

static void which_are_of_no_use(void **state)
{
    (void)state;
    static const sk_artifact_state states[] = {SK_ARTIFACT_USER, SK_ARTIFACT_FRESH};
    for (int s = 0; s < 2; s++)
        for (int bits = 0; bits < 8; bits++) {
            const sk_artifact_row row = {
                .state = states[s], .stranger = bits & 1, .orphan = bits & 2, .unread = bits & 4};
            const bool wanted = (bits & 1) || (s == 1 && (bits & 6));
            assert_int_equal(sk_artifacts_useless(&row), wanted);
        }
    const sk_artifact_row stale = {.state = SK_ARTIFACT_STALE};
    assert_true(sk_artifacts_useless(&stale));
}

static void nothing_to_keep(void **state)
{
    (void)state;
    sk_artifacts_exported out;
    char model[4300];
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "kept.pt"));
    const sk_artifacts_export wish = {.model = model, .runtime = "cpu"};
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_ARG);
    assert_string_equal(
        err.message, "the compute runtime 'cpu' runs models as they are: there is nothing to export for it");
    assert_string_equal(out.runtime, "cpu");
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_it_goes), cmocka_unit_test(what_is_not_written_over),
        cmocka_unit_test(what_cannot_be_written), cmocka_unit_test(which_are_of_no_use),
        cmocka_unit_test(nothing_to_keep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
