/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* What makes trackers fail: animals that swim in one another's wake, hunt each other, lie on a heap, stay out of sight,
 * leave and come. Each is a stretch of seconds in an animal's life; between them it wanders. Every animal has a stream of
 * random numbers of its own for this, so that the wandering of scenes without it stays what it is. */

static const sk_urge at_ease = {.speed = -1.0f, .shy = 1.0f, .walls = 1.0f};

bool sk_manners_wanted(const sk_scene_settings *s)
{
    return s->behaviour || s->hides > 0 || s->open_border;
}

void sk_manners_begin(sk_scene *scene)
{
    const sk_scene_settings *s = &scene->settings;
    if (!sk_manners_wanted(s))
        return;
    sk_random random = sk_random_begin(s->seed, 5);
    for (int32_t i = 0; i < SK_MAX_SPOTS; i++) {
        scene->spots[i][0] = sk_random_between(&random, 0.2f, 0.8f) * (float)s->width;
        scene->spots[i][1] = sk_random_between(&random, 0.2f, 0.8f) * (float)s->height;
    }
    sk_hides_make(scene, &random);
    for (int32_t i = 0; i < s->animals; i++) {
        scene->manner[i] = (sk_manner){.random = sk_random_begin(s->seed, 512u + (uint64_t)i), .whom = -1};
        scene->manner[i].left = sk_random_between(&scene->manner[i].random, 0.2f, 3.0f);
    }
}

static void wander(sk_manner *n)
{
    n->doing = SK_WANDERS;
    n->whom = -1;
    n->left = sk_random_between(&n->random, 1.5f, 6.0f);
}

static float far_from(const sk_motion *m, float x, float y)
{
    float dx = m->x - x, dy = m->y - y;
    return sqrtf(dx * dx + dy * dy);
}

static bool has_time(const sk_manner *n)
{
    return n->doing == SK_WANDERS || n->doing == SK_FOLLOWS || n->doing == SK_HUDDLES;
}

/* Whether a is, by way of others, on the heels of b. */
static bool follows(const sk_scene *scene, int32_t a, int32_t b)
{
    for (int32_t steps = 0; steps < scene->settings.animals; steps++) {
        if (a == b)
            return true;
        if (scene->manner[a].doing != SK_FOLLOWS)
            return false;
        a = scene->manner[a].whom;
    }
    return true;
}

/* The nearest of a few that may be followed or chased; -1: none. */
static int32_t somebody(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    const sk_motion *m = &scene->motion[id];
    int32_t best = -1;
    float least = 1e30f;
    for (int attempt = 0; attempt < 6; attempt++) {
        int32_t other = sk_random_below(&n->random, scene->settings.animals);
        float far = far_from(m, scene->motion[other].x, scene->motion[other].y);
        if (other != id && far < least && has_time(&scene->manner[other]) && !follows(scene, other, id)) {
            best = other;
            least = far;
        }
    }
    return best;
}

/* To a point a little way out, over the nearest border. */
static void choose_way_out(const sk_scene *scene, sk_manner *n, const sk_motion *m, float l)
{
    const float w = (float)scene->world.width, h = (float)scene->world.height;
    float aside = sk_random_between(&n->random, -l, l), least = m->x;
    n->x = -3.0f * l;
    n->y = m->y + aside;
    if (w - m->x < least) {
        least = w - m->x;
        n->x = w + 3.0f * l;
    }
    if (m->y < least || h - m->y < least) {
        n->x = m->x + aside;
        n->y = m->y < h - m->y ? -3.0f * l : h + 3.0f * l;
    }
}

static void begin_company(sk_scene *scene, int32_t id, sk_doing doing)
{
    sk_manner *n = &scene->manner[id];
    int32_t other = somebody(scene, id);
    if (other < 0) {
        wander(n);
        return;
    }
    n->doing = doing;
    n->whom = other;
    n->left = doing == SK_FOLLOWS ? sk_random_between(&n->random, 3.0f, 9.0f)
                                  : sk_random_between(&n->random, 1.5f, 4.0f);
    if (doing == SK_FOLLOWS) /* who is followed goes somewhere */
        scene->motion[other].wanted_speed = sk_clampf(scene->motion[other].wanted_speed, 0.9f, 9.0f);
    if (doing == SK_CHASES) {
        sk_manner *hunted = &scene->manner[other];
        hunted->doing = SK_FLEES;
        hunted->whom = id;
        hunted->left = n->left;
    }
}

