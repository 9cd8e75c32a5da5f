/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_axis.h"

#include <ctype.h>
#include <string.h>

#define MOST 16

static bool says(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (; *name; name++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (i == length)
            return true;
    }
    return false;
}

/* Points whose names have the first of these words that any has. */
static int32_t find(const char *const *names, int32_t count, const char *const *words, int32_t out[MOST])
{
    int32_t n = 0;
    for (; *words && n == 0; words++)
        for (int32_t i = 0; i < count && n < MOST; i++)
            if (names[i] && says(names[i], *words))
                out[n++] = i;
    return n;
}

void sk_track_axis_of(const char *const *names, int32_t count, sk_track_axis *out)
{
    static const char *const front[] = {"nose", "snout", "head", "rostrum", "mouth", "neck", NULL};
    static const char *const back[] = {"tailbase", "tail_base", "tail-base", "tail base", "abdomen",
                                       "tail",     "rump",      "hip",       "thorax",    NULL};
    memset(out, 0, sizeof *out);
    out->pose.n_head = find(names, count, front, out->head);
    out->pose.n_tail = find(names, count, back, out->tail);
}

const sk_pose_axis *sk_track_axis_pose(sk_track_axis *axis)
{
    axis->pose.head = axis->head;
    axis->pose.tail = axis->tail;
    return axis->pose.n_head && axis->pose.n_tail ? &axis->pose : NULL;
}
