/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_SKQ_H
#define SK_FORMATS_SKQ_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A network in eight bits, as one file: 64 bytes of header, JSON that says how it was made and what it lost, and the network
 * as ONNX. The header, little-endian: "SKQ\r\n\x1a\n\0", u32 version, u32 0, u64 bytes of JSON, u64 bytes of the network, SHA-256 of
 * both. Nothing follows. */
#define SK_SKQ_VERSION   1
#define SK_SKQ_HEADER    64
#define SK_SKQ_JSON_MAX  ((size_t)16 << 20)
#define SK_SKQ_EXTENSION ".skq"

typedef struct sk_skq {
    const char *json; /* borrowed from the bytes; not ended by a zero */
    size_t json_length;
    const void *network;
    size_t network_length;
} sk_skq;

bool sk_skq_is(const void *bytes, size_t length); /* by its first bytes */
/* Checks lengths and hash before anything is believed. `what` names the file in errors. */
sk_status sk_skq_read(const void *bytes, size_t length, const char *what, sk_skq *out,
                      sk_error *err) SK_MUST_CHECK;
/* *out is ended with sk_free. */
sk_status sk_skq_write(const sk_skq *parts, uint8_t **out, size_t *length, sk_error *err) SK_MUST_CHECK;

#endif
