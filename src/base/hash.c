/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/file.h"
#include "base/transfer.h"

#include <errno.h>
#include <sodium/crypto_hash_sha256.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(sk_sha256_state), "the state must fit");
_Static_assert(crypto_hash_sha256_BYTES == sizeof(sk_sha256), "32 bytes");

#define PIECE (256 * 1024)

static crypto_hash_sha256_state *inner(sk_sha256_state *state)
{
    return (crypto_hash_sha256_state *)(void *)state->opaque;
}

void sk_sha256_begin(sk_sha256_state *state)
{
    crypto_hash_sha256_init(inner(state));
}

void sk_sha256_add(sk_sha256_state *state, const void *data, size_t bytes)
{
    if (bytes)
        crypto_hash_sha256_update(inner(state), data, bytes);
}

void sk_sha256_end(sk_sha256_state *state, sk_sha256 *out)
{
    crypto_hash_sha256_final(inner(state), out->bytes);
}

void sk_hash_sha256(const void *data, size_t bytes, sk_sha256 *out)
{
    sk_sha256_state state;
    sk_sha256_begin(&state);
    sk_sha256_add(&state, data, bytes);
    sk_sha256_end(&state, out);
}

sk_status sk_hash_sha256_file(const char *path, sk_sha256 *out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_sha256_state state;
    uint8_t *piece = NULL;
    int file;
    int64_t bytes;
    SK_TRY(sk_file_open(path, &file, &bytes, err));
    piece = sk_malloc(PIECE);
    if (!piece) {
        status = sk_fail_memory(err, PIECE);
        goto done;
    }
    sk_sha256_begin(&state);
    size_t got;
    do {
        got = sk_read_all(file, piece, PIECE);
        if (got < PIECE && errno) {
            status = sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
            goto done;
        }
        sk_sha256_add(&state, piece, got);
    } while (got == PIECE);
    sk_sha256_end(&state, out);
done:
    sk_free(piece);
    close(file);
    return status;
}

const char *sk_sha256_text(const sk_sha256 *hash, char buffer[SK_SHA256_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof hash->bytes; i++) {
        buffer[2 * i] = digits[hash->bytes[i] >> 4];
        buffer[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    buffer[SK_SHA256_TEXT - 1] = '\0';
    return buffer;
}

uint64_t sk_hash_xxh3(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}
