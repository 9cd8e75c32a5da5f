/* SPDX-License-Identifier: Apache-2.0 */
/* Where things lie: folders that are made, emptied and skitter's own, models that came with the program, libraries that are looked for. */
#include "support/test.h"

#include "base/file.h"
#include "base/library.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *at(const char *name)
{
    static char paths[8][600];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static void put(const char *path)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, "x", 1, &err), &err);
}

static void paths_are_made_whole(void **state)
{
    (void)state;
    char here[4096], wanted[4200];
    assert_non_null(getcwd(here, sizeof here));
    char *path = sk_path_absolute("/a/../b");
    assert_string_equal(path, "/a/../b"); /* as it is */
    sk_free(path);
    path = sk_path_absolute("name.mp4");
    snprintf(wanted, sizeof wanted, "%s/name.mp4", here);
    assert_string_equal(path, wanted);
    sk_free(path);
    path = sk_path_absolute("./../name.mp4");
    *strrchr(here, '/') = '\0';
    snprintf(wanted, sizeof wanted, "%s/name.mp4", here);
    assert_string_equal(path, wanted);
    sk_free(path);
    assert_non_null(getcwd(here, sizeof here));
    path = sk_path_absolute("no such folder/name.mp4");
    snprintf(wanted, sizeof wanted, "%s/no such folder/name.mp4", here);
    assert_string_equal(path, wanted);
    sk_free(path);
}

static void own_folders_are_no_links(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_folder_make_own(at("own///"), &err), &err);
    assert_true(sk_file_is_directory(at("own")));
    assert_ok(sk_folder_make_own(at("own"), &err), &err); /* it is there */
    assert_int_equal(symlink(at("own"), at("link")), 0);
    assert_int_equal(sk_folder_make_own(at("link/"), &err), SK_ERR_IO);
    assert_non_null(
        strstr(err.message, "/link: is no folder, where skitter keeps one of its own; remove it"));
    put(at("file"));
    assert_int_equal(sk_folder_make_own(at("file"), &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "/file: is no folder"));
    assert_int_equal(sk_folder_make_own(at("none/deep"), &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "/none/deep: the folder cannot be made: No such file or directory"));
    /* emptied: of all, or of files that end so and are not hidden; links are not followed; the folder goes where it is empty */
    put(at("own/a.jpg"));
    put(at("own/b.JPG"));
    put(at("own/c.png"));
    put(at("own/.d.jpg"));
    sk_folder_empty_own(at("link"), NULL);
    assert_true(sk_file_exists(at("own/a.jpg")));
    sk_folder_empty_own(at("own"), ".jpg");
    assert_false(sk_file_exists(at("own/a.jpg")) || sk_file_exists(at("own/b.JPG")));
    assert_true(sk_file_exists(at("own/c.png")) && sk_file_exists(at("own/.d.jpg")));
    sk_folder_empty_own(at("own"), NULL);
    assert_false(sk_file_exists(at("own")));
    sk_folder_empty_own(at("never there"), NULL);
    sk_folder_empty_own(at("file"), NULL);
    assert_true(sk_file_exists(at("file")));
}

static void models_that_came_along(void **state)
{
    (void)state;
    char *program = sk_path_program(), *folder = sk_folder_program(), self[4096], wanted[4200];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    assert_string_equal(program, self);
    *strrchr(self, '/') = '\0';
    assert_string_equal(folder, self);
    sk_free(program);
    sk_free(folder);
    assert_null(sk_folder_models(-1));
    assert_null(sk_folder_models(2));
    for (int which = 0; which < 2; which++) {
        char *models = sk_folder_models(which);
        snprintf(wanted, sizeof wanted, "%s/%s", self, which ? "../share/skitter/models" : "../share/models");
        assert_string_equal(models, wanted);
        sk_error err = {0};
        const bool there = sk_file_is_directory(models);
        assert_ok(sk_folder_make(models, &err), &err);
        char *model = sk_path_join(models, "a.skt");
        assert_true(sk_path_is_shipped(model)); /* by its folder */
        assert_false(sk_path_is_shipped(models));
        if (!there) {
            assert_int_equal(rmdir(models), 0);
            assert_false(sk_path_is_shipped(model));
        }
        sk_free(model);
        sk_free(models);
    }
    assert_false(sk_path_is_shipped(at("a.skt")));
    assert_false(sk_path_is_shipped("no such folder/a.skt"));
}

