/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PICTURE_H
#define SK_MEDIA_PICTURE_H

#include "media/reader.h"

#include <stddef.h>

/* Inside media/: still pictures, one file a format. */

/* A picture has at most SK_PICTURE_SURE pixels, or SK_PICTURE_PER_BYTE for every byte of its file, and never more than
 * SK_PICTURE_MOST: the largest cameras have 200 million, and a file of 69 bytes that claims 1.6 billion is a trap. Who
 * names a bound (sk_source_settings.max_pixels) gets exactly that one. */
#define SK_PICTURE_SURE     ((int64_t)1 << 26)
#define SK_PICTURE_MOST     ((int64_t)1 << 28)
#define SK_PICTURE_PER_BYTE 4096

typedef struct sk_picture_task {
    const char *path; /* for messages, and for decoders that open files themselves */
    sk_pixel_format format;
    int64_t max_pixels; /* 0: the bounds above */
    const unsigned char *data;
    size_t length; /* of the whole file */
} sk_picture_task;

/* What the bounds above, or the one that was named, allow this file. */
int64_t sk_picture_most(const sk_picture_task *task);
/* Refuses what is too large before memory is taken for it; *err names the file and --max-pixels. */
sk_status sk_picture_check_size(const sk_picture_task *task, int64_t width, int64_t height,
                                sk_error *err) SK_MUST_CHECK;
/* Refuses a picture whose file is too short to hold it, however well it is packed: `most` pixels a byte. */
sk_status sk_picture_check_packing(const sk_picture_task *task, int64_t width, int64_t height, double most,
                                   sk_error *err) SK_MUST_CHECK;

sk_status sk_picture_decode_jpeg(const sk_picture_task *task, sk_slot *slot, sk_error *err) SK_MUST_CHECK;
sk_status sk_picture_decode_png(const sk_picture_task *task, sk_slot *slot, sk_error *err) SK_MUST_CHECK;
/* From a file's bytes: JPEG, PNG and TIFF (its first page); SK_ERR_UNSUPPORTED for others. */
sk_status sk_picture_decode_bytes(const sk_picture_task *task, sk_slot *slot, sk_error *err) SK_MUST_CHECK;

/* The orientation tag (1 to 8) in an Exif block, which is a small TIFF; 1 when there is none. */
int sk_exif_orientation(const unsigned char *tiff, size_t length);
/* Turns the picture upright that lies as this tag says. */
sk_status sk_picture_turn(int orientation, sk_slot *slot, sk_error *err) SK_MUST_CHECK;

/* --- TIFF --- */

/* Where the pages of a TIFF are, by the file's own list; reduced copies and masks are left out. */
typedef struct sk_tiff_pages {
    size_t count, capacity;
    uint64_t *offsets;
} sk_tiff_pages;

bool sk_picture_is_tiff(const unsigned char *start, size_t length); /* by its first eight bytes */
/* `data` null: the file at `path` is read where needed, whatever its size. Ended by sk_tiff_pages_free. */
sk_status sk_tiff_list(const char *path, const unsigned char *data, size_t length, sk_tiff_pages *out,
                       sk_error *err) SK_MUST_CHECK;
void sk_tiff_pages_free(sk_tiff_pages *pages);

/* How samples become 0..255 where 8 bits are not what the file holds: value -> (value - low) * scale. */
typedef struct sk_tiff_range {
    bool known;
    double low, scale;
} sk_tiff_range;

/* The page at `offset`. `range` holds for a whole file, decided by its first page (at `first`) when it is not known. */
sk_status sk_picture_decode_tiff(const sk_picture_task *task, uint64_t first, uint64_t offset,
                                 sk_tiff_range *range, sk_slot *slot, sk_error *err) SK_MUST_CHECK;

#endif
