/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_EVENTS_H
#define SK_SERVER_EVENTS_H

#include "base/text.h"

/* What happens, told to every page that is open (server-sent events). The last ones are kept: a page that was away says
 * which it saw last, and gets those it missed; one that missed more is told so ("reload"). */
typedef struct sk_events sk_events;

sk_status sk_events_open(sk_events **out, sk_error *err) SK_MUST_CHECK;
void sk_events_close(sk_events **events); /* every reader has left */

/* `json` is one line. A failure is no matter: events are hints, the state is asked for. Any thread. */
void sk_events_tell(sk_events *events, const char *name, const char *json);
/* A sign of life for every reader. */
void sk_events_ping(sk_events *events);

/* Somebody who listens. `wake` is called when there is something to read, under a lock: it may not read. */
typedef struct sk_events_reader sk_events_reader;
sk_status sk_events_listen(sk_events *events, const char *last_seen, void (*wake)(void *context),
                           void *context, sk_events_reader **out, sk_error *err) SK_MUST_CHECK;
void sk_events_leave(sk_events *events, sk_events_reader **reader);
/* Appends what has not been read yet. False: there is nothing, and `sleep` (if given) was called under the lock that wake
 * is called under, so that nothing is missed between the two. */
bool sk_events_read(sk_events *events, sk_events_reader *reader, sk_text *out, void (*sleep)(void *context),
                    bool *ended);
/* Every reader is to end: *ended is true from here on. */
void sk_events_end(sk_events *events);

#endif
