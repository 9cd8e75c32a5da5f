/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of sightings that somebody else made: whose box, class and score an instance has, which are without a detection, and the
 * figures of all. */
#include "support/fault.h"
#include "support/test.h"

#include "app/track_teller.h"
#include "base/memory.h"

#include <string.h>

static sk_error err;

/* --- what is known of a frame --- */

static sk_found items[3] = {
    {.class_id = 4,
     .score = 0.5F,
     .tracking_score = 0.125F,
     .track_id = -1,
     .has = SK_HAS_BOX | SK_HAS_OBB,
     .box = {10, 20, 50, 40},
     .obb = {30, 30, 40, 20, 0}},
    {.class_id = 5, .score = 0.75F, .track_id = -1}, /* nothing says where it is */
    {.class_id = 6, .score = 0.25F, .track_id = -1, .has = SK_HAS_BOX, .box = {110, 20, 150, 40}}};
static sk_keypoint points[6];
static const sk_instances found = {
    .items = items, .count = 3, .capacity = 3, .n_keypoints = 2, .keypoints = points};

/* --- who tells --- */

#define BOX                                                                                                  \
    {                                                                                                        \
        {1, 2, 3, 4},                                                                                        \
        {                                                                                                    \
            5, 6, 7, 8, 0.5                                                                                  \
        }                                                                                                    \
    }
static sk_sighting seen[6];
static int32_t n_seen, leaves; /* correcting leaves so many; -1: all */
static sk_status refused_telling, refused_correcting;
static int64_t corrected;

static sk_status tells(void *context, const sk_result_frame *known, const sk_sighting **sightings, int32_t *n,
                       sk_error *e)
{
    assert_ptr_equal(context, &err);
    assert_ptr_equal(known->instances, &found);
    if (refused_telling != SK_OK)
        return sk_fail(e, refused_telling, "not told");
    *sightings = seen;
    *n = n_seen;
    return SK_OK;
}

static sk_status corrects(void *context, int64_t frame, sk_sighting *sightings, int32_t *n, sk_error *e)
{
    assert_ptr_equal(context, &err);
    assert_true(sightings != seen && *n == n_seen); /* a copy of theirs */
    corrected = frame;
    if (refused_correcting != SK_OK)
        return sk_fail(e, refused_correcting, "not corrected");
    *n = leaves < 0 ? *n : leaves;
    return SK_OK;
}

static const sk_track_retold retold = {.told = tells, .correct = corrects, .context = &err};

static const char *const names[] = {"a", "b"};
static const sk_run_header header = {.source = "v.mp4",
                                     .source_kind = "video",
                                     .width = 640,
                                     .height = 480,
                                     .rate = 25,
                                     .n_keypoints = 2,
                                     .keypoint_names = names,
                                     .has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS};

static sk_track_wish wish_of(bool steady)
{
    sk_track_wish wish;
    sk_track_wish_defaults(&wish);
    wish.retold = &retold;
    wish.track.steady = steady;
    return wish;
}

static void see(int n, const int32_t (*rows)[3]) /* track, detection, class */
{
    n_seen = n;
    leaves = -1;
    for (int i = 0; i < n; i++)
        seen[i] = (sk_sighting){.track = rows[i][0],
                                .detection = rows[i][1],
                                .class_id = rows[i][2],
                                .certainty = 0.25 * (i + 1),
                                .box = BOX};
}

static sk_result_frame tell(sk_track_teller *t, int64_t entry)
{
    static const uint8_t looks[1];
    const sk_result_frame frame = {
        .source = "v.mp4", .index = 7, .time = 3, .width = 640, .instances = &found, .looks = looks};
    sk_result_frame out;
    assert_ok(sk_track_teller_tell(t, entry, &frame, &out, &err), &err);
    assert_true(out.index == 7 && out.time == 3 && out.width == 640 && !out.looks && corrected == 7);
    assert_true(out.instances != &found && out.instances->count == out.instances->capacity);
    assert_true(out.instances->keypoints == points && out.instances->n_keypoints == 2);
    return out;
}

static void boxes_are(const sk_found *f, const float *box, const float *obb)
{
    for (int i = 0; i < 4 && box; i++)
        assert_true(f->box[i] == box[i]);
    for (int i = 0; i < 5 && obb; i++)
        assert_true(f->obb[i] == obb[i]);
}

