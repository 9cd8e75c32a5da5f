/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PICTURE_FORMULA_H
#define SK_TASKS_PICTURE_FORMULA_H

#include "base/formula.h"

/* Pixels on their way into a network: sizing and greys, bit for bit the originals'. For C, CUDA and HIP: base/formula.h. */

/* --- OpenCV's 8-bit INTER_LINEAR: weights of 11 bits, rows first, sums cut to 15 bits, one rounding at the end --- */

/* A horizontal sum is at most 255 * 2048: cut by 4 bits it fits int16 … */
SK_FORMULA int16_t sk_linear_across(int32_t a, int32_t b, int32_t weight_a, int32_t weight_b)
{
    return (int16_t)((a * weight_a + b * weight_b) >> 4);
}

/* … so that the vertical one is two high halves of 16-bit products: the form compilers turn into one instruction each. */
SK_FORMULA uint8_t sk_linear_down(int16_t upper, int16_t lower, int16_t weight_upper, int16_t weight_lower)
{
    int16_t sum = (int16_t)(((upper * weight_upper) >> 16) + ((lower * weight_lower) >> 16) + 2);
    sum = (int16_t)(sum >> 2);
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* Exactly 2:1 both ways: the mean of 2 x 2 pixels. */
SK_FORMULA uint8_t sk_linear_half(int32_t a, int32_t b, int32_t c, int32_t d)
{
    return (uint8_t)((a + b + c + d + 2) >> 2);
}

/* --- bilinear in single precision, along x, then y: TensorFlow's --- */

SK_FORMULA float sk_mix(float top_left, float top_right, float bottom_left, float bottom_right, float part_x,
                        float part_y)
{
    const float top = top_left + sk_mul(top_right - top_left, part_x),
                bottom = bottom_left + sk_mul(bottom_right - bottom_left, part_x);
    return top + sk_mul(bottom - top, part_y);
}

/* Where a fractional place of a crop is mixed from (tf.image.crop_and_resize): two whole ones, and how far from the lower. */
typedef struct sk_between {
    int32_t low, high;
    float part;
} sk_between;

SK_FORMULA sk_between sk_between_of(float place)
{
    const float low = floorf(place);
    const sk_between b = {(int32_t)low, (int32_t)ceilf(place), place - low};
    return b;
}

/* A byte as a fraction, as convert_image_dtype has it: times the rounded reciprocal. */
SK_FORMULA float sk_fraction(uint8_t v)
{
    return sk_mul((float)v, 1.0f / 255.0f);
}

/* --- antialiased on 8 bits: torchvision's, with weights of `bits` bits --- */

SK_FORMULA int32_t sk_antialias_begin(int32_t bits)
{
    return 1 << (bits - 1);
}

SK_FORMULA uint8_t sk_antialias_end(int32_t sum, int32_t bits)
{
    return (uint8_t)sk_to_byte(sum >> bits);
}

/* --- grey of colours --- */

/* SLEAP <= 1.4, by way of TensorFlow: fractions, times 255.5, cut to 8 bits. */
SK_FORMULA uint8_t sk_grey_tensorflow(uint8_t red, uint8_t green, uint8_t blue)
{
    const float r = sk_mul(sk_fraction(red), 0.2989f), g = sk_mul(sk_fraction(green), 0.587f),
                b = sk_mul(sk_fraction(blue), 0.114f);
    return (uint8_t)(int32_t)sk_mul(r + g + b, 255.5f);
}

/* sleap-nn, by way of torchvision: sums rounded to single precision once each, as fused multiply-adds give them. The products
 * are exact in double. */
SK_FORMULA float sk_grey_sum(float red, float green, float blue)
{
    float v = sk_mul(red, 0.2989f);
    v = (float)((double)v + (double)green * (double)0.587f);
    return (float)((double)v + (double)blue * (double)0.114f);
}

SK_FORMULA uint8_t sk_grey_torch(uint8_t red, uint8_t green, uint8_t blue)
{
    return (uint8_t)(int32_t)sk_grey_sum((float)red, (float)green, (float)blue);
}

/* The same of fractions, not cut to 8 bits. */
SK_FORMULA float sk_grey_fraction(uint8_t red, uint8_t green, uint8_t blue)
{
    return sk_grey_sum((float)red / 255.0f, (float)green / 255.0f, (float)blue / 255.0f);
}

/* --- crops that lie turned, and what is painted over in them (tasks/turned.h) --- */

/* A point (dx, dy) from the middle of a crop, along it, in the picture. */
SK_FORMULA float sk_turned_x(float middle_x, float dx, float dy, float cosine, float sine)
{
    return middle_x + (sk_mul(dx, cosine) - sk_mul(dy, sine));
}

SK_FORMULA float sk_turned_y(float middle_y, float dx, float dy, float cosine, float sine)
{
    return middle_y + (sk_mul(dx, sine) + sk_mul(dy, cosine));
}

/* Pixel u of a row that begins at `begin`, on one axis; beyond the border the border goes on. */
SK_FORMULA float sk_turned_along(float begin, int32_t u, float part, int32_t size)
{
    const float v = begin + sk_mul((float)u, part);
    return v > 0 ? (v < (float)(size - 1) ? v : (float)(size - 1)) : 0;
}

SK_FORMULA uint8_t sk_turned_byte(uint8_t top_left, uint8_t top_right, uint8_t bottom_left,
                                  uint8_t bottom_right, float part_x, float part_y)
{
    return (uint8_t)(sk_mix(top_left, top_right, bottom_left, bottom_right, part_x, part_y) + 0.5f);
}

/* Is a point, from the middle of a box that lies turned, in it? The edge belongs to it. */
SK_FORMULA int sk_turned_holds(float dx, float dy, float cosine, float sine, float half_width,
                               float half_height)
{
    return fabsf(sk_mul(dx, cosine) + sk_mul(dy, sine)) <= half_width &&
           fabsf(sk_mul(dy, cosine) - sk_mul(dx, sine)) <= half_height;
}

#endif
