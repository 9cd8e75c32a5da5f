/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_PROBLEMS_H
#define SK_BASE_PROBLEMS_H

#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>

/* What is wrong with a text that a person wrote, all of it: a line a problem, for a person. Starts as {0}, ends with
 * sk_problems_free. Beyond SK_PROBLEMS_KEPT only their number is kept. */
#define SK_PROBLEMS_KEPT 50

typedef struct sk_problems {
    sk_text lines; /* each ended by '\n' */
    size_t count;
} sk_problems;

/* Line ends in what is told become spaces, texts longer than a kilobyte are cut. */
void sk_problems_add(sk_problems *p, const char *format, ...) SK_PRINTF(2, 3);
/* … "PATH:LINE:COLUMN: " in front; a line or column of 0 is the first. */
void sk_problems_add_at(sk_problems *p, const char *path, uint32_t line, uint32_t column, const char *format,
                        va_list args);
/* Calls `tell` with every line that was kept, and one that tells how many more there are. */
void sk_problems_each(const sk_problems *p, void (*tell)(void *context, const char *line), void *context);
void sk_problems_free(sk_problems *p);

#endif
