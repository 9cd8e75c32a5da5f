/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ZIP_WRITE_H
#define SK_FORMATS_ZIP_WRITE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

/* Writes a zip archive, entry by entry: deflated where that helps, names in UTF-8, ZIP64 where there are more entries than the
 * old directory can count. An archive has at most 4 GiB: SK_ERR_LIMIT. */
typedef struct sk_zip_writer sk_zip_writer;

/* The stream stays the caller's, and is named `what` in errors. */
sk_status sk_zip_writer_open(FILE *to, const char *what, sk_zip_writer **out, sk_error *err) SK_MUST_CHECK;
sk_status sk_zip_writer_add(sk_zip_writer *zip, const char *name, const void *bytes, size_t length,
                            sk_error *err) SK_MUST_CHECK;
/* The directory at the end: the archive is whole. */
sk_status sk_zip_writer_end(sk_zip_writer *zip, sk_error *err) SK_MUST_CHECK;
void sk_zip_writer_close(sk_zip_writer **zip);

#endif
