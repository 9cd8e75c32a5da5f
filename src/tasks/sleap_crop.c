/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sleap_crop.h"

#include "base/object.h"
#include "tasks/picture_formula.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"
#include "tasks/sleap_pre.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct sk_sleap_crop {
    sk_sleap_crop_geometry g;
    int32_t channels, legacy;
    int32_t from_width, from_height,
        from_channels; /* of the picture that is cut: sized, or scaled when legacy */
    int32_t sized_width;
    const uint8_t *picture;
    uint8_t *whole;  /* legacy with scaling: the scaled picture */
    uint8_t *cut;    /* [crop_height][crop_width][from_channels] */
    uint8_t *shrunk; /* [scaled_height][scaled_width][from_channels] */
    uint8_t *input;  /* [height][width][channels], for the float form */
    int32_t *at; /* legacy, [crop_width][2]: where the two values of a row lie that a pixel is mixed from … */
    float *part;                     /* … and how far between them, [crop_width][from_channels] */
    sk_resize_antialias *shrinks[2]; /* of the network's channels; of three, where grey comes last */
    sk_resize_antialias *shrink;     /* for the picture in hand */
    sk_resize_float *legacy_shrink;
    bool grey_last;
    bool masked;
    sk_crop_mask mask; /* its scale is that of the picture which is cut */
};

sk_status sk_sleap_crop_sizes(const sk_sleap_spec *spec, int32_t default_size, sk_sleap_crop_geometry *out,
                              sk_error *err)
{
    SK_CHECK_ARG(spec && out, err);
    sk_sleap_crop_geometry g = {.crop_height = spec->crop_size[0], .crop_width = spec->crop_size[1]};
    g.input_scale = spec->input_scale > 0 ? spec->input_scale : 1;
    if (g.crop_height < 1)
        g.crop_height = default_size;
    if (g.crop_width < 1)
        g.crop_width = default_size;
    if (g.crop_height < 1 || g.crop_width < 1 || g.crop_height > 16384 || g.crop_width > 16384)
        return sk_fail(err, SK_ERR_ARG, "the model names no usable crop size (%dx%d)", (int)g.crop_width,
                       (int)g.crop_height);
    double scale = spec->legacy ? 1 : round((double)g.input_scale * 1e6) / 1e6;
    g.scaled_height = (int32_t)(g.crop_height * scale);
    g.scaled_width = (int32_t)(g.crop_width * scale);
    if (g.scaled_height < 1 || g.scaled_width < 1)
        return sk_fail(err, SK_ERR_ARG, "a crop of %dx%d pixels scaled by %g is empty", (int)g.crop_width,
                       (int)g.crop_height, (double)g.input_scale);
    /* Legacy crops go to the network as they are, whatever its stride. */
    int32_t stride = !spec->legacy && spec->pad_to_stride > 1 ? spec->pad_to_stride : 1;
    g.height = (g.scaled_height + stride - 1) / stride * stride;
    g.width = (g.scaled_width + stride - 1) / stride * stride;
    *out = g;
    return SK_OK;
}

static sk_status allocate(sk_sleap_crop *c, sk_error *err)
{
    const sk_sleap_crop_geometry *g = &c->g;
    size_t k = c->grey_last ? 3 : (size_t)c->from_channels,
           cut = (size_t)g->crop_width * (size_t)g->crop_height * k;
    size_t shrunk = (size_t)g->scaled_width * (size_t)g->scaled_height * k;
    size_t input = (size_t)g->width * (size_t)g->height * (size_t)c->channels;
    size_t whole = (size_t)c->from_width * (size_t)c->from_height * k;
    c->cut = sk_malloc(cut);
    c->shrunk = c->shrinks[0] ? sk_malloc(shrunk) : NULL;
    c->input = sk_malloc(input);
    c->whole = c->legacy_shrink ? sk_malloc(whole) : NULL;
    c->at = sk_calloc((size_t)g->crop_width * 2, sizeof *c->at);
    c->part = sk_calloc((size_t)g->crop_width * k, sizeof *c->part);
    if (!c->at || !c->part || !c->cut || (c->shrinks[0] && !c->shrunk) || !c->input ||
        (c->legacy_shrink && !c->whole))
        return sk_fail_memory(err, cut + shrunk + input + whole);
    return SK_OK;
}

