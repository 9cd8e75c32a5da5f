/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/session.h"

#include "base/file.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tiles are chosen by timing every one that fits, once for each shape, and remembered for this GPU in the user's cache
 * folder. What is read back is a hint: a name that is no tile of this build, or one that does not fit the layer, is timed
 * anew. */

#define FILE_NAME   "cuda-tiles-1.txt"
#define MAX_BYTES   (4u << 20)
#define MAX_ENTRIES 20000

typedef struct entry {
    uint64_t key;
    char tile[48];
} entry;

typedef struct memo {
    char *path; /* null: nothing is kept */
    uint64_t machine;
    entry *entries;
    size_t count, capacity;
    bool changed;
} memo;

static uint64_t machine_key(const gpu_session *s)
{
    char text[256];
    int n = snprintf(text, sizeof text, "%s %d.%d %d %d %d", s->about.name, s->about.major, s->about.minor,
                     s->about.sms, gpu_runtime_version(), gpu_config_count());
    if (s->plan.without && n > 0 && n < (int)sizeof text) /* choices among fewer tiles are others' */
        n += snprintf(text + n, sizeof text - (size_t)n, " %x", s->plan.without);
    return sk_hash_xxh3(text, n > 0 && n < (int)sizeof text ? (size_t)n : sizeof text - 1, 3);
}

static uint64_t step_key(const memo *m, const gpu_step *step, int32_t products)
{
    const gpu_conv_args *a = &step->args.conv;
    if (step->bytes)
        products += 16 * a->bytes.out + 32 * a->bytes.residual;
    const int32_t fields[] = {a->n,
                              a->h,
                              a->w,
                              a->oh,
                              a->ow,
                              a->stride,
                              a->pad_y,
                              a->pad_x,
                              a->c8,
                              a->ldi,
                              a->ldo,
                              a->cout8,
                              a->act,
                              (step->refs[4].buffer >= 0) + a->residual_half,
                              step->node->a.conv.window.kernel[0],
                              products,
                              a->plane > 0,
                              a->then8,
                              a->then_act};
    return sk_hash_xxh3(fields, sizeof fields, m->machine);
}

/* Where there is no room, the older half goes. */
static void add(memo *m, uint64_t key, const char *tile)
{
    sk_error ignored;
    if (m->count == MAX_ENTRIES) { /* else all that is new would be timed again at every open */
        m->count /= 2;
        memmove(m->entries, m->entries + m->count, m->count * sizeof *m->entries);
    }
    if (sk_array_reserve((void **)&m->entries, &m->capacity, m->count + 1, sizeof *m->entries, MAX_ENTRIES,
                         &ignored) != SK_OK)
        return;
    entry *e = &m->entries[m->count++];
    e->key = key;
    snprintf(e->tile, sizeof e->tile, "%s", tile);
}

static entry *find(const memo *m, uint64_t key)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i].key == key)
            return &m->entries[i];
    return NULL;
}

static void keep(memo *m, uint64_t key, const char *tile)
{
    entry *e = find(m, key);
    if (e)
        snprintf(e->tile, sizeof e->tile, "%s", tile);
    else
        add(m, key, tile);
}

static void memo_open(gpu_session *s, memo *m)
{
    const char *given = s->plan.settings.cache_dir;
    char *folder = NULL, *text = NULL;
    size_t bytes;
    sk_error ignored;
    *m = (memo){.machine = machine_key(s)};
    if (given && *given)
        m->path = sk_folder_make(given, &ignored) == SK_OK ? sk_path_join(given, FILE_NAME) : NULL;
    else if (!given && sk_folder_cache(&folder, &ignored) == SK_OK)
        m->path = sk_path_join(folder, FILE_NAME);
    sk_free(folder);
    if (!m->path || sk_file_read_own(m->path, MAX_BYTES, &text, &bytes, &ignored) != SK_OK)
        return;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n'), tile[48];
        uint64_t key;
        if (end)
            *end++ = '\0';
        if (sscanf(line, "%16" SCNx64 " %47s", &key, tile) == 2)
            add(m, key, tile); /* we write none twice */
        line = end;
    }
    sk_free(text);
}

static void memo_close(memo *m)
{
    sk_file_writer *writer = NULL;
    sk_error ignored;
    if (m->changed && m->path && sk_file_writer_open(m->path, &writer, &ignored) == SK_OK) {
        for (size_t i = 0; i < m->count; i++)
            fprintf(sk_file_writer_stream(writer), "%016" PRIx64 " %s\n", m->entries[i].key,
                    m->entries[i].tile);
        (void)!sk_file_writer_commit(&writer, &ignored);
    }
    sk_free(m->path);
    sk_free(m->entries);
}

static int32_t tile_named(const char *name)
{
    for (int32_t i = 0; i < gpu_config_count(); i++)
        if (strcmp(gpu_config_at(i)->name, name) == 0)
            return i;
    return -1;
}

