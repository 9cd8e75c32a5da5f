/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_VIEWS_H
#define SK_SERVER_VIEWS_H

#include "app/run_view.h"
#include "results/sink.h"
#include "server/inside.h"

/* Run folders that pages look at, kept open: a page asks again at every frame. Each is used by one request at a time
 * (sk_views, inside.h). */

sk_status sk_views_open(sk_views **out, sk_error *err) SK_MUST_CHECK;
void sk_views_close(sk_views **views);

/* The view of a folder (a real path), as it is now, for this request alone until sk_views_leave. */
sk_status sk_views_enter(sk_views *views, const char *folder, sk_run_view **out, sk_error *err) SK_MUST_CHECK;
void sk_views_leave(sk_views *views, sk_run_view *view);

/* Where the run's video lies, if that may be looked at: a fresh text. */
sk_status sk_views_source(const sk_server *server, const sk_run_view *view, char **real,
                          sk_error *err) SK_MUST_CHECK;
/* Can a download of this format be made of a run's folder (route_save.c)? Not what is a folder of files, nor what each pass saw. */
bool sk_download_is_made(const sk_sink_kind *kind);

#endif
