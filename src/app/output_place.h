/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_OUTPUT_PLACE_H
#define SK_APP_OUTPUT_PLACE_H

#include "base/file.h"
#include "base/lock.h"

/* Whether a file may be written where a person wants it; asked before the work, not after it. */

/* What the command reads, and so never writes over, whatever it is asked for. */
typedef struct sk_output_read {
    const char *name; /* "the model" */
    const char *path; /* null: none */
    bool inside;      /* of a folder: every file in there, too */
    bool model;       /* named by one file: also those that SLEAP's models and exports have beside it */
} sk_output_read;

typedef struct sk_output_place {
    const char *path;
    const char *option; /* that names it: "output" */
    bool overwrite;     /* a file that is there may be replaced */
    /* A name that says another kind of file is refused: "an ONNX file", ".onnx". Names without an extension, or with one that
     * says nothing, are taken. Null: any name. */
    const char *written, *extension;
    const sk_output_read *reads;
    size_t n_reads;
} sk_output_place;

/* Refuses what is read (by identity: other spellings, links and second names as well), a name of another kind, a folder, one in a
 * folder that is not there or cannot be written to, and a file that is there. Writes nothing. */
sk_status sk_output_place_check(const sk_output_place *place, sk_error *err) SK_MUST_CHECK;
/* The last of these alone: somebody else may have put a file there since. */
sk_status sk_output_place_check_free(const sk_output_place *place, sk_error *err) SK_MUST_CHECK;
/* Held until the file is there: of two that make it at once the later would win, without a word to either. The second is
 * SK_ERR_BUSY; ended by sk_lock_remove. */
sk_status sk_output_place_hold(const char *output, sk_lock **out, sk_error *err) SK_MUST_CHECK;

#endif
