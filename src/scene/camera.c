/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* What lens and sensor do to the picture: blur, flicker, grey, noise. */

/* a + 2b + c over pixels, edges repeated. */
static void blur_row(const uint8_t *row, int32_t width, uint16_t *out)
{
    for (int c = 0; c < 3; c++) {
        out[c] = (uint16_t)(3 * row[c] + (width > 1 ? row[3 + c] : row[c]));
        const int32_t last = 3 * (width - 1) + c;
        out[last] = (uint16_t)((width > 1 ? row[last - 3] : row[last]) + 3 * row[last]);
    }
    for (int32_t i = 3; i < 3 * (width - 1); i++)
        out[i] = (uint16_t)(row[i - 3] + 2 * row[i] + row[i + 3]);
}

/* 3x3 binomial filter in place. */
static void blur(sk_canvas *canvas)
{
    const int32_t width = canvas->width, height = canvas->height;
    const size_t bytes = 3 * (size_t)width;
    uint16_t *above = canvas->rows, *here = above + bytes, *below = here + bytes;
    blur_row(canvas->pixels, width, here);
    blur_row(canvas->pixels, width, above);
    for (int32_t y = 0; y < height; y++) {
        uint8_t *row = canvas->pixels + (size_t)y * bytes;
        blur_row(y + 1 < height ? row + bytes : row, width, below);
        for (size_t i = 0; i < bytes; i++)
            row[i] = (uint8_t)((above[i] + 2 * here[i] + below[i] + 8) >> 4);
        uint16_t *spare = above;
        above = here;
        here = below;
        below = spare;
    }
}

static uint8_t to_byte(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void sk_camera_take(sk_canvas *canvas, const sk_world *world, sk_random *random, sk_frame *frame)
{
    for (int32_t i = 0; i < world->blur; i++)
        blur(canvas);
    const float gain = world->gain * (1.0f + world->light.flicker * sk_random_between(random, -1.0f, 1.0f));
    const int32_t gain_fixed = (int32_t)(gain * 4096.0f);
    const int32_t strength = (int32_t)(world->noise * 32.0f);
    for (int32_t y = 0; y < canvas->height; y++) {
        const uint8_t *restrict in = canvas->pixels + 3 * (size_t)y * (size_t)canvas->width;
        uint8_t *restrict out = frame->data + (ptrdiff_t)y * frame->stride;
        const int8_t *restrict noise = world->noise_table + (sk_random_bits(random) & (SK_NOISE_PERIOD - 1));
        if (world->grey) {
            for (int32_t x = 0; x < canvas->width; x++) {
                int32_t v = (77 * in[3 * x] + 150 * in[3 * x + 1] + 29 * in[3 * x + 2] + 128) >> 8;
                v = ((v * gain_fixed + 2048) >> 12) + ((noise[x] * strength + 512 + (1 << 20)) >> 10) - 1024;
                out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = to_byte(v);
            }
            continue;
        }
        for (int32_t i = 0; i < 3 * canvas->width; i++)
            out[i] = to_byte(((in[i] * gain_fixed + 2048) >> 12) +
                             ((noise[i] * strength + 512 + (1 << 20)) >> 10) - 1024);
    }
}
