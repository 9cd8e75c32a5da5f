/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_LIBRARY_H
#define SK_BASE_LIBRARY_H

#include "base/error.h"

#include <pthread.h>
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
 * replaced quietly), the loader's path, the Python environment that the program lies in, others (VIRTUAL_ENV, CONDA_PREFIX),
 * SKITTER_RUNTIME_DIR, `folders`. *path is where it lies. SK_ERR_NOT_FOUND says where was looked and what
 * to do. */
sk_status sk_library_open(const sk_library_wish *wish, void **handle, char *path, size_t capacity,
                          sk_error *err) SK_MUST_CHECK;

/* A library that is loaded by the first call that finds it and kept for the process's life. */
typedef struct sk_library_once {
    pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
    int ready;
} sk_library_once;

/* Opens the library if that was not done yet and has `fill` take its functions into `api`, which is zeroed before and
 * whose `path` (4096 bytes of it) is set. A library that `fill` refuses is let go, and tried again by the next call. Any
 * thread. */
sk_status sk_library_load(const sk_library_wish *wish, sk_library_once *once, void *api, size_t api_bytes,
                          char *path, sk_status (*fill)(void *handle, void *api, sk_error *err),
                          sk_error *err) SK_MUST_CHECK;
#define SK_LIBRARY_PATH 4096

#endif
