/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/session.h"

#include <math.h>
#include <string.h>

/* The host's side of sparse outputs: whole arrays whose scores are -infinity but for the places that came down. */

static int32_t channels_of(const gpu_session *s, int32_t output)
{
    return (int32_t)gpu_shape(&s->plan, s->plan.graph->outputs[output])->dim[1];
}

static int32_t plane_of(const gpu_session *s, int32_t level)
{
    const sk_shape *shape =
        gpu_shape(&s->plan, s->plan.graph->outputs[s->plan.sparse.wish.level[level].scores]);
    return (int32_t)(shape->dim[2] * shape->dim[3]);
}

sk_status gpu_sparse_open(gpu_session *s, sk_error *err)
{
    const gpu_plan *plan = &s->plan;
    const gpu_sparse *sparse = &plan->sparse;
    for (int32_t k = 0; sparse->wish.n_levels > 0 && k < s->n_slots; k++) {
        gpu_slot *slot = &s->slots[k];
        slot->written = sk_calloc((size_t)sparse->n * (size_t)(sparse->places + 1), sizeof *slot->written);
        if (!slot->written)
            return sk_fail_memory(err, (size_t)sparse->n * (size_t)sparse->places * sizeof *slot->written);
        for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
            if (!gpu_is_sparse(plan, i))
                continue;
            const size_t count = (size_t)sk_shape_count(gpu_shape(plan, plan->graph->outputs[i]));
            slot->whole[i] = sk_aligned_calloc(64, count * sizeof(float));
            if (!slot->whole[i])
                return sk_fail_memory(err, count * sizeof(float));
        }
        for (int32_t l = 0; l < sparse->wish.n_levels; l++) {
            const int32_t o = sparse->wish.level[l].scores;
            const size_t count = (size_t)sk_shape_count(gpu_shape(plan, plan->graph->outputs[o]));
            for (size_t i = 0; i < count; i++)
                slot->whole[o][i] = -INFINITY;
        }
    }
    return SK_OK;
}

void gpu_sparse_close(gpu_session *s)
{
    for (int32_t k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        sk_free(s->slots[k].written);
        for (int32_t i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            sk_free(s->slots[k].whole[i]);
    }
}

/* What is downloaded of an image without knowing its count: the count and as many rows as cost next to nothing. */
static size_t first_words(const gpu_sparse *sparse)
{
    enum { WORDS = 1 << 16 };
    const size_t all = 4 + (size_t)sparse->places * (size_t)sparse->row_words;
    const size_t few = 4 + (size_t)(WORDS / sparse->row_words + 1) * (size_t)sparse->row_words;
    return all < few ? all : few;
}

int gpu_sparse_download(gpu_session *s, int32_t slot)
{
    const gpu_sparse *sparse = &s->plan.sparse;
    const size_t offset = s->plan.buffers[sparse->buffer].offset;
    return gpu_download(s, slot, offset, first_words(sparse) * 4, (size_t)sparse->n,
                        (size_t)sparse->image_words * 4);
}

/* Puts the values of one row where they belong, or takes the scores back. */
static void put_row(const gpu_session *s, gpu_slot *slot, int32_t image, int32_t place, const float *values)
{
    const gpu_sparse *sparse = &s->plan.sparse;
    int32_t level = sparse->wish.n_levels - 1;
    while (level > 0 && place < sparse->first[level])
        level--;
    const int32_t plane = plane_of(s, level), at = place - sparse->first[level];
    for (int32_t i = -1; i < sparse->wish.level[level].n_others; i++) {
        const int32_t o = i < 0 ? sparse->wish.level[level].scores : sparse->wish.level[level].others[i];
        const int32_t channels = channels_of(s, o);
        float *to = slot->whole[o] + (size_t)image * (size_t)channels * (size_t)plane + at;
        for (int32_t c = 0; c < channels; c++)
            to[(size_t)c * (size_t)plane] = values ? *values++ : -INFINITY;
        if (!values)
            return; /* only scores need taking back */
    }
}

sk_status gpu_sparse_unpack(gpu_session *s, int32_t index, sk_error *err)
{
    const gpu_sparse *sparse = &s->plan.sparse;
    gpu_slot *slot = &s->slots[index];
    const size_t offset = s->plan.buffers[sparse->buffer].offset;
    for (int32_t n = 0; n < sparse->n; n++) {
        int32_t *written = slot->written + (size_t)n * (size_t)(sparse->places + 1);
        uint8_t *host = slot->host + offset + (size_t)n * (size_t)sparse->image_words * 4;
        int32_t *words = (int32_t *)(void *)host, count = words[0];
        if (count < 0 || count > sparse->places)
            return sk_fail(err, SK_ERR_INTERNAL, "the GPU found %d places of %d", count, sparse->places);
        const size_t need = 4 + (size_t)count * (size_t)sparse->row_words, have = first_words(sparse);
        if (need > have) { /* unusually many: the rest comes now */
            SK_TRY(gpu_check(
                s,
                gpu_copy_down(host + have * 4,
                              slot->device + offset + (size_t)n * (size_t)sparse->image_words * 4 + have * 4,
                              (need - have) * 4, s->rest),
                "download", err));
            SK_TRY(gpu_check(s, gpu_stream_wait(s->rest), "download", err));
        }
        for (int32_t i = 0; i < written[0]; i++)
            put_row(s, slot, n, written[1 + i], NULL);
        written[0] = count;
        for (int32_t i = 0; i < count; i++) {
            const int32_t *row = words + 4 + (size_t)i * (size_t)sparse->row_words;
            if (row[0] < 0 || row[0] >= sparse->places)
                return sk_fail(err, SK_ERR_INTERNAL, "the GPU named place %d of %d", row[0], sparse->places);
            written[1 + i] = row[0];
            put_row(s, slot, n, row[0], (const float *)(const void *)(row + 1));
        }
    }
    return SK_OK;
}
