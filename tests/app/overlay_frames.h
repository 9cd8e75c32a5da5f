/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_OVERLAY_FRAMES_H
#define SK_TESTS_APP_OVERLAY_FRAMES_H

#include "support/test.h"

#include "skitter/source.h"

#include <stdlib.h>

/* How many frames a video has, all of this size and each where it should be: its brightness tells which it is. */
static inline int64_t frames_of(const char *path, int32_t width, int32_t height)
{
    sk_error err = {0};
    sk_source *source = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    int64_t n = 0;
    sk_source_defaults(&s);
    assert_ok(sk_source_open(path, &s, &source, &err), &err);
    for (const sk_frame *f = NULL;; n++) {
        assert_ok(sk_source_next(source, &f, &err), &err);
        if (!f)
            break;
        assert_true(f->width == width && f->height == height);
        const int level = f->data[10 * f->stride + 30];
        assert_true(abs(level - (40 + (int)(n % 10) * 20)) < 8);
        sk_source_release(source, f);
    }
    sk_source_close(&source);
    return n;
}

#endif