/* --- libraries --- */

/* Makes a library that says its number; false: no compiler here. */
static bool make_library(const char *path, int number)
{
    char command[2000], folder[600];
    const char *cc = getenv("SKITTER_TEST_CC");
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(command, sizeof command,
             "echo 'int number(void) { return %d; }' | %s -shared -fPIC -x c - -o '%s' >/dev/null 2>&1",
             number, cc ? cc : "cc", path);
    return system(command) == 0; /* NOLINT */
}

static const char *const no_names[] = {"libskitter_is_nowhere.so.9", NULL};
static const char *folders[] = {NULL, NULL};
static const sk_library_wish wish = {.title = "A Toy",
                                     .variable = "SKITTER_TEST_TOY",
                                     .file = "libtoy.so",
                                     .sonames = no_names,
                                     .package = "toy/capi",
                                     .folders = folders,
                                     .remedy = "pip install toy"};

static sk_status found_number(int *number, char *path, sk_error *err)
{
    void *handle = NULL;
    const sk_status status = sk_library_open(&wish, &handle, path, SK_LIBRARY_PATH, err);
    if (status != SK_OK)
        return status;
    int (*say)(void) = NULL;
    void *symbol = dlsym(handle, "number");
    memcpy(&say, &symbol, sizeof say);
    *number = say();
    dlclose(handle);
    return SK_OK;
}

static void finds(int wanted, const char *place)
{
    sk_error err = {0};
    char path[SK_LIBRARY_PATH];
    int number = 0;
    assert_ok(found_number(&number, path, &err), &err);
    assert_int_equal(number, wanted);
    if (!strstr(path, place))
        fail_msg("%s is not in %s", path, place);
}

