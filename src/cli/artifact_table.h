/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_ARTIFACT_TABLE_H
#define SK_CLI_ARTIFACT_TABLE_H

#include "base/json_write.h"
#include "runtime/artifact.h"

/* A row of 'skitter artifacts', as a line on standard output or as an object. did: what became of it; null: it is only shown. */
void sk_cli_print_artifact(const sk_artifact_row *row, const char *did);
void sk_cli_print_artifact_json(sk_json *json, const sk_artifact_row *row, const char *did);

#endif
