/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_SESSION_SETTINGS_H
#define SK_RUNNER_SESSION_SETTINGS_H

#include "engines/engine.h"
#include "tasks/detector_settings.h"

/* The one way from what a person asks for to a session's settings. Whoever opens a network begins here, so that no command
 * forgets what another one heeds; slots, input form, tail and stages are then the caller's own business. */

typedef struct sk_network_wish {
    int32_t threads;        /* 0: all cores */
    sk_precision precision; /* 0: the engine's usual one */
    const char *options;    /* the engine's own (engines/options.h); may be null */
    /* Words that are older than options; each becomes one. */
    bool no_winograd;            /* winograd=off */
    const char *provider;        /* provider=… */
    const char *openvino_device; /* device=… */
    bool openvino_throughput;    /* hint=throughput */
    bool one_of_several; /* runtimes: each takes the provider only where it has one; else that is refused */
} sk_network_wish;

/* SK_ERR_ARG for a precision that nobody knows. */
sk_status sk_network_wish_of(const sk_detector_settings *settings, sk_network_wish *out,
                             sk_error *err) SK_MUST_CHECK;

/* Settings for a session on `engine`; SK_ERR_ARG for options it does not have. */
sk_status sk_session_settings_of(const sk_engine *engine, const sk_network_wish *wish,
                                 sk_session_settings *out, sk_error *err) SK_MUST_CHECK;

#endif
