/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/devices.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "runner/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES      64
#define AUTO_INSTANCES 8
#define GPU_LANES      4

int32_t sk_devices_cores(const char *text, int32_t *cores, int32_t capacity)
{
    int32_t count = 0;
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text || first < 0 || first > 65535)
            return -1;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || last < first || last > 65535)
                return -1;
        }
        for (long i = first; i <= last; i++) {
            if (count == capacity)
                return -1;
            cores[count++] = (int32_t)i;
        }
        if (*end == '\0' || *end == '\n')
            break;
        if ((*end != '+' && *end != ',') || end[1] == '\0')
            return -1;
        text = end + 1;
    }
    return count;
}

static bool on_the_cpu(const sk_engine *engine)
{
    return engine && engine->can.device == SK_DEVICE_CPU;
}

bool sk_device_on_cpu(const sk_device *device)
{
    return on_the_cpu(device->engine);
}

typedef struct listing {
    sk_device *devices;
    int32_t count;
    const sk_engine *engine;
    char runtime[48]; /* of the entry being read */
} listing;

static sk_status add(listing *l, const int32_t *cores, int32_t n_cores, int32_t index, const char *suffix,
                     sk_error *err)
{
    if (l->count == SK_RUNNER_MAX_DEVICES)
        return sk_fail(err, SK_ERR_LIMIT, "devices: more than %d", SK_RUNNER_MAX_DEVICES);
    sk_device *d = &l->devices[l->count++];
    *d = (sk_device){.engine = l->engine, .index = index, .n_cores = n_cores};
    if (n_cores)
        memcpy(d->cores, cores, (size_t)n_cores * sizeof *cores);
    snprintf(d->name, sizeof d->name, "%.24s%s%.20s", l->runtime, suffix[0] ? ":" : "", suffix);
    return SK_OK;
}

/* The cores there are, cut into `groups` runs of neighbours. */
static sk_status add_groups(listing *l, int32_t groups, sk_error *err)
{
    int32_t cores[SK_DEVICE_MAX_CORES];
    int32_t n = sk_cpu_core_list(cores, SK_DEVICE_MAX_CORES), usable = sk_cpu_usable_cores();
    n = n < usable ? n : usable;
    if (groups < 1 || groups > n)
        return sk_fail(err, SK_ERR_ARG, "devices: %s:x%d: this process may use %d cores: 1 to %d groups",
                       l->runtime, groups, n, n);
    for (int32_t g = 0; g < groups; g++) {
        int32_t from = (int32_t)((int64_t)n * g / groups), to = (int32_t)((int64_t)n * (g + 1) / groups);
        char suffix[32];
        if (to - from == 1)
            snprintf(suffix, sizeof suffix, "%d", cores[from]);
        else
            snprintf(suffix, sizeof suffix, "%d-%d", cores[from], cores[to - 1]);
        SK_TRY(add(l, cores + from, to - from, 0, suffix, err));
    }
    return SK_OK;
}

/* The cores there are, shared out in number but not bound; the same number for each, so that a result does not depend on
 * which of them gave it. */
static sk_status add_instances(listing *l, int32_t instances, sk_error *err)
{
    int32_t cores = sk_cpu_usable_cores();
    if (!on_the_cpu(l->engine) || instances < 1 || instances > SK_RUNNER_MAX_DEVICES)
        return sk_fail(err, SK_ERR_ARG, "devices: %s*%d: 1 to %d instances of a runtime on the CPU",
                       l->runtime, instances, SK_RUNNER_MAX_DEVICES);
    for (int32_t i = 0; i < instances; i++) {
        SK_TRY(add(l, NULL, 0, 0, "", err));
        sk_device *d = &l->devices[l->count - 1];
        d->threads = cores > instances ? cores / instances : 1;
        snprintf(d->name, sizeof d->name, "%.24s*%d", l->runtime, i);
    }
    return SK_OK;
}

/* Of `cores`, those in the list of one memory node. */
static int32_t cores_of_node(int node, const int32_t *cores, int32_t n, int32_t *out)
{
    char path[96], line[1024] = "";
    int32_t members[1024], count = 0;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    int32_t n_members = sk_devices_cores(line, members, 1024);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n_members; k++)
            if (members[k] == cores[i])
                out[count++] = cores[i];
    return count;
}

static sk_status add_nodes(listing *l, sk_error *err)
{
    int32_t cores[SK_DEVICE_MAX_CORES], members[SK_DEVICE_MAX_CORES];
    int32_t n = sk_cpu_core_list(cores, SK_DEVICE_MAX_CORES), before = l->count;
    for (int node = 0; node < MAX_NODES; node++) {
        int32_t count = cores_of_node(node, cores, n, members);
        char suffix[32];
        snprintf(suffix, sizeof suffix, "numa%d", node);
        if (count)
            SK_TRY(add(l, members, count, 0, suffix, err));
    }
    return l->count > before ? SK_OK
                             : add(l, cores, n, 0, "numa0", err); /* the system does not tell: one node */
}

