/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_JOURNAL_ENTRY_H
#define SK_RESULTS_JOURNAL_ENTRY_H

#include "base/instances.h"
#include "results/journal.h"

/* Inside results/: how a journal lies in its file, for who writes it and for who only looks.
 *
 * File: head, identity, then entries.
 * Entry: u32 body length, u32 checksum of the body, body. A body of length 0 with checksum JOURNAL_END_MARK ends a finished run.
 * Body: journal_body_head, source bytes (a frame_id of its own, where it has one, behind a zero), problem bytes, instances, keypoints, and, where somebody looked, SK_TRACK_LOOKS bytes an
 * instance; all in this machine's byte order (a journal never leaves its machine's run folder). Head and identity are put in place whole, by a rename: a journal has both or is not
 * there. */

#define JOURNAL_MAGIC          "SKJRNL4\n"
#define JOURNAL_FAMILY         "SKJRNL" /* what journals of other versions begin with, too */
#define JOURNAL_IDENTITY_LIMIT (16u << 20)
#define JOURNAL_END_MARK       0x53454e44u
#define JOURNAL_BODY_LIMIT     (64u << 20)

typedef struct journal_head {
    char magic[8];
    uint64_t id;
    char stamp[SK_JOURNAL_STAMP];
    uint32_t identity_length, identity_sum;
} journal_head;

typedef struct journal_body_head {
    int64_t index;
    double time;
    int64_t wall_ns;
    uint64_t picture;
    int32_t width, height, source_length, problem_length, count, n_keypoints;
} journal_body_head;

/* Memory for one entry after another. Starts as {0}; ended by sk_journal_entry_free. */
typedef struct sk_journal_entry {
    unsigned char *body;
    size_t capacity;
    uint32_t length; /* of the body */
    bool scarce;     /* memory ran out for the last one: what lies there is not known */
    sk_instances instances;
    char *source;
    unsigned char
        *window; /* bytes of the file from window_at on, for entries that are read one after the other */
    int64_t window_at, read_to;
    size_t window_bytes;
} sk_journal_entry;

/* The good entry at *offset, which then is that of the next one; false at the end, at a torn or damaged entry, and where memory ran
 * out. *ended for the end mark. */
bool sk_journal_entry_read(sk_journal_entry *entry, int file, int64_t *offset, bool *ended);
/* For who has written to the file, or reads another one. */
void sk_journal_entry_forget(sk_journal_entry *entry);
/* The frame inside; false when its counts do not fit its length, and where memory ran out. Borrowed from the entry until the next is parsed. */
bool sk_journal_entry_parse(sk_journal_entry *entry, sk_result_frame *frame);
void sk_journal_entry_free(sk_journal_entry *entry);

#endif
