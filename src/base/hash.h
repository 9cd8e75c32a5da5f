/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_HASH_H
#define SK_BASE_HASH_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* SHA-256 names contents: of model files in caches, artifacts and sidecars. xxh3 makes quick keys inside one
 * process or one machine; it does not withstand anybody who wants two inputs to collide. */

typedef struct sk_sha256 {
    uint8_t bytes[32];
} sk_sha256;

void sk_hash_sha256(const void *data, size_t bytes, sk_sha256 *out);
/* Reads the file in pieces; the path is in the error's text. */
sk_status sk_hash_sha256_file(const char *path, sk_sha256 *out, sk_error *err) SK_MUST_CHECK;

/* Piece by piece. Plain data, nothing to free. */
typedef struct sk_sha256_state {
    _Alignas(16) uint8_t opaque[128];
} sk_sha256_state;

void sk_sha256_begin(sk_sha256_state *state);
void sk_sha256_add(sk_sha256_state *state, const void *data, size_t bytes);
void sk_sha256_end(sk_sha256_state *state, sk_sha256 *out);

/* 64 lower case letters and digits. Returns buffer. */
#define SK_SHA256_TEXT 65
const char *sk_sha256_text(const sk_sha256 *hash, char buffer[SK_SHA256_TEXT]);

uint64_t sk_hash_xxh3(const void *data, size_t bytes, uint64_t seed);

#endif
