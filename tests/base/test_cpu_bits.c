/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/cpu.h"

#if defined(__x86_64__)
/* Every bit by its number in Intel's manual: without it a processor has what lies below it, and nothing that needs it. */
static void every_bit_counts(void **state)
{
    (void)state;
    enum { C1, B7, C7, D7, A71, SAVED };
    static const struct {
        int word, bit;
        uint32_t lost; /* with it go these */
    } bits[] = {
        {C1, 9, ~0u},                      /* SSSE3 */
        {C1, 19, ~0u},                     /* SSE4.1 */
        {C1, 20, ~0u},                     /* SSE4.2 */
        {C1, 23, ~0u},                     /* POPCNT */
        {C1, 12, ~(uint32_t)SK_CPU_SSE42}, /* FMA */
        {C1, 28, ~(uint32_t)SK_CPU_SSE42}, /* AVX */
        {C1, 29, ~(uint32_t)SK_CPU_SSE42}, /* F16C */
        {B7, 3, ~(uint32_t)SK_CPU_SSE42},  /* BMI1 */
        {B7, 5, ~(uint32_t)SK_CPU_SSE42},  /* AVX2 */
        {B7, 8, ~(uint32_t)SK_CPU_SSE42},  /* BMI2 */
        {SAVED, 1, ~(uint32_t)SK_CPU_SSE42},
        {SAVED, 2, ~(uint32_t)SK_CPU_SSE42},
        {A71, 4, SK_CPU_AVXVNNI},
        {B7, 16, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX}, /* F */
        {B7, 17, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX}, /* DQ */
        {B7, 28, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX}, /* CD */
        {B7, 30, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX}, /* BW */
        {B7, 31, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX}, /* VL */
        {SAVED, 5, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX},
        {SAVED, 6, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX},
        {SAVED, 7, SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX},
        {C7, 11, SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX},
        {A71, 5, SK_CPU_AVX512BF16 | SK_CPU_AMX},
        {D7, 22, SK_CPU_AMX},
        {D7, 24, SK_CPU_AMX},
        {D7, 25, SK_CPU_AMX},
        {SAVED, 17, SK_CPU_AMX},
        {SAVED, 18, SK_CPU_AMX},
    };
    const uint32_t all = SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVXVNNI | SK_CPU_AVX512 | SK_CPU_AVX512VNNI |
                         SK_CPU_AVX512BF16 | SK_CPU_AMX;
    enum { N = sizeof bits / sizeof bits[0] };
    for (int without = -1; without < N; without++) {
        uint64_t word[6] = {0}; /* nothing but these bits: no other may be asked for */
        for (int i = 0; i < N; i++)
            if (i != without)
                word[bits[i].word] |= (uint64_t)1 << bits[i].bit;
        const sk_cpu_words w = {(uint32_t)word[C1], (uint32_t)word[B7],  (uint32_t)word[C7],
                                (uint32_t)word[D7], (uint32_t)word[A71], word[SAVED]};
        const uint32_t wanted = without < 0 ? all : all & ~bits[without].lost;
        if (sk_cpu_flags_of(&w) != wanted)
            fail_msg("without bit %d of word %d: %x instead of %x", bits[without].bit, bits[without].word,
                     sk_cpu_flags_of(&w), wanted);
    }
}

/* Tiles are hidden where there are some and nothing is said of their size. */
static void hidden_tiles(void **state)
{
    (void)state;
    const sk_cpu_words tiles = {.d7 = 1u << 24}, others = {.d7 = ~(1u << 24)};
    assert_true(sk_cpu_hides_tiles_by(&tiles, 0));
    assert_false(sk_cpu_hides_tiles_by(&tiles, 1));
    assert_false(sk_cpu_hides_tiles_by(&others, 0));
    assert_false(sk_cpu_hides_tiles_by(&others, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bit_counts), cmocka_unit_test(hidden_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
