/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include <string.h>

/* The least (or the most) of `size` bytes around each, along rows; `size` is odd. What lies outside does not count. */
static void along_rows(const uint8_t *from, uint8_t *to, int32_t width, int32_t height, int32_t size,
                       bool most)
{
    const int32_t reach = size / 2;
    for (int32_t y = 0; y < height; y++, from += width, to += width) {
        int32_t last = -1; /* where the value that decides was seen last: 0 for the least, 255 for the most */
        const uint8_t deciding = most ? 255 : 0;
        for (int32_t x = 0; x < reach && x < width; x++)
            last = from[x] == deciding ? x : last;
        for (int32_t x = 0; x < width; x++) {
            const int32_t ahead = x + reach;
            if (ahead < width && from[ahead] == deciding)
                last = ahead;
            to[x] = last >= 0 && last >= x - reach ? deciding : (uint8_t)~deciding;
        }
    }
}

/* The same along columns: whole rows are compared at once. */
static void along_columns(const uint8_t *from, uint8_t *to, int32_t width, int32_t height, int32_t size,
                          bool most)
{
    const int32_t reach = size / 2;
    for (int32_t y = 0; y < height; y++) {
        uint8_t *row = to + (size_t)y * (size_t)width;
        const int32_t y0 = y > reach ? y - reach : 0, y1 = y + reach < height ? y + reach : height - 1;
        memcpy(row, from + (size_t)y0 * (size_t)width, (size_t)width);
        for (int32_t other = y0 + 1; other <= y1; other++) {
            const uint8_t *add = from + (size_t)other * (size_t)width;
            if (most)
                for (int32_t x = 0; x < width; x++)
                    row[x] |= add[x];
            else
                for (int32_t x = 0; x < width; x++)
                    row[x] &= add[x];
        }
    }
}

static void erode_or_dilate(uint8_t *mask, uint8_t *spare, int32_t width, int32_t height, int32_t size,
                            bool most)
{
    along_rows(mask, spare, width, height, size, most);
    along_columns(spare, mask, width, height, size, most);
}

void mask_clean(uint8_t *mask, uint8_t *spare, int32_t width, int32_t height, int32_t size)
{
    if (size < 2)
        return;
    size |= 1;
    erode_or_dilate(mask, spare, width, height, size, false);
    erode_or_dilate(mask, spare, width, height, size, true);
    erode_or_dilate(mask, spare, width, height, size, true);
    erode_or_dilate(mask, spare, width, height, size, false);
}

void mask_grow(uint8_t *mask, uint8_t *spare, int32_t width, int32_t height, int32_t by)
{
    if (by > 0)
        erode_or_dilate(mask, spare, width, height, 2 * by + 1, true);
}
