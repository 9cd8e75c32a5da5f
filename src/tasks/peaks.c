/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/peaks.h"

#include "tasks/peak_formula.h"

enum { BLOCK = 32, TOGETHER = 8 };

static float at_or(const sk_map *map, int32_t channel, int32_t y, int32_t x, float outside)
{
    return x < 0 || y < 0 || x >= map->width || y >= map->height ? outside : sk_map_at(map, channel, y, x);
}

/* Highest value of a row; NaN never wins. Eight side by side, as one after the other would wait. */
static float row_maximum(const float *row, int32_t width, ptrdiff_t step)
{
    float top[TOGETHER];
    int32_t x = 0;
    for (int32_t k = 0; k < TOGETHER; k++)
        top[k] = -INFINITY;
    for (; step == 1 && x + TOGETHER <= width; x += TOGETHER)
        for (int32_t k = 0; k < TOGETHER; k++)
            top[k] = row[x + k] > top[k] ? row[x + k] : top[k];
    for (; x < width; x++)
        top[0] = row[x * step] > top[0] ? row[x * step] : top[0];
    for (int32_t k = 1; k < TOGETHER; k++)
        top[0] = top[k] > top[0] ? top[k] : top[0];
    return top[0];
}

/* Highest value of one plane. */
static sk_highest plane_maximum(const sk_map *map, int32_t channel)
{
    sk_highest best = sk_highest_begin();
    const float *plane = map->data + channel * map->channel_stride;
    for (int32_t y = 0; y < map->height; y++) {
        const float *row = plane + (ptrdiff_t)y * map->width * map->place_stride;
        /* Most rows hold nothing new. */
        const float top = row_maximum(row, map->width, map->place_stride);
        if (!(top >= best.v))
            continue;
        int32_t x = 0;
        while (x < map->width && !(row[x * map->place_stride] == top))
            x++;
        if (x < map->width) /* not a row of NaN */
            sk_highest_join(&best, row[x * map->place_stride], x, y);
    }
    return best;
}

void sk_peaks_global(const sk_map *map, float threshold, sk_peak *out)
{
    for (int32_t c = 0; c < map->channels; c++) {
        const sk_highest best = plane_maximum(map, c);
        out[c] = sk_highest_found(best.v, threshold) ? (sk_peak){(float)best.x, (float)best.y, best.v, c}
                                                     : (sk_peak){NAN, NAN, 0, c};
    }
}

static int is_peak(const sk_map *map, int32_t channel, int32_t y, int32_t x)
{
    float patch[9];
    for (int32_t k = 0; k < 9; k++)
        patch[k] = at_or(map, channel, y + k / 3 - 1, x + k % 3 - 1, -INFINITY);
    return sk_peak_is_top(patch);
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
                    if (!(v > threshold) || !sk_is_finite(v) || !is_peak(map, c, y, x))
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
        sk_peak_move(&peak->x, &peak->y,
                     sk_peak_quarter(at_or(map, c, y, x - 1, 0), at_or(map, c, y, x + 1, 0)),
                     sk_peak_quarter(at_or(map, c, y - 1, x, 0), at_or(map, c, y + 1, x, 0)));
        return;
    }
    sk_peak_mass mass = {0, 0, 0};
    const int32_t reach = patch / 2;
    for (int32_t dy = -reach; dy <= reach; dy++)
        for (int32_t dx = -reach; dx <= reach; dx++)
            sk_peak_mass_add(&mass, dx, dy, at_or(map, c, y + dy, x + dx, 0));
    sk_peak_move(&peak->x, &peak->y, mass.x / mass.sum, mass.y / mass.sum);
}

void sk_peak_offset(const sk_map *offsets, sk_peak *peak)
{
    if (!isfinite(peak->x) || 2 * peak->channel + 1 >= offsets->channels)
        return;
    int32_t x = (int32_t)peak->x, y = (int32_t)peak->y;
    if (x >= offsets->width || y >= offsets->height)
        return;
    sk_peak_move(&peak->x, &peak->y, sk_map_at(offsets, 2 * peak->channel, y, x),
                 sk_map_at(offsets, 2 * peak->channel + 1, y, x));
}
