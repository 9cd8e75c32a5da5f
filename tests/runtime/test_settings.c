/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a say in the runtime, how it is written, and that it stays as it is while a run is on. */
#include "support/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "runtime/run_lock.h"
#include "runtime/setting_file.h"
#include "runtime/settings.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char config[512], cache[512], project[512], below[600];

static void put(const char *folder, const char *name, const char *text)
{
    sk_error err = {0};
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

/* The text of a file, up to the next call. */
static const char *get(const char *folder, const char *name)
{
    static char kept[4096];
    sk_error err = {0};
    size_t bytes = 0;
    char path[1200], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_file_read(path, sizeof kept - 1, &text, &bytes, &err), &err);
    memcpy(kept, text, bytes + 1);
    sk_free(text);
    return kept;
}

static void drop(const char *folder, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static int clean(void **state)
{
    (void)state;
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    drop(config, "skitter.json");
    drop(config, "skitter.yaml");
    drop(project, "skitter.json");
    drop(project, "skitter.yaml");
    return chdir(below);
}

static sk_runtime_settings read_all(const char *command)
{
    sk_runtime_settings s;
    sk_error err = {0};
    assert_ok(sk_runtime_settings_read(command, &s, &err), &err);
    return s;
}

static void expect(const char *command, sk_setting_level level, const char *value)
{
    sk_runtime_settings s = read_all(command);
    assert_int_equal(s.effective, level);
    assert_string_equal(s.level[level].value, value);
}

static void test_order(void **state)
{
    (void)state;
    expect(NULL, SK_SETTING_DEFAULT, "cpu");
    put(config, "skitter.json", "{\"compute_runtime\": \"onnx_cpu\"}");
    expect(NULL, SK_SETTING_USER, "onnx_cpu");
    put(project, "skitter.yaml", "# ours\ncompute_runtime: openvino\n");
    expect(NULL, SK_SETTING_PROJECT, "openvino"); /* from a folder below */
    setenv("SKITTER_COMPUTE_RUNTIME", "cuda", 1);
    expect(NULL, SK_SETTING_ENVIRONMENT, "cuda");
    expect("tensorrt", SK_SETTING_COMMAND, "tensorrt");
    sk_runtime_settings s = read_all("tensorrt"); /* every level is still told */
    for (int i = 0; i < SK_SETTING_LEVELS; i++)
        assert_true(s.level[i].given);
    assert_non_null(strstr(s.level[SK_SETTING_PROJECT].where, "skitter.yaml"));
    setenv("SKITTER_COMPUTE_RUNTIME", "", 1); /* empty is not set */
    expect(NULL, SK_SETTING_PROJECT, "openvino");
    put(project, "skitter.yaml", "other: 1\n"); /* a project that does not care */
    expect(NULL, SK_SETTING_USER, "onnx_cpu");
    drop(config, "skitter.json");
    put(config, "skitter.yaml", "compute_runtime: rocm\n");
    expect(NULL, SK_SETTING_USER, "rocm");
}

static void test_a_user_without_a_folder(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_lock *run = NULL;
    setenv("SKITTER_CONFIG_DIR", "/dev/null/x", 1);
    expect(NULL, SK_SETTING_DEFAULT, "cpu");
    assert_int_equal(sk_runtime_setting_save(NULL, SK_RUNTIME_CPU, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "SKITTER_CONFIG_DIR"));
    setenv("SKITTER_CONFIG_DIR", config, 1);
    setenv("SKITTER_CACHE_DIR", "/dev/null/x", 1);
    assert_int_equal(sk_run_lock_open("x", &run, &err), SK_ERR_IO);
    assert_null(run);
    setenv("SKITTER_CACHE_DIR", cache, 1);
}

static void test_bad_files_are_named(void **state)
{
    (void)state;
    sk_runtime_settings s;
    sk_error err = {0};
    put(config, "skitter.json", "{\"compute_runtime\": ");
    assert_int_equal(sk_runtime_settings_read(NULL, &s, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "skitter.json"));
    put(config, "skitter.json", "{\"compute_runtime\": 7}");
    assert_int_equal(sk_runtime_settings_read(NULL, &s, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "is no text"));
    put(config, "skitter.json", "[]");
    assert_int_equal(sk_runtime_settings_read(NULL, &s, &err), SK_ERR_FORMAT);
    put(config, "skitter.json", "  \n");
    expect(NULL, SK_SETTING_DEFAULT, "cpu");
}

static void test_save_keeps_the_rest(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err), &err); /* no file yet */
    expect(NULL, SK_SETTING_USER, "onnx_cpu");
    put(config, "skitter.json",
        "{\"a\": [1, 2.5, null, true], \"compute_runtime\": \"cpu\", \"b\": {\"c\": \"ü\"}}");
    assert_ok(sk_runtime_setting_save(NULL, SK_RUNTIME_OPENVINO, &err), &err);
    expect(NULL, SK_SETTING_USER, "openvino");
    const char *text = get(config, "skitter.json");
    assert_non_null(strstr(text, "2.5"));
    assert_non_null(strstr(text, "\"c\": \"ü\""));
    assert_null(strstr(text, "\"cpu\""));
    drop(config, "skitter.json");
    put(config, "skitter.yaml", "# mine\nfirst: 1\ncompute_runtime: cpu # why\nlast: two\n");
    assert_ok(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err), &err);
    assert_string_equal(get(config, "skitter.yaml"),
                        "# mine\nfirst: 1\ncompute_runtime: onnx_cpu\nlast: two\n");
    put(config, "skitter.yaml", "first: 1"); /* no key, no line end */
    assert_ok(sk_runtime_setting_save(NULL, SK_RUNTIME_CPU, &err), &err);
    assert_string_equal(get(config, "skitter.yaml"), "first: 1\ncompute_runtime: cpu\n");
    put(config, "skitter.yaml", "{first: 1, compute_runtime: cpu}\n"); /* not a line of its own: left alone */
    assert_int_equal(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(get(config, "skitter.yaml"), "{first: 1, compute_runtime: cpu}\n");
    put(config, "skitter.yaml", "first: [1,\n"); /* damaged: not made worse */
    assert_int_equal(sk_runtime_setting_save(NULL, SK_RUNTIME_CPU, &err), SK_ERR_FORMAT);
    assert_string_equal(get(config, "skitter.yaml"), "first: [1,\n");
}

