/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "tasks/classify.h"

#include <string.h>

/* Pictures as torchvision 0.29 on Pillow 13 gives them to Ultralytics' classifiers (Resize, CenterCrop), and the best classes. */

static const struct {
    int width, height, net;
    uint8_t expected[8 * 8 * 3];
} cases[] = {
    {13, 9, 6, {111, 145, 145, 124, 136, 175, 142, 147, 114, 98,  103, 140, 109, 121, 128, 100, 133, 147,
                122, 124, 124, 120, 124, 151, 136, 142, 118, 117, 123, 147, 135, 138, 146, 135, 136, 110,
                143, 142, 146, 158, 141, 125, 139, 134, 127, 139, 134, 111, 132, 115, 121, 131, 130, 150,
                123, 129, 117, 140, 123, 107, 137, 133, 125, 133, 151, 124, 98,  137, 125, 160, 125, 82,
                119, 151, 119, 112, 111, 137, 146, 137, 114, 147, 112, 126, 139, 122, 105, 131, 102, 139,
                126, 124, 177, 156, 95,  137, 102, 139, 107, 114, 116, 143, 108, 152, 128, 138, 99,  152}},
    {7, 10, 5, {155, 161, 119, 135, 125, 120, 123, 108, 136, 104, 151, 141, 157, 115, 121, 84,  123, 129, 132,
                135, 162, 151, 165, 118, 155, 121, 130, 140, 127, 146, 134, 187, 112, 132, 114, 110, 127, 133,
                105, 145, 127, 123, 158, 126, 136, 93,  132, 146, 128, 162, 128, 94,  129, 117, 135, 133, 116,
                176, 124, 125, 154, 89,  142, 114, 103, 151, 151, 112, 163, 129, 103, 105, 88,  135, 150}},
    {4, 5, 8, {23,  76,  129, 32,  85,  138, 52,  105, 158, 71,  124, 161, 91,  144, 149, 110, 147, 152,
               130, 135, 172, 139, 128, 181, 68,  121, 174, 79,  132, 185, 100, 153, 206, 121, 174, 179,
               142, 195, 104, 163, 168, 77,  185, 94,  99,  195, 56,  109, 114, 167, 156, 125, 162, 167,
               148, 153, 190, 155, 160, 165, 146, 183, 92,  153, 158, 67,  176, 85,  90,  187, 48,  101,
               159, 212, 73,  172, 177, 86,  196, 105, 110, 173, 82,  119, 101, 106, 111, 78,  115, 120,
               103, 108, 145, 115, 104, 157, 141, 194, 55,  154, 159, 68,  180, 89,  94,  159, 68,  121,
               89,  94,  147, 68,  121, 158, 94,  147, 152, 107, 160, 149, 58,  111, 100, 73,  110, 115,
               101, 106, 143, 113, 118, 171, 109, 146, 199, 121, 174, 179, 149, 202, 111, 163, 216, 77,
               40,  93,  146, 55,  108, 145, 85,  138, 143, 115, 152, 157, 145, 150, 187, 159, 164, 169,
               157, 194, 103, 155, 208, 69,  85,  138, 191, 101, 154, 159, 133, 186, 95,  164, 169, 78,
               196, 105, 110, 180, 89,  126, 116, 121, 126, 83,  136, 125}},
    {6, 16, 4, {113, 166, 112, 113, 140, 124, 130, 130, 97,  130, 130, 111, 123, 107, 160, 123, 129,
                131, 119, 110, 153, 123, 127, 103, 131, 90,  108, 150, 127, 149, 161, 120, 142, 118,
                159, 94,  157, 128, 156, 170, 96,  127, 140, 102, 117, 111, 164, 86}}, /* columns first */
};

static void middles_are_pillows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int w = cases[i].width, h = cases[i].height, n = cases[i].net;
        uint8_t pixels[16 * 16 * 3], bgr[16 * 16 * 3], out[8 * 8 * 3];
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                for (int c = 0; c < 3; c++)
                    bgr[(y * w + x) * 3 + 2 - c] = pixels[(y * w + x) * 3 + c] =
                        (uint8_t)(x * 37 + y * 91 + c * 53 + x * y * 7);
        sk_classify *classify = NULL;
        sk_error err = {0};
        assert_ok(sk_classify_open(w, h, n, n, &classify, &err), &err);
        sk_frame frame = {.data = pixels, .format = SK_PIXEL_RGB, .width = w, .height = h, .stride = 3 * w};
        assert_ok(sk_classify_input(classify, &frame, out, &err), &err);
        assert_memory_equal(out, cases[i].expected, (size_t)(n * n * 3));
        frame.data = bgr;
        frame.format = SK_PIXEL_BGR;
        memset(out, 0, sizeof out);
        assert_ok(sk_classify_input(classify, &frame, out, &err), &err);
        assert_memory_equal(out, cases[i].expected, (size_t)(n * n * 3));
        sk_classify_close(&classify);
    }
}

/* Scaled as a whole it would be 72000 pixels long. */
static void a_long_thin_frame_has_a_middle(void **state)
{
    (void)state;
    static uint8_t pixels[9000 * 3];
    for (int x = 0; x < 9000; x++)
        memset(pixels + (size_t)x * 3, x == 4500 ? 200 : 100, 3);
    static const uint8_t expected[8] = {106, 119, 131, 144, 156, 169, 181, 194};
    uint8_t out[8 * 8 * 3];
    sk_classify *classify = NULL;
    sk_error err = {0};
    assert_ok(sk_classify_open(9000, 1, 8, 8, &classify, &err), &err);
    sk_frame frame = {.data = pixels, .format = SK_PIXEL_RGB, .width = 9000, .height = 1, .stride = 27000};
    assert_ok(sk_classify_input(classify, &frame, out, &err), &err);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i * 3], expected[i % 8]);
    sk_classify_close(&classify);
}

static void the_five_best_in_order(void **state)
{
    (void)state;
    float scores[2][7] = {{0}, {0.1f, 0.3f, 0.05f, 0.3f, 0.15f, 0.02f, 0.08f}};
    sk_tensor tensor = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(2, 2, 7), .data = scores};
    sk_instances out = {0};
    sk_error err = {0};
    assert_ok(sk_instances_alloc(SK_CLASSIFY_BEST, 0, &out, &err), &err);
    assert_ok(sk_classify_result(&tensor, 1, &out, &err), &err);
    static const int32_t order[] = {1, 3, 4, 0, 6}; /* of equal ones the earlier */
    assert_int_equal(out.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(out.items[i].class_id, order[i]);
        assert_true(out.items[i].score == scores[1][order[i]]);
        assert_int_equal(out.items[i].has, 0);
    }
    tensor.shape = sk_shape_of(2, 2, 3); /* fewer classes than five */
    assert_ok(sk_classify_result(&tensor, 0, &out, &err), &err);
    assert_int_equal(out.count, 3);
    sk_instances_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(middles_are_pillows),
        cmocka_unit_test(a_long_thin_frame_has_a_middle),
        cmocka_unit_test(the_five_best_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
