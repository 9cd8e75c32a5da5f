/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/frame.h"
#include "base/memory.h"
#include "kernels/plain.h"
#include "media/encoding.h"
#include "mutate.h"

#include <stdio.h>
#include <string.h>

SK_FUZZ_MUTATE(sk_mutate_text)

/* Images of messages: a line "encoding width height step big_endian", then the pixels' bytes. What is accepted is a frame whose every
 * pixel can be read. */
SK_FUZZ(encoding, data, size)
{
    char line[96] = "", encoding[41] = "";
    const uint8_t *end = memchr(data, '\n', size < sizeof line ? size : sizeof line - 1);
    if (!end)
        return;
    memcpy(line, data, (size_t)(end - data));
    long width = 0, height = 0;
    unsigned long step = 0;
    int big = 0;
    if (sscanf(line, "%40s %ld %ld %lu %d", encoding, &width, &height, &step, &big) < 3)
        return;
    const size_t length = size - (size_t)(end - data) - 1;
    uint8_t *bytes = sk_malloc(length); /* its end is where reading must end */
    if (!bytes)
        return;
    memcpy(bytes, end + 1, length);
    const sk_encoded_image image = {.width = (int32_t)width,
                                    .height = (int32_t)height,
                                    .encoding = encoding,
                                    .big_endian = big != 0,
                                    .step = (uint32_t)step,
                                    .data = bytes,
                                    .length = length};
    sk_slot slot = {0};
    sk_frame frame = SK_FRAME_INIT;
    sk_error err = {0};
    if (sk_encoded_frame(&image, &slot, &frame, &err) == SK_OK && sk_frame_check(&frame, &err) == SK_OK) {
        uint8_t *plain = sk_malloc(sk_plain_bytes(&frame));
        sk_frame view = frame;
        if (plain)
            sk_plain_convert(&frame, plain, &view);
        sk_free(plain);
    }
    sk_slot_free(&slot);
    sk_free(bytes);
}
