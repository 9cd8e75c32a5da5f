/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PATTERN_H
#define SK_MEDIA_PATTERN_H

#include "base/error.h"

#include <stddef.h>

/* Files that match a pattern: *, ? and [] as a shell has them, ~, and a part ** that stands for any folders below, also for
 * none, as Python's glob has it. Hidden files are not matched by wildcards, and ** does not go through links. */
typedef struct sk_pattern_files {
    char **paths;
    size_t count, capacity;
} sk_pattern_files;

/* None found is no failure. Ended by sk_pattern_free, also after one. */
sk_status sk_pattern_find(const char *pattern, sk_pattern_files *files, sk_error *err) SK_MUST_CHECK;
void sk_pattern_free(sk_pattern_files *files);

#endif
