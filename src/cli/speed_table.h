/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SPEED_TABLE_H
#define SK_CLI_SPEED_TABLE_H

#include "app/speed.h"

/* What 'skitter run' measured, on standard output. basic: with the side without the runner. */
void sk_cli_print_speed(const sk_speed_report *report, bool basic);
sk_status sk_cli_print_speed_json(const sk_speed_report *report, bool basic, const char *mode,
                                  sk_error *err) SK_MUST_CHECK;

#endif
