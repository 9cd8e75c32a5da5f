/* SPDX-License-Identifier: Apache-2.0 */
#include "app/given_classes.h"

#include "base/memory.h"

#include <string.h>

/* What the file's numbers are shifted by. */
static int64_t shift_of(const sk_annotation_set *set)
{
    bool shifted = strncmp(set->format, "COCO", 4) == 0;
    for (size_t i = 0; i < set->n_classes; i++)
        shifted = shifted && set->classes[i].number != 0;
    return shifted ? 1 : 0;
}

/* Which numbers are the classes' own; the others are -1. */
static void keep_numbers(const sk_annotation_set *set, sk_given_classes *out, bool *taken)
{
    const int64_t shift = shift_of(set);
    for (size_t i = 0; i < set->n_classes; i++) {
        const int64_t number = set->classes[i].number - shift;
        const bool numbered = set->classes[i].number >= 0;
        const bool kept = numbered && number >= 0 && number < SK_GIVEN_CLASSES_MOST && !taken[number];
        out->number[i] = kept ? (int32_t)number : -1;
        out->changed += numbered && !kept;
        if (kept)
            taken[number] = true;
    }
}

sk_status sk_given_classes_of(const sk_annotation_set *set, sk_given_classes *out, sk_error *err)
{
    *out = (sk_given_classes){0};
    const size_t most = SK_GIVEN_CLASSES_MOST + set->n_classes;
    bool *taken = sk_calloc(most, sizeof *taken);
    out->number = sk_calloc(set->n_classes + 1, sizeof *out->number);
    if (!taken || !out->number) {
        sk_free(taken);
        return sk_fail_memory(err, most);
    }
    keep_numbers(set, out, taken);
    int32_t next = 0;
    for (size_t i = 0; i < set->n_classes; i++) {
        while (out->number[i] < 0 && taken[next])
            next++;
        out->number[i] = out->number[i] < 0 ? next : out->number[i];
        taken[out->number[i]] = true;
        out->count = out->number[i] >= out->count ? out->number[i] + 1 : out->count;
    }
    sk_free(taken);
    out->names = sk_calloc((size_t)out->count + 1, sizeof *out->names);
    if (!out->names)
        return sk_fail_memory(err, (size_t)out->count * sizeof *out->names);
    for (int32_t i = 0; i < out->count; i++)
        out->names[i] = "";
    for (size_t i = 0; i < set->n_classes; i++)
        out->names[out->number[i]] = set->classes[i].name;
    return SK_OK;
}

void sk_given_classes_free(sk_given_classes *classes)
{
    sk_free(classes->number);
    sk_free((void *)classes->names);
    *classes = (sk_given_classes){0};
}