sk_status sk_sleap_crop_open(const sk_sleap_spec *spec, const sk_sleap_crop_geometry *geometry,
                             int32_t channels, int32_t sized_width, int32_t sized_height,
                             int32_t sized_channels, sk_sleap_crop **out, sk_error *err)
{
    SK_CHECK_ARG(spec && geometry && out, err);
    *out = NULL;
    SK_CHECK_ARG((channels == 1 || channels == 3) && (sized_channels == 1 || sized_channels == 3), err);
    SK_CHECK_ARG(sized_width > 0 && sized_height > 0, err);
    sk_sleap_crop *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    sk_status status;
    const sk_sleap_crop_geometry *g = geometry;
    c->g = *g;
    c->channels = channels;
    c->legacy = spec->legacy;
    c->from_channels = sized_channels;
    c->sized_width = c->from_width = sized_width;
    c->from_height = sized_height;
    c->grey_last = sk_sleap_grey_of(spec, channels) == SK_SLEAP_GREY_LAST;
    if (g->input_scale != 1 && spec->legacy) {
        c->from_width = (int32_t)((float)sized_width * g->input_scale);
        c->from_height = (int32_t)((float)sized_height * g->input_scale);
        SK_TRY_GOTO(sk_resize_float_open(sized_width, sized_height, c->from_width, c->from_height,
                                         sized_channels, &c->legacy_shrink, err));
    } else if (g->input_scale != 1) {
        SK_TRY_GOTO(sk_resize_antialias_open(g->crop_width, g->crop_height, g->scaled_width, g->scaled_height,
                                             sized_channels, &c->shrinks[0], err));
        if (c->grey_last)
            SK_TRY_GOTO(sk_resize_antialias_open(g->crop_width, g->crop_height, g->scaled_width,
                                                 g->scaled_height, 3, &c->shrinks[1], err));
    }
    SK_TRY_GOTO(allocate(c, err));
done:
    return SK_HAND_OVER(status, c, out, sk_sleap_crop_close);
}

void sk_sleap_crop_close(sk_sleap_crop **crop)
{
    SK_TAKE_OR_RETURN(c, crop);
    sk_free_all(c->whole, c->cut, c->shrunk, c->input, c->at, c->part);
    for (int i = 0; i < 2; i++)
        sk_resize_antialias_close(&c->shrinks[i]);
    sk_resize_float_close(&c->legacy_shrink);
    sk_free(c);
}

void sk_sleap_crop_begin(sk_sleap_crop *c, const uint8_t *sized, int32_t channels)
{
    c->picture = sized;
    if (c->grey_last)
        c->from_channels = channels;
    c->shrink = c->shrinks[c->grey_last && channels == 3];
    if (c->legacy_shrink) {
        sk_resize_float_to_u8(c->legacy_shrink, sized, (ptrdiff_t)c->sized_width * c->from_channels, c->whole,
                              (ptrdiff_t)c->from_width * c->from_channels);
        c->picture = c->whole;
    }
}

/* A coordinate that is safe to turn into an integer. */
static float bounded(float v)
{
    return v > -1e6f ? (v < 1e6f ? v : 1e6f) : -1e6f;
}

sk_crop sk_sleap_crop_around(const sk_sleap_crop *c, float x, float y)
{
    const sk_sleap_crop_geometry *g = &c->g;
    sk_crop place = {.width = (float)g->crop_width, .height = (float)g->crop_height};
    if (c->legacy) {
        place.left = bounded(x) * g->input_scale - (float)(g->crop_width - 1) / 2;
        place.top = bounded(y) * g->input_scale - (float)(g->crop_height - 1) / 2;
        return place;
    }
    /* Box corner, then truncation of the box's middle: the original's rule for the corner in whole pixels. */
    float bx = bounded(x) - (float)g->crop_width / 2 + 0.5f,
          by = bounded(y) - (float)g->crop_height / 2 + 0.5f;
    int32_t hx = g->crop_width / 2, hy = g->crop_height / 2;
    place.left = (float)((int32_t)(bx + (float)hx) - hx);
    place.top = (float)((int32_t)(by + (float)hy) - hy);
    return place;
}

static void cut_whole_pixels(sk_sleap_crop *c, const sk_crop *place)
{
    const sk_sleap_crop_geometry *g = &c->g;
    const int32_t left = (int32_t)place->left, top = (int32_t)place->top;
    size_t k = (size_t)c->from_channels, row = (size_t)g->crop_width * k;
    int32_t x0 = left < 0 ? -left : 0,
            x1 = c->from_width - left < g->crop_width ? c->from_width - left : g->crop_width;
    for (int32_t v = 0; v < g->crop_height; v++) {
        uint8_t *line = c->cut + (size_t)v * row;
        int32_t sy = top + v;
        if (sy < 0 || sy >= c->from_height || x0 >= x1) {
            memset(line, 0, row);
            continue;
        }
        memset(line, 0, (size_t)x0 * k);
        memcpy(line + (size_t)x0 * k,
               c->picture + ((size_t)sy * (size_t)c->from_width + (size_t)(left + x0)) * k,
               (size_t)(x1 - x0) * k);
        memset(line + (size_t)x1 * k, 0, row - (size_t)x1 * k);
    }
}

