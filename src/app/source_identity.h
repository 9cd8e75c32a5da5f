/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SOURCE_IDENTITY_H
#define SK_APP_SOURCE_IDENTITY_H

#include "base/text.h"
#include "media/reader.h"

/* Which video or which pictures a name stood for when a run began. All append to `out`; nothing where it does not apply
 * (addresses and cameras have no size). */
void sk_source_place(const char *source, sk_text *out);  /* the whole path, links resolved */
void sk_source_size(const char *source, sk_text *out);   /* bytes of a file */
void sk_source_time(const char *source, sk_text *out);   /* when it was last changed */
void sk_source_sample(const char *source, sk_text *out); /* a hash of pieces from begin to end */
/* What is in the file, wherever it lies: its length and a hash of all of its bytes, or, of more than a gigabyte, of one in
 * pieces from begin to end. SK_ERR_IO and the like where it cannot be read. */
sk_status sk_source_content(const char *source, sk_text *out, sk_error *err) SK_MUST_CHECK;
/* How many pictures, and a hash of their names in order. What is in each is the journal's to remember, entry by entry:
 * one that could not be read may be mended before the run goes on. */
void sk_source_pictures(const sk_source *source, sk_text *out);

/* A picture file as it is now: changes when its size or time do. 0: it is not there. */
uint64_t sk_picture_stamp(const char *path);

#endif
