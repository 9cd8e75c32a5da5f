/* SPDX-License-Identifier: Apache-2.0 */
#include "media/tiff_samples.h"

#include <math.h>
#include <string.h>
#include <tiff.h>

bool sk_tiff_readable(const sk_tiff_page *p)
{
    bool size = p->kind == SAMPLEFORMAT_INT ? p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64
                                            : p->bits == 16 || p->bits == 32 || p->bits == 64;
    bool kind = p->kind == SAMPLEFORMAT_UINT || p->kind == SAMPLEFORMAT_INT ||
                p->kind == SAMPLEFORMAT_IEEEFP || p->kind == SAMPLEFORMAT_VOID;
    return size && kind &&
           (p->colours == PHOTOMETRIC_MINISBLACK || p->colours == PHOTOMETRIC_MINISWHITE ||
            p->colours == PHOTOMETRIC_RGB);
}

bool sk_tiff_is_scaled(const sk_tiff_page *p)
{
    return p->bits != 16 || p->kind == SAMPLEFORMAT_INT || p->kind == SAMPLEFORMAT_IEEEFP;
}

uint32_t sk_tiff_wanted(const sk_tiff_page *p)
{
    return p->colours == PHOTOMETRIC_RGB && p->samples >= 3 ? 3 : 1;
}

static double half_to_double(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return h & 0x8000 ? -value : value;
}

#define READ(type)                                                                                           \
    do {                                                                                                     \
        type v_;                                                                                             \
        memcpy(&v_, at, sizeof v_);                                                                          \
        return (double)v_;                                                                                   \
    } while (0)

static double sample(const sk_tiff_page *p, const unsigned char *at)
{
    if (p->kind == SAMPLEFORMAT_IEEEFP) {
        uint16_t half;
        switch (p->bits) {
        case 16: memcpy(&half, at, sizeof half); return half_to_double(half);
        case 32: READ(float);
        default: READ(double);
        }
    }
    bool sign = p->kind == SAMPLEFORMAT_INT;
    switch (p->bits) {
    case 8: return (double)(signed char)*at;
    case 16:
        if (sign)
            READ(int16_t);
        READ(uint16_t);
    case 32:
        if (sign)
            READ(int32_t);
        READ(uint32_t);
    default:
        if (sign)
            READ(int64_t);
        READ(uint64_t);
    }
}

void sk_tiff_choose_range(const sk_tiff_canvas *m, sk_tiff_range *range)
{
    *range = (sk_tiff_range){.known = true, .scale = 1};
    if (!(m->least <= m->most) || (m->least >= 0 && m->most > 1 && m->most <= 255))
        return;
    if (m->least >= 0 && m->most <= 1) {
        range->scale = 255;
        return;
    }
    range->low = m->least;
    range->scale = m->most > m->least ? 255 / (m->most - m->least) : 1;
}

static uint8_t to_byte(const sk_tiff_canvas *c, const sk_tiff_page *p, const unsigned char *at)
{
    double value = sample(p, at);
    if (!sk_tiff_is_scaled(p))
        return (uint8_t)((uint32_t)value >> 8);
    value = (value - c->range.low) * c->range.scale;
    return value >= 255 ? 255 : value > 0 ? (uint8_t)lround(value) : 0; /* not-a-number is 0 */
}

static void measure(sk_tiff_canvas *c, double value)
{
    if (!isfinite(value))
        return;
    c->least = fmin(c->least, value);
    c->most = fmax(c->most, value);
}

/* Colours lie in a pixel's three bytes until sk_tiff_finish; one sample alone goes to all. */
void sk_tiff_paint(sk_tiff_canvas *c, const sk_tiff_page *p, const unsigned char *block, uint32_t plane,
                   int32_t x, int32_t y, int32_t width, int32_t height)
{
    size_t bytes = p->bits / 8u, pixel = bytes * (p->apart ? 1u : p->samples);
    uint32_t wanted = sk_tiff_wanted(p);
    int32_t right = p->width - x < width ? p->width - x : width;
    int32_t below = p->height - y < height ? p->height - y : height;
    for (int32_t j = 0; j < below; j++)
        for (int32_t i = 0; i < right; i++) {
            const unsigned char *from = block + ((size_t)j * (size_t)width + (size_t)i) * pixel;
            if (!c->slot) {
                for (uint32_t s = 0; s < (p->apart ? 1 : wanted); s++)
                    measure(c, sample(p, from + s * bytes));
                continue;
            }
            bool grey = c->format == SK_PIXEL_GRAY;
            uint8_t *to = c->slot->frame.data + (y + j) * c->slot->frame.stride + (x + i) * (grey ? 1 : 3);
            if (wanted == 1) {
                uint8_t v = to_byte(c, p, from);
                sk_tiff_put(to, c->format, v, v, v);
            } else if (!p->apart) {
                sk_tiff_put(to, c->format, to_byte(c, p, from), to_byte(c, p, from + bytes),
                            to_byte(c, p, from + 2 * bytes));
            } else if (!grey) {
                to[c->format == SK_PIXEL_BGR ? 2 - plane : plane] = to_byte(c, p, from);
            } else { /* a third of each plane's share, summed up as they come */
                static const int share[3] = {4899, 9617, 1868};
                const int part =
                    (to_byte(c, p, from) * share[plane] + (1 << 13)) >> 14; /* 76, 150, 29 at most */
                *to = (uint8_t)((plane ? *to : 0) + part);
            }
        }
}

void sk_tiff_finish(sk_tiff_canvas *c, const sk_tiff_page *p)
{
    if (p->colours != PHOTOMETRIC_MINISWHITE)
        return;
    for (int32_t y = 0; y < c->slot->frame.height; y++) {
        uint8_t *row = c->slot->frame.data + y * c->slot->frame.stride;
        for (int32_t x = 0; x < c->slot->frame.width * sk_pixel_bytes(c->format); x++)
            row[x] = (uint8_t)(255 - row[x]);
    }
}
