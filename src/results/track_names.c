/* SPDX-License-Identifier: Apache-2.0 */
#include "results/track_names.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>

#define TRACKS_MOST (1u << 24)

bool sk_track_names_open(sk_track_names *names, const sk_run_header *h)
{
    *names = (sk_track_names){0};
    if (!h->identities || !h->tracked || h->n_classes <= 0)
        return true;
    names->individuals = sk_calloc((size_t)h->n_classes, sizeof *names->individuals);
    for (int32_t i = 0; names->individuals && i < h->n_classes; i++, names->n_individuals++)
        if (!(names->individuals[i] = sk_text_utf8_copy(h->class_names[i])))
            return false;
    return names->individuals != NULL;
}

void sk_track_names_close(sk_track_names *names)
{
    for (int32_t i = 0; i < names->n_individuals; i++)
        sk_free(names->individuals[i]);
    sk_free(names->individuals);
    sk_free(names->of);
    *names = (sk_track_names){0};
}

void sk_track_names_note(sk_track_names *names, int32_t track, int32_t individual)
{
    if (!names->individuals || track < 0 || individual < 0 || individual >= names->n_individuals ||
        sk_array_reserve((void **)&names->of, &names->capacity, (size_t)track + 1, sizeof *names->of,
                         TRACKS_MOST, NULL) != SK_OK)
        return; /* then it has its number */
    for (; names->n <= track; names->n++)
        names->of[names->n] = -1;
    names->of[track] = individual;
}

const char *sk_track_names_get(const sk_track_names *names, int32_t track, char text[SK_TRACK_NAME])
{
    const int32_t who = track < names->n ? names->of[track] : -1;
    bool first = true;
    for (int32_t i = 0; i < track && who >= 0 && first; i++)
        first = names->of[i] != who;
    if (who < 0 || !names->individuals[who][0])
        snprintf(text, SK_TRACK_NAME, "track_%d", track);
    else if (first)
        return names->individuals[who];
    else
        snprintf(text, SK_TRACK_NAME, "%.120s_%d", names->individuals[who], track);
    return text;
}
