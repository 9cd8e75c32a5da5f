/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_MCAP_FILE_H
#define SK_FORMATS_MCAP_FILE_H

#include "formats/bag_file.h"
#include "formats/mcap.h"

/* Inside formats/: an MCAP file while it is read. */

#define SK_MCAP_CHANNELS     65536
#define SK_MCAP_NO_CHUNK     UINT64_MAX /* of an entry: the message lies outside of chunks */
#define SK_MCAP_MESSAGE_HEAD ((size_t)22)

typedef struct sk_mcap_chunk {
    uint64_t records, packed, unpacked; /* where its packed bytes lie, how many, and how many they become */
    uint32_t crc;
    sk_packing packing;
    bool indexed;
} sk_mcap_chunk;

typedef struct sk_mcap_index { /* the messages of one channel in one chunk */
    uint64_t place;            /* of the array */
    uint32_t bytes, chunk;
    uint16_t channel;
} sk_mcap_index;

typedef struct sk_mcap_loose { /* a message that no index has */
    sk_bag_entry entry;
    uint16_t channel;
} sk_mcap_loose;

typedef struct sk_mcap_file {
    sk_bag_file base;
    int file;
    uint64_t length;
    sk_mcap_chunk *chunks;
    size_t n_chunks, chunks_capacity;
    sk_mcap_index *indexes;
    size_t n_indexes, indexes_capacity;
    sk_mcap_loose *loose;
    size_t n_loose, loose_capacity;
    char **schemas;    /* names, by number; null: not described */
    uint32_t *topics;  /* a channel's topic, counted from 1; 0: not described */
    uint8_t *unpacked; /* the chunk that was unpacked last … */
    size_t unpacked_capacity;
    uint64_t held; /* … its number; UINT64_MAX: none … */
    sk_error held_error;
    uint8_t *bytes; /* what was read from the file last */
    size_t bytes_capacity;
    /* Bytes that unpacking may still give: until the file's messages are listed, and then in one pass over them. */
    uint64_t unpack_left;
    bool endless;    /* that was not enough */
    int64_t pass_ns; /* the time of the message that was read last: an earlier one begins another pass */
    bool finished;
    size_t bad_chunks, unknown;
} sk_mcap_file;

/* The topic of a channel; SIZE_MAX: it is not described. */
static inline size_t sk_mcap_topic(const sk_mcap_file *m, uint16_t channel)
{
    return m->topics[channel] ? m->topics[channel] - 1 : SIZE_MAX;
}

sk_status sk_mcap_reserve(uint8_t **bytes, size_t *capacity, uint64_t wanted, sk_error *err) SK_MUST_CHECK;
sk_status sk_mcap_read_at(sk_mcap_file *m, uint64_t at, void *to, size_t count, sk_error *err) SK_MUST_CHECK;
/* Unpacks a chunk into m->unpacked, or says why it cannot be had; asked again, it gives the same answer. SK_ERR_LIMIT also where
 * the file has been unpacked to more than its length and its chunks explain. */
sk_status sk_mcap_hold(sk_mcap_file *m, uint64_t number, sk_error *err) SK_MUST_CHECK;
/* From here on the file is looked at, and nothing read from it. */
void sk_mcap_begin_scan(sk_mcap_file *m);
/* From here on, a pass over the messages: every chunk may be unpacked a few times. */
void sk_mcap_begin_pass(sk_mcap_file *m);
/* Fills the lists above by going through the file. */
sk_status sk_mcap_scan(sk_mcap_file *m, sk_error *err) SK_MUST_CHECK;

#endif
