/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_ARTIFACT_H
#define SK_RUNTIME_ARTIFACT_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/memory.h"
#include "engines/engine.h"

/* Models in the forms that other runtimes read: made by themselves when one is needed, kept beside the model, found
 * again. /path/model.pt gives /path/model.onnx and /path/model.engine, a folder /path/dir gives /path/dir.onnx/ and
 * /path/dir.tensorrt/. A sidecar (<file>.skitter.json) says what a file was made from and for.
 *
 * A file without a sidecar, or other than its sidecar says, is somebody else's, and what a person exported is the
 * person's: neither is ever overwritten. Such a file is used where it fits and, run beside the model, computes what the
 * model computes; otherwise it is left alone, with a notice, and ours goes to the cache. */

#define SK_ARTIFACT_WHY     384
#define SK_ARTIFACT_CHECKS  8
#define SK_ARTIFACT_HEAD    256
#define SK_ARTIFACT_SIDECAR ".skitter.json"

/* What a file was made from and for; any difference makes it stale. */
typedef struct sk_artifact_key {
    char source[65]; /* SHA-256 of the model */
    char form[16];   /* sk_engine_form.name */
    int32_t batch, height, width;
    bool dynamic_batch; /* also for smaller batches; serves every wish of a batch up to its own (0: any) */
    bool dynamic_size;  /* any height and width */
    char precision[8];
    char heads[16]; /* of YOLO models: "one-to-many", "one-to-one"; "" = others */
    int32_t opset;
    char architecture[64]; /* of the device; "" = any */
    char library[64];      /* that it is bound to, with its version; "" = none */
    char version[40];      /* skitter's, and its exporter's: "0.1.0/1" */
} sk_artifact_key;

/* False, and the first difference in words, when they differ. */
bool sk_artifact_key_equal(const sk_artifact_key *have, const sk_artifact_key *want,
                           char why[SK_ARTIFACT_WHY]);

/* A comparison of the file, run by a runtime, with skitter's own engine. */
typedef struct sk_artifact_check {
    char runtime[32];
    char library[64];      /* "ONNX Runtime 1.31.1" */
    double pcc;            /* correlation of the worst output */
    double max_difference; /* relative to the output's largest value */
} sk_artifact_check;

/* The sidecar. Written before the file it is about, so it also names the file it replaces: whatever moment a process
 * dies at, what lies there is known for ours. */
typedef struct sk_artifact_record {
    sk_artifact_key key;
    char sha256[65];                     /* of the file … */
    char head[2 * SK_ARTIFACT_HEAD + 1]; /* … its first bytes in hex, by which a cut off file is known … */
    int64_t bytes;                       /* … and its length */
    char replaces[65];                   /* SHA-256 of our file that lay there before; "" = none */
    char model[1024];                    /* the model's path when it was made, for people */
    char made[SK_CLOCK_TEXT];
    bool exported; /* by a person ('skitter export'), not by a run for itself */
    bool sealed;   /* read from a file that this user's skitter wrote; what others wrote is not believed */
    int32_t n_checks;
    sk_artifact_check checks[SK_ARTIFACT_CHECKS];
} sk_artifact_record;