/* A place of its own at a spot or below a roof. */
static void begin_rest(sk_scene *scene, int32_t id, sk_doing doing)
{
    sk_manner *n = &scene->manner[id];
    const float l = scene->looks[id].length;
    int32_t spots = scene->settings.animals / 12 + 1;
    int32_t pick = sk_random_below(&n->random, doing == SK_HIDES ? scene->settings.hides : spots);
    float angle = sk_random_between(&n->random, -SK_PI, SK_PI);
    float away = sk_random_unit(&n->random) * (doing == SK_HIDES ? 0.06f : 0.8f) * l;
    n->x = (doing == SK_HIDES ? scene->hides[pick].x : scene->spots[pick][0]) + sk_cos(angle) * away;
    n->y = (doing == SK_HIDES ? scene->hides[pick].y : scene->spots[pick][1]) + sk_sin(angle) * away;
    n->doing = doing;
    n->there = false;
    n->left = 10.0f; /* to get there */
}

static void choose(sk_scene *scene, int32_t id)
{
    const sk_scene_settings *s = &scene->settings;
    sk_manner *n = &scene->manner[id];
    static const sk_doing kinds[] = {SK_WANDERS, SK_FOLLOWS, SK_CHASES, SK_HUDDLES, SK_HIDES, SK_LEAVES};
    const float weights[] = {1.0f,
                             s->behaviour & SK_BEHAVE_FOLLOW ? 1.2f : 0.0f,
                             s->behaviour & SK_BEHAVE_CHASE ? 0.8f : 0.0f,
                             s->behaviour & SK_BEHAVE_HUDDLE ? 0.9f : 0.0f,
                             s->hides > 0 ? 0.35f : 0.0f,
                             s->open_border ? 0.5f : 0.0f};
    float sum = 0.0f;
    for (int i = 0; i < 6; i++)
        sum += weights[i];
    float at = sk_random_unit(&n->random) * sum;
    int pick = 0;
    while (pick < 5 && at >= weights[pick])
        at -= weights[pick++];
    switch (weights[pick] > 0.0f ? kinds[pick] : SK_WANDERS) {
    case SK_FOLLOWS: begin_company(scene, id, SK_FOLLOWS); break;
    case SK_CHASES: begin_company(scene, id, SK_CHASES); break;
    case SK_HUDDLES: begin_rest(scene, id, SK_HUDDLES); break;
    case SK_HIDES: begin_rest(scene, id, SK_HIDES); break;
    case SK_LEAVES:
        n->doing = SK_LEAVES;
        n->there = true;
        n->left = 60.0f;
        choose_way_out(scene, n, &scene->motion[id], scene->looks[id].length);
        break;
    default: wander(n); break;
    }
}

/* Another animal, with a number of its own, in the place of one that is gone: just outside, on its way in. */
static void arrive(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    sk_motion *m = &scene->motion[id];
    sk_looks *looks = &scene->looks[id];
    const float w = (float)scene->world.width, h = (float)scene->world.height;
    int32_t species = scene->settings.species == SK_SPECIES_MIXED
                          ? sk_random_below(&n->random, SK_SPECIES_COUNT)
                          : (int32_t)scene->settings.species;
    sk_looks_make(looks, species, &scene->world, &n->random);
    looks->length *= scene->fit;
    scene->track[id] = scene->n_tracks++;
    const float out = 0.85f * looks->length;
    const bool far_side = sk_random_unit(&n->random) < 0.5f;
    const bool upright = sk_random_unit(&n->random) < 0.5f; /* by the left or right border */
    float along = sk_random_between(&n->random, 0.2f, 0.8f) * (upright ? h : w);
    m->x = upright ? (far_side ? w + out : -out) : along;
    m->y = upright ? along : (far_side ? h + out : -out);
    float aside = sk_random_between(&n->random, -0.5f, 0.5f) * looks->length;
    n->x = upright ? (far_side ? w - 3.0f * out : 3.0f * out) : along + aside;
    n->y = upright ? along + aside : (far_side ? h - 3.0f * out : 3.0f * out);
    m->heading = sk_atan2(n->y - m->y, n->x - m->x);
    m->turn = m->bend = 0.0f;
    m->speed = m->wanted_speed = 0.8f;
    m->goal = -1;
    n->doing = SK_COMES;
    n->there = false;
    n->left = 60.0f;
}

