/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/tune_cache.h"

#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILE_NAME   "cpu-kernels-3.txt" /* the number changes when choices mean something else */
#define MAX_BYTES   (4u << 20)
#define MAX_ENTRIES 20000

typedef struct entry {
    uint64_t key;
    cpu_conv_choice choice;
    char shape[64]; /* for people */
} entry;

struct cpu_tune_cache {
    char *path; /* null: nothing is kept */
    uint64_t machine;
    entry *entries;
    size_t count, capacity;
};

/* Processor, kernels and compiler: a choice measured with others means nothing. */
static uint64_t machine_key(const cpu_plan *plan)
{
    sk_cpu_info cpu;
    char text[256];
    sk_cpu_describe(&cpu);
    int n =
        snprintf(text, sizeof text, "%s %s %d %s", cpu.model, plan->kernels.isa, plan->threads, __VERSION__);
    return sk_hash_xxh3(text, n > 0 && n < (int)sizeof text ? (size_t)n : sizeof text - 1, 1);
}

static uint64_t conv_key(const cpu_tune_cache *cache, const cpu_plan *plan, const cpu_conv *c, char shape[64])
{
    const cpu_value *x = &plan->values[c->x];
    const int32_t fields[] = {c->weights.cin,
                              c->weights.cout,
                              c->weights.groups,
                              c->kernel_h,
                              c->kernel_w,
                              c->stride_h,
                              c->stride_w,
                              c->dilation_h,
                              c->dilation_w,
                              c->out_h,
                              c->out_w,
                              c->step_x,
                              x->blocks,
                              plan->winograd,
                              (int32_t)cpu_shape(plan, c->y)->dim[0],
                              c->act.kind,
                              c->residual != SK_VALUE_NONE};
    snprintf(shape, 64, "%d->%d_%dx%d_s%d_%dx%d_t%d_%s", c->weights.cin, c->weights.cout, c->kernel_h,
             c->kernel_w, c->stride_h, c->out_h, c->out_w, plan->threads,
             c->u8 ? plan->kernels_u8.isa : plan->kernels.isa);
    const uint64_t machine =
        cache->machine + (c->u8        ? 9
                          : plan->bf16 ? 16u + cpu_is_low(plan, c->x) + 2u * cpu_is_low(plan, c->y)
                                       : 0); /* another kernel, another choice */
    for (char *p = shape; *p; p++)
        *p = *p == ' ' ? '-' : *p;
    return sk_hash_xxh3(fields, sizeof fields, machine);
}

static void keep(cpu_tune_cache *cache, const entry *e)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->entries[i].key == e->key) {
            cache->entries[i] = *e;
            return;
        }
    sk_error ignored;
    if (sk_array_reserve((void **)&cache->entries, &cache->capacity, cache->count + 1, sizeof *e, MAX_ENTRIES,
                         &ignored) == SK_OK)
        cache->entries[cache->count++] = *e;
}

/* "KEY form width tile order split batch shape"; a line that is not so is passed over. */
static void read_line(cpu_tune_cache *cache, const char *line)
{
    entry e = {0};
    unsigned f[6];
    if (sscanf(line, "%16" SCNx64 " %u %u %u %u %u %u %63s", &e.key, &f[0], &f[1], &f[2], &f[3], &f[4], &f[5],
               e.shape) != 8)
        return;
    for (int i = 0; i < 6; i++)
        if (f[i] > 255)
            return;
    e.choice = (cpu_conv_choice){(uint8_t)f[0], (uint8_t)f[1], (uint8_t)f[2],
                                 (uint8_t)f[3], (uint8_t)f[4], (uint8_t)f[5]};
    keep(cache, &e);
}

static void read_file(cpu_tune_cache *cache)
{
    char *text = NULL;
    size_t bytes;
    sk_error ignored;
    if (sk_file_read_own(cache->path, MAX_BYTES, &text, &bytes, &ignored) != SK_OK)
        return;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        read_line(cache, line);
        line = end;
    }
    sk_free(text);
}

sk_status cpu_tune_cache_open(const cpu_plan *plan, cpu_tune_cache **out, sk_error *err)
{
    cpu_tune_cache *cache = sk_calloc(1, sizeof *cache);
    if (!cache)
        return sk_fail_memory(err, sizeof *cache);
    cache->machine = machine_key(plan);
    const char *given = plan->settings.cache_dir;
    char *folder = NULL;
    sk_error ignored;
    if (given && *given)
        cache->path = sk_folder_make(given, &ignored) == SK_OK ? sk_path_join(given, FILE_NAME) : NULL;
    else if (!given && sk_folder_cache(&folder, &ignored) == SK_OK)
        cache->path = sk_path_join(folder, FILE_NAME);
    sk_free(folder);
    if (cache->path)
        read_file(cache);
    *out = cache;
    return SK_OK;
}

void cpu_tune_cache_close(cpu_tune_cache **cache)
{
    if (!*cache)
        return;
    sk_free((*cache)->path);
    sk_free((*cache)->entries);
    sk_free(*cache);
    *cache = NULL;
}

bool cpu_tune_cache_find(const cpu_tune_cache *cache, const cpu_plan *plan, const cpu_conv *conv,
                         cpu_conv_choice *choice)
{
    char shape[64];
    uint64_t key = conv_key(cache, plan, conv, shape);
    for (size_t i = 0; i < cache->count; i++)
        if (cache->entries[i].key == key) {
            *choice = cache->entries[i].choice;
            return true;
        }
    return false;
}

void cpu_tune_cache_add(cpu_tune_cache *cache, const cpu_plan *plan, const cpu_conv *conv,
                        const cpu_conv_choice *choice)
{
    entry e = {.choice = *choice};
    e.key = conv_key(cache, plan, conv, e.shape);
    keep(cache, &e);
}

void cpu_tune_cache_save(const cpu_tune_cache *cache)
{
    sk_file_writer *writer = NULL;
    sk_error ignored;
    if (!cache->path || sk_file_writer_open(cache->path, &writer, &ignored) != SK_OK)
        return;
    FILE *f = sk_file_writer_stream(writer);
    for (size_t i = 0; i < cache->count; i++) {
        const entry *e = &cache->entries[i];
        const cpu_conv_choice *c = &e->choice;
        fprintf(f, "%016" PRIx64 " %u %u %u %u %u %u %s\n", e->key, c->form, c->width, c->tile,
                c->groups_outer, c->split_groups, c->batch_tiles, e->shape);
    }
    if (sk_file_writer_commit(&writer, &ignored) != SK_OK)
        return;
}
