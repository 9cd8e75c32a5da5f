/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PRECISIONS_H
#define SK_CLI_PRECISIONS_H

#include "base/json_write.h"
#include "engines/capabilities.h"

/* What an engine computes in, for people and for programs. */

#define SK_PRECISIONS_TEXT 64

/* "f32, bf16, i8": what it takes when nothing is asked for comes first. */
const char *sk_cli_precisions(const sk_capabilities *can, char text[SK_PRECISIONS_TEXT]);
/* The same names as an array under "precisions". */
void sk_cli_json_precisions(sk_json *json, const sk_capabilities *can);

#endif
