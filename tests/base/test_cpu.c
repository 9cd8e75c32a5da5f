/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/cpu.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static uint32_t masked(const char *mask, uint32_t flags)
{
    uint32_t out = 12345;
    sk_error err = {0};
    assert_ok(sk_cpu_apply_mask(mask, flags, &out, &err), &err);
    return out;
}

static void masks_are_ladders(void **state)
{
    (void)state;
    const uint32_t x86 =
        SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16 | SK_CPU_AMX;
    const uint32_t arm = SK_CPU_NEON | SK_CPU_DOTPROD;
    assert_int_equal(masked("none", x86), 0);
    assert_int_equal(masked("sse4.2", x86), SK_CPU_SSE42);
    assert_int_equal(masked("avx2", x86), SK_CPU_SSE42 | SK_CPU_AVX2);
    assert_int_equal(masked("avx512", x86), SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512);
    assert_int_equal(masked("avx512vnni", x86),
                     SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512 | SK_CPU_AVX512VNNI);
    assert_int_equal(masked("amx", x86), x86);
    assert_int_equal(masked("neon", arm), SK_CPU_NEON);
    assert_int_equal(masked("dotprod", arm), arm);
    assert_int_equal(masked("avx512", SK_CPU_SSE42), SK_CPU_SSE42); /* never more than there is */
}

static void wrong_mask_is_an_error(void **state)
{
    (void)state;
    uint32_t out;
    sk_error err = {0};
    assert_int_equal(sk_cpu_apply_mask("avx3", ~0u, &out, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "avx3"));
    setenv("SKITTER_CPU_MASK", "AVX2", 1);
    assert_int_equal(sk_cpu_check_mask(&err), SK_ERR_ARG);
    setenv("SKITTER_CPU_MASK", "avx2", 1);
    assert_ok(sk_cpu_check_mask(&err), &err);
    unsetenv("SKITTER_CPU_MASK");
    assert_ok(sk_cpu_check_mask(&err), &err);
}

