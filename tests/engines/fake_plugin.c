/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that are wrong, each in its own way, and one that is right; FAKE says which. */
#include "engines/border.h"

enum { EMPTY, NO_TABLE, OTHER_VERSION, OTHER_HASH, OTHER_NAME, HOLES, GOOD };

#if FAKE == 0
int fake_plugin_is_empty;
#else
static sk_status probe(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    *out = (sk_engine_probe){.available = 0, .detail = "a fake: it has no device"};
    return SK_OK;
}
static sk_status supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph;
    (void)settings;
    (void)err;
    return SK_ERR_UNSUPPORTED;
}
static sk_status open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                      sk_error *err)
{
    (void)out;
    return supports(graph, settings, err);
}
static sk_status submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    (void)session;
    (void)slot;
    (void)inputs;
    (void)err;
    return SK_ERR_RUNTIME;
}
static sk_status wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    (void)session;
    (void)slot;
    (void)outputs;
    (void)err;
    return SK_ERR_RUNTIME;
}
static void close(sk_session *session)
{
    (void)session;
}

static const sk_engine engine = {
    .name = FAKE == OTHER_NAME ? "other" : "fake",
    .title = "fake",
    .probe = probe,
    .supports = supports,
    .open = FAKE == HOLES ? NULL : open,
    .submit = submit,
    .wait = wait,
    .close = close,
};

const sk_plugin *SK_PLUGIN_ENTRY(void);
const sk_plugin *SK_PLUGIN_ENTRY(void)
{
    static sk_plugin table;
    table = (sk_plugin)SK_PLUGIN_TABLE("0.0.1", &engine);
    table.border += FAKE == OTHER_VERSION ? 7 : 0;
    table.hash += FAKE == OTHER_HASH ? 1 : 0;
    return FAKE == NO_TABLE ? NULL : &table;
}
#endif
