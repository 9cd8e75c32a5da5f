/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of tracks of a scene, what links between pieces are worth, and which of them are made: number by number. */
#include "support/test.h"

#include "recorded_scene.h"
#include "track/offline.h"
#include "track/passes.h"
#include "track/pieces.h"

#include <stdlib.h>

/* --- pieces --- */

static void say_end(const char *what, const sk_piece_end *e)
{
    recorded_sum points = {0};
    for (int i = 0; i < 2 * e->n_points; i++)
        recorded_add(&points, e->points[i]);
    recorded_say("  %s %.9g %.9g %.9g %.9g %.9g %.9g %d %d %.9g", what, e->x, e->y, e->vx, e->vy, e->c, e->s,
                 e->directed, e->n_points, points.sum);
}

static void say_piece(const sk_piece *p)
{
    recorded_sum shape = {0}, looks = {0};
    for (int i = 0; i < SK_PIECE_SHAPES; i++)
        recorded_add(&shape, p->n_shape[i] + (double)p->shape[i]);
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        recorded_add(&looks, p->looks[i]);
    recorded_say("  %lld to %lld: %d, from %d %d to %d %d; %.9g %.9g %.9g %.9g %d; class %d %.9g, identity "
                 "%d %.9g; next "
                 "%d, previous %d, track %d%s%s",
                 (long long)p->first, (long long)p->last, p->n, p->from[0], p->from[1], p->to[0], p->to[1],
                 p->score, p->body, shape.sum, looks.sum, p->n_looks, p->class_id, p->class_votes,
                 p->identity, p->identity_votes, p->next, p->previous, p->track, p->sure ? ", sure" : "",
                 p->nobodys ? ", nobody's" : "");
    say_end("start", &p->start);
    say_end("end", &p->end);
}

static void pieces_of_a_scene(void **state)
{
    (void)state;
    enum { FRAMES = 150 };
    for (int kind = 0; kind < SCENE_KINDS; kind++)
        for (int counted = 0; counted < 2; counted++) {
            sk_error err;
            sk_seen_store *store;
            sk_offline_settings settings;
            sk_pieces pieces = {0};
            int32_t tracks, most = 0;
            sk_offline_defaults(&settings);
            settings.track.fps = 25;
            settings.track.animals = counted ? SCENE_ANIMALS : 0;
            assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
            for (int frame = 0; frame < FRAMES; frame++) {
                static scene_frame seen;
                scene_make((scene_kind)kind, frame, &seen);
                most = seen.n > most ? seen.n : most;
                assert_ok(sk_seen_store_add(store, frame, frame / 25.0, seen.found, seen.n, &err), &err);
            }
            sk_passes passes = {sk_seen_store_column(store, sizeof(int32_t), &err),
                                sk_seen_store_column(store, sizeof(int32_t), &err),
                                sk_seen_store_column(store, sizeof(float), &err),
                                sk_seen_store_column(store, sizeof(float), &err)};
            int32_t *piece = sk_seen_store_column(store, sizeof(int32_t), &err);
            assert_ok(sk_passes_run(store, &settings, &passes, &err), &err);
            assert_ok(sk_pieces_make(store, passes.forward, passes.backward, 25, counted ? 14 : 0,
                                     &settings.track, most, piece, &pieces, &err),
                      &err);
            const sk_stitch_settings stitch = {25, counted ? 0 : 2, settings.track.animals, -3.5,
                                               counted ? 14 : 0};
            assert_ok(sk_pieces_stitch(&pieces, &stitch, &tracks, &err), &err);
            recorded_sum of = {0}, sure = {0};
            for (int64_t i = 0; i < sk_seen_store_detections(store); i++) {
                recorded_add(&of, piece[i]);
                recorded_add(&sure, passes.certainty[i] + passes.uncertainty[i]);
            }
            recorded_say("%s%s: %d tracks, body %.9g, speed %.9g, pieces %.9g, %.9g", scene_names[kind],
                         counted ? " counted" : "", tracks, pieces.body, pieces.speed, of.sum, sure.sum);
            for (int i = 0; i < SK_BRIDGES; i++)
                recorded_say("  bridge %g %.9g %.9g %.9g %.9g", pieces.bridges[i].n, pieces.bridges[i].pull,
                             pieces.bridges[i].place, pieces.bridges[i].speed, pieces.bridges[i].turn);
            recorded_sum within = {0};
            for (int i = 0; i < SK_PIECE_SHAPES; i++)
                recorded_add(&within, pieces.within[i]);
            for (int i = 0; i < SK_TRACK_LOOKS; i++)
                recorded_add(&within, pieces.looks_within[i]);
            recorded_say("  within %.9g", within.sum);
            for (size_t i = 0; i < pieces.count; i++)
                say_piece(&pieces.items[i]);
            sk_pieces_free(&pieces);
            sk_seen_store_close(&store);
        }
    recorded_check("tests/fixtures/track/recorded/pieces.txt");
}

