/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_RESULT_READER_H
#define SK_RESULTS_RESULT_READER_H

#include "results/sink.h"

/* The frames of a run as its files tell them, read in any order, also while the run goes on: a journal (what was found) or
 * results.jsonl (what was found, or the tracks). Nothing is ever written, links are not followed. Only where each frame lies is
 * kept in memory, sixteen bytes a frame. One thread at a time. */
typedef struct sk_result_reader sk_result_reader;

/* SK_ERR_FORMAT where it is none of ours, or damaged; frames that are whole may be read all the same where the end is torn. */
sk_status sk_result_reader_open_journal(const char *path, sk_result_reader **out,
                                        sk_error *err) SK_MUST_CHECK;
/* `n_keypoints`: places for so many have also instances in frames where none has keypoints. */
sk_status sk_result_reader_open_jsonl(const char *path, int32_t n_keypoints, sk_result_reader **out,
                                      sk_error *err) SK_MUST_CHECK;
void sk_result_reader_close(sk_result_reader **reader);

/* Finds frames that came since; a file that was begun anew is read anew (sk_result_reader_round counts that). */
sk_status sk_result_reader_refresh(sk_result_reader *reader, sk_error *err) SK_MUST_CHECK;
int64_t sk_result_reader_count(const sk_result_reader *reader);
int64_t sk_result_reader_round(const sk_result_reader *reader);
bool sk_result_reader_finished(const sk_result_reader *reader); /* a journal whose run reached its end */

int64_t sk_result_reader_number(const sk_result_reader *reader, int64_t entry); /* of its frame; they rise */
/* The first entry of a frame with this number or a larger one; the count where there is none. */
int64_t sk_result_reader_find(const sk_result_reader *reader, int64_t frame);
/* The entry's frame, borrowed until the next call. */
sk_status sk_result_reader_read(sk_result_reader *reader, int64_t entry, sk_result_frame *out,
                                sk_error *err) SK_MUST_CHECK;

#endif
