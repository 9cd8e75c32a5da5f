/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_BATCH_ACTIONS_H
#define SK_CLI_BATCH_ACTIONS_H

#include "cli/args.h"

#include <stdbool.h>

/* What can be done with a batch that was begun: status, cancel, merge, work. */

bool sk_cli_batch_is_action(const char *name);
/* `named`: the folder of the results, or a plan; null: --out says it. */
sk_status sk_cli_batch_act(const char *name, const sk_args *args, const char *named,
                           sk_error *err) SK_MUST_CHECK;

#endif
