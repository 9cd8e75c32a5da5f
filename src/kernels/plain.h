/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_PLAIN_H
#define SK_KERNELS_PLAIN_H

#include "kernels/nv12.h"

/* Frames as people have them, made plain: RGB, BGR or GRAY, which every stage reads.
 *
 *     RGBA, BGRA          the fourth byte is left out; it is not looked at
 *     GRAY16              the upper 8 bits, value >> 8 (as FFmpeg's gray16 to gray8 and 16-bit pictures read as 8)
 *     NV12, I420, YUYV    RGB by the frame's matrix and range, in whole numbers (kernels/nv12.h)
 */

/* What a frame of this format becomes; itself where it is plain. */
sk_pixel_format sk_plain_format(sk_pixel_format format);

/* One row of a checked frame in host memory, made plain. `w`: sk_nv12_weights_of the frame (for luma and chroma only). */
void sk_plain_row(const sk_frame *frame, const sk_nv12_weights *w, int32_t y, uint8_t *out);

/* All rows without gaps: how many bytes they take, and `view`, the frame that then lies there. */
size_t sk_plain_bytes(const sk_frame *frame);
void sk_plain_convert(const sk_frame *frame, uint8_t *to, sk_frame *view);

#endif
