/* SPDX-License-Identifier: Apache-2.0 */
/* What the tracker of whole videos tells of a scene, number by number, with every setting. */
#include "support/test.h"

#include "recorded_scene.h"
#include "track/offline.h"

enum { FRAMES = 150, BRIEF = 5 }; /* of some kinds only the first runs */

static recorded_sum heard[2];

/* What each pass saw, as it goes; they go side by side, so each has its own sum. */
static sk_status hear(void *context, sk_offline_pass pass, const sk_sighting *sightings, int32_t n,
                      sk_error *err)
{
    (void)context;
    (void)err;
    for (int32_t i = 0; i < n; i++)
        recorded_add(&heard[pass], sightings[i].track + 0.1 * sightings[i].detection + sightings[i].x +
                                       0.01 * (double)sightings[i].frame);
    return SK_OK;
}

static void follow(const sk_offline_settings *settings, scene_kind kind, const char *spill, const char *what)
{
    sk_error err;
    sk_offline *offline;
    scene_told told = {0};
    memset(heard, 0, sizeof heard);
    assert_ok(sk_offline_open(settings, spill, &offline, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++) {
        static scene_frame seen;
        scene_make(kind, frame, &seen);
        if (frame % 61 == 50) /* one that nobody looked at */
            continue;
        assert_ok(sk_offline_add(offline, 3 + frame, frame / 25.0, seen.found, seen.n, &err), &err);
    }
    assert_ok(sk_offline_finish(offline, &err), &err);
    recorded_say("%s: %d tracks, %.9g forward, %.9g backward", what, sk_offline_tracks(offline), heard[0].sum,
                 heard[1].sum);
    for (int64_t at = 0; at < sk_offline_frames(offline); at++) {
        const sk_sighting *out;
        int32_t n;
        int64_t frame;
        assert_ok(sk_offline_read(offline, at, &frame, &out, &n, &err), &err);
        for (int32_t i = 0; i < n; i++)
            scene_note(&told, &out[i]);
        if (at % 50 == 49 || at + 1 == sk_offline_frames(offline))
            scene_say(&told, what, (int)frame);
    }
    sk_offline_close(&offline);
}

static sk_offline_settings usual(void)
{
    sk_offline_settings settings;
    sk_offline_defaults(&settings);
    settings.track.fps = 25;
    settings.told = hear;
    return settings;
}

static const struct {
    const char *name;
    bool forward_only, upstream, none;
    double stitch_gap, interpolate_gap, shortest, velocity_limit, smoothing; /* 0: as usual; below: 0 */
    int flip_burst, animals, steady;
    bool cubic, covered;
} runs[] = {
    {.name = "usual"},
    {.name = "upstream", .upstream = true},
    {.name = "filled with curves", .interpolate_gap = 2, .cubic = true},
    {.name = "smooth", .smoothing = 0.4},
    {.name = "of six", .animals = 6},
    {.name = "forward", .forward_only = true},
    {.name = "upstream, forward", .upstream = true, .forward_only = true},
    {.name = "not stitched", .stitch_gap = -1},
    {.name = "stitched at once", .stitch_gap = 0.3},
    {.name = "not filled", .interpolate_gap = -1},
    {.name = "not filled by method", .none = true},
    {.name = "headings as they are", .flip_burst = -1},
    {.name = "headings held", .flip_burst = 30},
    {.name = "short ones", .shortest = -1},
    {.name = "long ones", .shortest = 3},
    {.name = "slow ones", .velocity_limit = 12},
    {.name = "boxes as they are", .steady = -1},
    {.name = "smooth, boxes as they are", .steady = -1, .smoothing = 0.4},
    {.name = "of three", .animals = 3},
    {.name = "covered ones told", .covered = true},
    {.name = "of six, upstream", .animals = 6, .upstream = true},
};

static void choose(double *value, double to)
{
    *value = to < 0 ? 0 : to > 0 ? to : *value;
}

static void every_setting_of_every_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < SCENE_KINDS; kind++) {
        const bool whole = kind == SCENE_KNOWN || kind == SCENE_POINTED;
        for (size_t r = 0; r < (whole ? sizeof runs / sizeof *runs : BRIEF); r++) {
            sk_offline_settings s = usual();
            char what[120];
            s.backward = !runs[r].forward_only;
            s.upstream = runs[r].upstream;
            choose(&s.stitch_gap, runs[r].stitch_gap);
            choose(&s.interpolate_gap, runs[r].interpolate_gap);
            choose(&s.shortest, runs[r].shortest);
            choose(&s.velocity_limit, runs[r].velocity_limit);
            choose(&s.smoothing, runs[r].smoothing);
            if (runs[r].flip_burst)
                s.flip_burst = runs[r].flip_burst < 0 ? 0 : runs[r].flip_burst;
            s.method = runs[r].cubic  ? SK_INTERPOLATION_CUBIC
                       : runs[r].none ? SK_INTERPOLATION_NONE
                                      : s.method;
            s.track.animals = runs[r].animals;
            s.track.tell_covered = s.track.tell_lost = runs[r].covered;
            s.track.steady = runs[r].steady < 0 ? 0 : s.track.steady;
            snprintf(what, sizeof what, "%s, %s", scene_names[kind], runs[r].name);
            follow(&s, (scene_kind)kind, NULL, what);
        }
        char name[120];
        snprintf(name, sizeof name, "tests/fixtures/track/recorded/offline_%s.txt", scene_names[kind]);
        recorded_check(name);
    }
}

/* In a file it is the same. */
static void what_lies_in_a_file_is_the_same(void **state)
{
    (void)state;
    char path[4200];
    snprintf(path, sizeof path, "%s/spill", test_folder());
    const sk_offline_settings s = usual();
    for (int kind = 0; kind < SCENE_KINDS; kind++)
        follow(&s, (scene_kind)kind, kind % 2 ? path : NULL, scene_names[kind]);
    recorded_check("tests/fixtures/track/recorded/offline_spilt.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_setting_of_every_kind),
                                       cmocka_unit_test(what_lies_in_a_file_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
