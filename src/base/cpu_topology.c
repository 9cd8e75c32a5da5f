/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cpu.h that asks the operating system: cores, quotas, caches, the model's name. */
#include "base/cpu.h"

#include <ctype.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define PROCESSORS "/sys/devices/system/cpu"

/* First line of a small system file; false when it cannot be read. */
SK_PRINTF(3, 4) static int read_line(char *line, size_t capacity, const char *path_format, ...)
{
    char path[4096];
    va_list args;
    va_start(args, path_format);
    int length = vsnprintf(path, sizeof path, path_format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof path)
        return 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int got = fgets(line, (int)capacity, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

static void allowed_set(cpu_set_t *set)
{
    CPU_ZERO(set);
    if (sched_getaffinity(0, sizeof *set, set) != 0 || CPU_COUNT(set) == 0)
        CPU_SET(0, set);
}

/* Is there a processor in `set`, below `cpu`, in a list such as "0-3,8"? */
static int has_lower_member(const char *list, int cpu, const cpu_set_t *set)
{
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return 0;
        if (*end == '-') {
            list = end + 1;
            last = strtol(list, &end, 10);
        }
        for (long i = first; i >= 0 && i <= last && i < cpu; i++) {
            if (CPU_ISSET(i, set))
                return 1;
        }
        list = *end == ',' ? end + 1 : end + strlen(end);
    }
    return 0;
}

static int list_length(const char *list)
{
    int count = 0;
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            break;
        if (*end == '-') {
            list = end + 1;
            last = strtol(list, &end, 10);
        }
        count += last >= first && last - first < 65536 ? (int)(last - first + 1) : 0;
        list = *end == ',' ? end + 1 : end + strlen(end);
    }
    return count;
}

/* Does the physical core of `cpu` have a lower-numbered sibling that is also allowed? */
static int is_second_thread(const char *folder, int cpu, const cpu_set_t *set)
{
    char siblings[256];
    return read_line(siblings, sizeof siblings, "%s/cpu%d/topology/thread_siblings_list", folder, cpu) &&
           has_lower_member(siblings, cpu, set);
}

int32_t sk_cpu_core_list_at(const char *folder, const cpu_set_t *allowed, int32_t *cores, int32_t capacity)
{
    int32_t count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < capacity; cpu++) {
        if (CPU_ISSET(cpu, allowed) && !is_second_thread(folder, cpu, allowed))
            cores[count++] = cpu;
    }
    return count;
}

int32_t sk_cpu_core_list(int32_t *cores, int32_t capacity)
{
    cpu_set_t set;
    allowed_set(&set);
    return sk_cpu_core_list_at(PROCESSORS, &set, cores, capacity);
}

static int32_t physical_count(void)
{
    int32_t cores[CPU_SETSIZE];
    int32_t count = sk_cpu_core_list(cores, CPU_SETSIZE);
    return count > 0 ? count : 1;
}

static int32_t allowed_count(void)
{
    cpu_set_t set;
    allowed_set(&set);
    return CPU_COUNT(&set);
}

