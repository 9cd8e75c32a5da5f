/* SPDX-License-Identifier: Apache-2.0 */
#include "track/pieces.h"

#include "base/memory.h"
#include "track/assign.h"
#include "track/points.h"

#include <math.h>

/* Pieces become tracks. What a link is worth is the logarithm of how much likelier its two ends are if they are one animal than
 * if they are not: by the way and the velocities (measured against what this video's animals do without a gap), the heading,
 * the build, the looks. All links are chosen at once so that the sum is largest. */

/* One piece may begin before the other has ended: both boxes of a double detection, or one pass held on to what was false. So many
 * frames, and what each of them costs. */
#define OVERLAP       10
#define OVERLAP_COSTS 0.4
#define POINTS_NOISE                                                                                         \
    0.27 /* bodies: how far a point is from where it was; its square grows as the root of the time */
#define POINTS_SAY 6.0
#define PASS_SAYS  4.0 /* that a pass saw one animal in both */
#define TAILS                                                                                                \
    4.0 /* degrees of freedom: animals do surprising things more often than a normal distribution says */

typedef struct link {
    int32_t from, to;
    double worth;
} link;

typedef struct stitching {
    sk_pieces *pieces;
    const sk_stitch_settings *settings;
    link *links;
    size_t n_links, capacity;
    double build[SK_PIECE_SHAPES], looks[SK_TRACK_LOOKS]; /* variances among animals */
} stitching;

/* --- what a link is worth --- */

/* Variances of pieces' means, by their lengths: how much animals differ. */
static void find_differences(stitching *s)
{
    const sk_pieces *p = s->pieces;
    for (int i = 0; i < SK_PIECE_SHAPES + SK_TRACK_LOOKS; i++) {
        double n = 0, sum = 0, squares = 0, noise = 0;
        for (size_t k = 0; k < p->count; k++) {
            const sk_piece *q = &p->items[k];
            const bool shape = i < SK_PIECE_SHAPES;
            const int32_t seen = shape ? q->n_shape[i] : q->n_looks;
            const double value = shape ? q->shape[i] : q->looks[i - SK_PIECE_SHAPES];
            if (seen < 5)
                continue;
            n += seen, sum += seen * value, squares += seen * value * value, noise += 1;
        }
        if (n <= 0)
            continue;
        const double within = i < SK_PIECE_SHAPES ? p->within[i] : p->looks_within[i - SK_PIECE_SHAPES];
        const double among = fmax(0, squares / n - sum / n * (sum / n) - within * noise / n);
        if (i < SK_PIECE_SHAPES)
            s->build[i] = among;
        else
            s->looks[i - SK_PIECE_SHAPES] = among;
    }
}

/* The worth of a difference of two means of one animal (variance `same`) against two animals (`same` and twice `among`). */
static double worth_of_difference(double difference, double same, double among)
{
    const double other = same + 2 * among;
    if (!(same > 0) || !(other > 1.2 * same))
        return 0;
    const double worth = 0.5 * log(other / same) - 0.5 * difference * difference * (1 / same - 1 / other);
    return fmin(3, fmax(-4, worth));
}

static double worth_of_build(const stitching *s, const sk_piece *a, const sk_piece *b)
{
    const sk_pieces *p = s->pieces;
    double worth = 0;
    int n = 0;
    for (int i = 0; i < SK_PIECE_SHAPES; i++) {
        if (a->n_shape[i] < 3 || b->n_shape[i] < 3)
            continue;
        /* Neighbouring frames err alike: only every fifth counts. */
        const double same =
            p->within[i] * 5 * (1.0 / a->n_shape[i] + 1.0 / b->n_shape[i]) + 2 * 0.015 * 0.015;
        worth += worth_of_difference(a->shape[i] - b->shape[i], same, s->build[i]);
        n++;
    }
    if (n > 2)
        worth *= 2.0 / n * sqrt(n / 2.0); /* they are not independent */
    double looks = 0;
    for (int i = 0; i < SK_TRACK_LOOKS && a->n_looks >= 3 && b->n_looks >= 3; i++) {
        const double same = p->looks_within[i] * 5 * (1.0 / a->n_looks + 1.0 / b->n_looks) + 1e-6;
        looks += worth_of_difference(a->looks[i] - b->looks[i], same, s->looks[i]);
    }
    worth += looks / sqrt(SK_TRACK_LOOKS);
    if (a->identity >= 0 && b->identity >= 0 && a->identity_votes > 1 && b->identity_votes > 1)
        worth += a->identity == b->identity ? 4 : -8;
    if (a->class_id >= 0 && b->class_id >= 0 && a->class_id != b->class_id && a->class_votes > 1 &&
        b->class_votes > 1)
        worth -= 4;
    return worth;
}

