/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor and runtimes say of a machine that is made up. */
#include "machine.h"

#include "base/memory.h"
#include "base/text.h"
#include "cli/precisions.h"
#include "formats/skq.h"
#include "models/quantised.h"
#include "ros/dds_api.h"

static said s;
static sk_error err;
static sk_runtimes_view view;

/* --- doctor --- */

static void doctor_has_a_table(void **state)
{
    (void)state;
    sk_runtimes_look(0, true, &view);
    assert_true(view.rows[SK_RUNTIME_CPU].available && view.rows[SK_RUNTIME_ONNX_CPU].available &&
                view.rows[SK_RUNTIME_ONNX_CUDA].available && !view.rows[SK_RUNTIME_OPENVINO].available);
    sk_text all = {0};
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_probe_row *row = &view.rows[i];
        char precisions[SK_PRECISIONS_TEXT];
        const sk_capabilities can = sk_runtimes_can(&view, (sk_runtime)i);
        if (!row->available) {
            sk_text_appendf(&all, "%-10s no   %s\n", sk_runtime_name((sk_runtime)i), row->reason);
            if (row->remedy[0])
                sk_text_appendf(&all, "                -> %s\n", row->remedy);
            continue;
        }
        sk_text_appendf(&all, "%-10s yes  %s\n", sk_runtime_name((sk_runtime)i),
                        sk_runtime_meaning((sk_runtime)i));
        if (i == SK_RUNTIME_ONNX_CPU)
            sk_text_append(&all, "                /lib/libthis.so, version 1.22\n                one device\n"
                                 "                another\n                computes in f32\n");
        else if (i == SK_RUNTIME_ONNX_CUDA)
            sk_text_append(&all, "                /lib/libthis.so, version not told\n");
        for (int32_t d = 0; d < row->n_devices && i == SK_RUNTIME_CPU; d++)
            sk_text_appendf(&all, "                %s\n", row->devices[d]);
        if (i != SK_RUNTIME_ONNX_CPU)
            sk_text_appendf(&all, "                computes in %s\n", sk_cli_precisions(&can, precisions));
        sk_text_append(&all, "                a test convolution ran and was right\n");
    }
    said_has(sk_text_get(&all), "openvino   no   libthat.so is not here\n                -> apt-get install "
                                "that\n");
    setenv("SKITTER_DDS_LIBRARY", "/nowhere/libddsc.so", 1);
    sk_error problem = {0};
    assert_int_equal(sk_dds_load(&problem), SK_ERR_UNSUPPORTED);
    sk_text_appendf(&all, "\nROS 2      no   %s\n", problem.message);
    SAID_OK(&s, "doctor");
    assert_string_equal(s.out, sk_text_get(&all));
    sk_text_free(&all);
}

static void doctor_for_programs(void **state)
{
    (void)state;
    SAID_OK(&s, "doctor --json");
    assert_ptr_equal(
        strstr(s.out, "{\n  \"runtimes\": [\n    {\n      \"name\": \"cpu\",\n      \"label\": \""), s.out);
    said_has(
        s.out,
        "\"name\": \"onnx_cpu\",\n      \"label\": \"ONNX (CPU)\",\n      \"available\": true,\n      "
        "\"reason\": \"a test convolution ran and was right\",\n      \"remedy\": null,\n      \"library\": "
        "\"/lib/libthis.so\",\n      \"version\": \"1.22\",\n      \"devices\": [\n        \"one device\",\n "
        "       \"another\"\n      ],\n      \"precisions\": [\n        \"f32\"\n      ]\n    },\n");
    said_has(s.out, "\"available\": false,\n      \"reason\": \"libthat.so is not here\",\n      \"remedy\": "
                    "\"apt-get install that\",\n      \"library\": null,\n      \"version\": null,\n      "
                    "\"devices\": [],\n");
    said_has(s.out,
             "\n  ],\n  \"ros2\": {\n    \"available\": false,\n    \"library\": null,\n    \"reason\": \"");
    said_lacks(s.out, "\"models\"");
    unsetenv("SKITTER_DDS_LIBRARY"); /* from here on the machine's own, where it has one */
    sk_error problem = {0};
    if (sk_dds_load(&problem) != SK_OK)
        return;
    char text[4400];
    SAID_OK(&s, "doctor --json");
    snprintf(text, sizeof text,
             "\"ros2\": {\n    \"available\": true,\n    \"library\": \"%s\",\n    \"reason\": null\n  "
             "}\n}\n",
             sk_dds.path);
    said_has(s.out, text);
    SAID_OK(&s, "doctor");
    snprintf(text, sizeof text, "\nROS 2      yes  Cyclone DDS, for 'skitter node'\n                %s\n",
             sk_dds.path);
    said_has(s.out, text);
}

