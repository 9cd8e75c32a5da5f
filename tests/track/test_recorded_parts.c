/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's parts by themselves, number by number: what pairs cost, what pieces of a scene are like, looks, tables. */
#include "support/test.h"

#include "base/instances.h"
#include "base/memory.h"
#include "recorded_scene.h"
#include "track/counted.h"
#include "track/cost.h"
#include "track/extent.h"
#include "track/looks.h"
#include "track/near.h"
#include "track/points.h"
#include "track/region.h"
#include "track/sightings.h"

/* --- looks --- */

static void what_animals_look_like(void **state)
{
    (void)state;
    enum { W = 64, H = 48 };
    static const struct {
        const char *name;
        sk_pixel_format format;
        int step;
    } formats[] = {{"rgb", SK_PIXEL_RGB, 3},
                   {"bgr", SK_PIXEL_BGR, 3},
                   {"rgba", SK_PIXEL_RGBA, 4},
                   {"bgra", SK_PIXEL_BGRA, 4},
                   {"grey", SK_PIXEL_GRAY, 1}};
    static uint8_t data[W * 4 * H + 64];
    unsigned dice = 5;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(120 + 100 * sin(0.013 * (double)(i % 977)) + 30 * recorded_chance(&dice));
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int k = 0; k < 5; k++) {
            float looks[2][SK_TRACK_LOOKS];
            sk_frame frame = SK_FRAME_INIT;
            frame.format = formats[f].format;
            frame.width = W;
            frame.height = H;
            frame.stride = W * formats[f].step + 8;
            frame.data = data;
            sk_detection d = {.x = 20 + 9 * k, .y = 24 - 2 * k}, other = {.x = 31, .y = 22};
            sk_detection_set_oriented(&d, 26, 11, 0.5 * k);
            sk_detection_set_oriented(&other, 20, 15, 1);
            const bool in = sk_looks_of(&frame, &d, looks[0]);
            assert_true(sk_looks_of(&frame, &other, looks[1]));
            recorded_sum parts[4] = {{0}};
            for (int i = 0; i < SK_TRACK_LOOKS; i++)
                recorded_add(&parts[i < 16 ? 0 : i < 32 ? 1 : i < 40 ? 2 : 3], in ? looks[0][i] : 0);
            recorded_say("%s %d: %d %.9g %.9g %.9g %.9g, apart %.9g", formats[f].name, k, in, parts[0].sum,
                         parts[1].sum, parts[2].sum, parts[3].sum,
                         in ? sk_looks_apart(looks[0], looks[1]) : 0);
        }
    recorded_check("tests/fixtures/track/recorded/looks.txt");
}

/* Half of the body must lie in the frame: a body that is cut by the frame's border through its middle does, one pixel more out does
 * not. */
static void half_of_a_body_is_enough(void **state)
{
    (void)state;
    enum { SIDE = 32 };
    static uint8_t grey[SIDE * SIDE];
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_GRAY;
    frame.width = frame.height = frame.stride = SIDE;
    frame.data = grey;
    float looks[SK_TRACK_LOOKS];
    const double centres[4][2] = {{0, 16}, {32, 16}, {16, 0}, {16, 32}};
    for (int i = 0; i < 4; i++)
        for (int out = 0; out < 2; out++) {
            const double way = out ? 1.5 : -0.01;
            sk_detection d = {.x = centres[i][0] + (centres[i][0] == 0    ? -way
                                                    : centres[i][0] == 32 ? way
                                                                          : 0),
                              .y = centres[i][1] + (centres[i][1] == 0    ? -way
                                                    : centres[i][1] == 32 ? way
                                                                          : 0)};
            sk_detection_set_oriented(&d, 20, 12, 0);
            assert_int_equal(sk_looks_of(&frame, &d, looks), !out);
        }
    sk_detection flat = {.x = 16, .y = 16, .major = 10, .minor = 0};
    assert_false(sk_looks_of(&frame, &flat, looks));
    flat.minor = 5, flat.major = 0;
    assert_false(sk_looks_of(&frame, &flat, looks));
    assert_false(sk_looks_of(NULL, &flat, looks));
    const float none[SK_TRACK_LOOKS] = {0}, one[SK_TRACK_LOOKS] = {1}, two[SK_TRACK_LOOKS] = {0, 3};
    assert_true(sk_looks_apart(none, one) == 0 && sk_looks_apart(one, none) == 0);
    assert_true(fabs(sk_looks_apart(one, two) - 2) < 1e-12 && sk_looks_apart(two, two) == 0);
}

