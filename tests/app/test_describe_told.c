/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that `info` says of a model, as text and as JSON: each fact by itself, in a model that is changed by hand. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/describe.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_text all;
static sk_model *model;
static sk_model before;

/* Adds what is said, without the path and the hash; JSON on one line. */
static void tell(const char *title, sk_describe_settings settings)
{
    sk_text_appendf(&all, "--- %s\n", title);
    for (int json = 0; json < 2; json++) {
        char *text = NULL, shown[512];
        settings.json = json;
        assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
        for (const char *line = text; *line;) {
            const size_t n = strcspn(line, "\n"), from = json ? strspn(line, " ") : 0;
            snprintf(shown, sizeof shown, "%.*s", (int)(n - from), line + from);
            if (strstr(shown, model->content_hash))
                snprintf(shown, sizeof shown, json ? "\"sha256\": …" : "sha256       …");
            else if (strstr(shown, test_folder()))
                snprintf(shown, sizeof shown, json ? "\"path\": …" : "…");
            sk_text_appendf(&all, "%s%s", shown, json ? " " : "\n");
            line += n + (line[n] == '\n');
        }
        sk_text_append(&all, json ? "\n" : "");
        sk_free(text);
    }
    model->input = before.input;
    model->family = before.family;
    model->truncated = before.truncated;
    model->n_outputs = before.n_outputs;
    model->graph = before.graph;
    model->sleap = before.sleap;
    model->yolo = before.yolo;
    model->n_classes = before.n_classes;
    model->class_names = before.class_names;
    model->n_keypoints = before.n_keypoints;
    model->keypoint_names = before.keypoint_names;
    model->n_edges = before.n_edges;
    model->n_facts = before.n_facts;
    model->architecture = before.architecture;
}

static void open_model(const char *head)
{
    const yolo_fixture fixture = {.head = head, .f32 = true, .imgsz = 64};
    sk_model_close(&model);
    assert_ok(sk_model_open(yolo_save(&fixture, "told.pt"), &model, &err), &err);
    before = *model;
}

static void said(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                        "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v"};
    const sk_describe_settings plain = {0};
    open_model("Pose");
    tell("as it is", plain);
    tell("at 50 x 71", (sk_describe_settings){.height = 50, .width = 71});
    tell("at 320 x 320, which is usual", (sk_describe_settings){.height = 320, .width = 320});
    tell("at 320 x 640", (sk_describe_settings){.height = 320, .width = 640});
    model->truncated = 1;
    model->n_facts = 0;
    tell("cut off, without facts", plain);
    model->input.fixed_size = 1;
    model->input.fixed_batch = 2;
    tell("one size, two pictures", plain);
    model->input.rgb = !model->input.rgb;
    tell("other colours", plain);
    model->n_classes = 12;
    model->class_names = names;
    model->n_keypoints = 20;
    model->keypoint_names = names;
    model->n_edges = 0;
    tell("as many names as are shown", plain);
    model->n_classes = 13;
    model->class_names = names;
    model->n_keypoints = 21;
    model->keypoint_names = names;
    model->n_edges = 0;
    tell("one more", plain);
    model->n_classes = 0;
    model->n_keypoints = 0;
    model->n_outputs = 0;
    model->architecture = NULL;
    tell("nothing of classes, keypoints and outputs", plain);
    model->graph = NULL;
    tell("no graph", plain);
    model->yolo.end2end = 1;
    model->yolo.keypoint_dims = 0;
    tell("end to end", plain);
    model->family = SK_FAMILY_NONE;
    tell("outputs that nobody interprets", plain);
    model->family = SK_FAMILY_SLEAP;
    model->sleap = (sk_sleap_spec){.input_scale = 0.5f, .crop_size = {96, 80}, .anchor_part = "nose"};
    tell("of SLEAP, crops", plain);
    model->family = SK_FAMILY_SLEAP;
    model->sleap = (sk_sleap_spec){.input_scale = 1, .target_size = {384, 256}};
    tell("of SLEAP, whole", plain);
    open_model("Segment");
    tell("two outputs", plain);
    test_text_is("tests/app/told/describe.txt", sk_text_get(&all));
    sk_text_free(&all);
    sk_model_close(&model);
}

static int lines_with(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Layer by layer, behind all else; in JSON as a list of the same lines. */
static void layers(void **state)
{
    (void)state;
    char *plain = NULL, *text = NULL, *json = NULL;
    open_model("Detect");
    assert_ok(sk_describe_model(model, &(sk_describe_settings){0}, &plain, &err), &err);
    assert_ok(sk_describe_model(model, &(sk_describe_settings){.layers = true}, &text, &err), &err);
    assert_ok(sk_describe_model(model, &(sk_describe_settings){.layers = true, .json = true}, &json, &err),
              &err);
    const size_t n = strlen(plain);
    assert_int_equal(strncmp(plain, text, n), 0);
    assert_int_equal(strncmp(text + n, "\n\ninput  %0", 11), 0);
    assert_true(text[strlen(text) - 1] != '\n' && !strstr(text + n + 2, "\n\n"));
    assert_true(lines_with(text + n, "  conv ") > 8 &&
                lines_with(json, "  conv ") == lines_with(text + n, "  conv "));
    assert_non_null(strstr(json, "\"layers\": [\n    \"input  %0"));
    sk_free_all(plain, text, json);
    sk_model_close(&model);
}

static void names_of_kinds(void **state)
{
    (void)state;
    static const char *const kinds[] = {"other",        "yolo",          "yolo_end2end", "yolo_proto",
                                        "class_scores", "confmaps",      "pafs",         "offsets",
                                        "class_maps",   "class_vectors", "other",        "other"};
    for (int i = 0; i < 12; i++)
        assert_string_equal(sk_output_kind_name((sk_output_kind)i), kinds[i]);
    static const char *const formats[] = {"unknown",
                                          "Ultralytics checkpoint",
                                          "SLEAP model folder (Keras, SLEAP <= 1.4)",
                                          "sleap-nn model folder",
                                          "ONNX file",
                                          "skitter model in eight bits",
                                          "unknown"};
    for (int i = 0; i < 7; i++)
        assert_string_equal(sk_model_format_name((sk_model_format)i), formats[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(said), cmocka_unit_test(layers),
                                       cmocka_unit_test(names_of_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
