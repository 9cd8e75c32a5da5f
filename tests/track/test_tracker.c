/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/memory.h"
#include "track/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sk_detection at(double x, double y, double angle)
{
    sk_detection d = {.x = x, .y = y, .score = 0.9, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, 40, 10, angle);
    for (int i = 0; i < 4; i++)
        d.box[i] = (i & 1 ? y : x) + (i < 2 ? -20 : 20);
    return d;
}

static sk_tracker *open_with(const sk_track_settings *settings)
{
    sk_error err;
    sk_tracker *tracker;
    assert_ok(sk_tracker_open(settings, &tracker, &err), &err);
    return tracker;
}

static int32_t look(sk_tracker *tracker, int64_t frame, const sk_detection *d, int32_t n,
                    const sk_sighting **seen)
{
    sk_error err;
    int32_t count;
    assert_ok(sk_tracker_step(tracker, frame, (double)frame / 25, d, n, seen, &count, &err), &err);
    return count;
}

static sk_track_settings defaults(void)
{
    sk_track_settings settings;
    sk_track_defaults(&settings);
    settings.fps = 25;
    return settings;
}

/* One that was never seen well is told of once it was seen often, one that is seen well at once. */
static void doubtful_ones_wait(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    for (int doubtful = 0; doubtful < 2; doubtful++) {
        sk_tracker *tracker = open_with(&settings);
        int first = -1;
        for (int frame = 0; frame < 40; frame++) {
            sk_detection found[2] = {at(100, 100, 0), at(300 + frame, 300, 0)};
            found[1].score = doubtful ? 0.65 : 0.8;
            const sk_sighting *seen;
            if (look(tracker, frame, found, frame < 10 ? 1 : 2, &seen) == 2 && first < 0)
                first = frame;
        }
        assert_int_equal(first, doubtful ? 15 : 10);
        sk_tracker_close(&tracker);
    }
}

/* Two animals pass each other; for some frames only the upper one is found. */
static void crossing_animals_keep_their_identities(void **state)
{
    (void)state;
    for (int hidden = 0; hidden < 12; hidden += 3) {
        const sk_track_settings settings = defaults();
        sk_tracker *tracker = open_with(&settings);
        int32_t first[2] = {-1, -1};
        for (int frame = 0; frame < 60; frame++) {
            const sk_detection found[2] = {at(100 + 4 * frame, 100 + 4 * frame, 0.785398),
                                           at(100 + 4 * frame, 336 - 4 * frame, 2.356194)};
            const sk_sighting *seen;
            const int32_t there = abs(frame - 30) < hidden ? 1 : 2,
                          n = look(tracker, frame, found, there, &seen);
            assert_true(
                n <= there &&
                (n == there || abs(frame - 30) < hidden + 5)); /* it is looked at before it is named */
            for (int i = 0; i < n; i++) {
                if (frame == 0)
                    first[seen[i].detection] = seen[i].track;
                assert_int_equal(seen[i].track, first[seen[i].detection]);
                assert_int_equal(seen[i].frame, frame);
                assert_int_equal(seen[i].state, SK_TRACK_ACTIVE);
            }
        }
        sk_tracker_close(&tracker);
        assert_null(tracker);
    }
}

/* Two that meet head on along one line, covered while they meet: only their directions tell them apart. */
static void heads_tell_who_went_where(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    sk_tracker *tracker = open_with(&settings);
    int32_t first[2] = {-1, -1};
    for (int frame = 0; frame < 80; frame++) {
        sk_detection found[2] = {at(100 + 3 * frame, 100, 0), at(340 - 3 * frame, 104, 0)};
        found[0].directed = found[1].directed = true;
        found[1].heading = 3.14159265;
        const sk_sighting *seen;
        const int n = look(tracker, frame, found, abs(frame - 40) < 5 ? 0 : 2, &seen);
        for (int i = 0; i < n; i++) {
            if (frame == 0)
                first[seen[i].detection] = seen[i].track;
            assert_int_equal(seen[i].track, first[seen[i].detection]);
            const double turn =
                fabs(remainder(seen[i].heading - found[seen[i].detection].heading, 6.283185307));
            assert_true(turn < 0.2);
        }
    }
    sk_tracker_close(&tracker);
}

