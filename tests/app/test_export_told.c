/* SPDX-License-Identifier: Apache-2.0 */
/* What is told and recorded of a model that was written as ONNX, and that no record of a former file outlives it. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/artifacts.h"
#include "app/export.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "models/model.h"
#include "skitter/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static char model[4300];

static sk_export_settings usual(const char *path)
{
    return (sk_export_settings){.model = model, .path = path, .onnx = sk_onnx_defaults()};
}

/* A report that still holds another one: nothing of that stays. */
static sk_export_report used(void)
{
    sk_export_report r;
    memset(&r, 'x', sizeof r);
    return r;
}

/* A word of the record beside a file; a buffer of its own, until the next. */
static const char *record_of(const char *path, const char *key)
{
    static char got[128];
    char side[4400], *text = NULL;
    size_t length = 0;
    sk_config *config = NULL;
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    assert_ok(sk_file_read(side, 1 << 20, &text, &length, &err), &err);
    assert_ok(sk_config_open_json(text, length, side, &config, &err), &err);
    snprintf(got, sizeof got, "%s", sk_config_text_or(sk_config_root(config), key, "-"));
    sk_config_close(&config);
    sk_free(text);
    return got;
}

static void what_is_told(void **state)
{
    (void)state;
    sk_model *m = NULL, *written = NULL;
    sk_export_report r = used();
    sk_export_settings s = usual("told.onnx");
    const int64_t begin = sk_clock_ns();
    assert_ok(sk_export_run(&s, &r, &err), &err);
    assert_true(r.seconds > 0 && r.seconds <= (double)(sk_clock_ns() - begin) * 1e-9);
    assert_string_equal(r.path, "told.onnx");
    assert_int_equal(r.bytes, sk_file_size("told.onnx"));
    /* every output by its name, as whoever opens it finds it */
    char names[1024] = "";
    assert_ok(sk_model_open("told.onnx", &written, &err), &err);
    assert_true(written->n_outputs >= 2);
    for (int32_t i = 0; i < written->n_outputs; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 written->outputs[i].name);
    assert_string_equal(r.outputs, names);
    assert_int_equal(r.n_outputs, written->graph->n_outputs);
    sk_model_close(&written);
    /* what it was made from */
    assert_ok(sk_model_open(model, &m, &err), &err);
    assert_string_equal(record_of("told.onnx", "source_sha256"), m->content_hash);
    sk_model_close(&m);
}

/* Of a model that carries its heads twice, with which of them it was written. */
static void what_is_recorded(void **state)
{
    (void)state;
    static const struct {
        const char *head, *recorded;
        sk_heads heads;
    } rows[] = {{"Detect", "one-to-many", SK_HEADS_AUTO},
                {"v10Detect", "one-to-one", SK_HEADS_ONE_TO_ONE},
                {"v10Detect", "one-to-many", SK_HEADS_ONE_TO_MANY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const yolo_fixture fixture = {.head = rows[i].head, .f32 = true, .imgsz = 64};
        char path[4300];
        sk_export_report r = used();
        sk_export_settings s = usual("heads.onnx");
        snprintf(path, sizeof path, "%s", yolo_save(&fixture, "heads.pt"));
        s.model = path;
        s.heads = rows[i].heads;
        s.overwrite = true;
        assert_ok(sk_export_run(&s, &r, &err), &err);
        assert_string_equal(record_of("heads.onnx", "heads"), rows[i].recorded);
        assert_string_equal(record_of("heads.onnx", "skitter"), sk_version_text());
        assert_string_equal(record_of("heads.onnx", "precision"), "f32");
        assert_string_equal(record_of("heads.onnx", "form"), "onnx");
    }
}

/* A file that could not be made anew is what it was, and what is beside it says nothing of it any more. */
static void no_former_record(void **state)
{
    (void)state;
    char side[64];
    sk_export_report r = used();
    sk_export_settings s = usual("former.onnx");
    snprintf(side, sizeof side, "former.onnx%s", SK_ARTIFACT_SIDECAR);
    assert_ok(sk_export_run(&s, &r, &err), &err);
    assert_true(sk_file_exists(side));
    s.overwrite = true;
    s.onnx.opset = 3; /* none that can be written */
    assert_int_not_equal(sk_export_run(&s, &r, &err), SK_OK);
    assert_true(sk_file_exists("former.onnx"));
    assert_false(sk_file_exists(side));
}

/* It is in the list of what was made here, wherever it lies. */
static void it_is_listed(void **state)
{
    (void)state;
    sk_artifact_row *rows = NULL;
    int32_t count = 0, found = 0;
    char folder[4096];
    sk_export_report r = used();
    sk_export_settings s = usual(NULL);
    assert_non_null(getcwd(folder, sizeof folder));
    char path[4200];
    snprintf(path, sizeof path, "%s/listed.onnx", folder);
    s.path = path;
    assert_ok(sk_export_run(&s, &r, &err), &err);
    assert_ok(sk_artifacts_list(NULL, 0, false, &rows, &count, &err), &err);
    for (int32_t i = 0; i < count; i++)
        found += strcmp(rows[i].path, path) == 0;
    sk_free(rows);
    assert_int_equal(found, 1);
}

int main(void)
{
    const yolo_fixture fixture = {.head = "Segment", .f32 = true, .imgsz = 64};
    char cache[4200];
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    if (setenv("SKITTER_CACHE_DIR", cache, 1) != 0)
        return 1;
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "net.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_told), cmocka_unit_test(what_is_recorded),
                                       cmocka_unit_test(no_former_record), cmocka_unit_test(it_is_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
