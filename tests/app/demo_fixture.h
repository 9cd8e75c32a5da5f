/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_DEMO_FIXTURE_H
#define SK_TESTS_APP_DEMO_FIXTURE_H

#include "app/demo_internal.h"
#include "base/file.h"
#include "support/test.h"

#include <string.h>

/* A small demo in a folder of the test's. */

static sk_error err;

static inline void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static inline sk_demo_settings settings(const char *out)
{
    sk_demo_settings s;
    sk_demo_defaults(&s);
    s.out = out;
    s.scene.animals = 2;
    s.scene.width = 96;
    s.scene.height = 64;
    s.scene.seed = 77;
    s.program = "./skitter & co";
    return s;
}

#endif
