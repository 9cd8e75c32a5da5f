/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when making an artifact goes wrong. The maker is a stand-in; the processes, locks and full disks are real. */
#include "artifact_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

static int end_of(pid_t child)
{
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended;
}

static void a_killed_export_leaves_nothing(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {.die = true};
        sk_artifact a;
        _exit(obtain_with(&w, &s, &a, NULL) == SK_OK ? 0 : 1);
    }
    assert_true(WIFSIGNALED(end_of(child)));
    assert_false(sk_file_exists(artifact));
    /* what a process killed while writing leaves */
    char left[700];
    path_in(left, sizeof left, ".model.onnx.0123abcd");
    put(left, "half a file");
    path_in(left, sizeof left, ".model.onnx.skitter.json.0123abcd");
    put(left, "half a sidecar");
    assert_int_equal(obtain(&w, artifact), 1);
    assert_tidy();
    put(left, "half a sidecar"); /* killed while making it anew */
    path_in(left, sizeof left, ".model.onnx.skitter.lock");
    put(left, "");
    sk_artifact_sweep(artifact);
    assert_tidy();
}

/* Killed between the two renames: the sidecar is about a file that never came. */
static void killed_between_sidecar_and_file(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    char *before = NULL;
    size_t bytes = 0;
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_file_read(artifact, BYTES, &before, &bytes, &err), &err);
    put(model, "other weights");
    w = wish_for(model);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_file_replace(artifact, before, bytes, &err),
              &err); /* as if the second rename had not happened */
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_int_equal(strlen(r.replaces), 64);
    assert_int_equal(obtain(&w, artifact), 1);
    assert_int_equal(obtain(&w, artifact), 0);
    /* and without a file before it */
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(obtain(&w, artifact), 1);
    sk_free(before);
    assert_tidy();
}

static void two_processes_make_it_once(void **state)
{
    (void)state;
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    sk_artifact_wish w = wish_for(model);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            script s = {.seconds_ms = 300};
            sk_artifact a;
            sk_status status = obtain_with(&w, &s, &a, NULL);
            _exit(status != SK_OK || sk_blob_bytes(a.bytes) != BYTES ? 1 : a.made == s.waited ? 2 : 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int ended = end_of(children[i]);
        assert_true(WIFEXITED(ended));
        assert_int_not_equal(WEXITSTATUS(ended), 1);
    }
    assert_int_equal(makes(), 1);
    assert_tidy();
}

/* The one that waits takes over from a maker that dies. */
static void a_dead_maker_is_succeeded(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {.seconds_ms = 60000};
        sk_artifact a;
        _exit(obtain_with(&w, &s, &a, NULL) == SK_OK ? 0 : 1);
    }
    for (int i = 0; i < 500 && makes() == 0; i++)
        sk_clock_sleep_ns(10000000);
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer == 0) {
        sk_clock_sleep_ns(200000000);
        _exit(kill(child, SIGKILL));
    }
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_true(s.waited);
    sk_artifact_release(&a);
    assert_true(WIFSIGNALED(end_of(child)));
    assert_int_equal(end_of(killer), 0);
    assert_tidy();
}

/* A limit on the size of files is what a full disk looks like to write(). */
static void a_full_disk_leaves_nothing_half(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    for (int round = 0; round < 2; round++) { /* without and with an older artifact */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit small = {BYTES / 2, BYTES / 2};
            script s = {0};
            sk_artifact a;
            sk_error err = {0};
            signal(SIGXFSZ, SIG_IGN);
            int bad = setrlimit(RLIMIT_FSIZE, &small);
            sk_status status = obtain_with(&w, &s, &a, &err);
            /* the run goes on, in memory, and says so */
            bad = bad || status != SK_OK || a.path[0] || !a.made || sk_blob_bytes(a.bytes) != BYTES ||
                  !strstr(a.notice, "in memory") || !strstr(a.notice, "model.onnx") || s.checks != 1;
            sk_artifact_release(&a);
            w.must_keep = true; /* who asked for the file gets the error */
            bad = bad || obtain_with(&w, &s, &a, &err) != SK_ERR_IO;
            _exit(bad);
        }
        assert_int_equal(end_of(child), 0);
        assert_tidy();
        sk_artifact_record r;
        sk_artifact_state found;
        char why[SK_ARTIFACT_WHY];
        sk_error err = {0};
        assert_ok(sk_artifact_inspect(artifact, &w.key, &r, &found, why, NULL, &err), &err);
        assert_int_equal(found, round == 0 ? SK_ARTIFACT_ABSENT : SK_ARTIFACT_STALE);
        assert_int_equal(obtain(&w, artifact), 1); /* there is room again */
        w.key.batch = 4;
    }
}

