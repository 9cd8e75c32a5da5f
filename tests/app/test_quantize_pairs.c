/* SPDX-License-Identifier: Apache-2.0 */
/* What eight bits find against what f32 finds, where it is least plain: poses of which points are missing, lists with something behind
 * them, boxes away from the corner, one animal alone. */
#include "quantize_pairs.h"

#define UNFOUND ((sk_keypoint){NAN, NAN, 0})

/* How large a pose is says how far a point may be off: its height and width, wherever it stands and whichever points it lacks. */
static void sizes_of_poses(void **state)
{
    (void)state;
    const sk_found x = {.has = POSE};
    /* 30 wide and 40 high: 50, of which a tenth is 5 */
    sk_keypoint p[3] = {{100, 5, 1}, {130, 45, 1}, {110, 20, 1}}, q[3];
    for (int turn = 0; turn < 2; turn++) {
        memcpy(q, p, sizeof p);
        q[2].x += 2.5F;
        NEAR(pair(x, x, p, q, 3, false), 2.5 / 3);
        for (int i = 0; i < 3; i++) /* the other way round: 40 wide and 30 high, far to the right */
            p[i] = (sk_keypoint){300 + p[i].y, p[i].x, 1};
    }
    /* one that nobody found comes first, and says nothing, neither of the size nor of the distance */
    sk_keypoint late[3] = {UNFOUND, {100, 5, 1}, {130, 45, 1}};
    memcpy(q, late, sizeof late);
    q[1].x -= 2.5F;
    NEAR(pair(x, x, late, q, 3, false), 0.75);
    late[0] = q[0] = (sk_keypoint){NAN, 9000, 0};
    NEAR(pair(x, x, late, q, 3, false), 0.75);
    /* of 9.5 pixels: counted as ten; of 10.5: as that */
    sk_keypoint a[2] = {{0, 0, 1}, {0, 9.5F, 1}}, b[2] = {{0.5F, 0, 1}, {0, 9.5F, 1}};
    NEAR(pair(x, x, a, b, 2, false), 0.75);
    a[1].y = b[1].y = 10.5F;
    NEAR(pair(x, x, a, b, 2, false), 1 - 0.5 / 1.05 / 2);
}

static void shapes_of_boxes(void **state)
{
    (void)state;
    /* 28 x 20 across each other: they share 20 x 20 */
    const sk_found wide = {.has = OBB, .obb = {200, 90, 28, 20, 0}};
    sk_found other = {.has = OBB, .obb = {200, 90, 28, 20, 1.57079633F}};
    NEAR(pair(wide, other, NULL, NULL, 0, false), 400.0 / 720);
    other = (sk_found){.has = OBB, .obb = {200, 90, 28, 50, 0}}; /* the larger one counts, too */
    NEAR(pair(wide, other, NULL, NULL, 0, false), 0);            /* 560 of 1400 is below a half */
    other.obb[3] = 25;
    NEAR(pair(wide, other, NULL, NULL, 0, false), 0.8);
    NEAR(pair(other, wide, NULL, NULL, 0, false), 0.8);
    /* upright ones away from the corner: 80 x 60 of 80 x 100 */
    const sk_found high = {.has = BOX, .box = {300, 500, 380, 600}};
    NEAR(pair(high, (sk_found){.has = BOX, .box = {300, 540, 380, 600}}, NULL, NULL, 0, false), 0.6);
    NEAR(pair((sk_found){.has = BOX, .box = {300, 540, 380, 600}}, high, NULL, NULL, 0, false), 0.6);
    /* a turned box that one of them does not have, and an upright one that one does not have, are not looked at */
    sk_found both = {.has = BOX | OBB, .box = {0, 0, 9, 9}, .obb = {4, 4, 9, 9, 0}},
             upright = {.has = BOX, .box = {0, 0, 9, 9}, .obb = {900, 900, 1, 1, 0}};
    NEAR(pair(both, upright, NULL, NULL, 0, false), 1);
    NEAR(pair(upright, both, NULL, NULL, 0, false), 1);
    sk_keypoint p[2] = {{0, 0, 1}, {60, 80, 1}};
    both = (sk_found){.has = BOX | POSE, .box = {0, 0, 9, 9}};
    upright = (sk_found){.has = POSE, .box = {900, 900, 990, 990}};
    NEAR(pair(both, upright, p, p, 2, false), 1);
    /* of a model without points the boxes of who found them count, whatever the crop's number */
    NEAR(pair(high, (sk_found){.has = BOX, .box = {0, 0, 9, 9}}, NULL, NULL, 0, true), 0);
}

