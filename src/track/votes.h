/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_VOTES_H
#define SK_TRACK_VOTES_H

#include <stdint.h>

/* What most say, by weight, in a small room: exact as long as no more than SK_VOTES_MOST are named; of more, one that has over a
 * share of 1 / SK_VOTES_MOST is never lost. */

#define SK_VOTES_MOST 6

typedef struct sk_votes {
    int32_t n;
    int32_t who[SK_VOTES_MOST];
    float weight[SK_VOTES_MOST];
} sk_votes;

/* `who` below 0 says nothing. */
static inline void sk_votes_add(sk_votes *votes, int32_t who, double weight)
{
    if (who < 0 || !(weight > 0))
        return;
    int32_t least = 0;
    for (int32_t i = 0; i < votes->n; i++) {
        if (votes->who[i] == who) {
            votes->weight[i] += (float)weight;
            return;
        }
        if (votes->weight[i] < votes->weight[least])
            least = i;
    }
    if (votes->n < SK_VOTES_MOST) {
        votes->who[votes->n] = who;
        votes->weight[votes->n++] = (float)weight;
    } else { /* whoever has least gives way, and leaves its weight to the new one */
        votes->who[least] = who;
        votes->weight[least] += (float)weight;
    }
}

/* Who has most; of several the one named first; -1: nobody was. */
static inline int32_t sk_votes_best(const sk_votes *votes)
{
    int32_t best = -1;
    for (int32_t i = 0; i < votes->n; i++)
        if (best < 0 || votes->weight[i] > votes->weight[best])
            best = i;
    return best < 0 ? -1 : votes->who[best];
}

#endif
