/* SPDX-License-Identifier: Apache-2.0 */
/* A package on its way to the disk: there whole or not at all, and nothing else is touched. */
#include "support/fault.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "ros/generate.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static char too_long[300]; /* no file can be called so */

static char name[] = "fly_watch", a[] = "CMakeLists.txt", b[] = "msg/deep/Fly.msg", c[] = "msg/Other.msg",
            d[] = "src/node.cpp";
static char text_a[] = "build it\n", text_b[] = "int8 x\n", text_c[] = "", text_d[] = "int main;\n";
static struct sk_ros_package_file files[] = {{a, text_a, sizeof text_a - 1},
                                             {b, text_b, sizeof text_b - 1},
                                             {c, text_c, 0},
                                             {d, text_d, sizeof text_d - 1}};
static const sk_ros_package package = {.name = name, .files = files, .count = 4, .capacity = 4};

static int entries_of(const char *folder)
{
    int n = 0;
    DIR *directory = opendir(folder);
    if (!directory)
        return -1;
    while (readdir(directory))
        n++;
    closedir(directory);
    return n - 2;
}

static void holds(const char *folder, const char *path, const char *wanted)
{
    char whole[600], *text = NULL;
    size_t length = 0;
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    assert_ok(sk_file_read(whole, 1 << 16, &text, &length, &err), &err);
    assert_string_equal(text, wanted);
    sk_free(text);
}

static void folders(void **state)
{
    (void)state;
    char *path = NULL;
    assert_ok(sk_ros_write_folder(&package, "new", false, &path, &err), &err);
    assert_string_equal(path, "new/fly_watch");
    sk_free(path);
    assert_int_equal(entries_of("new"), 1);
    assert_int_equal(entries_of("new/fly_watch"), 3);
    for (size_t i = 0; i < package.count; i++)
        holds("new/fly_watch", files[i].path, files[i].text);
    /* a second time: refused, or file by file */
    assert_ok(sk_file_replace("new/fly_watch/mine.txt", "mine", 4, &err), &err);
    assert_ok(sk_file_replace("new/fly_watch/src/node.cpp", "changed", 7, &err), &err);
    assert_int_equal(sk_ros_check_folder(&package, "new", false, &err), SK_ERR_IO);
    assert_int_equal(sk_ros_write_folder(&package, "new", false, &path, &err), SK_ERR_IO);
    assert_string_equal(err.message,
                        "new/fly_watch is there already\n--overwrite replaces its files, another "
                        "--output keeps them");
    assert_null(path);
    holds("new/fly_watch", "src/node.cpp", "changed");
    assert_ok(sk_ros_check_folder(&package, "new", true, &err), &err);
    assert_ok(sk_ros_write_folder(&package, "new", true, &path, &err), &err);
    sk_free(path);
    holds("new/fly_watch", "src/node.cpp", text_d);
    holds("new/fly_watch", "mine.txt", "mine");
    /* a file is in its place */
    assert_ok(sk_folder_make("other", &err), &err);
    assert_ok(sk_file_replace("other/fly_watch", "x", 1, &err), &err);
    for (int over = 0; over < 2; over++) {
        assert_int_equal(sk_ros_write_folder(&package, "other", over, &path, &err), SK_ERR_IO);
        assert_non_null(strstr(err.message, over ? "it is no folder: remove it, or give another --output"
                                                 : "--overwrite replaces its files"));
    }
    assert_ok(sk_ros_check_folder(&package, "nowhere", false, &err), &err);
    assert_int_equal(entries_of("nowhere"), -1);
}

