/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_PREDICT_FIXTURE_H
#define SK_TESTS_APP_PREDICT_FIXTURE_H

#include "runner/runner_fixture.h"

#include "app/predict.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include "text_of.h"

/* Runs of a tiny network over small pictures. */

static char network[4300]; /* which network: the test saves it */

/* Pictures 000.png, 001.png and so on, each another one. */
static inline void put_pictures(const char *folder, int count)
{
    char path[256];
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = make_frame(48, 40, i);
        f.stride = 3 * 48;
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

/* It finds three in every picture. */
static inline sk_predict_settings quick(const char *source, const char *out)
{
    sk_predict_settings s;
    sk_predict_defaults(&s);
    s.source = source;
    s.out = out;
    s.n_models = 1;
    s.models[0] = network;
    s.detector.height = s.detector.width = 32;
    s.detector.confidence = 0.01F;
    s.detector.max_det = 3;
    s.detector.threads = 1;
    return s;
}

static inline int count_of(const char *folder, const char *name, const char *word)
{
    char *text = text_of(folder, name);
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    sk_free(text);
    return n;
}

#endif
