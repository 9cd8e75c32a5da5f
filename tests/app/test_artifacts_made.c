/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts as a person asks for them: which sizes and options reach who makes one, what is told of it, which files of others are
 * compared with their model and what becomes of that. Engines and their files are played. */
#include "support/test.h"

#include "app/artifacts.h"
#include "base/clock.h"
#include "base/file.h"
#include "runner/network.h"
#include "support/yolo_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

/* --- the play: in place of runner/network.c and runtime/model_artifact*.c --- */

static const sk_engine_form form = {
    .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};
static sk_engine toy;
static bool size_refused, nothing_kept;
static int n_open, n_closed;
static int64_t size_asked[3];
static sk_artifact_options options_asked;
static sk_session_settings settings_asked;
static char heads_asked[16];

static sk_status toy_probe(sk_engine_probe *probe, sk_error *e)
{
    (void)e;
    probe->available = true;
    snprintf(probe->version, sizeof probe->version, "Toy 1.2");
    return SK_OK;
}

sk_status sk_net_engine(const char *runtime, const sk_engine **out, sk_error *e)
{
    if (strcmp(runtime, "toy") != 0)
        return sk_fail(e, SK_ERR_UNSUPPORTED, "no %s here", runtime);
    *out = &toy;
    return SK_OK;
}

sk_status sk_net_check_size(const sk_model *model, int64_t batch, int64_t height, int64_t width, sk_error *e)
{
    (void)model;
    memcpy(size_asked, (int64_t[]){batch, height, width}, sizeof size_asked);
    return size_refused ? sk_fail(e, SK_ERR_MISMATCH, "not of that size") : SK_OK;
}

sk_status sk_model_artifact_open(const sk_model *model, const sk_engine *engine, int64_t batch,
                                 int64_t height, int64_t width, const sk_session_settings *settings,
                                 const sk_artifact_options *options, sk_model_artifact **out, sk_error *e)
{
    static const int64_t began = 50000000;
    assert_ptr_equal(engine, &toy);
    assert_true(batch == size_asked[0] && height == size_asked[1] && width == size_asked[2]);
    options_asked = *options;
    settings_asked = *settings;
    snprintf(heads_asked, sizeof heads_asked, "%d", (int)model->wanted_heads);
    sk_clock_sleep_ns(began);
    if (nothing_kept)
        return SK_OK;
    sk_model_artifact *a = sk_calloc(1, sizeof *a);
    if (!a)
        return sk_fail_memory(e, sizeof *a);
    n_open++;
    snprintf(a->kept.path, sizeof a->kept.path, "made/model.onnx");
    snprintf(a->kept.notice, sizeof a->kept.notice, "a note");
    a->kept.made = true;
    a->kept.check = (sk_artifact_check){.pcc = 0.5, .max_difference = 0.25};
    *out = a;
    return SK_OK;
}

void sk_model_artifact_close(sk_model_artifact **artifact)
{
    n_closed += *artifact != NULL;
    sk_free(*artifact);
    *artifact = NULL;
}

static sk_status answers[2];
static int n_compared;
static char compared_with[2][64];

sk_status sk_model_artifact_compare(const sk_model *model, const char *onnx, sk_error *e)
{
    assert_true(n_compared < 2);
    snprintf(compared_with[n_compared], sizeof compared_with[0], "%.40s %d", sk_path_name(onnx),
             (int)model->wanted_heads);
    const sk_status answer = answers[n_compared++];
    return answer == SK_OK ? SK_OK : sk_fail(e, answer, "answer %d", n_compared);
}

/* --- making --- */

static const char *a_model_of(const char *head, const char *name)
{
    static char path[1024];
    const yolo_fixture fixture = {.head = head, .imgsz = 64};
    snprintf(path, sizeof path, "%s", yolo_save(&fixture, name));
    return path;
}

static const char *a_model(const char *name)
{
    return a_model_of("Detect", name);
}

static void made(void **state)
{
    (void)state;
    sk_artifacts_exported out;
    sk_artifacts_export wish = {.model = a_model("made.pt"), .runtime = "toy"};
    assert_ok(sk_artifacts_make(&wish, &out, &err), &err);
    assert_string_equal(out.path, "made/model.onnx");
    assert_string_equal(out.notice, "a note");
    assert_string_equal(out.runtime, "toy");
    assert_string_equal(out.library, "Toy 1.2");
    assert_string_equal(out.precision, "f32");
    assert_true(out.made && !out.users && out.bytes == 0 && out.check.pcc == 0.5 &&
                out.check.max_difference == 0.25);
    assert_true(out.seconds >= 0.05 && out.seconds < 30);
    assert_true(out.batch == 1 && out.height == 64 && out.width == 64);
    assert_true(size_asked[0] == 1 && size_asked[1] == 64 && size_asked[2] == 64);
    assert_true(options_asked.must_keep && !options_asked.anew && !options_asked.dynamic_batch);
    assert_string_equal(heads_asked, "0");
    wish.batch = 4, wish.height = 32, wish.width = 96, wish.anew = true;
    assert_ok(sk_artifacts_make(&wish, &out, &err), &err);
    assert_true(out.batch == 4 && out.height == 32 && out.width == 96);
    assert_true(options_asked.must_keep && options_asked.anew && !options_asked.dynamic_batch);
    wish.anew = false, wish.dynamic_batch = true;
    wish.precision = SK_PRECISION_F16;
    assert_ok(sk_artifacts_make(&wish, &out, &err), &err);
    assert_true(!options_asked.anew && options_asked.dynamic_batch);
    assert_int_equal(settings_asked.precision, SK_PRECISION_F16);
    assert_true(n_open == 3 && n_closed == 3);
}

