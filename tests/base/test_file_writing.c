/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written whole: through links or not, with whose permissions, what lies beside them meanwhile, and what is left after a
 * failure. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
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

static void holds(const char *path, const char *text)
{
    char *data = NULL;
    size_t bytes;
    sk_error err = {0};
    assert_ok(sk_file_read(path, 1 << 20, &data, &bytes, &err), &err);
    assert_string_equal(data, text);
    assert_int_equal(bytes, strlen(text));
    sk_free(data);
}

static int entries(void)
{
    DIR *d = opendir(test_folder());
    int count = 0;
    while (readdir(d))
        count++;
    closedir(d);
    return count - 2;
}

static bool is_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static void links(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_file_replace(at("target"), "old", 3, &err), &err);
    assert_int_equal(symlink("target", at("link")), 0);
    assert_ok(sk_file_replace_linked(at("link"), "through", 7, &err), &err);
    assert_true(is_link(at("link")));
    holds(at("target"), "through");
    assert_ok(sk_file_replace(at("link"), "instead", 7, &err), &err);
    assert_false(is_link(at("link")));
    holds(at("link"), "instead");
    holds(at("target"), "through");
    assert_int_equal(unlink(at("link")), 0);
    assert_int_equal(symlink("target", at("link")), 0);
    sk_file_writer *w = NULL;
    assert_ok(sk_file_writer_open(at("link"), &w, &err), &err);
    fputs("in pieces", sk_file_writer_stream(w));
    assert_ok(sk_file_writer_commit(&w, &err), &err);
    assert_null(w);
    assert_false(is_link(at("link")));
    holds(at("link"), "in pieces");
    holds(at("target"), "through");
    assert_int_equal(symlink("nobody", at("dangling")),
                     0); /* a link to nothing is replaced by what it was to hold */
    assert_ok(sk_file_replace_linked(at("dangling"), "new", 3, &err), &err);
    assert_false(is_link(at("dangling")));
    assert_int_equal(entries(), 3);
}

