/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_EVAL_TABLE_H
#define SK_CLI_EVAL_TABLE_H

#include "eval/eval.h"

/* The report as tables on standard output, its notes on standard error. */
void sk_cli_print_eval(const sk_eval_report *report);

#endif
