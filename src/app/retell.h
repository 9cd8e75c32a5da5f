/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RETELL_H
#define SK_APP_RETELL_H

#include "app/consumer.h"
#include "skitter/source.h"

/* What the folder knows, played to the consumers of a run that goes on: first to those that want results alone, then,
 * where one that draws or cuts lacks a frame (after a kill, or because it is asked for only now), with the frame, read
 * again. */
typedef struct sk_retell {
    sk_run_folder *folder;
    const sk_run_header *header;
    sk_consumers *consumers; /* begun */
    const char *source;
    const sk_source_settings *media; /* frames as RGB in memory */
    /* What consumers are told in the frame's place; `entry` counts from 0, anew for every time the frames are gone through.
     * Null: the frame as the folder knows it. */
    sk_status (*tell)(void *context, int64_t entry, const sk_result_frame *known, sk_result_frame *told,
                      sk_error *err);
    void *context;
    bool side_by_side; /* those that want results alone know nothing of each other: each has a thread */
    bool drawn_only;   /* nobody is there who wants results alone */
} sk_retell;

sk_status sk_retell_run(const sk_retell *how, sk_error *err) SK_MUST_CHECK;

#endif
