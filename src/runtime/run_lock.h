/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_RUN_LOCK_H
#define SK_RUNTIME_RUN_LOCK_H

#include "base/lock.h"

/* While a run is on, the saved runtime stays as it is. Every run holds a lock of its own in the user's cache folder
 * (runs/), so several may be on; whoever wants to change the setting is refused while any is. The system frees a lock
 * when its process dies, however it dies, and the file a dead run left is swept away by the next one who looks. */
typedef struct sk_run_lock sk_run_lock;

/* `name` tells people which run it is: its result folder. */
sk_status sk_run_lock_open(const char *name, sk_run_lock **out, sk_error *err) SK_MUST_CHECK;
void sk_run_lock_close(sk_run_lock **lock); /* nulls the pointer */

typedef struct sk_run_info {
    char name[256];
    sk_lock_holder holder;
} sk_run_info;

/* The runs that are on; *count may be more than `capacity`. */
sk_status sk_run_list(sk_run_info *rows, int32_t capacity, int32_t *count, sk_error *err) SK_MUST_CHECK;

/* The right to change the setting: no run can begin until *out is closed (sk_lock_close). SK_ERR_BUSY while a run is
 * on; the text names the run, its process and how to stop it. */
sk_status sk_run_change_begin(sk_lock **out, sk_error *err) SK_MUST_CHECK;

#endif