/* SK_ERR_NOT_FOUND without a sidecar; SK_ERR_FORMAT when it cannot be understood. */
sk_status sk_artifact_record_read(const char *artifact, sk_artifact_record *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_artifact_record_write(const char *artifact, const sk_artifact_record *record,
                                   sk_error *err) SK_MUST_CHECK;
void sk_artifact_record_of(const void *bytes, size_t length, sk_artifact_record *out); /* hashes and length */
const sk_artifact_check *sk_artifact_record_find(const sk_artifact_record *record, const char *runtime,
                                                 const char *library);

typedef enum sk_artifact_state {
    SK_ARTIFACT_ABSENT = 0,
    SK_ARTIFACT_FRESH,   /* ours, whole, and for this key */
    SK_ARTIFACT_STALE,   /* ours and whole, for another key */
    SK_ARTIFACT_FOREIGN, /* ours and whole, made from another model or for another device */
    SK_ARTIFACT_DAMAGED, /* ours, but cut off or altered */
    SK_ARTIFACT_USER     /* somebody else's */
} sk_artifact_state;

const char *sk_artifact_state_name(sk_artifact_state state);

/* Puts a record beside a file that a person just exported from `model`. */
sk_status sk_artifact_record_export(const char *artifact, const char *model, const sk_artifact_key *key,
                                    sk_error *err) SK_MUST_CHECK;

/* What lies at `path`. `want` may be null: FRESH then only means whole. *bytes (may be null) gets the contents, to be
 * unreferenced, for every state but ABSENT. `why` says what is the matter with anything that is not FRESH. */
sk_status sk_artifact_inspect(const char *path, const sk_artifact_key *want, sk_artifact_record *record,
                              sk_artifact_state *state, char why[SK_ARTIFACT_WHY], sk_blob **bytes,
                              sk_error *err) SK_MUST_CHECK;

/* Where a model's artifact lies: the file itself, and what must be made for it (the folder of a SLEAP model's, else the
 * file). Both of SK_ARTIFACT_PATH bytes. */
#define SK_ARTIFACT_PATH 4096
sk_status sk_artifact_place(const char *model, const sk_engine_form *form, char *file, char *container,
                            sk_error *err) SK_MUST_CHECK;

typedef enum sk_artifact_step {
    SK_ARTIFACT_WAITING = 1, /* another process is making it */
    SK_ARTIFACT_MAKING,
    SK_ARTIFACT_CHECKING,
    SK_ARTIFACT_WRITING,
    SK_ARTIFACT_DONE
} sk_artifact_step;

/* What the caller knows: how to make, judge and compare. */
typedef struct sk_artifact_maker {
    void *context;
    sk_status (*make)(void *context, uint8_t **bytes, size_t *length, sk_error *err);
    /* May a file of somebody else's stand in? The error's text says why not. */
    sk_status (*fits)(void *context, const char *path, const void *bytes, size_t length, sk_error *err);
    /* Runs the bytes and compares; a difference that is too large is SK_ERR_MISMATCH. Fills pcc and max_difference.
     * `unknown`: nothing says what the bytes were made from, so they must agree more closely. */
    sk_status (*check)(void *context, const char *path, const void *bytes, size_t length, bool unknown,
                       sk_artifact_check *out, sk_error *err);
    /* May be null. `note` is "" or who is waited for. */
    void (*tell)(void *context, sk_artifact_step step, const char *path, const char *note);
} sk_artifact_maker;

typedef enum sk_artifact_keep {
    SK_ARTIFACT_BESIDE = 0, /* beside the model; where that cannot be, in the user's cache folder */
    SK_ARTIFACT_CACHE       /* in the user's cache folder only */
} sk_artifact_keep;

typedef struct sk_artifact_wish {
    const char *model; /* path */
    const sk_engine_form *form;
    sk_artifact_key key;
    const char *runtime; /* who will run it, and … */
    const char *library; /* … with what: for the record of checks */
    sk_artifact_keep keep;
    bool must_keep; /* no place on disk is an error, instead of a notice */
    bool anew;      /* make it even where a fresh one lies */
} sk_artifact_wish;

typedef struct sk_artifact {
    sk_blob *bytes;
    char path[SK_ARTIFACT_PATH]; /* "" = only in memory */
    char sha256[65];             /* of the bytes */
    bool made;                   /* now, by us */
    bool users;                  /* somebody else's, or a person's own export */
    sk_artifact_check check;
    char notice[1024]; /* "" or what the person should know */
} sk_artifact;

/* The artifact for a wish: found, or made, checked and kept. Two processes that want the same one make it once. */
sk_status sk_artifact_obtain(const sk_artifact_wish *wish, const sk_artifact_maker *maker, sk_artifact *out,
                             sk_error *err) SK_MUST_CHECK;
void sk_artifact_release(sk_artifact *artifact);

/* --- looking after them (artifact_list.c) --- */

typedef struct sk_artifact_row {
    char path[SK_ARTIFACT_PATH];
    sk_artifact_state state; /* FRESH = whole and made from the model that lies there now */
    char why[SK_ARTIFACT_WHY];
    bool in_cache;
    bool orphan; /* its model is gone */
    bool
        unread; /* its model lies there and cannot be read, so that nobody knows whether it was made from it */
    bool stranger; /* somebody else's, and it does not compute what the model it lies beside computes */
    char beside[SK_ARTIFACT_PATH]; /* the model it was looked for, where one was named; "" otherwise */
    int64_t bytes;
    sk_artifact_record record; /* zero for somebody else's */
} sk_artifact_row;

/* Gives the current hash of a model; the runtime room does not read models. */
typedef sk_status (*sk_artifact_hash)(const char *model, char hash[65], sk_error *err);

/* All that is known: of this user's cache, and beside models it was made for. With `places` (models, artifacts or
 * folders, which are searched without their sub-folders) only what lies there. `deep`: read and hash the files; else
 * sidecars only. *rows is ended by sk_free. */
sk_status sk_artifact_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_hash hash,
                           sk_artifact_row **rows, int32_t *count, sk_error *err) SK_MUST_CHECK;
/* Takes away one of ours with its sidecar (and its folder, when nothing else is in it). */
sk_status sk_artifact_remove(const sk_artifact_row *row, sk_error *err) SK_MUST_CHECK;

/* Takes away what processes that were killed while making this artifact left beside it; nothing while one is at it. */
void sk_artifact_sweep(const char *path);

/* The user's folder for artifacts, made if absent; ended by sk_free. */
sk_status sk_artifact_cache_folder(char **out, sk_error *err) SK_MUST_CHECK;
/* Remembers that an artifact was made here, for the list; failing is no matter. */
void sk_artifact_remember(const char *path);

#endif
