/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a piece, and what its sightings teach, beside a plain second computation over all of them. */
#include "support/recorded.h"
#include "support/test.h"

#include "track/open_piece.h"

#include <math.h>
#include <string.h>

enum { MOST = 260, FIT = 6, POINTS = 5 };

static void near_to(double value, double wanted, const char *what)
{
    if (!(fabs(value - wanted) <= 2e-5 * (1 + fabs(wanted))))
        fail_msg("%s: %.9g, not %.9g", what, value, wanted);
}

typedef struct sighting {
    int64_t frame;
    sk_detection d;
    sk_keypoint points[POINTS];
    float looks[SK_TRACK_LOOKS];
} sighting;

static sighting seen[MOST];

static void make(unsigned *dice, int n, bool gaps, bool pointed)
{
    for (int i = 0; i < n; i++) {
        sighting *s = &seen[i];
        double luck[12];
        for (int k = 0; k < 12; k++)
            luck[k] = recorded_chance(dice);
        s->frame = i ? seen[i - 1].frame + 1 + (gaps && luck[0] < 0.06 ? 4 : luck[0] > 0.9) : 40;
        const double t = 0.06 * (double)s->frame, heading = t + 1.5 + 0.1 * luck[1];
        s->d = (sk_detection){.x = 200 + 90 * cos(t) + luck[2],
                              .y = 150 + 70 * sin(t) + luck[3],
                              .major = 30 + 2 * luck[4],
                              .minor = 10 + luck[5],
                              .angle = fmod(heading, M_PI),
                              .heading = fmod(heading, 2 * M_PI),
                              .directed = luck[6] < 0.6,
                              .upright = luck[7] < 0.2,
                              .pointed = pointed,
                              .score = 0.5 + 0.5 * luck[8],
                              .class_id = luck[9] < 0.3   ? -1
                                          : luck[9] < 0.8 ? 2
                                                          : 5,
                              .identity = luck[10] < 0.4   ? 1
                                          : luck[10] < 0.8 ? 0
                                                           : -1,
                              .identity_score = 0.5 + 0.5 * luck[11]};
        for (int k = 0; k < POINTS; k++)
            s->points[k] = (sk_keypoint){(float)(s->d.x + 8 * k + recorded_chance(dice)),
                                         (float)(s->d.y + 3 * recorded_chance(dice)),
                                         k == 3 ? 0.5f : (float)recorded_between(dice, 0.4, 1)};
        s->points[4] = (sk_keypoint){s->points[3].x + (i % 3 ? 1 : 2), s->points[3].y, 0.5f};
        if (i % 4 == 1)
            s->points[1].x = NAN;
        for (int k = 0; k < SK_TRACK_LOOKS; k++)
            s->looks[k] = (float)recorded_chance(dice);
        s->d.points = i % 5 ? s->points : NULL;
        s->d.n_points = i % 5 ? POINTS - i % 2 : 0;
        s->d.looks = i % 3 ? s->looks : NULL;
    }
}

/* The line through n sightings by the usual sums of deviations, as it is at sighting `tip`. */
static sk_piece_end line(int from, int n, int tip)
{
    double mt = 0, mx = 0, my = 0, tt = 0, tx = 0, ty = 0, c = 0, s = 0, cc = 0, ss = 0;
    int directed = 0;
    for (int i = from; i < from + n; i++) {
        mt += (double)(seen[i].frame - seen[tip].frame) / n;
        mx += (double)(float)seen[i].d.x / n;
        my += (double)(float)seen[i].d.y / n;
        const double h = seen[i].d.directed ? seen[i].d.heading : seen[i].d.angle;
        directed += seen[i].d.directed;
        c += seen[i].d.directed ? cos(h) : 0, s += seen[i].d.directed ? sin(h) : 0;
        cc += cos(2 * h), ss += sin(2 * h);
    }
    for (int i = from; i < from + n; i++) {
        const double t = (double)(seen[i].frame - seen[tip].frame) - mt;
        tt += t * t;
        tx += t * ((double)(float)seen[i].d.x - mx);
        ty += t * ((double)(float)seen[i].d.y - my);
    }
    sk_piece_end e = {.directed = 2 * directed > n, .vx = tt > 0 ? tx / tt : 0, .vy = tt > 0 ? ty / tt : 0};
    const double heading = e.directed ? atan2(s, c) : atan2(ss, cc) / 2;
    e.x = mx - e.vx * mt, e.y = my - e.vy * mt, e.c = cos(heading), e.s = sin(heading);
    return e;
}

