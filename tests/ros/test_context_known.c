/* SPDX-License-Identifier: Apache-2.0 */
#include "support/known.h"
#include "support/test.h"

#include "base/text.h"
#include "ros/context.h"
#include "ros/own_manifest.h"

#include <stdio.h>
#include <string.h>

/* What templates are given of a model: every key and value of it, known for models of every task, on each kind of backend. */

static void dump(const sk_config_value *v, int depth, sk_text *out)
{
    char number[SK_TEXT_NUMBER];
    switch (v->kind) {
    case SK_CONFIG_MAP:
        for (size_t i = 0; i < v->length; i++) {
            sk_text_appendf(out, "\n%*s%s: ", 2 * depth, "", v->u.pairs[i].name);
            if (strcmp(v->u.pairs[i].name, "skitter_version") == 0)
                sk_text_append(out, "as it is");
            else
                dump(v->u.pairs[i].value, depth + 1, out);
        }
        break;
    case SK_CONFIG_LIST:
        for (size_t i = 0; i < v->length; i++) {
            sk_text_appendf(out, "\n%*s- ", 2 * depth, "");
            dump(v->u.items[i], depth + 1, out);
        }
        break;
    case SK_CONFIG_BOOL: sk_text_append(out, v->u.boolean ? "true" : "false"); break;
    case SK_CONFIG_INT: sk_text_appendf(out, "%lld", (long long)v->u.integer); break;
    case SK_CONFIG_REAL: sk_text_append(out, sk_text_number(v->u.real, 9, number, sizeof number)); break;
    case SK_CONFIG_STRING: sk_text_appendf(out, "\"%s\"", v->u.text); break;
    default: sk_text_append(out, "null"); break;
    }
}

static void contexts_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *model, *backend, *variant;
        uint64_t hash;
    } cases[] = {{"sleap_bottomup", "cpu", NULL, 0xea296ff74b927350},
                 {"sleap_single", "cuda", NULL, 0x9a8c6e5dfcb5bd19},
                 {"sleap_topdown", "tensorrt", NULL, 0x6c10ea8bc8642576},
                 {"sleap_track", "onnx", NULL, 0xcca32f5824cf74c1},
                 {"yolo", "cpu", NULL, 0x4b78159c483ac190},
                 {"yolo_obb", "cuda", NULL, 0xbce348e52e2f4689},
                 {"yolo_obb_track", "openvino", NULL, 0x54f97cf289ced20c},
                 {"yolo_pose", "tensorrt", NULL, 0xbe7bbd044695f9f0},
                 {"yolo_pose_track", "cpu", NULL, 0xeca6151293500957},
                 {"yolo_track", "onnx", NULL, 0xc1f5aae7ab08ad92},
                 {"flies", "cpu", NULL, 0x95746956ed966ca1}};
    sk_catalogue *catalogue = NULL;
    sk_error err = {0};
    bool same = true;
    assert_ok(sk_catalogue_open(test_source("tests/fixtures/ros/models"), &catalogue, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_ros_request request = {.model = cases[i].model,
                                        .backend = cases[i].backend,
                                        .variant = cases[i].variant,
                                        .package_name = "fly_watch"};
        sk_ros_choice choice;
        sk_problems problems = {0};
        bool usage;
        sk_config *context = NULL;
        sk_text told = {0};
        char name[128];
        sk_ros_request_check(catalogue, &request, &choice, &usage, &problems);
        if (problems.count)
            fail_msg("%s: %s", cases[i].model, sk_text_get(&problems.lines));
        assert_ok(sk_ros_context(&choice, &context, &err), &err);
        dump(sk_config_root(context), 0, &told);
        snprintf(name, sizeof name, "%s", cases[i].model);
        same = test_known(name, sk_text_get(&told), told.length, cases[i].hash) && same;
        sk_text_free(&told);
        sk_config_close(&context);
    }
    sk_catalogue_close(&catalogue);
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
