/* SPDX-License-Identifier: Apache-2.0 */
/* The size that frames have when they go into the network, as a run's header says it: of sources whose size is known, half known, or
 * not known at all; and values that are no plain line. */
#include "app/run_identity.h"
#include "models/model.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_model finder = {.family = SK_FAMILY_YOLO, .task = SK_TASK_DETECT, .content_hash = "aa"};
static const sk_model *models[] = {&finder};
static sk_pipeline_info about;
static sk_predict_settings settings;
static sk_run_facts facts;

static void begin(sk_rect rect)
{
    sk_predict_defaults(&settings);
    settings.source = "v.mp4";
    settings.detector.runtime = "cpu";
    about = (sk_pipeline_info){.task = SK_TASK_DETECT,
                               .n_models = 1,
                               .precision = "f32",
                               .runtime = "cpu",
                               .device = "d",
                               .rect = rect};
    facts = (sk_run_facts){.settings = &settings, .about = &about, .models = models};
    facts.info.kind = SK_SOURCE_VIDEO;
}

static void sizes_of_the_network(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height;      /* of frames */
        int32_t asked_w, asked_h;   /* of the network */
        int32_t rect_w, rect_h;     /* what is told where shapes are kept … */
        int32_t square_w, square_h; /* … and where they are not */
    } rows[] = {{64, 48, 0, 0, 640, 480, 640, 640},     {48, 64, 0, 0, 480, 640, 640, 640},
                {1, 1, 0, 0, 640, 640, 640, 640},       {0, 0, 0, 0, 0, 0, 640, 640},
                {64, 0, 0, 0, 0, 0, 640, 640},          {0, 48, 0, 0, 0, 0, 640, 640},
                {64, 48, 640, 320, 448, 320, 640, 320}, {0, 0, 96, 64, 0, 0, 96, 64},
                {64, 0, 96, 64, 0, 0, 96, 64},          {-1, 48, 96, 64, 0, 0, 96, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int rect = 0; rect < 3; rect++) {
            sk_run_identity of = {0};
            sk_run_header h;
            begin(rect == 0 ? SK_RECT_OFF : rect == 1 ? SK_RECT_ON : SK_RECT_AUTO);
            about.heads = i % 2 ? SK_HEADS_ONE_TO_ONE : SK_HEADS_ONE_TO_MANY;
            settings.detector.width = rows[i].asked_w, settings.detector.height = rows[i].asked_h;
            facts.info.width = rows[i].width, facts.info.height = rows[i].height;
            assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
            sk_run_header_of(&facts, &of, &h);
            sk_run_identity_free(&of);
            if (rect == 2) { /* nobody has chosen yet */
                assert_true(!h.shape && !h.heads && h.input_width == 0 && h.input_height == 0);
                continue;
            }
            assert_string_equal(h.shape, rect ? "rect" : "square");
            assert_string_equal(h.heads, i % 2 ? "one-to-one" : "one-to-many");
            assert_int_equal(h.input_width, rect ? rows[i].rect_w : rows[i].square_w);
            assert_int_equal(h.input_height, rect ? rows[i].rect_h : rows[i].square_h);
        }
}

/* All that a header says is from where it belongs. */
static void what_is_passed_on(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly", "bee"}, *const points[] = {"a", "b", "c"};
    static const int32_t edges[][2] = {{0, 1}, {1, 2}};
    sk_run_identity of = {0};
    sk_run_header h;
    char long_id[4096];
    begin(SK_RECT_AUTO);
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    about.n_classes = 2, about.class_names = classes;
    about.n_keypoints = 3, about.keypoint_names = points;
    about.n_edges = 2, about.edges = edges;
    about.has = SK_HAS_BOX | SK_HAS_KEYPOINTS;
    about.identities = true;
    settings.no_empty = true;
    settings.runtime_requested = "auto";
    facts.info.stamped = true;
    facts.info.frame_id = long_id;
    assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
    sk_run_header_of(&facts, &of, &h);
    assert_true(h.n_classes == 2 && h.class_names == classes && h.n_keypoints == 3 &&
                h.keypoint_names == points && h.n_edges == 2 && h.edges == edges);
    assert_true(h.has == (SK_HAS_BOX | SK_HAS_KEYPOINTS) && h.identities && h.no_empty && h.stamped);
    assert_string_equal(h.source, "v.mp4");
    assert_string_equal(h.task, "detect");
    assert_string_equal(h.runtime_requested, "auto");
    assert_string_equal(h.runtime, "cpu");
    assert_string_equal(h.device, "d");
    assert_string_equal(h.precision, "f32");
    assert_string_equal(h.model_hashes[0], "aa");
    assert_true(strlen(h.frame_id) < sizeof h.frame_id && h.frame_id[0] == 'x');
    sk_run_identity_free(&of);
    settings.no_empty = about.identities = facts.info.stamped = false;
    assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
    sk_run_header_of(&facts, &of, &h);
    assert_false(h.no_empty || h.identities || h.stamped);
    sk_run_identity_free(&of);
}

/* Every form of a value; breaks of lines and backslashes do not make two members of one. */
static void forms_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool changed;
    } lines[] = {{"\nsource\tv.mp4\n", false}, {"\nsource\ta\\nb\\\\c\td\n", true},
                 {"\nconf\t0.125\n", true},    {"\niou\t0.123456789012345\n", true},
                 {"\nmax_det\t17\n", true},    {"\nagnostic\t0\n", false},
                 {"\nagnostic\t1\n", true},    {"\ntopic\t\n", false},
                 {"\ntopic\t/eye\n", true},    {"\nhwaccel\t\n", false},
                 {"\nhwaccel\tvaapi\n", true}, {"\nprecision\tf32\n", false},
                 {"\nprecision\tf16\n", true}, {"\nloop\t1\n", false},
                 {"\nloop\t4\n", true},        {"\nwinograd\t0\n", true},
                 {"\nwinograd\t1\n", false},   {"\npeak_threshold\t0.3333333\n", true}};
    for (int changed = 0; changed < 2; changed++) {
        sk_run_identity of = {0};
        begin(SK_RECT_OFF);
        if (changed) {
            settings.source = "a\nb\\c\td";
            settings.detector.confidence = 0.125F;
            settings.detector.iou = 0.123456789012345;
            settings.detector.max_det = 17;
            settings.detector.agnostic = true, settings.detector.winograd = false;
            settings.detector.peak_threshold = 1.0F / 3;
            settings.media.topic = "/eye";
            settings.media.loop = 4;
            about.precision = "f16";
            facts.info.hwaccel = "vaapi";
        }
        assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            if (lines[i].changed == (changed == 1) && !strstr(sk_text_get(&of.text), lines[i].line))
                fail_msg("there is no line %s in %s", lines[i].line, sk_text_get(&of.text));
        assert_true((strstr(sk_text_get(&of.settings), "topic /eye") != NULL) == (changed == 1));
        sk_run_identity_free(&of);
    }
    size_t n = 0;
    while (sk_run_identity_member(n))
        n++;
    assert_true(n > 50);
    assert_string_equal(sk_run_identity_member(0)->name, "skitter");
    assert_string_equal(sk_run_identity_member(n - 1)->name, "runtime fallback");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_the_network),
                                       cmocka_unit_test(what_is_passed_on),
                                       cmocka_unit_test(forms_of_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
