/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "track/hydra_settings.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* hydra-suite's configurations: what they mean here, and what is told of the rest. */

static const char whole[] =
    "{\"fps\": 100.0, \"reference_body_size\": 104.14, \"max_targets\": 3, \"enable_size_filtering\": true,\n"
    " \"min_object_size_multiplier\": 0.2, \"max_object_size_multiplier\": 2.5, \"reference_aspect_ratio\": "
    "2.61,\n"
    " \"enable_aspect_ratio_filtering\": true, \"min_aspect_ratio_multiplier\": 0.2,\n"
    " \"max_aspect_ratio_multiplier\": 2.5, \"yolo_confidence_threshold\": 0.05, \"yolo_iou_threshold\": "
    "0.5,\n"
    " \"max_assignment_distance_multiplier\": 3.0, \"kalman_velocity_damping\": 0.9,\n"
    " \"lost_threshold_frames\": 50, \"min_trajectory_length_seconds\": 0.33, \"max_velocity_break\": "
    "100.0,\n"
    " \"interpolation_method\": \"Cubic\", \"interpolation_max_gap_seconds\": 0.17, "
    "\"stitch_max_gap_seconds\": 1.0,\n"
    " \"enable_backward_tracking\": false, \"heading_flip_max_burst\": 7, \"weight_area\": 0.006,\n"
    " \"dataset_class_name\": \"fly\", \"cnn_classifiers\": [], \"use_apriltags\": false, \"max_targts\": "
    "4,\n"
    " \"roi_shapes\": [{\"type\": \"circle\", \"params\": [50, 60, 20], \"mode\": \"include\"},\n"
    "  {\"type\": \"polygon\", \"params\": [[40, 50], [50, 50], [50, 60]], \"mode\": \"exclude\"}]}\n";

static void a_configuration_becomes_settings(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_hydra_config *c = NULL;
    sk_region *region = NULL;
    sk_offline_settings s;
    sk_offline_defaults(&s);
    assert_ok(sk_hydra_config_open(whole, strlen(whole), "fly.json", &c, &err), &err);
    assert_ok(sk_hydra_settings(c, "fly.json", &s, &region, &err), &err);
    const double disc = M_PI * 52.07 * 52.07;
    assert_true(s.track.fps == 100 && s.track.body == 104.14 && s.track.animals == 3 &&
                s.track.filter.most == 3);
    assert_true(fabs(s.track.filter.area_least - 0.2 * disc) < 1e-6);
    assert_true(fabs(s.track.filter.area_most - 2.5 * disc) < 1e-6);
    assert_true(fabs(s.track.filter.aspect_least - 0.522) < 1e-9 &&
                fabs(s.track.filter.aspect_most - 6.525) < 1e-9);
    assert_true(s.track.filter.score == 0.05 && s.track.filter.overlap == 0.5);
    assert_true(s.track.life.gate == 3 && s.track.motion.damping == 0.9 && s.track.life.covered == 0.5);
    assert_true(s.shortest == 0.33 && fabs(s.velocity_limit - 104.14) < 1e-9 && s.stitch_gap == 1);
    assert_true(s.method == SK_INTERPOLATION_CUBIC && s.interpolate_gap == 0.17 && !s.backward &&
                s.flip_burst == 7);
    assert_ptr_equal(s.track.filter.region, region);
    assert_true(sk_region_holds(region, 55, 65) && !sk_region_holds(region, 48, 53) &&
                !sk_region_holds(region, 90, 60));
    /* Of the others those that say something are named, and what nobody knows. */
    assert_string_equal(
        sk_hydra_without_counterpart(c),
        "weights of the cost (skitter weighs by likelihood): weight_area\npictures and data sets: "
        "dataset_class_name");
    assert_string_equal(sk_hydra_unknown(c), "max_targts (max_targets?)");
    sk_region_close(&region);
    sk_hydra_config_close(&c);
}