/* Boxes are off by their two corners, and by nothing else: what lies behind them in memory is another thing. */
static void corners_of_boxes(void **state)
{
    (void)state;
    sk_found x = {.has = BOX, .box = {0, 0, 100, 100}},
             y = {.has = BOX, .box = {0, 1, 100, 102}, .obb = {50, 7, 1, 1, 0}};
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, false);
    x.obb[0] = 50, x.obb[1] = 7;
    const sk_instances a = list_of(&x, 1, NULL, 0), b = list_of(&y, 1, NULL, 0);
    add(&t, &a, &b);
    assert_int_equal(t.boxes.count, 2);
    sk_quantize_tally_end(&t);
    NEAR(loss.box_px, 2);
    NEAR(loss.box_px_95, 2);
    /* one has a box and a pose, the other a pose alone: a pair, of which the points alone are off */
    sk_keypoint p[2] = {{0, 0, 1}, {300, 400, 1}}, q[2] = {{3, 4, 1}, {300, 400, 1}};
    x = (sk_found){.has = BOX | POSE, .box = {0, 0, 300, 400}};
    y = (sk_found){.has = POSE, .box = {7, 7, 9, 9}};
    for (int swapped = 0; swapped < 2; swapped++) {
        const sk_instances c = list_of(&x, 1, p, 2), d = list_of(&y, 1, q, 2);
        t = begin(&loss, false);
        add(&t, swapped ? &d : &c, swapped ? &c : &d);
        assert_true(t.boxes.count == 0 && t.points.count == 2 && loss.lost == 0);
        sk_quantize_tally_end(&t);
        NEAR(loss.keypoint_px, 5);
        assert_true(isnan(loss.box_px));
    }
    /* turned ones by how far their middles went */
    x = (sk_found){.has = OBB, .obb = {70, 20, 90, 80, 0}};
    y = (sk_found){.has = OBB, .obb = {73, 24, 90, 80, 0}};
    const sk_instances e = list_of(&x, 1, NULL, 0), f = list_of(&y, 1, NULL, 0);
    t = begin(&loss, false);
    add(&t, &e, &f);
    sk_quantize_tally_end(&t);
    NEAR(loss.box_px, 5);
}

/* Each has points of its own, and what lies behind a list is none of it. */
static void several_of_a_list(void **state)
{
    (void)state;
    sk_keypoint p[6] = {{0, 0, 1}, {30, 40, 1}, {500, 0, 1}, {530, 40, 1}, {900, 0, 1}, {930, 40, 1}}, q[6];
    sk_found first[3] = {{.has = POSE, .track_id = 0},
                         {.has = POSE, .track_id = 1},
                         {.has = POSE, .track_id = 2}},
             second[3];
    sk_loss loss;
    memcpy(second, first, sizeof first);
    memcpy(q, p, sizeof p);
    q[0].x += 1;
    q[2].y += 2;
    q[3].y += 2;
    q[5].x += 4;
    for (int given = 0; given < 2; given++) {
        sk_quantize_tally t = begin(&loss, given);
        const sk_instances a = list_of(first, 3, p, 2), b = list_of(second, 3, q, 2);
        add(&t, &a, &b);
        assert_true(loss.lost == 0 && loss.added == 0 && t.counted == 3 && t.points.count == 6);
        double sum = 0;
        for (size_t i = 0; i < t.points.count; i++)
            sum += t.points.items[i];
        NEAR(sum, 1 + 2 + 2 + 4); /* and two that did not move */
        sk_quantize_tally_end(&t);
        NEAR(loss.keypoint_px, 2);
        /* the other has found the second alone; what lies behind it in memory is not in its list */
        sk_found found[2] = {second[1], second[0]};
        const sk_instances alone = list_of(first, 1, p, 2),
                           few = {
                               .items = found, .count = 1, .capacity = 2, .n_keypoints = 2, .keypoints = q};
        t = begin(&loss, given);
        add(&t, &alone, &few);
        assert_true(loss.lost == 1 && loss.added == 1 && t.counted == 2);
        sk_quantize_tally_end(&t);
    }
    /* a pose whose first point alone was found is one */
    sk_keypoint one[2] = {{5, 5, 1}, UNFOUND}, none[2] = {UNFOUND, UNFOUND};
    sk_quantize_tally t = begin(&loss, true);
    const sk_instances a = list_of(first, 1, one, 2), b = list_of(second, 1, none, 2);
    add(&t, &a, &b);
    assert_true(loss.lost == 1 && loss.added == 0);
    add(&t, &b, &a);
    assert_true(loss.lost == 1 && loss.added == 1 && t.counted == 2);
    sk_quantize_tally_end(&t);
}

