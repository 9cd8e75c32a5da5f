/* SPDX-License-Identifier: Apache-2.0 */
#include "track/looks.h"

#include "base/frame.h"

#include <math.h>
#include <string.h>

enum { ALONG = 32, ACROSS = 12, BRIGHT = 16, COLOUR = 16, TEXTURE = 8, RUN = 8 };
_Static_assert(BRIGHT + COLOUR + TEXTURE + RUN == SK_TRACK_LOOKS, "the parts are the whole");

typedef struct pixels {
    const sk_frame *frame;
    int step, r, g, b; /* bytes a pixel, and where the colours are */
} pixels;

static bool pixels_of(const sk_frame *frame, pixels *out)
{
    if (!frame || !frame->data || sk_frame_on_device(frame))
        return false;
    switch (frame->format) {
    case SK_PIXEL_RGB: *out = (pixels){frame, 3, 0, 1, 2}; return true;
    case SK_PIXEL_BGR: *out = (pixels){frame, 3, 2, 1, 0}; return true;
    case SK_PIXEL_RGBA: *out = (pixels){frame, 4, 0, 1, 2}; return true;
    case SK_PIXEL_BGRA: *out = (pixels){frame, 4, 2, 1, 0}; return true;
    case SK_PIXEL_GRAY: *out = (pixels){frame, 1, 0, 0, 0}; return true;
    default: return false;
    }
}

/* The pixel at a place, 0 … 1 each; false outside. */
static bool sample(const pixels *p, double x, double y, float rgb[3])
{
    if (!(x >= 0 && y >= 0 && x < p->frame->width && y < p->frame->height))
        return false;
    const uint8_t *at = p->frame->data + (ptrdiff_t)y * p->frame->stride + (ptrdiff_t)x * p->step;
    rgb[0] = (float)at[p->r] / 255;
    rgb[1] = (float)at[p->g] / 255;
    rgb[2] = (float)at[p->b] / 255;
    return true;
}

/* Shares a value between the two bins it lies between. */
static void count(float *bins, int n, float at, float weight)
{
    const float place = fminf(fmaxf(at, 0), 1) * (float)(n - 1);
    const int low = (int)place < n - 1 ? (int)place : n - 2;
    bins[low] += weight * (1 - (place - (float)low));
    bins[low + 1] += weight * (place - (float)low);
}

/* Square roots of shares: differences of rare and of common values count alike. Each part weighs `weight` in the whole. */
static void finish(float *bins, int n, float weight)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += bins[i];
    for (int i = 0; i < n; i++)
        bins[i] = sum > 0 ? sqrtf(weight * bins[i] / sum) : 0;
}

typedef struct grid {
    float light[ACROSS][ALONG];
    bool in[ACROSS][ALONG];
} grid;

static void texture_of(const grid *g, float *bins)
{
    for (int v = 1; v + 1 < ACROSS; v++)
        for (int u = 1; u + 1 < ALONG; u++) {
            if (!g->in[v][u] || !g->in[v][u - 1] || !g->in[v][u + 1] || !g->in[v - 1][u] || !g->in[v + 1][u])
                continue;
            const float along = g->light[v][u + 1] - g->light[v][u - 1];
            const float across = g->light[v + 1][u] - g->light[v - 1][u];
            const float much = sqrtf(along * along + across * across);
            /* steepness along against across, and how much: neither knows head from tail, or left from right */
            count(bins, TEXTURE / 2, much > 0 ? fabsf(along) / much : 0, much);
            count(bins + TEXTURE / 2, TEXTURE / 2, 4 * much, 0.1f);
        }
}

/* Brightness from the middle to the ends: of both ends the mean and the difference. */
static void run_of(const grid *g, float *bins)
{
    float sum[ALONG / 4] = {0}, seen[ALONG / 4] = {0};
    for (int v = 0; v < ACROSS; v++)
        for (int u = 0; u < ALONG; u++)
            if (g->in[v][u]) {
                sum[u / 4] += g->light[v][u];
                seen[u / 4] += 1;
            }
    for (int i = 0; i < ALONG / 4; i++)
        sum[i] = seen[i] > 0 ? sum[i] / seen[i] : 0;
    for (int i = 0; i < RUN / 2; i++) {
        bins[i] = sum[i] + sum[RUN - 1 - i];
        bins[RUN / 2 + i] = fabsf(sum[i] - sum[RUN - 1 - i]);
    }
}

bool sk_looks_of(const sk_frame *frame, const sk_detection *d, float out[SK_TRACK_LOOKS])
{
    pixels p;
    if (!pixels_of(frame, &p) || !(d->major > 0 && d->minor > 0))
        return false;
    memset(out, 0, SK_TRACK_LOOKS * sizeof *out);
    float *colour = out + BRIGHT, *texture = colour + COLOUR, *run = texture + TEXTURE;
    const double c = cos(d->angle), s = sin(d->angle);
    grid g = {0};
    int inside = 0, all = 0;
    for (int v = 0; v < ACROSS; v++)
        for (int u = 0; u < ALONG; u++) {
            const double a = (u + 0.5) / ALONG * 2 - 1, b = (v + 0.5) / ACROSS * 2 - 1;
            if (a * a + b * b > 1)
                continue;
            all++;
            const double along = a * d->major / 2, across = b * d->minor / 2;
            float rgb[3];
            if (!sample(&p, d->x + along * c - across * s, d->y + along * s + across * c, rgb))
                continue;
            inside++;
            const float light = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
            g.light[v][u] = light;
            g.in[v][u] = true;
            count(out, BRIGHT, light, 1);
            count(colour, COLOUR / 2, 0.5f + (rgb[0] - rgb[1]), 1);
            count(colour + COLOUR / 2, COLOUR / 2, 0.5f + ((rgb[0] + rgb[1]) / 2 - rgb[2]), 1);
        }
    if (2 * inside < all)
        return false;
    texture_of(&g, texture);
    run_of(&g, run);
    finish(out, BRIGHT, 0.35f);
    finish(colour, COLOUR, 0.35f);
    finish(texture, TEXTURE, 0.1f);
    finish(run, RUN, 0.2f);
    return true;
}

double sk_looks_apart(const float *a, const float *b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < SK_TRACK_LOOKS; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0 && bb > 0 ? 2 * fmax(0, 1 - ab / sqrt(aa * bb)) : 0;
}
