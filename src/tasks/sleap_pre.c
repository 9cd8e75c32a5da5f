/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sleap_pre.h"

#include "base/allowance.h"
#include "base/object.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_SIDE = 65536 };

/* The frame on its way as 8-bit pictures of this many channels. */
typedef struct picture_way {
    int32_t channels;
    uint8_t *converted; /* the frame in these channels */
    uint8_t *sized;     /* null when the frame needs no size matching */
    uint8_t *scaled;    /* null when the sized picture needs no scaling, or a legacy one gets fractions */
    sk_resize_antialias *fit, *shrink;
} picture_way;

struct sk_sleap_pre {
    sk_sleap_geometry g;
    int32_t channels, legacy;
    sk_sleap_grey grey;
    picture_way ways[2];    /* the network's channels; three, where grey comes last */
    const picture_way *way; /* of the sized picture that is there; null: none */
    sk_resize_float *legacy_fit, *legacy_shrink;
};

static int32_t round_even(double v)
{
    return (int32_t)lrint(v);
}

/* Fits the frame into the target with its aspect kept. The eras differ in precision and rounding. */
static void match_size(const sk_sleap_spec *spec, sk_sleap_geometry *g)
{
    int32_t w = g->frame_width, h = g->frame_height;
    int32_t th = spec->target_size[0] > 0 ? spec->target_size[0] : h;
    int32_t tw = spec->target_size[1] > 0 ? spec->target_size[1] : w;
    g->fitted_width = w;
    g->fitted_height = h;
    g->sized_width = tw;
    g->sized_height = th;
    g->eff_scale = 1;
    if (th == h && tw == w)
        return;
    if (spec->legacy) {
        float hr = (float)th / (float)h, wr = (float)tw / (float)w;
        g->eff_scale = hr > wr ? wr : hr;
        g->fitted_height = hr > wr ? (int32_t)((float)h * wr) : th;
        g->fitted_width = hr > wr ? tw : (int32_t)((float)w * hr);
    } else {
        double ratio = fmin((double)th / h, (double)tw / w);
        g->eff_scale = (float)ratio;
        g->fitted_height = round_even(h * ratio);
        g->fitted_width = round_even(w * ratio);
    }
}

sk_status sk_sleap_sizes(const sk_sleap_spec *spec, int32_t frame_width, int32_t frame_height,
                         sk_sleap_geometry *out, sk_error *err)
{
    SK_CHECK_ARG(spec && out, err);
    if (frame_width < 1 || frame_height < 1 || frame_width > MAX_SIDE || frame_height > MAX_SIDE)
        return sk_fail(err, SK_ERR_ARG, "a frame of %dx%d pixels is not possible; sides from 1 to %d are",
                       (int)frame_width, (int)frame_height, MAX_SIDE);
    sk_sleap_geometry g = {.frame_width = frame_width, .frame_height = frame_height};
    g.input_scale = spec->input_scale > 0 ? spec->input_scale : 1;
    match_size(spec, &g);
    if (spec->legacy) {
        g.scaled_width = (int32_t)((float)g.sized_width * g.input_scale);
        g.scaled_height = (int32_t)((float)g.sized_height * g.input_scale);
    } else {
        /* The configured scale is a decimal number; the nearest double of its shortest text is what Python
         * has. */
        double scale = round((double)g.input_scale * 1e6) / 1e6;
        g.scaled_width = (int32_t)(g.sized_width * scale);
        g.scaled_height = (int32_t)(g.sized_height * scale);
    }
    int32_t stride = spec->pad_to_stride > 1 ? spec->pad_to_stride : 1;
    g.width = (g.scaled_width + stride - 1) / stride * stride;
    g.height = (g.scaled_height + stride - 1) / stride * stride;
    if (g.fitted_width < 1 || g.fitted_height < 1 || g.scaled_width < 1 || g.scaled_height < 1 ||
        g.width > MAX_SIDE || g.height > MAX_SIDE)
        return sk_fail(err, SK_ERR_ARG,
                       "a frame of %dx%d pixels becomes a network input of %dx%d, which cannot be run",
                       (int)frame_width, (int)frame_height, (int)g.width, (int)g.height);
    *out = g;
    return SK_OK;
}

sk_sleap_grey sk_sleap_grey_of(const sk_sleap_spec *spec, int32_t channels)
{
    if (spec->legacy)
        return SK_SLEAP_GREY_FIRST;
    if (channels == 1)
        return spec->ensure_grayscale ? SK_SLEAP_GREY_FIRST : SK_SLEAP_GREY_LAST;
    return spec->ensure_grayscale ? SK_SLEAP_GREY_SPREAD : SK_SLEAP_GREY_FIRST;
}

