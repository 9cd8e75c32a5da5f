/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "skitter/dlpack.h"

#include <string.h>

/* A tensor that another program describes: it is refused, or the frame reaches exactly the bytes that its shape and strides name. How
 * much memory lies behind it nobody can say: so nothing is read here. */

typedef struct input {
    uint8_t old, format, code, bits, lanes, has_strides, has_shape, has_data;
    int32_t ndim, device, id;
    uint32_t major, minor;
    int64_t shape[4], strides[4];
    uint64_t offset;
} input;

static int released;

static void delete_new(sk_dl_managed_versioned *self)
{
    (void)self;
    released++;
}

static void delete_old(sk_dl_managed *self)
{
    (void)self;
    released++;
}

__extension__ typedef __int128 wide;

/* The last byte behind the first pixel, counted as the tensor says it. */
static wide reach(const sk_dl_tensor *t)
{
    wide dense = 1, last = 0;
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        last += (wide)(t->shape[i] - 1) * (t->strides ? (wide)t->strides[i] : dense);
        dense *= t->shape[i];
    }
    return (last + 1) * (t->dtype.bits / 8);
}

static void check(const sk_dl_tensor *t, const sk_frame *f)
{
    SK_FUZZ_CHECK(t->shape && (t->ndim == 2 || t->ndim == 3));
    const int64_t channels = t->ndim == 3 ? t->shape[2] : 1, bytes = t->dtype.bits / 8;
    SK_FUZZ_CHECK(f->width == t->shape[1] && f->height == t->shape[0] && f->width > 0 && f->height > 0);
    SK_FUZZ_CHECK(f->data == (uint8_t *)t->data + t->byte_offset);
    SK_FUZZ_CHECK(f->stride >= f->width * channels * bytes || f->height == 1);
    const wide last = (wide)(f->height - 1) * f->stride + f->width * channels * bytes;
    /* of a dimension of one the stride says nothing, and is not followed */
    sk_dl_tensor plain = *t;
    int64_t strides[3];
    for (int32_t i = 0; t->strides && i < t->ndim; i++)
        strides[i] = t->shape[i] == 1 ? 0 : t->strides[i];
    if (t->strides)
        plain.strides = strides;
    SK_FUZZ_CHECK(last == reach(&plain));
}

SK_FUZZ(dlpack, data, size)
{
    static uint8_t memory[64];
    input in = {0};
    memcpy(&in, data, size < sizeof in ? size : sizeof in);
    sk_dl_tensor tensor = {.data = in.has_data % 8 ? memory : NULL,
                           .device = {in.device, in.id},
                           .ndim = in.ndim % 6,
                           .dtype = {in.code, in.bits, in.lanes},
                           .shape = in.has_shape % 8 ? in.shape : NULL,
                           .strides = in.has_strides & 1 ? in.strides : NULL,
                           .byte_offset = in.offset % 4096};
    sk_dl_managed_versioned managed = {
        .major = in.major, .minor = in.minor, .deleter = delete_new, .tensor = tensor};
    sk_dl_managed before = {.tensor = tensor, .deleter = delete_old};
    sk_frame frame = SK_FRAME_INIT;
    sk_error err = {0};
    const sk_pixel_format format = (sk_pixel_format)(in.format % 16);
    released = 0;
    const sk_status status = in.old & 1 ? sk_frame_from_dlpack_old(&before, format, &frame, &err)
                                        : sk_frame_from_dlpack(&managed, format, &frame, &err);
    SK_FUZZ_CHECK(released == 0);
    if (status != SK_OK) {
        SK_FUZZ_CHECK(err.message[0] && !frame.release);
        return;
    }
    check(&tensor, &frame);
    frame.release(frame.release_context, &frame);
    SK_FUZZ_CHECK(released == 1);
}