/* --- costs --- */

static void what_pairs_cost(void **state)
{
    (void)state;
    sk_track_settings settings;
    sk_follow_rules rules;
    for (int kind = 0; kind < SCENE_KINDS; kind++) {
        sk_track_defaults(&settings);
        settings.fps = 25;
        settings.body = kind % 2 ? 33 : 0;
        sk_follow_rules_make(&settings, &rules);
        recorded_say("%s rules %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g", scene_names[kind], rules.fps,
                     rules.damping, rules.along, rules.across, rules.start_speed, rules.maturity,
                     rules.turn_noise, rules.noise);
        sk_follower all[4];
        static float points[4][3 * SCENE_POINTS], looks[4][SK_TRACK_LOOKS];
        static scene_frame seen;
        for (int i = 0; i < 4; i++) { /* whoever is detected i-th, as if it were one: wild animals */
            const sk_follower_room room = {points[i], looks[i]};
            sk_look look;
            all[i].slot = i;
            for (int frame = 8; frame < 8 + 4 + 3 * i; frame++) {
                const double passed = frame % 5 == 2 ? 3 : 1;
                scene_make((scene_kind)kind, frame, &seen);
                if (i >= seen.n)
                    continue;
                sk_look_make(&rules, &seen.found[i], &look);
                look.border = frame % 2, look.crowded = frame % 3 == 0;
                if (frame == 8) {
                    sk_follower_begin(&all[i], &rules, &look, room);
                    continue;
                }
                sk_follower_predict(&all[i], &rules, passed);
                sk_follower_correct(&all[i], &rules, &look, passed, room);
                recorded_sum sum = {0}, pose = {0};
                const sk_follower *f = &all[i];
                const double told[] = {f->seen,
                                       f->age,
                                       f->missed,
                                       f->body,
                                       f->last_x,
                                       f->last_y,
                                       f->c,
                                       f->s,
                                       f->area.mean,
                                       f->area.variance,
                                       f->aspect.mean,
                                       f->aspect.variance,
                                       f->major,
                                       f->minor,
                                       f->angle,
                                       f->box[0],
                                       f->box[1],
                                       f->box[2],
                                       f->box[3],
                                       f->pointed,
                                       f->n_points,
                                       f->has_looks,
                                       f->looks_apart,
                                       f->class_id,
                                       f->identity,
                                       f->identity_votes,
                                       f->score,
                                       f->certainty,
                                       f->came_in,
                                       f->went_out,
                                       f->heading.angle,
                                       f->heading.rate,
                                       f->heading.variance,
                                       f->heading.surety,
                                       f->heading.known};
                for (size_t k = 0; k < sizeof told / sizeof *told; k++)
                    recorded_add(&sum, told[k]);
                for (int k = 0; k < 4; k++)
                    recorded_add(&sum, f->kalman.at[k] + f->at_last.cov[k][k] + f->kalman.cov[k][3 - k]);
                for (int k = 0; k < 3 * f->n_points; k++)
                    recorded_add(&pose, points[i][k]);
                for (int k = 0; k < SK_TRACK_LOOKS && f->has_looks; k++)
                    recorded_add(&pose, looks[i][k]);
                recorded_say("%s %d in frame %d: %.9g, %.9g; look %.9g %.9g %.9g %.9g %.9g",
                             scene_names[kind], i, frame, sum.sum, pose.sum, look.noise.xx, look.noise.xy,
                             look.noise.yy, look.angle_noise, look.log_area + 2 * look.log_aspect);
            }
        }
        scene_make((scene_kind)kind, 12, &seen);
        for (int i = 0; i < 4; i++) {
            const sk_follower_room room = {points[i], looks[i]};
            char line[400];
            int n = 0;
            for (int j = 0; j < 3; j++) {
                sk_look look;
                sk_look_make(&rules, &seen.found[j], &look);
                sk_follower near = all[i]; /* as if it had been predicted there */
                near.kalman.at[0] = seen.found[j].x + 4 * i - 5;
                near.kalman.at[1] = seen.found[j].y + 3 - 2 * j;
                n += snprintf(line + n, sizeof line - (size_t)n, " %.9g",
                              sk_pair_cost(&rules, &near, &look, room));
                if (kind == SCENE_POINTED) {
                    const sk_points_fit fit = sk_points_compare(&near, &seen.found[j], points[i]);
                    n += snprintf(line + n, sizeof line - (size_t)n, " %d %.9g %.9g %.9g %.9g %.9g", fit.n,
                                  fit.alike, fit.dx, fit.dy,
                                  sk_points_nearest(&near, &seen.found[j], points[i]),
                                  sk_points_widest(&seen.found[j]));
                }
            }
            sk_follower lost = all[i];
            lost.missed = 30 + i;
            for (int j = 0; j < 4; j++)
                n += snprintf(
                    line + n, sizeof line - (size_t)n, " %.9g",
                    sk_return_cost(&rules, &lost, &all[j], room, (sk_follower_room){points[j], looks[j]}));
            sk_follower one = all[i];
            sk_follower_become(&one, &all[(i + 1) % 4]);
            recorded_say("%s %d reaches %.9g, costs%s, becomes %d %.9g %d %.9g", scene_names[kind], i,
                         sk_pair_reach(&rules, &all[i]), line, one.seen, one.age, one.identity,
                         one.identity_votes);
        }
    }
    recorded_check("tests/fixtures/track/recorded/costs.txt");
}

