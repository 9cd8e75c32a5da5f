/* SPDX-License-Identifier: Apache-2.0 */
/* How long a probe is waited for, what of it is kept for the next start, and what makes that worthless. */
#include "support/fault.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "runtime/probe.h"

#include <fcntl.h>
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

static const char *own_words[8]; /* how this program is started */
static size_t n_own_words;

/* --- the child: the processor's engine answers as TEST_PROBE says --- */

static sk_status hang(sk_engine_probe *out, sk_error *err)
{
    (void)out, (void)err;
    while (pause() != 0) /* comes back with -1, if at all */
        ;
    return SK_OK;
}

static sk_status dawdle(sk_engine_probe *out, sk_error *err)
{
    sk_clock_sleep_ns(120000000);
    return sk_engine_reference.probe(out, err);
}

/* A library of its own, that this process is told of. */
static sk_status load(sk_engine_probe *out, sk_error *err)
{
    SK_TRY(sk_engine_reference.probe(out, err));
    snprintf(out->version, sizeof out->version, "4.5");
    snprintf(out->detail, sizeof out->detail, "%s", getenv("TEST_PROBE_LIBRARY"));
    out->n_devices = 2;
    snprintf(out->devices[0].name, sizeof out->devices[0].name, "one");
    snprintf(out->devices[1].name, sizeof out->devices[1].name, "two");
    out->devices[0].precisions = 5;
    out->devices[1].precisions = 2;
    return SK_OK;
}

static sk_status fail_with(sk_engine_probe *out, sk_error *err)
{
    SK_TRY(load(out, err));
    return sk_fail(err, SK_ERR_RUNTIME, "not today");
}

static const sk_engine *find(const char *name)
{
    static sk_engine engine;
    (void)name;
    const char *how = getenv("TEST_PROBE");
    engine = sk_engine_reference;
    engine.probe = strcmp(how, "hang") == 0     ? hang
                   : strcmp(how, "dawdle") == 0 ? dawdle
                   : strcmp(how, "load") == 0   ? load
                                                : fail_with;
    return &engine;
}

static void serve_probe(int fd)
{
    sk_probe_serve(fd, find);
}

/* --- tests --- */

static sk_probe_row probe(const char *how, const char *seconds, bool fresh)
{
    sk_probe_row row;
    memset(&row, 'x', sizeof row);
    setenv("TEST_PROBE", how, 1);
    if (seconds)
        setenv("SKITTER_PROBE_SECONDS", seconds, 1);
    else
        unsetenv("SKITTER_PROBE_SECONDS");
    sk_probe_one(SK_RUNTIME_CPU, fresh, &row);
    assert_int_equal(row.runtime, SK_RUNTIME_CPU);
    return row;
}

/* SKITTER_PROBE_SECONDS counts from a tenth of a second to an hour; what is no such number leaves the usual limit, which is
 * long enough for an engine that takes its time. */
static void limits(void **state)
{
    (void)state;
    static const char *const short_ones[] = {"0.1", "0.25 s"}, *const told[] = {"after 0.1 s", "after 0.2 s"};
    static const char *const none[] = {NULL, "0.09", "soon"};
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        const sk_probe_row row = probe("hang", short_ones[i], true);
        assert_false(row.available);
        if (!strstr(row.reason, told[i]))
            fail_msg("%s: %s", short_ones[i], row.reason);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const sk_probe_row row = probe("dawdle", none[i], true);
        if (!row.available)
            fail_msg("%s: %s", none[i] ? none[i] : "unset", row.reason);
    }
    unsetenv("SKITTER_PROBE_SECONDS");
}

static void write_library(char path[512], const char *text)
{
    sk_error err = {0};
    snprintf(path, 512, "%s/libkept.so", test_folder());
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void assert_same(const sk_probe_row *a, const sk_probe_row *b)
{
    assert_int_equal(a->available, b->available);
    assert_int_equal(a->precisions, b->precisions);
    assert_int_equal(a->n_devices, b->n_devices);
    for (int32_t i = 0; i < a->n_devices; i++)
        assert_string_equal(a->devices[i], b->devices[i]);
    assert_string_equal(a->library, b->library);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->remedy, b->remedy);
}

