/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of hydra-suite: every key that is used with its bounds, and what is said of those that are not. */
#include "support/fault.h"
#include "support/recorded.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/hydra_config.h"
#include "formats/hydra_keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_hydra_config *config;

static sk_status open_text(const char *text)
{
    return sk_hydra_config_open(text, strlen(text), "in.json", &config, &err);
}

static void good(const char *text)
{
    assert_ok(open_text(text), &err);
}

static void bad(const char *text, const char *why)
{
    const sk_status status = open_text(text);
    if (status == SK_OK || !strstr(err.message, why))
        fail_msg("%s: %s, not '%s'", text, status == SK_OK ? "taken" : err.message, why);
    assert_null(config);
}

static void set_to(const char *key, double value, char text[200])
{
    snprintf(text, 200, "{\"%s\": %.17g}", key, value);
}

/* A number may be the least and the most of its key, and nothing beyond. */
static void bounds_of_every_key(void **state)
{
    (void)state;
    static const char *const kinds[] = {"a number", "true or false", "a text", "a list"};
    static const char *const values[] = {"2", "true", "\"x\"", "[1]", "{\"a\": 1}"}, *const named[] = {
                                                                                         "a number",
                                                                                         "true or false",
                                                                                         "a text", "a list",
                                                                                         "an object"};
    const char *key;
    size_t n = 0;
    for (; (key = sk_hydra_used_key(n)); n++) {
        const hydra_used *u = hydra_find_used(key);
        char text[200], why[300];
        assert_non_null(u);
        assert_string_equal(u->key, key);
        assert_null(hydra_find_subject(key)); /* nobody is both */
        recorded_say("%s %d %g %g", key, (int)u->is, u->least, u->most);
        snprintf(text, sizeof text, "{\"%s\": null}", key);
        good(text);
        sk_hydra_config_close(&config);
        for (int k = 0; k < 5; k++) { /* of another kind */
            snprintf(text, sizeof text, "{\"%s\": %s}", key, values[k]);
            snprintf(why, sizeof why, "in.json: %s must be %s, but is %s", key, kinds[u->is], named[k]);
            if (k != (int)u->is)
                bad(text, why);
        }
        if (u->is != HYDRA_NUMBER)
            continue;
        for (int end = 0; end < 2; end++) {
            const double at = end ? u->most : u->least, beyond = nextafter(at, end ? INFINITY : -INFINITY);
            double got = 7;
            set_to(key, at, text);
            good(text);
            assert_true(sk_hydra_number(config, key, &got) && got == at);
            sk_hydra_config_close(&config);
            snprintf(why, sizeof why, "it can be %g to %g", u->least, u->most);
            set_to(key, beyond, text);
            bad(text, why);
        }
    }
    assert_true(n > 60 && n <= HYDRA_USED_MOST);
    recorded_check("tests/fixtures/formats/recorded/hydra_keys.txt");
}

static void keys_without_a_counterpart(void **state)
{
    (void)state;
    good("{\"show_yolo_obb\": true, \"zoom_factor\": 2, \"weight_area\": 1, \"max_targets\": 3, "
         "\"show_id_labels\": "
         "false, \"description\": \"\", \"preset_name\": null, \"dataset_class_names\": [], \"pelt_model\": "
         "{}}");
    assert_string_equal(sk_hydra_without_counterpart(config),
                        "weights of the cost (skitter weighs by likelihood): weight_area\n"
                        "drawing: show_yolo_obb, zoom_factor");
    assert_string_equal(sk_hydra_without_brief(config),
                        "weights of the cost (skitter weighs by likelihood): weight_area; drawing: "
                        "show_yolo_obb, zoom_factor");
    assert_string_equal(sk_hydra_unknown(config), "");
    sk_hydra_config_close(&config);
    /* ten are named, eleven are counted */
    static const char *const drawn[] = {
        "show_background_model",   "show_foreground_mask",   "show_id_labels",
        "show_kalman_uncertainty", "show_orientation_lines", "show_state_text",
        "show_track_markers",      "show_trajectory_trails", "show_yolo_obb"};
    for (int more = 1; more <= 2; more++) {
        sk_text text = {0};
        sk_text_append(&text, "{\"weight_area\": 1");
        for (int i = 0; i < 9; i++)
            sk_text_appendf(&text, ", \"%s\": true", drawn[i]);
        sk_text_append(&text, more == 2 ? ", \"weight_position\": 1}" : "}");
        good(sk_text_get(&text));
        sk_text_free(&text);
        if (more == 2)
            assert_string_equal(sk_hydra_without_brief(config),
                                "11 settings (-v names them): weights of the cost (2), drawing (9)");
        else
            assert_non_null(strstr(sk_hydra_without_brief(config),
                                   "weight_area; drawing: show_background_model, show_foreground_mask"));
        sk_hydra_config_close(&config);
    }
    /* frames that are made smaller by 1 are not made smaller */
    good("{\"resize_factor\": 1, \"fps\": 3}");
    assert_string_equal(sk_hydra_without_brief(config), "");
    sk_hydra_config_close(&config);
    good("{\"resize_factor\": 0.5}");
    assert_non_null(strstr(sk_hydra_without_brief(config), "resize_factor"));
    sk_hydra_config_close(&config);
}

