/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_BATCH_TABLE_H
#define SK_CLI_BATCH_TABLE_H

#include "app/batch_status.h"

#include <stdio.h>

/* A batch's status for people. `most`: rows of single pieces; more are counted. Returns how many lines it has printed. */
int sk_cli_batch_table(FILE *to, sk_batch *batch, const sk_batch_status *status, size_t most);

/* The same, drawn anew over what was there before, where the stream is a terminal; elsewhere a line when something has changed. */
typedef struct sk_cli_batch_screen {
    FILE *to;
    int lines;
    int64_t done, failed, lost, running;
} sk_cli_batch_screen;
void sk_cli_batch_draw(sk_cli_batch_screen *screen, sk_batch *batch, const sk_batch_status *status);
void sk_cli_batch_wipe(sk_cli_batch_screen *screen);

#endif
