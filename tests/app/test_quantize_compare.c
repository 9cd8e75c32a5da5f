/* SPDX-License-Identifier: Apache-2.0 */
/* What eight bits find against what f32 finds, with figures worked out by hand. */
#include "quantize_pairs.h"

static void boxes(void **state)
{
    (void)state;
    const sk_found x = {.has = BOX, .box = {0, 0, 100, 100}};
    NEAR(pair(x, x, NULL, NULL, 0, false), 1);
    NEAR(pair(x, (sk_found){.has = BOX, .box = {3, 4, 103, 104}}, NULL, NULL, 0, false), 9312.0 / 10688);
    NEAR(pair(x, (sk_found){.has = BOX, .box = {0, 0, 100, 50}}, NULL, NULL, 0, false),
         0.5); /* just enough */
    NEAR(pair(x, (sk_found){.has = BOX, .box = {0, 0, 100, 49.9F}}, NULL, NULL, 0, false), 0);
    NEAR(pair(x, (sk_found){.has = BOX, .class_id = 1, .box = {0, 0, 100, 100}}, NULL, NULL, 0, false), 0);
    NEAR(pair(x, x, NULL, NULL, 0, true), 1); /* boxes of somebody else, of a model without points */
    /* turned ones before upright ones */
    const sk_found o = {.has = BOX | OBB, .box = {0, 0, 9, 9}, .obb = {50, 50, 40, 20, 0.5F}};
    sk_found far = o;
    far.box[0] = 900, far.box[2] = 990;
    NEAR(pair(o, far, NULL, NULL, 0, false), 1);
    far.obb[0] = 900;
    NEAR(pair(o, far, NULL, NULL, 0, false), 0);
    sk_found upright = o;
    upright.has = BOX; /* one has no turned box: the upright ones count */
    NEAR(pair(o, upright, NULL, NULL, 0, false), 1);
    /* of whole pictures the class is all there is */
    NEAR(pair((sk_found){.class_id = 3}, (sk_found){.class_id = 3}, NULL, NULL, 0, false), 1);
    NEAR(pair((sk_found){.class_id = 3}, (sk_found){.class_id = 4}, NULL, NULL, 0, false), 0);
}

static void poses(void **state)
{
    (void)state;
    const sk_found x = {.has = POSE};
    sk_keypoint p[3] = {{0, 0, 1}, {30, 40, 1}, {NAN, NAN, 0}}, q[3];
    memcpy(q, p, sizeof p);
    NEAR(pair(x, x, p, q, 3, false), 1); /* a point that nobody found does not count */
    q[0] = (sk_keypoint){3, 4, 1};       /* a tenth of the pose's 50 away: nothing */
    NEAR(pair(x, x, p, q, 3, false), 0.5);
    q[0] = (sk_keypoint){0, 2.5F, 1};
    NEAR(pair(x, x, p, q, 3, false), 0.75);
    q[0] = (sk_keypoint){-20, 0, 1}; /* farther is not worse than that */
    NEAR(pair(x, x, p, q, 3, false), 0.5);
    q[0] = p[0];
    q[2] = (sk_keypoint){1, 1, 1}; /* found by one alone */
    NEAR(pair(x, x, p, q, 3, false), 2.0 / 3);
    NEAR(pair(x, x, q, p, 3, false), 2.0 / 3);
    /* small ones are ten pixels large */
    sk_keypoint small[2] = {{10, 20, 1}, {13, 24, 1}}, moved[2] = {{10.25F, 20, 1}, {13, 24.25F, 1}};
    NEAR(pair(x, x, small, moved, 2, false), 0.75);
    sk_keypoint ten[2] = {{0, 0, 1}, {16, 12, 1}},
                off[2] = {{0.5F, 0, 1}, {16, 12.5F, 1}}; /* 20: two a tenth */
    NEAR(pair(x, x, ten, off, 2, false), 0.75);
    sk_keypoint none[2] = {{NAN, NAN, 0}, {NAN, NAN, 0}};
    NEAR(pair(x, x, none, none, 2, false), 1);
    /* boxes come before points, unless they are somebody else's */
    const sk_found here = {.has = POSE | BOX, .box = {0, 0, 9, 9}},
                   there = {.has = POSE | BOX, .box = {50, 0, 59, 9}},
                   bare = {.has = BOX, .box = {0, 0, 9, 9}},
                   other = {.has = POSE | BOX, .class_id = 1, .box = {0, 0, 9, 9}};
    NEAR(pair(here, there, p, p, 3, false), 0);
    NEAR(pair(here, there, p, p, 3, true), 1);
    NEAR(pair(here, bare, p, p, 3, false), 1);
    NEAR(pair(here, bare, p, p, 3, true), 0); /* one has lost its pose */
    NEAR(pair(here, other, p, p, 3, true), 0);
}

