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

sk_status sk_cli_engine_options(const sk_args *args, char text[SK_OPTIONS_TEXT], const char **out,
                                sk_error *err)
{
    text[0] = '\0';
    for (size_t i = 0; i < sk_args_count(args, "engine-option"); i++)
        SK_TRY(sk_options_add(text, sk_args_at(args, "engine-option", i), err));
    *out = text[0] ? text : NULL;
    return SK_OK;
}
