/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_STEMS_H
#define SK_RESULTS_STEMS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What files made of a frame are called, without ending. Of a picture: its own stem, "a" for "in/a.jpg". Where another
 * picture of the run had that before, its whole name, "a.png"; where that is taken too (an a.png of another folder), with a
 * number, "a.png_2". Frames of a video, and pages of one picture after its first, end in the frame's number from 1:
 * "flies_1". The order of sources decides, so that a continued run that is told of the earlier ones comes to the same names. */

typedef struct sk_stems sk_stems;

sk_status sk_stems_open(bool pictures, sk_stems **out, sk_error *err) SK_MUST_CHECK;
void sk_stems_close(sk_stems **stems);
/* *stem is the table's own and stays until the next call. */
sk_status sk_stems_of(sk_stems *stems, const char *source, int64_t frame, const char **stem,
                      sk_error *err) SK_MUST_CHECK;

#endif
