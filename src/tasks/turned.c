/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/turned.h"

#include "tasks/picture_formula.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

bool sk_turned_box_of(const sk_found *found, sk_turned_box *out)
{
    const float *b = found->obb, *u = found->box;
    if (found->has & SK_HAS_OBB)
        *out = (sk_turned_box){b[0] - 0.5f, b[1] - 0.5f, b[2] / 2, b[3] / 2, cosf(b[4]), sinf(b[4])};
    else if (found->has & SK_HAS_BOX)
        *out = (sk_turned_box){
            (u[0] + u[2]) / 2 - 0.5f, (u[1] + u[3]) / 2 - 0.5f, (u[2] - u[0]) / 2, (u[3] - u[1]) / 2, 1, 0};
    else
        return false;
    return isfinite(out->x + out->y + out->half_width + out->half_height + out->cosine + out->sine) &&
           out->half_width > 0 && out->half_height > 0;
}

bool sk_turned_box_holds(const sk_turned_box *b, float x, float y)
{
    return sk_turned_holds(x - b->x, y - b->y, b->cosine, b->sine, b->half_width, b->half_height);
}

static float side_of(float half, float margin, int32_t most)
{
    const float side = ceilf(2 * half * (1 + 2 * margin));
    return side < 1 ? 1 : side > (float)most ? (float)most : side;
}

sk_crop sk_turned_place(const sk_turned_box *b, float margin, int32_t most)
{
    const bool across = b->half_height > b->half_width;
    double angle = atan2((double)b->sine, (double)b->cosine) + (across ? PI / 2 : 0);
    while (angle > PI / 2)
        angle -= PI;
    while (angle <= -PI / 2)
        angle += PI;
    sk_crop place = {.width = side_of(across ? b->half_height : b->half_width, margin, most),
                     .height = side_of(across ? b->half_width : b->half_height, margin, most),
                     .angle = (float)angle,
                     .turned = 1};
    if (place.height < ceilf(place.width / 2))
        place.height = ceilf(place.width / 2);
    place.left = b->x - (place.width - 1) / 2;
    place.top = b->y - (place.height - 1) / 2;
    return place;
}

void sk_turned_out(const sk_crop *p, float u, float v, float *x, float *y)
{
    const float half_x = (p->width - 1) / 2, half_y = (p->height - 1) / 2, dx = u - half_x, dy = v - half_y,
                cosine = cosf(p->angle), sine = sinf(p->angle);
    *x = sk_turned_x(p->left + half_x, dx, dy, cosine, sine);
    *y = sk_turned_y(p->top + half_y, dx, dy, cosine, sine);
}

void sk_turned_cut(const sk_turned_picture *from, const sk_crop *place, uint8_t *out)
{
    const int32_t width = (int32_t)place->width, height = (int32_t)place->height, n = from->channels;
    const float cosine = cosf(place->angle), sine = sinf(place->angle);
    for (int32_t v = 0; v < height; v++) {
        float x0, y0;
        sk_turned_out(place, 0, (float)v, &x0, &y0);
        for (int32_t u = 0; u < width; u++, out += n) {
            const sk_between x = sk_between_of(sk_turned_along(x0, u, cosine, from->width)),
                             y = sk_between_of(sk_turned_along(y0, u, sine, from->height));
            const uint8_t *a = from->pixels + (ptrdiff_t)y.low * from->stride,
                          *b = from->pixels + (ptrdiff_t)y.high * from->stride;
            for (int32_t c = 0; c < n; c++)
                out[c] = sk_turned_byte(a[x.low * n + c], a[x.high * n + c], b[x.low * n + c],
                                        b[x.high * n + c], x.part, y.part);
        }
    }
}

/* The same box in the crop's own pixels. */
static sk_turned_box in_crop(const sk_crop_mask *mask, const sk_crop *p, int32_t index)
{
    sk_turned_box b = mask->boxes[index];
    const float half_x = (p->width - 1) / 2, half_y = (p->height - 1) / 2, angle = p->turned ? p->angle : 0,
                cosine = cosf(angle), sine = sinf(angle);
    const float dx = b.x * mask->scale - (p->left + half_x), dy = b.y * mask->scale - (p->top + half_y);
    const float turned_cosine = b.cosine * cosine + b.sine * sine,
                turned_sine = b.sine * cosine - b.cosine * sine;
    return (sk_turned_box){half_x + dx * cosine + dy * sine,
                           half_y + dy * cosine - dx * sine,
                           b.half_width * mask->scale,
                           b.half_height * mask->scale,
                           turned_cosine,
                           turned_sine};
}

static int32_t bounded(float v, int32_t most)
{
    return v > 0 ? (v < (float)most ? (int32_t)v : most) : 0;
}

/* The crop's pixels that a box can hold. */
typedef struct reach {
    int32_t x0, x1, y0, y1;
} reach;

static reach reach_of(const sk_turned_box *b, const sk_crop *place)
{
    const int32_t width = (int32_t)place->width, height = (int32_t)place->height;
    const float reach_x = fabsf(b->half_width * b->cosine) + fabsf(b->half_height * b->sine),
                reach_y = fabsf(b->half_width * b->sine) + fabsf(b->half_height * b->cosine);
    return (reach){bounded(floorf(b->x - reach_x), width), bounded(ceilf(b->x + reach_x) + 1, width),
                   bounded(floorf(b->y - reach_y), height), bounded(ceilf(b->y + reach_y) + 1, height)};
}

int32_t sk_crop_mask_boxes(const sk_crop_mask *mask, const sk_crop *place, sk_turned_box *out)
{
    int32_t count = 1;
    if (mask->count < 2)
        return 0;
    out[0] = in_crop(mask, place, mask->own);
    for (int32_t i = 0; i < mask->count; i++) {
        if (i == mask->own)
            continue;
        const sk_turned_box b = in_crop(mask, place, i);
        const reach r = reach_of(&b, place);
        if (r.x0 < r.x1 && r.y0 < r.y1)
            out[count++] = b;
    }
    return count > 1 ? count : 0;
}

void sk_crop_mask_paint(const sk_crop_mask *mask, const sk_crop *place, int32_t channels, uint8_t *crop)
{
    const int32_t width = (int32_t)place->width;
    const sk_turned_box own = in_crop(mask, place, mask->own);
    for (int32_t i = 0; i < mask->count; i++) {
        if (i == mask->own)
            continue;
        const sk_turned_box b = in_crop(mask, place, i);
        const reach r = reach_of(&b, place);
        for (int32_t y = r.y0; y < r.y1; y++)
            for (int32_t x = r.x0; x < r.x1; x++)
                if (sk_turned_box_holds(&b, (float)x, (float)y) &&
                    !sk_turned_box_holds(&own, (float)x, (float)y))
                    memset(crop + ((size_t)y * (size_t)width + (size_t)x) * (size_t)channels, 0,
                           (size_t)channels);
    }
}