static void make_skq(const char *path, const char *precision)
{
    sk_quantised q = {.frames = 40, .layers = 9, .kept = 2, .source = "m.pt", .data = "film.mp4"};
    snprintf(q.precision, sizeof q.precision, "%s", precision);
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_quantised_write(&q, &json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    const sk_skq parts = {.json = sk_text_get(&text),
                          .json_length = strlen(sk_text_get(&text)),
                          .network = "none",
                          .network_length = 4};
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_skq_write(&parts, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    sk_free(bytes);
    sk_text_free(&text);
}

/* Which runtimes compute in a precision is the engines' to say. */
static void append_who(sk_text *all, sk_precision precision)
{
    int n = 0;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        if (sk_engine_can(sk_runtime_name((sk_runtime)i))->precisions >> precision & 1)
            sk_text_appendf(all, "%s%s", n++ ? ", " : "", sk_runtime_name((sk_runtime)i));
    assert_true(n > 0);
}

static void doctor_looks_at_models(void **state)
{
    (void)state;
    make_skq("a.skq", "i8");
    make_skq("b.skq", "fp8");
    machine_file("c.pt", "no such model");
    sk_text all = {0};
    sk_quantised q;
    bool is = false;
    char text[SK_QUANTISED_TEXT];
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_quantised_look(i ? "b.skq" : "a.skq", &q, &is, &err), &err);
        sk_text_appendf(&all, "%s.skq: %s\n                computed in %s by ", i ? "b" : "\na",
                        sk_quantised_text(&q, text), i ? "fp8" : "i8");
        append_who(&all, i ? SK_PRECISION_FP8 : SK_PRECISION_I8);
        sk_text_appendf(&all, "%s; elsewhere --precision f32, with its rounded weights\n",
                        i ? " on GPUs of compute capability 8.9 and newer" : "");
    }
    SAID_OK(&s, "doctor a.skq b.skq");
    said_has(s.out, sk_text_get(&all));
    sk_text_free(&all);
    SAID_OK(&s, "doctor b.skq --json");
    said_has(s.out, "\n  \"models\": [\n    {\n      \"path\": \"b.skq\",\n      ");
    said_has(s.out, "\"precision\": \"fp8\"");
    assert_string_equal(s.out + strlen(s.out) - 12, "    }\n  ]\n}\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "c.pt: is no model in eight bits (.skq); 'skitter info' tells of others",
                 "doctor c.pt");
    SAID_REFUSES(&s, SK_ERR_ARG, "c.pt: is no model in eight bits", "doctor c.pt --json");
    assert_string_equal(s.out, "");
    /* nothing is printed where one cannot be read, rather than a part of it */
    machine_file("empty.skq", "");
    machine_file("bad.skq", "SKQ");
    static const struct {
        const char *name, *words;
        sk_status code;
    } bad[] = {{"missing.skq", "missing.skq: no such file or folder", SK_ERR_NOT_FOUND},
               {"empty.skq", "empty.skq: the file is empty; fetch it again", SK_ERR_FORMAT},
               {"bad.skq", "bad.skq: is no model in eight bits (.skq)", SK_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int json = 0; json < 2; json++) {
            SAID_REFUSES(&s, bad[i].code, bad[i].words, "doctor a.skq %s%s", bad[i].name,
                         json ? " --json" : "");
            assert_string_equal(s.out, "");
        }
}

/* --- runtimes --- */

static void runtimes_are_listed(void **state)
{
    (void)state;
    sk_runtimes_look(0, true, &view); /* renews what is remembered */
    sk_runtimes_look(0, false, &view);
    sk_text all = {0};
    char precisions[SK_PRECISIONS_TEXT];
    for (int32_t i = 0; i < view.gate.n_allowed; i++) {
        const sk_runtime r = view.gate.allowed[i];
        const sk_capabilities can = sk_runtimes_can(&view, r);
        sk_text_appendf(&all, "%-10s %-12s %s: %s\n", sk_runtime_name(r), sk_runtime_label(r),
                        sk_runtime_meaning(r), sk_cli_precisions(&can, precisions));
    }
    sk_text_append(&all, "\nNot here:\n");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        if (!view.gate.is_allowed[i])
            sk_text_appendf(&all, "%-10s %s\n", sk_runtime_name((sk_runtime)i), view.gate.because[i]);
    SAID_OK(&s, "runtimes");
    assert_string_equal(s.out, sk_text_get(&all));
    said_has(s.out, "\nopenvino   ");
    SAID_OK(&s, "runtimes --json");
    said_has(s.out, "{\n  \"pipelines\": [],\n  \"allowed\": [\n    \"");
    said_has(s.out, "\n  ],\n  \"excluded\": [\n    {\n      \"name\": \"");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        char text[512];
        snprintf(text, sizeof text, "      \"name\": \"%s\",\n      \"because\": \"",
                 sk_runtime_name((sk_runtime)i));
        assert_int_equal(strstr(s.out, text) == NULL, view.gate.is_allowed[i]);
    }
    said_has(s.out, "\n  ],\n  \"engines\": [\n    {\n      \"name\": \"");
    SAID_OK(&s, "runtimes --json --pipelines yolo_pose,sleap_pose");
    said_has(s.out, "{\n  \"pipelines\": [\n    \"yolo_pose\",\n    \"sleap_pose\"\n  ],\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "runtimes --pipelines nonsense");
    sk_text_clear(&all);
    for (int i = 0; i < 17; i++)
        sk_text_append(&all, " x.pt");
    SAID_REFUSES(&s, SK_ERR_ARG, "at most 16 models at a time", "runtimes%s", sk_text_get(&all));
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "x.pt", "runtimes%s", sk_text_get(&all) + 5);
    sk_text_free(&all);
}

