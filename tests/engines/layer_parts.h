/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_LAYER_PARTS_H
#define SK_TESTS_ENGINES_LAYER_PARTS_H

#include "graph/builder.h"
#include "graph/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What networks of a few layers are made of, to try an engine on against the reference executor. */

static uint32_t seed = 7;
static float unit(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

static float *randoms(int64_t n, float scale)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n;
         i++) /* as halves have them: what is compared is the arithmetic, not the rounding of inputs */
        x[i] = sk_f16_to_f32(sk_f32_to_f16(unit() * scale));
    return x;
}

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

/* ||a - b|| / ||b||; NaN when anything is. */
static double distance(const float *a, const float *b, int64_t n)
{
    double d = 0, s = 0;
    for (int64_t i = 0; i < n; i++) {
        d += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        s += (double)b[i] * (double)b[i];
    }
    return s > 0 ? sqrt(d / s) : sqrt(d);
}

static sk_value constant(sk_builder *b, const sk_shape *shape, float scale)
{
    float *x = randoms(sk_shape_count(shape), scale);
    sk_value v = sk_b_constant(b, "", SK_DTYPE_F32, shape, x);
    free(x);
    return v;
}

static sk_value conv(sk_builder *b, sk_value x, int cin, int cout, int k, int stride, int groups, int act,
                     const char *name)
{
    sk_shape ws = sk_shape_of(4, cout, cin / groups, k, k), bs = sk_shape_of(1, cout);
    sk_window win = {{k, k}, {stride, stride}, {1, 1}, {k / 2, k / 2, k / 2, k / 2}, 0};
    sk_value y = sk_b_conv(b, x, constant(b, &ws, 1.6f / sqrtf((float)(cin / groups * k * k))),
                           constant(b, &bs, 0.5f), &win, groups, name);
    return act ? sk_b_unary(b, (sk_unary)act, y) : y;
}

#endif