/* --- tables --- */

/* Tracklets of five animals, cut, doubled and with holes, as two passes would have them. */
static sk_tracklets table(unsigned seed, double noise)
{
    sk_error err;
    sk_tracklets list = {0};
    unsigned dice = seed;
    for (int who = 0; who < 5; who++) {
        const int cut = (int)recorded_between(&dice, 30, 70), doubled = who == 3;
        for (int part = 0; part < 2 + doubled; part++) {
            sk_tracklet one = {.id = 10 * who + part};
            const int from = part == 1   ? cut + (int)recorded_between(&dice, 1, 6)
                             : part == 2 ? 20
                                         : who,
                      to = part == 0   ? cut
                           : part == 1 ? 110
                                       : 60;
            for (int frame = from; frame < to; frame++) {
                const double t = 0.06 * frame + 1.3 * who;
                double luck[8]; /* one after the other: initializers have no order */
                for (int i = 0; i < 8; i++)
                    luck[i] = recorded_chance(&dice);
                sk_seen seen = {.frame = frame,
                                .detection = luck[0] < 0.9 ? 1000 * frame + who : SK_SEEN_NO_DETECTION,
                                .x = 100 + 80 * cos(t) + noise * luck[1] + (part == 2 ? 3 : 0),
                                .y = 90 + 60 * sin(1.3 * t) + noise * luck[2],
                                .heading = fmod(t + (luck[3] < 0.08 ? 3.14159 : 0), 6.28318),
                                .score = 0.3 + 0.7 * luck[4],
                                .certainty = 0.2 + 0.8 * luck[5],
                                .uncertainty = 0.5 + 3.5 * luck[6],
                                .state = luck[0] < 0.9    ? SK_SEEN_ACTIVE
                                         : luck[0] < 0.96 ? SK_SEEN_COVERED
                                                          : SK_SEEN_LOST,
                                .columns = 31};
                if (luck[0] > 0.88 && luck[0] < 0.93)
                    seen.x = seen.y = seen.heading = NAN;
                if (luck[0] < 0.04) /* a jump */
                    seen.x += 60 * luck[7];
                if (luck[0] > 0.97)
                    continue;
                assert_ok(sk_tracklet_append(&one, &seen, &err), &err);
            }
            one.columns = 31;
            assert_ok(sk_tracklets_take(&list, &one, &err), &err);
        }
    }
    return list;
}

static void say_table(const char *what, const sk_tracklets *list)
{
    recorded_say("%s: %zu", what, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const sk_tracklet *t = &list->items[i];
        recorded_sum sums[4] = {{0}};
        for (size_t k = 0; k < t->count; k++) {
            const sk_seen *s = &t->items[k];
            recorded_add(&sums[0], (double)s->frame);
            recorded_add(&sums[0], s->detection == SK_SEEN_NO_DETECTION ? -5 : (double)s->detection);
            recorded_add(&sums[0], 13.0 * (int)s->state + s->columns);
            recorded_add(&sums[1], s->x);
            recorded_add(&sums[1], s->y);
            recorded_add(&sums[2], s->heading);
            recorded_add(&sums[3], s->score);
            recorded_add(&sums[3], s->certainty);
            recorded_add(&sums[3], s->uncertainty);
        }
        recorded_say("  %lld %zu %u %.9g %.9g %.9g %.9g", (long long)t->id, t->count, t->columns, sums[0].sum,
                     sums[1].sum, sums[2].sum, sums[3].sum);
    }
}