static sk_status choose(const char *command, const sk_runtime_facts *facts, bool fallback,
                        sk_runtime_choice *out, sk_error *err)
{
    sk_runtime_gate gate;
    sk_runtime_settings s = read_all(command);
    sk_runtime_gate_make(0, facts, &gate);
    return sk_runtime_choose(&s, &gate, facts, fallback, out, err);
}

static void test_saved_values_are_reset(void **state)
{
    (void)state;
    static const sk_runtime_facts plain = {0};
    sk_runtime_choice c;
    sk_error err = {0};
    put(config, "skitter.json", "{\"compute_runtime\": \"tensorrt\", \"keep\": 1}");
    assert_ok(choose(NULL, &plain, false, &c, &err), &err);
    assert_int_equal(c.runtime, SK_RUNTIME_CPU);
    assert_string_equal(c.requested, "tensorrt");
    assert_non_null(strstr(c.notice, "'tensorrt' was reset to 'cpu'"));
    assert_non_null(strstr(c.notice, "TensorRT cannot be loaded"));
    assert_non_null(strstr(get(config, "skitter.json"), "\"compute_runtime\": \"cpu\""));
    assert_non_null(strstr(get(config, "skitter.json"), "\"keep\": 1"));
    assert_ok(choose(NULL, &plain, false, &c, &err), &err); /* once is enough */
    assert_string_equal(c.notice, "");
    put(project, "skitter.yaml", "compute_runtime: warp\n");
    assert_ok(choose(NULL, &plain, false, &c, &err), &err);
    assert_non_null(strstr(c.notice, "'warp' was reset to 'cpu': no runtime has that name"));
    /* shared with other machines: overruled, not changed, and said again each time */
    assert_string_equal(get(project, "skitter.yaml"), "compute_runtime: warp\n");
    assert_non_null(strstr(c.notice, "skitter.yaml is left as it is"));
    assert_ok(choose(NULL, &plain, false, &c, &err), &err);
    assert_non_null(strstr(c.notice, "'warp' was reset to 'cpu'"));
}

static void test_spoken_values_are_obeyed_or_refused(void **state)
{
    (void)state;
    static const sk_runtime_facts plain = {0};
    static const sk_runtime_facts nvidia = {.cuda = true};
    sk_runtime_choice c;
    sk_error err = {0};
    assert_int_equal(choose("trt", &nvidia, false, &c, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.message, "'tensorrt' (--runtime) cannot be used here: TensorRT cannot be loaded"));
    assert_int_equal(choose("warp", &nvidia, true, &c, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "there are cpu, mps"));
    assert_ok(choose("trt", &nvidia, true, &c, &err), &err);
    assert_true(c.fell_back);
    assert_int_equal(c.runtime, SK_RUNTIME_CUDA);
    assert_non_null(strstr(c.notice, "'cuda' runs instead"));
    assert_ok(choose("trt", &plain, true, &c, &err), &err);
    assert_int_equal(c.runtime, SK_RUNTIME_CPU);
    /* on the processor our own engine is the fastest */
    static const sk_runtime_facts libraries = {.ort = true, .openvino = true};
    assert_ok(choose("trt", &libraries, true, &c, &err), &err);
    assert_int_equal(c.runtime, SK_RUNTIME_CPU);
    assert_ok(choose("CUDA:1", &nvidia, false, &c, &err), &err);
    assert_int_equal(c.runtime, SK_RUNTIME_CUDA);
    assert_false(c.fell_back);
    setenv("SKITTER_COMPUTE_RUNTIME", "mps", 1);
    assert_int_equal(choose(NULL, &plain, false, &c, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "(SKITTER_COMPUTE_RUNTIME)"));
}