/* Good news of a library is asked once, and is the same when it is remembered; bad news is asked again. */
static void good_news_is_kept(void **state)
{
    (void)state;
    char library[512];
    write_library(library, "one");
    setenv("TEST_PROBE_LIBRARY", library, 1);
    sk_probe_row bad = probe("fail", NULL, false);
    assert_false(bad.available || bad.cached);
    assert_string_equal(bad.reason, "it is there, but its test run failed: not today");
    sk_probe_row first = probe("load", NULL, false);
    assert_true(first.available && !first.cached);
    assert_int_equal(first.precisions, 5);
    assert_string_equal(first.library, library);
    sk_probe_row again = probe("fail", NULL, false); /* nobody asks it */
    assert_true(again.cached);
    assert_same(&first, &again);
    again = probe("load", NULL, true); /* but for somebody who wants to know */
    assert_false(again.cached);
    assert_same(&first, &again);
    again = probe("fail", NULL, true);
    assert_false(again.available || again.cached);
    write_library(library, "another");
    again = probe("load", NULL, false);
    assert_true(again.available && !again.cached);
    /* an engine that names no library of its own is asked each time */
    setenv("TEST_PROBE_LIBRARY", "built in", 1);
    again = probe("load", NULL, true);
    assert_string_equal(again.library, "");
    assert_int_equal(unlink(library), 0);
    again = probe("load", NULL, false);
    assert_false(again.cached);
    again = probe("load", NULL, false);
    assert_false(again.cached);
}

static sk_probe_row some_row(const char *library)
{
    sk_probe_row row = {.runtime = SK_RUNTIME_OPENVINO, .available = true, .precisions = 0x80000001u};
    snprintf(row.library, sizeof row.library, "%.200s", library);
    snprintf(row.version, sizeof row.version, "2026.4");
    snprintf(row.reason, sizeof row.reason, "it \"ran\"");
    for (; row.n_devices < SK_ENGINE_MAX_DEVICES; row.n_devices++)
        snprintf(row.devices[row.n_devices], sizeof row.devices[0], "device %d", row.n_devices);
    return row;
}

/* What the search for libraries goes by is part of it, and so is the library's size and its time to the nanosecond. */
static void what_it_depends_on(void **state)
{
    (void)state;
    static const char *const variables[] = {"VIRTUAL_ENV",         "CONDA_PREFIX",      "SKITTER_RUNTIME_DIR",
                                            "SKITTER_ONNXRUNTIME", "SKITTER_OPENVINO",  "LD_LIBRARY_PATH",
                                            "SKITTER_TENSORRT",    "SKITTER_PLUGIN_DIR"};
    enum { N = sizeof variables / sizeof *variables };
    char library[512];
    sk_probe_row got;
    for (int i = 0; i < N; i++)
        unsetenv(variables[i]);
    write_library(library, "one");
    const sk_probe_row row = some_row(library);
    sk_probe_cache_write(&row);
    for (int i = 0; i < N; i++) {
        setenv(variables[i], "/a", 1);
        if (sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got))
            fail_msg("%s does not count", variables[i]);
        unsetenv(variables[i]);
        assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    }
    assert_same(&row, &got);
    /* one's folder is not the other's */
    setenv(variables[0], "/a", 1);
    sk_probe_cache_write(&row);
    unsetenv(variables[0]);
    setenv(variables[1], "/a", 1);
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    unsetenv(variables[1]);
    struct stat info;
    assert_int_equal(stat(library, &info), 0);
    struct timespec times[2] = {info.st_atim, info.st_mtim};
    times[1].tv_nsec = 5;
    assert_int_equal(utimensat(AT_FDCWD, library, times, 0), 0);
    sk_probe_cache_write(&row);
    assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    times[1].tv_nsec = 6;
    assert_int_equal(utimensat(AT_FDCWD, library, times, 0), 0);
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    times[1].tv_nsec = 5;
    times[1].tv_sec++;
    assert_int_equal(utimensat(AT_FDCWD, library, times, 0), 0);
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
}

