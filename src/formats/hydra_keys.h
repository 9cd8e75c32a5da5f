/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_HYDRA_KEYS_H
#define SK_FORMATS_HYDRA_KEYS_H

#include <stddef.h>

/* The keys of hydra-suite's configurations: which are used here, and which are known to have no counterpart. */

typedef enum hydra_kind { HYDRA_NUMBER, HYDRA_TRUTH, HYDRA_TEXT, HYDRA_LIST } hydra_kind;

/* What is used, and what its value may be. */
typedef struct hydra_used {
    const char *key;
    hydra_kind is;
    double least, most; /* of a number */
} hydra_used;
/* What is known and has no counterpart: keys, a space between. */
typedef struct hydra_subject {
    const char *name, *keys;
} hydra_subject;

enum { HYDRA_USED_MOST = 128 }; /* sk_hydra_used_key (hydra_config.h) names no more */

/* Null: there is none. */
const hydra_used *hydra_find_used(const char *key);
const hydra_subject *hydra_find_subject(const char *key);
const hydra_subject *hydra_subject_at(size_t index);

#endif
