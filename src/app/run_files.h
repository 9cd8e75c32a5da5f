/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_FILES_H
#define SK_APP_RUN_FILES_H

#include "results/sink.h"
#include "skitter/pipeline.h"

/* The files that computed in the models' places, over all parts of a run. */
typedef struct sk_run_files {
    int32_t count;
    sk_pipeline_file items[SK_RUN_MAX_FILES];
} sk_run_files;

/* What an earlier part wrote into run.json; nothing where that cannot be read. */
void sk_run_files_read(const char *folder, sk_run_files *files);
/* Adds what this part's pipeline has run so far, and puts all of them into the header, which borrows from `files`. */
void sk_run_files_note(sk_run_files *files, sk_pipeline *pipeline, sk_run_header *header);

#endif
