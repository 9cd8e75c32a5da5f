/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_RUNS_H
#define SK_SERVER_RUNS_H

#include "server/wish.h"

/* The runs that this page started: each a process of its own (skitter track … --events 3), one at a time, the others wait. What a
 * run tells and prints goes into files in the state folder, so that it needs nobody who listens: it goes on when the server
 * ends, and the next server finds it again (sk_runs, inside.h). */

sk_status sk_runs_open(sk_server *server, const char *program, sk_runs **out, sk_error *err) SK_MUST_CHECK;
/* Runs go on by themselves; those that wait are kept as stopped. */
void sk_runs_close(sk_runs **runs);

/* Takes what it needs out of the wish. `id` (24 bytes) names the run. */
sk_status sk_runs_add(sk_runs *runs, sk_wish *wish, char id[24], sk_error *err) SK_MUST_CHECK;
sk_status sk_runs_stop(sk_runs *runs, const char *id, sk_error *err) SK_MUST_CHECK;
sk_status sk_runs_continue(sk_runs *runs, const char *id, sk_error *err) SK_MUST_CHECK;
/* Forgets one that is over; its folder stays. */
sk_status sk_runs_remove(sk_runs *runs, const char *id, sk_error *err) SK_MUST_CHECK;

/* One as an object, with its log; all, and those of terminals, as members of an array that is open. */
sk_status sk_runs_put_one(sk_runs *runs, const char *id, sk_json *json, sk_error *err) SK_MUST_CHECK;
void sk_runs_put_all(sk_runs *runs, sk_json *json);
/* What runs are started with. */
const char *sk_runs_program(const sk_runs *runs);
/* The run that this process is; "" where it is none of ours. */
void sk_runs_of_process(sk_runs *runs, int64_t pid, char id[24]);
/* Where a run's picture lies, or will; ended by sk_free. SK_ERR_NOT_FOUND: no such run. */
sk_status sk_runs_preview(sk_runs *runs, const char *id, char **path, sk_error *err) SK_MUST_CHECK;

#endif