/* A process that holds runs and then waits to be killed. */
static pid_t start_runs(int count)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        sk_run_lock *locks[4];
        sk_error err = {0};
        char ok = 'y';
        for (int i = 0; i < count; i++)
            if (sk_run_lock_open("results/flies", &locks[i], &err) != SK_OK)
                ok = 'n';
        if (write(ready[1], &ok, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    char ok = 0;
    close(ready[1]);
    assert_int_equal(read(ready[0], &ok, 1), 1);
    close(ready[0]);
    assert_int_equal(ok, 'y');
    return pid;
}

static int run_files(void)
{
    char folder[600];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/runs", cache);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += strstr(e->d_name, ".lock") != NULL;
    closedir(dir);
    return n;
}

static void test_locked_during_a_run_and_free_after_kill(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_info rows[1];
    int32_t count = 0;
    char pid_text[32];
    put(config, "skitter.json", "{\"compute_runtime\": \"cpu\"}");
    pid_t a = start_runs(2);
    snprintf(pid_text, sizeof pid_text, "kill %ld", (long)a);
    assert_int_equal(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err), SK_ERR_BUSY);
    assert_non_null(strstr(err.message, "'results/flies'"));
    assert_non_null(strstr(err.message, pid_text));
    assert_non_null(strstr(err.message, "(and 1 more)"));
    expect(NULL, SK_SETTING_USER, "cpu"); /* nothing was written */
    pid_t b = start_runs(1);              /* a run never hinders another */
    assert_ok(sk_run_list(rows, 1, &count, &err), &err);
    assert_int_equal(count, 3);
    assert_string_equal(rows[0].name, "results/flies");
    assert_true(rows[0].holder.pid == a || rows[0].holder.pid == b);
    assert_int_equal(kill(a, SIGKILL), 0);
    assert_int_equal(waitpid(a, NULL, 0), a);
    assert_int_equal(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err),
                     SK_ERR_BUSY); /* the other is on */
    assert_int_equal(kill(b, SIGKILL), 0);
    assert_int_equal(waitpid(b, NULL, 0), b);
    assert_ok(sk_runtime_setting_save(NULL, SK_RUNTIME_ONNX_CPU, &err), &err);
    expect(NULL, SK_SETTING_USER, "onnx_cpu");
    assert_int_equal(run_files(), 0); /* what the dead left is swept away */
}

static void test_lock_within_one_process(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_lock *first = NULL, *second = NULL;
    sk_lock *right = NULL;
    assert_ok(sk_run_lock_open("one\nline", &first, &err), &err);
    assert_ok(sk_run_lock_open("two", &second, &err), &err);
    assert_int_equal(sk_run_change_begin(&right, &err), SK_ERR_BUSY);
    assert_null(right);
    sk_run_lock_close(&first);
    assert_null(first);
    assert_int_equal(sk_run_change_begin(&right, &err), SK_ERR_BUSY);
    assert_non_null(strstr(err.message, "'two'"));
    sk_run_lock_close(&second);
    sk_run_lock_close(&second);
    assert_ok(sk_run_change_begin(&right, &err), &err);
    sk_lock_close(&right);
    assert_int_equal(run_files(), 0);
}

static void test_reset_waits_for_the_run(void **state)
{
    (void)state;
    static const sk_runtime_facts plain = {0};
    sk_error err = {0};
    sk_run_lock *run = NULL;
    sk_runtime_choice c;
    put(config, "skitter.json", "{\"compute_runtime\": \"mps\"}");
    assert_ok(sk_run_lock_open("other", &run, &err), &err);
    assert_ok(choose(NULL, &plain, false, &c, &err), &err);
    assert_int_equal(c.runtime, SK_RUNTIME_CPU);
    assert_non_null(strstr(c.notice, "it is still in"));
    expect(NULL, SK_SETTING_USER, "mps");
    sk_run_lock_close(&run);
}

int main(void)
{
    sk_error err;
    snprintf(config, sizeof config, "%s/config", test_folder());
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    snprintf(project, sizeof project, "%s/project", test_folder());
    snprintf(below, sizeof below, "%s/deep/er", project);
    if (sk_folder_make(config, &err) || sk_folder_make(cache, &err) || sk_folder_make(below, &err))
        return 1;
    setenv("SKITTER_CONFIG_DIR", config, 1);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order, clean),
        cmocka_unit_test_setup(test_a_user_without_a_folder, clean),
        cmocka_unit_test_setup(test_bad_files_are_named, clean),
        cmocka_unit_test_setup(test_save_keeps_the_rest, clean),
        cmocka_unit_test_setup(test_saved_values_are_reset, clean),
        cmocka_unit_test_setup(test_spoken_values_are_obeyed_or_refused, clean),
        cmocka_unit_test_setup(test_locked_during_a_run_and_free_after_kill, clean),
        cmocka_unit_test_setup(test_lock_within_one_process, clean),
        cmocka_unit_test_setup(test_reset_waits_for_the_run, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