/* What cannot be finished leaves nothing behind; a folder that was there stays. */
static void nothing_half_made(void **state)
{
    (void)state;
    char deep[320], *path = NULL;
    snprintf(deep, sizeof deep, "src/%s", too_long);
    struct sk_ros_package_file broken[] = {
        {a, text_a, sizeof text_a - 1}, {b, text_b, sizeof text_b - 1}, {deep, text_c, 0}};
    const sk_ros_package half = {.name = name, .files = broken, .count = 3, .capacity = 3},
                         unnamed = {.name = too_long, .files = files, .count = 4, .capacity = 4};
    assert_ok(sk_folder_make("kept", &err), &err);
    static const char *const places[] = {"gone", "kept"};
    for (int i = 0; i < 2; i++) {
        const int left = i ? 0 : -1;
        assert_int_not_equal(sk_ros_write_folder(&half, places[i], false, &path, &err), SK_OK);
        assert_null(path);
        assert_int_equal(entries_of(places[i]), left);
        assert_int_not_equal(sk_ros_write_folder(&unnamed, places[i], false, &path, &err), SK_OK);
        assert_non_null(strstr(err.message, ": no folder can be made in it: File name too long"));
        assert_int_equal(entries_of(places[i]), left);
        assert_int_not_equal(sk_ros_write_zip(&unnamed, places[i], &path, &err), SK_OK);
        assert_null(path);
        assert_int_equal(entries_of(places[i]), left);
    }
    /* rubbish of others that were killed: another name, as long as there is one */
    char stale[128];
    for (int i = 0; i < 1000; i++) {
        snprintf(stale, sizeof stale, "kept/.fly_watch.skitter-%ld-%d", (long)getpid(), i);
        assert_int_equal(mkdir(stale, 0777), 0);
    }
    assert_int_equal(sk_ros_write_folder(&package, "kept", false, &path, &err), SK_ERR_IO);
    assert_string_equal(err.message,
                        "kept: it is full of unfinished packages (.fly_watch.skitter-…): remove them");
    assert_int_equal(rmdir(stale), 0); /* the last */
    assert_ok(sk_ros_write_folder(&package, "kept", false, &path, &err), &err);
    assert_string_equal(path, "kept/fly_watch");
    sk_free(path);
    assert_int_equal(entries_of("kept"), 1000);
}

static int renames_fail_with; /* of folders; 0: they do not */

typedef int rename_it(const char *, const char *);

/* The program's own comes before the library's. */
int rename(const char *from, const char *to)
{
    static rename_it *real;
    struct stat what;
    if (renames_fail_with && stat(from, &what) == 0 && S_ISDIR(what.st_mode)) {
        errno = renames_fail_with;
        return -1;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "rename");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(from, to);
}

/* Somebody else was there first, or it cannot be done: which of both is told, and nothing is left. */
static void a_last_step_that_fails(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *words;
    } rows[] = {{EEXIST, "late/fly_watch: is there already"},
                {ENOTEMPTY, "late/fly_watch: is there already"},
                {ENOTDIR, "late/fly_watch: is there already"},
                {EACCES, "late/fly_watch: cannot be made: Permission denied"},
                {EXDEV, "late/fly_watch: cannot be made: Invalid cross-device link"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *path = NULL;
        renames_fail_with = rows[i].code;
        const sk_status status = sk_ros_write_folder(&package, "late", false, &path, &err);
        renames_fail_with = 0;
        assert_int_equal(status, SK_ERR_IO);
        assert_string_equal(err.message, rows[i].words);
        assert_null(path);
        assert_int_equal(entries_of("late"), -1);
    }
}

static sk_status write_both(void *context, sk_error *e)
{
    static const sk_ros_package small = {.name = name, .files = files + 3, .count = 1, .capacity = 1};
    char *path = NULL;
    (void)context;
    sk_status status = sk_ros_check_folder(&small, "memory", true, e);
    if (status == SK_OK)
        status = sk_ros_write_folder(&small, "memory", true, &path, e);
    sk_free(path);
    if (status == SK_OK)
        status = sk_ros_write_zip(&small, "memory", &path, e);
    sk_free(path);
    return status;
}

/* A folder that is new each time; of one that could not be finished nothing is left, so that the next time it is new, too. */
static sk_status write_anew(void *context, sk_error *e)
{
    char *path = NULL;
    int *left = context;
    const sk_status status = sk_ros_write_folder(&package, "anew", false, &path, e);
    sk_free(path);
    if (status == SK_OK) {
        for (size_t i = 0; i < package.count; i++) {
            char whole[80];
            snprintf(whole, sizeof whole, "anew/fly_watch/%s", files[i].path);
            (void)!unlink(whole);
        }
        (void)!rmdir("anew/fly_watch/msg/deep");
        (void)!rmdir("anew/fly_watch/msg");
        (void)!rmdir("anew/fly_watch/src");
        (void)!rmdir("anew/fly_watch");
        (void)!rmdir("anew");
    }
    *left += entries_of("anew") >= 0;
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    int left = 0;
    assert_true(test_every_allocation(write_anew, &left) > 20);
    assert_int_equal(left, 0);
    assert_true(test_every_allocation(write_both, NULL) > 10);
    assert_int_equal(entries_of("memory"), 2);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    memset(too_long, 'x', sizeof too_long - 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders), cmocka_unit_test(nothing_half_made),
                                       cmocka_unit_test(a_last_step_that_fails),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
