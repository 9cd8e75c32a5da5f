/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_EVENTS_H
#define SK_APP_RUN_EVENTS_H

#include "app/predict.h"
#include "runtime/artifact.h"

/* What a run tells a program that started it: one JSON object a line, on a descriptor that it was given (--events).
 *
 *     {"event":"begin","source","out","number","count","runtime_requested"}         a source of `count` is begun
 *     {"event":"export","step","path","note","part"}                                a runtime's model file is made
 *     {"event":"progress","frame","total","continued","instances","seconds","fps","seconds_left","memory","runtime","device","stages","queues"}
 *     {"event":"notice","text"}                                                     what the person should know
 *     {"event":"preview","frame"}                                                   the picture of --preview is of this frame
 *     {"event":"result","state","out","frames","instances","seconds","runtime","device","precision","files"}
 *     {"event":"end","status","message"}                                            the last line, but for a crash
 *
 * A line is written whole or, where its reader does not keep up, not at all; nothing here keeps a run waiting or fails it.
 * Any thread. */
typedef struct sk_run_events sk_run_events;

/* The descriptor must be open for writing; it stays the caller's. */
sk_status sk_run_events_open(int file, sk_run_events **out, sk_error *err) SK_MUST_CHECK;
void sk_run_events_close(sk_run_events **events);

/* A null `events` takes every call and does nothing. */
void sk_run_events_begin(sk_run_events *events, const char *source, const char *out, size_t number,
                         size_t count, const char *requested);
void sk_run_events_export(sk_run_events *events, sk_artifact_step step, const char *path, const char *note,
                          double part);
/* At most some times a second; others are left out. */
void sk_run_events_progress(sk_run_events *events, const sk_predict_progress *progress);
void sk_run_events_notice(sk_run_events *events, const char *text);
void sk_run_events_preview(sk_run_events *events, int64_t frame);
void sk_run_events_result(sk_run_events *events, const char *state, const char *out,
                          const sk_predict_report *report);
/* `error` null: it went well. */
void sk_run_events_end(sk_run_events *events, sk_status status, const sk_error *error);

#endif