static sk_bridge bridge_of(const sk_pieces *p, double frames)
{
    const double at = fmin(fmax(log2(frames), 0), SK_BRIDGES - 1);
    const int k = (int)at < SK_BRIDGES - 2 ? (int)at : SK_BRIDGES - 2;
    const double part = at - k;
    const sk_bridge *a = &p->bridges[k], *b = a + 1;
    sk_bridge mix = {.pull = a->pull + part * (b->pull - a->pull),
                     .place = a->place * pow(fmax(b->place, 1e-9) / fmax(a->place, 1e-9), part),
                     .speed = a->speed + part * (b->speed - a->speed),
                     .turn = a->turn + part * (b->turn - a->turn)};
    const double beyond = frames / (double)(1 << (SK_BRIDGES - 1));
    if (beyond > 1) {
        mix.place *= beyond;
        mix.pull /= beyond;
    }
    return mix;
}

/* Variance of a velocity fitted to so few sightings, bodies². */
static double velocity_unknown(const sk_pieces *p, int32_t n)
{
    return n >= 6 ? 0 : n <= 1 ? p->speed : p->speed * (6 - n) / 6;
}

static double tail(double square, double variance)
{
    return 0.5 * (TAILS + 2) * log1p(square / (TAILS * variance));
}

/* Of animals known by keypoints alone: how the points fit, not the middle, as single ones hop. */
static double worth_of_points(const stitching *s, const sk_piece *a, const sk_piece *b, double gap)
{
    const sk_pieces *p = s->pieces;
    const double body = p->body, wide = POINTS_NOISE * POINTS_NOISE * sqrt(gap);
    const int32_t n = a->end.n_points < b->start.n_points ? a->end.n_points : b->start.n_points;
    sk_points_fit fit = sk_points_between(a->end.points, b->start.points, n, sqrt(wide) * body);
    if (!fit.n) {
        fit.dx = b->start.x - a->end.x;
        fit.dy = b->start.y - a->end.y;
    }
    const double way = (fit.dx * fit.dx + fit.dy * fit.dy) / (body * body);
    double passes = 0;
    for (int k = 0; k < 2; k++)
        passes += a->to[k] >= 0 && a->to[k] == b->from[k] ? PASS_SAYS : 0;
    return s->settings->prior - log(2 * M_PI * wide) - tail(way, wide) - POINTS_SAY * (1 - fit.alike) -
           0.7 * log2(1 + gap / s->settings->fps * 4) + worth_of_build(s, a, b) + passes;
}

static double worth_of_link(const stitching *s, const sk_piece *a, const sk_piece *b)
{
    const sk_pieces *p = s->pieces;
    const double frames = (double)(b->first - a->last), body = p->body, gap = fmax(frames, 1);
    if (a->end.n_points && b->start.n_points)
        return worth_of_points(s, a, b, gap);
    const sk_bridge bridge = bridge_of(p, gap);
    const double px = (a->end.vx + b->start.vx) / 2 * frames / body,
                 py = (a->end.vy + b->start.vy) / 2 * frames / body;
    const double rx = (b->start.x - a->end.x) / body - bridge.pull * px,
                 ry = (b->start.y - a->end.y) / body - bridge.pull * py;
    const double unknown = velocity_unknown(p, a->n) + velocity_unknown(p, b->n);
    const double place = 2 * bridge.place + 0.003 + unknown * frames * frames / 4;
    double worth = s->settings->prior - log(2 * M_PI * place) - tail(rx * rx + ry * ry, place);
    const double dx = (b->start.vx - a->end.vx) / body, dy = (b->start.vy - a->end.vy) / body;
    const double same = 1.5 * bridge.speed + unknown, other = 2 * p->speed + unknown;
    if (other > same && same > 0) {
        const double change = dx * dx + dy * dy;
        worth += 0.5 * fmin(4, fmax(-6, log(other / same) - tail(change, same) + 0.5 * change / other));
    }
    const double sharp = 1 / (2 * fmax(bridge.turn * 1.5, 1e-3));
    if (sharp > 0.5) {
        const bool directed = a->end.directed && b->start.directed;
        const double peak = sqrt(2 * M_PI * sharp) / (directed ? 1 : 2);
        worth += log(0.9 * peak * exp(-sharp * sk_piece_turn(&a->end, &b->start)) + 0.1);
    }
    worth -= 0.7 * log2(1 + gap / s->settings->fps * 4);
    worth -= OVERLAP_COSTS * fmax(0, 1 - frames);
    return worth + worth_of_build(s, a, b);
}

/* --- which links there could be --- */

/* Of keypoints alone the nearest point's, as the middle lies anywhere where one has hopped. */
static double way_between(const sk_piece_end *a, const sk_piece_end *b)
{
    double way = hypot(b->x - a->x, b->y - a->y);
    for (int32_t i = 0; i < a->n_points && i < b->n_points; i++)
        way = fmin(way, hypot((double)b->points[2 * i] - (double)a->points[2 * i],
                              (double)b->points[2 * i + 1] - (double)a->points[2 * i + 1]));
    return way;
}

