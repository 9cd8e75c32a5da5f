/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_BATCH_RUN_H
#define SK_CLI_BATCH_RUN_H

#include "app/batch_claim.h"
#include "app/batch_status.h"
#include "cli/args.h"

/* A batch is begun, or goes on, and is looked after. */

/* `plan` null: the command line says all. */
sk_status sk_cli_batch_begin(const sk_args *given, const char *plan, sk_error *err) SK_MUST_CHECK;

/* Pieces are done here. `keeper` null: those of the list, one after the other, for whoever hands them out. */
sk_status sk_cli_batch_run_here(sk_batch *batch, const int64_t *pieces, int64_t count, sk_claim *keeper,
                                bool despite_cancel, bool *stopped, sk_error *err) SK_MUST_CHECK;

/* The summary, the table at the end, and what the exit code says. */
sk_status sk_cli_batch_judge(sk_batch *batch, bool stopped, bool json, sk_error *err) SK_MUST_CHECK;

#endif
