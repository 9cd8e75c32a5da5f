/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SCENE_MATHS_H
#define SK_SCENE_MATHS_H

#include <math.h>
#include <stdint.h>

/* Arithmetic that gives the same bits on every machine: only +, -, *, / and sqrt of 32-bit floats, which IEEE 754
 * rounds in one way (the compiler must not contract them into fused operations, see docs/scenes.md), and integers.
 * No other function of the mathematical library: their last bits differ. */

#define SK_PI 3.14159265f

/* PCG32: one stream a seed and purpose. */
typedef struct sk_random {
    uint64_t state, stream;
} sk_random;

static inline uint32_t sk_random_bits(sk_random *random)
{
    uint64_t old = random->state;
    random->state = old * 6364136223846793005u + random->stream;
    uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27), turn = (uint32_t)(old >> 59);
    return (mixed >> turn) | (mixed << ((32u - turn) & 31u));
}

static inline uint64_t sk_random_scramble(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static inline sk_random sk_random_begin(uint64_t seed, uint64_t purpose)
{
    sk_random random = {sk_random_scramble(seed ^ (purpose << 48)),
                        sk_random_scramble(seed + purpose * 977u) | 1u};
    (void)sk_random_bits(&random);
    return random;
}

/* [0, 1) */
static inline float sk_random_unit(sk_random *random)
{
    return (float)(sk_random_bits(random) >> 8) * (1.0f / 16777216.0f);
}

static inline float sk_random_between(sk_random *random, float low, float high)
{
    return low + (high - low) * sk_random_unit(random);
}

/* 0 … count - 1 */
static inline int32_t sk_random_below(sk_random *random, int32_t count)
{
    return (int32_t)(((uint64_t)sk_random_bits(random) * (uint64_t)count) >> 32);
}

/* Nearly normal, mean 0, deviation 1: six uniform numbers. */
static inline float sk_random_normal(sk_random *random)
{
    float sum = 0.0f;
    for (int i = 0; i < 6; i++)
        sum += sk_random_unit(random);
    return (sum - 3.0f) * 1.41421356f;
}

static inline float sk_clampf(float value, float low, float high)
{
    return value < low ? low : value > high ? high : value;
}

static inline int32_t sk_floor_int(float value)
{
    int32_t cut = (int32_t)value;
    return cut - (value < (float)cut);
}

/* Sine of quarter turns + r, |r| <= pi/4; about 1e-6 off. */
static inline float sk_sine_piece(float r, int32_t quarter)
{
    float q = r * r;
    float sine = r * (1.0f + q * (-0.16666667f + q * (0.0083333310f + q * -0.00019840874f)));
    float cosine = 1.0f + q * (-0.5f + q * (0.041666638f + q * (-0.0013888378f + q * 0.000024433157f)));
    float value = quarter & 1 ? cosine : sine;
    return quarter & 2 ? -value : value;
}

static inline float sk_sin(float angle)
{
    int32_t quarter = sk_floor_int(angle * 0.636619772f + 0.5f);
    float k = (float)quarter;
    float r = (angle - k * 1.5703125f) - k * 0.00048382679f;
    return sk_sine_piece(r, quarter & 3);
}

static inline float sk_cos(float angle)
{
    int32_t quarter = sk_floor_int(angle * 0.636619772f + 0.5f);
    float k = (float)quarter;
    float r = (angle - k * 1.5703125f) - k * 0.00048382679f;
    return sk_sine_piece(r, (quarter + 1) & 3);
}

/* (-pi, pi], about 1e-5 off; 0 for (0, 0). */
static inline float sk_atan2(float y, float x)
{
    float ax = x < 0.0f ? -x : x, ay = y < 0.0f ? -y : y;
    float large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
    if (large == 0.0f)
        return 0.0f;
    float z = small / large, q = z * z;
    float angle =
        z *
        (0.99997726f +
         q * (-0.33262347f + q * (0.19354346f + q * (-0.11643287f + q * (0.05265332f + q * -0.01172120f)))));
    if (ay > ax)
        angle = 1.57079633f - angle;
    if (x < 0.0f)
        angle = SK_PI - angle;
    return y < 0.0f ? -angle : angle;
}

/* The same angle in (-pi, pi]. */
static inline float sk_angle_wrap(float angle)
{
    float turns = (float)sk_floor_int(angle * 0.159154943f + 0.5f);
    return (angle - turns * 6.28125f) - turns * 0.00193530718f;
}

#endif