static void refused(void **state)
{
    (void)state;
    sk_artifacts_exported out;
    sk_artifacts_export wish = {.model = a_model("refused.pt"), .runtime = "warp"};
    n_open = n_closed = 0;
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "no warp here");
    assert_string_equal(out.runtime, "");
    wish.runtime = "toy";
    toy.form = NULL;
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_ARG);
    assert_string_equal(
        err.message, "the compute runtime 'toy' runs models as they are: there is nothing to export for it");
    toy.form = &form;
    size_refused = true;
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_MISMATCH);
    assert_string_equal(err.message, "not of that size");
    size_refused = false;
    wish.engine_options = "colour=red";
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_ARG);
    wish.engine_options = NULL;
    nothing_kept = true;
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.message, "refused.pt: nothing can be kept for 'toy': SKITTER_ARTIFACTS is 'none'"));
    nothing_kept = false;
    wish.model = test_missing("x.pt");
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_NOT_FOUND);
    /* the directory at the file's end is gone: what it holds can be told, but not exported */
    char *bytes = NULL;
    size_t length = 0;
    wish.model = a_model("cut.pt");
    assert_ok(sk_file_read(wish.model, 1 << 24, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(wish.model, bytes, length - 30, &err), &err);
    sk_free(bytes);
    assert_int_equal(sk_artifacts_make(&wish, &out, &err), SK_ERR_FORMAT);
    assert_non_null(
        strstr(err.message, "cut.pt: the file is cut off and cannot be exported; fetch it again"));
    assert_true(n_open == 0 && n_closed == 0);
}

/* --- files of others --- */

static sk_artifact_row *rows;
static int32_t count;

static sk_artifact_row *list(const char *place, bool deep, sk_status first, sk_status second)
{
    answers[0] = first;
    answers[1] = second;
    n_compared = 0;
    sk_free(rows);
    assert_ok(sk_artifacts_list(&place, 1, deep, &rows, &count, &err), &err);
    if (count != 1)
        fail_msg("%s: %d", place, count);
    return &rows[0];
}

static char *beside(const char *model, const char *ending)
{
    static char path[1100];
    snprintf(path, sizeof path, "%.*s%s", (int)strlen(model) - 3, model, ending);
    return path;
}

static void strangers(void **state)
{
    (void)state;
    static const struct {
        sk_status first, second;
        int asked;
        bool stranger;
        const char *why;
    } table[] = {{SK_OK, SK_OK, 1, false, "it has no record, but computes what "},
                 {SK_ERR_MISMATCH, SK_OK, 2, false, "it has no record, but computes what "},
                 {SK_ERR_MISMATCH, SK_ERR_FORMAT, 2, true, "answer 1"},
                 {SK_ERR_FORMAT, SK_ERR_MISMATCH, 2, true, "answer 1"},
                 {SK_ERR_MEMORY, SK_OK, 1, false, "it has no record of what it was made from"},
                 {SK_ERR_MISMATCH, SK_ERR_MEMORY, 2, false, "it has no record of what it was made from"},
                 {SK_ERR_MISMATCH, SK_ERR_NOT_FOUND, 2, false, "it has no record of what it was made from"}};
    const char *model = a_model_of("v10Detect", "theirs.pt"); /* which has its heads twice */
    char *file = beside(model, ".onnx");
    assert_ok(sk_file_replace(file, "theirs", 6, &err), &err);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        sk_artifact_row *r = list(model, true, table[i].first, table[i].second);
        assert_int_equal(n_compared, table[i].asked);
        assert_string_equal(compared_with[0], "theirs.onnx 0");
        if (n_compared == 2) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "theirs.onnx %d", (int)SK_HEADS_ONE_TO_ONE);
            assert_string_equal(compared_with[1], wanted);
        }
        assert_int_equal(r->state, SK_ARTIFACT_USER);
        assert_int_equal(r->stranger, table[i].stranger);
        if (strncmp(r->why, table[i].why, strlen(table[i].why)) != 0)
            fail_msg("%zu: %s", i, r->why);
        if (table[i].why[0] == 'a')
            assert_string_equal(r->why, table[i].why);
        assert_int_equal(sk_artifacts_useless(r), table[i].stranger);
    }
    assert_false(list(model, false, SK_ERR_MISMATCH, SK_ERR_MISMATCH)->stranger); /* not looked into */
    assert_int_equal(n_compared, 0);
    char record[1200];
    snprintf(record, sizeof record, "%s" SK_ARTIFACT_SIDECAR, file);
    assert_ok(sk_file_replace(record, "no record", 9, &err), &err);
    assert_false(list(file, true, SK_ERR_MISMATCH, SK_OK)->stranger); /* beside nothing that was named */
    assert_int_equal(n_compared, 0);
    unlink(record);
    unlink(file);
    model = a_model("once.pt"); /* its heads are there once: the first answer counts */
    file = beside(model, ".onnx");
    assert_ok(sk_file_replace(file, "theirs", 6, &err), &err);
    assert_true(list(model, true, SK_ERR_MISMATCH, SK_OK)->stranger && n_compared == 1);
    assert_string_equal(rows[0].why, "answer 1");
    unlink(file);
}