/* --- links --- */

static sk_piece made_piece(unsigned *dice, int64_t first, int32_t n, bool pointed)
{
    sk_piece p = {.first = first,
                  .last = first + n - 1,
                  .n = n,
                  .from = {-1, -1},
                  .to = {-1, -1},
                  .score = 0.8 * n,
                  .body = 30,
                  .class_id = -1,
                  .identity = -1,
                  .next = -1,
                  .previous = -1,
                  .track = -1};
    sk_piece_end *ends[2] = {&p.start, &p.end};
    for (int k = 0; k < 2; k++) {
        double luck[5];
        for (int i = 0; i < 5; i++)
            luck[i] = recorded_chance(dice);
        *ends[k] = (sk_piece_end){.x = 100 + 40 * luck[0],
                                  .y = 100 + 40 * luck[1],
                                  .vx = 4 * luck[2] - 2,
                                  .vy = 4 * luck[3] - 2,
                                  .c = cos(6 * luck[4]),
                                  .s = sin(6 * luck[4]),
                                  .directed = recorded_chance(dice) < 0.6};
        for (int i = 0; pointed && i < 4; i++) {
            const bool seen = recorded_chance(dice) < 0.8;
            ends[k]->points[2 * i] = seen ? (float)(ends[k]->x + 6 * i) : NAN;
            ends[k]->points[2 * i + 1] = seen ? (float)(ends[k]->y + 20 * recorded_chance(dice)) : NAN;
        }
        ends[k]->n_points = pointed ? 4 - (int32_t)(first % 2) : 0; /* the last one says nothing then */
    }
    for (int i = 0; i < SK_PIECE_SHAPES; i++) {
        p.shape[i] = (float)(3 + 0.3 * recorded_chance(dice));
        p.n_shape[i] = recorded_chance(dice) < 0.2 ? 2 : n;
    }
    p.n_looks = recorded_chance(dice) < 0.5 ? n : 0;
    for (int i = 0; i < SK_TRACK_LOOKS && p.n_looks; i++)
        p.looks[i] = (float)(0.2 * recorded_chance(dice));
    return p;
}

static void made_lessons(unsigned *dice, sk_pieces *p)
{
    p->body = recorded_between(dice, 20, 40);
    p->speed = recorded_between(dice, 0.001, 0.05);
    for (int k = 0; k < SK_BRIDGES; k++) {
        double luck[4];
        for (int i = 0; i < 4; i++)
            luck[i] = recorded_chance(dice);
        p->bridges[k] = (sk_bridge){.n = 30,
                                    .pull = 0.5 + 0.6 * luck[0],
                                    .place = 0.01 * (1 << k) * luck[1],
                                    .speed = 0.02 * luck[2],
                                    .turn = 0.8 * luck[3]};
    }
    for (int i = 0; i < SK_PIECE_SHAPES; i++)
        p->within[i] = recorded_between(dice, 0, 0.01);
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        p->looks_within[i] = recorded_between(dice, 0, 0.002);
}

/* What a link is worth shows in the least prior with which it is made: exact to rounding, all terms together. */
static double worth_of_the_first_link(sk_pieces *pieces, sk_stitch_settings settings, bool alone)
{
    double low = -400, high = 400;
    sk_error err;
    while (high - low > 1e-10) {
        int32_t tracks;
        settings.prior = (low + high) / 2;
        assert_ok(sk_pieces_stitch(pieces, &settings, &tracks, &err), &err);
        const bool made = alone ? pieces->items[0].nobodys : pieces->items[0].next == 1;
        *(made ? &high : &low) = settings.prior;
        if (settings.prior == low && settings.prior == high)
            break;
    }
    return -high;
}

