/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TASKS_NPY_TEST_H
#define SK_TESTS_TASKS_NPY_TEST_H

#include "formats/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array of the reference data, whole; the test ends it with free(data). */
typedef struct npy {
    int64_t dim[SK_MAX_RANK];
    void *data;
} npy;

static inline npy npy_load(const char *path)
{
    npy a = {{0}, NULL};
    sk_tensor tensor;
    sk_error err;
    if (sk_npy_read(path, (size_t)1 << 30, &tensor, &err) != SK_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    memcpy(a.dim, tensor.shape.dim, sizeof a.dim);
    size_t bytes = sk_tensor_bytes(&tensor);
    a.data = malloc(bytes ? bytes : 1);
    if (!a.data)
        exit(1);
    memcpy(a.data, tensor.data, bytes);
    sk_free(tensor.data);
    return a;
}

#endif
