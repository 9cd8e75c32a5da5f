/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_SUMMED_H
#define SK_TESTS_ENGINES_SUMMED_H

#include "base/memory.h"
#include "engines/engine.h"
#include "graph/builder.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* 4 x 4, sums of 3 x 3 and a half: what libraries that stand in for others' compute. */
static inline sk_graph *summed_graph(void)
{
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, 1, 1, 4, 4), w = sk_shape_of(4, 1, 1, 3, 3),
                   one = sk_shape_of(1, 1);
    const float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, half = 0.5f;
    const sk_window window = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0};
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    sk_value in = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
    sk_b_output(&b,
                sk_b_conv(&b, in, sk_b_constant(&b, "w", SK_DTYPE_F32, &w, ones),
                          sk_b_constant(&b, "b", SK_DTYPE_F32, &one, &half), &window, 1, "conv"),
                "y");
    assert_ok(b.status, &b.error);
    return g;
}

static inline sk_session_settings summed_settings(const char *options)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = 1;
    s.slots = 2;
    s.cache_dir = "";
    snprintf(s.options, sizeof s.options, "%s", options);
    return s;
}

/* Opened, each of its two slots run once, closed; `about`, where not null: what the session says of itself. */
static inline sk_status summed_use(const char *engine, const sk_session_settings *settings, const sk_graph *g,
                                   sk_session_info *about, sk_error *err)
{
    const sk_shape shape = sk_shape_of(4, 1, 1, 4, 4);
    sk_session *s = NULL;
    float x[2][16];
    sk_status status;
    SK_TRY(sk_session_open(sk_engine_find(engine), g, &shape, 1, settings, &s, err));
    if (about)
        *about = *sk_session_about(s);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 16; i++)
            x[k][i] = (float)(k + 1);
        const sk_session_input input = {.data = x[k]};
        SK_TRY_GOTO(sk_session_submit(s, &input, 1, err));
    }
    for (int k = 0; k < 2; k++) {
        sk_tensor y;
        SK_TRY_GOTO(sk_session_wait(s, &y, 1, err));
        assert_true(((const float *)y.data)[0] == 4.0f * (float)(k + 1) + 0.5f);
        assert_true(((const float *)y.data)[5] == 9.0f * (float)(k + 1) + 0.5f);
    }
done:
    sk_session_close(&s);
    return status;
}

static inline void *summed_library(const char *variable, const char *name, int flags)
{
    char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/%s.so", build ? build : ".", name);
    if (variable)
        setenv(variable, path, 1);
    void *library = dlopen(path, flags);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

/* In a process of its own, as a library is loaded once in each. */
static inline void summed_apart(void (*what)(const void *), const void *context, const char *name)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        what(context);
        _exit(0);
    }
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (ended != 0)
        fail_msg("%s", name);
}

#endif