static void refused(const char *text, const char *part)
{
    sk_error err = {0};
    sk_hydra_config *c = NULL;
    sk_region *region = NULL;
    sk_offline_settings s;
    sk_offline_defaults(&s);
    sk_status status = sk_hydra_config_open(text, strlen(text), "c.json", &c, &err);
    if (status == SK_OK)
        status = sk_hydra_settings(c, "c.json", &s, &region, &err);
    assert_int_equal(status, SK_ERR_FORMAT);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" does not say \"%s\"", err.message, part);
    assert_null(region);
    sk_hydra_config_close(&c);
}

static void what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    refused("{\"fps\": 25,\n \"max_targets\": }", "line 2, column 17");
    refused("[1, 2]", "one JSON object, but this is a list");
    refused("{\"fps\": \"fast\"}", "fps must be a number, but is a text");
    refused("{\"fps\": true}", "fps must be a number, but is true or false");
    refused("{\"kalman_velocity_damping\": 7}", "kalman_velocity_damping is 7; it can be 0 to 1");
    refused("{\"max_targets\": 0}", "max_targets is 0");
    refused("{\"max_targets\": 1e99}", "max_targets is 1e+99");
    refused("{\"enable_backward_tracking\": \"yes\"}", "enable_backward_tracking must be true or false");
    refused("{\"interpolation_method\": \"magic\"}", "Linear, Cubic, Spline or None");
    refused("{\"roi_shapes\": [{\"type\": \"star\"}]}",
            "shape 1 of roi_shapes is neither a circle nor a polygon");
    refused("{\"roi_shapes\": [{\"type\": \"circle\", \"params\": [1, 2]}]}", "needs a centre and a radius");
    refused("{\"roi_shapes\": [{\"type\": \"polygon\", \"params\": [[1, 2], [3, 4], [5]]}]}", "corner");
}

static void real_configurations_are_known_to_the_last_key(void **state)
{
    (void)state;
    test_data_or_skip();
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", test_data("tracks/configs"));
    DIR *files = opendir(folder);
    assert_non_null(files);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[8192];
        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        sk_error err = {0};
        sk_hydra_config *c = NULL;
        sk_region *region = NULL;
        sk_offline_settings s;
        sk_offline_defaults(&s);
        assert_ok(sk_hydra_config_read(path, &c, &err), &err);
        assert_ok(sk_hydra_settings(c, path, &s, &region, &err), &err);
        assert_string_equal(sk_hydra_unknown(c), "");
        assert_true(s.track.fps > 0 && s.track.body > 0 && s.track.animals > 0);
        sk_tracker *tracker = NULL; /* and the tracker takes them */
        assert_ok(sk_tracker_open(&s.track, &tracker, &err), &err);
        sk_tracker_close(&tracker);
        sk_region_close(&region);
        sk_hydra_config_close(&c);
        n++;
    }
    closedir(files);
    assert_true(n >= 1);
}

/* JSON allows the empty name; the search for it must end. */
static void a_key_without_a_name_is_named_as_such(void **state)
{
    (void)state;
    static const char text[] = "{\"\": 1, \"max_targets\": 3}";
    sk_error err = {0};
    sk_hydra_config *c = NULL;
    assert_int_equal(sk_hydra_config_open(text, sizeof text - 1, "c.json", &c, &err), SK_OK);
    assert_string_equal(sk_hydra_unknown(c), "a key without a name");
    sk_hydra_config_close(&c);
}

static sk_status read_whole(void *context, sk_error *err)
{
    (void)context;
    sk_hydra_config *c = NULL;
    sk_region *region = NULL;
    sk_offline_settings s;
    sk_offline_defaults(&s);
    sk_status status = sk_hydra_config_open(whole, strlen(whole), "fly.json", &c, err);
    if (status == SK_OK)
        status = sk_hydra_settings(c, "fly.json", &s, &region, err);
    sk_region_close(&region);
    sk_hydra_config_close(&c);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    test_every_allocation(read_whole, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_becomes_settings),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(real_configurations_are_known_to_the_last_key),
        cmocka_unit_test(a_key_without_a_name_is_named_as_such),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
