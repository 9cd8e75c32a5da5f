/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/network_options.h"

#include <string.h>

sk_heads sk_cli_heads(const sk_args *args)
{
    const char *when = sk_args_text(args, "nms");
    return strcmp(when, "on") == 0    ? SK_HEADS_ONE_TO_MANY
           : strcmp(when, "off") == 0 ? SK_HEADS_ONE_TO_ONE
                                      : SK_HEADS_AUTO;
}

sk_rect sk_cli_rect(const sk_args *args)
{
    const char *when = sk_args_text(args, "rect");
    return strcmp(when, "on") == 0 ? SK_RECT_ON : strcmp(when, "off") == 0 ? SK_RECT_OFF : SK_RECT_AUTO;
}
