/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SIDE_BY_SIDE_H
#define SK_APP_SIDE_BY_SIDE_H

#include "app/consumer.h"

/* Consumers of results alone that know nothing of each other, each in a thread of its own: frames are copied, gathered into batches, and
 * every consumer is told all of them in order, as it would be without threads, so that the files are the same bytes. */
typedef struct sk_side_by_side sk_side_by_side;

/* The consumers are begun and borrowed until the end. Null in *out: there is one of them, or one core; they are told directly. */
sk_status sk_side_by_side_open(const sk_consumers *consumers, sk_side_by_side **out,
                               sk_error *err) SK_MUST_CHECK;
/* The first failure of any of them ends it. */
sk_status sk_side_by_side_tell(sk_side_by_side *side, int64_t entry, const sk_result_frame *frame,
                               sk_error *err) SK_MUST_CHECK;
/* Waits until all have been told everything. Gives `status` where it is a failure already, else the first of theirs. */
sk_status sk_side_by_side_end(sk_side_by_side **side, sk_status status, sk_error *err) SK_MUST_CHECK;

#endif
