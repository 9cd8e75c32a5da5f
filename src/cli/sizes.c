/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sizes.h"

#include <stdio.h>

sk_status sk_cli_parse_size(const char *text, int32_t *height, int32_t *width, sk_error *err)
{
    char rest = 0;
    int h = 0, w = 0;
    if (!text)
        return SK_OK;
    if (sscanf(text, "%d%c", &h, &rest) == 1)
        w = h;
    else if (sscanf(text, "%dx%d%c", &h, &w, &rest) != 2)
        h = 0;
    if (h < 1 || w < 1 || h > 65536 || w > 65536)
        return sk_fail(err, SK_ERR_ARG, "--imgsz %s: give a side (640) or height x width (480x640)", text);
    *height = h;
    *width = w;
    return SK_OK;
}
