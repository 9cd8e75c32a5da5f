/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_SETTINGS_FOR_H
#define SK_BENCH_SETTINGS_FOR_H

#include "runner/network.h"
#include "runner/session_settings.h"

#include <stdio.h>
#include <stdlib.h>

/* A session's settings as every command makes them (runner/session_settings.h). `options` may be null; what is wrong ends the
 * program. Slots, input form, tail and stages are the caller's. */
static inline sk_session_settings settings_for(const sk_engine *engine, int32_t threads,
                                               sk_precision precision, const char *options)
{
    const sk_network_wish wish = {.threads = threads, .precision = precision, .options = options};
    sk_session_settings s;
    sk_error err = {0};
    if (sk_session_settings_of(engine, &wish, &s, &err) == SK_OK)
        return s;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

#endif
