/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes that are not here, and what is said of them: by a provider's name, by settings of a project and of a person, by the
 * environment. "mps" stands for one that this machine never has. */
#include "support/test.h"

#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static char config[4300];

static void providers_say_it_too(void **state)
{
    (void)state;
    static const struct {
        const char *runtime, *provider;
        bool parameters;
        const char *where;
    } rows[] = {{NULL, "CUDAExecutionProvider", false, "--execution-provider CUDAExecutionProvider"},
                {NULL, "CUDAExecutionProvider", true, "execution_provider CUDAExecutionProvider"},
                {"onnx", "CUDAExecutionProvider", false, "--execution-provider CUDAExecutionProvider"},
                {"onnx_cuda", "CUDAExecutionProvider", false, "--runtime"},
                {"onnx_cuda", "CUDAExecutionProvider", true, "compute_runtime"},
                {"onnx_cuda", "", false, "--runtime"},
                {"onnx_cuda", NULL, true, "compute_runtime"}};
    (void)unsetenv("SKITTER_COMPUTE_RUNTIME");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_runtimes_wish wish = {
            .runtime = rows[i].runtime, .provider = rows[i].provider, .parameters = rows[i].parameters};
        sk_runtime_choice choice = {0};
        char engine[32] = "", words[128];
        snprintf(words, sizeof words, "'onnx_cuda' (%s) cannot be used here", rows[i].where);
        const sk_status status = sk_runtimes_choose(NULL, 0, &wish, &choice, engine, &err);
        if (status == SK_OK) { /* a machine that has it */
            assert_string_equal(engine, "onnx_cuda");
            assert_string_equal(choice.where, rows[i].where);
            continue;
        }
        if (!strstr(err.message, words))
            fail_msg("row %zu: %s", i, err.message);
        assert_true((strstr(err.message, "compute_runtime:=cpu works everywhere") != NULL) ==
                    rows[i].parameters);
        wish.allow_fallback = true;
        assert_ok(sk_runtimes_choose(NULL, 0, &wish, &choice, engine, &err), &err);
        assert_true(choice.fell_back && choice.notice[0] && strcmp(engine, "onnx_cuda") != 0);
        assert_string_equal(engine, sk_runtime_name(choice.runtime));
    }
    const sk_runtimes_wish plain = {.runtime = "cpu", .provider = "CUDAExecutionProvider"};
    sk_runtime_choice choice = {0};
    char engine[32] = "";
    assert_ok(sk_runtimes_choose(NULL, 0, &plain, &choice, engine, &err), &err);
    assert_string_equal(engine, "cpu");
    assert_string_equal(choice.where, "--runtime");
    assert_false(choice.fell_back);
}