static void whose_numbers(void **state)
{
    (void)state;
    static const int32_t rows[][3] = {{0, 0, -1}, {3, 2, 9}, {1, -1, -1}, {3, 3, 0}, {2, -7, 2}, {0, 1, -1}};
    static const int32_t classes[] = {4, 9, -1, 0, 2, 5}, detections[] = {0, 2, -1, -1, -1, 1};
    static const float own[] = {1, 2, 3, 4}, turned[] = {5, 6, 7, 8, 0.5F};
    for (int steady = 0; steady < 2; steady++) {
        const sk_track_wish wish = wish_of(steady);
        sk_track_teller *t = NULL;
        assert_ok(sk_track_teller_open(&wish, &header, &t, &err), &err);
        see(6, rows);
        const sk_result_frame out = tell(t, 0);
        assert_int_equal(out.instances->count, 6);
        for (int i = 0; i < 6; i++) {
            const sk_found *f = &out.instances->items[i];
            const bool has = detections[i] >= 0;
            assert_true(f->track_id == rows[i][0] && f->class_id == classes[i]);
            assert_true(f->tracking_score == 0.25F * (float)(i + 1));
            assert_true(out.sightings[i].detection == detections[i] && out.sightings[i].track == rows[i][0]);
            assert_int_equal(f->has, has ? items[detections[i]].has : SK_HAS_BOX | SK_HAS_OBB);
            assert_true(f->score == (has ? items[detections[i]].score : 0));
            if (has && !steady)
                boxes_are(f, items[detections[i]].box, items[detections[i]].obb);
            else
                boxes_are(f, f->has & SK_HAS_BOX ? own : items[detections[i]].box,
                          f->has & SK_HAS_OBB ? turned : items[detections[i]].obb);
        }
        const sk_track_figures *f = sk_track_teller_figures(t);
        assert_true(f->found == 2 && f->tracks == 4 && f->sightings == 6 && f->covered == 3);
        sk_track_teller_close(&t);
        assert_null(t);
        sk_track_teller_close(&t);
        sk_track_teller_close(NULL);
    }
}

/* Of all frames since the first; a track is counted once, wherever its number lies. */
static void figures(void **state)
{
    (void)state;
    static const int32_t first[][3] = {{2, 0, -1}}, second[][3] = {{2, 0, -1}, {0, -1, -1}},
                         third[][3] = {{5000, 0, -1}, {4999, 2, -1}, {2, -1, -1}};
    const sk_track_wish wish = wish_of(false);
    sk_track_teller *t = NULL;
    assert_ok(sk_track_teller_open(&wish, &header, &t, &err), &err);
    const sk_track_figures *f = sk_track_teller_figures(t);
    assert_true(f->found == 0 && f->tracks == 0 && f->sightings == 0 && f->seconds == 0);
    for (int round = 0; round < 2; round++) {
        see(1, first);
        (void)tell(t, 0);
        assert_true(f->found == 2 && f->tracks == 1 && f->sightings == 1 && f->covered == 0);
        const double seconds = f->seconds;
        see(2, second);
        (void)tell(t, 1);
        assert_true(f->found == 4 && f->tracks == 2 && f->sightings == 3 && f->covered == 1);
        see(3, third);
        (void)tell(t, 2);
        assert_true(f->found == 6 && f->tracks == 4 && f->sightings == 6 && f->covered == 2);
        see(0, NULL);
        assert_int_equal(tell(t, 3).instances->count, 0);
        see(3, third); /* what is left out when it is put right is not told, nor counted */
        leaves = 1;
        assert_int_equal(tell(t, 4).instances->count, 1);
        assert_true(f->found == 10 && f->tracks == 4 && f->sightings == 7 && f->covered == 2);
        assert_true(f->seconds > seconds && f->seconds < 60);
    }
    /* who tells, or puts right, may fail; tracks that are told need no settling */
    const sk_result_frame frame = {.source = "v.mp4", .index = 7, .instances = &found};
    sk_result_frame out;
    refused_telling = SK_ERR_IO;
    assert_int_equal(sk_track_teller_tell(t, 5, &frame, &out, &err), SK_ERR_IO);
    assert_string_equal(err.message, "not told");
    refused_telling = SK_OK;
    refused_correcting = SK_ERR_FORMAT;
    assert_int_equal(sk_track_teller_tell(t, 5, &frame, &out, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "not corrected");
    refused_correcting = SK_OK;
    assert_ok(sk_track_teller_settle(t, NULL, true, &err), &err);
    sk_track_teller_close(&t);
}

static sk_status tell_all(void *context, sk_error *e)
{
    static const int32_t rows[][3] = {{0, 0, -1}, {300, 2, 9}, {1, -1, -1}, {3, 3, 0}};
    const sk_track_wish *wish = context;
    const sk_result_frame frame = {.source = "v.mp4", .instances = &found};
    sk_result_frame out;
    sk_track_teller *t = NULL;
    see(4, rows);
    sk_status status = sk_track_teller_open(wish, &header, &t, e);
    assert_int_equal(t != NULL, status == SK_OK);
    for (int i = 0; i < 2 && status == SK_OK; i++)
        status = sk_track_teller_tell(t, i, &frame, &out, e);
    sk_track_teller_close(&t);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_track_wish wish = wish_of(true);
    assert_true(test_every_allocation(tell_all, &wish) >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_numbers), cmocka_unit_test(figures),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
