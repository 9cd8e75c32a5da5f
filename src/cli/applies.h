/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_APPLIES_H
#define SK_CLI_APPLIES_H

#include "cli/command.h"

/* Options that mean nothing for this model, runtime or source are refused, not ignored: somebody who sets a threshold wants
 * it to hold. What an option needs is in its row (sk_option.needs). */

/* SK_ERR_ARG for the first option given of which a need within `asked` is not in `has`; `what` is the model, runtime or
 * source that lacks it. */
sk_status sk_cli_refuse_meaningless(const sk_args *args, uint32_t asked, uint32_t has, const char *what,
                                    sk_error *err) SK_MUST_CHECK;

/* The same for options that these models, taken together, or all these runtimes have no use for. Models are opened only
 * where an option asks for something of theirs. */
sk_status sk_cli_refuse_for_models(const sk_args *args, const char *const *models, int32_t count,
                                   sk_error *err) SK_MUST_CHECK;
sk_status sk_cli_refuse_for_runtimes(const sk_args *args, const char *const *runtimes, int32_t count,
                                     sk_error *err) SK_MUST_CHECK;

#endif