static void ends_are(const sk_piece_end *e, const sk_piece_end *want)
{
    near_to(e->x, want->x, "x"), near_to(e->y, want->y, "y");
    near_to(e->vx, want->vx, "vx"), near_to(e->vy, want->vy, "vy");
    near_to(e->c, want->c, "cosine"), near_to(e->s, want->s, "sine");
    assert_int_equal(e->directed, want->directed);
}

/* What n sightings teach about a gap of 2^k frames, and of speeds. */
static void lessons_of(int n, int k, double sums[6], double *speed, double *n_speed)
{
    const int gap = 1 << k;
    double body = 0;
    for (int end = 1; end <= n; end++) {
        body += (seen[end - 1].d.major - body) / end;
        if (end < 11 + gap || end % (gap < 8 ? 3 : 5) != 0)
            continue;
        const int last = end - FIT - gap, first = end - FIT; /* around the gap */
        const sk_piece_end a = line(last - FIT + 1, FIT, last), b = line(first, FIT, first);
        const double frames = (double)(seen[first].frame - seen[last].frame);
        if (frames > 1.5 * gap + 1)
            continue;
        const double p[2] = {(a.vx + b.vx) / 2 * frames / body, (a.vy + b.vy) / 2 * frames / body};
        const double w[2] = {(b.x - a.x) / body, (b.y - a.y) / body};
        sums[0] += 1;
        for (int i = 0; i < 2; i++) {
            const double dv = i ? b.vy - a.vy : b.vx - a.vx, v = i ? a.vy : a.vx;
            sums[1] += w[i] * p[i], sums[2] += p[i] * p[i], sums[3] += w[i] * w[i];
            sums[4] += dv * dv / (body * body);
            *speed += k ? 0 : v * v / (body * body);
        }
        const double c = a.c * b.c + a.s * b.s;
        sums[5] += 1 - (a.directed && b.directed ? c : fabs(c));
        *n_speed += k ? 0 : 2;
    }
}

static double shape_of(const sighting *s, int i)
{
    if (i < 2)
        return s->d.upright || s->d.pointed ? NAN : log(i ? s->d.minor : s->d.major);
    if (!s->d.points || i - 1 >= s->d.n_points)
        return NAN;
    const sk_keypoint *a = &s->points[i - 2], *b = a + 1;
    const double way = hypot((double)(a->x - b->x), (double)(a->y - b->y));
    return a->score >= 0.5f && b->score >= 0.5f && way > 1 ? log(way) : NAN;
}

static void shapes_are(const sk_piece *piece, const sk_piece_lessons *m, int n)
{
    for (int i = 0; i < SK_PIECE_SHAPES; i++) {
        double sum = 0, within = 0, before = NAN;
        int count = 0;
        for (int k = 0; k < n; k++) {
            const double now = shape_of(&seen[k], i);
            if (isnan(now))
                continue;
            within += count ? (now - before) * (now - before) / 2 : 0;
            before = now, sum += now, count++;
        }
        assert_int_equal(piece->n_shape[i], count);
        near_to(piece->shape[i], count ? sum / count : 0, "shape");
        near_to(m->within[i], within, "within");
        assert_true(m->n_within[i] == (count ? count - 1 : 0));
    }
    for (int i = 0; i < SK_TRACK_LOOKS; i++) {
        double sum = 0, within = 0, before = 0;
        int count = 0;
        for (int k = 0; k < n; k++)
            if (seen[k].d.looks) {
                const double now = seen[k].looks[i];
                within += count ? (now - before) * (now - before) / 2 : 0;
                before = now, sum += now, count++;
            }
        assert_int_equal(piece->n_looks, count);
        assert_true(m->n_looks == (count ? count - 1 : 0));
        near_to(piece->looks[i], count ? sum / count : 0, "looks");
        near_to(m->looks_within[i], within, "looks within");
    }
}