static void keys_that_nobody_knows(void **state)
{
    (void)state;
    good("{\"max_targts\": 3, \"\": 1, \"quite something else\": 2}");
    assert_string_equal(sk_hydra_unknown(config),
                        "max_targts (max_targets?), a key without a name, quite something else");
    sk_hydra_config_close(&config);
    sk_text text = {0};
    sk_text_append(&text, "{\"fps\": 25");
    for (int i = 0; i < 2000; i++)
        sk_text_appendf(&text, ", \"zzzzzzzz %d\": 1", i);
    sk_text_append(&text, "}");
    good(sk_text_get(&text));
    assert_true(strlen(sk_hydra_unknown(config)) > 16 << 10 && strlen(sk_hydra_unknown(config)) < 17 << 10);
    sk_hydra_config_close(&config);
    sk_text_free(&text);
}

static void what_is_no_configuration(void **state)
{
    (void)state;
    bad("[1]", "in.json: a configuration is one JSON object, but this is a list");
    bad("{\"fps\": ", "in.json");
    for (int more = 0; more < 2; more++) {
        sk_text text = {0};
        sk_text_append(&text, "{");
        for (int i = 0; i < 10000 + more; i++)
            sk_text_appendf(&text, "%s\"%d\": 1", i ? "," : "", i);
        sk_text_append(&text, "}");
        if (more)
            bad(sk_text_get(&text), "has 10001 settings; a configuration has some three hundred");
        else
            good(sk_text_get(&text));
        sk_hydra_config_close(&config);
        sk_text_free(&text);
    }
    const size_t most = (size_t)4 << 20;
    char *blanks = sk_malloc(most + 1);
    assert_non_null(blanks);
    memset(blanks, ' ', most + 1);
    memcpy(blanks, "{}", 2);
    assert_ok(sk_hydra_config_open(blanks, most, "in.json", &config, &err), &err);
    sk_hydra_config_close(&config);
    assert_int_equal(sk_hydra_config_open(blanks, most + 1, "in.json", &config, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "4194305 bytes are no configuration"));
    sk_free(blanks);
    char path[4300];
    snprintf(path, sizeof path, "%s/c.json", test_folder());
    assert_ok(sk_file_replace(path, "{\"fps\": 9}", 10, &err), &err);
    assert_ok(sk_hydra_config_read(path, &config, &err), &err);
    double fps = 0;
    assert_true(sk_hydra_number(config, "fps", &fps) && fps == 9);
    sk_hydra_config_close(&config);
    assert_int_equal(sk_hydra_config_read(test_missing("c.json"), &config, &err), SK_ERR_NOT_FOUND);
}

/* Three of its keys, used here or not, make one. */
static void what_looks_like_one(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } cases[] = {{"{\"fps\": 1, \"zoom_factor\": 2, \"max_targets\": 3}", true},
                 {"{\"a\": 1, \"fps\": 1, \"b\": 2, \"gamma\": 2, \"zoom_factor\": 3}", true},
                 {"{\"fps\": 1, \"max_targets\": 3, \"a\": 2}", false},
                 {"{\"zoom\": 1, \"factor\": 3, \"target\": 2}", false},
                 {"[\"fps\", \"gamma\", \"zoom_factor\"]", false},
                 {"{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_config *tree = NULL;
        assert_ok(sk_config_open_json(cases[i].text, strlen(cases[i].text), "in", &tree, &err), &err);
        assert_int_equal(sk_hydra_config_is(sk_config_root(tree)), cases[i].is);
        sk_config_close(&tree);
    }
}

static void values_of_keys(void **state)
{
    (void)state;
    good("{\"fps\": 25.5, \"enable_postprocessing\": true, \"file_path\": \"a.mp4\", \"yolo_model_path\": "
         "\"\", "
         "\"roi_shapes\": [1, 2], \"start_frame\": null}");
    double number = 7;
    bool truth = false;
    assert_true(sk_hydra_number(config, "fps", &number) && number == 25.5);
    assert_false(sk_hydra_number(config, "start_frame", &number) ||
                 sk_hydra_number(config, "gamma", &number));
    assert_true(sk_hydra_truth(config, "enable_postprocessing", &truth) && truth);
    assert_false(sk_hydra_truth(config, "adaptive_background", &truth));
    assert_string_equal(sk_hydra_text(config, "file_path"), "a.mp4");
    assert_null(sk_hydra_text(config, "yolo_model_path"));
    assert_null(sk_hydra_text(config, "pose_model_dir"));
    assert_int_equal(sk_config_count(sk_hydra_list(config, "roi_shapes")), 2);
    assert_null(sk_hydra_list(config, "file_path"));
    sk_hydra_config_close(&config);
    good("{\"roi_shapes\": []}");
    assert_null(sk_hydra_list(config, "roi_shapes"));
    sk_hydra_config_close(&config);
}

static sk_status read_one(void *context, sk_error *error)
{
    sk_hydra_config *own = NULL;
    SK_TRY(sk_hydra_config_open(context, strlen(context), "in", &own, error));
    sk_hydra_config_close(&own);
    return SK_OK;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    static char text[] = "{\"fps\": 25, \"zoom_factor\": 2, \"weight_area\": 1, \"max_targts\": 3}";
    assert_true(test_every_allocation(read_one, text) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_every_key),       cmocka_unit_test(keys_without_a_counterpart),
        cmocka_unit_test(keys_that_nobody_knows),    cmocka_unit_test(what_is_no_configuration),
        cmocka_unit_test(what_looks_like_one),       cmocka_unit_test(values_of_keys),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
