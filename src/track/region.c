/* SPDX-License-Identifier: Apache-2.0 */
#include "track/region.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct shape {
    bool include;
    int32_t corners; /* 0: a circle, x y radius */
    double *xy;
} shape;

enum { MOST_SHAPES = 4096, MOST_CORNERS = 65536, MOST_SIDE = 65536 };

struct sk_region {
    shape *shapes;
    size_t n, capacity;
    bool includes; /* there is an including shape */
    uint8_t *mask;
    int32_t width, height;
};

sk_status sk_region_open(sk_region **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

void sk_region_close(sk_region **region)
{
    if (!region || !*region)
        return;
    for (size_t i = 0; i < (*region)->n; i++)
        sk_free((*region)->shapes[i].xy);
    sk_free((*region)->shapes);
    sk_free((*region)->mask);
    sk_free(*region);
    *region = NULL;
}

static sk_status add(sk_region *region, bool include, const double *numbers, int32_t n, int32_t corners,
                     sk_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if (!isfinite(numbers[i]))
            return sk_fail(err, SK_ERR_ARG, "region: number %d of shape %zu is not finite", i + 1,
                           region->n + 1);
    void *shapes = region->shapes;
    SK_TRY(sk_array_reserve(&shapes, &region->capacity, region->n + 1, sizeof *region->shapes, MOST_SHAPES,
                            err));
    region->shapes = shapes;
    double *xy = sk_malloc((size_t)n * sizeof *xy);
    if (!xy)
        return sk_fail_memory(err, (size_t)n * sizeof *xy);
    memcpy(xy, numbers, (size_t)n * sizeof *xy);
    region->shapes[region->n++] = (shape){include, corners, xy};
    region->includes = region->includes || include;
    return SK_OK;
}

sk_status sk_region_add_polygon(sk_region *region, bool include, const double *xy, int32_t corners,
                                sk_error *err)
{
    SK_CHECK_ARG(region && xy, err);
    if (corners < 3 || corners > MOST_CORNERS)
        return sk_fail(err, SK_ERR_ARG, "region: a polygon has 3 to %d corners, this one has %d",
                       MOST_CORNERS, corners);
    return add(region, include, xy, corners * 2, corners, err);
}

sk_status sk_region_add_circle(sk_region *region, bool include, double x, double y, double radius,
                               sk_error *err)
{
    SK_CHECK_ARG(region, err);
    if (!(radius > 0))
        return sk_fail(err, SK_ERR_ARG, "region: a circle's radius is more than 0, this one's is %g", radius);
    const double numbers[3] = {x, y, radius};
    return add(region, include, numbers, 3, 0, err);
}

sk_status sk_region_set_mask(sk_region *region, const uint8_t *values, int32_t width, int32_t height,
                             size_t stride, sk_error *err)
{
    SK_CHECK_ARG(region && values, err);
    if (region->mask)
        return sk_fail(err, SK_ERR_ARG, "region: there is a mask already; draw both into one picture");
    if (width < 1 || height < 1 || width > MOST_SIDE || height > MOST_SIDE || stride < (size_t)width)
        return sk_fail(err, SK_ERR_ARG, "region: a mask of %d x %d pixels is not possible", width, height);
    const size_t bytes = (size_t)width * (size_t)height;
    region->mask = sk_malloc(bytes);
    if (!region->mask)
        return sk_fail_memory(err, bytes);
    for (int32_t y = 0; y < height; y++)
        memcpy(region->mask + (size_t)y * (size_t)width, values + (size_t)y * stride, (size_t)width);
    region->width = width;
    region->height = height;
    return SK_OK;
}

sk_status sk_region_fits(const sk_region *region, const char *source, int32_t width, int32_t height,
                         sk_error *err)
{
    if (!region->mask || (region->width == width && region->height == height))
        return SK_OK;
    return sk_fail(
        err, SK_ERR_ARG,
        "%s: its frames have %d x %d pixels, and the mask (--roi-mask) %d x %d: a mask is a picture of "
        "the frame's size",
        source, width, height, region->width, region->height);
}

/* Even-odd, and points of the edge itself. */
static bool in_polygon(const double *xy, int32_t n, double x, double y)
{
    bool inside = false;
    for (int32_t i = 0, j = n - 1; i < n; j = i++) {
        const double ax = xy[2 * i], ay = xy[2 * i + 1], bx = xy[2 * j], by = xy[2 * j + 1];
        const double turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
        if (turn == 0 && x >= fmin(ax, bx) && x <= fmax(ax, bx) && y >= fmin(ay, by) && y <= fmax(ay, by))
            return true;
        if ((ay > y) != (by > y) && (by > ay ? turn > 0 : turn < 0))
            inside = !inside;
    }
    return inside;
}

static bool in_shape(const shape *s, double x, double y)
{
    if (s->corners)
        return in_polygon(s->xy, s->corners, x, y);
    const double dx = x - s->xy[0], dy = y - s->xy[1];
    return dx * dx + dy * dy <= s->xy[2] * s->xy[2];
}

bool sk_region_holds(const sk_region *region, double x, double y)
{
    if (!(isfinite(x) && isfinite(y)))
        return false;
    bool included = !region->includes;
    for (size_t i = 0; i < region->n; i++) {
        const shape *s = &region->shapes[i];
        if (s->include ? included : false)
            continue;
        if (!in_shape(s, x, y))
            continue;
        if (!s->include)
            return false;
        included = true;
    }
    if (!included || !region->mask)
        return included;
    if (x < 0 || y < 0 || x >= region->width || y >= region->height)
        return false;
    return region->mask[(size_t)y * (size_t)region->width + (size_t)x] != 0;
}

bool sk_region_shape_at(const sk_region *region, size_t index, sk_region_shape *out)
{
    if (!region || index >= region->n)
        return false;
    *out = (sk_region_shape){region->shapes[index].include, region->shapes[index].corners,
                             region->shapes[index].xy};
    return true;
}
