/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_NPY_H
#define SK_FORMATS_NPY_H

#include "graph/tensor.h"

#include <stddef.h>

/* NumPy's .npy: one array with its type and shape; for reference tensors, tests and exchange with Python.
 *
 * Reads versions 1.0 to 3.0, both byte orders and Fortran order (the tensor comes out dense, row-major, in
 * this machine's order). Types: floats of 2, 4 and 8 bytes, integers of 1 to 8 bytes, bool. Arrays of Python
 * objects are refused: reading them would mean running what the file says. */

#define SK_NPY_MAX_HEADER ((size_t)1 << 20)

/* out->data is 64-byte aligned and ended by sk_free. `limit` bounds the array's bytes; `name` stands in
 * errors. Bytes behind the array are SK_ERR_FORMAT, as are missing ones. */
sk_status sk_npy_parse(const void *bytes, size_t count, const char *name, size_t limit, sk_tensor *out,
                       sk_error *err) SK_MUST_CHECK;
sk_status sk_npy_read(const char *path, size_t limit, sk_tensor *out, sk_error *err) SK_MUST_CHECK;

/* Version 1.0, as numpy.save writes it; the file is replaced as a whole. bfloat16, which NumPy does not have,
 * is written as float32. */
sk_status sk_npy_write(const char *path, const sk_tensor *tensor, sk_error *err) SK_MUST_CHECK;

#endif