static void what_others_are_checked_against(void **state)
{
    (void)state;
    sk_runtimes_wish wish = {0};
    sk_runtime_choice choice = {0};
    char engine[32] = "";
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "reference", 1), 0);
    assert_ok(sk_runtimes_choose(NULL, 0, &wish, &choice, engine, &err), &err);
    assert_string_equal(engine, "reference");
    assert_string_equal(choice.requested, "reference");
    assert_string_equal(choice.where, "SKITTER_COMPUTE_RUNTIME");
    assert_true(choice.level == SK_SETTING_ENVIRONMENT && choice.runtime == SK_RUNTIME_CPU &&
                !choice.notice[0]);
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "nonsense", 1), 0);
    assert_int_equal(sk_runtimes_choose(NULL, 0, &wish, &choice, engine, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'nonsense'"));
    sk_runtime runtime;
    char *json = NULL;
    assert_int_equal(sk_runtimes_export(NULL, &runtime, &json, &err), SK_ERR_ARG);
    assert_non_null(strstr(
        err.message, "SKITTER_COMPUTE_RUNTIME: no compute runtime is called 'nonsense'\nthere are cpu, "));
    assert_null(json);
    (void)unsetenv("SKITTER_COMPUTE_RUNTIME");
}

static void settings_of_a_project(void **state)
{
    (void)state;
    sk_runtime runtime = SK_RUNTIME_CUDA;
    char path[512] = "", user[512] = "";
    static sk_runtimes_settings s;
    assert_ok(sk_runtimes_set("cpu", true, &runtime, path, &err), &err);
    assert_string_equal(sk_path_name(path), "skitter.yaml");
    assert_true(runtime == SK_RUNTIME_CPU && sk_file_exists("skitter.yaml"));
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_true(s.read.effective == SK_SETTING_PROJECT && s.read.level[SK_SETTING_PROJECT].given &&
                !s.read.level[SK_SETTING_USER].given);
    assert_true(s.standing[SK_SETTING_PROJECT].usable && s.standing[SK_SETTING_DEFAULT].usable);
    assert_string_equal(s.runs, "cpu");
    assert_int_equal(sk_runtimes_set("mps", true, &runtime, user, &err), SK_ERR_UNSUPPORTED);
    const char *begins = "the compute runtime 'mps' cannot be used here: ",
               *ends = "\n'skitter doctor' says what would help";
    assert_int_equal(strncmp(err.message, begins, strlen(begins)), 0);
    assert_string_equal(err.message + strlen(err.message) - strlen(ends), ends);
    assert_true(strlen(err.message) > strlen(begins) + strlen(ends));
    /* whoever wrote one that is not here is told, and the processor runs */
    assert_ok(sk_file_replace("skitter.yaml", "compute_runtime: mps\n", 21, &err), &err);
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_true(!s.standing[SK_SETTING_PROJECT].usable && s.standing[SK_SETTING_PROJECT].because[0]);
    assert_true(s.runs[0] != '\0' && strcmp(s.runs, "mps") != 0);
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "mps", 1), 0); /* said now, it is not replaced */
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_string_equal(s.runs, "");
    assert_string_equal(s.standing[SK_SETTING_ENVIRONMENT].because, s.standing[SK_SETTING_PROJECT].because);
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "cpu", 1), 0);
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_string_equal(s.runs, "cpu");
    assert_true(!s.standing[SK_SETTING_PROJECT].usable && s.standing[SK_SETTING_ENVIRONMENT].usable);
    (void)unsetenv("SKITTER_COMPUTE_RUNTIME");
    assert_ok(sk_file_replace("skitter.yaml", "compute_runtime: reference\n", 27, &err), &err);
    assert_ok(sk_runtimes_settings_look(&s, &err), &err); /* not for files */
    assert_false(s.standing[SK_SETTING_PROJECT].usable);
    assert_string_equal(s.standing[SK_SETTING_PROJECT].because, "no compute runtime is called 'reference'");
    static sk_runtimes_imported in;
    char *json = NULL;
    assert_int_equal(unlink("skitter.yaml"), 0);
    assert_ok(sk_runtimes_export("mine.json", &runtime, &json, &err), &err);
    sk_free(json);
    assert_ok(sk_runtimes_import("mine.json", true, &in, &err), &err);
    assert_string_equal(sk_path_name(in.path), "skitter.yaml");
    assert_true(in.saved == SK_RUNTIME_CPU && sk_file_exists("skitter.yaml") && in.notice[0] == '\0');
    assert_int_equal(unlink("skitter.yaml"), 0);
}

static void a_path_that_is_too_long(void **state)
{
    (void)state;
    char deep[800], path[512];
    sk_runtime runtime;
    size_t at = (size_t)snprintf(deep, sizeof deep, "%s", test_folder());
    while (at < 600)
        at += (size_t)snprintf(deep + at, sizeof deep - at, "/a_folder_with_a_long_name");
    assert_int_equal(setenv("SKITTER_CONFIG_DIR", deep, 1), 0);
    assert_int_equal(sk_runtimes_set("cpu", false, &runtime, path, &err), SK_ERR_LIMIT);
    const char *ends = "…: the path of the settings file is too long";
    assert_string_equal(err.message + strlen(err.message) - strlen(ends), ends);
    assert_int_equal(strlen(path), 511);
    assert_memory_equal(path, deep, 500);
    assert_int_equal(setenv("SKITTER_CONFIG_DIR", config, 1), 0);
    assert_ok(sk_runtimes_set("cpu", false, &runtime, path, &err), &err);
}

/* What a machine's device cannot do is taken from what the runtime can. */
static void precisions_of_a_machine(void **state)
{
    (void)state;
    static sk_runtimes_view v;
    const sk_capabilities all = *sk_engine_can("cpu");
    assert_true(all.precisions & 1u << SK_PRECISION_F32);
    assert_int_equal(sk_runtimes_can(&v, SK_RUNTIME_CPU).precisions, all.precisions);
    v.rows[SK_RUNTIME_CPU].precisions = 1u << SK_PRECISION_F32;
    const sk_capabilities some = sk_runtimes_can(&v, SK_RUNTIME_CPU);
    assert_true(some.precisions == 1u << SK_PRECISION_F32 && some.device == all.device &&
                some.same_bits == all.same_bits);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(config, sizeof config, "%s/config", test_folder());
    if (setenv("SKITTER_CONFIG_DIR", config, 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(providers_say_it_too),    cmocka_unit_test(what_others_are_checked_against),
        cmocka_unit_test(settings_of_a_project),   cmocka_unit_test(a_path_that_is_too_long),
        cmocka_unit_test(precisions_of_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
