/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_WRITTEN_H
#define SK_TESTS_RESULTS_WRITTEN_H

/* What tests of result files write: a run's header, frames with numbers of their own, a whole file of one format. */
#include "base/text.h"
#include "formats/hdf5_file.h"
#include "results/sink.h"
#include "support/test.h"

#include "video_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool tracked; /* the run follows animals */

static inline sk_run_header header(void)
{
    sk_run_header h = video_header();
    h.n_models = 1;
    h.model_paths[0] = "m.pt";
    h.model_hashes[0] = "0123456789abcdef0123";
    h.tracked = tracked;
    return h;
}

static bool followed; /* instances belong to tracks */
/* Frame i has i instances with numbers that depend on both. */
static inline const sk_result_frame *frame_number(int i)
{
    static sk_found items[8];
    static sk_keypoint points[16];
    static sk_instances all;
    static sk_result_frame frame;
    all = (sk_instances){.count = i, .capacity = 8, .items = items, .n_keypoints = 2, .keypoints = points};
    for (int k = 0; k < i; k++) {
        float v = (float)(10 * i + k);
        items[k] = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .class_id = k & 1,
                              .score = 0.5f,
                              .box = {v, v + 1, v + 2, v + 3},
                              .first_keypoint = 2 * k,
                              .track_id = followed ? k : -1};
        points[2 * k] = (sk_keypoint){v, v + 0.5f, 0.9f};
        points[2 * k + 1] = (sk_keypoint){NAN, NAN, 0};
    }
    frame = (sk_result_frame){
        .source = "in.mp4", .index = i, .time = i * 0.04, .width = 640, .height = 480, .instances = &all};
    return &frame;
}

static inline char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char text[1 << 16];
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static inline const char *write_all(const char *name)
{
    static char path[4400];
    sk_error err = {0};
    const sk_sink_kind *kind = sk_sink_find(name);
    assert_non_null(kind);
    snprintf(path, sizeof path, "%s/%s", test_folder(), kind->file);
    sk_run_header h = header();
    sk_sink *sink = NULL;
    assert_ok(kind->open(path, &h, &sink, &err), &err);
    for (int i = 0; i < 3; i++) {
        assert_ok(sink->write(sink, frame_number(i), &err), &err);
        assert_ok(sink->flush(sink, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    return path;
}

/* The first text of a dataset, which the caller frees, and how many there are. */
static inline char *text_in(const char *path, const char *dataset, int64_t *rows)
{
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_texts(file, dataset, &texts, &err), &err);
    if (rows)
        *rows = (int64_t)texts.count;
    char *first = texts.count ? sk_strdup(sk_hdf5_text_at(&texts, 0)) : NULL;
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
    return first;
}

#endif