/* One group's limit in cores; 0 = none. Version 2 writes "max 100000" or "150000 100000" into cpu.max. */
static double group_limit_v2(const char *root, const char *group)
{
    char line[128];
    double quota, period;
    if (!read_line(line, sizeof line, "%s%s/cpu.max", root, group) ||
        sscanf(line, "%lf %lf", &quota, &period) != 2)
        return 0;
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double group_limit_v1(const char *root, const char *group)
{
    char quota[64], period[64];
    if (!read_line(quota, sizeof quota, "%s/cpu%s/cpu.cfs_quota_us", root, group) ||
        !read_line(period, sizeof period, "%s/cpu%s/cpu.cfs_period_us", root, group))
        return 0;
    double q = atof(quota), p = atof(period);
    return q > 0 && p > 0 ? q / p : 0;
}

/* Walks from the group up to the root: a parent's limit binds its children too. Inside a container the
 * group's path may not exist under the mounted root; the root itself is then the container's group. */
static double tightest_limit(const char *root, char *group, double (*limit_of)(const char *, const char *))
{
    double tightest = 0;
    for (;;) {
        double limit = limit_of(root, group);
        if (limit > 0 && (tightest == 0 || limit < tightest))
            tightest = limit;
        char *slash = strrchr(group, '/');
        if (!slash)
            return tightest;
        *slash = '\0';
    }
}

static int names_cpu(const char *controllers)
{
    while (*controllers) {
        size_t length = strcspn(controllers, ",");
        if (length == 3 && strncmp(controllers, "cpu", 3) == 0)
            return 1;
        controllers += length + (controllers[length] == ',');
    }
    return 0;
}

double sk_cpu_quota_at(const char *cgroup_file, const char *root)
{
    FILE *file = fopen(cgroup_file, "re");
    if (!file)
        return 0;
    double tightest = 0;
    char line[4096];
    while (fgets(line, sizeof line, file)) { /* "0::/user.slice" or "4:cpu,cpuacct:/docker/…" */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        double limit = 0;
        if (strcmp(group, "/") == 0)
            *group = '\0';
        if (*controllers == '\0')
            limit = tightest_limit(root, group, group_limit_v2);
        else if (names_cpu(controllers))
            limit = tightest_limit(root, group, group_limit_v1);
        if (limit > 0 && (tightest == 0 || limit < tightest))
            tightest = limit;
    }
    fclose(file);
    return tightest;
}

static double quota_here(void)
{
    return sk_cpu_quota_at("/proc/self/cgroup", "/sys/fs/cgroup");
}

static int32_t cut_to_quota(int32_t count)
{
    double quota = quota_here();
    if (quota > 0 && ceil(quota) < count)
        count = (int32_t)ceil(quota);
    return count > 0 ? count : 1;
}

int32_t sk_cpu_usable_threads(void)
{
    return cut_to_quota(allowed_count());
}

int32_t sk_cpu_usable_cores(void)
{
    return cut_to_quota(physical_count());
}

static void squeeze_spaces(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == ' ' && (to == text || to[-1] == ' '))
            continue;
        *to++ = *from;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

void sk_cpu_model_at(const char *cpuinfo, char *model, size_t capacity)
{
    FILE *file = fopen(cpuinfo, "re");
    char line[256];
    model[0] = '\0';
    while (file && !model[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && (strncmp(line, "model name", 10) == 0 || strncmp(line, "Model", 5) == 0))
            snprintf(model, capacity, "%.*s", (int)strcspn(colon + 1, "\n"), colon + 1);
    }
    if (file)
        fclose(file);
    squeeze_spaces(model);
}

static void read_model(char *model, size_t capacity)
{
    char text[128] = "";
#if defined(__x86_64__)
    uint32_t words[12];
    int known = 1;
    for (uint32_t i = 0; i < 3; i++)
        known = known && __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                                     &words[4 * i + 3]);
    if (known) {
        memcpy(text, words, sizeof words);
        text[sizeof words] = '\0';
    }
#else
    if (!read_line(text, sizeof text, "/proc/device-tree/model"))
        text[0] = '\0';
#endif
    if (!text[0])
        sk_cpu_model_at("/proc/cpuinfo", text, sizeof text);
    squeeze_spaces(text);
    snprintf(model, capacity, "%.*s", (int)capacity - 1, text[0] ? text : "unknown");
}

static int64_t bytes_of(const char *size)
{
    char *unit;
    long long value = strtoll(size, &unit, 10);
    return value * (*unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1);
}

void sk_cpu_caches_at(const char *folder, const cpu_set_t *allowed, sk_cpu_info *info)
{
    int cpu = 0;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, allowed))
        cpu++;
    for (int index = 0; index < 8; index++) {
        char level[16], type[32], size[32], shared[256], base[4096];
        snprintf(base, sizeof base, "%s/cpu%d/cache/index%d", folder, cpu, index);
        if (!read_line(level, sizeof level, "%s/level", base) ||
            !read_line(type, sizeof type, "%s/type", base) || !read_line(size, sizeof size, "%s/size", base))
            break;
        int is_data = strcmp(type, "Instruction") != 0;
        if (is_data && level[0] == '1')
            info->l1d = bytes_of(size);
        else if (is_data && level[0] == '2')
            info->l2 = bytes_of(size);
        else if (is_data && level[0] == '3') {
            info->l3 = bytes_of(size);
            if (read_line(shared, sizeof shared, "%s/shared_cpu_list", base))
                info->l3_sharers = list_length(shared);
        }
    }
}

static void read_caches(sk_cpu_info *info)
{
    cpu_set_t set;
    allowed_set(&set);
    sk_cpu_caches_at(PROCESSORS, &set, info);
    /* Machines without these files (some virtual ones): the C library asks the processor. */
    const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    int64_t *const sizes[3] = {&info->l1d, &info->l2, &info->l3};
    for (int i = 0; i < 3; i++) {
        long bytes = *sizes[i] == 0 ? sysconf(names[i]) : 0;
        if (bytes > 0)
            *sizes[i] = bytes;
    }
}

void sk_cpu_describe(sk_cpu_info *info)
{
    memset(info, 0, sizeof *info);
    read_model(info->model, sizeof info->model);
    info->flags = sk_cpu_detected_flags();
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    info->logical = online > 0 ? (int32_t)online : 1;
    info->allowed = allowed_count();
    info->physical = physical_count();
    info->quota = quota_here();
    read_caches(info);
}
