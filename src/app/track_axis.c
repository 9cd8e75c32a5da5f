/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_axis.h"

#include <ctype.h>
#include <stdlib.h>
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

/* Those in the list, by name or number; false: one of them is none of the points. */
static bool listed(const char *list, const char *const *names, int32_t count, int32_t out[MOST], int32_t *n)
{
    bool known = true;
    *n = 0;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ",");
        int32_t i = 0;
        while (i < count && !(names[i] && strlen(names[i]) == length && memcmp(names[i], at, length) == 0))
            i++;
        if (i == count && length && strspn(at, "0123456789") >= length) {
            const long number = strtol(at, NULL, 10);
            i = number < count ? (int32_t)number : count;
        }
        known = known && i < count;
        if (i < count && *n < MOST)
            out[(*n)++] = i;
    }
    return known;
}

bool sk_track_axis_set(const char *head, const char *tail, const char *const *names, int32_t count,
                       sk_track_axis *out)
{
    bool known = true;
    if (head[0])
        known = listed(head, names, count, out->head, &out->pose.n_head);
    if (tail[0])
        known = listed(tail, names, count, out->tail, &out->pose.n_tail) && known;
    return known;
}

const sk_pose_axis *sk_track_axis_pose(sk_track_axis *axis)
{
    axis->pose.head = axis->head;
    axis->pose.tail = axis->tail;
    return axis->pose.n_head && axis->pose.n_tail ? &axis->pose : NULL;
}