static sk_status open_legacy(sk_sleap_pre *p, sk_error *err)
{
    const sk_sleap_geometry *g = &p->g;
    if (g->fitted_width != g->frame_width || g->fitted_height != g->frame_height)
        SK_TRY(sk_resize_float_open(g->frame_width, g->frame_height, g->fitted_width, g->fitted_height,
                                    p->channels, &p->legacy_fit, err));
    if (g->input_scale == 1)
        return SK_OK;
    return sk_resize_float_open(g->sized_width, g->sized_height, g->scaled_width, g->scaled_height,
                                p->channels, &p->legacy_shrink, err);
}

static sk_status open_way(const sk_sleap_pre *p, int32_t channels, picture_way *w, sk_error *err)
{
    const sk_sleap_geometry *g = &p->g;
    const size_t k = (size_t)channels;
    w->channels = channels;
    if (!p->legacy && (g->fitted_width != g->frame_width || g->fitted_height != g->frame_height))
        SK_TRY(sk_resize_antialias_open(g->frame_width, g->frame_height, g->fitted_width, g->fitted_height,
                                        channels, &w->fit, err));
    if (!p->legacy && g->input_scale != 1)
        SK_TRY(sk_resize_antialias_open(g->sized_width, g->sized_height, g->scaled_width, g->scaled_height,
                                        channels, &w->shrink, err));
    size_t frame = (size_t)g->frame_width * (size_t)g->frame_height * k;
    size_t sized = (size_t)g->sized_width * (size_t)g->sized_height * k;
    size_t scaled = (size_t)g->scaled_width * (size_t)g->scaled_height * k;
    bool sizes = g->sized_width != g->frame_width || g->sized_height != g->frame_height;
    w->converted = sk_malloc(frame);
    w->sized = sizes ? sk_calloc(1, sized) : NULL;
    w->scaled = w->shrink ? sk_malloc(scaled) : NULL;
    if (!w->converted || (sizes && !w->sized) || (w->shrink && !w->scaled))
        return sk_fail_memory(err, frame + sized + scaled);
    return SK_OK;
}

sk_status sk_sleap_pre_open(const sk_sleap_spec *spec, int32_t channels, const sk_sleap_geometry *geometry,
                            sk_sleap_pre **out, sk_error *err)
{
    SK_CHECK_ARG(spec && geometry && out, err);
    *out = NULL;
    SK_CHECK_ARG(channels == 1 || channels == 3, err);
    const sk_sleap_geometry *g = geometry;
    double most = (double)g->sized_width * g->sized_height,
           small = (double)g->scaled_width * g->scaled_height;
    most = (most > small ? most : small) * channels;
    if (most >
        (double)sk_allowance_of_network().one / 8) /* a size that only the model's configuration names */
        return sk_allowance_fail(err, (uint64_t)most * 8, "the model wants frames of %d x %d pixels",
                                 g->sized_width, g->sized_height);
    sk_sleap_pre *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    sk_status status;
    p->g = *g;
    p->channels = channels;
    p->legacy = spec->legacy;
    p->grey = sk_sleap_grey_of(spec, channels);
    if (p->legacy)
        SK_TRY_GOTO(open_legacy(p, err));
    SK_TRY_GOTO(open_way(p, channels, &p->ways[0], err));
    if (p->grey == SK_SLEAP_GREY_LAST)
        SK_TRY_GOTO(open_way(p, 3, &p->ways[1], err));
done:
    return SK_HAND_OVER(status, p, out, sk_sleap_pre_close);
}

void sk_sleap_pre_close(sk_sleap_pre **pre)
{
    SK_TAKE_OR_RETURN(p, pre);
    for (int i = 0; i < 2; i++) {
        picture_way *w = &p->ways[i];
        sk_free_all(w->converted, w->sized, w->scaled);
        sk_resize_antialias_close(&w->fit);
        sk_resize_antialias_close(&w->shrink);
    }
    sk_resize_float_close(&p->legacy_fit);
    sk_resize_float_close(&p->legacy_shrink);
    sk_free(p);
}

/* The frame in the channels it goes on with. */
static sk_status convert(sk_sleap_pre *p, const sk_frame *frame, const picture_way **way, sk_error *err)
{
    const bool coloured = frame->format == SK_PIXEL_RGB || frame->format == SK_PIXEL_BGR;
    const size_t pixels = (size_t)frame->width * (size_t)frame->height;
    *way = &p->ways[0];
    if (p->grey == SK_SLEAP_GREY_LAST && coloured) {
        if (sk_pixels_are_gray(frame)) {
            sk_pixels_take_gray(frame, p->ways[0].converted);
            return SK_OK;
        }
        *way = &p->ways[1];
    }
    if (p->grey != SK_SLEAP_GREY_SPREAD)
        return sk_pixels_convert(frame, (*way)->channels, p->legacy ? SK_GRAY_TENSORFLOW : SK_GRAY_TORCH,
                                 (*way)->converted, err);
    uint8_t *out = (*way)->converted;
    SK_TRY(sk_pixels_convert(frame, 1, SK_GRAY_TORCH, out, err));
    for (size_t i = pixels; i-- > 0;)
        out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = out[i];
    return SK_OK;
}

