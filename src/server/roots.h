/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_ROOTS_H
#define SK_SERVER_ROOTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folders that the page may use. Whatever a request names is followed to what it really is (links, "..") and refused
 * unless that lies in one of them; files are then opened part by part without following links, so that one put there in
 * the meantime leads nowhere. */

#define SK_ROOTS_MOST 32

typedef struct sk_root {
    char *path;  /* as it really is, from "/" */
    char *given; /* as the person wrote it, made absolute */
    bool writable;
} sk_root;

typedef struct sk_roots {
    int32_t count;
    sk_root items[SK_ROOTS_MOST];
} sk_roots;

/* Begins as {0}; ended by sk_roots_free. A folder that is not there is an error. */
sk_status sk_roots_add(sk_roots *roots, const char *path, bool writable, sk_error *err) SK_MUST_CHECK;
void sk_roots_free(sk_roots *roots);

/* Was it refused for lying outside? Then err->code is SK_ERR_UNSUPPORTED and this is true: HTTP's 403. */
bool sk_roots_is_outside(const sk_error *err);

/* What a path really is, which is there: a text that is ended by sk_free. Relative paths begin in the first root. */
sk_status sk_roots_resolve(const sk_roots *roots, const char *path, char **out, sk_error *err) SK_MUST_CHECK;
/* The same for a video or pictures: refused where it names other files, as lists do, or is a folder with a link that leads
 * outside: their readers would follow. */
sk_status sk_roots_resolve_source(const sk_roots *roots, const char *path, char **out,
                                  sk_error *err) SK_MUST_CHECK;
/* The same for something that may yet be made, in a folder that may be written. */
sk_status sk_roots_resolve_new(const sk_roots *roots, const char *path, char **out,
                               sk_error *err) SK_MUST_CHECK;
/* Opens a regular file, or with `folder` a folder, for reading; *file is the caller's to close. */
sk_status sk_roots_open(const sk_roots *roots, const char *path, bool folder, int *file,
                        sk_error *err) SK_MUST_CHECK;
/* The root that a real path lies in; -1: none. */
int32_t sk_roots_of(const sk_roots *roots, const char *real);

#endif
