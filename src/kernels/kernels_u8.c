/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels_u8.h"

#include "base/cpu.h"
#include "graph/graph.h"

#include <math.h>

void sk_kernels_u8_fill(sk_kernels_u8 *table, uint32_t flags)
{
    *table = (sk_kernels_u8){0};
    sk_kernels_u8_ref(table);
#if defined(__x86_64__)
    if (flags & SK_CPU_AVX2)
        sk_kernels_u8_avx2(table);
    if (flags & SK_CPU_AVXVNNI)
        sk_kernels_u8_avxvnni(table);
    if (flags & SK_CPU_AVX512VNNI)
        sk_kernels_u8_avx512vnni(table);
    if (flags & SK_CPU_AMX)
        sk_kernels_u8_amx(table);
#elif defined(__aarch64__)
    if (flags & SK_CPU_NEON)
        sk_kernels_u8_neon(table);
    if (flags & SK_CPU_DOTPROD)
        sk_kernels_u8_dotprod(table);
    if (flags & SK_CPU_I8MM)
        sk_kernels_u8_i8mm(table);
#else
    (void)flags;
#endif
}

/* How far the activation lies below max(x, 0), at x >= 0; for these it is the same at -x. */
static double fold_at(int32_t kind, double x)
{
    switch (kind) {
    case SK_UNARY_SILU: return x / (1.0 + exp(x));
    case SK_UNARY_GELU: return 0.5 * x * erfc(x * 0.70710678118654752);
    case SK_UNARY_GELU_TANH: return 0.5 * x * (1.0 - tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case SK_UNARY_HARD_SWISH: return x < 3.0 ? x * (3.0 - x) / 6.0 : 0.0;
    default: return 0.0;
    }
}

static int fill_fold(sk_act_i16 *act, int32_t kind, double unit)
{
    double reach = 1.0; /* where the fold is less than half a unit, and falling */
    while (reach < 100.0 && (fold_at(kind, reach) > 0.5 * unit || reach < 3.0))
        reach += 0.0625;
    if (reach > 32767.0 * unit) /* x is cut off before: what is left of the curve there would be lost */
        return 0;
    double gain = 65536.0 * (SK_I16_SEGMENTS - 1) * unit / reach;
    act->gain = (uint16_t)(gain > 65535.0 ? 65535 : gain < 1.0 ? 1 : ceil(gain));
    const double step = 65536.0 / act->gain * unit; /* of a segment, in x */
    for (int i = 0; i < SK_I16_SEGMENTS - 1; i++) {
        const double from = rint(fold_at(kind, i * step) / unit),
                     to = rint(fold_at(kind, (i + 1) * step) / unit);
        if (from > 32767.0 || to > 32767.0)
            return 0;
        act->level[i] = (int16_t)from;
        act->slope[i] = (int16_t)(to - from);
        act->pieces[i] = (int32_t)((uint32_t)(uint16_t)act->slope[i] << 16 | (uint16_t)act->level[i]);
    }
    act->folded = 1;
    return 1;
}

double sk_act_i16_error(const sk_act_i16 *act, int32_t kind, double unit)
{
    const double step = act->folded ? 65536.0 / act->gain * unit : 0.0;
    double most = fold_at(kind, (SK_I16_SEGMENTS - 1) * step); /* beyond the last piece it is taken for 0 */
    for (int i = 0; i < SK_I16_SEGMENTS - 1; i++) {
        const double ends = fold_at(kind, i * step) + fold_at(kind, (i + 1) * step);
        most = fmax(most, fabs(0.5 * ends - fold_at(kind, (i + 0.5) * step)));
    }
    return most;
}

int sk_act_i16_make(sk_act_i16 *act, int32_t kind, double unit)
{
    *act = (sk_act_i16){.relu = kind != 0, .high = 32767};
    if (!(unit > 0.0))
        return 0;
    switch (kind) {
    case 0:
    case SK_UNARY_RELU: return 1;
    case SK_UNARY_RELU6: {
        const double high = rint(6.0 / unit);
        act->high = (int16_t)(high > 32767.0 ? 32767 : high);
        return 1;
    }
    case SK_UNARY_SILU:
    case SK_UNARY_GELU:
    case SK_UNARY_GELU_TANH:
    case SK_UNARY_HARD_SWISH: return fill_fold(act, kind, unit);
    default: return 0;
    }
}

void sk_winograd_u8_weights(const int8_t *taps, int16_t *points)
{
    static const int32_t g[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 12}};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            int32_t sum = 0;
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 3; x++)
                    sum += g[i][y] * g[k][x] * taps[3 * y + x];
            points[i * 6 + k] = (int16_t)sum;
        }
}
