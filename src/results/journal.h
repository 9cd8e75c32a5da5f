/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_JOURNAL_H
#define SK_RESULTS_JOURNAL_H

#include "results/sink.h"

/* The record of a run that survives kill -9: one checksummed entry a frame, handed to the operating system as soon as it
 * is complete. A continued run finds the last good entry, cuts off what follows and plays the rest into its sinks. */

/* A null journal is that of a run that keeps none (results on standard output): it has no entries and takes all that come. */
typedef struct sk_journal sk_journal;

/* Opens or begins the journal. `identity` names everything that shapes the result (models, source, settings), as any
 * text: a journal with another one is SK_ERR_MISMATCH and left alone, and *other is the text it has (ended by sk_free;
 * null in every other case); `restart` begins anew in any case. `stamp` is a word kept from the beginning (when the run
 * started): a continued journal keeps its first one. */
sk_status sk_journal_open(const char *path, const char *identity, const char *stamp, bool restart,
                          sk_journal **out, char **other, sk_error *err) SK_MUST_CHECK;
void sk_journal_close(sk_journal **journal);
/* Does a journal lie there, of whatever version or run? What else lies there is never replaced. */
bool sk_journal_is_one(const char *path);
/* Without opening it: the stamp of the journal of this version that lies there, false where there is none; and whether the
 * run it records reached its end. */
#define SK_JOURNAL_STAMP 32
bool sk_journal_glance(const char *path, char stamp[SK_JOURNAL_STAMP]);
bool sk_journal_is_finished(const char *path);

const char *sk_journal_stamp(const sk_journal *journal);
uint64_t sk_journal_id(const sk_journal *journal);   /* of this run alone: a new one for every beginning */
int64_t sk_journal_count(const sk_journal *journal); /* entries so far */
int64_t sk_journal_last_index(const sk_journal *journal); /* the last entry's frame; -1 when there is none */
bool sk_journal_finished(const sk_journal *journal);      /* the run it records reached its end */

sk_status sk_journal_append(sk_journal *journal, const sk_result_frame *frame, sk_error *err) SK_MUST_CHECK;
sk_status sk_journal_finish(sk_journal *journal, sk_error *err) SK_MUST_CHECK;
/* Hands buffered entries to the operating system; with `durable` also to the disk. */
sk_status sk_journal_flush(sk_journal *journal, bool durable, sk_error *err) SK_MUST_CHECK;

/* Forgets every entry after the first `count`. */
sk_status sk_journal_truncate(sk_journal *journal, int64_t count, sk_error *err) SK_MUST_CHECK;

/* Calls `visit` with every entry in order; the frame is borrowed for the call. */
typedef sk_status (*sk_journal_visit)(void *context, const sk_result_frame *frame, sk_error *err);
sk_status sk_journal_replay(sk_journal *journal, sk_journal_visit visit, void *context,
                            sk_error *err) SK_MUST_CHECK;

#endif
