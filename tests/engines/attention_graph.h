/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_ATTENTION_GRAPH_H
#define SK_TESTS_ENGINES_ATTENTION_GRAPH_H

#include "layer_parts.h"

/* Attention as YOLO networks have it, tried against the reference executor: YOLO10, 11 and 26 (one area, values of twice the
 * keys' width, a 3x3 convolution of the values added) and YOLO12 (areas, equal widths, 7x7), as our reader writes it and as
 * Ultralytics' export to ONNX does. */
typedef struct attention_case {
    int heads, kd, hd, areas, k, batch, h, w;
    bool flat;    /* pixels before channels, and scaled after the product */
    int joined;   /* so many channels of q, k and v come from a convolution of their own */
    bool crossed; /* heads and areas are taken for each other: no attention of ours */
} attention_case;

static const attention_case attention_cases[] = {
    {2, 32, 64, 1, 3, 1, 20, 20, false, 0, false},  {1, 32, 64, 1, 3, 3, 7, 9, false, 0, false},
    {4, 32, 32, 1, 7, 1, 20, 20, true, 0, false},   {2, 32, 32, 4, 7, 1, 40, 40, false, 0, false},
    {3, 32, 32, 2, 7, 2, 6, 5, true, 0, false},     {2, 32, 32, 4, 0, 1, 8, 6, false, 0, false},
    {1, 48, 96, 1, 3, 1, 12, 11, false, 0, false},  {2, 32, 64, 2, 0, 40, 20, 18, true, 0, false},
    {5, 32, 32, 1, 7, 40, 20, 20, false, 0, false}, {1, 48, 96, 1, 0, 90, 16, 9, false, 0, false},
    {8, 32, 64, 1, 3, 2, 33, 50, false, 0, false},  {1, 32, 32, 1, 7, 1, 1, 3, false, 0, false},
};

static sk_value moved(sk_builder *b, sk_value x, const int64_t (*shape)[4], const int *perm, int rank)
{
    x = shape ? sk_b_reshape(b, x, *shape, rank) : x;
    return perm ? sk_b_transpose(b, x, perm, rank) : x;
}

static sk_value into_areas(sk_builder *b, const attention_case *c, sk_value x, int64_t per)
{
    const int64_t n = c->h * c->w, all = c->heads * per, p = n / c->areas;
    if (c->crossed) {
        x = moved(b, x, &(const int64_t[4]){c->heads, per, c->areas, p}, (const int[]){0, 2, 1, 3}, 4);
        return moved(b, x, &(const int64_t[4]){c->areas, c->heads, per, p}, NULL, 4);
    }
    if (!c->flat) {
        x = moved(b, x, &(const int64_t[4]){c->batch, all, c->areas, p}, (const int[]){0, 2, 1, 3}, 4);
        return moved(b, x, &(const int64_t[4]){c->batch * c->areas, c->heads, per, p}, NULL, 4);
    }
    x = moved(b, x, &(const int64_t[4]){c->batch, all, n}, (const int[]){0, 2, 1}, 3);
    x = moved(b, x, &(const int64_t[4]){c->batch * c->areas, p, all}, NULL, 3);
    return moved(b, x, &(const int64_t[4]){c->batch * c->areas, p, c->heads, per}, (const int[]){0, 2, 3, 1},
                 4);
}

static sk_value from_areas(sk_builder *b, const attention_case *c, sk_value x)
{
    const int64_t n = c->h * c->w, all = c->heads * c->hd, p = n / c->areas;
    if (!c->flat) {
        x = moved(b, x, &(const int64_t[4]){c->batch, c->areas, all, p}, (const int[]){0, 2, 1, 3}, 4);
        return moved(b, x, &(const int64_t[4]){c->batch, all, c->h, c->w}, NULL, 4);
    }
    x = moved(b, x, NULL, (const int[]){0, 3, 1, 2}, 4);
    x = moved(b, x, &(const int64_t[4]){c->batch, n, all}, NULL, 3);
    return moved(b, x, &(const int64_t[4]){c->batch, c->h, c->w, all}, (const int[]){0, 3, 1, 2}, 4);
}

/* `turned`: what comes back from the areas is read in another order of its channels; no kernel of ours may take that. */
static inline sk_graph *attention_graph(const attention_case *c, bool turned)
{
    const int64_t per = 2 * c->kd + c->hd, sizes[3] = {c->kd, c->kd, c->hd};
    const int all = c->heads * c->hd, swap[4] = {0, 1, 3, 2};
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    sk_value qkv[3];
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    sk_shape any = sk_shape_of(4, c->batch, 16, c->h, c->w);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    sk_value map = conv(&b, x, 16, c->heads * (int)per - c->joined, 1, 1, 1, 0, "qkv");
    if (c->joined)
        map = sk_b_concat(&b, (sk_value[]){map, conv(&b, x, 16, c->joined, 1, 1, 1, 0, "more")}, 2, 1);
    sk_b_split(&b, into_areas(&b, c, map, per), 2, sizes, 3, qkv);
    const sk_value factor = sk_b_f32(&b, 1.0f / sqrtf((float)c->kd));
    sk_value q = c->flat ? qkv[0] : sk_b_mul(&b, qkv[0], factor);
    sk_value scores = sk_b_matmul(&b, sk_b_transpose(&b, q, swap, 4), qkv[1]);
    scores = sk_b_softmax(&b, c->flat ? sk_b_mul(&b, scores, factor) : scores, 3);
    sk_value y = sk_b_matmul(&b, qkv[2], sk_b_transpose(&b, scores, swap, 4));
    if (turned)
        y = sk_b_reshape(&b, sk_b_transpose(&b, y, (const int[]){0, 2, 1, 3}, 4),
                         (const int64_t[]){c->batch * c->areas, c->heads, c->hd, c->h * c->w / c->areas}, 4);
    y = from_areas(&b, c, y);
    if (c->k > 0)
        y = sk_b_add(&b, y, conv(&b, from_areas(&b, c, qkv[2]), all, all, c->k, 1, all, 0, "pe"));
    sk_b_output(&b, conv(&b, y, all, 24, 1, 1, 1, SK_UNARY_SILU, "proj"), "y");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

#endif
