/* SPDX-License-Identifier: Apache-2.0 */
/* What the trackers tell of a scene, number by number, with every setting: it stays what it is unless somebody means to change it. */
#include "support/test.h"

#include "recorded_scene.h"

typedef double (*clock_of)(int frame);

static double by_the_video(int frame)
{
    return frame / 25.0;
}

static double follow_by(const sk_track_settings *settings, scene_kind kind, clock_of time, const char *what)
{
    sk_error err;
    sk_tracker *tracker;
    scene_told told = {0};
    recorded_sum all = {0};
    assert_ok(sk_tracker_open(settings, &tracker, &err), &err);
    for (int frame = 0; frame < SCENE_FRAMES; frame++) {
        static scene_frame seen;
        const sk_sighting *out;
        int32_t n;
        scene_make(kind, frame, &seen);
        if (frame % 31 == 20) /* one that nobody looked at */
            continue;
        assert_ok(sk_tracker_step(tracker, frame, time(frame), seen.found, seen.n, &out, &n, &err), &err);
        for (int32_t i = 0; i < n; i++) {
            scene_note(&told, &out[i]);
            recorded_add(&all, out[i].track + out[i].x + out[i].heading + out[i].box.turned[2]);
            recorded_add(&all, out[i].certainty + out[i].uncertainty);
        }
        if (frame % 45 == 44)
            scene_say(&told, what, frame);
    }
    sk_tracker_close(&tracker);
    return all.sum;
}

static double follow(const sk_track_settings *settings, scene_kind kind, const char *what)
{
    return follow_by(settings, kind, by_the_video, what);
}

static sk_track_settings usual(const char *method)
{
    sk_track_settings settings;
    sk_track_defaults(&settings);
    settings.method = method;
    settings.fps = 25;
    settings.tell_covered = settings.tell_lost = true;
    return settings;
}

static void every_kind_of_detection(void **state)
{
    (void)state;
    for (const char *const *method = sk_track_methods(); *method; method++)
        for (int kind = 0; kind < SCENE_KINDS; kind++)
            for (int animals = 0; animals <= SCENE_ANIMALS; animals += SCENE_ANIMALS) {
                char what[80];
                sk_track_settings settings = usual(*method);
                settings.animals = animals;
                snprintf(what, sizeof what, "%s %s of %d", *method, scene_names[kind], animals);
                follow(&settings, (scene_kind)kind, what);
            }
    recorded_check("tests/fixtures/track/recorded/kinds.txt");
}

/* Which settings a method hears is written beside it; each that it hears changes what is told. */
static void every_setting(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        scene_kind kind;
    } runs[] = {{"skitter", SCENE_KNOWN},
                {"skitter", SCENE_UPRIGHT_POSED},
                {"skitter", SCENE_POINTED},
                {"bytetrack", SCENE_TURNED},
                {"ocsort", SCENE_UPRIGHT}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        const sk_track_settings plain = usual(runs[r].method);
        const double before = follow(&plain, runs[r].kind, "plain");
        for (size_t k = 0; k < sizeof scene_settings / sizeof *scene_settings; k++) {
            const bool of_boxes = strncmp(scene_settings[k].name, "boxes.", 6) == 0;
            const bool skitters = strncmp(runs[r].method, "skitter", 7) == 0;
            sk_track_settings settings = plain;
            char what[120];
            if (of_boxes == skitters && strncmp(scene_settings[k].name, "filter.", 7) != 0)
                continue;
            scene_set(&settings, &scene_settings[k]);
            snprintf(what, sizeof what, "%s %s %s", runs[r].method, scene_names[runs[r].kind],
                     scene_settings[k].name);
            const double now = follow(&settings, runs[r].kind, what);
            recorded_say("%s %s", what, now == before ? "says nothing" : "is heard");
        }
    }
    recorded_check("tests/fixtures/track/recorded/settings.txt");
}

static double without_a_clock(int frame)
{
    (void)frame;
    return NAN;
}

static double standing(int frame)
{
    (void)frame;
    return 7;
}

static double slow(int frame) /* a look a second, some later */
{
    return frame + 0.3 * (frame % 4);
}

static double uneven(int frame)
{
    return frame / 25.0 + 0.006 * (frame % 3) + (frame > 50 ? 0.012 * (frame % 2) : 0);
}

static double with_a_pause(int frame)
{
    return frame / 25.0 + (frame > 20 ? 0.4 : 0) + (frame > 40 ? 0.9 : 0) + (frame > 60 ? 3 : 0) +
           (frame > 75 ? 1e12 : 0);
}

static double quick(int frame)
{
    return frame / 400.0;
}

/* What passes between two looks: by the clock where it runs, else by the frames' numbers. */
static void every_clock(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        clock_of time;
    } clocks[] = {{"none", without_a_clock}, {"standing", standing},         {"slow", slow},
                  {"uneven", uneven},        {"with a pause", with_a_pause}, {"quick", quick}};
    for (const char *const *method = sk_track_methods(); *method; method++)
        for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++)
            for (int fps = 0; fps < 3; fps++) {
                char what[80];
                sk_track_settings settings = usual(*method);
                settings.fps = fps == 0 ? 25 : fps == 1 ? 0 : 2;
                snprintf(what, sizeof what, "%s %s %d", *method, clocks[c].name, fps);
                follow_by(&settings, SCENE_TURNED, clocks[c].time, what);
            }
    recorded_check("tests/fixtures/track/recorded/clocks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_detection),
                                       cmocka_unit_test(every_setting), cmocka_unit_test(every_clock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
