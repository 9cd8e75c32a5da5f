/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_H5_WRITER_H
#define SK_TESTS_SUPPORT_H5_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* Small HDF5 files for tests. Any failure ends the process: it is the test's own mistake. */
typedef struct h5_writer {
    int64_t id;
} h5_writer;

h5_writer h5_create(const char *path);
void h5_finish(h5_writer *writer);

/* Groups on the way are made as needed. dims of rank `rank`. */
void h5_put_f32(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims);
void h5_put_f32_gzip(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims);
/* Shuffled, gzipped and with a checksum, in chunks of the given size. */
void h5_put_f32_chunked(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims,
                        const int64_t *chunk);
void h5_put_i64(h5_writer *writer, const char *path, const int64_t *data, int rank, const int64_t *dims);
/* A dataset of that shape without any data in the file. */
void h5_put_hollow(h5_writer *writer, const char *path, int rank, const int64_t *dims);
/* In chunks; the data is the first row alone, the others are never written and read as `fill`. */
void h5_put_f32_filled(h5_writer *writer, const char *path, const float *row, float fill, int64_t rows,
                       int64_t columns);
/* A dataset whose bytes lie in another file. */
void h5_put_external(h5_writer *writer, const char *path, const char *other_file, int64_t count);
void h5_put_group(h5_writer *writer, const char *path);
void h5_put_external_link(h5_writer *writer, const char *path, const char *other_file);

/* Attributes of an existing object ("/" for the root). */
void h5_attr_text(h5_writer *writer, const char *object, const char *name, const char *text, int variable);
void h5_attr_texts(h5_writer *writer, const char *object, const char *name, const char *const *texts,
                   size_t count, int variable);
void h5_attr_f64(h5_writer *writer, const char *object, const char *name, double value);

/* Files, groups, datasets, types, attributes, spaces and lists of properties of libhdf5 that are open in this process: what a writer
 * opens it closes. */
long long h5_open_things(void);

#endif
