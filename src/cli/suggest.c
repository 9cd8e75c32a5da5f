/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <string.h>

#define MAX_WORD 64

/* Edits (insert, delete, replace, swap neighbours) between two short words; MAX_WORD when one is too long. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n >= MAX_WORD || m >= MAX_WORD)
        return MAX_WORD;
    size_t rows[3][MAX_WORD];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[m];
}

void sk_suggest_start(sk_suggestion *suggestion, const char *typed, size_t length)
{
    *suggestion = (sk_suggestion){.typed = typed, .length = length, .distance = length / 3 + 1};
    if (suggestion->distance > 3)
        suggestion->distance = 3;
    suggestion->distance += 1; /* "nearer than": words of up to 2 letters allow one edit, long ones three */
}

int sk_suggest_offer(sk_suggestion *suggestion, const char *word)
{
    size_t length = strlen(word);
    size_t edits = distance(suggestion->typed, suggestion->length, word, length);
    /* the beginning of a longer word is a good guess too, but the last one */
    if (suggestion->length >= 3 && suggestion->length < length &&
        memcmp(word, suggestion->typed, suggestion->length) == 0 && edits > 2)
        edits = 2;
    if (edits >= suggestion->distance || edits >= length)
        return 0;
    suggestion->distance = edits;
    suggestion->best = word;
    return 1;
}
