/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_UNKNOWN_H
#define SK_CLI_UNKNOWN_H

#include "base/error.h"

/* SK_ERR_ARG with the right or the nearest command as the hint. `argv` is what was given, with the name. */
sk_status sk_cli_unknown_command(const char *name, int argc, const char *const *argv, sk_error *err);

#endif
