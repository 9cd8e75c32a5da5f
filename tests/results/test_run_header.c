/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for a whole run: its rate, by the file and by the user; which frames can be of it; what formats it has. */
#include "base/log.h"
#include "base/memory.h"
#include "results/sink.h"
#include "support/test.h"

#include "video_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char heard[1024];
static int warnings;

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    assert_int_equal(level, SK_LOG_WARN);
    snprintf(heard, sizeof heard, "%s", message);
    warnings++;
}

/* All times go by what somebody says; where the file says something else, by more than a hundredth, that is told. */
static void a_rate_that_is_given(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *task;
        bool tracked;
        double of_file, given, becomes;
        const char *says; /* part of the warning; null: none */
    } cases[] = {
        {"video", "pose", false, 25, 0, 25, NULL},
        {"video", "pose", true, 0, 0, 0, NULL},
        {"video", "pose", true, 25, 25, 25, NULL},
        {"video", "pose", false, 0, 50, 50, NULL},
        {"video", "pose", false, 0, 0.5, 0.5, NULL},
        {"video", "pose", false, 0.25, 0.5, 0.5,
         "0.5 frames a second by --fps or the configuration, 0.25 by"},
        {"video", "pose", false, 100, 101, 101, NULL},
        {"video", "pose", false, 100, 99, 99, NULL},
        {"video", "pose", false, 100, 101.5, 101.5, "101.5 frames a second"},
        {"video", "pose", false, 100, 98.5, 98.5, "98.5 frames a second"},
        {"video", "pose", false, 25, -3, 25, NULL},
        {"video", "pose", false, 25, (double)NAN, 25, NULL},
        {"live", "pose", true, 25, 50, 25, NULL},
        {"live", "pose", true, 0, 50, 0, NULL},
        {"pictures", "pose", true, 0, 0, 0, "25 are taken"},
        {"pictures", "pose", true, 0, 0.5, 0.5, NULL},
        {"pictures", "pose", true, 0.5, 0, 0.5, NULL},
        {"pictures", "pose", false, 0, 0, 0, NULL},
        {"pictures", "detections", true, 0, 0, 0, NULL},
    };
    sk_log_listener *listener = NULL;
    sk_error err = {0};
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_run_header h = video_header();
        h.source_kind = cases[i].kind;
        h.task = cases[i].task;
        h.tracked = cases[i].tracked;
        h.rate = cases[i].of_file;
        warnings = 0;
        sk_run_header_rate(&h, cases[i].given);
        if (h.rate != cases[i].becomes || warnings != (cases[i].says != NULL) ||
            (cases[i].says && !strstr(heard, cases[i].says)))
            fail_msg("case %zu: %g, %d warnings, %s", i, h.rate, warnings, heard);
    }
    sk_log_unlisten(&listener);
}

static void frames_of_a_run(void **state)
{
    (void)state;
    sk_run_header h = video_header();
    sk_found items[2] = {{.class_id = -1, .track_id = -1}, {.class_id = 1 << 24, .track_id = 1 << 24}};
    sk_instances all = {.count = 2, .items = items, .n_keypoints = h.n_keypoints = 2};
    sk_result_frame frame = {.instances = &all};
    assert_true(sk_run_header_fits(&h, &frame));
    all.n_keypoints = 3; /* more is no harm */
    assert_true(sk_run_header_fits(&h, &frame));
    all.n_keypoints = 1;
    assert_false(sk_run_header_fits(&h, &frame));
    all.count = 0; /* nothing that could lack them */
    assert_true(sk_run_header_fits(&h, &frame));
    all.count = 1;
    assert_false(sk_run_header_fits(&h, &frame));
    all.count = all.n_keypoints = 2;
    int32_t *const numbers[] = {&items[1].class_id, &items[1].track_id, &items[0].class_id,
                                &items[0].track_id};
    for (int i = 0; i < 4; i++) {
        const int32_t was = *numbers[i];
        *numbers[i] = -2;
        assert_false(sk_run_header_fits(&h, &frame));
        *numbers[i] = (1 << 24) + 1;
        assert_false(sk_run_header_fits(&h, &frame));
        *numbers[i] = was;
        assert_true(sk_run_header_fits(&h, &frame));
    }
    frame.index = -1;
    assert_false(sk_run_header_fits(&h, &frame));
    frame.index = 0, frame.width = -1;
    assert_false(sk_run_header_fits(&h, &frame));
    frame.width = 0, frame.height = -1;
    assert_false(sk_run_header_fits(&h, &frame));
}

