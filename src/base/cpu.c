/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"

#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

static const struct {
    const char *name;
    uint32_t flag;
} levels[] = {
    {"sse4.2", SK_CPU_SSE42},
    {"avx2", SK_CPU_AVX2},
    {"avxvnni", SK_CPU_AVXVNNI},
    {"avx512", SK_CPU_AVX512},
    {"avx512vnni", SK_CPU_AVX512VNNI},
    {"avx512bf16", SK_CPU_AVX512BF16},
    {"amx", SK_CPU_AMX},
    {"neon", SK_CPU_NEON},
    {"dotprod", SK_CPU_DOTPROD},
    {"i8mm", SK_CPU_I8MM},
};
#define LEVELS (sizeof levels / sizeof levels[0])

#if defined(__x86_64__)

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static int has(uint32_t word, uint32_t bits)
{
    return (word & bits) == bits;
}

/* Linux keeps tile registers from a process that has not asked: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
static int ask_for_tiles(void)
{
#if defined(__linux__)
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#else
    return 0;
#endif
}

uint32_t sk_cpu_flags_of(const sk_cpu_words *w)
{
    if (!has(w->c1, bit_SSE4_2 | bit_SSE4_1 | bit_SSSE3 | bit_POPCNT))
        return 0;
    uint32_t flags = SK_CPU_SSE42;
    if ((w->saved & 0x6) != 0x6 || !has(w->c1, bit_AVX | bit_FMA | bit_F16C) ||
        !has(w->b7, bit_AVX2 | bit_BMI | bit_BMI2))
        return flags;
    flags |= SK_CPU_AVX2;
    if (has(w->a71, 1u << 4)) /* AVX_VNNI */
        flags |= SK_CPU_AVXVNNI;
    /* bits 5-7 of XCR0: the mask registers and the upper halves and banks of zmm */
    if ((w->saved & 0xE6) != 0xE6 ||
        !has(w->b7, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD))
        return flags;
    flags |= SK_CPU_AVX512;
    if (!has(w->c7, 1u << 11)) /* AVX512_VNNI */
        return flags;
    flags |= SK_CPU_AVX512VNNI;
    if (!has(w->a71, 1u << 5)) /* AVX512_BF16 */
        return flags;
    flags |= SK_CPU_AVX512BF16;
    /* AMX_BF16, AMX_TILE, AMX_INT8, and the tile registers' two bits of XCR0 */
    if (has(w->d7, 1u << 22 | 1u << 24 | 1u << 25) && (w->saved & 0x60000) == 0x60000)
        flags |= SK_CPU_AMX;
    return flags;
}

static uint32_t detect(void)
{
    sk_cpu_words w = {0};
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &w.c1, &d))
        return 0;
    w.saved = has(w.c1, bit_OSXSAVE) ? read_xcr0() : 0;
    const int seven = __get_cpuid_count(7, 0, &a, &w.b7, &w.c7, &w.d7);
    if (seven && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
        w.a71 = a;
    const uint32_t flags = sk_cpu_flags_of(&w);
    return flags & SK_CPU_AMX && !ask_for_tiles() ? flags & ~(uint32_t)SK_CPU_AMX : flags;
}

bool sk_cpu_hides_tiles_by(const sk_cpu_words *words, uint32_t palettes)
{
    return has(words->d7, 1u << 24) && palettes == 0;
}

bool sk_cpu_hides_tiles(void)
{
    sk_cpu_words w = {0};
    uint32_t palettes = 0, a, b, c;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &w.d7))
        return false;
    if (!__get_cpuid_count(0x1d, 0, &palettes, &a, &b, &c))
        palettes = 0;
    return sk_cpu_hides_tiles_by(&w, palettes);
}

#elif defined(__aarch64__)

