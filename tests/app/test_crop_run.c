/* SPDX-License-Identifier: Apache-2.0 */
#include "app/crop_run.h"
#include "base/file.h"
#include "support/test.h"

#include <string.h>

/* A class may be called anything: its crops stay in crops/. */
static void crops_stay_in_their_folder(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const names[] = {"../up", "", "a\nb", "/etc", "mouse"};
    static const char *const folders[] = {"_._up", "class_1", "a_b", "_etc", "mouse", "."};
    const sk_run_header header = {.source_kind = "video", .n_classes = 5, .class_names = names};
    static uint8_t pixels[32 * 32 * 3];
    const sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 32 * 3, .data = pixels};
    sk_found items[7] = {0};
    for (int32_t i = 0; i < 6; i++)
        items[i] = (sk_found){.has = i % 2 ? SK_HAS_OBB : SK_HAS_BOX,
                              .class_id = i < 5 ? i : -1,
                              .box = {4, 4, 20, 20},
                              .obb = {16, 16, 12, 6, 0.5f}};
    items[6] = (sk_found){.has = SK_HAS_BOX, .class_id = 4, .box = {100, 100, 120, 120}}; /* outside */
    const sk_instances all = {.count = 7, .capacity = 7, .items = items};
    const sk_result_frame result = {
        .source = "in.mp4", .index = 2, .width = 32, .height = 32, .instances = &all};
    sk_crop_run *run = NULL;
    bool there = true;
    assert_ok(sk_crop_run_open(test_folder(), &header, &run, &err), &err);
    assert_ok(sk_crop_run_has(run, &result, &there, &err), &err);
    assert_false(there);
    assert_ok(sk_crop_run_write(run, &frame, &result, &err), &err);
    for (int i = 0; i < 6; i++) {
        char path[4600];
        snprintf(path, sizeof path, "%s/crops/%s/in_3_%d.jpg", test_folder(), folders[i], i);
        assert_true(sk_file_is_regular(path));
    }
    sk_crop_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crops_stay_in_their_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
