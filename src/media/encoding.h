/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_ENCODING_H
#define SK_MEDIA_ENCODING_H

#include "media/reader.h"

/* Pictures as messages of robots carry them: sensor_msgs/Image says by a word how its bytes are laid out. */

typedef struct sk_encoded_image {
    int32_t width, height;
    const char *encoding; /* "rgb8", "bayer_rggb8", …: sk_encoding_list */
    bool big_endian;      /* values of 16 bits */
    uint32_t step;        /* bytes from one row to the next; 0: no gaps */
    const uint8_t *data;
    size_t length;
} sk_encoded_image;

/* A frame of it. Where the encoding is one of sk_pixel_format's it lies in the image's own bytes; else (bayer, uyvy, nv21, values
 * of 16 bits in the other byte order or in colour) in the slot's memory. *out comes from SK_FRAME_INIT and keeps index and
 * times. SK_ERR_FORMAT: sizes that do not fit each other; SK_ERR_UNSUPPORTED: an encoding that is not known, with the list. */
sk_status sk_encoded_frame(const sk_encoded_image *image, sk_slot *slot, sk_frame *out,
                           sk_error *err) SK_MUST_CHECK;

/* "mono8, rgb8, …": what is known, for messages. */
const char *sk_encoding_list(void);

#endif
