/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "app/track_config.h"
#include "app/track_config_run.h"
#include "base/file.h"
#include "formats/hydra_config.h"

#include <stdio.h>
#include <string.h>

/* Every key of hydra-suite's that is said to be used reaches what it names. */

static const struct {
    const char *key, *value;
    const char *with;   /* other keys that it needs */
    const char *effect; /* a line of what the configuration comes to */
} table[] = {
    {"fps", "50", "", "fps=50"},
    {"reference_body_size", "44", "", "body=44"},
    {"reference_aspect_ratio", "3", "\"enable_aspect_ratio_filtering\":true,", "min_aspect=1.5"},
    {"start_frame", "7", "", "frames=7:"},
    {"end_frame", "99", "", "frames=0:100"},
    {"min_object_size_multiplier", "0.5", "\"reference_body_size\":20,\"enable_size_filtering\":true,",
     "min_area=157.0796"},
    {"max_object_size_multiplier", "2", "\"reference_body_size\":20,\"enable_size_filtering\":true,",
     "max_area=628.3185"},
    {"min_aspect_ratio_multiplier", "0.25", "\"enable_aspect_ratio_filtering\":true,", "min_aspect=0.5"},
    {"max_aspect_ratio_multiplier", "3", "\"enable_aspect_ratio_filtering\":true,", "max_aspect=6"},
    {"yolo_confidence_threshold", "0.3", "", "min_score=0.3"},
    {"yolo_iou_threshold", "0.6", "", "max_overlap=0.6"},
    {"max_targets", "5", "\"animals_per_arena\":9,", "animals=5"},
    {"animals_per_arena", "6", "", "animals=6"},
    {"max_assignment_distance_multiplier", "3.5", "", "gate=3.5"},
    {"association_high_confidence_threshold", "0.77", "", "strong_score=0.77"},
    {"kalman_velocity_damping", "0.8", "", "damping=0.8"},
    {"kalman_maturity_age_seconds", "0.7", "", "maturity=0.7"},
    {"kalman_maturity_age", "20", "\"fps\":40,", "maturity=0.5"},
    {"kalman_initial_velocity_retention", "0.3", "", "young_retention=0.3"},
    {"kalman_max_velocity_multiplier", "5", "", "max_speed=5"},
    {"kalman_longitudinal_noise_multiplier", "9", "", "longitudinal_noise=9"},
    {"kalman_lateral_noise_multiplier", "0.9", "", "lateral_noise=0.9"},
    {"lost_threshold_seconds", "1.5", "", "covered=1.5"},
    {"lost_threshold_frames", "20", "\"fps\":40,", "covered=0.5"},
    {"min_respawn_distance_multiplier", "1.1", "", "apart=1.1"},
    {"min_detections_to_start_seconds", "0.4", "", "start=0.4"},
    {"min_trajectory_length_seconds", "0.9", "", "shortest=0.9"},
    {"min_trajectory_length", "10", "\"fps\":40,", "shortest=0.25"},
    {"max_velocity_break", "40", "\"fps\":40,\"reference_body_size\":20,", "velocity_limit=20"},
    {"stitch_max_gap_seconds", "2.5", "", "stitch_gap=2.5"},
    {"interpolation_max_gap_seconds", "0.8", "", "interpolate_gap=0.8"},
    {"heading_flip_max_burst", "8", "", "flip_burst=8"},
    {"subtraction_threshold", "31", "", "background_threshold=31"},
    {"threshold_value", "32", "", "background_threshold=32"},
    {"morph_kernel_size", "5", "", "background_smallest_feature=5"},
    {"min_contour_area", "66", "", "background_least_area=66"},
    {"dilation_kernel_size", "7", "\"enable_additional_dilation\":true,", "background_grow=6"},
    {"dilation_iterations", "4", "\"enable_additional_dilation\":true,", "background_grow=4"},
    {"brightness", "12", "", "background_brightness=12"},
    {"contrast", "1.4", "", "background_contrast=1.4"},
    {"gamma", "0.7", "", "background_gamma=0.7"},
    {"enable_size_filtering", "true", "\"reference_body_size\":20,", "min_area=94.24778"},
    {"enable_aspect_ratio_filtering", "true", "", "min_aspect=1"},
    {"enable_backward_tracking", "false", "", "backward=0"},
    {"enable_postprocessing", "false", "", "online=1"},
    {"dark_on_light_background", "false", "", "background_ground=1"},
    {"enable_adaptive_background", "false", "", "background_following=0"},
    {"adaptive_background", "false", "", "background_following=0"},
    {"enable_lighting_stabilization", "false", "", "steady_light=0"},
    {"enable_conservative_split", "false", "", "split=0"},
    {"enable_additional_dilation", "true", "", "background_grow=2"},
    {"enable_pose_extractor", "true", "\"yolo_model_path\":\"boxes.pt\",\"pose_model_dir\":\"pose.pt\",",
     "models=boxes.pt,pose.pt"},
    {"suppress_foreign_obb_regions", "true", "", "masked=1"},
    {"detection_method", "\"background_subtraction\"", "", "detector=background"},
    {"interpolation_method", "\"Cubic\"", "", "interpolation=1"},
    {"compute_runtime", "\"cpu\"", "", "runtime=cpu"},
    {"runtime_tier", "\"cpu\"", "", "runtime=cpu"},
    {"yolo_model_path", "\"boxes.pt\"", "", "models=boxes.pt,"},
    {"yolo_obb_direct_model_path", "\"boxes.pt\"", "\"yolo_model_path\":\"old.pt\",", "models=boxes.pt,"},
    {"yolo_obb_mode", "\"sequential\"", "\"yolo_model_path\":\"boxes.pt\",", "models=,"},
    {"pose_model_type", "\"sleap\"",
     "\"enable_pose_extractor\":true,\"yolo_model_path\":\"boxes.pt\",\"pose_sleap_model_dir\":\"sleap\",",
     "models=boxes.pt,sleap"},
    {"pose_model_dir", "\"pose.pt\"", "\"enable_pose_extractor\":true,\"yolo_model_path\":\"boxes.pt\",",
     "models=boxes.pt,pose.pt"},
    {"pose_yolo_model_dir", "\"pose.pt\"",
     "\"enable_pose_extractor\":true,\"yolo_model_path\":\"boxes.pt\",\"pose_model_dir\":\"sleap\",",
     "models=boxes.pt,pose.pt"},
    {"pose_sleap_model_dir", "\"sleap\"",
     "\"enable_pose_extractor\":true,\"yolo_model_path\":\"boxes.pt\",\"pose_model_type\":\"SLEAP\",",
     "models=boxes.pt,sleap"},
    {"file_path", "\"videos/a b.mp4\"", "", "source=videos/a b.mp4"},
    {"roi_shapes", "[{\"type\":\"circle\",\"params\":[5,5,3],\"mode\":\"include\"}]", "", "region=1"},
    {"yolo_target_classes", "[0, 3]", "", "classes=0,3"},
    {"pose_direction_anterior_keypoints", "[\"nose\",\"neck\"]", "", "head=nose,neck"},
    {"pose_direction_posterior_keypoints", "[\"tail\",4]", "", "tail=tail,4"},
};
enum { N = sizeof table / sizeof *table };