/* The file says what it says: numbers that are no set of precisions are none, more devices than there can be are cut off. */
static void edited_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t read;
    } precisions[] = {{"4294967295", 4294967295u}, {"4294967296", 0}, {"-1", 0}, {"\"f32\"", 0}, {"1", 1}};
    char library[512], path[512];
    sk_error err = {0};
    sk_probe_row got;
    write_library(library, "one");
    const sk_probe_row row = some_row(library);
    snprintf(path, sizeof path, "%s/cache/probe-openvino.json", test_folder());
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        char *text = NULL, changed[4096];
        size_t bytes = 0;
        sk_probe_cache_write(&row);
        assert_ok(sk_file_read(path, sizeof changed, &text, &bytes, &err), &err);
        char *at = strstr(text, "2147483649"), *list = at ? strstr(at, "\"device 0\"") : NULL;
        assert_true(at && list);
        *at = *list = '\0';
        const int length = snprintf(changed, sizeof changed, "%s%s%s7, %s", text, precisions[i].text,
                                    at + strlen("2147483649"), "\"device 0\"");
        snprintf(changed + length, sizeof changed - (size_t)length, "%s", list + strlen("\"device 0\""));
        sk_free(text);
        assert_ok(sk_file_replace(path, changed, strlen(changed), &err), &err);
        assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
        assert_int_equal(got.precisions, precisions[i].read);
        assert_int_equal(got.n_devices, SK_ENGINE_MAX_DEVICES);
        assert_string_equal(got.devices[0], ""); /* 7 is no name */
        assert_string_equal(got.devices[1], "device 0");
    }
}

/* Of a runtime without an engine nothing is said but why, whatever stood in the row. */
static void rows_are_written_anew(void **state)
{
    (void)state;
    int without = 0;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        sk_probe_row row;
        if (sk_engine_find(sk_runtime_name((sk_runtime)i)))
            continue;
        memset(&row, 'x', sizeof row);
        sk_probe_one((sk_runtime)i, false, &row);
        assert_int_equal(row.runtime, i);
        assert_true(!row.available && !row.cached && row.n_devices == 0 && row.precisions == 0);
        assert_true(row.reason[0] && !row.library[0] && !row.version[0] && !row.devices[0][0]);
        without++;
    }
    assert_true(without > 0);
}

/* A row that is no longer good leaves the caller's as it was; one that is replaces all of it. */
static void read_all_or_nothing(void **state)
{
    (void)state;
    char library[512];
    sk_probe_row got;
    write_library(library, "one");
    const sk_probe_row row = some_row(library);
    sk_probe_cache_write(&row);
    memset(&got, 'x', sizeof got);
    assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    assert_int_equal(got.runtime, SK_RUNTIME_OPENVINO);
    assert_string_equal(got.remedy, "");
    assert_same(&row, &got);
    write_library(library, "another");
    memset(&got, 'x', sizeof got);
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    assert_int_equal(got.version[0], 'x');
}

static sk_status keep_and_read(void *context, sk_error *err)
{
    sk_probe_row got;
    (void)err;
    sk_probe_cache_write(context);
    (void)sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got);
    (void)sk_probe_cache_read(SK_RUNTIME_CUDA, &got);
    return SK_OK;
}

static void nothing_is_left(void **state)
{
    (void)state;
    char library[512];
    write_library(library, "one");
    sk_probe_row row = some_row(library);
    test_leaves_nothing(keep_and_read, &row);
    assert_true(test_every_allocation(keep_and_read, &row) > 5);
}

int main(int argc, char **argv)
{
    static const sk_child_role roles[] = {{"probe", serve_probe}};
    if (sk_child_serve(argc, argv, roles, 1))
        return 0;
    /* This program plays the child; under an emulator, which starts it. */
    static char emulator[1024];
    const char *words = getenv("SKITTER_TEST_EMULATOR");
    snprintf(emulator, sizeof emulator, "%s", words ? words : "");
    for (char *rest = emulator, *word; (word = strtok_r(rest, " ", &rest)) && n_own_words < 7;)
        own_words[n_own_words++] = word;
    own_words[n_own_words++] = argv[0];
    sk_child_set_program(own_words, n_own_words);
    char cache[512];
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", cache, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(good_news_is_kept),
        cmocka_unit_test(what_it_depends_on),
        cmocka_unit_test(edited_files),
        cmocka_unit_test(rows_are_written_anew),
        cmocka_unit_test(read_all_or_nothing),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