/* Of boxes alone the heading follows from the way. */
static void heading_follows_the_way(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    sk_tracker *tracker = open_with(&settings);
    const sk_sighting *seen;
    for (int frame = 0; frame < 40; frame++) {
        const sk_detection d = at(500 - 3 * frame, 100, frame % 2 ? 0.01 : 3.13);
        assert_int_equal(look(tracker, frame, &d, 1, &seen), 1);
    }
    assert_true(fabs(seen[0].heading - 3.14159) < 0.1);
    sk_tracker_close(&tracker);
}

static void births_and_ends_come_at_their_frames(void **state)
{
    (void)state;
    sk_track_settings settings = defaults();
    settings.life.start = 3.0 / 25;
    settings.life.covered = 4.0 / 25;
    settings.life.lost = 6.0 / 25;
    settings.tell_covered = settings.tell_lost = true;
    sk_tracker *tracker = open_with(&settings);
    const sk_detection d = at(100, 100, 0);
    const sk_sighting *seen;
    for (int frame = 0; frame < 5; frame++)
        assert_int_equal(look(tracker, frame, &d, 1, &seen), frame < 2 ? 0 : 1);
    for (int frame = 5; frame < 20; frame++) {
        const int32_t gone = frame - 4, n = look(tracker, frame, NULL, 0, &seen);
        assert_int_equal(n, gone <= 10 ? 1 : 0);
        if (n) {
            assert_int_equal(seen[0].state, gone <= 4 ? SK_TRACK_COVERED : SK_TRACK_LOST);
            assert_int_equal(seen[0].detection, -1);
            assert_true(isnan(seen[0].score));
        }
    }
    /* its place is free again, its number is not */
    for (int frame = 20; frame < 23; frame++)
        if (look(tracker, frame, &d, 1, &seen)) {
            assert_int_equal(seen[0].place, 0);
            assert_int_equal(seen[0].track, 1);
        }
    sk_tracker_close(&tracker);
}

/* Frames that nobody looked at count as time, by their numbers and by the clock. */
static void frames_left_out_are_time(void **state)
{
    (void)state;
    sk_track_settings settings = defaults();
    settings.life.covered = 4.0 / 25;
    settings.tell_covered = settings.tell_lost = true;
    sk_tracker *tracker = open_with(&settings);
    const sk_detection d = at(100, 100, 0);
    const sk_sighting *seen;
    assert_int_equal(look(tracker, 0, &d, 1, &seen), 1);
    assert_int_equal(look(tracker, 4, NULL, 0, &seen), 1);
    assert_int_equal(seen[0].state, SK_TRACK_COVERED);
    assert_int_equal(look(tracker, 5, NULL, 0, &seen), 1);
    assert_int_equal(seen[0].state, SK_TRACK_LOST);
    sk_tracker_close(&tracker);
}

/* A camera drops out while the one animal swims to and fro: it is the same one afterwards, however long it was looked at before. A
 * way that is no wider than it is no border of the picture, where others would come in. */
static void a_drop_out_in_a_narrow_way_ends_nobody(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    for (int frames = 20; frames <= 520; frames += 125) {
        sk_tracker *tracker = open_with(&settings);
        const sk_sighting *seen;
        for (int frame = 0; frame < frames + 20; frame++) {
            const double t = 0.04 * frame + (frame < frames ? 0 : 2);
            const sk_detection d = at(200 + 30 * sin(2 * t), 100, 0);
            sk_error err;
            int32_t n = 0;
            assert_int_equal(sk_tracker_step(tracker, frame, t, &d, 1, &seen, &n, &err), SK_OK);
            assert_int_equal(n > 0 ? seen[0].track : 0, 0);
        }
        sk_tracker_close(&tracker);
    }
}

static uint32_t seed;
static double chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 16777216.0;
}

/* A crowd of `animals` that walks about, some not found, some false ones among them. */
static int32_t crowd(int32_t animals, int frame, sk_detection *out)
{
    int32_t n = 0;
    seed = 77u + (uint32_t)frame * 2654435761u;
    for (int32_t i = 0; i < animals; i++) {
        const double phase = 0.03 * frame + i * 2.4, side = 60 * sqrt((double)animals);
        if (chance() < 0.1)
            continue;
        out[n++] = at(side * (1 + sin(phase * 0.7 + i)) + chance(),
                      side * (1 + cos(phase + 2 * i)) + chance(), fmod(phase, 3.1));
    }
    for (; chance() < 0.5; n++)
        out[n] = at(chance() * 2000, chance() * 2000, chance() * 3);
    return n;
}