static const char *name_of(const char *path)
{
    return path ? sk_path_name(path) : "";
}

/* What a configuration comes to, a line each. */
static void effects(const char *json, sk_text *out)
{
    sk_error err = {0};
    sk_track_wish wish;
    sk_track_config_run run = {0};
    sk_region *region = NULL;
    sk_text words = {0}, warnings = {0};
    char path[600];
    snprintf(path, sizeof path, "%s/c.json", test_folder());
    assert_ok(sk_file_replace(path, json, strlen(json), &err), &err);
    sk_track_wish_defaults(&wish);
    assert_ok(sk_track_config_read(path, &wish, &region, &words, &warnings, &err), &err);
    assert_ok(sk_track_config_run_read(path, &run, &err), &err);
    for (size_t i = 0; sk_track_setting_at(i); i++)
        sk_text_appendf(out, "\n%s=%.7g", sk_track_setting_at(i)->name,
                        sk_track_setting_get(sk_track_setting_at(i), &wish));
    sk_text_appendf(out, "\nbackward=%d\nonline=%d\nsteady_light=%d\nsplit=%d\ninterpolation=%d\nregion=%d",
                    wish.offline.backward, wish.online, wish.background.steady_light, wish.background.split,
                    (int)wish.offline.method, region != NULL);
    sk_text_appendf(out, "\nhead=%s\ntail=%s\nsource=%s\nmodels=%s,%s\nruntime=%s\nframes=%s\nclasses=%s\n",
                    wish.head_points, wish.tail_points, run.source ? run.source : "", name_of(run.models[0]),
                    name_of(run.models[1]), run.runtime, run.frames, run.classes);
    sk_text_appendf(out, "detector=%s\nmasked=%d\n", run.background ? "background" : "model", run.masked);
    sk_region_close(&region);
    sk_text_free(&words);
    sk_text_free(&warnings);
    sk_track_config_run_free(&run);
}

static int has_line(const sk_text *text, const char *line)
{
    char whole[128];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    return strstr(sk_text_get(text), whole) != NULL;
}

/* Two more, so that it is known for what it is. */
#define SOME "\"weight_area\":0,\"zoom_factor\":1,\"debug_mode\":false"