static void steps_over_tables(void **state)
{
    (void)state;
    sk_error err;
    for (unsigned seed = 1; seed <= 8; seed++) {
        const double noise = seed % 4 * 2.0;
        sk_clean_settings clean;
        sk_resolve_settings resolve;
        sk_interpolate_settings fill;
        for (int k = 0; k < 4; k++) {
            sk_tracklets list = table(seed, noise);
            sk_clean_defaults(&clean);
            clean.velocity_limit = k == 1 ? 20 : k == 3 ? 40 : 100;
            clean.outlier = k == 2 ? 3 : k == 3 ? 1.5 : 0;
            clean.outlier_window = k == 3 ? 5 : 10;
            clean.outlier_least = seed > 4 ? 8 : 2;
            clean.covered_gap = k == 1 ? 1 : k == 2 ? 0 : 30;
            clean.shortest = k == 1 ? 3 : 10;
            assert_ok(sk_tracklets_clean(&list, &clean, &err), &err);
            say_table("clean", &list);
            sk_tracklets_free(&list);
        }
        for (int k = 0; k < 4; k++) {
            sk_resolve_defaults(&resolve);
            resolve.agreement = k == 1 ? 4 : 15;
            resolve.overlap = k == 2 ? 2 : 5;
            resolve.stitch_gap = k == 3 ? 8 : k == 1 ? 0 : 3;
            resolve.heading_gate = k == 3 ? 3 : resolve.heading_gate;
            resolve.stitch_margin = k == 3 ? 0.9 : 0.5;
            sk_tracklets forward = table(seed, noise), backward = table(seed + 40, noise), out = {0};
            assert_ok(sk_tracklets_resolve(&forward, &backward, &resolve, &out, &err), &err);
            say_table("resolved", &out);
            sk_tracklets_free(&out);
            sk_status (*const steps[])(sk_tracklets *, const sk_resolve_settings *, sk_error *) = {
                sk_tracklets_drop_duplicates, sk_tracklets_join_overlaps, sk_tracklets_stitch_near};
            for (int s = 0; s < 3; s++) {
                sk_tracklets list = {0};
                for (size_t i = 0; i < forward.count; i++)
                    assert_ok(sk_tracklets_copy(&list, &forward.items[i], &err), &err);
                assert_ok(steps[s](&list, &resolve, &err), &err);
                say_table(s == 0 ? "no duplicates" : s == 1 ? "joined" : "stitched", &list);
                sk_tracklets_free(&list);
            }
            sk_tracklets_free(&forward);
            sk_tracklets_free(&backward);
        }
        for (int k = 0; k < 6; k++) {
            sk_tracklets list = table(seed, noise);
            sk_interpolate_defaults(&fill);
            fill.method = (sk_interpolation)(k % 3);
            fill.gap = k == 4 ? 2 : 10;
            fill.flip_burst = k == 5 ? 1 : 5;
            fill.directed = k >= 3;
            for (size_t i = 0; i < list.count; i++)
                assert_ok(sk_tracklet_interpolate(&list.items[i], &fill, &err), &err);
            say_table("filled", &list);
            sk_tracklets_free(&list);
        }
    }
    recorded_check("tests/fixtures/track/recorded/tables.txt");
}

/* --- who is who, of a known number --- */

static void numbers_for_a_known_count(void **state)
{
    (void)state;
    sk_error err;
    sk_counted counted;
    unsigned dice = 31;
    assert_ok(sk_counted_open(4, 6, &counted, &err), &err);
    for (int frame = 0; frame < 60; frame++) {
        sk_sighting all[8];
        int32_t n = 0;
        char line[400] = "";
        int used = 0;
        for (int32_t k = 0; k < 7; k++) {
            const double there = recorded_chance(&dice);
            const double seen = recorded_chance(&dice);
            const double way = recorded_between(&dice, 0, 5);
            if (there < 0.6)
                all[n++] = (sk_sighting){.frame = frame,
                                         .track = 6 - k + (frame / 20) * 3,
                                         .detection = seen < 0.8 ? k : -1,
                                         .x = 40 * k + frame + way,
                                         .y = 30 * (k % 3)};
        }
        n = sk_counted_step(&counted, frame % 9 == 4 ? 2 : 1, all, n);
        for (int32_t i = 0; i < n; i++)
            used += snprintf(line + used, sizeof line - (size_t)used, " %d/%d/%d/%.6g", all[i].track,
                             all[i].place, all[i].detection, all[i].x);
        recorded_say("%d:%s", frame, line);
    }
    sk_counted_free(&counted);
    recorded_check("tests/fixtures/track/recorded/counted.txt");
}

