/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"
#include "base/memory.h"
#include "media/encoding.h"
#include "media/picture.h"

#include <string.h>

/* Pictures of messages as frames. */

static sk_status decode(const sk_node_image *image, sk_node_held *held, sk_error *err)
{
    const sk_picture_task task = {
        .path = "a compressed image", .format = SK_PIXEL_RGB, .data = image->data, .length = image->length};
    SK_TRY(sk_picture_decode_bytes(&task, &held->slot, err));
    held->frame = held->slot.frame;
    return SK_OK;
}

/* Into memory of ours, so that the message may go. */
static sk_status copy(sk_node_held *held, size_t length, sk_error *err)
{
    sk_frame *f = &held->frame;
    sk_slot *slot = &held->slot;
    const uint8_t *from = f->data;
    if (!from || from == slot->memory)
        return SK_OK;
    const int32_t rows = f->height + (f->format == SK_PIXEL_NV12 ? (f->height + 1) / 2 : 0);
    size_t wanted = (size_t)f->stride * (size_t)rows;
    wanted = wanted < length ? wanted : length; /* the last row may end before its step does */
    if (!slot->memory || slot->capacity < wanted) {
        sk_free(slot->memory);
        slot->memory = sk_aligned_calloc(64, wanted);
        slot->capacity = slot->memory ? wanted : 0;
        if (!slot->memory)
            return sk_fail_memory(err, wanted);
    }
    memcpy(slot->memory, from, wanted);
    f->data = slot->memory;
    return SK_OK;
}

sk_status sk_node_image_frame(const sk_node_image *image, sk_node_held *held, sk_error *err)
{
    held->frame = (sk_frame)SK_FRAME_INIT;
    if (!image->data || image->length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "an image without bytes");
    if (!image->encoding)
        return decode(image, held, err);
    const sk_encoded_image coded = {.width = image->width,
                                    .height = image->height,
                                    .encoding = image->encoding,
                                    .big_endian = image->big_endian,
                                    .step = image->step,
                                    .data = image->data,
                                    .length = image->length};
    SK_TRY(sk_encoded_frame(&coded, &held->slot, &held->frame, err));
    return image->release ? SK_OK : copy(held, image->length, err);
}