/* Distances are those of what both have: boxes by two corners, or by the middles of turned ones; points where both were found. */
static void distances_of_what_both_have(void **state)
{
    (void)state;
    static const struct {
        uint32_t x, y;
        double box, point;
    } rows[] = {{BOX, BOX, 5, NAN},
                {BOX | POSE, BOX, 5, NAN},
                {BOX, BOX | POSE, 5, NAN},
                {BOX | POSE, BOX | POSE, 5, 13},
                {BOX | OBB, BOX, 5, NAN},
                {BOX, BOX | OBB, 5, NAN},
                {BOX | OBB, BOX | OBB, 2, NAN},
                {BOX | OBB | POSE, BOX | OBB | POSE, 2, 13},
                {0, 0, NAN, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_keypoint p[2] = {{100, 100, 1}, {7, 7, 1}}, q[2] = {{105, 112, 1}, {NAN, NAN, 0}};
        sk_found x = {.has = rows[i].x, .box = {0, 0, 100, 100}, .obb = {50, 50, 90, 80, 0}},
                 y = {.has = rows[i].y, .box = {3, 4, 103, 104}, .obb = {50, 52, 90, 80, 0}};
        sk_loss loss;
        sk_quantize_tally t = begin(&loss, false);
        const sk_instances a = list_of(&x, 1, p, 2), b = list_of(&y, 1, q, 2);
        add(&t, &a, &b);
        assert_int_equal(loss.lost, 0);
        sk_quantize_tally_end(&t);
        IS(loss.box_px, rows[i].box);
        IS(loss.keypoint_px, rows[i].point);
        IS(loss.keypoint_px_95, rows[i].point);
    }
}

/* Crops have one pose each: the same one's, however far its points went. */
static void crop_by_crop(void **state)
{
    (void)state;
    sk_keypoint p[8] = {{10, 10, 1},  {40, 50, 1},  {110, 10, 1},  {140, 50, 1},
                        {210, 10, 1}, {240, 50, 1}, {NAN, NAN, 0}, {NAN, NAN, 0}},
                q[8];
    sk_found first[4], second[4];
    for (int32_t i = 0; i < 4; i++) {
        first[i] = (sk_found){.has = BOX | POSE, .track_id = i, .score = 0.9F};
        second[i] = first[i];
    }
    memcpy(q, p, sizeof p);
    q[0] = (sk_keypoint){10, 70, 1}; /* jumps to another animal */
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, true);
    sk_instances a = list_of(first, 4, p, 2), b = list_of(second, 4, q, 2);
    add(&t, &a, &b);
    assert_true(loss.instances == 4 && loss.lost == 0 && loss.added == 0 && t.counted == 4);
    NEAR(t.agreement, 3.5);
    sk_quantize_tally_end(&t);
    NEAR(loss.percent, 12.5);
    assert_true(loss.keypoint_px == 0 && isnan(loss.box_px)); /* boxes are somebody else's */
    /* one point of one pose: it is the figure */
    a = list_of(first, 1, p, 1), b = list_of(second, 1, q, 1);
    t = begin(&loss, true);
    add(&t, &a, &b);
    sk_quantize_tally_end(&t);
    NEAR(loss.keypoint_px, 60);
    NEAR(loss.percent, 100);
    /* crops whose poses are dropped, in another order: the first is lost, the last is new */
    sk_keypoint r[6] = {{1, 1, 1}, {2, 2, 1}, {210, 10, 1}, {240, 50, 1}, {110, 10, 1}, {140, 50, 1}};
    sk_found others[3] = {second[3], second[2], second[1]};
    a = list_of(first, 3, p, 2), b = list_of(others, 3, r, 2);
    t = begin(&loss, true);
    add(&t, &a, &b);
    assert_true(loss.lost == 1 && loss.added == 1 && t.counted == 4);
    NEAR(t.agreement, 2);
    /* an empty pose is none: lost, not lost and new */
    a = list_of(first, 1, p, 2), b = list_of(second, 1, p + 6, 2);
    add(&t, &a, &b);
    assert_true(loss.lost == 2 && loss.added == 1 && t.counted == 5);
    add(&t, &b, &a);
    assert_true(loss.lost == 2 && loss.added == 2 && t.counted == 6);
    second[0].class_id = 1; /* taken for another animal */
    b = list_of(second, 1, p, 2);
    add(&t, &a, &b);
    assert_true(loss.lost == 3 && loss.added == 3 && t.counted == 8);
    NEAR(t.agreement, 2);
    sk_quantize_tally_end(&t);
}

