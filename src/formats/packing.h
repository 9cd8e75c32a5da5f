/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_PACKING_H
#define SK_FORMATS_PACKING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The two ways in which bags pack their bytes: LZ4's frame format and Zstandard. Their libraries are loaded when the first
 * packed bytes come; where one is absent, the error names the Debian package. Thread-safe. */

typedef enum sk_packing { SK_PACKING_NONE = 0, SK_PACKING_LZ4, SK_PACKING_ZSTD } sk_packing;

/* "", "lz4", "zstd", as MCAP and rosbag2 write them. */
const char *sk_packing_name(sk_packing packing);
sk_status sk_packing_find(const char *name, size_t length, sk_packing *out, sk_error *err) SK_MUST_CHECK;

/* Exactly `bytes` bytes into `out`. More, fewer and damaged ones are SK_ERR_FORMAT, a library that is not there
 * SK_ERR_UNSUPPORTED. */
sk_status sk_unpack(sk_packing packing, const void *packed, size_t count, void *out, size_t bytes,
                    sk_error *err) SK_MUST_CHECK;
/* How many bytes a message packed by Zstandard says it has; SK_ERR_FORMAT where it does not say. */
sk_status sk_unpacked_bytes(const void *packed, size_t count, uint64_t *bytes, sk_error *err) SK_MUST_CHECK;

/* *out is ended by sk_free. */
sk_status sk_pack(sk_packing packing, const void *bytes, size_t count, uint8_t **out, size_t *out_count,
                  sk_error *err) SK_MUST_CHECK;

#endif