/* Nobody who is near is overlooked, whatever the grid, and those who lie in no cell of the square are far enough away. */
static void the_grid_overlooks_nobody(void **state)
{
    (void)state;
    sk_error err;
    sk_near near = {0};
    unsigned dice = 3;
    for (int round = 0; round < 60; round++) {
        double x[40], y[40];
        const int32_t n = 1 + round % 40;
        for (int32_t i = 0; i < n; i++) {
            x[i] = round % 7 == 3 ? 5 : recorded_between(&dice, -100, 300);
            y[i] = round % 5 == 2 ? -7 : recorded_between(&dice, 0, 50 + round);
        }
        assert_ok(sk_near_fill(&near, x, y, 1, n, &err), &err);
        for (int32_t k = 0; k + 1 < near.across * near.down; k++)
            for (int32_t i = near.start[k]; i + 1 < near.start[k + 1]; i++)
                assert_true(near.order[i] < near.order[i + 1]);
        assert_int_equal(near.start[near.across * near.down], n);
        int cells_seen = 0, points_seen = 0;
        for (int q = 0; q < 20; q++) {
            const double at_x = recorded_between(&dice, -150, 350);
            const double at_y = recorded_between(&dice, -50, 150);
            const double reach = recorded_between(&dice, 0, 60);
            bool seen[40] = {0};
            const sk_near_cells c = sk_near_around(&near, at_x, at_y, reach);
            for (int32_t down = c.top; down <= c.bottom && c.left <= c.right; down++) {
                assert_true(down >= 0 && down < near.down && c.left >= 0 && c.right < near.across);
                const int32_t *start = near.start + (size_t)down * (size_t)near.across;
                cells_seen += c.right - c.left + 1;
                for (int32_t k = start[c.left]; k < start[c.right + 1]; k++) {
                    seen[near.order[k]] = true;
                    points_seen++;
                }
            }
            for (int32_t i = 0; i < n; i++)
                assert_true(seen[i] || fabs(x[i] - at_x) > reach || fabs(y[i] - at_y) > reach);
        }
        recorded_say("%d: %d x %d, %.9g %.9g %.9g %.9g; %d cells, %d points", round, near.across, near.down,
                     near.x0, near.y0, near.per_x, near.per_y, cells_seen, points_seen);
    }
    sk_near_free(&near);
    recorded_check("tests/fixtures/track/recorded/near.txt");
}

/* --- detections --- */

static void detections_of_instances(void **state)
{
    (void)state;
    unsigned dice = 8;
    sk_error err;
    static const int32_t head[] = {0, 1}, tail[] = {3, 9};
    const sk_pose_axis axis = {head, tail, 2, 2};
    for (int round = 0; round < 120; round++) {
        sk_instances list;
        sk_detection d;
        assert_ok(sk_instances_alloc(1, 4, &list, &err), &err);
        sk_found *f = sk_instances_add(&list);
        f->has = (uint32_t)(round % 8);
        f->class_id = round % 3 - 1;
        f->score = 0.75F;
        f->track_id = round % 4 - 1;
        f->tracking_score = 0.5F;
        for (int i = 0; i < 5; i++)
            f->obb[i] = (float)recorded_between(&dice, i < 4 ? 5 : -4, i < 4 ? 40 : 8);
        for (int i = 0; i < 4; i++)
            f->box[i] = (float)(recorded_between(&dice, 0, 20) + (i < 2 ? 0 : 20));
        if (round % 11 == 7)
            f->obb[2 + round % 2] = 0;
        if (round % 13 == 5)
            f->box[2 + round % 2] = f->box[round % 2];
        for (int i = 0; i < 4; i++) {
            const double x = 20 + 10 * i + recorded_between(&dice, -6, 6);
            const double y = 30 + recorded_between(&dice, -6, 6);
            const bool there = recorded_chance(&dice) < (round % 7 == 6 ? 0.3 : 0.9);
            list.keypoints[f->first_keypoint + i] =
                (sk_keypoint){there ? (float)x : NAN, there ? (float)y : NAN, 1};
        }
        const bool good = sk_detection_of(&list, 0, round % 5 == 4 ? NULL : &axis, &d);
        if (good)
            recorded_say("%d: %.9g %.9g %.9g %.9g %.9g%s%s%s %.9g box %.9g %.9g %.9g %.9g, %.9g, class %d, "
                         "identity %d "
                         "%.9g, %d points",
                         round, d.x, d.y, d.major, d.minor, d.angle, d.upright ? " upright" : "",
                         d.pointed ? " pointed" : "", d.directed ? " directed" : "", d.heading, d.box[0],
                         d.box[1], d.box[2], d.box[3], d.score, d.class_id, d.identity, d.identity_score,
                         d.n_points);
        else
            recorded_say("%d: nowhere", round);
        assert_false(sk_detection_of(&list, 1, &axis, &d));
        sk_instances_free(&list);
    }
    recorded_check("tests/fixtures/track/recorded/detections.txt");
}