/* What only one finds, with a score that is hardly enough. */
static void near_the_threshold(void **state)
{
    (void)state;
    static const struct {
        float score, point;
        bool peaks;
        int64_t unsure;
    } rows[] = {
        {0.3F, 0.9F, false, 2}, {0.36F, 0.1F, false, 0}, {0.9F, 0.3F, true, 2}, {0.3F, 0.9F, true, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_loss loss;
        sk_quantize_tally t = begin(&loss, false);
        sk_keypoint p[2] = {{5, 5, rows[i].point}, {NAN, NAN, 0}};
        sk_found x = {.has = BOX | POSE, .score = rows[i].score, .box = {0, 0, 9, 9}};
        const sk_instances one = list_of(&x, 1, p, 2), none = {.n_keypoints = 2};
        t.threshold = 0.25F;
        t.peaks = rows[i].peaks;
        add(&t, &one, &one);
        assert_int_equal(t.unsure, 0);
        add(&t, &one, &none);
        add(&t, &none, &one);
        assert_int_equal(t.unsure, rows[i].unsure);
        sk_quantize_tally_end(&t);
        NEAR(t.unsure_part, rows[i].unsure / 2.0);
    }
}

/* Each of f32's with the most similar that is left; what is lost and added. */
static void pairs_of_a_frame(void **state)
{
    (void)state;
    sk_found first[] = {{.has = BOX, .score = 0.9F, .box = {0, 0, 100, 100}},
                        {.has = BOX, .score = 0.8F, .box = {0, 0, 100, 90}},
                        {.has = BOX, .score = 0.7F, .box = {500, 0, 600, 100}}},
             second[] = {{.has = BOX, .score = 0.5F, .box = {0, 0, 100, 80}},
                         {.has = BOX, .score = 0.85F, .box = {0, 0, 100, 96}},
                         {.has = BOX, .score = 0.6F, .box = {300, 0, 400, 100}},
                         {.has = BOX, .score = 0.5F, .box = {300, 300, 400, 400}}};
    const sk_instances a = list_of(first, 3, NULL, 0), b = list_of(second, 4, NULL, 0);
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, false);
    add(&t, &a, &b);
    NEAR(t.agreement, 0.96 + 80.0 / 90);
    assert_true(loss.frames == 1 && loss.instances == 3 && loss.lost == 1 && loss.added == 2 &&
                t.counted == 5);
    add(&t, &a, &a);
    assert_true(loss.frames == 2 && loss.instances == 6 && loss.lost == 1 && loss.added == 2 &&
                t.counted == 8);
    const sk_instances nobody = {0};
    add(&t, &nobody, &a);
    add(&t, &a, &nobody);
    assert_true(loss.frames == 4 && loss.instances == 9 && loss.lost == 4 && loss.added == 5 &&
                t.counted == 14);
    const double similar = t.agreement;
    /* corners: 0 and 4, 0 and 10, six times 0; the last of ten in order is the 95th percentile's but one */
    sk_quantize_tally_end(&t);
    NEAR(similar, 3.96 + 80.0 / 90);
    NEAR(loss.percent, 100 * (1 - similar / 14));
    NEAR(loss.box_px, 0);
    NEAR(loss.box_px_95, 4);
    assert_true(fabs(loss.score) < 1e-6 && fabs(loss.score_95 - 0.05) < 1e-6); /* 0 0 0 0.05 0.3 */
    assert_true(isnan(loss.keypoint_px) && isnan(loss.keypoint_px_95));
}