/* Every engine's own options, here or not. */
static void options_of_engines(void **state)
{
    (void)state;
    sk_text all = {0};
    char precisions[SK_PRECISIONS_TEXT], takes[128];
    for (int32_t i = 0; i < sk_engine_count(); i++) {
        const sk_engine *e = sk_engine_at(i);
        sk_runtime r;
        const sk_capabilities can = sk_runtime_find(e->name, &r) ? sk_runtimes_can(&view, r) : e->can;
        sk_text_appendf(&all, "%s%-10s %s; %s; %s%s\n", i ? "\n" : "", e->name,
                        sk_device_kind_name(e->can.device), sk_cli_precisions(&can, precisions),
                        e->can.free_shapes ? "any shape at once" : "a file for each shape",
                        e->can.same_bits ? "; the same bits with any number of threads" : "");
        for (const sk_engine_option *o = e->options; o && o->key; o++) {
            sk_text_appendf(&all, "  %s=%s", o->key, sk_options_takes(o, takes, sizeof takes));
            if (o->usual)
                sk_text_appendf(&all, " (%s)", o->usual);
            sk_text_appendf(&all, "\n      %s\n", o->help);
        }
        if (!e->options)
            sk_text_append(&all, "  no options\n");
    }
    SAID_OK(&s, "runtimes --options");
    assert_string_equal(s.out, sk_text_get(&all));
    sk_text_free(&all);
    SAID_OK(&s, "runtimes --json");
    said_has(s.out, "\"options\": [\n        {\n          \"key\": \"");
    said_has(s.out, "\"key\": \"winograd\",\n          \"takes\": \"on|off\",\n          \"usual\": \"on\",");
    said_has(
        s.out,
        "\"name\": \"cpu\",\n      \"device\": \"processor\",\n      \"precisions\": [\n        \"f32\"");
}

int main(int argc, char **argv)
{
    if (!machine_begin(argc, argv))
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doctor_has_a_table),     cmocka_unit_test(doctor_for_programs),
        cmocka_unit_test(doctor_looks_at_models), cmocka_unit_test(runtimes_are_listed),
        cmocka_unit_test(options_of_engines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