/* The compiler's own detection is an independent witness. */
static void agrees_with_the_compiler(void **state)
{
    (void)state;
    uint32_t flags = sk_cpu_detected_flags();
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(!!(flags & SK_CPU_SSE42), !!__builtin_cpu_supports("sse4.2"));
    assert_int_equal(!!(flags & SK_CPU_AVX2),
                     __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    assert_int_equal(!!(flags & SK_CPU_AVX512), !!avx512);
    assert_int_equal(!!(flags & SK_CPU_AVX512VNNI), avx512 && __builtin_cpu_supports("avx512vnni"));
    assert_int_equal(flags & (SK_CPU_NEON | SK_CPU_DOTPROD), 0);
#elif defined(__aarch64__)
    assert_true(flags & SK_CPU_NEON);
    assert_int_equal(flags & (SK_CPU_NEON - 1u), 0);
#endif
}

static void the_limit_binds(void **state)
{
    (void)state;
    uint32_t before = sk_cpu_flags();
    assert_int_equal(before & ~sk_cpu_detected_flags(), 0);
    sk_cpu_limit(0);
    assert_int_equal(sk_cpu_flags(), 0);
    sk_cpu_limit(~0u);
    assert_int_equal(sk_cpu_flags(), before);
}

static void names(void **state)
{
    (void)state;
    char text[SK_CPU_FLAGS_TEXT];
    assert_string_equal(sk_cpu_level_name(0), "plain c");
    assert_string_equal(sk_cpu_level_name(SK_CPU_SSE42 | SK_CPU_AVX2), "avx2");
    assert_string_equal(sk_cpu_flags_text(SK_CPU_SSE42 | SK_CPU_AVX512, text, sizeof text), "sse4.2 avx512");
    assert_string_equal(sk_cpu_flags_text(0, text, sizeof text), "");
    assert_true(strlen(sk_cpu_flags_text(~0u, text, sizeof text)) < sizeof text - 1);
    assert_non_null(strstr(text, "dotprod"));
    char small[8];
    sk_cpu_flags_text(~0u, small, sizeof small);
    assert_true(strlen(small) < sizeof small);
}

static void describes_this_machine(void **state)
{
    (void)state;
    sk_cpu_info info;
    sk_cpu_describe(&info);
    char text[SK_CPU_FLAGS_TEXT];
    print_message("%s: %s; %d logical, %d allowed, %d physical, quota %g; L1d %lld L2 %lld L3 %lld for %d\n",
                  info.model, sk_cpu_flags_text(info.flags, text, sizeof text), info.logical, info.allowed,
                  info.physical, info.quota, (long long)info.l1d, (long long)info.l2, (long long)info.l3,
                  info.l3_sharers);
    assert_true(strlen(info.model) > 0);
    assert_in_range(info.allowed, 1, info.logical);
    assert_in_range(info.physical, 1, info.allowed);
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(info.allowed, CPU_COUNT(&set));
    assert_int_equal(info.logical, sysconf(_SC_NPROCESSORS_ONLN));
    assert_null(strstr(info.model, "  ")); /* no spaces but between words */
    assert_true(info.model[0] != ' ' && info.model[strlen(info.model) - 1] != ' ');
    assert_int_equal(sk_cpu_usable_threads(), info.quota > 0 && ceil(info.quota) < info.allowed
                                                  ? (int)ceil(info.quota)
                                                  : info.allowed);
    assert_int_equal(sk_cpu_usable_cores(), info.quota > 0 && ceil(info.quota) < info.physical
                                                ? (int)ceil(info.quota)
                                                : info.physical);
    assert_in_range(sk_cpu_usable_threads(), 1, info.allowed);
    assert_in_range(sk_cpu_usable_cores(), 1, info.physical);
    int32_t cores[2];
    assert_in_range(sk_cpu_core_list(cores, 1), 1, 1);
}

#if defined(__x86_64__)
/* The name as the processor spells it, one space between words. */
static void it_is_called_as_it_says(void **state)
{
    (void)state;
    char raw[52] = "", name[52] = "";
    uint32_t words[12] = {0};
    for (uint32_t i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            skip();
    memcpy(raw, words, sizeof words);
    for (char *word = strtok(raw, " "); word; word = strtok(NULL, " "))
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", name[0] ? " " : "", word);
    sk_cpu_info info;
    sk_cpu_describe(&info);
    if (name[0])
        assert_string_equal(info.model, name);
}
#endif

/* --- quotas, from folders made up here --- */

static const char *make(const char *folder, const char *name, const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", test_folder(), folder, name);
    for (char *slash = strchr(path + strlen(test_folder()) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static double quota(const char *root, const char *cgroup_text)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%s", test_folder(), root);
    return sk_cpu_quota_at(make(root, "self", cgroup_text), folder);
}

static void quota_of_version_2(void **state)
{
    (void)state;
    make("v2/slice/job", "cpu.max", "max 100000\n");
    make("v2/slice", "cpu.max", "150000 100000\n");
    assert_true(fabs(quota("v2", "0::/slice/job\n") - 1.5) < 1e-9); /* the parent binds */
    make("v2/slice/job", "cpu.max", "50000 100000\n");
    assert_true(fabs(quota("v2", "0::/slice/job\n") - 0.5) < 1e-9);
    assert_true(quota("v2", "0::/\n") == 0);
    make("container", "cpu.max", "300000 100000\n");
    assert_true(fabs(quota("container", "0::/not/mounted/here\n") - 3) < 1e-9);
}

static void quota_of_version_1(void **state)
{
    (void)state;
    make("v1/cpu/docker/1", "cpu.cfs_quota_us", "250000\n");
    make("v1/cpu/docker/1", "cpu.cfs_period_us", "100000\n");
    assert_true(fabs(quota("v1", "5:cpuset:/\n4:cpu,cpuacct:/docker/1\n") - 2.5) < 1e-9);
    make("v1/cpu/docker/1", "cpu.cfs_quota_us", "-1\n");
    assert_true(quota("v1", "4:cpuacct,cpu:/docker/1\n") == 0);
}

static void no_or_broken_cgroup_files_limit_nothing(void **state)
{
    (void)state;
    assert_true(sk_cpu_quota_at(test_missing("cgroup"), test_missing("")) == 0);
    make("bad", "cpu.max", "rubbish\n");
    assert_true(quota("bad", "0::/\nnonsense\n:\n") == 0);
    make("bad", "cpu.max", "100000 0\n");
    assert_true(quota("bad", "0::/\n") == 0);
}

/* --- cores and caches, from folders made up here --- */

static cpu_set_t set_of(const char *list)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const char *c = list; *c; c++)
        CPU_SET(*c >= 'a' ? 10 + *c - 'a' : *c - '0', &set);
    return set;
}

/* Processors as digits, a for 10 and so on. */
static const char *cores_of(const char *machine, const char *allowed, int32_t capacity)
{
    static char text[64];
    char folder[4096];
    int32_t cores[32], count;
    cpu_set_t set = set_of(allowed);
    snprintf(folder, sizeof folder, "%s/%s", test_folder(), machine);
    count = sk_cpu_core_list_at(folder, &set, cores, capacity);
    for (int32_t i = 0; i < count; i++)
        text[i] = (char)(cores[i] < 10 ? '0' + cores[i] : 'a' + cores[i] - 10);
    text[count] = '\0';
    return text;
}

static void second_threads_are_no_cores(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        int cpus;
        const char *siblings[12];
    } machines[] = {{"pairs", 8, {"0-1", "0-1", "2-3", "2-3", "4-5", "4-5", "6-7", "6-7"}},
                    {"halves", 8, {"0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"}},
                    {"fours",
                     12,
                     {"0-1,8-9", "0-1,8-9", "2-3,10-11", "2-3,10-11", "4", "5", "6", "7", "0-1,8-9",
                      "0-1,8-9", "2-3,10-11", "2-3,10-11"}},
                    {"odd", 4, {"rubbish", "1", "2-", "-1,3"}}};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int i = 0; i < machines[m].cpus; i++) {
            char folder[64];
            snprintf(folder, sizeof folder, "%s/cpu%d/topology", machines[m].machine, i);
            make(folder, "thread_siblings_list", machines[m].siblings[i]);
        }
    assert_string_equal(cores_of("pairs", "01234567", 32), "0246");
    assert_string_equal(cores_of("pairs", "1357", 32), "1357"); /* their first ones are not ours */
    assert_string_equal(cores_of("pairs", "0123", 1), "0");
    assert_string_equal(cores_of("halves", "01234567", 32), "0123");
    assert_string_equal(cores_of("halves", "3456", 32), "3456");
    assert_string_equal(cores_of("halves", "34567", 32), "3456");
    assert_string_equal(cores_of("fours", "0123456789ab", 32), "024567");
    assert_string_equal(cores_of("fours", "189ab", 32), "1a");
    assert_string_equal(cores_of("fours", "9b", 32), "9b");
    assert_string_equal(cores_of("fours", "89", 32), "8");
    assert_string_equal(cores_of("odd", "0123", 32), "0123");
    assert_string_equal(cores_of("no machine", "07", 32), "07");
}

