/* SPDX-License-Identifier: Apache-2.0 */
/* What lives in headers of base, each by its rule: work shared out, text on its way to a file, times, rows, places of frames, bits; and what
 * a thread that is bound to one core is told. */
#include "support/test.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/formula.h"
#include "base/frame.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/text_out.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every item once, in order; runs begin at whole grains and differ by one grain at most, but for the last one's rest. */
static void work_is_shared_out(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 40; count++)
        for (int64_t grain = 1; grain < 6; grain++)
            for (int32_t parts = 1; parts < 8; parts++) {
                const int64_t grains = (count + grain - 1) / grain;
                int64_t at = 0;
                for (int32_t part = 0; part < parts; part++) {
                    int64_t begin = -1, end = -1;
                    sk_pool_split(count, grain, part, parts, &begin, &end);
                    assert_true(begin == at && end >= begin);
                    assert_true(begin % grain == 0 || begin == count);
                    assert_true(end % grain == 0 || end == count);
                    const int64_t has = (end - begin + grain - 1) / grain;
                    assert_true(has == grains / parts || has == grains / parts + (grains % parts > 0));
                    at = end;
                }
                assert_int_equal(at, count);
            }
}

/* Longer than what is gathered, in pieces of every kind and length around its size: what comes out is what went in. */
static void texts_reach_their_file(void **state)
{
    (void)state;
    enum { MOST = 5 * SK_TEXT_OUT_BYTES };
    static char want[MOST], got[MOST], piece[2 * SK_TEXT_OUT_BYTES];
    static sk_text_out out;
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = (char)('a' + i % 26);
    static const size_t lengths[] = {0, 1, SK_TEXT_OUT_BYTES - 1, SK_TEXT_OUT_BYTES, SK_TEXT_OUT_BYTES + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int before = 0; before < 4; before++) {
            size_t used = 0;
            char name[4200];
            snprintf(name, sizeof name, "%s/out.txt", test_folder());
            FILE *file = fopen(name, "w+b");
            assert_non_null(file);
            out.file = file;
            out.used = 0;
            for (int k = 0; k < before; k++) {
                sk_out_char(&out, '<');
                want[used++] = '<';
            }
            sk_out_bytes(&out, piece, lengths[i]);
            memcpy(want + used, piece, lengths[i]);
            used += lengths[i];
            for (int k = 0; k < 300; k++) { /* numbers that do not fit into what is left */
                sk_out_int(&out, k * 12345678901LL - 5);
                sk_out_char(&out, ' ');
                sk_out_g(&out, k / 7.0, 9);
                sk_out_text(&out, ", ");
                sk_out_f(&out, -k / 3.0, 4);
                used += (size_t)snprintf(want + used, sizeof want - used, "%lld %.9g, %.4f",
                                         k * 12345678901LL - 5, k / 7.0, -k / 3.0);
            }
            sk_out_push(&out);
            assert_int_equal(out.used, 0);
            assert_int_equal(ftell(file), used);
            rewind(file);
            assert_int_equal(fread(got, 1, sizeof got, file), used);
            assert_memory_equal(got, want, used);
            fclose(file);
        }
}

static void times_are_whole_ns(void **state)
{
    (void)state;
    assert_true(sk_time_ns(0) == 0 && sk_time_ns(1.5) == 1500000000 && sk_time_ns(-0.25) == -250000000);
    assert_true(sk_time_ns(1e-9) == 1 && sk_time_ns(0.4e-9) == 0 && sk_time_ns(0.6e-9) == 1 &&
                sk_time_ns(-0.6e-9) == -1);
    assert_true(sk_time_ns((double)NAN) == 0);
    assert_true(sk_time_ns(1e30) == 9200000000000000000 &&
                sk_time_ns((double)INFINITY) == 9200000000000000000);
    assert_true(sk_time_ns(-1e30) == -9200000000000000000 &&
                sk_time_ns(-(double)INFINITY) == -9200000000000000000);
    assert_true(sk_time_ns(9.1e9) == 9100000000000000000 && sk_time_ns(-9.1e9) == -9100000000000000000);
    assert_true(sk_time_seconds(2500000000) == 2.5 && sk_time_seconds(-1) == -1e-9);
}