static uint32_t detect(void)
{
    unsigned long has_dotprod = getauxval(AT_HWCAP) & (1ul << 20); /* HWCAP_ASIMDDP */
    unsigned long has_i8mm = getauxval(AT_HWCAP2) & (1ul << 13);   /* HWCAP2_I8MM */
    return SK_CPU_NEON | (has_dotprod ? SK_CPU_DOTPROD | (has_i8mm ? SK_CPU_I8MM : 0) : 0);
}

#else

static uint32_t detect(void)
{
    return 0;
}

#endif

#if !defined(__x86_64__)
bool sk_cpu_hides_tiles(void)
{
    return false;
}
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t detected, masked;
static _Atomic uint32_t limit = ~0u;

static void detect_once(void)
{
    detected = detect();
    masked = detected;
    const char *mask = getenv("SKITTER_CPU_MASK");
    sk_error err;
    if (mask && *mask && sk_cpu_apply_mask(mask, detected, &masked, &err) != SK_OK) {
        masked = detected;
        sk_log(SK_LOG_WARN, "%s; the variable is ignored", err.message);
    }
}

uint32_t sk_cpu_detected_flags(void)
{
    pthread_once(&once, detect_once);
    return detected;
}

uint32_t sk_cpu_flags(void)
{
    pthread_once(&once, detect_once);
    return masked & atomic_load_explicit(&limit, memory_order_relaxed);
}

void sk_cpu_limit(uint32_t flags)
{
    atomic_store(&limit, flags);
}

sk_status sk_cpu_apply_mask(const char *mask, uint32_t flags, uint32_t *out, sk_error *err)
{
    if (strcmp(mask, "none") == 0) {
        *out = 0;
        return SK_OK;
    }
    for (size_t i = 0; i < LEVELS; i++) {
        if (strcmp(mask, levels[i].name) == 0) {
            /* The x86 levels and the Arm levels are two ladders in one word. */
            uint32_t ladder = levels[i].flag < SK_CPU_NEON ? SK_CPU_NEON - 1u : ~(SK_CPU_NEON - 1u);
            *out = flags & ladder & (levels[i].flag | (levels[i].flag - 1u));
            return SK_OK;
        }
    }
    return sk_fail(
        err, SK_ERR_ARG,
        "SKITTER_CPU_MASK=%s is not a CPU level; use none, sse4.2, avx2, avxvnni, avx512, avx512vnni, "
        "avx512bf16, amx, neon, dotprod or i8mm",
        mask);
}

sk_status sk_cpu_check_mask(sk_error *err)
{
    const char *mask = getenv("SKITTER_CPU_MASK");
    uint32_t flags;
    return mask && *mask ? sk_cpu_apply_mask(mask, 0, &flags, err) : SK_OK;
}

const char *sk_cpu_level_name(uint32_t flags)
{
    for (size_t i = LEVELS; i-- > 0;) {
        if (flags & levels[i].flag)
            return levels[i].name;
    }
    return "plain c";
}

const char *sk_cpu_flags_text(uint32_t flags, char *buffer, size_t capacity)
{
    size_t used = 0;
    if (capacity)
        buffer[0] = '\0';
    for (size_t i = 0; i < LEVELS; i++) {
        if (!(flags & levels[i].flag))
            continue;
        int length = snprintf(buffer + used, capacity - used, "%s%s", used ? " " : "", levels[i].name);
        if (length < 0 || (size_t)length >= capacity - used)
            break;
        used += (size_t)length;
    }
    return buffer;
}

/* Flush to zero and denormals are zero: bits of MXCSR; on ARM one bit of FPCR says both. */
#define MXCSR_TINY 0x8040u
#define FPCR_TINY  ((uint64_t)1 << 24)

uint64_t sk_cpu_flush_tiny(void)
{
    uint64_t before = 0;
#if defined(__x86_64__)
    before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr((uint32_t)before | MXCSR_TINY);
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | FPCR_TINY));
#endif
    return before;
}

void sk_cpu_float_mode_restore(uint64_t mode)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)mode);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
    (void)mode;
#endif
}
