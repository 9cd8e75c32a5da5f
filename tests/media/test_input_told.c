/* SPDX-License-Identifier: Apache-2.0 */
/* Why a file or an address could not be opened as a video, by FFmpeg's code and the file's first bytes. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/file.h"
#include "media/input_ffmpeg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[600];

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    snprintf(path, sizeof path, "%s/a.mp4", test_folder());
    return 0;
}

static void store(const void *bytes, size_t count)
{
    sk_error err = {0};
    assert_ok(sk_file_put(path, bytes, count, &err), &err);
}

static void kinds_of_failures(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        int code;
        sk_status status;
        const char *text; /* behind its name */
    } cases[] = {
        {"http://a/b", AVERROR(ENOENT), SK_ERR_NOT_FOUND, ": there is no such video. Check the path"},
        {"http://a/b", AVERROR_EXIT, SK_ERR_CANCELLED, ": opening was interrupted"},
        {"http://a/b", AVERROR_INVALIDDATA, SK_ERR_FORMAT, ": Invalid data found when processing input"},
        {"http://a/b", AVERROR_DEMUXER_NOT_FOUND, SK_ERR_FORMAT, ": Demuxer not found"},
        {"http://a/b", AVERROR_STREAM_NOT_FOUND, SK_ERR_FORMAT, ": Stream not found"},
        {"http://a/b", AVERROR_HTTP_BAD_REQUEST, SK_ERR_NOT_FOUND, ": Server returned 400 Bad Request"},
        {"http://a/b", AVERROR_HTTP_UNAUTHORIZED, SK_ERR_NOT_FOUND,
         ": Server returned 401 Unauthorized (authorization failed)"},
        {"http://a/b", AVERROR_HTTP_FORBIDDEN, SK_ERR_NOT_FOUND,
         ": Server returned 403 Forbidden (access denied)"},
        {"http://a/b", AVERROR_HTTP_NOT_FOUND, SK_ERR_NOT_FOUND, ": Server returned 404 Not Found"},
        {"http://a/b", AVERROR_HTTP_OTHER_4XX, SK_ERR_NOT_FOUND,
         ": Server returned 4XX Client Error, but not one of 40{0,1,3,4}"},
        {"http://a/b", AVERROR_HTTP_SERVER_ERROR, SK_ERR_IO, ": Server returned 5XX Server Error reply"},
        {"http://a/b", AVERROR_PROTOCOL_NOT_FOUND, SK_ERR_UNSUPPORTED, ": Protocol not found"},
        {"http://a/b", AVERROR(ECONNREFUSED), SK_ERR_IO, ": Connection refused"},
        {"-", AVERROR_INVALIDDATA, SK_ERR_FORMAT,
         ": what comes through this pipe is no video that can be read in order: "},
        {"-", AVERROR(EIO), SK_ERR_IO,
         ": what comes through this pipe is no video that can be read in order: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        assert_int_equal(sk_input_failed(cases[i].uri, cases[i].code, &err), cases[i].status);
        const size_t name = strlen(cases[i].uri);
        if (strncmp(err.message, cases[i].uri, name) != 0 ||
            strncmp(err.message + name, cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("case %zu: %s", i, err.message);
    }
}

static bool says(const char *text)
{
    sk_error err = {0};
    (void)!sk_input_failed(path, AVERROR_INVALIDDATA, &err);
    return strstr(err.message, text) != NULL;
}

/* Lists of other files are known by how they begin. */
static void playlists(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool list;
    } cases[] = {{"#EXTM3U\n", true},    {"#EXTM3", false},    {"ffconcat version 1.0\n", true},
                 {"v=0\no=-", true},     {"v=0\r\no=-", true}, {"v=0", false},
                 {"v=01\n", false},      {"<?xml?>", true},    {"<MPD>", true},
                 {"[playlist]\n", true}, {"[playlist", false}, {" #EXTM3U\n", false},
                 {"<html>", false},      {"[playlist]", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        store(cases[i].text, strlen(cases[i].text));
        if (says(": is a list of other files or addresses, which are not followed. ") != cases[i].list)
            fail_msg("'%s'", cases[i].text);
    }
    store("", 0);
    assert_true(says(": the file is empty. Copy or record it again"));
}

typedef struct box {
    uint32_t length; /* in its head */
    char name[5];
    uint64_t wide; /* where length is 1 */
    int bytes;     /* that are there, its head included; 0: as many as it says */
} box;

/* An .mp4 whose index is missing is told from other damage. */
static void lost_indexes(void **state)
{
    (void)state;
    static const struct {
        box boxes[4];
        bool lacks;
    } cases[] = {
        {{{24, "ftyp", 0, 0}, {1000, "mdat", 0, 500}}, true}, /* cut off */
        {{{24, "ftyp", 0, 0}, {1000, "mdat", 0, 0}}, true},   /* right behind it */
        {{{24, "ftyp", 0, 0}, {1000, "mdat", 0, 999}}, true},
        {{{24, "ftyp", 0, 0}, {1000, "mdat", 0, 0}, {100, "free", 0, 0}}, true},
        {{{24, "ftyp", 0, 0}, {1000, "mdat", 0, 0}, {100, "moov", 0, 0}}, false}, /* it is there */
        {{{24, "ftyp", 0, 0}, {100, "moov", 0, 0}, {1000, "mdat", 0, 500}}, false},
        {{{24, "ftyp", 0, 0}, {0, "mdat", 0, 300}}, true},    /* up to the end */
        {{{24, "ftyp", 0, 0}, {1, "mdat", 5000, 300}}, true}, /* of 64 bits */
        {{{24, "ftyp", 0, 0}, {1, "mdat", 300, 300}}, true},
        {{{24, "ftyp", 0, 0}, {1, "mdat", 300, 300}, {100, "moov", 0, 0}}, false},
        {{{24, "ftyp", 0, 0}, {7, "mdat", 0, 300}}, false}, /* no such length */
        {{{24, "ftyp", 0, 0}, {8, "free", 0, 0}, {1000, "mdat", 0, 500}}, true},
        {{{24, "moov", 0, 0}, {1000, "mdat", 0, 500}}, false}, /* no such file */
        {{{24, "RIFF", 0, 0}, {1000, "mdat", 0, 500}}, false},
        {{{24, "ftyp", 0, 0}}, true},
        {{{24, "ftyp", 0, 15}}, false}, /* too short to tell */
        {{{24, "ftyp", 0, 16}}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static uint8_t file[8192];
        size_t count = 0;
        memset(file, 0, sizeof file);
        for (int k = 0; k < 4 && cases[i].boxes[k].name[0]; k++) {
            const box *b = &cases[i].boxes[k];
            for (int n = 0; n < 4; n++)
                file[count + (size_t)n] = (uint8_t)(b->length >> (24 - 8 * n));
            memcpy(file + count + 4, b->name, 4);
            for (int n = 0; n < 8 && b->length == 1; n++)
                file[count + 8 + (size_t)n] = (uint8_t)(b->wide >> (56 - 8 * n));
            count += b->bytes ? (size_t)b->bytes : b->length;
        }
        store(file, count);
        if (says(": cannot be opened as video: its end is missing, and with it the index. ") !=
            cases[i].lacks)
            fail_msg("case %zu", i);
        if (!cases[i].lacks)
            assert_true(
                says(": cannot be opened as video: Invalid data found when processing input. 'ffprobe'"));
    }
}

/* --- what is opened --- */

static bool enough;
static int has_enough(void *context)
{
    (void)context;
    return enough;
}

static void files_pipes_and_folders(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_input *input = NULL;
    const AVIOInterruptCB who = {has_enough, NULL}, nobody = {NULL, NULL};
    store("0123456789", 10);
    assert_ok(sk_input_open(path, &nobody, &input, &err), &err);
    assert_false(sk_input_is_once(input));
    AVIOContext *bytes = sk_input_bytes(input);
    assert_true(bytes->seekable && bytes->seek && !bytes->write_flag);
    uint8_t buffer[32] = {0};
    assert_int_equal(bytes->seek(bytes->opaque, 0, AVSEEK_SIZE), 10);
    assert_int_equal(bytes->seek(bytes->opaque, 7, SEEK_SET | AVSEEK_FORCE), 7);
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 32), 3);
    assert_memory_equal(buffer, "789", 3);
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 32), AVERROR_EOF);
    assert_int_equal(bytes->seek(bytes->opaque, -5, SEEK_SET), AVERROR(EINVAL));
    assert_int_equal(bytes->seek(bytes->opaque, -2, SEEK_END), 8);
    sk_input_close(&input);
    assert_null(input);
    assert_int_equal(sk_input_open(test_folder(), &nobody, &input, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, ": is a folder, not a video"));
    assert_null(input);
    assert_int_equal(sk_input_open(test_missing("a.mp4"), &nobody, &input, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/missing/a.mp4: there is no such video. Check the path"));
    assert_int_equal(sk_input_open(test_missing("a"), &nobody, &input, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/missing/a: there is no such file or folder. Check the path"));
    char below[700];
    snprintf(below, sizeof below, "%s/b.mp4", path);
    assert_int_equal(sk_input_open(below, &nobody, &input, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "b.mp4: cannot be opened: Not a directory"));
    /* a pipe is waited at until somebody has enough */
    char fifo[600];
    snprintf(fifo, sizeof fifo, "%s/pipe", test_folder());
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_ok(sk_input_open(fifo, &who, &input, &err), &err);
    assert_true(sk_input_is_once(input));
    bytes = sk_input_bytes(input);
    assert_true(!bytes->seekable && !bytes->seek);
    enough = true;
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 32), AVERROR_EXIT);
    FILE *writer = fopen(fifo, "r+");
    assert_non_null(writer);
    fputs("abc", writer);
    fflush(writer);
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 2), 2);
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 2), 1);
    assert_int_equal(bytes->read_packet(bytes->opaque, buffer, 2), AVERROR_EXIT);
    fclose(writer);
    sk_input_close(&input);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {CASE(kinds_of_failures), CASE(playlists), CASE(lost_indexes),
                                       CASE(files_pipes_and_folders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
