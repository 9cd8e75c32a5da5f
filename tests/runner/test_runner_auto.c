/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/cpu.h"

#include <dlfcn.h>
#include <sched.h>

/* "auto" on a machine of four cores, whatever this one has: as many instances as find room, to the byte, and each of them opened. */

enum { CORES = 4 };

/* The program's own come before the library's. */
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    memset(set, 0, bytes);
    for (int i = 0; i < CORES; i++)
        CPU_SET_S(i, bytes, set);
    return 0;
}

typedef FILE *open_file(const char *, const char *);

static FILE *open_other(const char *symbol, const char *path, const char *mode)
{
    void *found = dlsym(RTLD_NEXT, symbol);
    open_file *really;
    memcpy(&really, &found, sizeof really);
    const bool hidden = strstr(path, "thread_siblings_list") || strstr(path, "/cgroup");
    return hidden ? NULL : really(path, mode); /* no two are of one core, and nobody has a quota */
}

FILE *fopen(const char *path, const char *mode)
{
    return open_other("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return open_other("fopen64", path, mode);
}

static void instances_fit_to_the_byte(void **state)
{
    (void)state;
    if (sk_cpu_usable_cores() != CORES) {
        print_message("skipped: the machine cannot be made to have other cores\n");
        skip();
    }
    sk_runner_settings s = tiny_settings();
    s.devices = "auto";
    s.quick_open = true;
    s.detector.threads = 0;
    sk_error err = {0};
    frames set = make_frames(6, 48, 40);
    int64_t each = 0;
    static const struct {
        int instances, less, opened;
    } rows[] = {{0, 0, 4}, {4, 0, 4}, {4, 1, 3}, {3, 0, 3}, {3, 1, 2}, {1, 0, 1}, {1, 1, 1}, {9, 0, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_runner_auto_memory = each * rows[i].instances - rows[i].less;
        sk_runner *r = open_runner(model, &s);
        static sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_int_equal(r->n_lanes, rows[i].opened);
        assert_int_equal(stats.n_devices, rows[i].opened);
        for (int32_t k = 0; k < r->n_lanes; k++) {
            assert_non_null(r->lanes[k].trace.session);
            assert_int_equal(r->lanes[k].trace.generation, 1);
            assert_int_equal(stats.devices[k].captures, 1);
            assert_int_equal(stats.devices[k].threads, CORES / rows[i].opened);
        }
        if (i == 0)
            each = r->lanes[0].activation_bytes; /* of one of four: with more threads it takes more */
        assert_true(each > 0);
        for (int k = 0; k < set.count; k++) {
            sk_runner_result result;
            assert_ok(sk_runner_run(r, &set.frames[k], NULL, &result, &err), &err);
        }
        sk_runner_close(&r);
    }
    /* those that were asked for by number are opened whatever room there is */
    sk_runner_auto_memory = 1;
    s.devices = "cpu*2";
    sk_runner *r = open_runner(model, &s);
    assert_int_equal(r->n_lanes, 2);
    sk_runner_close(&r);
    sk_runner_auto_memory = 0;
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instances_fit_to_the_byte)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