sk_status sk_sleap_pre_size(sk_sleap_pre *p, const sk_frame *frame, const uint8_t **sized, sk_error *err)
{
    SK_CHECK_ARG(p && frame && frame->data, err);
    const sk_sleap_geometry *g = &p->g;
    const picture_way *w;
    if (frame->width != g->frame_width || frame->height != g->frame_height)
        return sk_fail(err, SK_ERR_MISMATCH, "frame %lld is %dx%d; this stage was opened for %dx%d",
                       (long long)frame->index, (int)frame->width, (int)frame->height, (int)g->frame_width,
                       (int)g->frame_height);
    SK_TRY(convert(p, frame, &w, err));
    ptrdiff_t from = (ptrdiff_t)g->frame_width * w->channels, to = (ptrdiff_t)g->sized_width * w->channels;
    /* The padding right and below was zeroed once and is never written. */
    if (w->fit) {
        sk_resize_antialias_run(w->fit, w->converted, from, w->sized, to);
    } else if (p->legacy_fit) {
        sk_resize_float_to_u8(p->legacy_fit, w->converted, from, w->sized, to);
    } else if (w->sized) {
        for (int32_t y = 0; y < g->fitted_height; y++)
            memcpy(w->sized + y * to, w->converted + y * from, (size_t)from);
    }
    p->way = w;
    if (sized)
        *sized = w->sized ? w->sized : w->converted;
    return SK_OK;
}

int32_t sk_sleap_pre_channels(const sk_sleap_pre *p)
{
    return p->way ? p->way->channels : p->channels;
}

int sk_sleap_pre_is_u8(const sk_sleap_pre *p)
{
    return !p->legacy_shrink && p->grey != SK_SLEAP_GREY_LAST;
}

/* The sized picture after input scaling, 8-bit. */
static const uint8_t *scaled_u8(sk_sleap_pre *p)
{
    const picture_way *w = p->way;
    const uint8_t *sized = w->sized ? w->sized : w->converted;
    if (!w->shrink)
        return sized;
    sk_resize_antialias_run(w->shrink, sized, (ptrdiff_t)p->g.sized_width * w->channels, w->scaled,
                            (ptrdiff_t)p->g.scaled_width * w->channels);
    return w->scaled;
}

sk_status sk_sleap_pre_u8(sk_sleap_pre *p, uint8_t *out, sk_error *err)
{
    SK_CHECK_ARG(p && out && p->way, err);
    if (p->legacy_shrink || p->way->channels != p->channels)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "a SLEAP model with input scaling, or one that turns colours to grey itself, takes "
                       "fractions of 8-bit values; hand its input over as float");
    const sk_sleap_geometry *g = &p->g;
    const uint8_t *scaled = scaled_u8(p);
    size_t from = (size_t)g->scaled_width * (size_t)p->channels, to = (size_t)g->width * (size_t)p->channels;
    for (int32_t y = 0; y < g->height; y++) {
        uint8_t *row = out + (size_t)y * to;
        size_t n = y < g->scaled_height ? from : 0;
        memcpy(row, scaled + (y < g->scaled_height ? (size_t)y * from : 0), n);
        memset(row + n, 0, to - n);
    }
    return SK_OK;
}

sk_status sk_sleap_pre_f32(sk_sleap_pre *p, float *out, sk_error *err)
{
    SK_CHECK_ARG(p && out && p->way, err);
    const sk_sleap_geometry *g = &p->g;
    const picture_way *w = p->way;
    ptrdiff_t plane = (ptrdiff_t)g->width * g->height;
    memset(out, 0, (size_t)plane * (size_t)p->channels * sizeof *out);
    if (p->legacy_shrink) {
        const uint8_t *sized = w->sized ? w->sized : w->converted;
        sk_resize_float_to_planes(p->legacy_shrink, sized, (ptrdiff_t)g->sized_width * p->channels, out,
                                  g->width, plane);
        return SK_OK;
    }
    const uint8_t *scaled = scaled_u8(p);
    if (w->channels != p->channels) {
        sk_pixels_gray_plane(scaled, g->scaled_width, g->scaled_height, out, g->width);
        return SK_OK;
    }
    for (int32_t c = 0; c < p->channels; c++)
        for (int32_t y = 0; y < g->scaled_height; y++) {
            const uint8_t *from = scaled + (size_t)y * (size_t)g->scaled_width * (size_t)p->channels + c;
            float *row = out + c * plane + (ptrdiff_t)y * g->width;
            for (int32_t x = 0; x < g->scaled_width; x++)
                row[x] = (float)from[x * p->channels] / 255.0f;
        }
    return SK_OK;
}
