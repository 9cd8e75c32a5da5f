/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "kernels/kernels.h"

#include <string.h>

/* Attention of up to 16 queries at every level against plain C. */

void check_attention(kernel_run *run);

typedef struct attend_case {
    sk_attention_f32 p;
    float *got, *to[SK_BLOCK];
    size_t count;
} attend_case;

static float *random_floats(kernel_run *run, size_t count, float size)
{
    float *data = kernel_buffer(run, count * sizeof *data, 4);
    kernel_fill_f32(run, data, count, -size, size);
    return data;
}

/* Queries and keys of that size; `far`: pixels between the results of two queries. */
static void open_case(kernel_run *run, attend_case *c, int32_t queries, int32_t keys, int32_t kd, int32_t hd,
                      float size, int32_t far)
{
    c->p = (sk_attention_f32){.queries = queries, .keys = keys, .kd = kd, .hd = hd};
    c->p.q = random_floats(run, (size_t)kd * SK_BLOCK, size);
    c->p.k = random_floats(run, (size_t)keys * (size_t)kd, size);
    c->p.v = random_floats(run, (size_t)keys * (size_t)hd, 2.0f);
    c->p.scores = kernel_buffer(run, (size_t)keys * SK_BLOCK * sizeof(float), 4);
    c->p.out_plane = ((ptrdiff_t)queries * far) * SK_BLOCK;
    c->count = (size_t)c->p.out_plane * (size_t)(hd / SK_BLOCK);
    c->p.out = c->to;
}

static float *attend(kernel_run *run, attend_case *c, sk_attention_f32_fn fn, int32_t far)
{
    float *out = kernel_buffer(run, c->count * sizeof *out, 4);
    memset(out, 0, c->count * sizeof *out);
    for (int32_t i = 0; i < SK_BLOCK; i++) /* from the last to the first: each goes where it is told to */
        c->to[i] = i < c->p.queries ? out + (ptrdiff_t)(c->p.queries - 1 - i) * far * SK_BLOCK : NULL;
    fn(&c->p);
    return out;
}

void check_attention(kernel_run *run)
{
    static const int32_t widths[] = {16, 32, 48, 64, 96};
    static const float sizes[] = {0.3f, 1.0f, 4.0f}; /* of the last, one key has nearly everything */
    sk_kernels_f32 ref, mine;
    sk_kernels_f32_fill(&ref, 0);
    sk_kernels_f32_fill(&mine, run->flags);
    if (!kernel_variant(run, "f32 attention", (kernel_fn)mine.attention))
        return;
    for (int i = 0; i < 150; i++) {
        attend_case c;
        const int32_t far = (int32_t)kernel_range(run, 1, 3);
        open_case(run, &c, (int32_t)kernel_range(run, 1, SK_BLOCK), (int32_t)kernel_length(run, i, 300),
                  widths[kernel_range(run, 0, 4)], widths[kernel_range(run, 0, 4)], sizes[i % 3], far);
        kernel_case(run, "%d queries, %d keys of %d, values of %d", c.p.queries, c.p.keys, c.p.kd, c.p.hd);
        const float *want = attend(run, &c, ref.attention, far), *got = attend(run, &c, mine.attention, far);
        kernel_compare_f32(run, want, got, c.count, (kernel_limits){4e-5, 1e-9});
        kernel_end(run);
    }
    attend_case c;
    open_case(run, &c, SK_BLOCK, 400, 32, 32, 1.0f, 1);
    attend(run, &c, mine.attention, 1);
    KERNEL_BENCH(run, "400 keys of 32", 2.0 * 16 * 400 * 64, 4.0 * 400 * 80)
    mine.attention(&c.p);
    kernel_end(run);
}
