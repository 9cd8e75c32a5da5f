/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_H
#define SK_APP_BATCH_H

#include "app/source_list.h"
#include "base/json_write.h"
#include "skitter/source.h"

#include <stdint.h>

/* Many videos by one configuration: a batch is a folder of results, with a folder of its own in it (.batch) that says which
 * pieces there are and how far each is. Any number of processes on any number of machines that see the folder work on it, start
 * and end as they like, and need nothing but that folder to agree.
 *
 *     .batch/batch.json           the command, its words, where it was given, how it is run
 *     .batch/pieces/0012/list     a thousand pieces: a JSON object a line
 *     .batch/pieces/0012/0012034.2.claim   somebody does this piece, for the second time: app/batch_claim.h
 *     .batch/pieces/0012/0012034.1.end     how the first time ended
 *     .batch/pieces/0012/0012034.1.log     what it said
 *     .batch/pieces/0012/0012034.done      it is done; by which attempt
 *     .batch/work/0012034.2/      the run folder of that attempt: it is put in its place when the piece is done
 *     .batch/slurm/               what was handed to SLURM
 *
 * A piece is a process: skitter with the batch's words, a video and a folder. */

#define SK_BATCH_FOLDER ".batch"
#define SK_BATCH_SHARD  1000 /* pieces a folder */
#define SK_BATCH_PATH   4352
#define SK_BATCH_MOST   10000000 /* pieces */

typedef enum sk_batch_kind {
    SK_BATCH_VIDEO, /* a whole video */
    SK_BATCH_PART,  /* frames of one: --find-only */
    SK_BATCH_MERGE  /* what was found in the parts before it is told as one video: --found */
} sk_batch_kind;

typedef struct sk_batch_piece {
    int64_t number;
    sk_batch_kind kind;
    int64_t parts;                /* MERGE: so many before it; PART: its merge is so many behind it */
    int64_t frames_expected;      /* -1: not known */
    char *source, *name, *frames; /* name: its folder among the results; frames: "" as the words say */
} sk_batch_piece;

/* How a batch is run: none of it changes a result. */
typedef struct sk_batch_how {
    int32_t workers; /* at once; 0: one for each device, or one */
    int32_t retries; /* how often a piece that failed is tried again */
    int32_t losses;  /* … that was stopped, preempted or lost its machine */
    char *devices;   /* GPUs that workers share: "cuda:0,cuda:1"; null: none */
    bool slurm;
    char *partition, *time, *gpus, *memory, *cpus;
    char **modules, **sbatch; /* lines; ended by null, null: none */
    int32_t pieces_per_task;  /* 0: as many as SLURM's longest array needs */
} sk_batch_how;

typedef struct sk_batch {
    char *out;     /* from the root */
    char *program; /* skitter */
    char id[17];   /* of this batch alone */
    char *command; /* "track" */
    char **words;  /* of the command, but for video and folder; ended by null */
    char *
        *stamps;  /* what was in the files that words name (batch_stamp.c); null: an older skitter began it */
    char *folder; /* that was the current one when it was begun: words and videos are relative to it */
    char *frames; /* --frames of the words; null */
    int64_t split; /* frames a part; 0: videos stay whole */
    int64_t pieces, videos;
    int64_t round; /* how often it was started by a person: each time pieces that failed are tried again */
    sk_batch_how how;
    /* By the last sk_batch_refresh: what there is of each piece. Null: ask the files */
    unsigned char *seen;     /* SK_BATCH_SEEN_… */
    int64_t *seen_done;      /* done pieces of each shard */
    sk_batch_piece **shards; /* of SK_BATCH_SHARD; read when they are asked for */
} sk_batch;

typedef struct sk_batch_wish {
    const char *out, *command;
    char *const *words; /* ended by null */
    const sk_source_list *videos;
    int64_t split;
    const sk_source_settings *media; /* which frames are wanted */
    const char *why_whole;           /* why videos cannot be split; null: they can */
    const sk_batch_how *how;         /* copied */
    bool restart;                    /* what a batch left in this folder is removed first */
    bool dry;                        /* nothing is written: pieces are made in memory */
    void (*tell)(void *context, const char *note);
    void (*alive)(
        void *context); /* called for every video: opening many takes long; null: nobody waits for that */
    void *context;
} sk_batch_wish;

/* Begins a batch, or goes on with the one that is there: the same words, and its videos or more. */
sk_status sk_batch_begin(const sk_batch_wish *wish, sk_batch **out, sk_error *err) SK_MUST_CHECK;
/* One that is there; `out` may also be its .batch folder. */
sk_status sk_batch_open(const char *out, sk_batch **batch, sk_error *err) SK_MUST_CHECK;
void sk_batch_close(sk_batch **batch);

enum { SK_BATCH_SEEN_NOTHING, SK_BATCH_SEEN_CLAIM, SK_BATCH_SEEN_DONE };
/* Lists the folders of pieces, but for those in which all are done: one question for a thousand pieces, not a thousand or two. What is
 * seen may be old by the time it is used; claims are what counts. */
sk_status sk_batch_refresh(sk_batch *batch, sk_error *err) SK_MUST_CHECK;

/* Borrowed; null with an error where its list cannot be read. */
const sk_batch_piece *sk_batch_piece_of(sk_batch *batch, int64_t number, sk_error *err);
/* What to answer where it gave null: memory may have run out, too. */
static inline sk_status sk_batch_piece_lacking(const sk_error *why)
{
    return why && why->code != SK_OK ? why->code : SK_ERR_FORMAT;
}
/* Paths, into buffers of SK_BATCH_PATH: in .batch; of a piece's file ("%d" of its attempt and an ending), and of its work. Each
 * returns the buffer. */
const char *sk_batch_path(const sk_batch *batch, const char *name, char *buffer);
const char *sk_batch_file(const sk_batch *batch, int64_t number, int32_t attempt, const char *ending,
                          char *buffer);
const char *sk_batch_work_path(const sk_batch *batch, int64_t number, int32_t attempt, char *buffer);
const char *sk_batch_result_path(const sk_batch *batch, const sk_batch_piece *piece, char *buffer);

/* Somebody has asked for the end of all work (cancel), or taken that back. */
bool sk_batch_is_cancelled(const sk_batch *batch);
sk_status sk_batch_set_cancelled(const sk_batch *batch, bool cancelled, sk_error *err) SK_MUST_CHECK;

/* --- one piece's process (batch_child.c) --- */

/* The words of it, ended by null, for this attempt; `slot` chooses among the devices, -1: as a person would type them. Ended by sk_batch_words_free. */
sk_status sk_batch_words(sk_batch *batch, const sk_batch_piece *piece, int32_t attempt, int32_t slot,
                         char ***words, sk_error *err) SK_MUST_CHECK;
void sk_batch_words_free(char **words);
/* As a person types them in a shell. */
void sk_batch_line(char *const *words, sk_text *line);

#endif
