/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* How animals move: speeds that are chosen anew now and then, a turn rate that wanders, walls that turn them back and
 * neighbours they would rather not sit on, though they do cross. */

const sk_habits sk_all_habits[SK_SPECIES_COUNT] = {
    [SK_SPECIES_FISH] = {0.35f, 2.0f, 0.0f, 1.2f, 3.0f, 3.6f, 7.0f, 3.0f, 1.8f},
    [SK_SPECIES_FLY] = {0.4f, 2.6f, 0.3f, 0.9f, 4.5f, 5.0f, 26.0f, 0.0f, 2.0f},
    [SK_SPECIES_MOUSE] = {0.15f, 1.0f, 0.2f, 1.3f, 2.2f, 2.6f, 18.0f, 0.5f, 1.6f},
};

/* What to do next: how fast, and whether to visit somebody, which makes paths cross. */
static void choose(sk_motion *m, const sk_habits *h, int32_t self, int32_t animals)
{
    float rest = sk_random_unit(&m->random), how = sk_random_unit(&m->random);
    m->wanted_speed = rest < h->rest ? 0.0f : h->slow + (h->fast - h->slow) * how * how;
    int32_t somebody = sk_random_below(&m->random, animals);
    m->goal = sk_random_unit(&m->random) < 0.45f && somebody != self ? somebody : -1;
}

/* Turns towards (x, y) with `strength`; negative: away. */
static float steer(const sk_motion *m, float x, float y, float strength)
{
    float dx = x - m->x, dy = y - m->y, far = sqrtf(dx * dx + dy * dy) + 1e-3f;
    float ahead = (sk_cos(m->heading) * dx + sk_sin(m->heading) * dy) / far;
    float aside = (sk_cos(m->heading) * dy - sk_sin(m->heading) * dx) / far;
    /* what is straight behind is turned to with full strength, to the side it is nearer to */
    float push = ahead < 0.0f ? (aside < 0.0f ? -1.0f : 1.0f) : aside;
    return strength * push;
}

static float near_wall(const sk_scene *scene, const sk_motion *m, float margin)
{
    float left = m->x, right = (float)scene->world.width - m->x;
    float top = m->y, bottom = (float)scene->world.height - m->y;
    float least = left < right ? left : right;
    least = top < least ? top : least;
    least = bottom < least ? bottom : least;
    return sk_clampf(1.5f - least / margin, 0.0f, 1.0f);
}

/* Turns away from neighbours, and is pushed by those it lies on. */
static void avoid(const sk_scene *scene, sk_motion *m, int32_t id, float shy, float dt, float push[2])
{
    const float l = scene->looks[id].length;
    for (int32_t j = 0; j < scene->settings.animals; j++) {
        if (j == id || scene->manner[j].doing == SK_IS_GONE)
            continue;
        const sk_motion *o = &scene->motion[j];
        float reach = 0.5f * (l + scene->looks[j].length);
        float dx = m->x - o->x, dy = m->y - o->y, far = sqrtf(dx * dx + dy * dy) + 1e-3f;
        if (far < reach)
            m->turn -= steer(m, o->x, o->y, 3.0f * shy * (1.0f - far / reach) * dt);
        if (far < 0.55f * reach) {
            float by = shy * 0.16f * l * (1.0f - far / (0.55f * reach)) * dt / far;
            push[0] += dx * by;
            push[1] += dy * by;
        }
    }
}

/* On its way to somebody. */
static void visit(const sk_scene *scene, sk_motion *m, float l, float dt)
{
    const sk_motion *o = &scene->motion[m->goal];
    float dx = m->x - o->x, dy = m->y - o->y, near = 0.5f * (l + scene->looks[m->goal].length);
    if (dx * dx + dy * dy < near * near || scene->manner[m->goal].doing == SK_IS_GONE)
        m->goal = -1; /* visited: on its way it crosses, and nobody lies on somebody else for long */
    else
        m->turn += steer(m, o->x, o->y, 7.0f * dt);
}