static void every_used_key_has_its_effect(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const files[] = {"boxes.pt", "old.pt", "pose.pt", "sleap"};
    for (size_t i = 0; i < 4; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", test_folder(), files[i]);
        assert_ok(sk_file_replace(path, "x", 1, &err), &err);
    }
    for (size_t k = 0; sk_hydra_used_key(k); k++) {
        size_t i = 0;
        while (i < N && strcmp(table[i].key, sk_hydra_used_key(k)) != 0)
            i++;
        if (i == N)
            fail_msg("%s is said to be used, and nothing here says what for", sk_hydra_used_key(k));
        char json[1024];
        sk_text with = {0}, without = {0};
        snprintf(json, sizeof json, "{%s\"%s\":%s,%s}", table[i].with, table[i].key, table[i].value, SOME);
        effects(json, &with);
        snprintf(json, sizeof json, "{%s%s}", table[i].with, SOME);
        effects(json, &without);
        if (!has_line(&with, table[i].effect) || has_line(&without, table[i].effect))
            fail_msg("%s: %s does not make it %s, but %s", table[i].key, table[i].value, table[i].effect,
                     sk_text_get(&with));
        sk_text_free(&with);
        sk_text_free(&without);
    }
}

/* What is not used is told of, where it says something. */
static void what_has_no_counterpart_is_named(void **state)
{
    (void)state;
    static const char json[] =
        "{\"csv_path\":\"x.csv\",\"video_output_path\":\"\",\"pose_ignore_keypoints\":[\"a\"],"
        "\"resize_factor\":0.5,\"background_learning_rate\":0.01}";
    sk_error err = {0};
    sk_hydra_config *c = NULL;
    assert_ok(sk_hydra_config_open(json, strlen(json), "c.json", &c, &err), &err);
    static const char *const named[] = {"csv_path", "pose_ignore_keypoints", "resize_factor",
                                        "background_learning_rate"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        assert_non_null(strstr(sk_hydra_without_counterpart(c), named[i]));
    assert_null(strstr(sk_hydra_without_counterpart(c), "video_output_path"));
    assert_null(strchr(sk_hydra_without_brief(c), '\n'));
    assert_non_null(strstr(sk_hydra_without_brief(c), "csv_path; frames made smaller"));
    sk_hydra_config_close(&c);
}

/* Many are counted by subject, in a line that can be read; all are there for -v. */
static void many_without_a_counterpart(void **state)
{
    (void)state;
    static const char json[] =
        "{\"show_id_labels\":true,\"show_state_text\":true,\"show_track_markers\":true,\"zoom_factor\":2,"
        "\"video_text_scale\":1,\"video_marker_size\":1,\"video_show_pose\":true,\"video_show_trails\":true,"
        "\"video_arrow_length\":3,\"weight_area\":1,\"weight_position\":1,\"weight_orientation\":1}";
    sk_error err = {0};
    sk_hydra_config *c = NULL;
    assert_ok(sk_hydra_config_open(json, strlen(json), "c.json", &c, &err), &err);
    assert_string_equal(sk_hydra_without_brief(c),
                        "12 settings (-v names them): weights of the cost (3), drawing (9)");
    assert_non_null(strstr(sk_hydra_without_counterpart(c), "zoom_factor"));
    sk_hydra_config_close(&c);
}

/* One of our own says in "run" what the command line would: options, then the sources. */
static void our_own_says_what_is_run(void **state)
{
    (void)state;
    static const char json[] =
        "{\"gate\":3,\"run\":{\"source\":[\"-odd.mp4\",\"b.mp4\"],\"model\":\"boxes.pt\",\"conf\":0.25,"
        "\"online\":true,\"no-report\":false,\"roi\":[\"1,2,3,4\",\"!5,6,7,8\"],\"config\":\"base.json\"}}";
    static const char *const wrong[] = {"{\"run\":3}", "{\"run\":{\"conf\":{}}}", "{\"run\":{\"config\":3}}",
                                        "{\"run\":{\"config\":\"nowhere.json\"}}"};
    sk_error err = {0};
    sk_text got = {0}, beside = {0};
    sk_track_config_run run = {0};
    sk_track_wish wish;
    sk_region *region = NULL;
    sk_text words = {0}, warnings = {0};
    char path[600], base[600];
    snprintf(path, sizeof path, "%s/own.json", test_folder());
    snprintf(base, sizeof base, "%s/base.json", test_folder());
    assert_ok(sk_file_replace(path, json, strlen(json), &err), &err);
    assert_ok(sk_file_replace(base, "{}", 2, &err), &err);
    assert_ok(sk_track_config_run_read(path, &run, &err), &err);
    for (int32_t i = 0; i < run.n_words; i++)
        sk_text_appendf(&got, "%s ", run.words[i]);
    sk_text_appendf(
        &beside, "--model=%s/boxes.pt --conf=0.25 --online --roi=1,2,3,4 --roi=!5,6,7,8 -- -odd.mp4 b.mp4 ",
        test_folder());
    assert_string_equal(sk_text_get(&got), sk_text_get(&beside));
    assert_string_equal(run.base, base);
    sk_track_config_run_free(&run);
    sk_track_wish_defaults(&wish);
    assert_ok(sk_track_config_read(path, &wish, &region, &words, &warnings, &err), &err);
    assert_true(wish.track.life.gate == 3);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_ok(sk_file_replace(path, wrong[i], strlen(wrong[i]), &err), &err);
        assert_int_not_equal(sk_track_config_run_read(path, &run, &err), SK_OK);
        assert_non_null(strstr(err.message, "own.json"));
        sk_track_config_run_free(&run);
    }
    sk_text_free(&got);
    sk_text_free(&beside);
    sk_text_free(&words);
    sk_text_free(&warnings);
}