static void angles_stay_in_their_bounds(void **state)
{
    (void)state;
    for (int k = -40; k <= 40; k++) {
        const double angle = k * 0.37;
        double turn = fmod(angle, 2 * M_PI), half = fmod(angle, M_PI);
        turn += turn < 0 ? 2 * M_PI : 0;
        half += half < 0 ? M_PI : 0;
        assert_true(fabs(sk_angle_turn(angle) - turn) < 1e-12 && fabs(sk_angle_axis(angle) - half) < 1e-12);
        assert_true(sk_angle_turn(angle) >= 0 && sk_angle_turn(angle) < SK_TAU_D);
        assert_true(sk_angle_axis(angle) >= 0 && sk_angle_axis(angle) < SK_PI_D);
        for (int j = -9; j < 9; j++) {
            const double between = sk_angle_between(angle, j), across = sk_axis_between(angle, j);
            assert_true(fabs(remainder(angle - j - between, 2 * M_PI)) < 1e-12 && fabs(between) <= M_PI);
            assert_true(fabs(across - fabs(remainder(angle - j, M_PI))) < 1e-12);
        }
    }
    assert_true(sk_angle_turn(0) == 0 && sk_angle_turn(SK_TAU_D) == 0 && sk_angle_turn(-1e-300) == 0);
    assert_true(sk_angle_axis(SK_PI_D) == 0 && sk_angle_axis(-1e-300) == 0 && sk_angle_axis(0.5) == 0.5);
    assert_true(sk_angle_between(SK_PI_D, 0) == SK_PI_D && sk_axis_between(SK_PI_D / 2, 0) == SK_PI_D / 2);
}

/* After a million poses all counts are halved, so that the last ones always say something. */
static void sizes_of_long_ago_are_forgotten(void **state)
{
    (void)state;
    enum { AT_ONCE = 50000 };
    static sk_extents extents;
    static sk_keypoint points[2];
    sk_detection *all = sk_calloc(AT_ONCE, sizeof *all);
    assert_non_null(all);
    for (int round = 0; round < 24; round++) {
        const double size = round < 21 ? 40 : 20;
        for (int i = 0; i < AT_ONCE; i++)
            all[i] = (sk_detection){.major = size,
                                    .minor = size / 4,
                                    .score = 0.3,
                                    .pointed = true,
                                    .points = points,
                                    .n_points = 2};
        sk_extents_even(&extents, all, AT_ONCE);
        if (round == 19)
            assert_int_equal(extents.n, 500000);
        assert_true(all[0].score == 1 && fabs(extents.score - 0.3) < 1e-9);
        assert_true(fabs(log2(all[0].major / 40)) < 0.07 && fabs(log2(all[0].minor / 10)) < 0.07);
    }
    assert_int_equal(extents.scored, 1000000);
    sk_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_animals_look_like),
                                       cmocka_unit_test(half_of_a_body_is_enough),
                                       cmocka_unit_test(what_pairs_cost),
                                       cmocka_unit_test(steps_over_tables),
                                       cmocka_unit_test(numbers_for_a_known_count),
                                       cmocka_unit_test(the_grid_overlooks_nobody),
                                       cmocka_unit_test(detections_of_instances),
                                       cmocka_unit_test(angles_stay_in_their_bounds),
                                       cmocka_unit_test(sizes_of_long_ago_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