static void a_fixed_number_is_never_passed(void **state)
{
    (void)state;
    enum { N = 12 };
    sk_track_settings settings = defaults();
    settings.animals = N;
    settings.tell_covered = settings.tell_lost = true;
    sk_tracker *tracker = open_with(&settings);
    sk_detection found[64];
    int32_t last = 0;
    for (int frame = 0; frame < 500; frame++) {
        const sk_sighting *seen;
        const int32_t there = crowd(N, frame, found), n = look(tracker, frame, found, there, &seen);
        assert_true(n <= N && n >= last);
        last = n;
        for (int32_t i = 0; i < n; i++) {
            assert_true(seen[i].track >= 0 && seen[i].track < N && seen[i].place >= 0 && seen[i].place < N);
            for (int32_t j = 0; j < i; j++)
                assert_true(seen[i].track != seen[j].track && seen[i].place > seen[j].place &&
                            (seen[i].detection < 0 || seen[i].detection != seen[j].detection));
        }
    }
    assert_int_equal(last, N);
    sk_tracker_close(&tracker);
}

/* In the fixed number's mode, who was away for long and comes back elsewhere is the one that was missing. */
static void the_missing_one_is_born_again(void **state)
{
    (void)state;
    sk_track_settings settings = defaults();
    settings.animals = 2;
    sk_tracker *tracker = open_with(&settings);
    const sk_sighting *seen;
    int32_t missing = -1;
    for (int frame = 0; frame < 400; frame++) {
        const sk_detection d[2] = {at(100, 100, 0), at(frame < 100 ? 500 : 1500, 300, 1)};
        const int32_t n = look(tracker, frame, d, frame >= 50 && frame < 300 ? 1 : 2, &seen);
        for (int32_t i = 0; i < n; i++)
            if (seen[i].detection == 1 && frame < 50)
                missing = seen[i].track;
            else if (seen[i].detection == 1)
                assert_int_equal(seen[i].track, missing);
    }
    assert_int_equal(look(tracker, 400, NULL, 0, &seen), 0);
    sk_tracker_close(&tracker);
}

static void the_same_calls_give_the_same_bits(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    sk_tracker *a = open_with(&settings), *b = open_with(&settings);
    sk_detection found[256];
    for (int frame = 0; frame < 200; frame++) {
        const sk_sighting *p, *q;
        const int32_t there = crowd(60, frame, found), n = look(a, frame, found, there, &p);
        assert_int_equal(look(b, frame, found, there, &q), n);
        for (int32_t i = 0; i < n; i++) {
            assert_int_equal(p[i].track, q[i].track);
            assert_memory_equal(&p[i].x, &q[i].x, 9 * sizeof(double));
        }
    }
    sk_tracker_close(&a);
    sk_tracker_close(&b);
}

static void nothing_is_allocated_once_warm(void **state)
{
    (void)state;
    sk_track_settings settings = defaults();
    settings.life.lost = 1;
    sk_tracker *tracker = open_with(&settings);
    sk_detection found[256];
    uint64_t before = 0;
    for (int frame = 0; frame < 500; frame++) {
        const sk_sighting *seen;
        if (frame == 200)
            before = sk_memory_allocations();
        look(tracker, frame, found, crowd(frame < 200 ? 160 : 80, frame, found), &seen);
    }
    assert_int_equal(sk_memory_allocations(), before);
    sk_tracker_close(&tracker);
}

static void ten_thousand_are_followed_and_too_many_refused_by_name(void **state)
{
    (void)state;
    enum { N = 10000 };
    const sk_track_settings settings = defaults();
    sk_tracker *tracker = open_with(&settings);
    sk_detection *found = calloc(SK_TRACK_MOST + 1, sizeof *found);
    const sk_sighting *seen;
    for (int frame = 0; frame < 3; frame++) {
        for (int i = 0; i < N; i++)
            found[i] = at(i % 100 * 50 + frame, i / 100 * 50, 0.3);
        assert_int_equal(look(tracker, frame, found, N, &seen), N);
        assert_int_equal(seen[N - 1].track, N - 1);
    }
    sk_error err;
    int32_t n;
    assert_int_equal(sk_tracker_step(tracker, 3, 1, found, SK_TRACK_MOST + 1, &seen, &n, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "frame 3"));
    assert_int_equal(sk_tracker_step(tracker, 2, 1, found, 1, &seen, &n, &err),
                     SK_ERR_ARG); /* not in order */
    free(found);
    sk_tracker_close(&tracker);
}