/* A number and nothing behind it; 0: not that. */
static int32_t read_count(const char *text)
{
    char *end;
    const long count = strtol(text, &end, 10);
    return end != text && !*end && count > 0 && count <= INT32_MAX ? (int32_t)count : 0;
}

static sk_status add_entry(listing *l, const char *entry, sk_error *err)
{
    const char *colon = strchr(entry, ':');
    size_t length = colon ? (size_t)(colon - entry) : strlen(entry);
    if (length == 0 || length >= sizeof l->runtime)
        return sk_fail(err, SK_ERR_ARG, "devices: '%s' names no compute runtime", entry);
    memcpy(l->runtime, entry, length);
    l->runtime[length] = '\0';
    char *star = strchr(l->runtime, '*');
    if (star)
        *star = '\0';
    SK_TRY(sk_net_engine(l->runtime, &l->engine, err));
    if (star && !colon)
        return add_instances(l, read_count(star + 1), err);
    if (!colon)
        return add(l, NULL, 0, 0, "", err);
    const char *what = colon + 1;
    int32_t numbers[SK_DEVICE_MAX_CORES];
    if (on_the_cpu(l->engine) && strcmp(what, "numa") == 0)
        return add_nodes(l, err);
    if (on_the_cpu(l->engine) && what[0] == 'x' && what[1])
        return add_groups(l, read_count(what + 1), err);
    int32_t n = sk_devices_cores(what, numbers, SK_DEVICE_MAX_CORES);
    if (n < 1)
        return sk_fail(err, SK_ERR_ARG, "devices: '%s': after the colon comes %s", entry,
                       on_the_cpu(l->engine) ? "a core list (0-3, 0+2), x and a number of groups, or numa"
                                             : "the number of a device");
    if (on_the_cpu(l->engine))
        return add(l, numbers, n, 0, what, err);
    for (int32_t i = 0; i < n; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "%d", numbers[i]);
        SK_TRY(add(l, NULL, 0, numbers[i], suffix, err));
    }
    return SK_OK;
}

/* Every GPU there is. One is faster than one thread that pre-processes for it: where there are cores, several lanes, each
 * with a thread of its own, take turns on it. */
static sk_status add_gpus(listing *l, int32_t cores, sk_error *err)
{
    sk_engine_probe probe = {0};
    SK_TRY(l->engine->probe(&probe, err));
    int32_t devices = probe.n_devices > 1 ? probe.n_devices : 1;
    int32_t lanes = cores / (4 * devices);
    lanes = lanes < 1 ? 1 : lanes > GPU_LANES ? GPU_LANES : lanes;
    for (int32_t i = 0; i < devices * lanes && l->count < SK_RUNNER_MAX_DEVICES; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "%d", i % devices);
        SK_TRY(add(l, NULL, 0, i % devices, suffix, err));
    }
    return SK_OK;
}

/* One instance a core is the fastest way through many frames: no core ever waits for another. Beyond a few, each takes
 * several cores, so that memory stays in proportion. */
static sk_status add_auto(listing *l, const char *runtime, sk_error *err)
{
    int32_t cores = sk_cpu_usable_cores();
    SK_TRY(sk_net_engine(runtime, &l->engine, err));
    snprintf(l->runtime, sizeof l->runtime, "%s", runtime);
    if (!on_the_cpu(l->engine))
        return add_gpus(l, cores, err);
    return add_instances(l, cores < AUTO_INSTANCES ? cores : AUTO_INSTANCES, err);
}

sk_status sk_devices_read(const char *list, const char *runtime, sk_device *devices, int32_t *count,
                          sk_error *err)
{
    listing l = {.devices = devices};
    *count = 0;
    char *copy = sk_strdup(list && list[0] ? list : runtime);
    if (!copy)
        return sk_fail_memory(err, 64);
    sk_status status = SK_OK;
    if (strcmp(copy, "auto") == 0) {
        status = add_auto(&l, runtime, err);
        *count = l.count;
        sk_free(copy);
        return status;
    }
    for (char *entry = copy, *rest = NULL; status == SK_OK && (entry = strtok_r(entry, ", ", &rest));
         entry = NULL)
        status = add_entry(&l, entry, err);
    if (status == SK_OK && l.count == 0)
        status = sk_fail(err, SK_ERR_ARG, "devices: the list is empty");
    *count = l.count;
    sk_free(copy);
    return status;
}
