/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_RECORD_H
#define SK_APP_RUN_RECORD_H

#include "results/sink.h"

/* What run.json says of a run, read back: for who looks at a run's folder without being its run. Of any version of skitter. */
typedef struct sk_run_record sk_run_record;

/* SK_ERR_NOT_FOUND where the folder is none of a run, with what helps; SK_ERR_FORMAT where run.json cannot be understood. */
sk_status sk_run_record_open(const char *folder, sk_run_record **out, sk_error *err) SK_MUST_CHECK;
void sk_run_record_close(sk_run_record **record);

/* The header of the run's files, borrowed until close. `has` is what its task finds; 0 where that is not known. */
const sk_run_header *sk_run_record_header(const sk_run_record *record);
const char *sk_run_record_state(const sk_run_record *record); /* "finished" … "": not said */
int64_t sk_run_record_frames(const sk_run_record *record);    /* when it was written */
/* A member of the run's identity; null: it has none of this name. */
const char *sk_run_record_identity(const sk_run_record *record, const char *name);
/* Every member's line, as sk_run_identity.text, but for those of which `leave` says so (null: none). */
sk_status sk_run_record_identity_text(const sk_run_record *record, bool (*leave)(const char *name),
                                      sk_text *out, sk_error *err) SK_MUST_CHECK;

#endif