/* How sure one is that was found by one alone: of SLEAP's poses the mean of the points that it has, and only of those. */
static void how_sure(void **state)
{
    (void)state;
    static const struct {
        uint32_t has;
        float score;
        sk_keypoint points[4]; /* two of it, and two of the next */
        int64_t unsure;
    } rows[] = {
        {POSE, 0.9F, {{1, 1, 0.1F}, {2, 2, 0.5F}, {3, 3, 0.9F}, {4, 4, 0.9F}}, 1}, /* 0.3 */
        {POSE, 0.1F, {{1, 1, 0.2F}, {2, 2, 0.6F}, {3, 3, 0}, {4, 4, 0}}, 0},       /* 0.4 */
        {POSE, 0.1F, {{NAN, NAN, 0}, {2, 2, 0.6F}}, 0},                            /* not 0.3 */
        {POSE, 0.1F, {{NAN, NAN, 0.9F}, {2, 2, 0.3F}}, 1},                         /* not 0.6 */
        {POSE, 0.9F, {{2, 2, 0.3F}, {NAN, NAN, 0.9F}}, 1},
        {BOX, 0.3F, {{1, 1, 0.9F}, {2, 2, 0.9F}}, 1}, /* it has no points: its own score */
        {BOX, 0.9F, {{1, 1, 0.1F}, {2, 2, 0.1F}}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int32_t at = 0; at < 2; at++) {
            sk_loss loss;
            sk_quantize_tally t = begin(&loss, false);
            sk_found x[2] = {{.has = rows[i].has, .score = rows[i].score, .box = {0, 0, 9, 9}}};
            sk_keypoint p[6] = {{9, 9, 0.9F}, {9, 9, 0.9F}};
            memcpy(p + 2 * at, rows[i].points, sizeof rows[i].points);
            const sk_instances nobody = {.n_keypoints = 2};
            sk_instances alone = list_of(x, 1, p, 2);
            x[0].first_keypoint = 2 * at;
            t.threshold = 0.25F;
            t.peaks = true;
            add(&t, &alone, &nobody);
            if (t.unsure != rows[i].unsure)
                fail_msg("row %zu at %d", i, at);
            sk_quantize_tally_end(&t);
            NEAR(t.unsure_part, (double)rows[i].unsure); /* one alone is the whole loss */
        }
}

static double lowest(const float *const (*pairs)[2], int32_t n)
{
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, false);
    sk_tensor a[4], b[4];
    for (int i = 0; i < 4; i++) {
        a[i] = b[i] = (sk_tensor){.dtype = SK_DTYPE_F32, .shape = sk_shape_of(1, (int64_t)16)};
        a[i].data = (void *)(uintptr_t)pairs[i][0];
        b[i].data = (void *)(uintptr_t)pairs[i][1];
    }
    sk_quantize_compare_heads(&t, a, b, n);
    return t.heads_pcc;
}

/* The lowest of all outputs, of the first as of the last, and of none behind; numbers may be as small as they like. */
static void correlations_of_several(void **state)
{
    (void)state;
    float up[16], down[16];
    for (int i = 0; i < 16; i++) {
        up[i] = 1e-3F * (float)i;
        down[i] = -2e-3F * (float)i;
    }
    const float *const same[2] = {up, up}, *const against[2] = {up, down};
    for (int at = 0; at < 4; at++) {
        const float *pairs[4][2];
        for (int i = 0; i < 4; i++)
            memcpy(pairs[i], i == at ? against : same, sizeof same);
        NEAR(lowest((const float *const(*)[2])pairs, 3), at < 3 ? -1 : 1);
    }
    float large[16]; /* one of the two is large, the other small */
    for (int i = 0; i < 16; i++)
        large[i] = -1e3F * (float)i;
    const float *const first[4][2] = {{up, large}, {up, up}, {up, up}, {up, up}}, *const second[4][2] = {
                                                                                      {large, up},
                                                                                      {up, up},
                                                                                      {up, up},
                                                                                      {up, up}};
    NEAR(lowest(first, 1), -1);
    NEAR(lowest(second, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_poses),   cmocka_unit_test(shapes_of_boxes),
        cmocka_unit_test(corners_of_boxes), cmocka_unit_test(several_of_a_list),
        cmocka_unit_test(how_sure),         cmocka_unit_test(correlations_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