/* A model that tells animals apart decides where place and way do not. */
static void identities_of_the_model_are_kept(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    sk_tracker *tracker = open_with(&settings);
    int32_t first[2] = {-1, -1};
    for (int frame = 0; frame < 60; frame++) {
        /* they lie side by side and change places while nobody looks */
        const bool after = frame >= 30;
        sk_detection found[2] = {at(100, after ? 112 : 100, 0), at(100, after ? 100 : 112, 0)};
        for (int i = 0; i < 2; i++) {
            found[i].identity = i;
            found[i].identity_score = 0.9;
        }
        const sk_sighting *seen;
        const int32_t n = look(tracker, frame, found, frame >= 25 && frame < 30 ? 0 : 2, &seen);
        for (int i = 0; i < n; i++) {
            if (frame == 0)
                first[seen[i].detection] = seen[i].track;
            assert_int_equal(seen[i].track, first[seen[i].detection]);
        }
    }
    sk_tracker_close(&tracker);
}

/* So does how they look. */
static void appearance_tells_who_is_who(void **state)
{
    (void)state;
    const sk_track_settings settings = defaults();
    sk_tracker *tracker = open_with(&settings);
    float looks[2][SK_TRACK_LOOKS] = {{1, 0.2f}, {0.2f, 1}};
    int32_t first[2] = {-1, -1};
    for (int frame = 0; frame < 60; frame++) {
        const bool after = frame >= 30;
        sk_detection found[2] = {at(100, after ? 106 : 100, 0), at(100, after ? 100 : 106, 0)};
        for (int i = 0; i < 2; i++)
            found[i].looks = looks[i];
        const sk_sighting *seen;
        const int32_t n = look(tracker, frame, found, frame >= 22 && frame < 30 ? 0 : 2, &seen);
        for (int i = 0; i < n; i++) {
            if (frame == 0)
                first[seen[i].detection] = seen[i].track;
            assert_int_equal(seen[i].track, first[seen[i].detection]);
        }
    }
    sk_tracker_close(&tracker);
}

static void settings_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    sk_error err;
    sk_tracker *tracker;
    sk_track_settings settings = defaults();
    settings.motion.damping = 2;
    assert_int_equal(sk_tracker_open(&settings, &tracker, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "motion.damping"));
    assert_null(tracker);
    settings = defaults();
    settings.life.gate = NAN;
    assert_int_equal(sk_tracker_open(&settings, &tracker, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "life.gate"));
    settings = defaults();
    settings.method = "hope";
    assert_int_equal(sk_tracker_open(&settings, &tracker, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "hope"));
}

static sk_status a_short_run(void *context, sk_error *err)
{
    (void)context;
    const sk_track_settings settings = defaults();
    sk_tracker *tracker;
    SK_TRY(sk_tracker_open(&settings, &tracker, err));
    sk_status status = SK_OK;
    sk_keypoint points[3] = {{1, 2, 1}, {3, 4, 1}, {5, 6, 1}};
    float looks[SK_TRACK_LOOKS] = {1};
    for (int frame = 0; frame < 8 && status == SK_OK; frame++) {
        sk_detection found[256];
        const sk_sighting *seen;
        int32_t n, there = crowd(4 + 6 * frame, frame, found);
        found[0].points = points;
        found[0].n_points = frame % 4;
        found[1].looks = frame > 2 ? looks : NULL;
        status = sk_tracker_step(tracker, frame, frame, found, there, &seen, &n, err);
    }
    sk_tracker_close(&tracker);
    return status;
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_true(test_every_allocation(a_short_run, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubtful_ones_wait),
        cmocka_unit_test(crossing_animals_keep_their_identities),
        cmocka_unit_test(heads_tell_who_went_where),
        cmocka_unit_test(heading_follows_the_way),
        cmocka_unit_test(births_and_ends_come_at_their_frames),
        cmocka_unit_test(frames_left_out_are_time),
        cmocka_unit_test(a_drop_out_in_a_narrow_way_ends_nobody),
        cmocka_unit_test(a_fixed_number_is_never_passed),
        cmocka_unit_test(the_missing_one_is_born_again),
        cmocka_unit_test(the_same_calls_give_the_same_bits),
        cmocka_unit_test(nothing_is_allocated_once_warm),
        cmocka_unit_test(ten_thousand_are_followed_and_too_many_refused_by_name),
        cmocka_unit_test(identities_of_the_model_are_kept),
        cmocka_unit_test(appearance_tells_who_is_who),
        cmocka_unit_test(settings_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