static void permissions(void **state)
{
    (void)state;
    sk_error err = {0};
    struct stat info;
    static const mode_t modes[] = {0600, 0640, 0755, 04711, 0444};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_ok(sk_file_replace(at("mode"), "x", 1, &err), &err);
        assert_int_equal(chmod(at("mode"), modes[i]), 0);
        assert_ok(sk_file_replace(at("mode"), "y", 1, &err), &err);
        assert_int_equal(stat(at("mode"), &info), 0);
        assert_int_equal(info.st_mode & 07777, modes[i]);
    }
    const mode_t before = umask(027);
    assert_ok(sk_file_replace(at("fresh"), "x", 1, &err), &err);
    umask(before);
    assert_int_equal(stat(at("fresh"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

/* While it is written a file lies beside the other under a name of its own; it is gone when nobody commits. */
static void meanwhile(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_file_writer *a = NULL, *b = NULL;
    assert_ok(sk_file_replace(at("many"), "before", 6, &err), &err);
    const int count = entries();
    assert_ok(sk_file_writer_open(at("many"), &a, &err), &err);
    assert_ok(sk_file_writer_open(at("many"), &b, &err), &err);
    assert_string_not_equal(sk_file_writer_path(a), sk_file_writer_path(b));
    assert_memory_equal(sk_file_writer_path(a), at(".many."), strlen(at(".many.")));
    assert_int_equal(strlen(sk_file_writer_path(a)), strlen(at(".many.")) + 8);
    assert_int_equal(entries(), count + 2);
    fputs("a", sk_file_writer_stream(a));
    fputs("b", sk_file_writer_stream(b));
    holds(at("many"), "before");
    assert_ok(sk_file_writer_commit(&b, &err), &err);
    holds(at("many"), "b");
    sk_file_writer_close(&a);
    assert_null(a);
    holds(at("many"), "b");
    assert_int_equal(entries(), count);
    char longest[300]; /* names that only just fit have temporaries that fit, too */
    memset(longest, 'n', 255);
    longest[255] = '\0';
    assert_ok(sk_file_replace(at(longest), "long", 4, &err), &err);
    holds(at(longest), "long");
}

static void refused(const char *path, sk_status status, const char *says)
{
    sk_error err = {0};
    const int count = entries();
    assert_int_equal(sk_file_replace(path, "x", 1, &err), status);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
    assert_int_equal(entries(), count);
}

static void refusals(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_int_equal(mkdir(at("folder"), 0777), 0);
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    refused(at("folder"), SK_ERR_IO, "/folder: is a folder, where a file was to be written");
    refused(at("pipe"), SK_ERR_IO, "/pipe: is a named pipe, where a file was to be written");
    refused("/dev/null", SK_ERR_IO, "/dev/null: is a device, where a file was to be written");
    refused(at("no folder/x"), SK_ERR_NOT_FOUND,
            "/no folder/x: cannot be written: No such file or directory in folder ");
    assert_ok(sk_file_replace(at("plain"), "x", 1, &err), &err);
    refused(at("plain/x"), SK_ERR_IO, "/plain/x: cannot be written: Not a directory in folder ");
    /* half of it has one name, which is written over, and is gone where it cannot be put in place */
    assert_ok(sk_file_replace(at("put.part"), "left behind by a kill", 21, &err), &err);
    assert_ok(sk_file_put(at("put"), "done", 4, &err), &err);
    holds(at("put"), "done");
    assert_false(sk_file_exists(at("put.part")));
    assert_ok(sk_file_put(at("put"), "", 0, &err), &err);
    holds(at("put"), "");
    assert_int_equal(sk_file_put(at("folder"), "x", 1, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "/folder: cannot be written: "));
    assert_false(sk_file_exists(at("folder.part")));
    FILE *full = fopen("/dev/full", "w");
    if (full) { /* where the disk is full: what was there stays */
        fclose(full);
        assert_int_equal(symlink("/dev/full", at("full.part")), 0);
        assert_int_not_equal(sk_file_put(at("full"), "x", 1, &err), SK_OK);
        assert_false(sk_file_exists(at("full")));
    }
    assert_string_equal(sk_file_remedy(ENOSPC),
                        ". What was done before is kept; make room and run the same command again");
    assert_string_equal(sk_file_remedy(EDQUOT), sk_file_remedy(ENOSPC));
    assert_string_equal(sk_file_remedy(EACCES), "");
}

/* Lengths around the blocks that are read, and limits to the byte. */
static void lengths(void **state)
{
    (void)state;
    sk_error err = {0};
    static const size_t all[] = {0, 1, 2, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 20000};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text = malloc(all[i] + 1), *data = NULL;
        size_t bytes = 99;
        for (size_t k = 0; k < all[i]; k++)
            text[k] = (char)('a' + k % 23);
        assert_ok(sk_file_replace(at("length"), text, all[i], &err), &err);
        assert_int_equal(sk_file_size(at("length")), all[i]);
        for (int own = 0; own < 2; own++) {
            assert_ok((own ? sk_file_read_own : sk_file_read)(at("length"), all[i], &data, &bytes, &err),
                      &err);
            assert_int_equal(bytes, all[i]);
            assert_memory_equal(data, text, all[i]);
            assert_int_equal(data[bytes], 0);
            sk_free(data);
            if (all[i] > 0) {
                assert_int_equal(
                    (own ? sk_file_read_own : sk_file_read)(at("length"), all[i] - 1, &data, &bytes, &err),
                    SK_ERR_LIMIT);
                assert_non_null(strstr(err.message, "bytes allowed for a file of this kind"));
                assert_null(data);
            }
        }
        sk_blob *blob = NULL;
        assert_ok(sk_file_load(at("length"), &blob, &err), &err);
        assert_int_equal(sk_blob_bytes(blob), all[i]);
        assert_memory_equal(sk_blob_data(blob), text, all[i]);
        sk_blob_unref(&blob);
        free(text);
    }
    char *data = NULL; /* files that say 0 and hold more */
    size_t bytes = 0;
    assert_ok(sk_file_read("/proc/self/status", 1 << 20, &data, &bytes, &err), &err);
    assert_true(bytes > 100 && bytes == strlen(data));
    sk_free(data);
    assert_int_equal(sk_file_read("/proc/self/status", 10, &data, &bytes, &err), SK_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links), cmocka_unit_test(permissions),
                                       cmocka_unit_test(meanwhile), cmocka_unit_test(refusals),
                                       cmocka_unit_test(lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