static void rows_and_places_of_frames(void **state)
{
    (void)state;
    static const struct {
        sk_pixel_format format;
        size_t bytes; /* of seven pixels */
    } rows[] = {{SK_PIXEL_GRAY, 7},  {SK_PIXEL_GRAY16, 14}, {SK_PIXEL_YUYV, 14},
                {SK_PIXEL_RGB, 21},  {SK_PIXEL_BGR, 21},    {SK_PIXEL_RGBA, 28},
                {SK_PIXEL_BGRA, 28}, {SK_PIXEL_NV12, 7},    {SK_PIXEL_I420, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sk_frame_row_bytes(rows[i].format, 7), rows[i].bytes);
    uint8_t pixels[64];
    sk_frame f = {.data = pixels, .stride = 8, .height = 4};
    assert_ptr_equal(sk_frame_chroma(&f), pixels + 32); /* behind the luma, as wide */
    assert_int_equal(sk_frame_chroma_stride(&f), 8);
    f.chroma = pixels + 40;
    f.chroma_stride = 6;
    assert_ptr_equal(sk_frame_chroma(&f), pixels + 40);
    assert_int_equal(sk_frame_chroma_stride(&f), 6);
    const sk_frame host = {.device = 1}, other_host = {.device = 2},
                   first = {.place = SK_PLACE_CUDA, .device = 0}, again = first,
                   second = {.place = SK_PLACE_CUDA, .device = 1};
    assert_true(sk_frame_same_place(&host, &other_host)); /* there is one */
    assert_true(sk_frame_same_place(&first, &again));
    assert_false(sk_frame_same_place(&first, &second));
    assert_false(sk_frame_same_place(&host, &second));
    assert_false(sk_frame_same_place(&second, &host));
}

static void numbers_and_their_bits(void **state)
{
    (void)state;
    assert_true(sk_is_finite(0) && sk_is_finite(-3e38f) && !sk_is_finite(INFINITY) &&
                !sk_is_finite(-INFINITY) && !sk_is_finite(NAN));
    assert_int_equal(sk_float_bits(1), 0x3f800000);
    assert_int_equal(sk_float_bits(-2), 0xc0000000);
    assert_true(sk_bits_float(0x40490fdb) == 0x1.921fb6p+1f);
    assert_true(sk_mul(3, -0.5f) == -1.5f);
    static const int32_t bytes[][2] = {{-1, 0},    {0, 0},     {1, 1},           {254, 254},
                                       {255, 255}, {256, 255}, {INT32_MAX, 255}, {INT32_MIN, 0}};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_int_equal(sk_to_byte(bytes[i][0]), bytes[i][1]);
    size_t got = 0;
    assert_true(sk_mul_size(SIZE_MAX / 2, 2, &got) && got == SIZE_MAX - 1);
    assert_false(sk_mul_size(SIZE_MAX / 2 + 1, 2, &got));
    assert_true(sk_add_size(SIZE_MAX - 1, 1, &got) && got == SIZE_MAX);
    assert_false(sk_add_size(SIZE_MAX, 1, &got));
}

/* Samples far from 0 that lie near each other: their spread is not lost. */
static void spreads_far_from_zero(void **state)
{
    (void)state;
    double samples[] = {1e13 + 1, 1e13 + 4, 1e13 + 2};
    const sk_samples_summary s = sk_samples_summarize(samples, 3);
    assert_true(fabs(s.mean - 1e13 - 7.0 / 3) < 0.01);
    assert_true(fabs(s.deviation - sqrt(7.0 / 3)) < 0.01);
}

/* A thread that may use one core has that one, whichever it is. */
static void one_core_is_one_core(void **state)
{
    (void)state;
    cpu_set_t before, one;
    int32_t cores[CPU_SETSIZE];
    sk_error err = {0};
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int tried = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && tried < 4; cpu++) {
        if (!CPU_ISSET(cpu, &before))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        assert_int_equal(sk_cpu_core_list(cores, CPU_SETSIZE), 1);
        assert_int_equal(cores[0], cpu);
        int32_t other = cpu == 0 ? 1 : 0;
        sk_pool_settings s = sk_pool_defaults();
        sk_pool *pool = NULL;
        s.threads = 1;
        s.cores = &other;
        s.core_count = 1;
        assert_int_equal(sk_pool_open(&s, &pool, &err), SK_ERR_ARG);
        char words[64];
        snprintf(words, sizeof words, "core %d is not one this process may use", other);
        assert_non_null(strstr(err.message, words));
        assert_null(pool);
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
        tried++;
    }
    assert_true(tried > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_shared_out),     cmocka_unit_test(texts_reach_their_file),
        cmocka_unit_test(times_are_whole_ns),     cmocka_unit_test(rows_and_places_of_frames),
        cmocka_unit_test(numbers_and_their_bits), cmocka_unit_test(spreads_far_from_zero),
        cmocka_unit_test(one_core_is_one_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
