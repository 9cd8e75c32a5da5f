/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of app/ row by row, and small functions by hand: settings of tracking and their bounds, what animals look like, axes of poses,
 * parameters of the node. */
#include "support/test.h"

#include "app/frame_looks.h"
#include "app/node_parameters.h"
#include "app/node_settings.h"
#include "app/run_identity.h"
#include "app/run_view_json.h"
#include "app/track.h"
#include "app/track_axis.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

/* Every row, and that each takes what it says, up to its ends and not beyond. */
static void settings_of_tracking(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    sk_track_wish usual, w;
    const sk_track_setting *s;
    size_t n = 0;
    sk_track_wish_defaults(&usual);
    for (; (s = sk_track_setting_at(n)); n++) {
        sk_text_appendf(&all, "%s [%s] %s: %s %g … %g, usually %g%s\n", s->name, s->unit, s->help,
                        s->whole ? "whole" : "real", s->least, s->most, sk_track_setting_get(s, &usual),
                        sk_track_setting_finds(s) ? ", finds" : "");
        assert_ptr_equal(sk_track_setting_find(s->name), s);
        w = usual;
        assert_ok(sk_track_setting_set(s, s->least, &w, &err), &err);
        assert_true(sk_track_setting_get(s, &w) == s->least);
        assert_ok(sk_track_setting_set(s, s->most, &w, &err), &err);
        assert_true(sk_track_setting_get(s, &w) == s->most);
        const double step = s->whole ? 1 : 0.001;
        assert_int_equal(sk_track_setting_set(s, s->least - step, &w, &err), SK_ERR_ARG);
        assert_int_equal(sk_track_setting_set(s, s->most * 1.01 + step, &w, &err), SK_ERR_ARG);
        assert_int_equal(sk_track_setting_set(s, NAN, &w, &err), SK_ERR_ARG);
        assert_int_equal(sk_track_setting_set(s, s->least + 0.5, &w, &err), s->whole ? SK_ERR_ARG : SK_OK);
        /* no other setting is touched */
        for (size_t k = 0; sk_track_setting_at(k); k++)
            if (k != n)
                assert_true(sk_track_setting_get(sk_track_setting_at(k), &w) ==
                            sk_track_setting_get(sk_track_setting_at(k), &usual));
    }
    assert_null(sk_track_setting_find("nonsense"));
    assert_int_equal(sk_track_setting_set(sk_track_setting_find("animals"), 0.5, &w, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "animals is a whole number between 0 and 65536, and not 0.5");
    test_text_is("tests/app/told/track_table.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* A shade is a byte a number; where all are nothing, nobody looked. */
static void looks(void **state)
{
    (void)state;
    uint8_t bytes[3 * SK_TRACK_LOOKS] = {0};
    float out[SK_TRACK_LOOKS];
    for (int k = 0; k < SK_TRACK_LOOKS; k++)
        bytes[SK_TRACK_LOOKS + k] = (uint8_t)(5 * k + (k == 0));
    bytes[2 * SK_TRACK_LOOKS] = 255; /* one alone */
    assert_false(sk_frame_looks_get(bytes, 0, out));
    assert_true(sk_frame_looks_get(bytes, 1, out));
    for (int k = 0; k < SK_TRACK_LOOKS; k++)
        assert_true(fabsf(out[k] - (float)bytes[SK_TRACK_LOOKS + k] / 255) < 1e-6F);
    assert_true(sk_frame_looks_get(bytes, 2, out));
    assert_true(out[0] == 1 && out[1] == 0);
    bytes[2 * SK_TRACK_LOOKS] = 0;
    bytes[3 * SK_TRACK_LOOKS - 1] = 1; /* the last alone */
    assert_true(sk_frame_looks_get(bytes, 2, out));
}

/* Which keypoints are head and tail, by their names or as somebody says. */
static void put_axis(sk_text *all, const char *const *names, int32_t n, const char *head, const char *tail)
{
    sk_track_axis axis = {0};
    sk_track_axis_of(names, n, &axis);
    const bool found = sk_track_axis_set(head, tail, names, n, &axis);
    const sk_pose_axis *pose = sk_track_axis_pose(&axis);
    for (int32_t i = 0; i < n; i++)
        sk_text_appendf(all, "%s%s", i ? "," : "", names ? names[i] : "-");
    sk_text_appendf(all, " '%s' '%s':%s", head, tail, found ? "" : " not all");
    if (!pose) {
        sk_text_append(all, " none\n");
        return;
    }
    sk_text_append(all, " head");
    for (int32_t i = 0; i < pose->n_head; i++)
        sk_text_appendf(all, " %d", pose->head[i]);
    sk_text_append(all, " tail");
    for (int32_t i = 0; i < pose->n_tail; i++)
        sk_text_appendf(all, " %d", pose->tail[i]);
    sk_text_append(all, "\n");
}

static void axes_of_poses(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    static const char *const mouse[] = {"nose", "left_ear", "neck", "tail_base", "tail_tip"},
                             *const fly[] = {"Head", "Thorax", "Abdomen"}, *const none[] = {"a", "b", "c"},
                             *const numbers[] = {"kpt0", "kpt1"};
    put_axis(&all, mouse, 5, "", "");
    put_axis(&all, fly, 3, "", "");
    put_axis(&all, none, 3, "", "");
    put_axis(&all, numbers, 2, "", "");
    put_axis(&all, none, 3, "a", "c");
    put_axis(&all, none, 3, "a,b", "2");
    put_axis(&all, none, 3, "0", "1,2");
    put_axis(&all, none, 3, "x", "c");
    put_axis(&all, none, 3, "3", "0");
    put_axis(&all, mouse, 5, "tail_tip", "");
    put_axis(&all, mouse, 5, "", "neck");
    put_axis(&all, NULL, 0, "", "");
    test_text_is("tests/app/told/axes.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* What differs between two runs, by name: values, those that only one has, and long ones cut. */
static void differences(void **state)
{
    (void)state;
    sk_text out = {0};
    char long_value[512];
    sk_run_identity_difference("a\t1\nb\t2\n", "a\t1\nb\t2\n", &out);
    assert_string_equal(sk_text_get(&out), "");
    sk_run_identity_difference("a\t1\nb\t2\nc\t\n", "a\t1\nb\t3\nd\tx y\ne\t\n", &out);
    assert_string_equal(sk_text_get(&out),
                        "b 2 -> 3, c (none) -> (none), d (none) -> x y, e (none) -> (none)");
    for (int n = 120; n <= 121; n++) {
        memset(long_value, 0, sizeof long_value);
        snprintf(long_value, sizeof long_value, "a\t%0*d\n", n, 7);
        sk_text_clear(&out);
        sk_run_identity_difference(long_value, "a\tx\nab\ty\n", &out);
        const char *told = sk_text_get(&out);
        assert_int_equal(strcspn(told + 2, " ."), n == 120 ? 120 : 120 + strlen("…"));
        assert_int_equal(strstr(told, "…") != NULL, n > 120);
        assert_non_null(strstr(told, " -> x, ab (none) -> y"));
    }
    sk_text_clear(&out);
    sk_run_identity_difference("no line", "a\t1\n", &out); /* what is no line ends it */
    assert_string_equal(sk_text_get(&out), "a (none) -> 1");
    sk_text_free(&out);
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_run_identity_json("a\t1\nb c\t\n", "identity", &json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_string_equal(sk_text_get(&text), "{\"identity\":{\"a\":\"1\",\"b c\":\"\"}}\n");
    sk_text_free(&text);
}

static void parameters_of_the_node(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    sk_node_param p = {.size = sizeof p};
    int32_t n = 0;
    for (; sk_node_param_get(n, &p); n++) {
        assert_string_equal(sk_ros_parameter_find(p.name)->help, p.help);
        sk_text_appendf(&all, "%s type %d = '%s' %g … %g %s live %d found %d: %s\n", p.name, p.type,
                        p.fallback ? p.fallback : "", p.least, p.most, p.choices ? p.choices : "", p.live,
                        p.found, p.help);
    }
    assert_null(sk_ros_parameter_find("nonsense"));
    assert_true(n > 10);
    assert_false(sk_node_param_get(-1, &p));
    test_text_is("tests/app/told/node_parameters.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* Why a moment deserves a look: all reasons, in one order, as far as there is room. */
static void why_a_moment_deserves_a_look(void **state)
{
    (void)state;
    static const struct {
        uint32_t why;
        const char *words;
    } rows[] = {{0, ""},
                {SK_SUSPECT_TOUCHED, "they touched"},
                {SK_SUSPECT_UNSEEN, "one was not seen"},
                {SK_SUSPECT_UNSURE, "the assignment was not sure"},
                {SK_SUSPECT_JUMPED, "one jumped"},
                {SK_SUSPECT_TOUCHED | SK_SUSPECT_JUMPED, "they touched, one jumped"},
                {SK_SUSPECT_UNSURE | SK_SUSPECT_UNSEEN, "one was not seen, the assignment was not sure"},
                {SK_SUSPECT_TOUCHED | SK_SUSPECT_UNSEEN | SK_SUSPECT_UNSURE | SK_SUSPECT_JUMPED,
                 "they touched, one was not seen, the assignment was not sure, one jumped"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_suspect s = {.why = rows[i].why};
        char words[160];
        memset(words, 'x', sizeof words);
        assert_ptr_equal(sk_suspect_words(&s, words, sizeof words), words);
        assert_string_equal(words, rows[i].words);
        char few[16];
        memset(few, 'x', sizeof few);
        sk_suspect_words(&s, few, 15);
        assert_int_equal(few[15], 'x');
        assert_int_equal(strncmp(few, rows[i].words, strlen(few)), 0);
        assert_int_equal(strlen(few), strlen(rows[i].words) < 14 ? strlen(rows[i].words) : 14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_a_moment_deserves_a_look),
        cmocka_unit_test(settings_of_tracking),
        cmocka_unit_test(looks),
        cmocka_unit_test(axes_of_poses),
        cmocka_unit_test(differences),
        cmocka_unit_test(parameters_of_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
