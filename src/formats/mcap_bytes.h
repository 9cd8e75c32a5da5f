/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_MCAP_BYTES_H
#define SK_FORMATS_MCAP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inside formats/: numbers of MCAP, lowest byte first, taken one after another from bytes that may end too soon. */
typedef struct sk_mcap_bytes {
    const uint8_t *at;
    size_t left;
    bool bad; /* they ended; everything taken since is 0 */
} sk_mcap_bytes;

static inline const uint8_t *sk_mcap_take(sk_mcap_bytes *b, uint64_t count)
{
    if (b->bad || count > b->left) {
        b->bad = true;
        return NULL;
    }
    const uint8_t *taken = b->at;
    b->at += count;
    b->left -= (size_t)count;
    return taken;
}

static inline uint64_t sk_mcap_number(sk_mcap_bytes *b, size_t bytes)
{
    const uint8_t *at = sk_mcap_take(b, bytes);
    uint64_t value = 0;
    for (size_t i = bytes; at && i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* A text: four bytes of length, then its bytes; *length 0 where it is cut short. */
static inline const char *sk_mcap_text(sk_mcap_bytes *b, size_t *length)
{
    const size_t wanted = (size_t)sk_mcap_number(b, 4);
    const char *text = (const char *)sk_mcap_take(b, wanted);
    *length = text ? wanted : 0;
    return text;
}

#endif
