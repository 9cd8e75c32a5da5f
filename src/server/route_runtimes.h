/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_ROUTE_RUNTIMES_H
#define SK_SERVER_ROUTE_RUNTIMES_H

#include "app/runtimes.h"
#include "base/json_write.h"
#include "models/model.h"

/* Members of an object that is open: gate with reasons and remedies, what is saved, what counts, who holds it locked. */
sk_status sk_put_runtimes(sk_json *json, const sk_runtimes_view *view, int64_t at_wall_ms,
                          sk_error *err) SK_MUST_CHECK;
/* A run of this user that is on, as an object. */
void sk_put_run_info(sk_json *json, const sk_run_info *run);

#endif
