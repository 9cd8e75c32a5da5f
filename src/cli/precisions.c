/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/precisions.h"

#include "engines/engine.h"

#include <stdio.h>
#include <string.h>

/* The next one after `last`, 0 at the beginning; 0: no more. The usual one comes first. */
static int next(const sk_capabilities *can, int last)
{
    const int usual = (int)sk_precision_settle(can, SK_PRECISION_AUTO);
    if (last == 0)
        return can->precisions & 1u << usual ? usual : 0;
    for (int p = last == usual ? 1 : last + 1; p < 32; p++)
        if (p != usual && (can->precisions & 1u << p))
            return p;
    return 0;
}

const char *sk_cli_precisions(const sk_capabilities *can, char text[SK_PRECISIONS_TEXT])
{
    text[0] = '\0';
    for (int p = next(can, 0); p; p = next(can, p)) {
        const size_t at = strlen(text);
        snprintf(text + at, SK_PRECISIONS_TEXT - at, "%s%s", at ? ", " : "",
                 sk_precision_name((sk_precision)p));
    }
    return text;
}

void sk_cli_json_precisions(sk_json *json, const sk_capabilities *can)
{
    sk_json_key_array(json, "precisions");
    for (int p = next(can, 0); p; p = next(can, p))
        sk_json_string(json, sk_precision_name((sk_precision)p));
    sk_json_close(json);
}
