/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/peaks.h"

#include <math.h>

enum { BLOCK = 32 };

static float at_or_zero(const sk_map *map, int32_t channel, int32_t y, int32_t x)
{
    return x < 0 || y < 0 || x >= map->width || y >= map->height ? 0 : sk_map_at(map, channel, y, x);
}

/* Highest value of one plane. Where several pixels share it, x is the smallest column and y the smallest
 * row among them, as the originals find the two separately. */
static sk_peak plane_maximum(const sk_map *map, int32_t channel)
{
    sk_peak best = {0, 0, -INFINITY, channel};
    const float *plane = map->data + channel * map->channel_stride;
    for (int32_t y = 0; y < map->height; y++) {
        const float *row = plane + (ptrdiff_t)y * map->width * map->place_stride;
        /* Most rows hold nothing new; a vector maximum tells so. */
        float top = -INFINITY;
        for (int32_t x = 0; x < map->width; x++) {
            float v = row[x * map->place_stride];
            top = v > top ? v : top;
        }
        if (!(top >= best.value))
            continue;
        int32_t x = 0;
        while (x < map->width && !(row[x * map->place_stride] == top))
            x++;
        if (x == map->width)
            continue; /* a row of NaN */
        if (top > best.value)
            best = (sk_peak){(float)x, (float)y, top, channel};
        else if ((float)x < best.x)
            best.x = (float)x;
    }
    return best;
}

void sk_peaks_global(const sk_map *map, float threshold, sk_peak *out)
{
    for (int32_t c = 0; c < map->channels; c++) {
        out[c] = plane_maximum(map, c);
        if (!(out[c].value >= threshold) || !isfinite(out[c].value))
            out[c] = (sk_peak){NAN, NAN, 0, c};
    }
}

static int is_peak(const sk_map *map, int32_t channel, int32_t y, int32_t x, float v)
{
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
            int32_t u = x + dx, w = y + dy;
            if ((dx || dy) && u >= 0 && w >= 0 && u < map->width && w < map->height &&
                !(v > sk_map_at(map, channel, w, u)))
                return 0;
        }
    return 1;
}

int32_t sk_peaks_local(const sk_map *map, float threshold, sk_peak *out, int32_t capacity)
{
    int32_t count = 0;
    for (int32_t c = 0; c < map->channels; c++) {
        const float *plane = map->data + c * map->channel_stride;
        for (int32_t y = 0; y < map->height; y++) {
            const float *row = plane + (ptrdiff_t)y * map->width * map->place_stride;
            for (int32_t x0 = 0; x0 < map->width; x0 += BLOCK) {
                int32_t end = x0 + BLOCK < map->width ? x0 + BLOCK : map->width, hits = 0;
                for (int32_t x = x0; x < end; x++)
                    hits += row[x * map->place_stride] > threshold;
                for (int32_t x = x0; hits && x < end; x++) {
                    float v = row[x * map->place_stride];
                    if (!(v > threshold) || !isfinite(v) || !is_peak(map, c, y, x, v))
                        continue;
                    if (count < capacity)
                        out[count] = (sk_peak){(float)x, (float)y, v, c};
                    count++;
                }
            }
        }
    }
    return count;
}

void sk_peak_refine(const sk_map *map, sk_refinement how, int32_t patch, sk_peak *peak)
{
    if (how == SK_REFINE_NONE || !isfinite(peak->x))
        return;
    int32_t x = (int32_t)peak->x, y = (int32_t)peak->y, c = peak->channel;
    if (how == SK_REFINE_LOCAL) {
        float dx = at_or_zero(map, c, y, x + 1) - at_or_zero(map, c, y, x - 1);
        float dy = at_or_zero(map, c, y + 1, x) - at_or_zero(map, c, y - 1, x);
        peak->x += dx > 0 ? 0.25f : dx < 0 ? -0.25f : 0;
        peak->y += dy > 0 ? 0.25f : dy < 0 ? -0.25f : 0;
        return;
    }
    float sum = 0, sx = 0, sy = 0;
    const int32_t reach = patch / 2;
    for (int32_t dy = -reach; dy <= reach; dy++)
        for (int32_t dx = -reach; dx <= reach; dx++) {
            float v = at_or_zero(map, c, y + dy, x + dx);
            sum += v;
            sx += (float)dx * v;
            sy += (float)dy * v;
        }
    float mx = sx / sum, my = sy / sum;
    if (isfinite(mx) && isfinite(my)) {
        peak->x += mx;
        peak->y += my;
    }
}

void sk_peak_offset(const sk_map *offsets, sk_peak *peak)
{
    if (!isfinite(peak->x) || 2 * peak->channel + 1 >= offsets->channels)
        return;
    int32_t x = (int32_t)peak->x, y = (int32_t)peak->y;
    if (x >= offsets->width || y >= offsets->height)
        return;
    float dx = sk_map_at(offsets, 2 * peak->channel, y, x),
          dy = sk_map_at(offsets, 2 * peak->channel + 1, y, x);
    if (isfinite(dx) && isfinite(dy)) {
        peak->x += dx;
        peak->y += dy;
    }
}
