/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/memory.h"

#include <string.h>

sk_status sk_slot_rotate(const sk_slot *from, int quarter_turns, bool mirror, sk_slot *to, sk_error *err)
{
    const sk_frame *f = &from->frame;
    bool sideways = quarter_turns & 1;
    SK_TRY(sk_slot_prepare(to, f->format, sideways ? f->height : f->width, sideways ? f->width : f->height,
                           err));
    int pixel = sk_pixel_bytes(f->format);
    for (int32_t y = 0; y < to->frame.height; y++) {
        uint8_t *row = to->frame.data + y * to->frame.stride;
        for (int32_t x = 0; x < to->frame.width; x++) {
            int32_t tx = mirror ? to->frame.width - 1 - x : x;
            int32_t sx, sy;
            switch (quarter_turns & 3) {
            case 1: sx = y, sy = f->height - 1 - tx; break;
            case 2: sx = f->width - 1 - tx, sy = f->height - 1 - y; break;
            case 3: sx = f->width - 1 - y, sy = tx; break;
            default: sx = tx, sy = y; break;
            }
            memcpy(row + x * pixel, f->data + sy * f->stride + sx * pixel, (size_t)pixel);
        }
    }
    return SK_OK;
}

int sk_exif_orientation(const unsigned char *tiff, size_t length)
{
    if (length < 8)
        return 1;
    bool big = tiff[0] == 'M';
#define U16(p) (big ? (unsigned)(p)[0] << 8 | (p)[1] : (unsigned)(p)[1] << 8 | (p)[0])
#define U32(p) (big ? (size_t)U16(p) << 16 | U16((p) + 2) : (size_t)U16((p) + 2) << 16 | U16(p))
    size_t ifd = U32(tiff + 4);
    if (ifd > length - 2)
        return 1;
    unsigned entries = U16(tiff + ifd);
    for (unsigned i = 0; i < entries && ifd + 2 + (i + 1) * (size_t)12 <= length; i++) {
        const unsigned char *entry = tiff + ifd + 2 + i * (size_t)12;
        if (U16(entry) == 0x0112) {
            unsigned value = U16(entry + 8);
            return value >= 1 && value <= 8 ? (int)value : 1;
        }
    }
#undef U16
#undef U32
    return 1;
}

sk_status sk_picture_turn(int orientation, sk_slot *slot, sk_error *err)
{
    /* clockwise quarter turns, then a mirror, for Exif orientations 1 to 8 */
    static const struct {
        int turns;
        bool mirror;
    } steps[9] = {{0, 0}, {0, 0}, {0, 1}, {2, 0}, {2, 1}, {1, 1}, {1, 0}, {3, 1}, {3, 0}};
    if (orientation <= 1 || orientation > 8)
        return SK_OK;
    sk_slot turned = {0};
    sk_status status =
        sk_slot_rotate(slot, steps[orientation].turns, steps[orientation].mirror, &turned, err);
    if (status == SK_OK) {
        sk_free(slot->memory);
        slot->frame = turned.frame;
        slot->memory = turned.memory;
        slot->capacity = turned.capacity;
    } else {
        sk_free(turned.memory);
    }
    return status;
}
