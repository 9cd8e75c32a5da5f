/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_HELP_H
#define SK_CLI_HELP_H

#include "cli/command.h"

#include <stdio.h>

/* The overview `skitter` shows without arguments, and one command's page; both from the tables. */
void sk_help_overview(FILE *out);
void sk_help_command(FILE *out, const sk_command *command);

/* "MODEL [VIDEO...] [options]" into `text`. */
void sk_help_usage(const sk_command *command, char *text, size_t capacity);

#endif
