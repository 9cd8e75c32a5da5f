/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_HDF5_FORMAT_H
#define SK_FORMATS_HDF5_FORMAT_H

#include "formats/hdf5_file.h"

#include <stdatomic.h>

/* Between hdf5_object.c (where things are in the file), hdf5_data.c (their numbers and texts) and
 * hdf5_file.c. After "HDF5 File Format Specification 3.0"; numbers are little-endian, addresses and
 * lengths 8 bytes. */

struct sk_hdf5_file {
    sk_blob *map; /* null when the bytes are borrowed */
    const uint8_t *bytes;
    uint64_t length;
    uint64_t base; /* of addresses: the superblock's place */
    uint64_t root; /* object header of the root group */
    char *what;
    /* Links, messages and heap objects looked at so far. Files that refer to themselves over and over
     * would make readers slow without ever being wrong; honest ones stay far below the limit. */
    atomic_uint_fast64_t work;
    atomic_uint_fast64_t given; /* bytes of numbers handed out so far: names may be many for one dataset */
};

#define SK_HDF5_MAX_WORK ((uint64_t)1 << 28)
/* False when the file has had its share. */
static inline bool sk_hdf5_work(sk_hdf5_file *file, uint64_t amount)
{
    return atomic_fetch_add_explicit(&file->work, amount, memory_order_relaxed) + amount <= SK_HDF5_MAX_WORK;
}

#define SK_HDF5_UNDEFINED UINT64_MAX

/* A view that cannot be left: reading past the end gives zeros and marks it bad. */
typedef struct sk_hdf5_cursor {
    const uint8_t *at, *end;
    bool bad;
} sk_hdf5_cursor;

/* `count` bytes at an address; a bad cursor when they are not all in the file. */
sk_hdf5_cursor sk_hdf5_view(sk_hdf5_file *file, uint64_t address, uint64_t count);
const uint8_t *sk_hdf5_take(sk_hdf5_cursor *c, uint64_t count); /* null when they are not there */
uint64_t sk_hdf5_number(sk_hdf5_cursor *c, int bytes);
static inline uint64_t sk_hdf5_left(const sk_hdf5_cursor *c)
{
    return c->bad ? 0 : (uint64_t)(c->end - c->at);
}

/* --- hdf5_object.c --- */

enum {
    SK_HDF5_MSG_SPACE = 0x01,
    SK_HDF5_MSG_LINK_INFO = 0x02,
    SK_HDF5_MSG_TYPE = 0x03,
    SK_HDF5_MSG_OLD_FILL = 0x04,
    SK_HDF5_MSG_FILL = 0x05,
    SK_HDF5_MSG_LINK = 0x06,
    SK_HDF5_MSG_EXTERNAL = 0x07,
    SK_HDF5_MSG_LAYOUT = 0x08,
    SK_HDF5_MSG_FILTERS = 0x0B,
    SK_HDF5_MSG_ATTRIBUTE = 0x0C,
    SK_HDF5_MSG_CONTINUE = 0x10,
    SK_HDF5_MSG_SYMBOLS = 0x11,
    SK_HDF5_MSG_ATTRIBUTE_INFO = 0x15
};

/* Called for every message of an object header; false stops. */
typedef bool (*sk_hdf5_visit)(void *context, int type, int flags, sk_hdf5_cursor data);
/* SK_ERR_FORMAT for a damaged header, SK_ERR_UNSUPPORTED for one of an unknown kind. */
sk_status sk_hdf5_messages(sk_hdf5_file *file, uint64_t address, sk_hdf5_visit visit, void *context,
                           sk_error *err) SK_MUST_CHECK;

/* Called for every hard link of a group. False stops. */
typedef bool (*sk_hdf5_link_visit)(void *context, const char *name, size_t length, uint64_t address);
/* *is_group says whether the object is one; no error when it is not. */
sk_status sk_hdf5_links(sk_hdf5_file *file, uint64_t address, sk_hdf5_link_visit visit, void *context,
                        bool *is_group, sk_error *err) SK_MUST_CHECK;
/* The object at a path; SK_ERR_NOT_FOUND when there is none. */
sk_status sk_hdf5_locate(sk_hdf5_file *file, const char *path, uint64_t *address,
                         sk_error *err) SK_MUST_CHECK;

/* --- hdf5_data.c --- */

typedef struct sk_hdf5_type {
    sk_dtype dtype; /* SK_DTYPE_NONE: not plain numbers */
    uint32_t size;
    bool big_endian;
    bool text, variable;
} sk_hdf5_type;

typedef struct sk_hdf5_filter {
    int id; /* 1 deflate, 2 shuffle, 3 checksum */
} sk_hdf5_filter;

#define SK_HDF5_MAX_FILTERS 8

typedef enum sk_hdf5_layout {
    SK_HDF5_COMPACT = 0,
    SK_HDF5_CONTIGUOUS = 1,
    SK_HDF5_CHUNKED = 2
} sk_hdf5_layout;

/* A dataset or attribute: its type, shape and where its elements are. */
typedef struct sk_hdf5_item {
    sk_hdf5_file *file;
    char label[300]; /* "dataset /g/x", "attribute "n" of /g", for errors */
    sk_hdf5_type type;
    sk_hdf5_cursor type_bytes; /* of a dataset: its type as the file has it */
    sk_shape shape;            /* rank -1: more dimensions than are read */
    uint64_t count;
    bool outside; /* its data lies in other files */
    sk_hdf5_layout layout;
    sk_hdf5_cursor inside;  /* compact data and attributes */
    uint64_t address, size; /* contiguous data; address of a chunked dataset's tree */
    uint32_t chunk[SK_MAX_RANK];
    const uint8_t *fill; /* type.size bytes, of elements that were never written; null: zeros */
    bool fill_damaged;
    sk_hdf5_filter filters[SK_HDF5_MAX_FILTERS];
    int n_filters;
} sk_hdf5_item;

sk_status sk_hdf5_parse_type(sk_hdf5_cursor c, sk_hdf5_type *out, const char *label,
                             sk_error *err) SK_MUST_CHECK;
sk_status sk_hdf5_parse_space(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err) SK_MUST_CHECK;
sk_status sk_hdf5_parse_layout(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err) SK_MUST_CHECK;
/* What never written elements are; `old`: the message's first form. */
void sk_hdf5_parse_fill(sk_hdf5_cursor c, bool old, sk_hdf5_item *item);
sk_status sk_hdf5_parse_filters(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err) SK_MUST_CHECK;

/* The item's elements as they lie in the file, count * type.size bytes, decompressed; *hold (may be null)
 * is the caller's. Refuses more than max_bytes. */
sk_status sk_hdf5_raw(const sk_hdf5_item *item, uint64_t max_bytes, const uint8_t **bytes, sk_blob **hold,
                      sk_error *err) SK_MUST_CHECK;
/* A member of a compound type, by its name: its type and where in an element it begins. */
sk_status sk_hdf5_find_member(const sk_hdf5_item *item, const char *name, sk_hdf5_type *type,
                              uint32_t *offset, sk_error *err) SK_MUST_CHECK;
/* Writes the chunks that there are into `out` (count * type.size bytes, filled) from a chunked dataset; hdf5_chunks.c. */
sk_status sk_hdf5_read_chunks(const sk_hdf5_item *item, uint8_t *out, sk_error *err) SK_MUST_CHECK;

#endif
