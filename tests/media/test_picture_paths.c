/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of pictures that are as long as a path may be, and one byte longer; numbers among letters. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

/* A path of so many bytes that means this folder, with `last` at its end. */
static const char *long_path(size_t length, const char *last)
{
    static char path[4200];
    memset(path, '/', length);
    path[0] = '.';
    memcpy(path + length - strlen(last), last, strlen(last) + 1);
    return path;
}

static sk_status open_pictures(const char *uri, int64_t *frames)
{
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_reader *reader = NULL;
    sk_source_defaults(&settings);
    const sk_status status = sk_reader_open_pictures(uri, &settings, &reader, &err);
    *frames = reader ? reader->info.frames : -1;
    if (reader)
        reader->close(reader);
    return status;
}

static void paths_to_their_ends(void **state)
{
    (void)state;
    int64_t frames;
    /* a pattern: where it stands for a number it is four bytes longer */
    assert_ok(open_pictures(long_path(4091, "p%d.png"), &frames), &err);
    assert_int_equal(frames, 2);
    assert_int_equal(open_pictures(long_path(4092, "p%d.png"), &frames), SK_ERR_LIMIT);
    /* a folder: with a slash and the picture's name behind it */
    assert_ok(open_pictures(long_path(4088, "/only"), &frames), &err);
    assert_int_equal(frames, 1);
    assert_int_equal(open_pictures(long_path(4089, "/only"), &frames), SK_ERR_LIMIT);
    assert_int_equal(frames, -1);
}

static void numbers_among_letters(void **state)
{
    (void)state;
    int64_t frames;
    static const struct {
        const char *uri;
        sk_status status;
        int frames;
        const char *words;
    } rows[] = {{"p%d.png", SK_OK, 2, NULL},
                {"p%03d.png", SK_OK, 2, NULL},
                {"p%d.jpg", SK_ERR_NOT_FOUND, -1, "p[0-9]*.jpg: no file matches this pattern"},
                {"q%d.png", SK_ERR_NOT_FOUND, -1, "q%d.png: no numbered file matches this pattern"},
                {"%dp.png", SK_ERR_NOT_FOUND, -1, "[0-9]*p.png: no file matches this pattern"},
                {"p%s.png", SK_ERR_NOT_FOUND, -1, "p%s.png: No such file or directory"},
                {"p%d/x.png", SK_ERR_NOT_FOUND, -1, "p%d/x.png: No such file or directory"},
                {"p1.png/x.png", SK_ERR_NOT_FOUND, -1, "p1.png/x.png: Not a directory"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_status status = open_pictures(rows[i].uri, &frames);
        if (status != rows[i].status || frames != rows[i].frames ||
            (rows[i].words && strcmp(err.message, rows[i].words) != 0))
            fail_msg("%s: %d frames, %s", rows[i].uri, (int)frames, err.message);
    }
}

static void put(const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(test_source("tests/fixtures/grey_64x48.png"), 1 << 20, &bytes, &length, &err),
              &err);
    assert_ok(sk_file_put(path, bytes, length, &err), &err);
    sk_free(bytes);
}

static int begin(void **state)
{
    (void)state;
    assert_int_equal(chdir(test_folder()), 0);
    assert_int_equal(mkdir("only", 0777), 0);
    put("p1.png");
    put("p22.png");
    put("p3x.png");
    put("q1x.png");
    put("only/pp.png");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_to_their_ends),
                                       cmocka_unit_test(numbers_among_letters)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