/* The pixels of a crop's rows that lie inside of the picture, and whether the values they are mixed from lie side by side. */
typedef struct span {
    int32_t begin, end;
    bool steady;
} span;

static span find_across(sk_sleap_crop *c, float left)
{
    const int32_t k = c->from_channels;
    span s = {0, 0, true};
    for (int32_t u = 0; u < c->g.crop_width; u++) {
        const float fx = left + (float)u;
        if (!(fx >= 0 && fx <= (float)(c->from_width - 1)))
            continue;
        const sk_between x = sk_between_of(fx);
        if (s.end == 0)
            s.begin = u;
        s.end = u + 1;
        c->at[2 * u] = x.low * k;
        c->at[2 * u + 1] = x.high * k;
        for (int32_t ch = 0; ch < k; ch++)
            c->part[u * k + ch] = x.part;
        /* rounding may make a step longer */
        s.steady = s.steady && c->at[2 * u] == c->at[2 * s.begin] + (u - s.begin) * k;
    }
    return s;
}

/* `count` values; the second of each two lies k behind the first. With px 0 it does not count. */
static void mix_steady(const uint8_t *restrict a, const uint8_t *restrict b, int32_t k,
                       const float *restrict px, float py, int32_t count, uint8_t *restrict out)
{
    for (int32_t i = 0; i < count; i++)
        out[i] = (uint8_t)sk_mix(a[i], a[i + k], b[i], b[i + k], px[i], py);
}

/* tf.image.crop_and_resize at scale 1: bilinear at a fractional place, 0 outside, fractions cut off. */
static void cut_fractional(sk_sleap_crop *c, const sk_crop *place)
{
    const sk_sleap_crop_geometry *g = &c->g;
    const float top = place->top;
    const int32_t k = c->from_channels;
    const span s = find_across(c, place->left);
    memset(c->cut, 0, (size_t)g->crop_width * (size_t)g->crop_height * (size_t)k);
    for (int32_t v = 0; v < g->crop_height && s.end > 0; v++) {
        const float fy = top + (float)v;
        if (fy < 0 || fy > (float)(c->from_height - 1))
            continue;
        const sk_between y = sk_between_of(fy);
        const uint8_t *a = c->picture + (size_t)y.low * (size_t)c->from_width * (size_t)k;
        const uint8_t *b = c->picture + (size_t)y.high * (size_t)c->from_width * (size_t)k;
        uint8_t *line = c->cut + (size_t)v * (size_t)g->crop_width * (size_t)k;
        const float py = y.part;
        int32_t u = s.begin;
        if (s.steady) { /* all but the last, beyond which the picture may end */
            const int32_t at = c->at[2 * u];
            mix_steady(a + at, b + at, k, c->part + u * k, py, (s.end - 1 - u) * k, line + u * k);
            u = s.end - 1;
        }
        for (; u < s.end; u++)
            for (int32_t ch = 0; ch < k; ch++) {
                const int32_t first = c->at[2 * u] + ch, second = c->at[2 * u + 1] + ch;
                line[u * k + ch] =
                    (uint8_t)sk_mix(a[first], a[second], b[first], b[second], c->part[u * k + ch], py);
            }
    }
}

/* One row in the network's colours. */
static void convert_row(const uint8_t *from, int32_t have, int32_t want, int32_t width, int32_t legacy,
                        uint8_t *to)
{
    if (have == want) {
        memcpy(to, from, (size_t)width * (size_t)have);
        return;
    }
    sk_frame line = {.format = have == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB,
                     .width = width,
                     .height = 1,
                     .stride = (ptrdiff_t)width * have,
                     .data = (uint8_t *)(uintptr_t)from};
    sk_status status = sk_pixels_convert(&line, want, legacy ? SK_GRAY_TENSORFLOW : SK_GRAY_TORCH, to, NULL);
    (void)status; /* cannot fail: both formats are known */
}

