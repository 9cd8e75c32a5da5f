/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BACKGROUND_BACKGROUND_INTERNAL_H
#define SK_BACKGROUND_BACKGROUND_INTERNAL_H

#include "background/background.h"

/* --- blobs.c: pixels that hang together --- */

/* Sums over pixels, whose centres are at +0.5. */
typedef struct blob_sums {
    double n, x, y, xx, xy, yy;
} blob_sums;

typedef struct blob {
    blob_sums sums;
    int64_t contrast;  /* sum of the differences */
    int32_t first_run; /* the first of its runs; each names the next */
} blob;

/* Neighbouring pixels of one row. */
typedef struct blob_run {
    int32_t y, x0, x1; /* x1 exclusive */
    int32_t blob;      /* while they are joined: the run it hangs on; then its blob */
    int32_t next;      /* of the same blob; -1: the last */
} blob_run;

typedef struct blob_list {
    blob *items;
    size_t count, capacity;
    blob_run *runs;
    size_t n_runs, runs_capacity;
} blob_list;

/* Blobs of the pixels of `mask` that are not 0, corners touching counts. `difference` is summed in `contrast`. More than `most` is
 * SK_OK and *too_many. */
sk_status blobs_find(const uint8_t *mask, const uint8_t *difference, int32_t width, int32_t height,
                     size_t most, blob_list *list, bool *too_many, sk_error *err) SK_MUST_CHECK;
void blobs_free(blob_list *list);

/* The box of an ellipse with these moments: cx, cy, w, h, angle; w >= h, 0 <= angle < pi. */
void blob_box(const blob_sums *sums, double obb[5]);

/* --- blob_split.c: one blob taken for several animals --- */

#define BLOB_PARTS_MOST 16

/* Gaussians fitted to the blob's pixels, `parts` (2 … BLOB_PARTS_MOST) of them; out[parts] are their pixels' sums. */
void blob_split(const blob_list *list, const blob *from, int32_t parts, blob_sums *out);

/* --- masks.c: bytes that are 0 or 255 --- */

/* Specks narrower than `size` go, then holes and slits; `spare` is work space, as large as the mask. */
void mask_clean(uint8_t *mask, uint8_t *spare, int32_t width, int32_t height, int32_t size);
void mask_grow(uint8_t *mask, uint8_t *spare, int32_t width, int32_t height, int32_t by);

/* --- greys.c: a frame as grey bytes --- */

/* Through `table`. */
void grey_of_frame(const sk_frame *frame, const uint8_t table[256], uint8_t *out);
/* contrast, brightness and gamma as a table. */
void grey_table(const sk_background_settings *settings, uint8_t table[256]);
/* The mean of the middle half of the values. */
double grey_middle(const uint8_t *greys, size_t n);
/* The median of n pictures, pixel by pixel. n <= 64 */
void grey_median(const uint8_t *const *pictures, int32_t n, size_t pixels, uint8_t *out);

#endif
