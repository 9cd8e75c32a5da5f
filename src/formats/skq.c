/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/skq.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

static const uint8_t magic[8] = {'S', 'K', 'Q', '\r', '\n', 0x1a, '\n', 0};

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static void put(uint8_t *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

bool sk_skq_is(const void *bytes, size_t length)
{
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

sk_status sk_skq_read(const void *bytes, size_t length, const char *what, sk_skq *out, sk_error *err)
{
    const uint8_t *head = bytes;
    sk_sha256 hash;
    if (length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty; fetch it again", what);
    if (!sk_skq_is(bytes, length))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: is no model in eight bits (.skq); 'skitter quantize' makes one of a model", what);
    if (length < SK_SKQ_HEADER)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off after %zu bytes; fetch it again", what,
                       length);
    if (get(head + 8, 4) != SK_SKQ_VERSION)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: version %llu of the form; this skitter reads version %d. Make it again by "
                       "'skitter quantize', or use a newer skitter",
                       what, (unsigned long long)get(head + 8, 4), SK_SKQ_VERSION);
    uint64_t json = get(head + 16, 8), network = get(head + 24, 8), rest = length - SK_SKQ_HEADER;
    if (json > SK_SKQ_JSON_MAX || json > rest || network != rest - json)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: its header promises %llu + %llu bytes, the file holds %llu; fetch it again", what,
                       (unsigned long long)json, (unsigned long long)network, (unsigned long long)rest);
    sk_hash_sha256(head + SK_SKQ_HEADER, (size_t)rest, &hash);
    if (memcmp(hash.bytes, head + 32, sizeof hash.bytes) != 0 || get(head + 12, 4) != 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: the file is damaged (its contents are not what its hash says); fetch it again",
                       what);
    *out = (sk_skq){(const char *)head + SK_SKQ_HEADER, (size_t)json, head + SK_SKQ_HEADER + json,
                    (size_t)network};
    return SK_OK;
}

sk_status sk_skq_write(const sk_skq *parts, uint8_t **out, size_t *length, sk_error *err)
{
    size_t total;
    sk_sha256 hash;
    *out = NULL;
    if (parts->json_length > SK_SKQ_JSON_MAX ||
        !sk_add_size(parts->json_length + SK_SKQ_HEADER, parts->network_length, &total))
        return sk_fail(err, SK_ERR_LIMIT, "a model in eight bits of %zu + %zu bytes", parts->json_length,
                       parts->network_length);
    uint8_t *file = sk_calloc(1, total);
    if (!file)
        return sk_fail_memory(err, total);
    memcpy(file, magic, sizeof magic);
    put(file + 8, SK_SKQ_VERSION, 4);
    put(file + 16, parts->json_length, 8);
    put(file + 24, parts->network_length, 8);
    memcpy(file + SK_SKQ_HEADER, parts->json, parts->json_length);
    memcpy(file + SK_SKQ_HEADER + parts->json_length, parts->network, parts->network_length);
    sk_hash_sha256(file + SK_SKQ_HEADER, total - SK_SKQ_HEADER, &hash);
    memcpy(file + 32, hash.bytes, sizeof hash.bytes);
    *out = file;
    *length = total;
    return SK_OK;
}
