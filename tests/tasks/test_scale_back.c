/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the network's input, and where Ultralytics says they are in the frame (make_cases.py). */
#include "support/test.h"

#include "tasks/scale_back.h"

#include <math.h>
#include <stdio.h>

static void places_equal_the_original(void **state)
{
    (void)state;
    FILE *file = fopen(test_source("tests/tasks/scale_cases.txt"), "r");
    assert_non_null(file);
    char line[1024];
    int cases = 0;
    double worst = 0;
    while (fgets(line, sizeof line, file)) {
        int fw, fh, nw, nh, stride;
        float in[4], box[4], point[2], obb[4];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%d %d %d %d %d %f %f %f %f %f %f %f %f %f %f %f %f %f %f", &fw, &fh,
                                &nw, &nh, &stride, &in[0], &in[1], &in[2], &in[3], &box[0], &box[1], &box[2],
                                &box[3], &point[0], &point[1], &obb[0], &obb[1], &obb[2], &obb[3]),
                         19);
        sk_error err;
        sk_letterbox_geometry g;
        assert_ok(sk_letterbox_fit(fw, fh, nw, nh, stride, &g, &err), &err);
        float got[4] = {in[0], in[1], in[2], in[3]}, turned[5] = {in[0], in[1], in[2], in[3], 1};
        sk_keypoint key = {in[0], in[1], 1};
        sk_scale_back_box(&g, got);
        sk_scale_back_obb(&g, turned);
        sk_scale_back_keypoints(&g, &key, 1);
        /* A frame that is a line of pixels is scaled by hundreds: then relative. */
        double unit = fmax(1, fmax(fw, fh) / 3000.0);
        for (int k = 0; k < 4; k++) {
            worst = fmax(worst, fabs((double)got[k] - box[k]) / unit);
            worst = fmax(worst, fabs((double)turned[k] - obb[k]) / unit);
        }
        worst = fmax(worst, fmax(fabs((double)key.x - point[0]), fabs((double)key.y - point[1])) / unit);
        if (worst > 1e-3)
            fail_msg("%dx%d in %dx%d stride %d: %g px", fw, fh, nw, nh, stride, worst);
        cases++;
    }
    fclose(file);
    print_message("%d cases, at most %.2g px\n", cases, worst);
    assert_true(cases >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_equal_the_original)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
