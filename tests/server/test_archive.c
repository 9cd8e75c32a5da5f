/* SPDX-License-Identifier: Apache-2.0 */
/* Folders as archives: every regular file, by its name, as deep as they go; no links, nothing hidden, and nothing left behind. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/zip.h"
#include "server/archive.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG = 300000 };

static sk_server server;
static char state_folder[1024];

static const char *at(const char *name)
{
    static char paths[4][1200];
    static int n;
    char *path = paths[n++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static void put(const char *name, const char *text, size_t length)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(at(name), text, length, &err), &err);
}

static int open_folder(const char *name)
{
    const int folder = open(at(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    return folder;
}

static int files_in(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int begin(void **state)
{
    (void)state;
    snprintf(state_folder, sizeof state_folder, "%s", at("state"));
    server.state = state_folder;
    return mkdir(state_folder, 0700);
}

/* The archive's bytes, from where the file stands; ended by sk_free. */
static char *all_of(int file, size_t *bytes)
{
    char *data = sk_malloc(1 << 20);
    *bytes = 0;
    for (ssize_t n; (n = read(file, data + *bytes, (1 << 20) - *bytes)) > 0;)
        *bytes += (size_t)n;
    return data;
}

static void files_by_their_names(void **state)
{
    (void)state;
    static const char *const folders[] = {"f",         "f/2",         "f/2/3",       "f/2/3/4",
                                          "f/2/3/4/5", "f/2/3/4/5/6", "f/.hidden.d", "f/empty"};
    static const struct {
        const char *name, *text;
    } files[] = {{"labels/2/3/4/5/deep.txt", "as deep as they go"},
                 {"labels/2/first.txt", "1"},
                 {"labels/B.txt", "upper letters first"},
                 {"labels/a.txt", "a"},
                 {"labels/b.txt", "b"},
                 {"labels/nothing.txt", ""}};
    sk_error err = {0};
    int file = -1;
    size_t bytes = 0;
    sk_zip *zip = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(at(folders[i]), 0700), 0);
    put("f/b.txt", "b", 1);
    put("f/a.txt", "a", 1);
    put("f/nothing.txt", "", 0);
    put("f/B.txt", "upper letters first", 19);
    put("f/.hidden", "x", 1);
    put("f/.hidden.d/x", "x", 1);
    put("f/2/first.txt", "1", 1);
    put("f/2/3/4/5/deep.txt", "as deep as they go", 18);
    put("f/2/3/4/5/6/deeper.txt", "x", 1);
    assert_int_equal(symlink(at("f/a.txt"), at("f/link.txt")), 0);
    assert_int_equal(symlink(at("f/2"), at("f/link")), 0);
    assert_int_equal(mkfifo(at("f/pipe"), 0600), 0);
    const int folder = open_folder("f");
    assert_ok(sk_archive_make(&server, folder, "labels", &file, &err), &err);
    assert_int_equal(fcntl(folder, F_GETFD), -1); /* closed */
    assert_int_equal(files_in(state_folder), 0);
    assert_int_equal(lseek(file, 0, SEEK_CUR), 0);
    assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
    char *data = all_of(file, &bytes);
    close(file);
    assert_ok(sk_zip_open_memory(data, bytes, "labels", &zip, &err), &err);
    assert_false(sk_zip_truncated(zip));
    assert_int_equal(sk_zip_count(zip), 6);
    for (size_t i = 0; i < 6; i++) {
        const uint8_t *text = NULL;
        sk_blob *hold = NULL;
        const sk_zip_entry *entry = sk_zip_at(zip, i);
        assert_string_equal(entry->name, files[i].name);
        assert_int_equal(entry->size, strlen(files[i].text));
        assert_ok(sk_zip_read(zip, entry, &text, &hold, &err), &err);
        assert_memory_equal(text, files[i].text, strlen(files[i].text));
        sk_blob_unref(&hold);
    }
    sk_zip_close(&zip);
    sk_free(data);
}

static void long_files_are_whole(void **state)
{
    (void)state;
    sk_error err = {0};
    int file = -1;
    size_t bytes = 0;
    sk_zip *zip = NULL;
    const uint8_t *text = NULL;
    sk_blob *hold = NULL;
    char *pattern = sk_malloc(LONG);
    for (int i = 0; i < LONG; i++)
        pattern[i] = (char)(i * 7 + i / 251);
    assert_int_equal(mkdir(at("long"), 0700), 0);
    put("long/long.bin", pattern, LONG);
    assert_ok(sk_archive_make(&server, open_folder("long"), "long", &file, &err), &err);
    char *data = all_of(file, &bytes);
    close(file);
    assert_ok(sk_zip_open_memory(data, bytes, "long", &zip, &err), &err);
    assert_int_equal(sk_zip_at(zip, 0)->size, LONG);
    assert_ok(sk_zip_read(zip, sk_zip_at(zip, 0), &text, &hold, &err), &err);
    assert_memory_equal(text, pattern, LONG);
    sk_blob_unref(&hold);
    sk_zip_close(&zip);
    sk_free_all(data, pattern);
}

static void what_cannot_be_packed(void **state)
{
    (void)state;
    sk_error err = {0};
    int file = 7;
    assert_int_equal(mkdir(at("much"), 0700), 0);
    put("much/video.mp4", "", 0);
    assert_int_equal(truncate(at("much/video.mp4"), ((off_t)512 << 20) + 1),
                     0); /* takes no room on the disk */
    int folder = open_folder("much");
    assert_int_equal(sk_archive_make(&server, folder, "much", &file, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "much/video.mp4: too long for an archive\ncopy the folder itself");
    assert_int_equal(file, -1);
    assert_int_equal(fcntl(folder, F_GETFD), -1);
    assert_int_equal(files_in(state_folder), 0);
    sk_server other = {.state = state_folder};
    assert_int_equal(rmdir(state_folder), 0);
    folder = open_folder("much");
    assert_int_equal(sk_archive_make(&other, folder, "much", &file, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "no file for the archive could be made in "));
    assert_int_equal(file, -1);
    assert_int_equal(fcntl(folder, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_by_their_names),
                                       cmocka_unit_test(long_files_are_whole),
                                       cmocka_unit_test(what_cannot_be_packed)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
