/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SIZES_H
#define SK_CLI_SIZES_H

#include "base/error.h"

#include <stdint.h>

/* --imgsz: a side ("640") or height x width ("480x640"). A null text leaves both as they are. */
sk_status sk_cli_parse_size(const char *text, int32_t *height, int32_t *width, sk_error *err) SK_MUST_CHECK;

#endif
