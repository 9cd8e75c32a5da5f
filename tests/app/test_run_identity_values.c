/* SPDX-License-Identifier: Apache-2.0 */
/* What each member of a run's identity says, value by value; how differences are told; and the header made of it. */
#include "app/run_identity.h"
#include "base/file.h"
#include "models/model.h"
#include "support/fault.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_model finder = {.family = SK_FAMILY_YOLO, .task = SK_TASK_DETECT, .content_hash = "aa"};
static sk_model poses = {.family = SK_FAMILY_SLEAP, .content_hash = "bb"};
static const sk_model *models[2] = {&finder, &poses};
static sk_pipeline_info about;
static sk_predict_settings settings;
static sk_run_facts facts;
static char path_a[] = "a.pt", path_b[] = "b";

static void begin(int32_t n_models)
{
    sk_predict_defaults(&settings);
    settings.source = "v.mp4";
    settings.detector.runtime = "cpu";
    about = (sk_pipeline_info){
        .task = SK_TASK_DETECT, .n_models = n_models, .precision = "f32", .runtime = "cpu", .device = "d"};
    facts = (sk_run_facts){.settings = &settings, .about = &about, .models = models};
}

static const char *value(const char *name)
{
    static char out[256];
    sk_run_identity of = {0};
    char wanted[80];
    assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
    snprintf(wanted, sizeof wanted, "\n%s\t", name);
    const char *at = strstr(sk_text_get(&of.text), wanted);
    assert_non_null(at);
    at += strlen(wanted);
    snprintf(out, sizeof out, "%.*s", (int)strcspn(at, "\n"), at);
    sk_run_identity_free(&of);
    return out;
}

static void values(void **state)
{
    (void)state;
    static const int32_t classes[] = {3, 0, 7};
    begin(1);
    assert_string_equal(value("classes"), "all");
    settings.detector.classes = classes, settings.detector.n_classes = 3;
    assert_string_equal(value("classes"), "3,0,7");
    settings.detector.height = 320, settings.detector.width = 640;
    assert_string_equal(value("imgsz"), "320x640");
    assert_string_equal(value("shape"), "square");
    about.rect = SK_RECT_ON;
    assert_string_equal(value("shape"), "rect");
    assert_string_equal(value("heads"), "one-to-many");
    about.heads = SK_HEADS_ONE_TO_ONE;
    assert_string_equal(value("heads"), "one-to-one");
    assert_string_equal(value("runtime fallback"), "");
    settings.runtime_requested = "cuda", settings.runtime_fell_back = true;
    assert_string_equal(value("runtime fallback"), "cuda -> cpu");
    assert_string_equal(value("hwaccel"), "");
    assert_string_equal(value("models"), "aa");
    assert_string_equal(value("pictures"), "");
    static const char *const refinements[] = {"integral", "local", "none"},
                             *const overlaps[] = {"off", "iou", "oks"},
                             *const choices[] = {"off", "on", "auto"};
    for (int i = 0; i < 3; i++) {
        begin(2);
        settings.detector.sleap.refinement = i;
        settings.detector.sleap.overlap = i;
        settings.detector.crop_turned = settings.detector.mask_neighbours = (sk_choice)i;
        assert_string_equal(value("refinement"), refinements[i]);
        assert_string_equal(value("filter_overlapping"), overlaps[i]);
        assert_string_equal(value("crop_turned"), choices[i]);
        assert_string_equal(value("mask_neighbours"), choices[i]);
        about.n_models = 1; /* of one model nothing is cut */
        assert_string_equal(value("crop_turned"), "");
        assert_string_equal(value("mask_neighbours"), "");
    }
    begin(2);
    assert_string_equal(value("models"), "aa bb");
    settings.detector.peak_threshold = 0.25F;
    settings.detector.sleap.centroid_peak_threshold = -1;
    assert_string_equal(value("centroid_peak_threshold"), "0.25");
    settings.detector.sleap.centroid_peak_threshold = 0;
    assert_string_equal(value("centroid_peak_threshold"), "0");
    settings.detector.sleap.centroid_peak_threshold = 0.5F;
    assert_string_equal(value("centroid_peak_threshold"), "0.5");
}

/* Numbers with as many digits as they have: seven, and fifteen of those that are kept in double precision. */
static void digits(void **state)
{
    (void)state;
    begin(2);
    settings.detector.confidence = settings.detector.peak_threshold = 1.0F / 3;
    settings.detector.iou = 1.0 / 3;
    assert_string_equal(value("conf"), "0.3333333");
    assert_string_equal(value("iou"), "0.333333333333333");
    assert_string_equal(value("centroid_peak_threshold"), "0.3333333");
    settings.detector.sleap.centroid_peak_threshold = 2.0F / 3;
    assert_string_equal(value("centroid_peak_threshold"), "0.6666667");
}

