/* SPDX-License-Identifier: Apache-2.0 */
/* Where the setting is looked for and written, what is said of it to the letter, and that neither it nor a run leaves anything in the
 * process, with and without memory. */
#include "support/fault.h"

#include "base/file.h"
#include "runtime/run_lock.h"
#include "runtime/settings.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No power fails here, and waiting for disks is most of what takes time. */
int fsync(int file)
{
    (void)file;
    return 0;
}

static char root[400], config[500], cache[500], work[500];
static const sk_runtime_facts plain = {0};

static int set_up(void **state)
{
    static int number;
    sk_error err;
    (void)state;
    snprintf(root, sizeof root, "%.300s/case%d", test_folder(), number++);
    snprintf(config, sizeof config, "%s/config", root);
    snprintf(cache, sizeof cache, "%s/cache", root);
    snprintf(work, sizeof work, "%s/a/b", root);
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CONFIG_DIR", config, 1);
    setenv("SKITTER_CACHE_DIR", cache, 1);
    return sk_folder_make(config, &err) || sk_folder_make(cache, &err) || sk_folder_make(work, &err) ||
           chdir(work);
}

static const char *in(const char *folder, const char *name)
{
    static char paths[4][1200];
    static int turn;
    char *out = paths[turn++ % 4];
    snprintf(out, sizeof paths[0], "%s/%s", folder, name);
    return out;
}

