/* SPDX-License-Identifier: Apache-2.0 */
/* Which runtime a command gets, by what is said where: the command line, the environment, the project's and the user's settings; and how
 * these are set, exported and imported. Of runtimes only the processor's counts here, and what others are checked against. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static char network[4300];

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static void work_of_models(void **state)
{
    (void)state;
    sk_model m = {.family = SK_FAMILY_SLEAP};
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_SLEAP_POSE);
    m = (sk_model){.family = SK_FAMILY_YOLO, .task = SK_TASK_OBB};
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_YOLO_OBB_DETECTION);
    m.task = SK_TASK_POSE;
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_YOLO_POSE);
    m.task = SK_TASK_DETECT;
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_YOLO_DETECTION);
    m.family = SK_FAMILY_CLASSIFY;
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_GENERIC);
    m.family = SK_FAMILY_GIVEN;
    assert_int_equal(sk_runtimes_work(&m), SK_WORK_GENERIC);
}

static void what_there_is_for_models(void **state)
{
    (void)state;
    static sk_runtimes_view v;
    const char *models[] = {network};
    assert_ok(sk_runtimes_look_for(models, 1, 0, &v, &err), &err);
    assert_int_equal(v.pipelines, 1u << SK_WORK_YOLO_POSE);
    assert_true(v.facts.graph_importable && v.gate.is_allowed[SK_RUNTIME_CPU]);
    assert_ok(sk_runtimes_look_for(models, 1, 1u << SK_WORK_SLEAP_POSE, &v, &err), &err);
    assert_int_equal(v.pipelines, 1u << SK_WORK_YOLO_POSE | 1u << SK_WORK_SLEAP_POSE);
    assert_ok(sk_runtimes_look_for(NULL, 0, 0, &v, &err), &err);
    assert_int_equal(v.pipelines, 0);
    models[0] = "nothing.pt";
    assert_int_equal(sk_runtimes_look_for(models, 1, 0, &v, &err), SK_ERR_NOT_FOUND);
    sk_runtimes_look(5, false, &v);
    assert_int_equal(v.pipelines, 5);
    assert_true(v.gate.is_allowed[SK_RUNTIME_CPU] && v.gate.because[SK_RUNTIME_CPU][0] == '\0');
}

static void chosen(const char *runtime, const char *provider, bool parameters, const char *engine,
                   const char *requested, const char *where)
{
    const char *models[] = {network};
    sk_runtime_choice choice = {0};
    char got[32] = "";
    const sk_runtimes_wish wish = {.runtime = runtime, .provider = provider, .parameters = parameters};
    assert_ok(sk_runtimes_choose(models, 1, &wish, &choice, got, &err), &err);
    assert_string_equal(got, engine);
    assert_string_equal(choice.requested, requested);
    assert_string_equal(choice.where, where);
}

static void who_says_what(void **state)
{
    (void)state;
    const char *models[] = {network};
    sk_runtime_choice choice;
    char engine[32];
    (void)unsetenv("SKITTER_COMPUTE_RUNTIME");
    chosen("cpu", NULL, false, "cpu", "cpu", "--runtime");
    chosen("cpu", "", true, "cpu", "cpu", "compute_runtime");
    chosen("reference", NULL, false, "reference", "reference", "--runtime");
    sk_runtimes_wish wish = {.runtime = "nonsense"};
    assert_int_equal(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "nonsense"));
    wish = (sk_runtimes_wish){.runtime = "nonsense", .parameters = true};
    assert_int_equal(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), SK_ERR_ARG);
    wish = (sk_runtimes_wish){.runtime = "cpu", .provider = "NonsenseExecutionProvider"};
    assert_int_not_equal(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), SK_OK);
    assert_non_null(strstr(err.message, "NonsenseExecutionProvider"));
}

static void settings_are_kept(void **state)
{
    (void)state;
    sk_runtime runtime = SK_RUNTIME_CUDA;
    static sk_runtimes_settings s;
    char path[512] = "", *json = NULL;
    assert_ok(sk_runtimes_set("cpu", false, &runtime, path, &err), &err);
    assert_int_equal(runtime, SK_RUNTIME_CPU);
    assert_true(sk_file_exists(path));
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_string_equal(s.runs, "cpu");
    for (int i = 0; i < SK_SETTING_LEVELS; i++)
        if (s.read.level[i].given)
            assert_true(s.standing[i].usable && s.standing[i].because[0] == '\0');
    assert_int_equal(sk_runtimes_set("nonsense", false, &runtime, path, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "no compute runtime is called 'nonsense'\nthere are "));
    assert_ok(sk_runtimes_export(NULL, &runtime, &json, &err), &err);
    assert_true(runtime == SK_RUNTIME_CPU && strstr(json, "cpu"));
    sk_free(json);
    assert_int_equal(sk_runtimes_export("x.txt", &runtime, &json, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "x.txt: settings are exported as JSON; give a name that ends in .json");
    assert_null(json);
    assert_ok(sk_runtimes_export("x.json", &runtime, &json, &err), &err);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("x.json", 1 << 20, &text, &length, &err), &err);
    assert_string_equal(text, json);
    sk_free(text);
    sk_free(json);
    assert_int_not_equal(sk_runtimes_export("nowhere/x.json", &runtime, &json, &err), SK_OK);
    assert_null(json);
    static sk_runtimes_imported in;
    assert_ok(sk_runtimes_import("x.json", false, &in, &err), &err); /* and back */
    assert_int_equal(in.saved, SK_RUNTIME_CPU);
    assert_string_equal(in.path, path);
    assert_int_equal(sk_runtimes_import("nothing.json", false, &in, &err), SK_ERR_NOT_FOUND);
    /* the environment counts before the file; a word that is none is told, and nothing runs */
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "nonsense", 1), 0);
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_true(s.read.level[SK_SETTING_ENVIRONMENT].given && !s.standing[SK_SETTING_ENVIRONMENT].usable);
    assert_string_equal(s.standing[SK_SETTING_ENVIRONMENT].because,
                        "no compute runtime is called 'nonsense'");
    assert_string_equal(s.runs, "");
    assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "reference", 1), 0);
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_true(s.standing[SK_SETTING_ENVIRONMENT].usable);
    assert_string_equal(s.runs, "reference");
    (void)unsetenv("SKITTER_COMPUTE_RUNTIME");
}

static void a_run_holds_it(void **state)
{
    (void)state;
    sk_run_lock *lock = NULL;
    char notice[SK_RUNTIMES_NOTICE] = "before";
    assert_ok(sk_runtimes_hold("a test", &lock, notice, &err), &err);
    assert_non_null(lock);
    assert_string_equal(notice, "");
    sk_run_lock_close(&lock);
    put("file", "x"); /* a folder that cannot be made: the run goes on, and says what that means */
    assert_int_equal(setenv("SKITTER_CACHE_DIR", "file/below", 1), 0);
    assert_ok(sk_runtimes_hold("a test", &lock, notice, &err), &err);
    assert_non_null(strstr(notice, "the compute runtime could be changed during this run: "));
    sk_run_lock_close(&lock);
}

int main(void)
{
    char config[4300];
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(config, sizeof config, "%s/config", test_folder());
    if (setenv("SKITTER_CONFIG_DIR", config, 1) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "chosen.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_models), cmocka_unit_test(what_there_is_for_models),
        cmocka_unit_test(who_says_what),  cmocka_unit_test(settings_are_kept),
        cmocka_unit_test(a_run_holds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