static void step_one(sk_scene *scene, int32_t id, float dt)
{
    sk_motion *m = &scene->motion[id];
    const sk_urge urge = sk_manners_step(scene, id, dt);
    if (scene->manner[id].doing == SK_IS_GONE)
        return;
    const sk_looks *looks = &scene->looks[id];
    const sk_habits *h = &sk_all_habits[looks->species];
    const float l = looks->length;
    if (sk_random_unit(&m->random) < dt / h->patience)
        choose(m, h, id, scene->settings.animals);
    if (urge.speed >= 0.0f)
        m->wanted_speed = urge.speed;
    m->speed += (m->wanted_speed - m->speed) * sk_clampf(dt * 4.0f, 0.0f, 1.0f);
    m->turn +=
        -m->turn * sk_clampf(dt * 1.6f, 0.0f, 1.0f) + h->wander * sqrtf(dt) * sk_random_normal(&m->random);
    float wall = near_wall(scene, m, 0.62f * l) * urge.walls;
    float cx = 0.5f * (float)scene->world.width, cy = 0.5f * (float)scene->world.height;
    m->turn += steer(m, cx, cy, 16.0f * wall * dt);
    if (wall > 0.3f && m->wanted_speed < 0.3f)
        m->wanted_speed = 0.5f; /* nobody rests against the glass for ever */
    if (urge.strength < 0.0f || urge.strength > 0.0f) {
        m->goal = -1;
        m->turn += (steer(m, urge.x, urge.y, urge.strength) - m->turn) * sk_clampf(dt * 8.0f, 0.0f, 1.0f);
    }
    if (m->goal >= 0)
        visit(scene, m, l, dt);
    float push[2] = {0.0f, 0.0f};
    avoid(scene, m, id, h->shy * urge.shy, dt, push);
    m->turn = sk_clampf(m->turn, -h->limit, h->limit);
    m->heading =
        sk_angle_wrap(m->heading + m->turn * dt * (0.35f + 0.65f * sk_clampf(m->speed * 2.0f, 0.0f, 1.0f)));
    float move = m->speed * l * dt;
    float keep = urge.free ? -4.0f * l : 0.42f * l;
    m->x = sk_clampf(m->x + sk_cos(m->heading) * move + push[0], keep, (float)scene->world.width - keep);
    m->y = sk_clampf(m->y + sk_sin(m->heading) * move + push[1], keep, (float)scene->world.height - keep);
    m->bend += (sk_clampf(m->turn * 0.42f, -1.1f, 1.1f) - m->bend) * sk_clampf(dt * 7.0f, 0.0f, 1.0f);
    m->phase += (h->beat * m->speed + h->idle_beat) * dt;
    if (m->phase > 4000.0f)
        m->phase -= 636.0f * 6.28318531f;
    m->sway += -m->sway * sk_clampf(dt * 0.7f, 0.0f, 1.0f) + 0.75f * sqrtf(dt) * sk_random_normal(&m->random);
    m->sway = sk_clampf(m->sway, -1.2f, 1.2f);
}

void sk_motion_step(sk_scene *scene, float seconds)
{
    for (int32_t i = 0; i < scene->settings.animals; i++)
        step_one(scene, i, seconds);
}

/* Smaller animals where many share the picture, so that there is room to cross. */
static void fit_sizes(sk_scene *scene)
{
    static const float fill[SK_SPECIES_COUNT] = {0.30f, 0.42f, 0.26f};
    float area = 0.0f, room = 0.45f * (float)scene->world.width * (float)scene->world.height;
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        const sk_looks *l = &scene->looks[i];
        area += fill[l->species] * l->length * l->length;
    }
    scene->fit = 1.0f;
    if (area <= room)
        return;
    float by = scene->fit = sqrtf(room / area);
    for (int32_t i = 0; i < scene->settings.animals; i++)
        scene->looks[i].length *= by;
}

void sk_motion_begin(sk_scene *scene, sk_random *random)
{
    fit_sizes(scene);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        sk_motion *m = &scene->motion[i];
        const float l = scene->looks[i].length, keep = 0.45f * l;
        *m = (sk_motion){.random = sk_random_begin(scene->settings.seed, 64u + (uint64_t)i)};
        for (int attempt = 0; attempt < 24; attempt++) {
            m->x = sk_random_between(random, keep, (float)scene->world.width - keep);
            m->y = sk_random_between(random, keep, (float)scene->world.height - keep);
            bool free_place = true;
            for (int32_t j = 0; j < i && free_place; j++) {
                float dx = m->x - scene->motion[j].x, dy = m->y - scene->motion[j].y;
                float apart = 0.35f * (l + scene->looks[j].length);
                free_place = dx * dx + dy * dy > apart * apart;
            }
            if (free_place)
                break;
        }
        m->heading = sk_random_between(random, -SK_PI, SK_PI);
        m->phase = sk_random_between(random, 0.0f, 6.0f);
        m->sway = sk_random_between(random, -0.8f, 0.8f);
        choose(m, &sk_all_habits[scene->looks[i].species], i, scene->settings.animals);
        m->speed = m->wanted_speed;
    }
    sk_manners_begin(scene);
    for (int i = 0; i < 12; i++) /* a moment, so that bodies bend as their owners turn */
        sk_motion_step(scene, 1.0f / 30.0f);
}