static void libraries_are_found_in_order(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[SK_LIBRARY_PATH], value[700];
    int number = 0;
    unsetenv("SKITTER_TEST_TOY");
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
    unsetenv("SKITTER_RUNTIME_DIR");
    if (!make_library(at("last/libtoy.so.2"), 1))
        skip();
    assert_int_equal(found_number(&number, path, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "A Toy (libtoy.so) is not on this machine. To get it: pip install toy");
    snprintf(value, sizeof value, "%s", at("las?"));
    folders[0] = value;
    finds(1, "/last/libtoy.so.2");
    assert_true(make_library(at("last/libtoy.so.3"), 2)); /* the newest of a folder */
    finds(2, "/last/libtoy.so.3");
    assert_true(make_library(at("runtime/lib/libtoy.so"), 3));
    setenv("SKITTER_RUNTIME_DIR", at("runtime"), 1);
    finds(3, "/runtime/lib/libtoy.so");
    assert_true(make_library(at("conda/lib64/python3.9/site-packages/toy/capi/libtoy.so.7"), 4));
    setenv("CONDA_PREFIX", at("conda"), 1);
    finds(4, "/conda/lib64/python3.9/site-packages/toy/capi/libtoy.so.7");
    assert_true(make_library(at("venv/lib/python3.11/site-packages/toy/capi/libtoy.so.8"), 5));
    setenv("VIRTUAL_ENV", at("venv"), 1);
    finds(5, "/venv/lib/python3.11/site-packages/toy/capi/libtoy.so.8");
    setenv("VIRTUAL_ENV", "venv", 1); /* wherever somebody stands: not looked at */
    finds(4, "/conda/");
    static const char *const inside[] = {"", "lib/", "lib64/", "runtime/lib/intel64/",
                                         "runtime/lib/aarch64/"};
    for (int i = 4; i >= 0; i--) {
        char name[100];
        snprintf(name, sizeof name, "named/%slibtoy.so", inside[i]);
        assert_true(make_library(at(name), 10 + i));
        setenv("SKITTER_TEST_TOY", at("named"), 1);
        finds(10 + i, name);
    }
    setenv("SKITTER_TEST_TOY", at("last/libtoy.so.2"), 1); /* a file */
    finds(1, "/last/libtoy.so.2");
    setenv("SKITTER_TEST_TOY", "", 1); /* as if it were not there */
    finds(4, "/conda/");
}

static void what_is_named_is_not_replaced(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[SK_LIBRARY_PATH], wanted[900];
    int number = 0;
    setenv("SKITTER_TEST_TOY", at("nowhere"), 1);
    assert_int_equal(found_number(&number, path, &err), SK_ERR_NOT_FOUND);
    snprintf(wanted, sizeof wanted,
             "SKITTER_TEST_TOY=%s: there is no such file or folder; correct or unset it", at("nowhere"));
    assert_string_equal(err.message, wanted);
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    setenv("SKITTER_TEST_TOY", at("pipe"), 1);
    assert_int_equal(found_number(&number, path, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/pipe: neither a file nor a folder; correct or unset it"));
    assert_ok(sk_folder_make(at("empty"), &err), &err);
    setenv("SKITTER_TEST_TOY", at("empty"), 1);
    assert_int_equal(found_number(&number, path, &err), SK_ERR_NOT_FOUND);
    snprintf(wanted, sizeof wanted,
             "A Toy (libtoy.so) is not in %s, which SKITTER_TEST_TOY names. To get it: pip install toy",
             at("empty"));
    assert_string_equal(err.message, wanted);
    put(at("empty/libtoy.so.1")); /* there, and no library */
    assert_int_equal(found_number(&number, path, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "A Toy could not be loaded: "));
    assert_non_null(strstr(err.message, "libtoy.so.1"));
    setenv("SKITTER_TEST_TOY", at("empty/libtoy.so.1"), 1);
    assert_int_equal(found_number(&number, path, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "A Toy could not be loaded: "));
}

static int fills;
static sk_status fill(void *handle, void *api, sk_error *err)
{
    if (++fills == 1)
        return sk_fail(err, SK_ERR_MISMATCH, "not this one");
    *(void **)api = handle;
    return SK_OK;
}

static void loaded_once(void **state)
{
    (void)state;
    sk_error err = {0};
    static sk_library_once once = {.lock = PTHREAD_MUTEX_INITIALIZER};
    void *api = &err;
    char path[SK_LIBRARY_PATH];
    if (!make_library(at("once/libtoy.so"), 77))
        skip();
    setenv("SKITTER_TEST_TOY", at("nowhere"), 1);
    assert_int_equal(sk_library_load(&wish, &once, &api, sizeof api, path, fill, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(fills, 0);
    assert_null(api);
    setenv("SKITTER_TEST_TOY", at("once"), 1);
    assert_int_equal(sk_library_load(&wish, &once, &api, sizeof api, path, fill, &err), SK_ERR_MISMATCH);
    assert_null(dlopen(at("once/libtoy.so"), RTLD_NOW | RTLD_NOLOAD)); /* let go */
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_library_load(&wish, &once, &api, sizeof api, path, fill, &err), &err);
        assert_non_null(api);
        assert_int_equal(fills, 2);
    }
    assert_non_null(strstr(path, "/once/libtoy.so"));
    dlclose(api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_made_whole),          cmocka_unit_test(own_folders_are_no_links),
        cmocka_unit_test(models_that_came_along),        cmocka_unit_test(libraries_are_found_in_order),
        cmocka_unit_test(what_is_named_is_not_replaced), cmocka_unit_test(loaded_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
