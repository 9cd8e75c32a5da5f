/* SPDX-License-Identifier: Apache-2.0 */
/* Small parts of base at their bounds: how much memory a file may ask for, lists of problems, tables of names, structs that know their
 * size, what makes a frame. */
#include "support/test.h"

#include "base/allowance.h"
#include "base/frame.h"
#include "base/named.h"
#include "base/problems.h"
#include "base/sized.h"
#include "skitter/version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static void memory_that_may_be_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: it says nothing */
    } all[] = {{"1", 1},
               {"5000000000", 5000000000u},
               {"3k", 3 * 1024},
               {"3K", 3 * 1024},
               {"500m", 500 * MIB},
               {"500M", 500 * MIB},
               {"2g", 2 * GIB},
               {"2.5G", 5 * GIB / 2},
               {"1t", 1024 * GIB},
               {"1T", 1024 * GIB},
               {"0", 0},
               {"-5G", 0},
               {"", 0},
               {"much", 0},
               {"5X", 0},
               {"1e30", INT64_MAX},
               {"nan", 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        setenv("SKITTER_MEMORY_LIMIT", all[i].text, 1);
        const sk_allowance network = sk_allowance_of_network();
        if (all[i].bytes) {
            assert_true(network.one == all[i].bytes && network.all == all[i].bytes);
        } else {
            assert_true(network.one == 4 * GIB && network.all >= 4 * GIB);
        }
        const uint64_t usual = 64 * 1000 + 256 * MIB;
        assert_true(sk_allowance_of_file(1000) == (all[i].bytes > usual ? all[i].bytes : usual));
    }
    unsetenv("SKITTER_MEMORY_LIMIT");
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    assert_true(sk_allowance_of_network().one == 4 * GIB &&
                sk_allowance_of_network().all == (half > 4 * GIB ? half : 4 * GIB));
    assert_true(sk_allowance_of_file(0) == 256 * MIB);
    assert_true(sk_allowance_of_file(10 * MIB) == 896 * MIB);
    assert_true(sk_allowance_of_file(UINT64_MAX / 2) == INT64_MAX);
    assert_true(sk_allowance_of_file(UINT64_MAX / 64) == INT64_MAX);
    sk_error err = {0};
    assert_int_equal(sk_allowance_fail(&err, 5 * GIB, "%d maps", 7), SK_ERR_LIMIT);
    assert_string_equal(err.message, "7 maps; if it is right, SKITTER_MEMORY_LIMIT=6G allows it");
    assert_int_equal(sk_allowance_fail(&err, 4096 * GIB - 1, "x"), SK_ERR_LIMIT);
    assert_string_equal(err.message, "x; if it is right, SKITTER_MEMORY_LIMIT=4096G allows it");
    assert_int_equal(sk_allowance_fail(&err, 4096 * GIB, "x"), SK_ERR_LIMIT);
    assert_string_equal(err.message, "x; refused");
}

typedef struct told {
    int count;
    char last[1300], first[1300];
} told;

static void tell(void *context, const char *line)
{
    told *t = context;
    snprintf(t->count++ ? t->last : t->first, sizeof t->last, "%s", line);
}

static void add_at(sk_problems *p, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sk_problems_add_at(p, "a.yaml", line, column, format, args);
    va_end(args);
}

