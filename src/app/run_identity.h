/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_IDENTITY_H
#define SK_APP_RUN_IDENTITY_H

#include "app/predict.h"
#include "base/text.h"
#include "media/reader.h"
#include "models/model.h"
#include "results/sink.h"

/* What a run is: everything that shapes its result, from one table (run_identity.c). run.json says all of it, the headers
 * of result files what applies to the models, and a folder is continued only by the run that began it. */

typedef struct sk_run_identity {
    sk_text text;     /* a line a member: name, tab, value; what the journal keeps */
    sk_text settings; /* "conf 0.25; iou 0.7; …", for headers */
} sk_run_identity;

/* How the run reads video: as the program that made the model, or as the file says. */
sk_source_colours sk_run_colours_of(const sk_predict_settings *settings, const sk_pipeline_info *about);

/* What the members are told from. */
typedef struct sk_run_facts {
    const sk_predict_settings *settings;
    const sk_pipeline_info *about;
    const sk_model *const *models; /* about->n_models */
    const sk_source *source;       /* open; null in tests: no source's members */
    sk_source_info info;
} sk_run_facts;

/* Starts as {0}; ended by sk_run_identity_free. */
sk_status sk_run_identity_of(const sk_run_facts *facts, sk_run_identity *identity,
                             sk_error *err) SK_MUST_CHECK;
void sk_run_identity_free(sk_run_identity *identity);

/* What differs between two identities' texts, for people: "conf 0.25 -> 0.5, source_size 1200 -> 900". */
void sk_run_identity_difference(const char *before, const char *now, sk_text *out);
/* An object under this key with every member as a string. */
void sk_run_identity_json(const char *text, const char *key, sk_json *json);

/* A line of the table. */
typedef enum sk_run_shown { SK_RUN_HIDDEN, SK_RUN_ALWAYS, SK_RUN_YOLO, SK_RUN_SLEAP } sk_run_shown;
typedef enum sk_run_form {
    SK_RUN_CALL,
    SK_RUN_REAL32,
    SK_RUN_REAL,
    SK_RUN_INT,
    SK_RUN_FLAG,
    SK_RUN_TEXT
} sk_run_form;
typedef struct sk_run_member {
    const char *name;
    sk_run_shown shown; /* in headers, with models of which kind */
    sk_run_form form;
    size_t at; /* a plain setting's place in sk_predict_settings */
    void (*write)(const sk_run_facts *facts, sk_text *out);
} sk_run_member;
const sk_run_member *sk_run_identity_member(size_t index); /* null past the end */

/* The header of the run's files; everything in it is borrowed. */
void sk_run_header_of(const sk_run_facts *facts, const sk_run_identity *identity, sk_run_header *header);

#endif
