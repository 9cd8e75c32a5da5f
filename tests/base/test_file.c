/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

static char *in_folder(const char *name)
{
    char *path = sk_path_join(test_folder(), name);
    assert_non_null(path);
    return path;
}

static int entries(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void reads_what_was_written(void **state)
{
    (void)state;
    sk_error err = {0};
    char *path = in_folder("a.txt"), *data;
    size_t bytes;
    for (size_t length = 0; length < 20000; length = length * 3 + 1) {
        char *text = sk_malloc(length);
        memset(text, 'x', length);
        assert_ok(sk_file_replace(path, text, length, &err), &err);
        assert_ok(sk_file_read(path, 20000, &data, &bytes, &err), &err);
        assert_int_equal(bytes, length);
        assert_memory_equal(data, text, length);
        assert_int_equal(data[length], '\0');
        assert_int_equal(sk_file_size(path), (int64_t)length);
        sk_free(data);
        sk_free(text);
    }
    sk_free(path);
}

static void limits_and_kinds(void **state)
{
    (void)state;
    sk_error err = {0};
    char *path = in_folder("limit.txt"), *pipe_path = in_folder("pipe"), *data = NULL;
    size_t bytes;
    assert_ok(sk_file_replace(path, "12345", 5, &err), &err);
    assert_ok(sk_file_read(path, 5, &data, &bytes, &err), &err);
    sk_free(data);
    assert_int_equal(sk_file_read(path, 4, &data, &bytes, &err), SK_ERR_LIMIT);
    assert_null(data);
    assert_non_null(strstr(err.message, "limit.txt"));
    assert_int_equal(sk_file_read(test_folder(), 100, &data, &bytes, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "folder"));
    assert_int_equal(sk_file_read(test_missing("x"), 100, &data, &bytes, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(sk_file_read(pipe_path, 100, &data, &bytes, &err), SK_ERR_IO); /* and returns at all */
    /* a file that does not know its size */
    assert_ok(sk_file_read("/proc/self/maps", 1 << 20, &data, &bytes, &err), &err);
    assert_true(bytes > 100 && strlen(data) == bytes);
    sk_free(data);
    assert_int_equal(sk_file_read("/proc/self/maps", 10, &data, &bytes, &err), SK_ERR_LIMIT);
    sk_free(path);
    sk_free(pipe_path);
}

static void maps(void **state)
{
    (void)state;
    sk_error err = {0};
    char *path = in_folder("map.bin");
    sk_blob *blob = NULL;
    assert_ok(sk_file_replace(path, "hello map", 9, &err), &err);
    assert_ok(sk_file_load(path, &blob, &err), &err);
    assert_int_equal(sk_blob_bytes(blob), 9);
    unlink(path);
    assert_memory_equal(sk_blob_data(blob), "hello map", 9); /* lives on without a name */
    sk_blob_unref(&blob);
    assert_ok(sk_file_replace(path, "", 0, &err), &err);
    assert_ok(sk_file_load(path, &blob, &err), &err);
    assert_int_equal(sk_blob_bytes(blob), 0);
    assert_non_null(sk_blob_data(blob));
    sk_blob_unref(&blob);
    assert_int_equal(sk_file_load(test_missing("x"), &blob, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_file_load("/dev/null", &blob, &err), SK_ERR_IO);
    sk_free(path);
}

static void replacing_leaves_no_traces(void **state)
{
    (void)state;
    sk_error err = {0};
    char *folder = in_folder("replace"), *path = in_folder("replace/out.csv"), *data;
    size_t bytes;
    assert_ok(sk_folder_make(folder, &err), &err);
    assert_ok(sk_file_replace(path, "old", 3, &err), &err);
    assert_int_equal(chmod(path, 0640), 0);

    sk_file_writer *writer = NULL;
    assert_ok(sk_file_writer_open(path, &writer, &err), &err);
    fputs("half of the ne", sk_file_writer_stream(writer));
    fflush(sk_file_writer_stream(writer));
    assert_true(sk_file_exists(sk_file_writer_path(writer)));
    assert_ok(sk_file_read(path, 100, &data, &bytes, &err), &err);
    assert_string_equal(data, "old"); /* not seen before the commit */
    sk_free(data);
    sk_file_writer_close(&writer);
    assert_null(writer);
    assert_int_equal(entries(folder), 1);

    /* without the disk: whole, and alone, also where a killed program left half of it */
    char *put = in_folder("replace/put.jpg"), *half = in_folder("replace/put.jpg.part");
    assert_ok(sk_file_replace(half, "half of the other one", 21, &err), &err);
    assert_ok(sk_file_put(put, "put", 3, &err), &err);
    assert_ok(sk_file_read(put, 100, &data, &bytes, &err), &err);
    assert_string_equal(data, "put");
    sk_free(data);
    assert_int_equal(entries(folder), 2);
    assert_int_equal(remove(put), 0);
    sk_free(put);
    sk_free(half);

    assert_ok(sk_file_writer_open(path, &writer, &err), &err);
    fputs("new", sk_file_writer_stream(writer));
    assert_ok(sk_file_writer_commit(&writer, &err), &err);
    assert_null(writer);
    assert_ok(sk_file_read(path, 100, &data, &bytes, &err), &err);
    assert_string_equal(data, "new");
    sk_free(data);
    assert_int_equal(entries(folder), 1);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);

    assert_int_equal(sk_file_replace(folder, "x", 1, &err), SK_ERR_IO); /* a folder is in the way */
    assert_int_equal(sk_file_replace(test_missing("x/y"), "x", 1, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/missing/x"));
    sk_free(folder);
    sk_free(path);
}

static void links_and_long_names(void **state)
{
    (void)state;
    sk_error err = {0};
    char *folder = in_folder("links"), *target = in_folder("links/real.txt"), *link = in_folder("links/link"),
         *data;
    size_t bytes;
    struct stat info;
    assert_ok(sk_folder_make(folder, &err), &err);
    mode_t before = umask(027);
    assert_ok(sk_file_replace(target, "old", 3, &err), &err);
    umask(before);
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640); /* what the umask leaves */
    assert_int_equal(symlink("real.txt", link), 0);
    assert_ok(sk_file_replace_linked(link, "new", 3, &err), &err);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_ok(sk_file_read(target, 100, &data, &bytes, &err), &err);
    assert_string_equal(data, "new");
    sk_free(data);
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    char *longest = sk_path_join(folder, name);
    assert_ok(sk_file_replace(longest, "x", 1, &err), &err);
    assert_int_equal(entries(folder), 3);
    sk_free(longest);
    sk_free(folder);
    sk_free(target);
    sk_free(link);
}

/* A file size limit stands in for a full disk. */
static void a_full_disk_keeps_the_old_contents(void **state)
{
    (void)state;
    sk_error err = {0};
    char *folder = in_folder("full"), *path = in_folder("full/out.bin"), *data;
    size_t bytes;
    assert_ok(sk_folder_make(folder, &err), &err);
    assert_ok(sk_file_replace(path, "old", 3, &err), &err);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char *big = sk_calloc(1, 100000);
    sk_status status = sk_file_replace(path, big, 100000, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    sk_free(big);
    assert_int_equal(status, SK_ERR_IO);
    assert_non_null(strstr(err.message, "out.bin"));
    assert_ok(sk_file_read(path, 100, &data, &bytes, &err), &err);
    assert_string_equal(data, "old");
    sk_free(data);
    assert_int_equal(entries(folder), 1);
    sk_free(folder);
    sk_free(path);
}

#define assert_path(call, expected)                                                                          \
    do {                                                                                                     \
        char *path_ = (call);                                                                                \
        assert_string_equal(path_, expected);                                                                \
        sk_free(path_);                                                                                      \
    } while (0)

static void paths(void **state)
{
    (void)state;
    assert_path(sk_path_join("a", "b"), "a/b");
    assert_path(sk_path_join("a/", "b"), "a/b");
    assert_path(sk_path_join("/", "b"), "/b");
    assert_path(sk_path_join("", "b"), "b");
    assert_path(sk_path_join("a", "/b"), "/b");
    assert_path(sk_path_folder("a/b.pt"), "a");
    assert_path(sk_path_folder("a//b.pt"), "a");
    assert_path(sk_path_folder("b.pt"), ".");
    assert_path(sk_path_folder("/b"), "/");
    assert_path(sk_path_folder("//b"), "/");
    assert_path(sk_path_stem("a/b.tar.gz"), "b.tar");
    assert_path(sk_path_stem("a.b/c"), "c");
    assert_path(sk_path_stem("a/.x"), ".x");
    assert_path(sk_path_with_extension("a.b/c.mp4", ".csv"), "a.b/c.csv");
    assert_path(sk_path_with_extension("a.b/c", ".csv"), "a.b/c.csv");
    assert_string_equal(sk_path_name("a/b.pt"), "b.pt");
    assert_string_equal(sk_path_name("b.pt"), "b.pt");
    assert_string_equal(sk_path_name("a/"), "");
    assert_string_equal(sk_path_extension("a.d/b"), "");
    assert_string_equal(sk_path_extension("a.d/b.pt"), ".pt");
    assert_true(sk_path_has_extension("x.PT", ".pt"));
    assert_false(sk_path_has_extension("x.ptt", ".pt"));
}

static void folders(void **state)
{
    (void)state;
    sk_error err = {0};
    char *deep = in_folder("x/y//z/"), *file = in_folder("plain"), *below = in_folder("plain/sub");
    assert_ok(sk_folder_make(deep, &err), &err);
    assert_true(sk_file_is_directory(deep));
    assert_ok(sk_folder_make(deep, &err), &err);
    assert_ok(sk_folder_make("/", &err), &err);
    assert_ok(sk_folder_make(".", &err), &err);
    assert_int_equal(sk_folder_make("", &err), SK_ERR_ARG);
    assert_ok(sk_file_replace(file, "", 0, &err), &err);
    assert_true(sk_file_is_regular(file));
    assert_false(sk_file_is_directory(file));
    assert_int_equal(sk_folder_make(below, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "in the way"));
    assert_false(sk_file_exists(below));
    assert_int_equal(sk_file_size(deep), -1);
    sk_free(deep);
    sk_free(file);
    sk_free(below);
}

static void own_folders(void **state)
{
    (void)state;
    sk_error err = {0};
    char *home = in_folder("home"), *out = NULL, *expected = in_folder("home/.cache/skitter");
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("SKITTER_CACHE_DIR");
    assert_int_equal(sk_folder_cache(&out, &err), SK_ERR_NOT_FOUND); /* a home is not skitter's to make */
    assert_non_null(strstr(err.message, "SKITTER_CACHE_DIR"));
    assert_false(sk_file_exists(home));
    assert_ok(sk_folder_make(home, &err), &err);
    assert_ok(sk_folder_cache(&out, &err), &err);
    assert_string_equal(out, expected);
    assert_true(sk_file_is_directory(out));
    sk_free(out);
    sk_free(expected);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    assert_ok(sk_folder_cache(&out, &err), &err);
    assert_non_null(strstr(out, "home/.cache"));
    sk_free(out);
    char *xdg = in_folder("xdg");
    setenv("XDG_CACHE_HOME", test_missing("xdg"), 1);
    assert_int_equal(sk_folder_cache(&out, &err), SK_ERR_NOT_FOUND);
    assert_false(sk_file_exists(test_missing("")));
    setenv("XDG_CACHE_HOME", xdg, 1);
    assert_ok(sk_folder_cache(&out, &err), &err);
    assert_non_null(strstr(out, "xdg/skitter"));
    sk_free(out);
    char *own = in_folder("own");
    setenv("SKITTER_CACHE_DIR", own, 1);
    assert_ok(sk_folder_cache(&out, &err), &err);
    assert_string_equal(out, own);
    sk_free(out);
    setenv("SKITTER_CONFIG_DIR", own, 1);
    assert_ok(sk_folder_config(&out, &err), &err);
    assert_string_equal(out, own);
    sk_free(out);
    setenv("SKITTER_CACHE_DIR", "/dev/null/x", 1);
    assert_int_equal(sk_folder_cache(&out, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "SKITTER_CACHE_DIR"));
    assert_null(out);
    unsetenv("SKITTER_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_int_equal(sk_folder_cache(&out, &err), SK_ERR_NOT_FOUND);
    sk_free(home);
    sk_free(xdg);
    sk_free(own);
}

static sk_status use_everything(void *context, sk_error *err)
{
    const char *path = context;
    sk_status status = SK_OK;
    char *data = NULL, *cache = NULL;
    size_t bytes;
    sk_blob *blob = NULL;
    SK_TRY_GOTO(sk_file_replace(path, "hello", 5, err));
    SK_TRY_GOTO(sk_file_read(path, 100, &data, &bytes, err));
    SK_TRY_GOTO(sk_file_load(path, &blob, err));
    SK_TRY_GOTO(sk_folder_cache(&cache, err));
done:
    sk_free(data);
    sk_free(cache);
    sk_blob_unref(&blob);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    char *folder = in_folder("memory"), *path = in_folder("memory/f");
    sk_error err = {0};
    setenv("HOME", folder, 1);
    assert_ok(sk_folder_make(folder, &err), &err);
    assert_true(test_every_allocation(use_everything, path) >= 8);
    assert_int_equal(entries(folder), 2); /* the file and .cache: no temporary ones */
    sk_free(folder);
    sk_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(limits_and_kinds),
        cmocka_unit_test(maps),
        cmocka_unit_test(replacing_leaves_no_traces),
        cmocka_unit_test(links_and_long_names),
        cmocka_unit_test(a_full_disk_keeps_the_old_contents),
        cmocka_unit_test(paths),
        cmocka_unit_test(folders),
        cmocka_unit_test(own_folders),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
