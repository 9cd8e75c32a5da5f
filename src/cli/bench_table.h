/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_BENCH_TABLE_H
#define SK_CLI_BENCH_TABLE_H

#include "app/bench.h"

/* What 'skitter bench' measured, a row for each of the settings' runtimes, on standard output. */
void sk_cli_print_bench(const sk_bench_settings *settings, const sk_bench_result *results);
sk_status sk_cli_print_bench_json(const sk_bench_settings *settings, const sk_bench_result *results,
                                  sk_error *err) SK_MUST_CHECK;

#endif
