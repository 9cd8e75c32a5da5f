/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/describe.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* What `info` says: the work of one picture at the model's own size and, of models that take any, at the usual ones. */
static void every_head_tells_its_work(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB", "Segment"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const yolo_fixture fixture = {.head = heads[i], .f32 = true};
        const sk_describe_settings settings = {0};
        sk_error err = {0};
        sk_model *model = NULL;
        char *text = NULL;
        assert_ok(sk_model_open(yolo_save(&fixture, "head.pt"), &model, &err), &err);
        assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
        static const char *const sizes[] = {"at 320x320", "at 640x640", "at 1024x1024"};
        assert_non_null(strstr(text, "GFLOPs"));
        for (int k = 0; k < 3; k++)
            if (!strstr(text, sizes[k]))
                fail_msg("%s: nothing %s:\n%s", heads[i], sizes[k], text);
        sk_free(text);
        sk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_head_tells_its_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