static void what_links_are_worth(void **state)
{
    (void)state;
    unsigned dice = 12;
    for (int round = 0; round < 90; round++) {
        sk_piece items[6];
        sk_pieces pieces = {.items = items, .count = 6, .capacity = 6};
        const bool pointed = round % 3 == 2;
        static const int64_t gaps[] = {1, 2, 5, 12, 40, 130, 300, -2, -8};
        made_lessons(&dice, &pieces);
        items[0] = made_piece(&dice, 0, 40 + round % 7, pointed);
        items[1] = made_piece(&dice, items[0].last + gaps[round % 9], 30 + round % 4, pointed && round % 2);
        for (int k = 2; k < 6; k++) /* far away: of them only how animals differ is learnt */
            items[k] = made_piece(&dice, 100000 * k, k == 5 ? 4 : 20, pointed);
        items[0].to[0] = round % 4, items[1].from[0] = round % 8 < 4 ? round % 4 : 9;
        items[0].to[1] = round % 5 == 1 ? 3 : -1, items[1].from[1] = round % 5 == 1 ? 3 : -1;
        if (round % 4 == 1) {
            items[0].class_id = round % 3 == 1 ? 0 : 1, items[0].class_votes = 3;
            items[1].class_id = round % 8 == 1, items[1].class_votes = round % 16 == 1 ? 0.5 : 2;
        }
        if (round % 5 == 2) {
            items[0].identity = 2, items[0].identity_votes = 4;
            items[1].identity = round % 10 == 2 ? 2 : 1, items[1].identity_votes = 0.7 * (round % 6);
        }
        if (round % 6 == 3) /* a velocity of few sightings is little known */
            items[round % 12 == 3].n = 1 + round % 5;
        items[0].score = items[1].score = 1000; /* surely somebody */
        const sk_stitch_settings settings = {.fps = 25, .gap = 40};
        recorded_say("%d: %.9g", round, worth_of_the_first_link(&pieces, settings, false));
    }
    for (int n = 1; n < 8; n++) { /* what is short or seen faintly may be nobody's */
        sk_piece item = made_piece(&dice, 0, n, false);
        sk_pieces pieces = {.items = &item, .count = 1, .capacity = 1};
        made_lessons(&dice, &pieces);
        item.score = 0.15 * n * n;
        const sk_stitch_settings settings = {.fps = 25, .gap = 4};
        recorded_say("nobody's of %d: %.9g", n, -worth_of_the_first_link(&pieces, settings, true));
        int32_t tracks;
        sk_error err;
        item.sure = true;
        assert_ok(sk_pieces_stitch(&pieces, &(sk_stitch_settings){.fps = 25, .gap = 4, .prior = 300}, &tracks,
                                   &err),
                  &err);
        assert_true(tracks == 1 && !item.nobodys && item.track == 0);
    }
    recorded_check("tests/fixtures/track/recorded/links.txt");
}

