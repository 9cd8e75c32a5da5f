/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_CORRECTIONS_H
#define SK_TRACK_CORRECTIONS_H

#include "base/error.h"
#include "base/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a person mends of finished tracks: a list that is only ever added to, and may be taken back and done again from its end.
 * A correction speaks of tracks as they are called after those before it, and of frames by their numbers. Reads no files and no
 * results: it says which track a sighting belongs to in the end. */

typedef enum sk_correction_kind {
    SK_CORRECTION_SWAP,   /* from frame `from` to `to`, a is called b and b is called a */
    SK_CORRECTION_DELETE, /* a is no animal from frame `from` to `to` */
    SK_CORRECTION_MERGE,  /* b is a; in frames that have both, only one of them stays: `prefer` */
    SK_CORRECTION_RENAME  /* a has this name; "" none */
} sk_correction_kind;

#define SK_CORRECTION_NAME  64
#define SK_CORRECTIONS_MOST ((size_t)1 << 16)

typedef struct sk_correction {
    sk_correction_kind kind;
    int32_t a, b;     /* tracks; b -1: not of this kind */
    int64_t from, to; /* frames, both with; to -1: to the end */
    int32_t prefer;   /* of a merge: a or b; -1: no frame has both */
    char name[SK_CORRECTION_NAME];
} sk_correction;

/* Starts as {0}; ended by sk_corrections_free. */
typedef struct sk_corrections {
    sk_correction *items;
    size_t count;  /* that hold */
    size_t undone; /* behind those: may be done again */
    size_t capacity;
} sk_corrections;

void sk_corrections_free(sk_corrections *list);
/* One that makes no sense is SK_ERR_ARG. What was undone before can then not be done again. */
sk_status sk_corrections_add(sk_corrections *list, const sk_correction *correction,
                             sk_error *err) SK_MUST_CHECK;
/* The last one no longer holds; the last that was undone holds again. SK_ERR_ARG where there is none. */
sk_status sk_corrections_undo(sk_corrections *list, sk_error *err) SK_MUST_CHECK;
sk_status sk_corrections_redo(sk_corrections *list, sk_error *err) SK_MUST_CHECK;

/* The tracks of one frame's sightings (-1: none), put right in place; -1 then also for what is no animal. No two of them are
 * equal before, and none after. */
void sk_corrections_apply(const sk_corrections *list, int64_t frame, int32_t *tracks, int32_t n);
bool sk_corrections_same(const sk_corrections *a, const sk_corrections *b); /* also in what was undone */
/* The name that a person gave the track; null: none. */
const char *sk_corrections_name(const sk_corrections *list, int32_t track);

/* --- as lines of JSON, one a step: what the list is kept as --- */

typedef enum sk_correction_step { SK_STEP_ADD, SK_STEP_UNDO, SK_STEP_REDO } sk_correction_step;

/* One object, ended by a line end: {"do":"swap","tracks":[3,5],"from":1200}, {"do":"undo"} … `at`: when, as text; may be null. */
void sk_correction_write(sk_correction_step step, const sk_correction *correction, const char *at,
                         sk_json *json);
/* Takes the step that the line tells. `what` names the line in errors. */
sk_status sk_corrections_read(sk_corrections *list, const char *line, size_t length, const char *what,
                              sk_error *err) SK_MUST_CHECK;
/* For people: "from frame 1200 on, 3 and 5 are swapped". */
void sk_correction_describe(const sk_correction *correction, sk_text *out);

#endif
