/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_CONSUMER_H
#define SK_APP_CONSUMER_H

#include "app/run_folder.h"
#include "results/sink.h"
#include "skitter/frame.h"

/* Who takes the frames of a run and what was found in them while they pass: the journal, the result files, crops, the
 * overlay, progress, a tap. A run has an ordered list of them; each frame goes through the list from the first to the last,
 * frames in their order, all on one thread and under no lock. docs/add_a_consumer.md shows how one is made.
 *
 *     settle     the source is known: the files may still be named after it
 *     begin      before the first frame, once the run's folder has begun: files are opened
 *     retell     a frame that an earlier part of the run finished, when a run goes on
 *     take       a frame that is finished now
 *     complete   no more frames come, also after a failure: all that was taken is whole, and on the disk
 *     end        the folder has been told whether the run has reached its end: what rests on that
 *     close      frees
 *
 * begin, take and retell stop at the first error. complete and end reach every consumer that has begun, whatever failed
 * before; the first error is the run's. */

typedef struct sk_consumer sk_consumer;

/* What a consumer needs of a frame. Who needs neither lets frames of video go back to the decoder as soon as the network
 * has read them, in whatever form and memory suits the network. */
enum {
    SK_NEEDS_PIXELS = 1,   /* the frame itself, RGB or BGR in host memory, until take returns */
    SK_NEEDS_NAMES = 2,    /* the path of the picture it came from */
    SK_NEEDS_PROBLEMS = 4, /* also entries of pictures that could not be read (sk_result_frame.problem) */
    SK_NEEDS_TURNS = 8     /* that no other one that needs this is at work at the same time */
};

/* A frame on its way through the list; all borrowed for the call. */
typedef struct sk_passing {
    const sk_result_frame *result; /* a consumer may put another in its place, for those behind it */
    const sk_frame *frame;         /* null where nobody needs pixels */
    double seconds;                /* since the first frame of this part was asked for */
    bool stop; /* a consumer sets it: this frame goes through the rest of the list, and is the last */
} sk_passing;

typedef struct sk_consumer_kind {
    const char *name;
    /* All may be null: there is nothing to do then. Header and folder are borrowed until close. */
    sk_status (*begin)(sk_consumer *consumer, const sk_run_header *header, sk_run_folder *folder,
                       sk_error *err);
    /* `entry`: how many came before it. One that needs pixels writes nothing here, and says in *lacks (false before the
     * call) whether it has not got this frame: take is then called with the frame, which was read again. */
    sk_status (*retell)(sk_consumer *consumer, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err);
    sk_status (*take)(sk_consumer *consumer, sk_passing *passing, sk_error *err);
    sk_status (*complete)(sk_consumer *consumer, sk_error *err);
    sk_status (*end)(sk_consumer *consumer, bool finished, sk_error *err);
    void (*close)(sk_consumer *consumer);
    void (*settle)(sk_consumer *consumer, const sk_run_header *header);
} sk_consumer_kind;

#define SK_CONSUMER_FILES 16

/* Begins every consumer's own structure. */
struct sk_consumer {
    const sk_consumer_kind *kind;
    uint32_t needs;                           /* SK_NEEDS_… */
    const char *files[SK_CONSUMER_FILES + 1]; /* what it writes in the run's folder, ended by null */
    int64_t has; /* set by begin: so many frames from the run's first need not be played to it again */
    /* The list's: */
    bool begun;
    double seconds; /* spent in take */
};

#define SK_CONSUMERS_MOST 32

/* Starts as {0}; ended by sk_consumers_close. */
typedef struct sk_consumers {
    int32_t count;
    sk_consumer *items[SK_CONSUMERS_MOST];
} sk_consumers;

/* The list owns it from here on, also where it cannot be added. Null is a consumer there was no memory for. */
sk_status sk_consumers_add(sk_consumers *list, sk_consumer *consumer, sk_error *err) SK_MUST_CHECK;
void sk_consumers_close(sk_consumers *list);

uint32_t sk_consumers_needs(const sk_consumers *list);                   /* of all together */
double sk_consumers_seconds(const sk_consumers *list, const char *name); /* in take, of those called so */

/* Every file that they write and run.json, ended by null; what is drawn and cut out last. */
void sk_consumers_files(const sk_consumers *list,
                        const char *files[SK_CONSUMER_FILES * SK_CONSUMERS_MOST + 2]);

/* Before their files are asked for. */
void sk_consumers_settle(sk_consumers *list, const sk_run_header *header);
sk_status sk_consumers_begin(sk_consumers *list, const sk_run_header *header, sk_run_folder *folder,
                             sk_error *err) SK_MUST_CHECK;
/* `begin_ns`: when the first frame was asked for, by sk_clock_ns. */
sk_status sk_consumers_take(sk_consumers *list, sk_passing *passing, int64_t begin_ns,
                            sk_error *err) SK_MUST_CHECK;
/* Both give `status` where it is a failure already, and else the first of their own. */
sk_status sk_consumers_complete(sk_consumers *list, sk_status status, sk_error *err) SK_MUST_CHECK;
sk_status sk_consumers_end(sk_consumers *list, bool finished, sk_status status, sk_error *err) SK_MUST_CHECK;

#endif