/* Medians and 95th percentiles of few and of many. */
static void medians(void **state)
{
    (void)state;
    static const struct {
        int32_t n;
        double half, most;
    } rows[] = {{1, 1, 1}, {2, 2, 2}, {3, 2, 2}, {20, 11, 19}, {21, 11, 20}, {41, 21, 39}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_loss loss;
        sk_quantize_tally t = begin(&loss, false);
        for (int32_t k = rows[i].n; k > 0; k--) { /* the k-th is k pixels off, and k hundredths of a score */
            sk_found x = {.has = OBB | POSE, .score = 1, .obb = {0, 0, 500, 500, 0}}, y = x;
            sk_keypoint p = {5, 5, 1}, q = {5, 5 + 2 * (float)k, 1};
            y.obb[1] = (float)k;
            y.score = 1 - (float)k / 100;
            const sk_instances a = list_of(&x, 1, &p, 1), b = list_of(&y, 1, &q, 1);
            add(&t, &a, &b);
        }
        sk_quantize_tally_end(&t);
        assert_true(loss.lost == 0 && loss.frames == rows[i].n);
        NEAR(loss.box_px, rows[i].half);
        NEAR(loss.box_px_95, rows[i].most);
        NEAR(loss.keypoint_px, 2 * rows[i].half);
        NEAR(loss.keypoint_px_95, 2 * rows[i].most);
        assert_true(fabs(loss.score - rows[i].half / 100) < 1e-5 &&
                    fabs(loss.score_95 - rows[i].most / 100) < 1e-5);
    }
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, false);
    sk_quantize_tally_end(&t);
    assert_true(loss.percent == 0 && isnan(loss.box_px) && isnan(loss.score_95));
}

static double lowest(const float *x, const float *y, int64_t n, int64_t other, sk_dtype dtype)
{
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, false);
    sk_tensor a[2] = {{.dtype = SK_DTYPE_F32, .data = (void *)(uintptr_t)x}}, b[2];
    a[0].shape.rank = 1;
    a[0].shape.dim[0] = n;
    a[1] = a[0];
    a[1].dtype = dtype;
    b[0] = a[0]; /* the same: 1 */
    b[1] = a[1];
    b[1].data = (void *)(uintptr_t)y;
    b[1].shape.dim[0] = other;
    sk_quantize_compare_heads(&t, a, b, 2);
    return t.heads_pcc;
}

static void correlations(void **state)
{
    (void)state;
    float x[16], up[16], down[16], flat[16], odd[16];
    double mean[2] = {0}, xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < 16; i++) {
        x[i] = (float)i;
        up[i] = 3 + 2 * (float)i;
        down[i] = 3 - 2 * (float)i;
        flat[i] = 7;
        odd[i] = (float)((i * 5) % 7);
        mean[0] += (double)x[i] / 16, mean[1] += (double)odd[i] / 16;
    }
    for (int i = 0; i < 16; i++) {
        xx += ((double)x[i] - mean[0]) * ((double)x[i] - mean[0]);
        yy += ((double)odd[i] - mean[1]) * ((double)odd[i] - mean[1]);
        xy += ((double)x[i] - mean[0]) * ((double)odd[i] - mean[1]);
    }
    NEAR(lowest(x, up, 16, 16, SK_DTYPE_F32), 1);
    NEAR(lowest(x, down, 16, 16, SK_DTYPE_F32), -1);
    NEAR(lowest(x, flat, 16, 16, SK_DTYPE_F32), 1);
    NEAR(lowest(flat, x, 16, 16, SK_DTYPE_F32), 1);
    NEAR(lowest(x, odd, 16, 16, SK_DTYPE_F32), xy / sqrt(xx * yy));
    NEAR(lowest(x, down, 15, 15, SK_DTYPE_F32), 1); /* too few to say anything */
    NEAR(lowest(x, down, 16, 15, SK_DTYPE_F32), 1);
    NEAR(lowest(x, down, 16, 16, SK_DTYPE_U8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),
        cmocka_unit_test(poses),
        cmocka_unit_test(distances_of_what_both_have),
        cmocka_unit_test(crop_by_crop),
        cmocka_unit_test(near_the_threshold),
        cmocka_unit_test(pairs_of_a_frame),
        cmocka_unit_test(medians),
        cmocka_unit_test(correlations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