static sk_urge urge_of_company(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    const sk_motion *m = &scene->motion[id], *o = &scene->motion[n->whom];
    const sk_habits *h = &sk_all_habits[scene->looks[id].species];
    const float l = scene->looks[id].length, other = scene->looks[n->whom].length;
    const float far = far_from(m, o->x, o->y);
    sk_urge urge = at_ease;
    urge.x = o->x;
    urge.y = o->y;
    if (n->doing == SK_FOLLOWS) { /* in its wake, as fast as it is */
        const float gap = (far - 0.5f * (l + other)) / l;
        urge.strength = 5.0f;
        urge.shy = 0.35f;
        urge.speed = sk_clampf(o->speed * other / l + 1.2f * gap, 0.0f, 1.2f * h->fast);
        return urge;
    }
    urge.strength = n->doing == SK_CHASES ? 6.0f : -5.0f;
    urge.shy = n->doing == SK_CHASES ? 0.0f : 0.5f;
    urge.speed = h->fast * (n->doing == SK_CHASES ? 1.25f : 1.05f);
    if (n->doing == SK_CHASES &&
        far < 0.3f * (l + other)) { /* caught: now it is the other's turn, or enough */
        sk_manner *hunted = &scene->manner[n->whom];
        if (sk_random_unit(&n->random) < 0.5f) {
            hunted->doing = SK_CHASES;
            n->doing = SK_FLEES;
            n->left = hunted->left = 2.0f;
        } else {
            wander(hunted);
            wander(n);
        }
    }
    return urge;
}

static sk_urge urge_of_rest(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    const sk_motion *m = &scene->motion[id];
    const sk_habits *h = &sk_all_habits[scene->looks[id].species];
    const float l = scene->looks[id].length;
    /* the middle of the body goes there, which is behind the point that moves */
    sk_urge urge = {.x = n->x + 0.125f * l * sk_cos(m->heading), .y = n->y + 0.125f * l * sk_sin(m->heading)};
    const float far = far_from(m, urge.x, urge.y) / l;
    if (!n->there && far < 0.12f) {
        n->there = true;
        n->left = n->doing == SK_HIDES ? sk_random_between(&n->random, 1.5f, 7.0f)
                                       : sk_random_between(&n->random, 4.0f, 14.0f);
    }
    urge.strength = far < 0.12f ? 0.0f : 5.0f;
    urge.speed = far < 0.12f ? 0.0f : sk_clampf(1.6f * far, 0.25f, h->fast);
    urge.shy = far < 1.5f ? 0.08f : 0.6f;
    urge.walls = far < 1.5f ? 0.0f : 1.0f;
    return urge;
}

/* One that has been in the frame and is no more is gone, exactly then: nobody comes back under the same number. */
static sk_urge urge_of_border(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    const sk_motion *m = &scene->motion[id];
    const float w = (float)scene->world.width, h = (float)scene->world.height;
    const float edge = 0.55f * scene->looks[id].length;
    const bool inside = m->x > edge && m->y > edge && m->x < w - edge && m->y < h - edge;
    sk_body_make(&scene->looks[id], m, &scene->body[id]);
    const bool seen = sk_truth_in_frame(scene, id);
    if (n->there && !seen) {
        n->doing = SK_IS_GONE;
        n->left = sk_random_between(&n->random, 0.3f, 4.0f);
    } else if (n->doing == SK_COMES && inside) {
        wander(n);
        return at_ease;
    }
    n->there = seen;
    return (sk_urge){
        .speed = n->doing == SK_LEAVES ? 1.1f : 0.9f, .strength = 5.0f, .x = n->x, .y = n->y, .free = true};
}

/* Its time is over: what comes next. */
static void end(sk_scene *scene, int32_t id)
{
    sk_manner *n = &scene->manner[id];
    if (n->doing == SK_IS_GONE) {
        arrive(scene, id);
    } else if (n->doing == SK_LEAVES || n->doing == SK_COMES) { /* it found no way: back to the middle */
        n->doing = SK_COMES;
        n->x = 0.5f * (float)scene->world.width;
        n->y = 0.5f * (float)scene->world.height;
        n->left = 60.0f;
    } else if (n->doing == SK_WANDERS) {
        choose(scene, id);
    } else {
        wander(n);
    }
}

sk_urge sk_manners_step(sk_scene *scene, int32_t id, float seconds)
{
    sk_manner *n = &scene->manner[id];
    if (!sk_manners_wanted(&scene->settings))
        return at_ease;
    n->left -= seconds;
    if (n->left <= 0.0f)
        end(scene, id);
    const bool company = n->doing == SK_FOLLOWS || n->doing == SK_CHASES || n->doing == SK_FLEES;
    if (company) {
        const sk_manner *other = &scene->manner[n->whom];
        const bool over =
            n->doing == SK_FOLLOWS
                ? other->doing == SK_IS_GONE
                : other->doing != (n->doing == SK_CHASES ? SK_FLEES : SK_CHASES) || other->whom != id;
        if (over)
            wander(n);
    }
    switch (n->doing) {
    case SK_FOLLOWS:
    case SK_CHASES:
    case SK_FLEES: return urge_of_company(scene, id);
    case SK_HUDDLES:
    case SK_HIDES: return urge_of_rest(scene, id);
    case SK_LEAVES:
    case SK_COMES: return urge_of_border(scene, id);
    default: return at_ease;
    }
}