static void cache(const char *machine, int cpu, int index, const char *level, const char *type,
                  const char *size, const char *shared)
{
    char folder[64];
    snprintf(folder, sizeof folder, "%s/cpu%d/cache/index%d", machine, cpu, index);
    make(folder, "level", level);
    make(folder, "type", type);
    make(folder, "size", size);
    if (shared)
        make(folder, "shared_cpu_list", shared);
}

static sk_cpu_info caches_of(const char *machine, const char *allowed)
{
    char folder[4096];
    sk_cpu_info info = {0};
    cpu_set_t set = set_of(allowed);
    snprintf(folder, sizeof folder, "%s/%s", test_folder(), machine);
    sk_cpu_caches_at(folder, &set, &info);
    return info;
}

/* Of the first processor that is ours; instructions have caches of their own, which do not count. */
static void caches_are_read(void **state)
{
    (void)state;
    cache("big", 0, 0, "1\n", "Data\n", "32K\n", NULL);
    cache("big", 3, 0, "1\n", "Data\n", "48K\n", NULL);
    cache("big", 3, 1, "1\n", "Instruction\n", "64K\n", NULL);
    cache("big", 3, 2, "2\n", "Unified\n", "2M\n", NULL);
    cache("big", 3, 3, "3\n", "Unified\n", "100000\n", "0-3,8,10-11\n");
    cache("big", 3, 4, "4\n", "Unified\n", "77K\n", NULL);
    sk_cpu_info info = caches_of("big", "35");
    assert_int_equal(info.l1d, 48 * 1024);
    assert_int_equal(info.l2, 2 * 1024 * 1024);
    assert_int_equal(info.l3, 100000);
    assert_int_equal(info.l3_sharers, 7);
    info = caches_of("big", "03");
    assert_int_equal(info.l1d, 32 * 1024);
    assert_int_equal(info.l2, 0);
    cache("big", 3, 3, "3\n", "Unified\n", "1K\n", "5-4,2\n");
    assert_int_equal(caches_of("big", "3").l3_sharers, 1);
    cache("big", 3, 3, "3\n", "Unified\n", "1K\n", "4,x,5\n");
    assert_int_equal(caches_of("big", "3").l3_sharers, 1);
    for (int i = 0; i < 9; i++)
        cache("deep", 0, i, i == 8 ? "2" : i == 7 ? "1" : "4", "Data", "5K", NULL);
    info = caches_of("deep", "0");
    assert_int_equal(info.l1d, 5 * 1024); /* the eighth is the last that is looked at */
    assert_int_equal(info.l2, 0);
}

