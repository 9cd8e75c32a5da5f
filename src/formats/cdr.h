/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_CDR_H
#define SK_FORMATS_CDR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Common Data Representation, the bytes of ROS 2's messages on the wire and in bags: plain CDR (XCDR version 1). Four bytes
 * name the byte order; numbers lie on multiples of their size, counted from behind those four; a text is its length with the
 * final zero, then the bytes; a sequence is its count, then the elements.
 *
 * Both sides keep their first failure and do nothing afterwards (numbers read as 0, texts as ""), so that a message is read or
 * written field by field and asked for its status once. */

#define SK_CDR_HEADER ((size_t)4)

/* --- reading: bytes that the caller keeps for as long as views into them are used --- */
typedef struct sk_cdr_reader {
    const uint8_t *bytes; /* behind the header */
    size_t count, at;
    bool swapped;        /* the other byte order than this machine's */
    sk_status failed;    /* SK_ERR_FORMAT: it ends before its last field, or a text or count cannot be */
    const char *problem; /* what, while `failed` */
} sk_cdr_reader;

/* Reads the four bytes. SK_ERR_FORMAT for fewer, SK_ERR_UNSUPPORTED for parameter lists and XCDR version 2. */
sk_status sk_cdr_reader_begin(sk_cdr_reader *reader, const void *bytes, size_t count,
                              sk_error *err) SK_MUST_CHECK;
sk_status sk_cdr_reader_status(const sk_cdr_reader *reader, sk_error *err) SK_MUST_CHECK;

/* Copies `count` numbers of `size` bytes (1, 2, 4, 8) in this machine's order. False: failed, and *out is zeroes. */
bool sk_cdr_get_numbers(sk_cdr_reader *reader, void *out, size_t size, size_t count);
uint8_t sk_cdr_get_u8(sk_cdr_reader *reader);
uint32_t sk_cdr_get_u32(sk_cdr_reader *reader);
int32_t sk_cdr_get_i32(sk_cdr_reader *reader);
uint64_t sk_cdr_get_u64(sk_cdr_reader *reader);
int64_t sk_cdr_get_i64(sk_cdr_reader *reader);
double sk_cdr_get_f64(sk_cdr_reader *reader);
/* `count` bytes where they lie; null when they are not there. */
const uint8_t *sk_cdr_get_bytes(sk_cdr_reader *reader, size_t count);
/* A text where it lies, *length without its final zero; never null. A length of 0, which some write for "", is "". */
const char *sk_cdr_get_text(sk_cdr_reader *reader, size_t *length);
/* How many elements of a sequence follow, each of at least `least` bytes (1 or more): a count that the rest of the bytes
 * cannot hold is a failure. */
uint32_t sk_cdr_get_count(sk_cdr_reader *reader, size_t least);

/* --- writing: into memory that grows, and is kept from message to message --- */
typedef struct sk_cdr_writer {
    uint8_t *data; /* with the header */
    size_t length, capacity;
    bool swapped; /* writes the other byte order */
    sk_status failed;
} sk_cdr_writer; /* starts as {0}, ended by sk_cdr_writer_free */

/* Empties it and writes the header, in this machine's byte order or in the other. */
void sk_cdr_writer_begin(sk_cdr_writer *writer);
void sk_cdr_writer_begin_swapped(sk_cdr_writer *writer);
sk_status sk_cdr_writer_status(const sk_cdr_writer *writer, sk_error *err) SK_MUST_CHECK;
void sk_cdr_writer_free(sk_cdr_writer *writer);

void sk_cdr_put_numbers(sk_cdr_writer *writer, const void *numbers, size_t size, size_t count);
void sk_cdr_put_u8(sk_cdr_writer *writer, uint8_t value);
void sk_cdr_put_u32(sk_cdr_writer *writer, uint32_t value);
void sk_cdr_put_i32(sk_cdr_writer *writer, int32_t value);
void sk_cdr_put_u64(sk_cdr_writer *writer, uint64_t value);
void sk_cdr_put_i64(sk_cdr_writer *writer, int64_t value);
void sk_cdr_put_f64(sk_cdr_writer *writer, double value);
void sk_cdr_put_bytes(sk_cdr_writer *writer, const void *bytes, size_t count);
void sk_cdr_put_text(sk_cdr_writer *writer, const char *text, size_t length);
void sk_cdr_put_count(sk_cdr_writer *writer, size_t count);

#endif
