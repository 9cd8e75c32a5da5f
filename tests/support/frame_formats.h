/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_FRAME_FORMATS_H
#define SK_TESTS_SUPPORT_FRAME_FORMATS_H

#include "skitter/frame.h"

/* Frames of noise in every format, each plane in memory of its own with bytes between its rows, and the same picture made plain
 * a pixel at a time. */
typedef struct any_frame {
    sk_frame frame;
    uint8_t *planes[3];
    sk_frame plain; /* RGB, BGR or GRAY; dense */
} any_frame;

any_frame any_frame_make(sk_pixel_format format, int32_t width, int32_t height, uint32_t seed);
void any_frame_free(any_frame *any);

#endif