static void put(const char *path, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void user_is(const char *want)
{
    sk_error err = {0};
    char *got = NULL;
    assert_ok(sk_runtime_setting_user_path(&got, &err), &err);
    assert_string_equal(got, want);
    sk_free(got);
}

static void project_is(const char *want)
{
    sk_error err = {0};
    char *got = NULL;
    assert_ok(sk_runtime_setting_project_path(&got, &err), &err);
    assert_string_equal(got, want);
    sk_free(got);
}

static void users_files(void **state)
{
    (void)state;
    user_is(in(config, "skitter.json"));
    put(in(config, "skitter.yml"), "");
    user_is(in(config, "skitter.yml"));
    put(in(config, "skitter.yaml"), "");
    user_is(in(config, "skitter.yaml"));
    put(in(config, "skitter.json"), "");
    user_is(in(config, "skitter.json"));
    assert_int_equal(unlink(in(config, "skitter.json")), 0);
    assert_int_equal(mkdir(in(config, "skitter.json"), 0777), 0); /* a folder is no file */
    user_is(in(config, "skitter.yaml"));
}

static void projects_files(void **state)
{
    (void)state;
    project_is("skitter.yaml"); /* here, where there is none yet */
    put(in(root, "skitter.json"), "{}");
    project_is(in(root, "skitter.json")); /* two above */
    put(in(root, "skitter.yml"), "");
    project_is(in(root, "skitter.yml"));
    put(in(root, "skitter.yaml"), "");
    project_is(in(root, "skitter.yaml"));
    put(in(root, "a/skitter.json"), "{}");
    project_is(in(root, "a/skitter.json")); /* the nearest */
    assert_int_equal(mkdir(in(work, "skitter.yaml"), 0777), 0);
    project_is(in(root, "a/skitter.json"));
    put(in(work, "skitter.json"), "{}");
    project_is(in(work, "skitter.json"));
    assert_int_equal(chdir("/"), 0); /* the end of the way */
    if (!sk_file_exists("/skitter.yaml") && !sk_file_exists("/skitter.yml") &&
        !sk_file_exists("/skitter.json"))
        project_is("skitter.yaml");
    const char *gone = in(root, "gone");
    assert_int_equal(mkdir(gone, 0777), 0);
    assert_int_equal(chdir(gone), 0);
    assert_int_equal(rmdir(gone), 0);
    project_is("skitter.yaml"); /* a folder that is no more has no parents */
    assert_int_equal(chdir(root), 0);
}

static sk_runtime_settings read_all(const char *command)
{
    sk_runtime_settings s;
    sk_error err = {0};
    assert_ok(sk_runtime_settings_read(command, &s, &err), &err);
    return s;
}

/* Each level alone, by itself and with the place it is from. */
static void every_level_alone(void **state)
{
    (void)state;
    for (int level = 0; level < SK_SETTING_LEVELS; level++) {
        set_up(NULL);
        const char *where = "", *value = "rocm";
        switch (level) {
        case SK_SETTING_USER: put(where = in(config, "skitter.yml"), "compute_runtime: rocm\n"); break;
        case SK_SETTING_PROJECT: put(where = in(root, "skitter.yml"), "compute_runtime: rocm\n"); break;
        case SK_SETTING_ENVIRONMENT:
            setenv("SKITTER_COMPUTE_RUNTIME", "rocm", 1);
            where = "SKITTER_COMPUTE_RUNTIME";
            break;
        case SK_SETTING_COMMAND: where = "--runtime"; break;
        default: value = "cpu";
        }
        const sk_runtime_settings s = read_all(level == SK_SETTING_COMMAND ? "rocm" : NULL);
        assert_int_equal(s.effective, level);
        assert_null(s.remedy);
        for (int i = 0; i < SK_SETTING_LEVELS; i++) {
            assert_int_equal(s.level[i].given, i == level || i == SK_SETTING_DEFAULT);
            assert_string_equal(s.level[i].value, i == level ? value : i == SK_SETTING_DEFAULT ? "cpu" : "");
            assert_string_equal(s.level[i].where, i == level ? where : "");
        }
    }
    unsetenv("SKITTER_COMPUTE_RUNTIME");
}

/* Who works in the folder of their settings has one file, and it is the project's. */
static void one_file_is_not_two(void **state)
{
    (void)state;
    put(in(config, "skitter.json"), "{\"compute_runtime\": \"mps\"}");
    assert_int_equal(chdir(config), 0);
    sk_runtime_settings s = read_all(NULL);
    assert_int_equal(s.effective, SK_SETTING_PROJECT);
    assert_false(s.level[SK_SETTING_USER].given);
    assert_int_equal(chdir(work), 0);
    s = read_all(NULL);
    assert_int_equal(s.effective, SK_SETTING_USER);
    assert_false(s.level[SK_SETTING_PROJECT].given);
}

static sk_status choose(const char *command, bool fallback, sk_runtime_choice *out, sk_error *err)
{
    sk_runtime_gate gate;
    sk_runtime_settings s;
    SK_TRY(sk_runtime_settings_read(command, &s, err));
    sk_runtime_gate_make(0, &plain, &gate);
    return sk_runtime_choose(&s, &gate, &plain, fallback, out, err);
}

static void resets_to_the_letter(void **state)
{
    (void)state;
    sk_runtime_choice c;
    sk_error err = {0};
    sk_run_lock *run = NULL;
    char want[1600];
    const char *file = in(config, "skitter.json");
    put(file, "{\"compute_runtime\": \"mps\"}");
    assert_ok(sk_run_lock_open("night", &run, &err), &err);
    assert_ok(choose(NULL, false, &c, &err), &err);
    snprintf(
        want, sizeof want,
        "the compute runtime 'mps' was reset to 'cpu': Apple Metal is not available; it is still in %.100s: "
        "the compute runtime cannot be changed while a run is on: 'night', process %ld on ",
        file, (long)getpid());
    assert_true(strncmp(c.notice, want, strlen(want)) == 0);
    assert_null(strchr(c.notice, '\n'));
    sk_run_lock_close(&run);
    assert_ok(choose(NULL, false, &c, &err), &err);
    snprintf(want, sizeof want,
             "the compute runtime 'mps' was reset to 'cpu': Apple Metal is not available; %.200s says so now",
             file);
    assert_string_equal(c.notice, want);
    assert_true(c.level == SK_SETTING_USER && c.runtime == SK_RUNTIME_CPU && !c.fell_back);
    assert_string_equal(c.requested, "mps");
    assert_string_equal(c.where, file);
    put(file = in(root, "skitter.yaml"), "compute_runtime: rocm\n");
    assert_ok(choose(NULL, true, &c, &err), &err);
    snprintf(want, sizeof want,
             "the compute runtime 'rocm' was reset to 'cpu': no usable ROCm device; %.100s is left as it is "
             "('skitter config set compute_runtime cpu --project' changes it)",
             file);
    assert_string_equal(c.notice, want);
    assert_int_equal(choose("rocm", false, &c, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "the compute runtime 'rocm' (--runtime) cannot be used here: no usable ROCm "
                        "device\n'skitter doctor' says what would help; --allow-fallback takes the "
                        "next one that works");
    assert_ok(choose("rocm", true, &c, &err), &err);
    assert_string_equal(
        c.notice, "the compute runtime 'rocm' cannot be used (no usable ROCm device); 'cpu' runs instead");
    assert_true(c.fell_back && c.level == SK_SETTING_COMMAND);
    assert_int_equal(choose("warp", true, &c, &err), SK_ERR_ARG);
    assert_string_equal(err.message,
                        "--runtime: no compute runtime is called 'warp'\nthere are cpu, mps, cuda, rocm, "
                        "onnx_cpu, onnx_cuda, onnx_rocm, tensorrt, openvino, and reference");
}

/* The order in which another takes a runtime's place, for every set of those that work. */
static void who_comes_next(void **state)
{
    (void)state;
    static const sk_runtime order[] = {SK_RUNTIME_TENSORRT, SK_RUNTIME_CUDA,      SK_RUNTIME_ROCM,
                                       SK_RUNTIME_MPS,      SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ONNX_ROCM,
                                       SK_RUNTIME_CPU};
    for (unsigned set = 0; set < 1u << SK_RUNTIME_COUNT; set++)
        for (int wanted = 1; wanted < SK_RUNTIME_COUNT; wanted++) {
            sk_runtime_gate gate = {0};
            sk_runtime_settings s = {.effective = SK_SETTING_COMMAND};
            sk_runtime_choice c;
            sk_error err = {0};
            sk_runtime next = SK_RUNTIME_CPU;
            bool reached = false;
            if (set >> wanted & 1)
                continue;
            for (int i = 0; i < SK_RUNTIME_COUNT; i++)
                gate.is_allowed[i] = i == SK_RUNTIME_CPU || set >> i & 1;
            for (int i = 6; i >= 0 && !reached; i--) {
                reached = (int)order[i] == wanted;
                if (!reached && gate.is_allowed[order[i]])
                    next = order[i];
            }
            snprintf(s.level[SK_SETTING_COMMAND].value, 64, "%s", sk_runtime_name((sk_runtime)wanted));
            assert_ok(sk_runtime_choose(&s, &gate, &plain, true, &c, &err), &err);
            if (c.runtime != (reached ? next : SK_RUNTIME_CPU))
                fail_msg("%s of %x: %s", sk_runtime_name((sk_runtime)wanted), set,
                         sk_runtime_name(c.runtime));
        }
}

/* --- runs --- */

static void runs_to_the_letter(void **state)
{
    (void)state;
    static const struct {
        const char *name, *said; /* null: the command */
    } cases[] = {{"results", "results"},
                 {"", NULL},
                 {"a\x1f"
                  "b\tc d\x7f\xc3\xa4\n",
                  "a b c d\x7f\xc3\xa4 "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_run_lock *run = NULL;
        sk_lock *right = NULL;
        sk_run_info info;
        sk_error err = {0};
        int32_t count = 0;
        char want[1000];
        assert_ok(sk_run_lock_open(cases[i].name, &run, &err), &err);
        assert_ok(sk_run_list(&info, 1, &count, &err), &err);
        assert_int_equal(count, 1);
        assert_string_equal(info.name, cases[i].said ? cases[i].said : "");
        assert_true(info.holder.command[0] && info.holder.host[0]);
        assert_int_equal(sk_run_change_begin(&right, &err), SK_ERR_BUSY);
        assert_null(right);
        const long pid = (long)getpid();
        snprintf(want, sizeof want,
                 "the compute runtime cannot be changed while a run is on: '%s', process %ld on %s\n"
                 "wait for it, or stop it: kill %ld (the same command continues it later)",
                 cases[i].said ? cases[i].said : info.holder.command, pid, info.holder.host, pid);
        assert_string_equal(err.message, want);
        sk_run_lock_close(&run);
        sk_run_lock_close(&run);
        assert_ok(sk_run_list(&info, 1, &count, &err), &err);
        assert_int_equal(count, 0);
    }
}

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static sk_status read_them(void *context, sk_error *err)
{
    sk_runtime_settings s;
    return sk_runtime_settings_read(context, &s, err);
}

static sk_status write_them(void *context, sk_error *err)
{
    (void)context;
    SK_TRY(sk_runtime_setting_save(NULL, SK_RUNTIME_ROCM, err));
    return sk_runtime_setting_save("skitter.yaml", SK_RUNTIME_CPU, err);
}

static sk_status reset_them(void *context, sk_error *err)
{
    (void)context;
    sk_runtime_choice c;
    SK_TRY(sk_file_replace("../skitter.yml", "other: 1\n", 9, err));
    return choose(NULL, false, &c, err);
}

static sk_status run_twice(void *context, sk_error *err)
{
    (void)context;
    sk_run_lock *one = NULL, *two = NULL;
    sk_run_info rows[2];
    sk_lock *right = NULL;
    int32_t count = 0;
    sk_status status;
    SK_TRY_GOTO(sk_run_lock_open("one", &one, err));
    SK_TRY_GOTO(sk_run_lock_open("two", &two, err));
    SK_TRY_GOTO(sk_run_list(rows, 2, &count, err));
    sk_run_lock_close(&two);
    sk_run_lock_close(&one);
    SK_TRY_GOTO(sk_run_change_begin(&right, err));
done:
    sk_run_lock_close(&two);
    sk_run_lock_close(&one);
    sk_lock_close(&right);
    return status;
}

static void nothing_is_left(void **state)
{
    (void)state;
    static const test_fault_fn ways[] = {read_them, write_them, reset_them, run_twice};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        set_up(NULL);
        put(in(config, "skitter.json"), "{\"compute_runtime\": \"mps\", \"more\": [1, {\"a\": null}]}");
        put(in(work, "skitter.yaml"), "other: 1\n");
        sk_error err = {0};
        assert_ok(ways[i](NULL, &err), &err);
        const int before = open_files();
        test_leaves_nothing(ways[i], NULL);
        assert_int_equal(open_files(), before);
        assert_true(test_every_allocation(ways[i], NULL) > 3);
        assert_int_equal(open_files(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(users_files, set_up),
        cmocka_unit_test_setup(projects_files, set_up),
        cmocka_unit_test_setup(every_level_alone, set_up),
        cmocka_unit_test_setup(one_file_is_not_two, set_up),
        cmocka_unit_test_setup(resets_to_the_letter, set_up),
        cmocka_unit_test_setup(who_comes_next, set_up),
        cmocka_unit_test_setup(runs_to_the_letter, set_up),
        cmocka_unit_test_setup(nothing_is_left, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