/* Grid and shared memory with this tile; false where the device refuses it. */
static bool apply(gpu_session *s, gpu_step *step, int32_t tile)
{
    const gpu_config *c = gpu_config_at(tile);
    int32_t blocks = 1;
    if (gpu_occupancy(c, gpu_config_shared(step, c), &blocks) != 0 || blocks < 1)
        return false;
    gpu_config_apply(&s->plan, step, tile, blocks);
    return true;
}

/* Times one tile on the layer's own buffers; its weights are packed into scratch on the device. */
static sk_status time_tile(gpu_session *s, const gpu_step *original, int32_t tile, uint8_t *scratch,
                           float *us, sk_error *err)
{
    gpu_step step = *original;
    const gpu_config *c = gpu_config_at(tile);
    *us = -1;
    if (!apply(s, &step, tile))
        return SK_OK;
    void *packed = sk_malloc(gpu_packed_bytes(&step, c));
    if (!packed)
        return sk_fail_memory(err, gpu_packed_bytes(&step, c));
    gpu_pack(&s->plan, &step, c, packed);
    int error = gpu_copy_up(scratch, packed, gpu_packed_bytes(&step, c), s->compute);
    error = error ? error : gpu_stream_wait(s->compute);
    sk_free(packed);
    SK_TRY(gpu_check(s, error, "tuning", err));
    step.refs[2] = (gpu_ref){.buffer = GPU_WEIGHTS, .offset = (size_t)(scratch - s->weights)};
    return gpu_time_step(s, &step, step.args.conv.m > 200000 ? 4 : 16, us, err);
}

static sk_status tune_step(gpu_session *s, gpu_step *step, uint8_t *scratch, sk_error *err)
{
    int32_t best = -1;
    float best_us = 0;
    for (int32_t i = 0; i < gpu_config_count(); i++) {
        float us;
        if (!gpu_config_fits(&s->plan, step, gpu_config_at(i)))
            continue;
        SK_TRY(time_tile(s, step, i, scratch, &us, err));
        if (us > 0 && (best < 0 || us < best_us)) {
            best = i;
            best_us = us;
        }
    }
    if (best < 0 || !apply(s, step, best))
        return sk_fail(err, SK_ERR_RUNTIME, "%s: none of the kernels for this convolution runs on this GPU",
                       step->name);
    return SK_OK;
}

/* The largest packed form any fitting tile has, over all steps: room to tune in. */
static size_t scratch_bytes(const gpu_session *s)
{
    size_t most = 256;
    for (size_t i = 0; i < s->plan.n_steps; i++)
        for (int32_t c = 0; s->plan.steps[i].kind == GPU_CONV && c < gpu_config_count(); c++)
            if (gpu_config_fits(&s->plan, &s->plan.steps[i], gpu_config_at(c))) {
                const size_t bytes = gpu_packed_bytes(&s->plan.steps[i], gpu_config_at(c));
                most = bytes > most ? bytes : most;
            }
    return most;
}

static sk_status choose(gpu_session *s, gpu_step *step, memo *m, uint8_t *scratch, sk_error *err)
{
    const uint64_t key = step_key(m, step, gpu_products(&s->plan, step));
    const entry *known = find(m, key);
    const int32_t tile = known ? tile_named(known->tile) : -1;
    if (tile >= 0 && gpu_config_fits(&s->plan, step, gpu_config_at(tile)) && apply(s, step, tile))
        return SK_OK;
    if (scratch) {
        SK_TRY(tune_step(s, step, scratch, err));
        keep(m, key, gpu_config_at(step->config)->name);
        m->changed = true;
        return SK_OK;
    }
    const int32_t guess = gpu_config_guess(&s->plan, step);
    if (guess >= 0 && apply(s, step, guess))
        return SK_OK;
    return sk_fail(err, SK_ERR_RUNTIME, "%s: none of the kernels for this convolution runs on this GPU",
                   step->name);
}

sk_status gpu_choose_tiles(gpu_session *s, sk_error *err)
{
    gpu_plan *plan = &s->plan;
    memo m = {0};
    uint8_t *scratch = NULL;
    sk_status status = SK_OK;
    if (plan->tune) {
        memo_open(s, &m);
        /* biases and the rest lie as they will; packed forms go behind them */
        const size_t bytes = (plan->weight_bytes + 255) / 256 * 256;
        SK_TRY_GOTO(
            gpu_check(s, gpu_alloc((void **)&s->weights, bytes + scratch_bytes(s)), "room for tuning", err));
        SK_TRY_GOTO(gpu_check(s, gpu_copy_up(s->weights, plan->weights, plan->weight_bytes, s->compute),
                              "tuning", err));
        scratch = s->weights + bytes;
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        gpu_step *step = &plan->steps[i];
        if (step->kind != GPU_CONV)
            continue;
        SK_TRY_GOTO(choose(s, step, &m, scratch, err));
        snprintf(step->kernel, sizeof step->kernel, "conv %.56s", gpu_config_at(step->config)->name);
    }
done:
    memo_close(&m);
    return status;
}
