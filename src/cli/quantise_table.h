/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_QUANTISE_TABLE_H
#define SK_CLI_QUANTISE_TABLE_H

#include "app/quantize.h"

/* What 'skitter quantize' made and lost, on standard output. layers: a row of each, too. */
void sk_cli_print_quantised(const char *output, const sk_quantize_report *report, bool layers);
sk_status sk_cli_print_quantised_json(const sk_quantize_report *report, sk_error *err) SK_MUST_CHECK;

#endif