/* What is at a place, scaled, [scaled_height][scaled_width][from_channels]. */
static const uint8_t *cut_out(sk_sleap_crop *c, const sk_crop *place)
{
    const sk_sleap_crop_geometry *g = &c->g;
    const sk_turned_picture from = {c->picture, (ptrdiff_t)c->from_width * c->from_channels, c->from_width,
                                    c->from_height, c->from_channels};
    if (place->turned)
        sk_turned_cut(&from, place, c->cut);
    else if (c->legacy)
        cut_fractional(c, place);
    else
        cut_whole_pixels(c, place);
    if (c->masked)
        sk_crop_mask_paint(&c->mask, place, c->from_channels, c->cut);
    if (!c->shrink)
        return c->cut;
    sk_resize_antialias_run(c->shrink, c->cut, (ptrdiff_t)g->crop_width * c->from_channels, c->shrunk,
                            (ptrdiff_t)g->scaled_width * c->from_channels);
    return c->shrunk;
}

void sk_sleap_crop_u8(sk_sleap_crop *c, const sk_crop *place, uint8_t *out)
{
    const sk_sleap_crop_geometry *g = &c->g;
    const uint8_t *made = cut_out(c, place);
    size_t from = (size_t)g->scaled_width * (size_t)c->from_channels,
           to = (size_t)g->width * (size_t)c->channels;
    size_t used = (size_t)g->scaled_width * (size_t)c->channels;
    for (int32_t v = 0; v < g->height; v++) {
        uint8_t *row = out + (size_t)v * to;
        if (v >= g->scaled_height) {
            memset(row, 0, to);
            continue;
        }
        convert_row(made + (size_t)v * from, c->from_channels, c->channels, g->scaled_width, c->legacy, row);
        memset(row + used, 0, to - used);
    }
}

void sk_sleap_crop_f32(sk_sleap_crop *c, const sk_crop *place, float *out)
{
    const sk_sleap_crop_geometry *g = &c->g;
    if (c->grey_last && c->from_channels == 3) {
        const uint8_t *made = cut_out(c, place);
        memset(out, 0, (size_t)g->width * (size_t)g->height * sizeof *out);
        sk_pixels_gray_plane(made, g->scaled_width, g->scaled_height, out, g->width);
        return;
    }
    sk_sleap_crop_u8(c, place, c->input);
    sk_pixels_to_planes(c->input, (ptrdiff_t)g->width * c->channels, g->width, g->height, c->channels,
                        1.0f / 255.0f, NULL, NULL, out);
}

void sk_sleap_crop_undo(const sk_sleap_crop *c, float centroid_x, float centroid_y, float *x, float *y)
{
    const sk_sleap_crop_geometry *g = &c->g;
    float scale = g->input_scale;
    if (c->legacy) {
        float half = scale != 1 ? 0.5f : 0;
        *x = *x / scale + half + (centroid_x * scale - (float)g->crop_width / 2) / scale;
        *y = *y / scale + half + (centroid_y * scale - (float)g->crop_height / 2) / scale;
        return;
    }
    *x = *x / scale + (centroid_x - (float)g->crop_width / 2 + 0.5f);
    *y = *y / scale + (centroid_y - (float)g->crop_height / 2 + 0.5f);
}

static float picture_scale(const sk_sleap_crop *c)
{
    return c->legacy ? c->g.input_scale : 1;
}

sk_crop sk_sleap_crop_turned(const sk_sleap_crop *c, float x, float y, float angle)
{
    const sk_sleap_crop_geometry *g = &c->g;
    const float scale = picture_scale(c), w = (float)g->crop_width, h = (float)g->crop_height;
    return (sk_crop){.left = bounded(x) * scale - (w - 1) / 2,
                     .top = bounded(y) * scale - (h - 1) / 2,
                     .width = w,
                     .height = h,
                     .angle = angle,
                     .turned = 1};
}

void sk_sleap_crop_undo_turned(const sk_sleap_crop *c, float centroid_x, float centroid_y, float angle,
                               float *x, float *y)
{
    sk_sleap_crop_undo(c, 0, 0, x, y); /* from the centroid, along the crop */
    const float dx = *x, dy = *y, cosine = cosf(angle), sine = sinf(angle);
    *x = centroid_x + (dx * cosine - dy * sine);
    *y = centroid_y + (dx * sine + dy * cosine);
}

void sk_sleap_crop_mask(sk_sleap_crop *c, const sk_crop_mask *mask)
{
    c->masked = mask != NULL;
    if (!mask)
        return;
    c->mask = *mask;
    c->mask.scale *= picture_scale(c);
}
