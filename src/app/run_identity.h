/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_IDENTITY_H
#define SK_APP_RUN_IDENTITY_H

#include "app/predict.h"
#include "media/reader.h"
#include "results/sink.h"

/* What a run is: everything that shapes its result, in words. The headers of its files say it, and a folder is continued
 * only by the run that began it. */

typedef struct sk_run_identity {
    char settings[1024];    /* "conf 0.25; iou 0.7; …", for the headers */
    char fingerprint[4096]; /* settings, source, runtime and models */
} sk_run_identity;

/* How the run reads video: as the program that made the model, or as the file says. */
sk_source_colours sk_run_colours_of(const sk_predict_settings *settings, const sk_detector_info *about);

void sk_run_identity_of(const sk_predict_settings *settings, const sk_detector_info *about,
                        sk_run_identity *identity);

/* The header of the run's files; everything in it is borrowed. */
void sk_run_header_of(const sk_predict_settings *settings, const sk_detector_info *about,
                      const sk_source_info *source, const sk_run_identity *identity, sk_run_header *header);

#endif
