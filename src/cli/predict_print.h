/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_PRINT_H
#define SK_CLI_PREDICT_PRINT_H

#include "app/predict.h"

#include <stdio.h>

/* What predict says of a run that ended; `requested` is the runtime as the user named it. */
void sk_cli_predict_summary(FILE *to, const sk_predict_report *report, const char *requested);
/* How often the source failed, if it did: a line of that summary. */
void sk_cli_predict_source(FILE *to, const sk_source_status *source);
/* The same as members of the object that is open. */
void sk_cli_predict_json(sk_json *json, const sk_predict_report *report, const char *requested);

#endif
