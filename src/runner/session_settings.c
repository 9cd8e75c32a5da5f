/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/session_settings.h"

sk_status sk_network_wish_of(const sk_detector_settings *settings, sk_network_wish *out, sk_error *err)
{
    *out = (sk_network_wish){.threads = settings->threads,
                             .options = settings->engine_options,
                             .no_winograd = !settings->winograd,
                             .provider = settings->provider,
                             .openvino_device = settings->openvino_device,
                             .openvino_throughput = settings->openvino_throughput};
    return sk_precision_read(settings->precision, &out->precision, err);
}

/* "cpu.winograd=off": is there such an engine? */
static sk_status check_scopes(const char *text, sk_error *err)
{
    const char *names[32];
    char name[64];
    size_t count = 0;
    for (int32_t i = 0; i < sk_engine_count() && count < 32; i++)
        names[count++] = sk_engine_at(i)->name;
    for (const char *at = text; sk_options_scope(&at, name, sizeof name);) {
        if (sk_engine_find(name))
            continue;
        const char *meant = sk_text_suggest(name, names, count);
        return sk_fail(err, SK_ERR_ARG,
                       "no engine is called '%s'%s%s%s: an option is KEY=VALUE or ENGINE.KEY=VALUE", name,
                       meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "");
    }
    return SK_OK;
}

static sk_status refuse_provider(const sk_engine *engine, const char *provider, sk_error *err)
{
    const char *other = NULL;
    SK_TRY(sk_engine_of_provider(provider, &other, err));
    return sk_fail(err, SK_ERR_ARG,
                   "an execution provider (%s) is ONNX Runtime's; '%s' has none\nleave it out, or choose the "
                   "runtime '%s'",
                   provider, engine->name, other);
}

sk_status sk_session_settings_of(const sk_engine *engine, const sk_network_wish *wish,
                                 sk_session_settings *out, sk_error *err)
{
    const sk_engine_option *table = engine->options;
    *out = sk_session_defaults();
    out->threads = wish->threads;
    out->precision = wish->precision;
    char *text = out->options;
    /* settings that engines without them leave alone; the command line refuses those (cli/applies.h) */
    if (wish->no_winograd)
        SK_TRY(sk_options_put_known(text, table, "winograd", "off", err));
    if (wish->openvino_throughput)
        SK_TRY(sk_options_put_known(text, table, "hint", "throughput", err));
    if (wish->openvino_device && wish->openvino_device[0])
        SK_TRY(sk_options_put_known(text, table, "device", wish->openvino_device, err));
    if (wish->provider && wish->provider[0]) {
        if (!wish->one_of_several && !sk_options_find(table, "provider"))
            return refuse_provider(engine, wish->provider, err);
        SK_TRY(sk_options_put_known(text, table, "provider", wish->provider, err));
    }
    SK_TRY(sk_options_add(text, wish->options, err));
    SK_TRY(check_scopes(text, err));
    return sk_options_check(engine->name, table, text, err);
}