static void problems_are_lines(void **state)
{
    (void)state;
    char longest[1500];
    for (int count = SK_PROBLEMS_KEPT - 1; count <= SK_PROBLEMS_KEPT + 2; count++) {
        sk_problems p = {0};
        told t = {0};
        for (int i = 0; i < count; i++)
            sk_problems_add(&p, "number %d\nof\r%s", i, "many");
        assert_int_equal(p.count, count);
        sk_problems_each(&p, tell, &t);
        assert_string_equal(t.first, "number 0 of many");
        assert_int_equal(t.count, count > SK_PROBLEMS_KEPT ? SK_PROBLEMS_KEPT + 1 : count);
        char last[64];
        snprintf(last, sizeof last, count > SK_PROBLEMS_KEPT ? "… and %d more" : "number %d of many",
                 count > SK_PROBLEMS_KEPT ? count - SK_PROBLEMS_KEPT : count - 1);
        assert_string_equal(t.last, last);
        sk_problems_free(&p);
        assert_int_equal(p.count, 0);
    }
    memset(longest, 'w', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (int length = 1022; length <= 1025; length++) {
        sk_problems p = {0};
        told t = {0};
        sk_problems_add(&p, "%.*s", length, longest);
        sk_problems_each(&p, tell, &t);
        assert_int_equal(strlen(t.first) == (size_t)length && t.first[length - 1] == 'w', length < 1024);
        assert_true(strlen(t.first) < 1024);
        sk_problems_free(&p);
    }
    sk_problems p = {0};
    told t = {0};
    add_at(&p, 0, 0, "one\ntwo %d", 3);
    add_at(&p, 7, 9, "%s", longest);
    sk_problems_each(&p, tell, &t);
    assert_string_equal(t.first, "a.yaml:1:1: one;two 3");
    assert_memory_equal(t.last, "a.yaml:7:9: www", 15);
    assert_in_range(strlen(t.last), 700, 830);
    sk_problems_free(&p);
}

static void names_stand_for_numbers(void **state)
{
    (void)state;
    static const sk_named table[] = {{"zero", 5}, {"one", 7}, {"two", -3}};
    assert_int_equal(sk_named_value(table, 3, "zero", 9), 5);
    assert_int_equal(sk_named_value(table, 3, "two", 9), -3);
    assert_int_equal(sk_named_value(table, 2, "two", 9), 9);
    assert_int_equal(sk_named_value(table, 3, "tw", 9), 9);
    assert_int_equal(sk_named_value(table, 3, NULL, 9), 9);
    assert_int_equal(sk_row_named(table, 3, sizeof table[0], "zero"), 0);
    assert_int_equal(sk_row_named(table, 3, sizeof table[0], "two"), 2);
    assert_int_equal(sk_row_named(table, 3, sizeof table[0], ""), -1);
    assert_int_equal(sk_row_named(table, 3, sizeof table[0], NULL), -1);
}

typedef struct grown {
    uint32_t size, a, b, c;
} grown;

/* A struct of an earlier version lacks its last fields, one of a later has more, which are zero or refused. */
static void structs_grow(void **state)
{
    (void)state;
    sk_error err = {0};
    struct {
        uint32_t size, a, b, c, d;
    } given = {.size = 8, .a = 1, .b = 2, .c = 3};
    for (uint32_t size = 0; size <= 20; size += 4) {
        grown whole = {sizeof whole, 10, 20, 30};
        given.size = size;
        given.d = 0;
        const sk_status status = sk_sized_read(&given, &whole, sizeof whole, "settings", &err);
        assert_int_equal(status, size < 4 ? SK_ERR_ARG : SK_OK);
        assert_int_equal(whole.size, sizeof whole);
        assert_int_equal(whole.a, size >= 8 ? 1 : 10);
        assert_int_equal(whole.b, size >= 12 ? 2 : 20);
        assert_int_equal(whole.c, size >= 16 ? 3 : 30);
    }
    grown whole = {sizeof whole, 10, 20, 30};
    given.size = 0;
    assert_int_equal(sk_sized_read(&given, &whole, sizeof whole, "settings", &err), SK_ERR_ARG);
    assert_string_equal(err.message, "settings of 0 bytes: its size was not set; begin with SK_…_INIT");
    given.size = 65537;
    assert_int_equal(sk_sized_read(&given, &whole, sizeof whole, "settings", &err), SK_ERR_ARG);
    given.size = 20;
    given.d = 1u << 24; /* the very last byte */
    assert_int_equal(sk_sized_read(&given, &whole, sizeof whole, "settings", &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "settings of 20 bytes, with something set that this library, "));
    assert_non_null(strstr(err.message, sk_version_text()));
    assert_non_null(strstr(err.message, "(its own has 16)"));
    static uint8_t large[65540];
    memcpy(large, &(uint32_t){65536}, 4);
    assert_ok(sk_sized_read(large, &whole, sizeof whole, "settings", &err), &err);
    for (uint32_t size = 0; size <= 20; size += 4) {
        const grown own = {sizeof own, 10, 20, 30};
        given.size = size;
        given.a = 1, given.b = 2, given.c = 3, given.d = 4;
        sk_sized_write(&given, &own, sizeof own);
        assert_int_equal(given.size, size);
        assert_int_equal(given.a, size >= 8 ? 10 : 1);
        assert_int_equal(given.b, size >= 12 ? 20 : 2);
        assert_int_equal(given.c, size >= 16 ? 30 : 3);
        assert_int_equal(given.d, 4);
    }
    given.size = 65537;
    sk_sized_write(&given, &whole, sizeof whole);
    assert_int_equal(given.c, 30);
}

static uint8_t pixels[64 * 64 * 4];

static sk_frame frame_of(sk_pixel_format format)
{
    return (sk_frame){.size = sizeof(sk_frame),
                      .format = format,
                      .width = 6,
                      .height = 4,
                      .stride = 40,
                      .data = pixels,
                      .chroma = format == SK_PIXEL_I420 ? pixels + 1000 : NULL,
                      .chroma_v = format == SK_PIXEL_I420 ? pixels + 2000 : NULL,
                      .chroma_stride = format == SK_PIXEL_I420 ? 3 : 0,
                      .index = 12};
}

static void expect(const sk_frame *frame, const char *says)
{
    sk_error err = {0};
    const sk_status status = sk_frame_check(frame, &err);
    assert_int_equal(status, says ? SK_ERR_ARG : SK_OK);
    if (says && !strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void frames_have_bounds(void **state)
{
    (void)state;
    static const int row[] = {0, 18, 18, 6, 6, 6, 24, 24, 12, 12};
    for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_YUYV; format++) {
        sk_frame f = frame_of((sk_pixel_format)format);
        expect(&f, NULL);
        assert_int_equal(sk_frame_row_bytes(f.format, 6), row[format]);
        f.stride = row[format];
        expect(&f, NULL);
        f.stride = row[format] - 1;
        char says[200];
        snprintf(says, sizeof says,
                 "frame 12: %d bytes from row to row (sk_frame.stride); 6 pixels of this format take %d, and "
                 "rows run from top to bottom",
                 row[format] - 1, row[format]);
        expect(&f, says);
        f = frame_of((sk_pixel_format)format);
        f.place = SK_PLACE_CUDA;
        expect(&f, format <= SK_PIXEL_NV12 ? NULL
                                           : "frame 12: in a GPU's memory RGB, BGR, grey and NV12 are taken");
        f.place = (sk_place)(SK_PLACE_ROCM + 1);
        expect(&f, "no place has the number");
        f = frame_of((sk_pixel_format)format);
        f.matrix = (sk_colour_matrix)(SK_COLOUR_BT2020 + 1);
        expect(&f, format == SK_PIXEL_NV12 || format == SK_PIXEL_I420 || format == SK_PIXEL_YUYV
                       ? "no matrix of colours has the number"
                       : NULL);
    }
    sk_frame f = frame_of((sk_pixel_format)0);
    expect(&f, "frame 12: no pixel format has the number 0 (sk_frame.format; SK_PIXEL_…)");
    f = frame_of((sk_pixel_format)(SK_PIXEL_YUYV + 1));
    expect(&f, "no pixel format has the number 10");
    f = frame_of(SK_PIXEL_RGB);
    f.data = NULL;
    expect(&f, "frame 12: it has no pixels (sk_frame.data is null)");
    for (int i = 0; i < 4; i++) {
        f = frame_of(SK_PIXEL_GRAY);
        f.stride = 65536;
        *(i & 1 ? &f.width : &f.height) = i & 2 ? 65536 : 0;
        expect(&f, "pixels; allowed are 1 to 65535 a side");
        *(i & 1 ? &f.width : &f.height) = i & 2 ? 65535 : 1;
        expect(&f, NULL);
    }
    f = frame_of(SK_PIXEL_I420);
    f.chroma_stride = 2;
    expect(&f, "I420 needs chroma, chroma_v and chroma_stride");
    f = frame_of(SK_PIXEL_I420);
    f.chroma_v = NULL;
    expect(&f, "I420 needs");
    f = frame_of(SK_PIXEL_I420);
    f.chroma = NULL;
    expect(&f, "I420 needs");
    f = frame_of(SK_PIXEL_NV12);
    f.chroma_stride = 5;
    expect(&f, "NV12 whose rows of chroma are too short");
    f.chroma_stride = 6;
    expect(&f, NULL);
    f = frame_of(SK_PIXEL_NV12);
    f.width = 7, f.stride = 7; /* whose chroma needs eight */
    expect(&f, "NV12 whose rows of chroma are too short");
    f.stride = 8;
    expect(&f, NULL);
    f = frame_of(SK_PIXEL_YUYV);
    f.width = 7;
    expect(&f, "YUYV has an even width");
}

/* A copy lies in one block, row behind row, plane behind plane. */
static void copies_are_dense(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 31 >> 2);
    for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_YUYV; format++)
        for (int odd = 0; odd < 2; odd++)
            for (int tight = 0; tight < 2; tight++) {
                sk_frame f = frame_of((sk_pixel_format)format), copy;
                f.width = 6 + (odd && format != SK_PIXEL_YUYV), f.height = 4 + odd;
                f.chroma_stride = format == SK_PIXEL_I420 ? (tight ? 3 + odd : 11) : 0;
                const size_t row = sk_frame_row_bytes(f.format, f.width),
                             half = (size_t)f.width / 2 + (size_t)(f.width % 2),
                             step = format == SK_PIXEL_NV12 ? 2 * half : row, rows = 2 + (size_t)odd;
                if (tight)
                    f.stride = (ptrdiff_t)step;
                const size_t wanted =
                    step * (size_t)f.height +
                    (format == SK_PIXEL_I420 || format == SK_PIXEL_NV12 ? 2 * half * rows : 0);
                assert_int_equal(sk_frame_copy_bytes(&f), wanted);
                uint8_t to[1000];
                memset(to, 0xAA, sizeof to);
                sk_frame_copy(&f, to, &copy);
                assert_int_equal(copy.stride, step);
                assert_ptr_equal(copy.data, to);
                assert_int_equal(copy.index, 12);
                for (int y = 0; y < f.height; y++)
                    assert_memory_equal(to + step * (size_t)y, f.data + f.stride * y, row);
                for (size_t y = 0; y < rows && format == SK_PIXEL_NV12; y++)
                    assert_memory_equal(sk_frame_chroma(&copy) + sk_frame_chroma_stride(&copy) * (ptrdiff_t)y,
                                        sk_frame_chroma(&f) + sk_frame_chroma_stride(&f) * (ptrdiff_t)y,
                                        2 * half);
                for (size_t y = 0; y < rows && format == SK_PIXEL_I420; y++) {
                    assert_memory_equal(copy.chroma + copy.chroma_stride * (ptrdiff_t)y,
                                        f.chroma + f.chroma_stride * (ptrdiff_t)y, half);
                    assert_memory_equal(copy.chroma_v + copy.chroma_stride * (ptrdiff_t)y,
                                        f.chroma_v + f.chroma_stride * (ptrdiff_t)y, half);
                }
                assert_int_equal(to[wanted], 0xAA);
                assert_true((copy.chroma != NULL) == (format == SK_PIXEL_I420));
            }
    sk_frame a = frame_of(SK_PIXEL_RGB), b = a;
    b.device = 1;
    assert_true(sk_frame_same_place(&a, &b)); /* the host is one */
    a.place = SK_PLACE_CUDA;
    assert_false(sk_frame_same_place(&a, &b));
    b.place = SK_PLACE_CUDA;
    assert_false(sk_frame_same_place(&a, &b));
    b.device = 0;
    assert_true(sk_frame_same_place(&a, &b));
    b.place = SK_PLACE_ROCM;
    assert_false(sk_frame_same_place(&a, &b));
    assert_true(sk_time_ns(1.5) == 1500000000 && sk_time_ns(-1e-9) == -1 && sk_time_ns(NAN) == 0 &&
                sk_time_ns(4.4e-10) == 0);
    assert_true(sk_time_ns(1e30) == INT64_C(9200000000000000000) &&
                sk_time_ns(-1e30) == -INT64_C(9200000000000000000));
    assert_true(sk_time_ns(INFINITY) == INT64_C(9200000000000000000) && sk_time_seconds(2500000000) == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_may_be_asked_for), cmocka_unit_test(problems_are_lines),
        cmocka_unit_test(names_stand_for_numbers),      cmocka_unit_test(structs_grow),
        cmocka_unit_test(frames_have_bounds),           cmocka_unit_test(copies_are_dense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
