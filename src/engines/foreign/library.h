/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_FOREIGN_LIBRARY_H
#define SK_ENGINES_FOREIGN_LIBRARY_H

#include "base/error.h"

#include <stddef.h>

/* Finding a runtime's shared library. It is never linked: one program runs everywhere and offers what it
 * finds. */

typedef struct sk_library_wish {
    const char *title;          /* "ONNX Runtime" */
    const char *variable;       /* environment variable naming the file, or a folder that holds it */
    const char *file;           /* how the file's name begins: "libonnxruntime.so" */
    const char *const *sonames; /* for the loader's own search; ends with null */
    const char *package;        /* where a Python package keeps it: "onnxruntime/capi" below site-packages */
    const char *const *folders; /* glob patterns of further folders; ends with null */
    const char *remedy;         /* the commands that bring the library here */
} sk_library_wish;

/* Opens the library. Order: the variable (and then nothing else: what was asked for by name is not
 * replaced quietly), the loader's path, Python environments (VIRTUAL_ENV, CONDA_PREFIX),
 * SKITTER_RUNTIME_DIR, `folders`. *path is where it lies. SK_ERR_NOT_FOUND says where was looked and what
 * to do. */
sk_status sk_library_open(const sk_library_wish *wish, void **handle, char *path, size_t capacity,
                          sk_error *err) SK_MUST_CHECK;

#endif