/* Pieces lie in the order of their first frames: the first one that begins after the frame. */
static size_t first_after(const sk_pieces *p, int64_t frame)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->items[middle].first <= frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sk_status add_link(stitching *s, size_t from, size_t to, double worth, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->links, &s->capacity, s->n_links + 1, sizeof *s->links,
                            (size_t)1 << 28, err));
    s->links[s->n_links++] = (link){(int32_t)from, (int32_t)to, worth};
    return SK_OK;
}

/* What is lost if the piece is nobody's: how much likelier its detections are an animal than false or double. */
static double worth_of_being(const sk_piece *piece)
{
    return fmax(0.3 * piece->n, 3 * piece->score - 0.9 * piece->n);
}

/* Which piece could continue which. A piece linked to itself is nobody's: short ones may be, as double detections and false ones
 * are, else the best way to deal with two boxes of one animal in one frame would be to end a track at the one and begin
 * another at the other. */
static sk_status find_links(stitching *s, sk_error *err)
{
    const sk_pieces *p = s->pieces;
    const double longest = s->settings->gap > 0 ? s->settings->gap * s->settings->fps : INFINITY;
    const double fastest = 4 * sqrt(2 * p->speed);
    for (size_t i = 0; i < p->count; i++) {
        const sk_piece *a = &p->items[i];
        const double alone = s->settings->prior - worth_of_being(a);
        if (alone > 0 && !a->sure)
            SK_TRY(add_link(s, i, i, alone, err));
        for (size_t k = first_after(p, a->last - (a->sure ? 0 : OVERLAP)); k < p->count; k++) {
            const sk_piece *b = &p->items[k];
            const double frames = fmax((double)(b->first - a->last), 1);
            if (frames > longest)
                break;
            if (b->first <= a->first || b->last <= a->last || (b->sure && b->first <= a->last))
                continue; /* beside it, not behind */
            const double way = way_between(&a->end, &b->start) / p->body;
            if (s->settings->velocity_limit > 0 && way * p->body > s->settings->velocity_limit * frames)
                continue;
            if (s->settings->animals <= 0 && way > 2 + fastest * frames)
                continue;
            const double worth = worth_of_link(s, a, b);
            if (worth <= 0 && s->settings->animals <= 0)
                continue;
            SK_TRY(add_link(s, i, k, worth, err));
        }
    }
    return SK_OK;
}

/* --- the best set of links --- */

static sk_status solve(stitching *s, double bonus, sk_error *err)
{
    sk_pieces *p = s->pieces;
    sk_assign *assign = NULL;
    sk_status status = SK_OK;
    sk_assign_pair *pairs = sk_malloc(s->n_links * sizeof *pairs);
    int32_t *next = sk_malloc(p->count * sizeof *next), n = 0;
    if (!pairs || !next) {
        status = sk_fail_memory(err, s->n_links * sizeof *pairs);
        goto done;
    }
    for (size_t i = 0; i < s->n_links; i++)
        if (s->links[i].worth + bonus > 0)
            pairs[n++] = (sk_assign_pair){s->links[i].from, s->links[i].to, -(s->links[i].worth + bonus)};
    SK_TRY_GOTO(sk_assign_open(&assign, err));
    SK_TRY_GOTO(sk_assign_solve(assign, (int32_t)p->count, (int32_t)p->count, pairs, n, NULL, next, err));
    for (size_t i = 0; i < p->count; i++)
        p->items[i].previous = -1;
    for (size_t i = 0; i < p->count; i++) {
        const bool nobodys = next[i] == (int32_t)i;
        p->items[i].next = nobodys ? -1 : next[i];
        p->items[i].nobodys = nobodys;
        if (next[i] >= 0 && !nobodys)
            p->items[next[i]].previous = (int32_t)i;
    }
done:
    sk_assign_close(&assign);
    sk_free(pairs);
    sk_free(next);
    return status;
}

/* Numbers the chains of links; how many there are. */
static int32_t number(sk_pieces *p)
{
    int32_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        p->items[i].track = p->items[i].nobodys         ? -1
                            : p->items[i].previous >= 0 ? p->items[p->items[i].previous].track
                                                        : n++;
    return n;
}

sk_status sk_pieces_stitch(sk_pieces *pieces, const sk_stitch_settings *settings, int32_t *tracks,
                           sk_error *err)
{
    stitching s = {.pieces = pieces, .settings = settings};
    find_differences(&s);
    sk_status status = find_links(&s, err);
    *tracks = 0;
    /* So many animals: a link is worth more and more, until there are no more tracks than that. */
    for (double bonus = 0; status == SK_OK; bonus = bonus > 0 ? 2 * bonus : 4) {
        status = solve(&s, bonus, err);
        *tracks = number(pieces);
        if (settings->animals <= 0 || *tracks <= settings->animals || bonus > 1000)
            break;
    }
    sk_free(s.links);
    return status;
}