/* What votes and velocities add to a link, beside the same link without them. */
static void what_votes_and_velocities_are_worth(void **state)
{
    (void)state;
    unsigned dice = 5;
    sk_piece items[2];
    sk_pieces pieces = {.items = items, .count = 2, .capacity = 2};
    const sk_stitch_settings settings = {.fps = 25};
    made_lessons(&dice, &pieces);
    items[0] = made_piece(&dice, 0, 40, false);
    items[1] = made_piece(&dice, items[0].last + 3, 40, false);
    items[0].score = items[1].score = 1000;
    items[0].end.vx = items[0].end.vy = items[1].start.vx = items[1].start.vy = 0;
    pieces.speed = 1;
    for (int k = 0; k < SK_BRIDGES; k++)
        pieces.bridges[k].speed = 0; /* nothing is known of velocities: they say nothing */
    const double plain = worth_of_the_first_link(&pieces, settings, false);
    static const struct {
        int32_t a, b;
        double a_votes, b_votes, same_identity, other_class;
    } votes[] = {{0, 0, 2, 2, 4, 0},  {0, 1, 2, 2, -8, -4}, {0, 1, 1, 2, 0, 0},
                 {0, 1, 2, 1, 0, 0},  {0, 0, 1, 2, 0, 0},   {0, 1, 1.01, 1.01, -8, -4},
                 {0, -1, 2, 2, 0, 0}, {-1, 0, 2, 2, 0, 0},  {-1, -1, 2, 2, 0, 0}};
    for (size_t i = 0; i < sizeof votes / sizeof *votes; i++) {
        items[0].identity = votes[i].a, items[1].identity = votes[i].b;
        items[0].identity_votes = votes[i].a_votes, items[1].identity_votes = votes[i].b_votes;
        double now = worth_of_the_first_link(&pieces, settings, false) - plain;
        if (fabs(now - votes[i].same_identity) > 1e-6)
            fail_msg("case %zu: identities are worth %g", i, now);
        items[0].identity = items[1].identity = -1;
        items[0].class_id = votes[i].a, items[1].class_id = votes[i].b;
        items[0].class_votes = votes[i].a_votes, items[1].class_votes = votes[i].b_votes;
        now = worth_of_the_first_link(&pieces, settings, false) - plain;
        if (fabs(now - votes[i].other_class) > 1e-6)
            fail_msg("case %zu: classes are worth %g", i, now);
        items[0].class_id = items[1].class_id = -1;
    }
    for (int k = 0; k < SK_BRIDGES; k++)
        pieces.bridges[k].speed = 1e-9; /* here nobody changes its velocity */
    assert_true(fabs(worth_of_the_first_link(&pieces, settings, false) - plain - 2) < 1e-6);
    for (int far = 1; far < 4; far++) { /* one that turns back at once: there is a most that it says */
        items[0].end.vx = 30 * far, items[1].start.vx = -30 * far;
        assert_true(fabs(worth_of_the_first_link(&pieces, settings, false) - plain + 3) < 1e-6);
    }
}

static int by_first(const void *a, const void *b)
{
    const sk_piece *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Many pieces, and all that may be said about them: how many animals there are, how fast they are, how long they may be away. */
static void which_pieces_are_one_animal(void **state)
{
    (void)state;
    unsigned dice = 99;
    for (int round = 0; round < 60; round++) {
        enum { N = 16 };
        sk_piece items[N];
        sk_pieces pieces = {.items = items, .count = N, .capacity = N};
        char line[400];
        int32_t tracks, used = 0;
        sk_error err;
        made_lessons(&dice, &pieces);
        for (int k = 0; k < N; k++) {
            const int64_t first = (int64_t)recorded_between(&dice, 0, 60);
            items[k] = made_piece(&dice, first, (int32_t)recorded_between(&dice, 1, 30), round % 4 == 3);
            items[k].sure = recorded_chance(&dice) < 0.2;
            items[k].score = items[k].n * recorded_between(&dice, 0.2, 1);
        }
        qsort(items, N, sizeof *items, by_first);
        const sk_stitch_settings settings = {.fps = 25,
                                             .gap = round % 5 == 4 ? 0 : 0.2 + 0.3 * (round % 7),
                                             .animals = round % 3 == 1 ? 3 : 0,
                                             .prior = 2 * (round % 6),
                                             .velocity_limit = round % 4 == 1   ? 4
                                                               : round % 4 == 2 ? 0.9
                                                                                : 0};
        assert_ok(sk_pieces_stitch(&pieces, &settings, &tracks, &err), &err);
        for (int k = 0; k < N; k++)
            used += snprintf(line + used, sizeof line - (size_t)used, " %d%s", items[k].track,
                             items[k].nobodys ? "!" : "");
        for (int k = 0; k < N; k++)
            assert_true(items[k].next < 0 || items[items[k].next].previous == k);
        recorded_say("%d: %d tracks,%s", round, tracks, line);
    }
    recorded_check("tests/fixtures/track/recorded/stitched.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_a_scene), cmocka_unit_test(what_links_are_worth),
        cmocka_unit_test(what_votes_and_velocities_are_worth), cmocka_unit_test(which_pieces_are_one_animal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
