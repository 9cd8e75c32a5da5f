/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_RANDOM_GRAPH_H
#define SK_TESTS_ENGINES_RANDOM_GRAPH_H

#include "random_source.h"

#include "graph/builder.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Small networks drawn at random from the operations that image models are made of: odd channel counts, odd sizes,
 * branches that split, join and add. The same seed gives the same graph. */

static inline sk_value random_constant(sk_builder *b, random_source *r, const sk_shape *shape, float scale)
{
    int64_t count = sk_shape_count(shape);
    float *data = malloc((size_t)count * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = random_unit(r) * scale;
    sk_value v = sk_b_constant(b, "", SK_DTYPE_F32, shape, data);
    free(data);
    return v;
}

typedef struct random_map {
    sk_value v;
    int c, h, w;
} random_map;

static inline sk_value random_act(sk_builder *b, random_source *r, sk_value x)
{
    static const sk_unary kinds[] = {SK_UNARY_SILU, SK_UNARY_RELU,       SK_UNARY_SIGMOID, SK_UNARY_LEAKY,
                                     SK_UNARY_GELU, SK_UNARY_HARD_SWISH, SK_UNARY_TANH,    SK_UNARY_RELU6};
    if (random_below(r, 4) == 0)
        return x;
    return sk_b_unary_alpha(b, kinds[random_below(r, 8)], x, 0.1f, 0.0f);
}

/* A convolution with any window that fits; stride and groups by chance. */
static inline random_map random_conv(sk_builder *b, random_source *r, random_map x, int cout, int kernel,
                                     int stride, int groups)
{
    int dilation = kernel == 3 && stride == 1 && random_below(r, 6) == 0 ? 2 : 1,
        pad = (kernel / 2) * dilation;
    sk_shape ws = sk_shape_of(4, cout, x.c / groups, kernel, kernel), bs = sk_shape_of(1, cout);
    sk_value w = random_constant(b, r, &ws, 1.5f / sqrtf((float)(x.c / groups * kernel * kernel)));
    sk_value bias = random_below(r, 5) ? random_constant(b, r, &bs, 0.2f) : SK_VALUE_NONE;
    sk_window win = {{kernel, kernel}, {stride, stride}, {dilation, dilation}, {pad, pad, pad, pad}, 0};
    random_map y = {sk_b_conv(b, x.v, w, bias, &win, groups, "conv"), cout, (x.h - 1) / stride + 1,
                    (x.w - 1) / stride + 1};
    y.v = random_act(b, r, y.v);
    return y;
}

static inline random_map random_transpose(sk_builder *b, random_source *r, random_map x, int cout)
{
    static const int forms[4][4] = {
        {2, 2, 0, 0}, {3, 2, 1, 1}, {4, 2, 1, 0}, {3, 2, 0, 0}}; /* kernel stride pad out */
    const int *f = forms[random_below(r, 4)];
    sk_shape ws = sk_shape_of(4, x.c, cout, f[0], f[0]), bs = sk_shape_of(1, cout);
    sk_value in[3] = {x.v, random_constant(b, r, &ws, 1.0f / sqrtf((float)x.c)),
                      random_constant(b, r, &bs, 0.2f)};
    sk_attrs a = {0};
    a.conv_transpose.window = (sk_window){{f[0], f[0]}, {f[1], f[1]}, {1, 1}, {f[2], f[2], f[2], f[2]}, 0};
    a.conv_transpose.output_pad[0] = a.conv_transpose.output_pad[1] = f[3];
    a.conv_transpose.groups = 1;
    random_map y = {sk_b_node(b, SK_OP_CONV_TRANSPOSE, &a, in, 3, "up"), cout,
                    (x.h - 1) * f[1] + f[0] - 2 * f[2] + f[3], (x.w - 1) * f[1] + f[0] - 2 * f[2] + f[3]};
    y.v = random_act(b, r, y.v);
    return y;
}

static inline int random_channels(random_source *r)
{
    static const int usual[] = {16, 32, 48, 64, 8, 1, 3, 24, 51, 17, 36, 80};
    return usual[random_below(r, 12)];
}

/* The body of a C2f-like block: split, a chain, everything joined. */
static inline random_map random_block(sk_builder *b, random_source *r, random_map x)
{
    int half = random_below(r, 3) ? 16 * (1 + random_below(r, 2)) : 5 + random_below(r, 30);
    random_map both = random_conv(b, r, x, 2 * half, 1, 1, 1);
    sk_value parts[4];
    sk_b_split(b, both.v, 1, NULL, 2, parts);
    random_map part = {parts[1], half, x.h, x.w};
    random_map one = random_conv(b, r, part, half, 3, 1, 1);
    one.v = sk_b_add(b, one.v, part.v);
    parts[2] = one.v;
    random_map two = random_conv(b, r, one, half, random_below(r, 2) ? 3 : 1, 1, 1);
    parts[3] = two.v;
    int count = 3 + random_below(r, 2), first = random_below(r, 3) == 0 ? 1 : 0;
    random_map joined = {sk_b_concat(b, parts + first, count - first, 1), half * (count - first), x.h, x.w};
    return random_conv(b, r, joined, random_channels(r), 1, 1, 1);
}

static inline random_map random_step(sk_builder *b, random_source *r, random_map x, const random_map *seen,
                                     int n_seen)
{
    switch (random_below(r, 13)) {
    case 12: { /* a neck: half the size, back up, joined with what was there, 1x1 */
        if (x.h % 2 || x.w % 2)
            return x;
        random_map low = random_conv(b, r, x, random_channels(r), 3, 2, 1);
        sk_value in[2] = {sk_b_upsample_nearest(b, low.v, 2.0f), x.v};
        if (random_below(r, 2)) {
            in[1] = in[0];
            in[0] = x.v;
        }
        random_map both = {sk_b_concat(b, in, 2, 1), low.c + x.c, x.h, x.w};
        return random_conv(b, r, both, random_channels(r), 1, 1, 1);
    }
    case 0: return random_conv(b, r, x, random_channels(r), 1, 1, 1);
    case 1: return random_conv(b, r, x, random_channels(r), 3, x.h > 6 && x.w > 6 ? 2 : 1, 1);
    case 2: {
        int stride =
            1 + random_below(r, 2); /* one draw a statement: compilers order arguments as they like */
        int kernel = random_below(r, 2) ? 3 : 5;
        return random_conv(b, r, x, x.c, kernel, stride, x.c);
    }
    case 3: return random_block(b, r, x);
    case 4: {
        random_map y = {sk_b_max_pool(b, x.v, 5, 1, 2, "pool"), x.c, x.h, x.w};
        return y;
    }
    case 5: {
        random_map y = {random_below(r, 2) ? sk_b_upsample_nearest(b, x.v, 2.0f)
                                           : sk_b_upsample_linear(b, x.v, 2.0f),
                        x.c, 2 * x.h, 2 * x.w};
        return x.h * x.w > 1200 ? x : y;
    }
    case 6: return x.h * x.w > 800 ? x : random_transpose(b, r, x, random_channels(r));
    case 7: { /* join with an earlier map of the same size */
        for (int i = n_seen - 1; i >= 0; i--)
            if (seen[i].h == x.h && seen[i].w == x.w && seen[i].v != x.v) {
                sk_value in[2] = {x.v, seen[i].v};
                random_map y = {sk_b_concat(b, in, 2, 1), x.c + seen[i].c, x.h, x.w};
                return y;
            }
        return x;
    }
    case 8: { /* add an earlier map */
        for (int i = n_seen - 1; i >= 0; i--)
            if (seen[i].h == x.h && seen[i].w == x.w && seen[i].c == x.c && seen[i].v != x.v) {
                random_map y = {sk_b_add(b, x.v, seen[i].v), x.c, x.h, x.w};
                return y;
            }
        return x;
    }
    case 9: {
        random_map y = {sk_b_mul(b, x.v, sk_b_f32(b, 0.7f)), x.c, x.h, x.w};
        return y;
    }
    case 10:
        if (x.c % 2 == 0)
            return random_conv(b, r, x, x.c % 4 == 0 ? 24 : 6, 3, 1, 2);
        return x;
    default: return random_conv(b, r, x, random_channels(r), 3, 1, 1);
    }
}

/* The graph's input shape is written to *shape. */
static inline sk_graph *random_graph(uint64_t seed, sk_shape *shape)
{
    random_source r = {seed * 77777 + 3};
    sk_error err;
    sk_graph *g = NULL;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder b;
    sk_builder_init(&b, g);
    static const int inputs[] = {3, 1, 3, 4, 19};
    random_map x = {0, inputs[random_below(&r, 5)], 9 + random_below(&r, 24), 9 + random_below(&r, 24)};
    *shape = sk_shape_of(4, 1 + random_below(&r, 2), x.c, x.h, x.w);
    sk_shape any = sk_shape_of(4, -1, x.c, -1, -1);
    x.v = sk_b_input(&b, "images", SK_DTYPE_F32, &any);
    random_map seen[24];
    int n = 0;
    int stride = 1 + random_below(&r, 2);
    x = random_conv(&b, &r, x, random_channels(&r), 3, stride, 1);
    int steps = 3 + random_below(&r, 8);
    for (int i = 0; i < steps; i++) {
        seen[n++] = x;
        x = random_step(&b, &r, x, seen, n);
    }
    sk_b_output(&b, x.v, "out");
    if (seen[n / 2].v != x.v && n / 2 > 0)
        sk_b_output(&b, seen[n / 2].v, "middle");
    if (b.status != SK_OK)
        fail_msg("builder: %s", b.error.message);
    return g;
}

/* A graph that begins with colour pictures. */
static inline random_map random_begin(sk_graph **graph, sk_builder *b, const sk_shape *shape)
{
    sk_error err = {0};
    assert_ok(sk_graph_open(graph, &err), &err);
    sk_builder_init(b, *graph);
    return (random_map){sk_b_input(b, "images", SK_DTYPE_F32, shape), 3, (int)shape->dim[2],
                        (int)shape->dim[3]};
}

#endif
