/* SPDX-License-Identifier: Apache-2.0 */
/* What 'artifacts' and 'quantize' print of rows made up so that every figure can be told from the others. */
#include "said.h"

#include "base/text.h"
#include "cli/artifact_table.h"
#include "cli/precisions.h"
#include "cli/quantise_table.h"

#include <math.h>

static said s;
static sk_error err;

static sk_artifact_row a_row(sk_artifact_state state)
{
    sk_artifact_row r = {.path = "/models/m.onnx",
                         .state = state,
                         .bytes = 123456,
                         .record = {.model = "/models/m.pt", .made = "2024-01-02", .n_checks = 2}};
    r.record.key = (sk_artifact_key){.form = "onnx",
                                     .batch = 2,
                                     .height = 320,
                                     .width = 640,
                                     .precision = "f16",
                                     .architecture = "sm_90",
                                     .library = "a library",
                                     .version = "0.1.0/1"};
    r.record.checks[0] = (sk_artifact_check){"onnx_cpu", "ONNX Runtime 1", 0.75, 0.125};
    r.record.checks[1] = (sk_artifact_check){"openvino", "OpenVINO 2", 0.5, 0.25};
    return r;
}

static void tell(sk_text *all, const sk_artifact_row *r, const char *did)
{
    said_begin(&s);
    sk_cli_print_artifact(r, did);
    sk_json j = sk_json_to_file(stdout, 2);
    sk_cli_print_artifact_json(&j, r, did);
    s.status = sk_json_end(&j, &err);
    said_end(&s);
    assert_ok(s.status, &err);
    sk_text_append(all, s.out);
}

static void artifacts(void **state)
{
    (void)state;
    sk_text all = {0};
    static const sk_artifact_state states[] = {SK_ARTIFACT_FRESH, SK_ARTIFACT_USER};
    for (int i = 0; i < 2; i++) {
        sk_artifact_row r = a_row(states[i]);
        tell(&all, &r, NULL);
        r.record.exported = true;
        tell(&all, &r, NULL);
        tell(&all, &r, "kept");
        r.record.key.dynamic_size = true;
        r.unread = true;
        snprintf(r.why, sizeof r.why, "a reason");
        tell(&all, &r, NULL);
        r.orphan = true;
        r.in_cache = true;
        r.stranger = true;
        r.record.n_checks = 0;
        tell(&all, &r, NULL);
    }
    said_is("artifact_rows", sk_text_get(&all));
    sk_text_free(&all);
}

static void quantised(void **state)
{
    (void)state;
    sk_text all = {0};
    static sk_quantize_row rows[3] = {
        {.name = "model.0.conv",
         .weight_error = 0.01,
         .error = 0.02,
         .low = -1,
         .high = 2,
         .sensitivity = 0.0125},
        {.name = "model.1.conv", .kept = true, .weight_error = 0.03, .error = 0.06, .low = -3, .high = 4},
        {.name = "model.2.conv",
         .weight_error = 0.05,
         .error = 0.04,
         .low = -5,
         .high = 6,
         .sensitivity = 0.5}};
    sk_quantize_report r = {
        .n_rows = 3, .rows = rows, .correlation = 0.998877, .bytes = 7654321, .seconds = 12.5};
    snprintf(r.about.precision, sizeof r.about.precision, "i8");
    snprintf(r.about.made_by, sizeof r.about.made_by, "0");
    r.about.frames = 100;
    r.about.layers = 20;
    r.about.kept = 2;
    r.about.loss.frames = 25;
    snprintf(r.about.measured_by, sizeof r.about.measured_by, "cpu, i8");
    r.asked = 100;
    for (int i = 0; i < 4; i++) {
        if (i == 1) {
            snprintf(r.about.precision, sizeof r.about.precision, "fp8");
            snprintf(r.truth_of, sizeof r.truth_of, "boxes");
            r.truth[0] = (sk_quantize_score){0.91, 0.92, 0.93, 0.94, -1};
            r.truth[1] = (sk_quantize_score){0.81, 0.82, 0.83, 0.84, -1};
            r.about.loss.frames = 1;
            r.about.frames = 72;
        } else if (i == 2) { /* measured, of a model without points */
            r.about.measured = true;
            r.about.kept = 1;
            r.about.loss = (sk_loss){.frames = 1,
                                     .instances = 7,
                                     .percent = 2.5,
                                     .box_px = 0.5,
                                     .box_px_95 = 1.5,
                                     .keypoint_px = NAN,
                                     .keypoint_px_95 = NAN};
            r.truth[0].median_px = 0;
            r.truth[1].median_px = 1.75;
        } else if (i == 3) {
            r.n_rows = 0;
            r.about.frames = 100;
            r.truth_of[0] = '\0';
        }
        sk_text_appendf(&all, "===== %d\n", i);
        said_begin(&s);
        sk_cli_print_quantised("m.skq", &r, i < 2);
        s.status = sk_cli_print_quantised_json(&r, &err);
        said_end(&s);
        assert_ok(s.status, &err);
        sk_text_append(&all, s.out);
    }
    said_is("quantised", sk_text_get(&all));
    sk_text_free(&all);
}

/* The usual one first, then the others in their own order, each once. */
static void precisions(void **state)
{
    (void)state;
    enum {
        F32 = 1 << SK_PRECISION_F32,
        F16 = 1 << SK_PRECISION_F16,
        BF16 = 1 << SK_PRECISION_BF16,
        I8 = 1 << SK_PRECISION_I8,
        TF32 = 1 << SK_PRECISION_TF32,
        FP8 = 1 << SK_PRECISION_FP8
    };
    static const struct {
        uint32_t precisions;
        sk_precision usual;
        const char *text;
    } cases[] = {{0, SK_PRECISION_AUTO, ""},
                 {F32, SK_PRECISION_AUTO, "f32"},
                 {F16, SK_PRECISION_F16, "f16"},
                 {F32 | F16 | BF16 | I8, SK_PRECISION_AUTO, "f32, f16, bf16, i8"},
                 {F32 | F16 | BF16 | I8 | TF32 | FP8, SK_PRECISION_BF16, "bf16, f32, f16, i8, tf32, fp8"},
                 {F32 | F16 | BF16 | I8 | TF32 | FP8, SK_PRECISION_FP8, "fp8, f32, f16, bf16, i8, tf32"},
                 {F16 | TF32, SK_PRECISION_TF32, "tf32, f16"},
                 {F16, SK_PRECISION_F32, ""}}; /* not even the usual one: nothing is said */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SK_PRECISIONS_TEXT], *rest = NULL;
        const sk_capabilities can = {.precisions = cases[i].precisions, .usual = cases[i].usual};
        assert_string_equal(sk_cli_precisions(&can, text), cases[i].text);
        sk_text json = {0}, expected = {0};
        sk_json j = sk_json_to_text(&json, 0);
        sk_json_object(&j);
        sk_cli_json_precisions(&j, &can);
        sk_json_close(&j);
        assert_ok(sk_json_end(&j, &err), &err);
        sk_text_append(&expected, "{\"precisions\":[");
        for (char *word = strtok_r(text, ", ", &rest), *first = word; word;
             word = strtok_r(NULL, ", ", &rest))
            sk_text_appendf(&expected, "%s\"%s\"", word == first ? "" : ",", word);
        sk_text_append(&expected, "]}\n");
        assert_string_equal(sk_text_get(&json), sk_text_get(&expected));
        sk_text_free(&json);
        sk_text_free(&expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(artifacts), cmocka_unit_test(quantised),
                                       cmocka_unit_test(precisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
