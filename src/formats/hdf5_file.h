/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_HDF5_FILE_H
#define SK_FORMATS_HDF5_FILE_H

#include "graph/tensor.h"

#include <stdbool.h>
#include <stddef.h>

/* Reading HDF5: our own reader of the parts that Keras, h5py and SLEAP write (superblocks 0 to 3, groups
 * of either kind short of fractal heaps, compact, contiguous and chunked data, gzip, shuffle and
 * checksums, texts of fixed and variable length). libhdf5 itself is not safe on damaged and hostile files
 * and is used for writing only. Every offset is checked against the bytes that are there; nothing outside
 * the file is followed: no soft or external links, no external or virtual data. Memory and time are
 * bounded by the file's size and the caller's limits. An open file may be read from several threads. Paths
 * inside the file are "group/group/name"; "" or "/" is the root. */

typedef struct sk_hdf5_file sk_hdf5_file;

sk_status sk_hdf5_open(const char *path, sk_hdf5_file **out, sk_error *err) SK_MUST_CHECK;
/* From a file's bytes, borrowed until close; `what` names them in errors. */
sk_status sk_hdf5_open_memory(const void *bytes, size_t length, const char *what, sk_hdf5_file **out,
                              sk_error *err) SK_MUST_CHECK;
void sk_hdf5_close(sk_hdf5_file **file);

/* True for a group or dataset reachable inside this file. */
bool sk_hdf5_exists(sk_hdf5_file *file, const char *path);
bool sk_hdf5_has_attribute(sk_hdf5_file *file, const char *path, const char *name);

/* A string attribute of a group or dataset, fixed or variable length; fresh memory, ended by sk_free. A
 * missing one is SK_ERR_NOT_FOUND. */
sk_status sk_hdf5_attribute_text(sk_hdf5_file *file, const char *path, const char *name, char **out,
                                 sk_error *err) SK_MUST_CHECK;
/* A list-of-strings attribute as one block of zero-terminated texts after one another; ended by sk_free.
 * The i-th: sk_hdf5_text_at. */
typedef struct sk_hdf5_texts {
    size_t count;
    char *bytes;
    size_t length;
} sk_hdf5_texts;
sk_status sk_hdf5_attribute_texts(sk_hdf5_file *file, const char *path, const char *name, sk_hdf5_texts *out,
                                  sk_error *err) SK_MUST_CHECK;
const char *sk_hdf5_text_at(const sk_hdf5_texts *texts, size_t index); /* null past the end */
/* A number attribute (one element). */
sk_status sk_hdf5_attribute_real(sk_hdf5_file *file, const char *path, const char *name, double *out,
                                 sk_error *err) SK_MUST_CHECK;

/* Type and shape of a dataset of numbers; SK_DTYPE_NONE for other types (strings, compounds). */
sk_status sk_hdf5_dataset_info(sk_hdf5_file *file, const char *path, sk_dtype *dtype, sk_shape *shape,
                               sk_error *err) SK_MUST_CHECK;
/* Reads a dataset of numbers, row-major, converted to `to` (f32, f64, an integer type …). Refuses more
 * than max_bytes in memory. `shape` may be null. */
sk_status sk_hdf5_dataset_read(sk_hdf5_file *file, const char *path, sk_dtype to, size_t max_bytes,
                               sk_blob **out, sk_shape *shape, sk_error *err) SK_MUST_CHECK;
/* The same for one column of a table (a dataset of compound elements with numbers in them). *count rows. */
sk_status sk_hdf5_dataset_column(sk_hdf5_file *file, const char *path, const char *column, sk_dtype to,
                                 size_t max_bytes, sk_blob **out, size_t *count, sk_error *err) SK_MUST_CHECK;
/* A dataset of strings, as for attributes. */
sk_status sk_hdf5_dataset_texts(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out,
                                sk_error *err) SK_MUST_CHECK;

/* Names of a group's members, in the file's order: alphabetical in groups of the older kind. */
sk_status sk_hdf5_members(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out,
                          sk_error *err) SK_MUST_CHECK;

/* For users of libhdf5 in this process (the .slp writer): enter holds the lock, silences the library's own
 * printing and forbids plug-ins; leave restores both. Does not nest. */
void sk_hdf5_enter(void);
void sk_hdf5_leave(void);

#endif