/* What a file says that cannot be: refused, or told and left out. */
static void words_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *json, *frames, *classes,
            *words; /* words: of the refusal; of a note where it begins with a colon */
    } rows[] = {
        {"\"yolo_target_classes\":[\"fly\"]", "", "", "yolo_target_classes is a list of classes' numbers"},
        {"\"yolo_target_classes\":[3,-1]", "", "", "yolo_target_classes is a list of classes' numbers"},
        {"\"yolo_target_classes\":[]", "", "", NULL},
        {"\"yolo_target_classes\":[0]", "", "0", NULL},
        {"\"start_frame\":0", "", "", NULL},
        {"\"start_frame\":3,\"end_frame\":-1", "3:", "", NULL},
        {"\"start_frame\":3,\"end_frame\":3", "3:4", "", NULL},
        {"\"end_frame\":0", "0:1", "", NULL},
        {"\"yolo_obb_mode\":\"sequential\",\"yolo_model_path\":\"config_boxes.pt\"", "", "",
         ":model: yolo_obb_mode is sequential, and boxes are found in one step here: give --model\n"},
        {"\"yolo_model_path\":\"config_boxes.pt\",\"enable_pose_extractor\":true,\"pose_model_type\":"
         "\"vitpose\"",
         "", "", ":model: poses of vitpose are not read here: give --model twice\n"},
    };
    char path[4300];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/config_boxes.pt", test_folder());
    assert_ok(sk_file_replace(path, "x", 1, &err), &err);
    snprintf(path, sizeof path, "%s/cannot.json", test_folder());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        sk_track_config_run run;
        const bool noted = rows[i].words && rows[i].words[0] == ':';
        snprintf(text, sizeof text, "{%s,%s}", rows[i].json, SOME);
        assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
        const sk_status status = sk_track_config_run_read(path, &run, &err);
        assert_int_equal(status, rows[i].words && !noted ? SK_ERR_FORMAT : SK_OK);
        if (status == SK_OK) {
            assert_string_equal(run.frames, rows[i].frames);
            assert_string_equal(run.classes, rows[i].classes);
            assert_string_equal(sk_text_get(&run.notes), noted ? rows[i].words + 1 : "");
        } else {
            assert_non_null(strstr(err.message, rows[i].words));
        }
        sk_track_config_run_free(&run);
    }
    /* as many classes as there is room for, and one more */
    for (int more = 0; more < 2; more++) {
        char text[1024];
        sk_track_config_run run;
        size_t used =
            (size_t)snprintf(text, sizeof text, "{%s,\"yolo_target_classes\":[10%s", SOME, more ? "0" : "");
        for (int i = 0; i < 84;
             i++) /* and 84 of two digits with a comma each: 254 or 255 letters with the first */
            used += (size_t)snprintf(text + used, sizeof text - used, ",%d", 10 + i);
        snprintf(text + used, sizeof text - used, "]}");
        assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
        assert_ok(sk_track_config_run_read(path, &run, &err), &err);
        assert_int_equal(strlen(run.classes), 254 + more);
        sk_track_config_run_free(&run);
        snprintf(text + used - 2, sizeof text - used + 2, "%s]}", more ? "940" : "9400");
        assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
        assert_int_equal(sk_track_config_run_read(path, &run, &err), SK_ERR_LIMIT);
        assert_non_null(strstr(err.message, "yolo_target_classes names too many classes"));
        sk_track_config_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_used_key_has_its_effect), cmocka_unit_test(what_has_no_counterpart_is_named),
        cmocka_unit_test(our_own_says_what_is_run),      cmocka_unit_test(many_without_a_counterpart),
        cmocka_unit_test(words_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
