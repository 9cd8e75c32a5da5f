/* SPDX-License-Identifier: Apache-2.0 */
/* An .mp4 that cannot be opened: where its end is missing, that is what is told; else what FFmpeg makes of it. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/file.h"
#include "skitter/source.h"

#include <stdio.h>
#include <string.h>

/* Boxes of a file: a name, the length it claims, and how many bytes there are. A claim of 1: the next eight bytes say it. */
typedef struct box {
    const char *name;
    uint32_t claims;
    uint64_t large;
    size_t bytes;
} box;

static size_t write_boxes(const box *boxes, unsigned char *out)
{
    size_t n = 0;
    for (; boxes->name; boxes++) {
        memset(out + n, 0, boxes->bytes);
        for (int i = 0; i < 4; i++)
            out[n + (size_t)i] = (unsigned char)(boxes->claims >> (24 - 8 * i));
        memcpy(out + n + 4, boxes->name, 4);
        for (int i = 0; i < 8 && boxes->claims == 1; i++)
            out[n + 8 + (size_t)i] = (unsigned char)(boxes->large >> (56 - 8 * i));
        n += boxes->bytes;
    }
    return n;
}

static void what_is_missing_is_told(void **state)
{
    (void)state;
    static const struct {
        box boxes[5];
        bool cut;
    } cases[] = {
        {{{"ftyp", 16, 0, 16}, {"mdat", 1000, 0, 32}}, true}, /* much less than it claims */
        {{{"ftyp", 16, 0, 16}, {"mdat", 40, 0, 32}}, true},   /* a little less */
        {{{"ftyp", 16, 0, 16}, {"mdat", 33, 0, 32}}, true},   /* by one byte */
        {{{"ftyp", 16, 0, 16}, {"mdat", 32, 0, 32}}, true},   /* all there, but no index */
        {{{"ftyp", 16, 0, 16}, {"free", 24, 0, 24}, {"mdat", 32, 0, 32}}, true},
        {{{"ftyp", 16, 0, 16}, {"free", 8, 0, 8}, {"mdat", 32, 0, 32}}, true}, /* a box of nothing */
        {{{"ftyp", 16, 0, 16}, {"mdat", 0, 0, 32}}, true},                     /* up to the end */
        {{{"ftyp", 16, 0, 16}, {"mdat", 1, 32, 32}}, true}, /* a long one, told by 64 bits */
        {{{"ftyp", 16, 0, 16}, {"mdat", 1, (uint64_t)5 << 32, 32}}, true},
        {{{"ftyp", 16, 0, 16}, {"mdat", 32, 0, 32}, {"moov", 24, 0, 24}}, false}, /* its index is empty */
        {{{"ftyp", 16, 0, 16}, {"moov", 900, 0, 32}}, false},
        {{{"free", 16, 0, 16}, {"mdat", 1000, 0, 32}}, false}, /* nothing says that it is one */
        {{{"ftyp", 16, 0, 16}, {"mdat", 7, 0, 32}}, false}};   /* no length that a box has */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[256];
        char path[4300];
        sk_error err = {0};
        sk_source *source = NULL;
        snprintf(path, sizeof path, "%s/cut%zu.mp4", test_folder(), i);
        assert_ok(sk_file_replace(path, bytes, write_boxes(cases[i].boxes, bytes), &err), &err);
        const sk_status status = sk_source_open(path, NULL, &source, &err);
        sk_source_close(&source);
        if (status != SK_ERR_FORMAT || (strstr(err.message, "its end is missing") != NULL) != cases[i].cut)
            fail_msg("case %zu: %s: %s", i, sk_status_text(status), err.message);
    }
}

/* Files that name others are not followed, whatever form they have; a word that only begins alike is no list. */
static void playlists_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool list;
    } cases[] = {{"#EXTM3U\n#EXTINF:1\na.ts\n", true},
                 {"ffconcat version 1.0\nfile a.mp4\n", true},
                 {"v=0\no=- 0 0 IN IP4 1.2.3.4\n", true},
                 {"v=0\r\no=- 0 0 IN IP4 1.2.3.4\r\n", true},
                 {"<?xml version=\"1.0\"?><MPD>", true},
                 {"<MPD></MPD>", true},
                 {"#EXTM3", false},
                 {"v=01 no list at all", false},
                 {"nothing that anybody knows", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4300];
        sk_error err = {0};
        sk_source *source = NULL;
        snprintf(path, sizeof path, "%s/list%zu.mp4", test_folder(), i);
        assert_ok(sk_file_replace(path, cases[i].text, strlen(cases[i].text), &err), &err);
        const sk_status status = sk_source_open(path, NULL, &source, &err);
        sk_source_close(&source);
        if (status == SK_OK || (strstr(err.message, "is a list of other files") != NULL) != cases[i].list)
            fail_msg("case %zu: %s: %s", i, sk_status_text(status), err.message);
    }
    sk_error err = {0};
    sk_source *source = NULL;
    char path[4300];
    snprintf(path, sizeof path, "%s/empty.mp4", test_folder());
    assert_ok(sk_file_replace(path, "", 0, &err), &err);
    assert_int_equal(sk_source_open(path, NULL, &source, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the file is empty"));
    assert_int_equal(sk_source_open(test_missing("none.mp4"), NULL, &source, &err), SK_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_missing_is_told),
                                       cmocka_unit_test(playlists_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
