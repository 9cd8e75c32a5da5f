/* SPDX-License-Identifier: Apache-2.0 */
/* Our own configuration of tracking, member by member: what it sets, or why it is refused; and what a run says of its settings, by the
 * families of its models. */
#include "support/test.h"

#include "app/run_identity.h"
#include "app/track_config.h"
#include "base/file.h"
#include "base/memory.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void tell(sk_text *all, const char *json)
{
    sk_track_wish wish, usual;
    sk_region *region = NULL;
    sk_text region_text = {0}, warnings = {0};
    sk_track_wish_defaults(&usual);
    wish = usual;
    assert_ok(sk_file_replace("c.json", json, strlen(json), &err), &err);
    const sk_status status = sk_track_config_read("c.json", &wish, &region, &region_text, &warnings, &err);
    sk_text_appendf(all, "%s:", json);
    if (status != SK_OK)
        sk_text_appendf(all, " error %.300s", err.message);
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        if (sk_track_setting_get(s, &wish) != sk_track_setting_get(s, &usual))
            sk_text_appendf(all, " %s %g", s->name, sk_track_setting_get(s, &wish));
    }
    const bool
        flags[] = {wish.online,           wish.looks,           wish.track.tell_covered, wish.track.tell_lost,
                   wish.offline.backward, wish.offline.upstream},
        before[] = {
            usual.online,           usual.looks,           usual.track.tell_covered, usual.track.tell_lost,
            usual.offline.backward, usual.offline.upstream};
    static const char *const names[] = {"online",    "looks",    "tell_covered",
                                        "tell_lost", "backward", "upstream"};
    for (int i = 0; i < 6; i++)
        if (flags[i] != before[i])
            sk_text_appendf(all, " %s %d", names[i], flags[i]);
    if (strcmp(wish.track.method, usual.track.method) != 0)
        sk_text_appendf(all, " tracker %s", wish.track.method);
    if (wish.head_points[0] || wish.tail_points[0])
        sk_text_appendf(all, " head '%s' tail '%s'", wish.head_points, wish.tail_points);
    sk_text_appendf(all, "%s%s%s%s\n", region ? " region " : "", sk_text_get(&region_text),
                    warnings.length ? " warned " : "", sk_text_get(&warnings));
    sk_region_close(&region);
    sk_text_free(&region_text);
    sk_text_free(&warnings);
}