/* Of a model that is a folder the artifact's own folder goes again, and stays where it was before. */
static void a_full_disk_leaves_no_folder(void **state)
{
    (void)state;
    char sleap[600], its[700];
    path_in(sleap, sizeof sleap, "sleap");
    path_in(its, sizeof its, "sleap.onnx");
    assert_int_equal(mkdir(sleap, 0777), 0);
    sk_artifact_wish w = wish_for(sleap);
    for (int before = 0; before < 2; before++) {
        if (before)
            assert_int_equal(mkdir(its, 0777), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit small = {BYTES / 2, BYTES / 2};
            script s = {0};
            sk_artifact a;
            signal(SIGXFSZ, SIG_IGN);
            int bad = setrlimit(RLIMIT_FSIZE, &small) || obtain_with(&w, &s, &a, NULL) != SK_OK;
            sk_artifact_release(&a);
            _exit(bad);
        }
        assert_int_equal(end_of(child), 0);
        assert_int_equal(sk_file_exists(its), before);
        assert_tidy();
    }
}

static void a_read_only_folder_falls_to_the_cache(void **state)
{
    (void)state;
    char shut[600], inside[700], cache[600];
    path_in(shut, sizeof shut, "shut");
    path_in(cache, sizeof cache, "theirs");
    assert_int_equal(mkdir(shut, 0777), 0);
    assert_int_equal(mkdir(cache, 0777), 0);
    assert_int_equal(chmod(cache, 0777), 0);
    snprintf(inside, sizeof inside, "%s/model.pt", shut);
    put(inside, "weights");
    assert_int_equal(chmod(shut, 0555), 0);
    assert_int_equal(chmod(test_folder(), 0755), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script s = {0};
        sk_artifact a;
        sk_error err = {0};
        /* permissions do not bind root */
        int bad = getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0);
        setenv("SKITTER_CACHE_DIR", cache, 1);
        sk_artifact_wish w = wish_for(inside);
        sk_status status = obtain_with(&w, &s, &a, &err);
        bad = bad || status != SK_OK || !a.made || strncmp(a.path, cache, strlen(cache)) != 0 ||
              !strstr(a.notice, "could not be kept beside the model") ||
              !strstr(a.notice, "Permission denied");
        sk_artifact_release(&a);
        status = obtain_with(&w, &s, &a, &err); /* and is found there again */
        bad = bad || status != SK_OK || a.made || strncmp(a.path, cache, strlen(cache)) != 0;
        _exit(bad);
    }
    assert_int_equal(end_of(child), 0);
    assert_int_equal(chmod(shut, 0755), 0);
}

static void nowhere_to_write_at_all(void **state)
{
    (void)state;
    char nowhere[700];
    snprintf(nowhere, sizeof nowhere, "%s/model.pt", model); /* below a file */
    assert_int_equal(setenv("SKITTER_CACHE_DIR", "/dev/null/x", 1), 0);
    sk_artifact_wish w = wish_for(model);
    w.model = nowhere;
    script s = {0};
    sk_artifact a;
    sk_error err = {0};
    assert_ok(obtain_with(&w, &s, &a, &err), &err);
    assert_true(a.made);
    assert_string_equal(a.path, "");
    assert_non_null(strstr(a.notice, "in memory"));
    sk_artifact_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_killed_export_leaves_nothing, set_up),
        cmocka_unit_test_setup(killed_between_sidecar_and_file, set_up),
        cmocka_unit_test_setup(two_processes_make_it_once, set_up),
        cmocka_unit_test_setup(a_dead_maker_is_succeeded, set_up),
        cmocka_unit_test_setup(a_full_disk_leaves_nothing_half, set_up),
        cmocka_unit_test_setup(a_full_disk_leaves_no_folder, set_up),
        cmocka_unit_test_setup(a_read_only_folder_falls_to_the_cache, set_up),
        cmocka_unit_test_setup(nowhere_to_write_at_all, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
