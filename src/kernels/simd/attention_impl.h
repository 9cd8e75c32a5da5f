/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_ATTENTION_IMPL_H
#define SK_KERNELS_SIMD_ATTENTION_IMPL_H

#include "kernels/simd/act_impl.h"

/* Attention of 16 queries at a time. Their scores lie [key][query], so that the maximum and the sum over keys are operations between
 * vectors, and what is left of one key is multiplied with its values, broadcast query by query. Nothing of the size keys x keys
 * comes into being. */

/* Keys and queries x vectors of values whose sums are in registers at once. */
#if VEC_FLOATS == 16
#define SK_ATTEND_KEYS    24
#define SK_ATTEND_QUERIES 8
#elif defined(__aarch64__)
#define SK_ATTEND_KEYS    6
#define SK_ATTEND_QUERIES 8
#else
#define SK_ATTEND_KEYS    (VEC_FLOATS == 8 ? 6 : 3)
#define SK_ATTEND_QUERIES 4
#endif

/* Scores of some keys; gives the largest of each query so far. `width`: p->kd, known where it can be. */
SK_INLINE void attend_scores(const sk_attention_f32 *p, int32_t key, vec top[VEC_PER_BLOCK], const int keys,
                             const ptrdiff_t width)
{
    const float *q = p->q, *k = p->k + key * width;
    vec acc[SK_ATTEND_KEYS][VEC_PER_BLOCK];
    SK_UNROLL
    for (int i = 0; i < keys; i++)
        SK_UNROLL
    for (int j = 0; j < VEC_PER_BLOCK; j++)
        acc[i][j] = vec_set1(0.0f);
    for (ptrdiff_t d = 0; d < width; d++, q += SK_BLOCK, k++) {
        vec of[VEC_PER_BLOCK];
        SK_UNROLL
        for (int j = 0; j < VEC_PER_BLOCK; j++)
            of[j] = vec_load(q + j * VEC_FLOATS);
        SK_UNROLL
        for (int i = 0; i < keys; i++) {
            const vec with = vec_set1(k[i * width]);
            SK_UNROLL
            for (int j = 0; j < VEC_PER_BLOCK; j++)
                acc[i][j] = vec_fma(of[j], with, acc[i][j]);
        }
    }
    float *scores = p->scores + (ptrdiff_t)key * SK_BLOCK;
    SK_UNROLL
    for (int i = 0; i < keys; i++)
        SK_UNROLL
    for (int j = 0; j < VEC_PER_BLOCK; j++) {
        vec_store(scores + i * SK_BLOCK + j * VEC_FLOATS, acc[i][j]);
        top[j] = vec_max(top[j], acc[i][j]);
    }
}

SK_INLINE void attend_all_scores(const sk_attention_f32 *p, vec top[VEC_PER_BLOCK], const ptrdiff_t width)
{
    int32_t key = 0;
    for (; key + SK_ATTEND_KEYS <= p->keys; key += SK_ATTEND_KEYS)
        attend_scores(p, key, top, SK_ATTEND_KEYS, width);
#if VEC_FLOATS == 16
    for (; key + 8 <= p->keys; key += 8)
        attend_scores(p, key, top, 8, width);
#endif
    for (; key < p->keys; key++)
        attend_scores(p, key, top, 1, width);
}

/* 2^(score - top) in place of each score; what is no number stays none. Four sums, of every fourth key, so that none waits for the one before. */
SK_INLINE vec attend_exp(const sk_attention_f32 *p, vec top, int from)
{
    vec sum[4];
    SK_UNROLL
    for (int i = 0; i < 4; i++)
        sum[i] = vec_set1(0.0f);
    float *scores = p->scores + from;
    int32_t key = 0;
    for (; key + 4 <= p->keys; key += 4, scores += 4 * SK_BLOCK)
        SK_UNROLL
    for (int i = 0; i < 4; i++) {
        const vec e = vec_exp2(vec_max(vec_set1(-126.0f), vec_sub(vec_load(scores + i * SK_BLOCK), top)));
        vec_store(scores + i * SK_BLOCK, e);
        sum[i] = vec_add(sum[i], e);
    }
    for (; key < p->keys; key++, scores += SK_BLOCK) {
        const vec e = vec_exp2(vec_max(vec_set1(-126.0f), vec_sub(vec_load(scores), top)));
        vec_store(scores, e);
        sum[0] = vec_add(sum[0], e);
    }
    return vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3]));
}

/* Queries [query, query + queries), values [value, value + vectors) of their rows. */
SK_INLINE void attend_values(const sk_attention_f32 *p, int32_t query, int32_t value,
                             const float share[SK_BLOCK], const int queries, const int vectors)
{
    const float *v = p->v + value, *scores = p->scores + query;
    vec acc[SK_ATTEND_QUERIES][2];
    SK_UNROLL
    for (int i = 0; i < queries; i++)
        SK_UNROLL
    for (int j = 0; j < vectors; j++)
        acc[i][j] = vec_set1(0.0f);
    for (int32_t key = 0; key < p->keys; key++, v += p->hd, scores += SK_BLOCK) {
        vec of[2];
        SK_UNROLL
        for (int j = 0; j < vectors; j++)
            of[j] = vec_load(v + j * VEC_FLOATS);
        SK_UNROLL
        for (int i = 0; i < queries; i++) {
            const vec with = vec_set1(scores[i]);
            SK_UNROLL
            for (int j = 0; j < vectors; j++)
                acc[i][j] = vec_fma(of[j], with, acc[i][j]);
        }
    }
    SK_UNROLL
    for (int i = 0; i < queries; i++)
        SK_UNROLL
    for (int j = 0; j < vectors; j++) {
        const int32_t at = value + j * VEC_FLOATS;
        vec_store(p->out[query + i] + at / SK_BLOCK * p->out_plane + at % SK_BLOCK,
                  vec_mul(acc[i][j], vec_set1(share[query + i])));
    }
}

SK_INLINE void attention_queries(const sk_attention_f32 *p)
{
    vec top[VEC_PER_BLOCK];
    float share[SK_BLOCK];
    SK_UNROLL
    for (int j = 0; j < VEC_PER_BLOCK; j++)
        top[j] = vec_set1(-INFINITY);
    if (p->kd == 32) /* as YOLO has it */
        attend_all_scores(p, top, 32);
    else
        attend_all_scores(p, top, p->kd);
    SK_UNROLL
    for (int j = 0; j < VEC_PER_BLOCK; j++)
        vec_store(share + j * VEC_FLOATS, attend_exp(p, top[j], j * VEC_FLOATS));
    for (int i = 0; i < SK_BLOCK; i++)
        share[i] = 1.0f / share[i];
    for (int32_t value = 0; value < p->hd; value += 2 * VEC_FLOATS) {
        const bool both = value + 2 * VEC_FLOATS <= p->hd;
        int32_t query = 0;
        for (; query + SK_ATTEND_QUERIES <= p->queries; query += SK_ATTEND_QUERIES)
            if (both)
                attend_values(p, query, value, share, SK_ATTEND_QUERIES, 2);
            else
                attend_values(p, query, value, share, SK_ATTEND_QUERIES, 1);
        for (; query < p->queries; query++)
            if (both)
                attend_values(p, query, value, share, 1, 2);
            else
                attend_values(p, query, value, share, 1, 1);
    }
}

#endif
