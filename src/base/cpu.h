/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_CPU_H
#define SK_BASE_CPU_H

#include "base/error.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this CPU, this system and this process may use. Detected once; thread-safe. */

/* One flag for each level kernels are written for. A flag is set only when the processor has every
 * instruction named and the operating system saves the registers (XGETBV); each x86 level implies the ones
 * before it. */
enum {
    SK_CPU_SSE42 = 1 << 0,
    SK_CPU_AVX2 = 1 << 1,       /* with FMA, F16C, BMI1, BMI2 */
    SK_CPU_AVXVNNI = 1 << 2,    /* 8-bit dot products of AVX2's registers; above it may be without */
    SK_CPU_AVX512 = 1 << 3,     /* F, BW, DQ, VL (and CD): Skylake server */
    SK_CPU_AVX512VNNI = 1 << 4, /* 8-bit dot products */
    SK_CPU_AVX512BF16 = 1 << 5,
    SK_CPU_AMX = 1 << 6,     /* tiles with int8 and bf16, and the system lets this process use them */
    SK_CPU_NEON = 1 << 7,    /* aarch64: always */
    SK_CPU_DOTPROD = 1 << 8, /* aarch64: 8-bit dot products */
    SK_CPU_I8MM = 1 << 9     /* aarch64: dot products of unsigned with signed bytes */
};

/* The flags kernels are chosen by: what was detected, limited by the environment variable SKITTER_CPU_MASK,
 * whose value names the highest level allowed: none (plain C), sse4.2, avx2, avxvnni, avx512, avx512vnni, avx512bf16, amx; neon, dotprod, i8mm. A
 * value that is not one of these limits nothing and is reported once through the log; sk_cpu_check_mask makes
 * it an error. */
uint32_t sk_cpu_flags(void);
/* Without the limit. */
uint32_t sk_cpu_detected_flags(void);
/* The flags that `mask` leaves of `flags`; SK_ERR_ARG for an unknown name. */
sk_status sk_cpu_apply_mask(const char *mask, uint32_t flags, uint32_t *out, sk_error *err) SK_MUST_CHECK;
/* For doors, at start: is SKITTER_CPU_MASK spelled right? */
sk_status sk_cpu_check_mask(sk_error *err) SK_MUST_CHECK;
/* For tests: from now on sk_cpu_flags gives what was detected and is also in `flags`; ~0u ends it. */
void sk_cpu_limit(uint32_t flags);

/* "avx2" for the highest level in `flags`; "plain c" for none. */
const char *sk_cpu_level_name(uint32_t flags);
/* "sse4.2 avx2 avx512" for all that are set. Returns buffer. */
const char *sk_cpu_flags_text(uint32_t flags, char *buffer, size_t capacity);
#define SK_CPU_FLAGS_TEXT 96

/* Logical processors this process may run on (sched_getaffinity), cut to the cgroup's CPU quota, rounded up;
 * >= 1. */
int32_t sk_cpu_usable_threads(void);
/* The same counting each physical core once; what a thread pool should have. >= 1. */
int32_t sk_cpu_usable_cores(void);
/* One logical processor for every physical core this process may run on, upward; at most `capacity`. Returns
 * how many were written. For sk_pool_settings.cores. */
int32_t sk_cpu_core_list(int32_t *cores, int32_t capacity);

typedef struct sk_cpu_info {
    char model[96];      /* "AMD EPYC 9654 …"; "unknown" when the system does not say */
    uint32_t flags;      /* detected */
    int32_t logical;     /* processors on line in the machine */
    int32_t allowed;     /* of these, those in this process's affinity mask */
    int32_t physical;    /* physical cores among the allowed */
    double quota;        /* cgroup limit in cores, 0 = none */
    int64_t l1d, l2, l3; /* bytes of the first core's caches; 0 = unknown */
    int32_t l3_sharers;  /* processors that share the l3 */
} sk_cpu_info;

void sk_cpu_describe(sk_cpu_info *info);

/* From now on this thread takes numbers nearer to 0 than the smallest normal one (1.2e-38 in f32) for 0, where they are read and
 * where they are made: processors of Intel take a hundred times as long for each of them, and networks make many (what SiLU leaves
 * of large negative numbers). Returns how it was before, for sk_cpu_float_mode_restore. */
uint64_t sk_cpu_flush_tiny(void);
void sk_cpu_float_mode_restore(uint64_t mode);

/* Is this a machine with tiles (AMX) whose size it does not tell? */
bool sk_cpu_hides_tiles(void);

#if defined(__x86_64__)
/* A part that tests feed: the flags by what CPUID says (leaf 1: ecx; 7: ebx, ecx, edx; 7.1: eax) and by which registers the system
 * saves (XCR0). */
typedef struct sk_cpu_words {
    uint32_t c1, b7, c7, d7, a71;
    uint64_t saved;
} sk_cpu_words;
uint32_t sk_cpu_flags_of(const sk_cpu_words *words);
/* Tiles (AMX) without a word on their size (leaf 1D, `palettes`: its eax; 0 where the processor has no such leaf): some virtual
 * machines are so, and libraries that ask for the size end with an illegal instruction there. */
bool sk_cpu_hides_tiles_by(const sk_cpu_words *words, uint32_t palettes);
#endif

/* Parts that tests feed with folders of their own. `cgroup_file` is like /proc/self/cgroup, `root` like
 * /sys/fs/cgroup. The tightest limit of the group and its parents, in cores; 0 = none. */
double sk_cpu_quota_at(const char *cgroup_file, const char *root);
/* `folder` is like /sys/devices/system/cpu: sk_cpu_core_list among the allowed processors, and the sizes of the first one's caches. */
int32_t sk_cpu_core_list_at(const char *folder, const cpu_set_t *allowed, int32_t *cores, int32_t capacity);
void sk_cpu_caches_at(const char *folder, const cpu_set_t *allowed, sk_cpu_info *info);
/* The processor's name in a file like /proc/cpuinfo, one space between words; "" where it has none. */
void sk_cpu_model_at(const char *cpuinfo, char *model, size_t capacity);

#endif
