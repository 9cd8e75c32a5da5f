/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_REPEATED_H
#define SK_TESTS_RESULTS_REPEATED_H

#include "base/text.h"

/* `before`, so many times `each` with `between`, `after`; fresh each time. */
static sk_text made;
static inline const char *repeated(const char *before, const char *each, const char *between, int count,
                                   const char *after)
{
    sk_text_free(&made);
    made = (sk_text){0};
    sk_text_append(&made, before);
    for (int i = 0; i < count; i++) {
        sk_text_append(&made, i ? between : "");
        sk_text_append(&made, each);
    }
    sk_text_append(&made, after);
    return sk_text_get(&made);
}

#endif