/* One line, whatever paths hold, as long as there is room. */
static void the_line(void **state)
{
    (void)state;
    sk_run_header h = video_header();
    char line[1024], small[40];
    h.version = "1.2";
    h.started = "then";
    h.runtime = "cpu";
    h.runtime_requested = "auto";
    h.device = "a\rdevice";
    h.precision = "f32";
    h.settings = "conf=0.5\niou=0.7";
    h.n_models = 2;
    h.model_paths[0] = "a.pt", h.model_hashes[0] = "0123456789abcdefghij";
    h.model_paths[1] = "b.pt", h.model_hashes[1] = "ff";
    h.n_files = 2;
    h.files[0] = (sk_run_file){0, "a.onnx", "00112233445566778899"};
    h.files[1] = (sk_run_file){1, "", "aa"};
    static const char want[] =
        "skitter 1.2; then; runtime cpu (requested auto); device a device; precision f32; conf=0.5 iou=0.7; "
        "model a.pt sha256 0123456789abcdef; model b.pt sha256 ff; computed by a.onnx sha256 "
        "0011223344556677; computed by a file in memory sha256 aa";
    assert_ptr_equal(sk_run_header_line(&h, line, sizeof line), line);
    assert_string_equal(line, want);
    for (size_t room = 1; room <= sizeof small; room++) {
        memset(small, 'x', sizeof small);
        sk_run_header_line(&h, small, room);
        assert_int_equal(strlen(small), room - 1);
        assert_memory_equal(small, want, room - 1);
    }
}

static void named_parts(void **state)
{
    (void)state;
    static const char *const classes[] = {"ant", NULL}, *const points[] = {"head", "tail"};
    static const int32_t both_ways[][2] = {{0, 1}, {1, 0}};
    sk_error err = {0};
    for (int with = 0; with < 2; with++) {
        sk_run_header h = {.n_classes = 2,
                           .class_names = classes,
                           .n_keypoints = with ? 2 : 0,
                           .keypoint_names = points,
                           .n_edges = 2,
                           .edges = both_ways};
        sk_text text = {0};
        sk_json json = sk_json_to_text(&text, 0);
        sk_json_object(&json);
        sk_run_header_names(&h, &json);
        sk_json_close(&json);
        assert_ok(sk_json_end(&json, &err), &err);
        assert_string_equal(sk_text_get(&text),
                            with ? "{\"classes\":[\"ant\",\"\"],\"keypoints\":[\"head\",\"tail\"],"
                                   "\"edges\":[[0,1],[1,0]]}\n"
                                 : "{\"classes\":[\"ant\",\"\"]}\n");
        sk_text_free(&text);
    }
}

/* Every format is found by its name; models that say what whole pictures show have those without places. */
static void formats_by_name(void **state)
{
    (void)state;
    sk_error err = {0};
    char none[512] = "";
    int n = 0;
    for (const sk_sink_kind *const *k = sk_sink_kinds; *k; k++, n++) {
        assert_ptr_equal(sk_sink_find((*k)->name), *k);
        if ((*k)->no_shapes)
            snprintf(none + strlen(none), sizeof none - strlen(none), "%s%s", none[0] ? ", " : "",
                     (*k)->name);
    }
    assert_int_equal(n, 11);
    for (const sk_sink_kind *const *k = sk_sink_track_kinds; *k; k++)
        assert_ptr_equal(sk_sink_find((*k)->name), *k);
    assert_null(sk_sink_find("CSV"));
    assert_null(sk_sink_find(""));
    sk_run_header h = {.has = SK_HAS_KEYPOINTS};
    assert_ok(sk_run_header_needs_shapes(&h, "slp", &err), &err);
    h.has = 0;
    assert_int_equal(sk_run_header_needs_shapes(&h, "slp", &err), SK_ERR_ARG);
    char want[700];
    snprintf(want, sizeof want,
             "format slp holds boxes or keypoints, and this model says what whole pictures show; there are "
             "%s",
             none);
    assert_string_equal(err.message, want);
    assert_string_equal(sk_track_state_name(SK_TRACK_ACTIVE), "active");
    assert_string_equal(sk_track_state_name(SK_TRACK_COVERED), "covered");
    assert_string_equal(sk_track_state_name(SK_TRACK_LOST), "lost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_that_is_given), cmocka_unit_test(frames_of_a_run), cmocka_unit_test(the_line),
        cmocka_unit_test(named_parts),          cmocka_unit_test(formats_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