static void members(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    static const char *const tries[] = {
        "{}",
        "[]",
        "{\"gate\": 3.5}",
        "{\"gate\": -1}",
        "{\"gate\": \"3\"}",
        "{\"gate\": true}",
        "{\"animals\": 3}",
        "{\"animals\": 3.5}",
        "{\"gte\": 3}",
        "{\"tracker\": \"ocsort\"}",
        "{\"tracker\": \"none\"}",
        "{\"tracker\": 3}",
        "{\"online\": true}",
        "{\"online\": \"maybe\"}",
        "{\"looks\": true}",
        "{\"tell_covered\": true}",
        "{\"tell_covered\": false}",
        "{\"tell_lost\": true}",
        "{\"backward\": false}",
        "{\"offline_steps\": \"upstream\"}",
        "{\"offline_steps\": \"skitter\"}",
        "{\"offline_steps\": \"other\"}",
        "{\"offline_steps\": 1}",
        "{\"head_points\": [\"nose\", 2], \"tail_points\": [\"tail\"]}",
        "{\"head_points\": \"nose\"}",
        "{\"head_points\": [true, []]}",
        "{\"roi\": \"10,10,300,200\"}",
        "{\"roi\": [\"10,10,300,200\", \"0,0,5,5\"], \"roi_exclude\": \"20,20,30,30\"}",
        "{\"roi\": 5}",
        "{\"roi\": [\"1,2\"]}",
        "{\"run\": {\"conf\": 0.5}, \"covered\": 2}",
        "{\"covered\": 2, \"gate\": \"x\", \"lost\": 3}"};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        tell(&all, tries[i]);
    test_text_is("tests/app/told/config_words.txt", sk_text_get(&all));
    sk_text_free(&all);
    /* more names than there is room for */
    sk_text many = {0};
    sk_track_wish wish;
    sk_region *region = NULL;
    sk_text text = {0};
    sk_track_wish_defaults(&wish);
    sk_text_append(&many, "{\"head_points\": [\"nose\"");
    for (int i = 0; i < 120; i++)
        sk_text_append(&many, ", \"nose\"");
    sk_text_append(&many, "]}");
    assert_ok(sk_file_replace("c.json", sk_text_get(&many), many.length, &err), &err);
    assert_int_equal(sk_track_config_read("c.json", &wish, &region, &text, &text, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "c.json: head_points names too many keypoints");
    assert_int_equal(sk_track_config_read("nothing.json", &wish, &region, &text, &text, &err),
                     SK_ERR_NOT_FOUND);
    sk_text_free(&many);
    sk_text_free(&text);
}

/* Settings are told where a model of their family runs; what others computed by shapes the header. */
static void settings_by_family(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 20};
    static const sk_family_id families[][2] = {{SK_FAMILY_YOLO, SK_FAMILY_NONE},
                                               {SK_FAMILY_SLEAP, SK_FAMILY_NONE},
                                               {SK_FAMILY_YOLO, SK_FAMILY_SLEAP},
                                               {SK_FAMILY_GIVEN, SK_FAMILY_YOLO},
                                               {SK_FAMILY_GIVEN, SK_FAMILY_SLEAP}};
    static const char *const points[] = {"nose"}, *const classes[] = {"fly"};
    assert_ok(sk_file_replace("v.mp4", "x", 1, &err), &err);
    for (int i = 0; i < 5; i++) {
        sk_model first = {.family = families[i][0], .content_hash = "ha", .path = "a.pt"},
                 second = {.family = families[i][1], .content_hash = "hb", .path = "b.pt"};
        const sk_model *models[] = {&first, &second};
        sk_predict_settings s;
        sk_predict_defaults(&s);
        s.source = "v.mp4";
        s.runtime_fell_back = i == 1;
        s.runtime_requested = "cuda";
        s.detector.n_classes = i == 2 ? 2 : 0;
        static const int32_t wanted[] = {3, 5};
        s.detector.classes = wanted;
        s.media.topic = i == 3 ? "/camera" : NULL;
        s.media.first = i == 4 ? 5 : 0;
        s.colours = i == 0   ? SK_PREDICT_COLOURS_ORIGINAL
                    : i == 1 ? SK_PREDICT_COLOURS_TAGGED
                             : SK_PREDICT_COLOURS_BT601;
        const sk_pipeline_info about = {.task = SK_TASK_POSE,
                                        .n_models = families[i][1] == SK_FAMILY_NONE ? 1 : 2,
                                        .precision = "f32",
                                        .runtime = "cpu",
                                        .device = "a box",
                                        .rect = SK_RECT_AUTO,
                                        .heads = i == 2 ? SK_HEADS_ONE_TO_ONE : SK_HEADS_AUTO,
                                        .n_classes = 1,
                                        .class_names = classes,
                                        .n_keypoints = 1,
                                        .keypoint_names = points};
        const sk_run_facts facts = {.settings = &s,
                                    .about = &about,
                                    .models = models,
                                    .info = {.hwaccel = "",
                                             .kind = i == 0   ? SK_SOURCE_VIDEO
                                                     : i == 1 ? SK_SOURCE_PICTURES
                                                              : SK_SOURCE_LIVE,
                                             .width = 64 + i,
                                             .height = 48,
                                             .rate = 25,
                                             .frame_id = i == 3 ? "cam" : NULL}};
        sk_run_identity identity = {0};
        sk_run_header h;
        assert_ok(sk_run_identity_of(&facts, &identity, &err), &err);
        sk_run_header_of(&facts, &identity, &h);
        sk_text_appendf(&all, "--- %d\n%s\n%s %s %dx%d %g %s %s %s %d %s %s '%s' %s\n", i,
                        sk_text_get(&identity.settings), h.source, h.source_kind, h.width, h.height, h.rate,
                        h.task, h.runtime_requested, h.runtime, h.n_models, h.model_paths[h.n_models - 1],
                        h.model_hashes[h.n_models - 1], h.frame_id, h.shape ? h.shape : "no shape");
        sk_run_identity_free(&identity);
    }
    test_text_is("tests/app/told/settings_by_family.txt", sk_text_get(&all));
    sk_text_free(&all);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(members), cmocka_unit_test(settings_by_family)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
