/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/classify.h"

#include "base/memory.h"
#include "base/instances.h"
#include "base/object.h"
#include "tasks/map.h"
#include "tasks/pixels.h"
#include "tasks/resize_pillow.h"

#include <math.h>
#include <string.h>

struct sk_classify {
    int32_t frame_width, frame_height;
    int32_t scaled_width, scaled_height, left, top, width, height; /* the middle of the scaled frame */
    sk_resize_pillow *resize;
    uint8_t *rgb; /* the frame; dense */
};

/* torchvision's: half of what is too much, rounded to the even neighbour. */
static int32_t middle(int32_t have, int32_t want)
{
    return (int32_t)nearbyint((have - want) / 2.0);
}

sk_status sk_classify_open(int32_t frame_width, int32_t frame_height, int32_t width, int32_t height,
                           sk_classify **out, sk_error *err)
{
    *out = NULL;
    SK_CHECK_ARG(frame_width > 0 && frame_height > 0 && width > 0 && height > 0, err);
    sk_classify *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    sk_status status = SK_OK;
    *c = (sk_classify){
        .frame_width = frame_width, .frame_height = frame_height, .width = width, .height = height};
    int64_t scaled_width = width, scaled_height = height;
    if (width == height && frame_width <= frame_height)
        scaled_height = (int64_t)height * frame_height / frame_width;
    else if (width == height)
        scaled_width = (int64_t)width * frame_width / frame_height;
    if (scaled_width > INT32_MAX || scaled_height > INT32_MAX) {
        status = sk_fail(err, SK_ERR_UNSUPPORTED, "a frame of %dx%d pixels is too long and thin to classify",
                         frame_width, frame_height);
        goto done;
    }
    c->scaled_width = (int32_t)scaled_width;
    c->scaled_height = (int32_t)scaled_height;
    c->left = middle(c->scaled_width, width);
    c->top = middle(c->scaled_height, height);
    size_t frame = (size_t)frame_width * (size_t)frame_height * 3;
    c->rgb = sk_malloc(frame);
    if (!c->rgb) {
        status = sk_fail_memory(err, frame);
        goto done;
    }
    SK_TRY_GOTO(sk_resize_pillow_open(frame_width, frame_height, c->scaled_width, c->scaled_height,
                                      (sk_resize_window){c->left, c->top, width, height}, &c->resize, err));
done:
    return SK_HAND_OVER(status, c, out, sk_classify_close);
}

void sk_classify_close(sk_classify **classify)
{
    SK_TAKE_OR_RETURN(c, classify);
    sk_resize_pillow_close(&c->resize);
    sk_free_all(c->rgb, c);
}

void sk_classify_scaled(const sk_classify *c, int32_t *width, int32_t *height)
{
    *width = c->scaled_width;
    *height = c->scaled_height;
}

sk_status sk_classify_input(sk_classify *c, const sk_frame *frame, uint8_t *out, sk_error *err)
{
    if (frame->format != SK_PIXEL_RGB && frame->format != SK_PIXEL_BGR && frame->format != SK_PIXEL_GRAY)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "frames to classify are taken as RGB, BGR or grey");
    if (frame->width != c->frame_width || frame->height != c->frame_height)
        return sk_fail(err, SK_ERR_MISMATCH, "a frame of %dx%d pixels where %dx%d were expected",
                       frame->width, frame->height, c->frame_width, c->frame_height);
    size_t row = (size_t)frame->width * 3;
    for (int32_t y = 0; y < frame->height; y++)
        sk_pixels_row_to_rgb(frame->format, frame->data + y * frame->stride, frame->width,
                             c->rgb + (size_t)y * row);
    sk_resize_pillow_run(c->resize, c->rgb, out);
    return SK_OK;
}

sk_status sk_classify_result(const sk_tensor *scores, int32_t image, sk_instances *out, sk_error *err)
{
    sk_map map;
    SK_TRY(sk_map_of_tensor(scores, image, false, &map, err));
    int32_t best[SK_CLASSIFY_BEST], n = 0;
    for (int32_t c = 0; c < map.channels; c++) { /* of equal ones the earlier class */
        float score = sk_map_place(&map, c, 0);
        int32_t at = n;
        while (at > 0 && score > sk_map_place(&map, best[at - 1], 0))
            at--;
        if (at == SK_CLASSIFY_BEST)
            continue;
        n += n < SK_CLASSIFY_BEST;
        memmove(&best[at + 1], &best[at], (size_t)(n - 1 - at) * sizeof *best);
        best[at] = c;
    }
    out->count = 0;
    for (int32_t i = 0; i < n; i++) {
        sk_found *in = sk_instances_add(out);
        if (!in)
            break;
        in->class_id = best[i];
        in->score = sk_map_place(&map, best[i], 0);
    }
    return SK_OK;
}
