/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_region.h"

#include "base/hash.h"
#include "base/memory.h"
#include "media/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MOST 8192

static sk_status no_region(const char *text, const char *why, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_ARG,
        "'%.200s' is no region: %s. A region is x1,y1,x2,y2,x3,y3,… (the corners of a polygon, in pixels), "
        "x1,y1,x2,y2 (a rectangle) or circle:x,y,radius",
        text, why);
}

static sk_status read_numbers(const char *text, const char *at, double *values, int32_t *count, sk_error *err)
{
    for (*count = 0; *at;) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at || !isfinite(value))
            return no_region(text, "there is something in it that is no number", err);
        if (*count == NUMBERS_MOST)
            return no_region(text, "it has more than 4096 corners", err);
        values[(*count)++] = value;
        at = end + strspn(end, " ");
        if (*at && *at != ',' && *at != ';')
            return no_region(text, "numbers are separated by commas", err);
        at += *at ? 1 : 0;
    }
    return SK_OK;
}

static sk_status add_shape(const char *text, const char *at, bool include, double *v, sk_region *region,
                           sk_error *err)
{
    const bool circle = strncmp(at, "circle:", 7) == 0;
    int32_t n = 0;
    SK_TRY(read_numbers(text, circle ? at + 7 : at, v, &n, err));
    if (circle && (n != 3 || v[2] <= 0))
        return no_region(text, "a circle has a centre x,y and a radius above 0", err);
    if (circle)
        return sk_region_add_circle(region, include, v[0], v[1], v[2], err);
    if (n == 4) {
        const double corners[8] = {v[0], v[1], v[2], v[1], v[2], v[3], v[0], v[3]};
        return sk_region_add_polygon(region, include, corners, 4, err);
    }
    if (n % 2 || n < 6)
        return no_region(
            text, n % 2 ? "a number is missing: each corner has an x and a y" : "it has too few corners",
            err);
    return sk_region_add_polygon(region, include, v, n / 2, err);
}

sk_status sk_track_region_add(const char *text, bool exclude, sk_region **region, sk_text *identity,
                              sk_error *err)
{
    const char *at = text + strspn(text, " ");
    exclude = exclude || *at == '!';
    at += *at == '!';
    double *values = sk_malloc(NUMBERS_MOST * sizeof *values);
    sk_status status = values ? SK_OK : sk_fail_memory(err, NUMBERS_MOST * sizeof *values);
    if (status == SK_OK && !*region)
        status = sk_region_open(region, err);
    if (status == SK_OK)
        status = add_shape(text, at, !exclude, values, *region, err);
    sk_free(values);
    sk_text_appendf(identity, "%s%s%s", identity->length ? " " : "", exclude ? "!" : "", at);
    return status == SK_OK ? sk_text_status(identity, err) : status;
}

sk_status sk_track_region_mask(const char *path, sk_region **region, sk_text *identity, sk_error *err)
{
    sk_slot slot = {0};
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT];
    sk_status status = *region ? SK_OK : sk_region_open(region, err);
    if (status == SK_OK)
        status = sk_hash_sha256_file(path, &hash, err);
    if (status == SK_OK)
        status = sk_picture_decode(path, SK_PIXEL_GRAY, 0, &slot, err);
    if (status == SK_OK) {
        const sk_frame *f = &slot.frame;
        status = sk_region_set_mask(*region, f->data, f->width, f->height, (size_t)f->stride, err);
        sk_text_appendf(identity, "%smask %.16s", identity->length ? " " : "", sk_sha256_text(&hash, hex));
    }
    sk_slot_free(&slot);
    return status == SK_OK ? sk_text_status(identity, err) : status;
}

bool sk_track_region_text(const sk_region *region, size_t index, sk_text *out)
{
    sk_region_shape shape;
    char number[SK_TEXT_NUMBER];
    if (!sk_region_shape_at(region, index, &shape))
        return false;
    sk_text_appendf(out, "%s%s", shape.include ? "" : "!", shape.corners ? "" : "circle:");
    for (int32_t i = 0; i < (shape.corners ? 2 * shape.corners : 3); i++)
        sk_text_appendf(out, "%s%s", i ? "," : "", sk_text_number(shape.xy[i], 9, number, sizeof number));
    return true;
}
