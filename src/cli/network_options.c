/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/network_options.h"

#include "base/file.h"
#include "cli/cli.h"
#include "models/quantised.h"

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

bool sk_cli_openvino_throughput(const sk_args *args)
{
    return strcmp(sk_args_text(args, "openvino-hint"), "throughput") == 0;
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

/* The loss is that of eight bits, whatever is computed in. */
static const char *of_other_precision(const sk_args *args, const sk_quantised *q)
{
    const char *asked = sk_args_text(args, "precision");
    if (!asked || !q->measured || strcmp(asked, "i8") == 0 || strcmp(asked, "fp8") == 0)
        return "";
    return ". That is the loss of eight bits; with another --precision only the weights are rounded, and "
           "less "
           "is lost";
}

sk_status sk_cli_judge_loss(const sk_args *args, const char *const *models, int32_t n_models, sk_error *err)
{
    const double most = sk_args_real(args, "max-loss");
    for (int32_t i = 0; i < n_models; i++) {
        sk_quantised q;
        bool is = false;
        char text[SK_QUANTISED_TEXT];
        SK_TRY(sk_quantised_look(models[i], &q, &is, err));
        if (!is)
            continue;
        sk_quantised_text(&q, text);
        if (sk_args_given(args, "max-loss") && !q.made_by[0])
            return sk_fail(
                err, SK_ERR_MISMATCH,
                "%s: refused by --max-loss %g: %s\n'skitter quantize' makes and measures one from the "
                "model in f32; or leave --max-loss out",
                models[i], most, text);
        if (sk_args_given(args, "max-loss") && !q.measured)
            return sk_fail(
                err, SK_ERR_MISMATCH,
                "%s: refused by --max-loss %g: %s\n'skitter quantize' of %s with frames in which there is "
                "something to find (--data, a lower --conf or --peak-threshold); or leave --max-loss out",
                models[i], most, text, q.source);
        if (sk_args_given(args, "max-loss") && sk_quantised_told_loss(&q) > most)
            return sk_fail(
                err, SK_ERR_MISMATCH,
                "%s: refused by --max-loss %g: %s\n'skitter quantize' with --precision mixed, more or "
                "better --data helps, or the model in f32 (%s)",
                models[i], most, text, q.source);
        sk_cli_say("%s: %s%s", sk_path_name(models[i]), text, of_other_precision(args, &q));
    }
    return SK_OK;
}