/* Of each point the first or the last place where it was. */
static void points_are(const sk_piece_end *e, int n, bool first, bool pointed)
{
    int most = 0;
    for (int k = 0; k < n && pointed; k++)
        most = seen[k].d.n_points > most ? seen[k].d.n_points : most;
    assert_int_equal(e->n_points, most);
    for (int i = 0; i < most; i++) {
        float x = NAN, y = NAN;
        for (int k = 0; k < n; k++) {
            const sighting *s = &seen[first ? n - 1 - k : k];
            if (s->d.points && i < s->d.n_points && !isnan(s->points[i].x))
                x = s->points[i].x, y = s->points[i].y;
        }
        assert_true((isnan(x) && isnan(e->points[2 * i])) || x == e->points[2 * i]);
        assert_true((isnan(y) && isnan(e->points[2 * i + 1])) || y == e->points[2 * i + 1]);
    }
}

static void a_piece_is_what_was_seen(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 3, 5, 6, 7, 11, 12, 13, 15, 20, 75, 80, 191, 193, 255};
    unsigned dice = 3;
    for (size_t c = 0; c < 2 * sizeof lengths / sizeof *lengths; c++) {
        static sk_open_piece open;
        static sk_piece piece;
        static sk_piece_lessons m;
        const int n = lengths[c / 2];
        const bool pointed = c % 4 == 1;
        double body = 0, score = 0, speed = 0, n_speed = 0;
        memset(&open, 0, sizeof open), memset(&m, 0, sizeof m);
        piece = (sk_piece){.class_id = -1, .identity = -1};
        make(&dice, n, c % 2, pointed);
        for (int i = 0; i < n; i++) {
            sk_open_piece_append(&open, &piece, seen[i].frame, &seen[i].d, &m);
            body += seen[i].d.major / n, score += seen[i].d.score;
            assert_true(sk_open_piece_last(&open)->frame == seen[i].frame && piece.last == seen[i].frame);
        }
        m.body = 100, m.n_body = 7;
        sk_open_piece_end(&open, &piece, &m);
        assert_int_equal(piece.n, n);
        near_to(piece.body, body, "body"), near_to(piece.score, score, "score");
        near_to(m.body, 100 + body * n, "bodies"), near_to(m.n_body, 7 + n, "number");
        const int few = n < FIT ? n : FIT;
        const sk_piece_end start = line(0, few, 0), end = line(n - few, few, n - 1);
        ends_are(&piece.start, &start);
        ends_are(&piece.end, &end);
        points_are(&piece.start, n, true, pointed);
        points_are(&piece.end, n, false, pointed);
        shapes_are(&piece, &m, n);
        for (int k = 0; k < SK_BRIDGES; k++) {
            double sums[6] = {0};
            if (k < SK_BRIDGES - 1)
                lessons_of(n, k, sums, &speed, &n_speed);
            for (int i = 0; i < 5; i++)
                near_to(m.bridges[k][i], sums[i], "lesson");
            near_to(m.turns[k], sums[5], "turn");
        }
        near_to(m.speed, speed, "speed"), near_to(m.n_speed, n_speed, "speeds");
    }
}