/* What somebody else's record says is believed once the file was asked; of our own nobody needs to ask. */
static void records(void **state)
{
    (void)state;
    char cache[1100];
    const char *path = a_model_of("v10Detect", "said.pt");
    char *file = beside(path, ".onnx");
    sk_model *model = NULL;
    sk_artifact_key key = {.form = "onnx", .precision = "f32", .batch = 1, .height = 64, .width = 64};
    assert_ok(sk_model_open(path, &model, &err), &err);
    snprintf(key.source, sizeof key.source, "%s", model->content_hash);
    sk_model_close(&model);
    assert_ok(sk_file_replace(file, "exported", 8, &err), &err);
    assert_ok(sk_artifact_record_export(file, path, &key, &err), &err);
    char other[1200]; /* of a kind that nobody can read here */
    snprintf(other, sizeof other, "%s.engine", file);
    assert_ok(sk_file_replace(other, "exported", 8, &err), &err);
    assert_ok(sk_artifact_record_export(other, path, &key, &err), &err);
    assert_int_equal(list(path, true, SK_ERR_MISMATCH, SK_ERR_MISMATCH)->state, SK_ARTIFACT_FRESH);
    assert_true(n_compared == 0 && rows[0].record.sealed && !sk_artifacts_useless(&rows[0]));
    snprintf(cache, sizeof cache, "%s/cache_of_another", test_folder()); /* whose key is another */
    setenv("SKITTER_CACHE_DIR", cache, 1);
    sk_artifact_row *r = list(path, true, SK_ERR_MISMATCH, SK_ERR_MISMATCH);
    assert_true(n_compared == 2 && r->stranger && r->state == SK_ARTIFACT_USER);
    assert_string_equal(r->why, "its record is not true: answer 1");
    r = list(other, true, SK_ERR_MISMATCH, SK_ERR_MISMATCH);
    assert_true(n_compared == 0 && !r->record.sealed && r->state == SK_ARTIFACT_FRESH);
    r = list(path, true, SK_OK, SK_OK);
    assert_true(n_compared == 1 && !r->stranger && r->state == SK_ARTIFACT_FRESH);
    assert_null(strstr(r->why, "it has no record"));
    snprintf(key.precision, sizeof key.precision, "f16"); /* which rounds: it cannot be judged by that */
    unlink(file);
    assert_ok(sk_file_replace(file, "exported", 8, &err), &err);
    assert_ok(sk_artifact_record_export(file, path, &key, &err), &err);
    snprintf(cache, sizeof cache, "%s/cache_of_a_third", test_folder());
    setenv("SKITTER_CACHE_DIR", cache, 1);
    r = list(path, true, SK_ERR_MISMATCH, SK_ERR_MISMATCH);
    assert_true(n_compared == 0 && !r->stranger);
    unlink(path); /* its model is gone: nobody can be asked */
    (void)list(file, true, SK_ERR_MISMATCH, SK_ERR_MISMATCH);
    assert_true(n_compared == 0 && rows[0].orphan && sk_artifacts_useless(&rows[0]));
    sk_free(rows);
    rows = NULL;
}

static void of_no_use(void **state)
{
    (void)state;
    for (int s = SK_ARTIFACT_ABSENT; s <= SK_ARTIFACT_USER; s++)
        for (int flags = 0; flags < 8; flags++) {
            const sk_artifact_row row = {.state = (sk_artifact_state)s,
                                         .orphan = (flags & 1) != 0,
                                         .unread = (flags & 2) != 0,
                                         .stranger = (flags & 4) != 0};
            const bool wanted = s == SK_ARTIFACT_USER    ? flags >= 4
                                : s == SK_ARTIFACT_FRESH ? flags != 0
                                                         : true;
            assert_int_equal(sk_artifacts_useless(&row), wanted);
        }
}

int main(void)
{
    char cache[1100];
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", cache, 1);
    toy = sk_engine_reference;
    toy.name = "toy";
    toy.probe = toy_probe;
    toy.form = &form;
    const struct CMUnitTest tests[] = {cmocka_unit_test(made), cmocka_unit_test(refused),
                                       cmocka_unit_test(strangers), cmocka_unit_test(records),
                                       cmocka_unit_test(of_no_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
