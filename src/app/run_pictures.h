/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_PICTURES_H
#define SK_APP_RUN_PICTURES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Pictures that were given one by one, as the text list that is read: pictures.txt in the run's folder, so that the run
 * is known by it. */
typedef struct sk_run_pictures {
    size_t count;
    char *const *paths;
    const char *folder; /* the run's, made if absent; null: a file of its own, which the caller removes */
    bool restart, overwrite; /* as the run's */
} sk_run_pictures;

/* The list's path; ended by sk_free, also after a failure. The list of another run, or of one that is writing here, is an
 * error and stays. */
sk_status sk_run_pictures_write(const sk_run_pictures *pictures, char **path, sk_error *err) SK_MUST_CHECK;

#endif