/* Votes by weight: who is against takes votes away, and takes over with what is left. */
static void votes_of_a_piece(void **state)
{
    (void)state;
    static sk_open_piece open;
    static sk_piece_lessons m;
    sk_piece p = {.class_id = -1, .identity = -1};
    static const struct {
        int32_t says;
        double weight;
        int32_t who;
        double votes;
    } steps[] = {{-1, 1, -1, 0}, {4, 0.5, 4, 0.5}, {4, 0.25, 4, 0.75}, {2, 0.5, 4, 0.25}, {2, 0.25, 4, 0},
                 {-1, 1, 4, 0},  {2, 0.5, 2, 0.5}, {0, 0.75, 0, 0.25}, {0, 0.5, 0, 0.75}, {-1, 0.5, 0, 0.75}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const sk_detection d = {.major = 30,
                                .minor = 10,
                                .class_id = steps[i].says,
                                .score = steps[i].weight,
                                .identity = steps[i].says,
                                .identity_score = steps[i].weight};
        sk_open_piece_append(&open, &p, (int64_t)i, &d, &m);
        assert_true(p.class_id == steps[i].who && p.class_votes == steps[i].votes);
        assert_true(p.identity == steps[i].who && p.identity_votes == steps[i].votes);
    }
}

static void what_is_concluded(void **state)
{
    (void)state;
    sk_piece_lessons m = {.body = 300, .n_body = 10, .speed = 6, .n_speed = 4, .n_looks = 21};
    sk_pieces p = {0};
    /* learnt; too few: from the one before; pull at its bounds; nothing before that is worth anything */
    const double bridges[SK_BRIDGES][5] = {{20, 8, 10, 9, 4},   {19, 8, 10, 9, 4}, {40, 30, 10, 100, 8},
                                           {20, -5, 10, 9, 4},  {20, 0, 0, 9, 4},  {0, 0, 0, 0, 0},
                                           {20, 10, 10, 10, 4}, {3, 0, 0, 0, 0}};
    memcpy(m.bridges, bridges, sizeof bridges);
    for (int k = 0; k < SK_BRIDGES; k++)
        m.turns[k] = k == 0 ? 18 : 2;
    m.within[0] = 5, m.n_within[0] = 20, m.within[1] = 5, m.n_within[1] = 21;
    m.looks_within[3] = 42;
    sk_piece_lessons_conclude(&m, &p);
    assert_true(p.body == 30 && p.speed == 1.5 && p.within[0] == 0 && p.looks_within[3] == 2);
    near_to(p.within[1], 5.0 / 21, "within");
    const sk_bridge want[SK_BRIDGES] = {{20, 0.8, (9 - 6.4) / 40, 0.1, 0.9},
                                        {0, 0.72, 3 * (9 - 6.4) / 40, 0.15, 1},
                                        {40, 1.2, (100 - 72 + 14.4) / 80, 0.1, 0.05},
                                        {20, 0, 9.0 / 40, 0.1, 0.1},
                                        {20, 1, 9.0 / 40, 0.1, 0.1},
                                        {0, 0.9, 27.0 / 40, 0.15, 0.17},
                                        {20, 1, 0, 0.1, 0.1},
                                        {0, 1, 0.02 * (1 << 14) / 4, 0.01, 0.05}};
    for (int k = 0; k < SK_BRIDGES; k++) {
        const sk_bridge *b = &p.bridges[k];
        near_to(b->n, want[k].n, "samples"), near_to(b->pull, want[k].pull, "pull");
        near_to(b->place, want[k].place, "place"), near_to(b->speed, want[k].speed, "speed");
        near_to(b->turn, want[k].turn, "turn");
    }
    const sk_piece_lessons none = {.n_looks = 20, .looks_within = {1}};
    sk_piece_lessons_conclude(&none, &p);
    assert_true(p.body == 1 && p.speed == 0.01 && p.looks_within[0] == 0);
    near_to(p.bridges[0].place, 0.005, "place"), near_to(p.bridges[1].place, 0.015, "place");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_piece_is_what_was_seen),
                                       cmocka_unit_test(votes_of_a_piece),
                                       cmocka_unit_test(what_is_concluded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
