/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_GIVEN_CLASSES_H
#define SK_APP_GIVEN_CLASSES_H

#include "results/annotations.h"

/* The classes of somebody's file as those of a run: they keep their numbers and names. COCO's numbers begin with 1, as in the COCO
 * files that are written, so 1 is class 0 there. A class without a number, one whose number another class has too, or beyond
 * SK_GIVEN_CLASSES_MOST, gets the first that is free; of the latter two `changed` counts. */
typedef struct sk_given_classes {
    int32_t *number; /* of each class of the set */
    const char **names;
    int32_t count; /* of names: numbers that no class has are called "" */
    int32_t changed;
} sk_given_classes;

#define SK_GIVEN_CLASSES_MOST 65536

/* The names are the set's. Ended by sk_given_classes_free, also after a failure. */
sk_status sk_given_classes_of(const sk_annotation_set *set, sk_given_classes *out,
                              sk_error *err) SK_MUST_CHECK;
void sk_given_classes_free(sk_given_classes *classes);

#endif
