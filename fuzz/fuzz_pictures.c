/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "media/picture.h"

/* JPEG, PNG and TIFF with all their pages; a picture is small here, so that lies about sizes are refused at once. */
SK_FUZZ(pictures, data, size)
{
    sk_slot slot = {0};
    sk_error err = {0};
    sk_picture_task task = {"fuzz", size & 1 ? SK_PIXEL_RGB : SK_PIXEL_GRAY, 1 << 20, data, size};
    sk_status status = sk_picture_decode_bytes(&task, &slot, &err);
    if (status == SK_OK)
        SK_FUZZ_CHECK((int64_t)slot.frame.width * slot.frame.height <= 1 << 20);
    else
        SK_FUZZ_CHECK(err.code == status && err.message[0]);
    sk_tiff_pages pages;
    if (sk_picture_is_tiff(data, size) && sk_tiff_list("fuzz", data, size, &pages, &err) == SK_OK) {
        sk_tiff_range range = {0};
        for (size_t i = 1; i < pages.count && i < 8; i++)
            (void)!sk_picture_decode_tiff(&task, pages.offsets[0], pages.offsets[i], &range, &slot, &err);
        sk_tiff_pages_free(&pages);
    }
    sk_slot_free(&slot);
}