/* Of an engine's own options those that change results and are not as usual. */
static void options_of_engines(void **state)
{
    (void)state;
    static const struct {
        const char *runtime, *options, *said;
    } rows[] = {{"cpu", NULL, ""},
                {"cpu", "", ""},
                {"cpu", "winograd=off,tune=off", "winograd=off"},
                {"cpu", "tune=off", ""},
                {"cpu", "mask=avx2", "mask=avx2"},
                {"nobody", NULL, ""},
                {"nobody", "winograd=off", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(1);
        settings.detector.runtime = rows[i].runtime;
        settings.detector.engine_options = rows[i].options;
        assert_string_equal(value("engine_options"), rows[i].said);
    }
}

/* How many pictures there are, and what they are called; what is in them is told elsewhere. */
static void names_of_pictures(void **state)
{
    (void)state;
    char folder[300], path[320], one[256], two[256];
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    snprintf(folder, sizeof folder, "%s/pictures", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < 3; i++) {
        sk_source *source = NULL;
        snprintf(path, sizeof path, "%s/%c.png", folder, 'a' + i);
        assert_ok(sk_file_replace(path, i ? "x" : "yyy", i ? 1 : 3, &err), &err);
        sk_source_defaults(&media);
        media.skip_unreadable = true;
        assert_ok(sk_source_open(folder, &media, &source, &err), &err);
        begin(1);
        facts.source = source;
        snprintf(i == 2 ? two : one, sizeof one, "%s", value("pictures"));
        sk_source_close(&source);
        char wanted[16];
        snprintf(wanted, sizeof wanted, "%d, names ", i + 1);
        assert_int_equal(strncmp(i == 2 ? two : one, wanted, strlen(wanted)), 0);
        assert_int_equal(strlen(i == 2 ? two : one), strlen(wanted) + 16);
    }
    assert_string_not_equal(one + 3, two + 3);
}

/* Skitter's own results do not depend on how frames go together; others' may. */
static void what_bits_depend_on(void **state)
{
    (void)state;
    static const struct {
        const char *runtime, *devices, *said, *batch;
    } rows[] = {{"cpu", NULL, "", ""},
                {"cpu", "auto", "", ""},
                {"cpu", "cpu", "", ""},
                {"cpu", "cpu:0,cpu:1", "cpu:0,cpu:1", ""},
                {"onnx_cpu", NULL, "", "4"},
                {"onnx_cpu", "auto", "auto", "4"},
                {"onnx_cpu", "onnx_cpu", "onnx_cpu", "4"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(2);
        settings.detector.runtime = rows[i].runtime;
        settings.devices = rows[i].devices;
        settings.detector.batch = settings.detector.crop_batch = 4;
        assert_string_equal(value("devices"), rows[i].said);
        assert_string_equal(value("batch"), rows[i].batch);
        assert_string_equal(value("crop_batch"), rows[i].batch);
        about.n_models = 1;
        assert_string_equal(value("crop_batch"), "");
        assert_string_equal(value("batch"), rows[i].batch);
    }
}

static void how_colours_are_read(void **state)
{
    (void)state;
    begin(1);
    for (int own = 0; own < 2; own++) {
        about.colours = own ? SK_COLOURS_BT601 : SK_COLOURS_TAGGED;
        settings.colours = SK_PREDICT_COLOURS_ORIGINAL;
        assert_int_equal(sk_run_colours_of(&settings, &about), about.colours);
        assert_string_equal(value("colours"), own ? "bt601" : "tagged");
        settings.colours = SK_PREDICT_COLOURS_TAGGED;
        assert_int_equal(sk_run_colours_of(&settings, &about), SK_COLOURS_TAGGED);
        settings.colours = SK_PREDICT_COLOURS_BT601;
        assert_int_equal(sk_run_colours_of(&settings, &about), SK_COLOURS_BT601);
    }
}

/* --- differences --- */

static void differ(const char *before, const char *now, const char *wanted)
{
    sk_text what = {0};
    sk_run_identity_difference(before, now, &what);
    assert_string_equal(sk_text_get(&what), wanted);
    sk_text_free(&what);
}

static void differences(void **state)
{
    (void)state;
    char a[400], b[400], wanted[800];
    differ("a\t1\nb\t2\n", "a\t1\nb\t2\n", "");
    differ("a\t1\nb\t2\n", "b\t2\na\t1\n", ""); /* their order says nothing */
    differ("a\t1\n", "a\t2\n", "a 1 -> 2");
    differ("a\t1\n", "a\t12\n", "a 1 -> 12");
    differ("a\t\n", "a\t2\n", "a (none) -> 2");
    differ("a\t1\nb\t2\n", "b\t3\n", "a 1 -> (none), b 2 -> 3");
    differ("b\t3\n", "a\t1\nb\t2\nc\t4\n", "b 3 -> 2, a (none) -> 1, c (none) -> 4");
    differ("ab\t1\n", "a\t1\n", "ab 1 -> (none), a (none) -> 1");
    differ("", "", "");
    for (int length = 119; length <= 121; length++) { /* so much of a value is told */
        snprintf(a, sizeof a, "x\t%0*d\n", length, 1);
        snprintf(b, sizeof b, "x\t%0*d\n", length, 2);
        snprintf(wanted, sizeof wanted, "x %.*s%s -> %.*s%s", length > 120 ? 120 : length, a + 2,
                 length > 120 ? "…" : "", length > 120 ? 120 : length, b + 2, length > 120 ? "…" : "");
        differ(a, b, wanted);
    }
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_run_identity_json("a\t1\nb c\tx\ty\nbroken", "identity", &json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_non_null(strstr(sk_text_get(&text), "{\"identity\":{\"a\":\"1\",\"b c\":\"x\\ty\"}}"));
    sk_text_free(&text);
}

/* --- headers --- */

static void what_headers_say(void **state)
{
    (void)state;
    sk_run_identity of = {0};
    sk_run_header h;
    begin(2);
    finder.path = path_a, poses.path = path_b;
    facts.info = (sk_source_info){
        .kind = SK_SOURCE_VIDEO, .width = 64, .height = 48, .rate = 25, .total = 9, .frame_id = "eye"};
    about.rect = SK_RECT_AUTO;
    about.n_keypoints = 0;
    assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
    sk_run_header_of(&facts, &of, &h);
    assert_string_equal(h.source_kind, "video");
    assert_true(h.width == 64 && h.height == 48 && h.rate == 25 && h.source_frames == 9 && h.n_models == 2);
    assert_string_equal(h.frame_id, "eye");
    assert_string_equal(h.model_paths[0], "a.pt");
    assert_string_equal(h.model_paths[1], "b");
    assert_string_equal(h.model_hashes[1], "bb");
    assert_true(!h.shape && !h.heads && h.input_width == 0 && h.settings == sk_text_get(&of.settings));
    /* both kinds of model: what applies to either is there, and nothing that is hidden */
    assert_true(strstr(h.settings, "conf 0.25; iou 0.7; ") && strstr(h.settings, "; peak_threshold 0.2; ") &&
                !strstr(h.settings, "source") && !strstr(h.settings, "runtime ") &&
                strncmp(h.settings, "colours ", 8) == 0 && !strstr(h.settings, "topic"));
    facts.info.kind = SK_SOURCE_PICTURES, facts.info.frame_id = NULL;
    sk_run_header_of(&facts, &of, &h);
    assert_string_equal(h.source_kind, "pictures");
    assert_string_equal(h.frame_id, "");
    facts.info.kind = SK_SOURCE_LIVE;
    sk_run_header_of(&facts, &of, &h);
    assert_string_equal(h.source_kind, "live");
    sk_run_identity_free(&of);
    for (int kind = 0; kind < 3; kind++) { /* one of the kinds, or somebody else who finds */
        begin(1);
        models[0] = kind == 1 ? &poses : &finder;
        finder.family = kind == 2 ? SK_FAMILY_GIVEN : SK_FAMILY_YOLO;
        assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
        assert_true((strstr(sk_text_get(&of.settings), "conf ") != NULL) == (kind == 0));
        assert_true((strstr(sk_text_get(&of.settings), "peak_threshold ") != NULL) == (kind == 1));
        sk_run_identity_free(&of);
    }
    models[0] = &finder, finder.family = SK_FAMILY_YOLO;
}

static sk_run_identity whole;

/* Half an identity would be another run's: it is all there, or it is said that it is not. */
static sk_status make(void *context, sk_error *error)
{
    sk_run_identity of = {0};
    (void)context;
    sk_status status = sk_run_identity_of(&facts, &of, error);
    if (status == SK_OK && (strcmp(sk_text_get(&of.text), sk_text_get(&whole.text)) != 0 ||
                            strcmp(sk_text_get(&of.settings), sk_text_get(&whole.settings)) != 0))
        status = sk_fail(error, SK_ERR_FORMAT, "a part is missing");
    sk_run_identity_free(&of);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    char long_path[5000]; /* longer than what texts begin with */
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    for (int there = 0; there < 2; there++) {
        begin(2);
        settings.source = there ? test_source("tests/fixtures/grey_64x48.png") : long_path;
        assert_ok(sk_run_identity_of(&facts, &whole, &err), &err);
        assert_true(test_every_allocation(make, NULL) > 4);
        sk_run_identity_free(&whole);
    }
}

/* A member's name is told whole. */
static void long_names(void **state)
{
    (void)state;
    char line[120], wanted[140];
    snprintf(line, sizeof line, "%063d\tx\n", 7);
    snprintf(wanted, sizeof wanted, "{\"identity\":{\"%063d\":\"x\"}}", 7);
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_run_identity_json(line, "identity", &json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_non_null(strstr(sk_text_get(&text), wanted));
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(digits),
        cmocka_unit_test(options_of_engines),
        cmocka_unit_test(names_of_pictures),
        cmocka_unit_test(what_bits_depend_on),
        cmocka_unit_test(how_colours_are_read),
        cmocka_unit_test(differences),
        cmocka_unit_test(what_headers_say),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