/* What processors of people's machines say: two groups, one inside the other, and names that only look alike. */
static void quotas_of_mixed_machines(void **state)
{
    (void)state;
    make("mixed", "cpu.max", "400000 100000\n");
    make("mixed/cpu/a", "cpu.cfs_quota_us", "200000\n");
    make("mixed/cpu/a", "cpu.cfs_period_us", "100000\n");
    make("mixed/cpu/a/b", "cpu.cfs_quota_us", "300000\n");
    make("mixed/cpu/a/b", "cpu.cfs_period_us", "100000\n");
    assert_true(fabs(quota("mixed", "0::/\n3:cpu:/a/b\n") - 2) < 1e-9);
    assert_true(fabs(quota("mixed", "3:cpu:/a/b\n0::/\n") - 2) < 1e-9);
    assert_true(fabs(quota("mixed", "0::/\n3:cpuset,cpuacct,xcpu:/a/b\n") - 4) < 1e-9);
    assert_true(fabs(quota("mixed", "3:cpuset,cpu:/a\n") - 2) < 1e-9);
    make("mixed/cpu/a", "cpu.cfs_period_us", "0\n");
    assert_true(fabs(quota("mixed", "3:cpu:/a/b\n") - 3) < 1e-9);
    make("mixed", "cpu.max", "0 100000\n");
    assert_true(quota("mixed", "0::/\n") == 0);
}

static void names_in_a_file(void **state)
{
    (void)state;
    char model[64];
    sk_cpu_model_at(make("names", "x86",
                         "processor\t: 0\nmodel\t\t: 85\nmodel name\t:  Some  Processor   @ 2 GHz  \nmodel "
                         "name\t: Another\n"),
                    model, sizeof model);
    assert_string_equal(model, "Some Processor @ 2 GHz");
    sk_cpu_model_at(make("names", "arm", "processor\t: 0\nBogoMIPS\t: 50\n\nModel\t\t: Raspberry Pi 5"),
                    model, sizeof model);
    assert_string_equal(model, "Raspberry Pi 5");
    sk_cpu_model_at(make("names", "none", "processor: 0\nmodel name without an end\n"), model, sizeof model);
    assert_string_equal(model, "");
    sk_cpu_model_at(make("names", "x86", "model name: abcdefgh\n"), model,
                    5); /* as much as there is room for */
    assert_string_equal(model, "abc");
    sk_cpu_model_at(test_missing("cpuinfo"), model, sizeof model);
    assert_string_equal(model, "");
}

#if defined(__x86_64__) || defined(__aarch64__)
static float half_of(volatile float x)
{
    return x * 0.5f;
}

/* Numbers nearer to 0 than the smallest normal one are 0, read or made, until the mode is put back. */
static void tiny_numbers_are_zero_for_a_while(void **state)
{
    (void)state;
    const float smallest = 0x1p-126f, tiny = 0x1p-130f;
    assert_true(half_of(smallest) == 0x1p-127f && half_of(tiny) == 0x1p-131f);
    const uint64_t before = sk_cpu_flush_tiny();
    assert_true(half_of(smallest) == 0);
    volatile float same = tiny;
    assert_true(same + same == 0);
    assert_true(half_of(4 * smallest) == 2 * smallest); /* others are what they are */
    const uint64_t flushing = sk_cpu_flush_tiny();      /* twice is as once */
    sk_cpu_float_mode_restore(flushing);
    assert_true(half_of(smallest) == 0);
    sk_cpu_float_mode_restore(before);
    assert_true(half_of(smallest) == 0x1p-127f && half_of(tiny) == 0x1p-131f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_ladders),
        cmocka_unit_test(wrong_mask_is_an_error),
        cmocka_unit_test(agrees_with_the_compiler),
        cmocka_unit_test(the_limit_binds),
        cmocka_unit_test(names),
        cmocka_unit_test(describes_this_machine),
        cmocka_unit_test(names_in_a_file),
#if defined(__x86_64__)
        cmocka_unit_test(it_is_called_as_it_says),
#endif
#if defined(__x86_64__) || defined(__aarch64__)
        cmocka_unit_test(tiny_numbers_are_zero_for_a_while),
#endif
        cmocka_unit_test(quota_of_version_2),
        cmocka_unit_test(quota_of_version_1),
        cmocka_unit_test(no_or_broken_cgroup_files_limit_nothing),
        cmocka_unit_test(second_threads_are_no_cores),
        cmocka_unit_test(caches_are_read),
        cmocka_unit_test(quotas_of_mixed_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
