/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SUGGEST_H
#define SK_CLI_SUGGEST_H

#include <stddef.h>

/* "did you mean …?": the offered word nearest to what was typed, if any is near enough to be a typing mistake. */
typedef struct sk_suggestion {
    const char *typed;
    size_t length;
    size_t distance;
    const char *best; /* null: nothing near */
} sk_suggestion;

void sk_suggest_start(sk_suggestion *suggestion, const char *typed, size_t length);
/* 1 when `word` (borrowed) is now the best. */
int sk_suggest_offer(sk_suggestion *suggestion, const char *word);

#endif
