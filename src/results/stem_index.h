/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_STEM_INDEX_H
#define SK_RESULTS_STEM_INDEX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Inside results/: paths found again by what stands before their ending: "a/b.jpg" by "a/b", or by "b" alone. */

typedef struct sk_stem {
    const char *text; /* borrowed */
    size_t length, index;
} sk_stem;

typedef struct sk_stem_index {
    sk_stem *items; /* sorted */
    size_t count;
} sk_stem_index;

/* `skip` bytes of each path do not count; `bare`: neither does any folder. */
sk_status sk_stem_index_open(char *const *paths, size_t count, size_t skip, bool bare, sk_stem_index *out,
                             sk_error *err) SK_MUST_CHECK;
/* The path's index, or -1. `path` is looked up by its own stem. */
ptrdiff_t sk_stem_index_find(const sk_stem_index *stems, const char *path, bool bare);
void sk_stem_index_free(sk_stem_index *stems);

/* Bytes of a path before its ending. */
size_t sk_stem_length(const char *path);

#endif
