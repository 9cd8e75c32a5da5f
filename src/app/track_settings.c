/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define REAL(field)  offsetof(sk_track_wish, field), false
#define WHOLE(field) offsetof(sk_track_wish, field), true

/* An enum is an int. */
#define GROUND offsetof(sk_track_wish, background.ground), true
_Static_assert(sizeof(sk_background_ground) == sizeof(int32_t), "read as one");

static const sk_track_setting table[] = {
    {"animals", "", "always so many identities; 0: not known", WHOLE(track.animals), 0, 65536},
    {"fps", "frames/s", "of the video; 0: as it says", REAL(track.fps), 0, 1e6},
    {"steady", "", "1: boxes are filtered, offline smoothed; 0: the detections' own", WHOLE(track.steady), 0,
     1},
    {"body", "pixels", "length of a body; 0: each animal's own", REAL(track.body), 0, 1e6},
    {"min_score", "", "detections below are not looked at", REAL(track.filter.score), 0, 1},
    {"min_area", "pixels²", "of the box; 0: any", REAL(track.filter.area_least), 0, 1e12},
    {"max_area", "pixels²", "of the box; 0: any", REAL(track.filter.area_most), 0, 1e12},
    {"min_aspect", "", "long side over short side; 0: any", REAL(track.filter.aspect_least), 0, 1e6},
    {"max_aspect", "", "long side over short side; 0: any", REAL(track.filter.aspect_most), 0, 1e6},
    {"max_overlap", "", "IoU of two detections of which the better stays; 1: off", REAL(track.filter.overlap),
     0, 1},
    {"max_detections", "", "the largest so many of a frame; 0: all", WHOLE(track.filter.most), 0, 65536},
    {"process_noise", "", "variance of the motion a frame", REAL(track.motion.process_noise), 0, 1e6},
    {"longitudinal_noise", "", "of it along the body", REAL(track.motion.longitudinal_noise), 0, 1e6},
    {"lateral_noise", "", "of it across", REAL(track.motion.lateral_noise), 0, 1e6},
    {"measurement_noise", "", "error of a detection's centre, share of its sides",
     REAL(track.motion.measurement_noise), 0, 1e6},
    {"damping", "", "velocity left after a frame", REAL(track.motion.damping), 0, 1},
    {"maturity", "s", "until then velocity is trusted in part", REAL(track.motion.maturity), 0, 1e6},
    {"young_retention", "", "… from this share, rising to all", REAL(track.motion.young_retention), 0, 1},
    {"max_speed", "bodies/frame", "faster is not believed", REAL(track.motion.most_speed), 0, 1e6},
    {"weight_position", "", "of the distance", REAL(track.weights.position), 0, 1e6},
    {"weight_heading", "", "of the difference of headings", REAL(track.weights.heading), 0, 1e6},
    {"weight_overlap", "", "of the boxes that do not overlap", REAL(track.weights.overlap), 0, 1e6},
    {"weight_area", "", "of the difference of areas", REAL(track.weights.area), 0, 1e6},
    {"weight_aspect", "", "of the difference of aspects", REAL(track.weights.aspect), 0, 1e6},
    {"weight_pose", "", "of the difference of poses", REAL(track.weights.pose), 0, 1e6},
    {"weight_looks", "", "of the difference of appearances", REAL(track.weights.looks), 0, 1e6},
    {"weight_identity", "", "of identities that a model gives", REAL(track.weights.identity), 0, 1e6},
    {"gate", "bodies", "farther from where it should be is another animal", REAL(track.life.gate), 0, 1e6},
    {"strong_score", "", "detections that are given to tracks first", REAL(track.life.strong), 0, 1},
    {"birth_score", "", "detections that may begin a track", REAL(track.life.birth), 0, 1},
    {"start", "s", "seen so long before a track counts", REAL(track.life.start), 0, 1e6},
    {"covered", "s", "unseen for longer is lost", REAL(track.life.covered), 0, 1e6},
    {"lost", "s", "lost for longer is ended", REAL(track.life.lost), 0, 1e9},
    {"recovery", "bodies", "how far away a lost one is found again; 0: as far as it can have come",
     REAL(track.life.recovery), 0, 1e6},
    {"stitch_gap", "s", "offline: longest gap that is stitched over; 0: none", REAL(offline.stitch_gap), 0,
     1e9},
    {"interpolate_gap", "s", "offline: longest gap that is filled; 0: none", REAL(offline.interpolate_gap), 0,
     1e9},
    {"flip_burst", "frames", "offline: shorter reversals of the heading are mended",
     WHOLE(offline.flip_burst), 0, 1000000},
    {"shortest", "s", "offline: tracks that are seen for less go", REAL(offline.shortest), 0, 1e9},
    {"velocity_limit", "pixels/frame", "offline: faster is no animal, tracks are cut there; 0: off",
     REAL(offline.velocity_limit), 0, 1e9},
    {"smoothing", "s", "offline: positions, headings and boxes are smoothed over so long; 0: boxes alone",
     REAL(offline.smoothing), 0, 1e6},
    {"apart", "bodies", "tracks begin at least so far from others", REAL(track.life.apart), 0, 1e6},
    {"background_ground", "", "background: 0 animals are darker, 1 lighter, 2 either", GROUND, 0, 2},
    {"background_threshold", "grey levels", "background: what a pixel must differ by; 0: by the noise",
     REAL(background.threshold), 0, 255},
    {"background_following", "grey levels/frame", "background: how fast it follows; 0: not",
     REAL(background.following), 0, 255},
    {"background_contrast", "", "background: grey is multiplied", REAL(background.contrast), 0, 100},
    {"background_brightness", "grey levels", "background: … shifted", REAL(background.brightness), -255, 255},
    {"background_gamma", "", "background: … bent", REAL(background.gamma), 0.01, 100},
    {"background_smallest_feature", "pixels", "background: specks and holes up to so wide go",
     WHOLE(background.smallest_feature), 0, 1000},
    {"background_grow", "pixels", "background: then all grow by so much", WHOLE(background.grow), 0, 1000},
    {"background_least_area", "pixels", "background: less is no animal, nor is a tenth of one",
     REAL(background.least_area), 0, 1e9},
    {"background_body_area", "pixels", "background: of one animal; 0: by what is found",
     REAL(background.body_area), 0, 1e9},
    {"background_most_found", "", "background: more are a change of the light", WHOLE(background.most_found),
     1, 4096},
};

const sk_track_setting *sk_track_setting_at(size_t index)
{
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}

const sk_track_setting *sk_track_setting_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool sk_track_setting_finds(const sk_track_setting *setting)
{
    return setting->at >= offsetof(sk_track_wish, background) &&
           setting->at < offsetof(sk_track_wish, background) + sizeof(sk_background_settings);
}

double sk_track_setting_get(const sk_track_setting *setting, const sk_track_wish *wish)
{
    const char *at = (const char *)wish + setting->at;
    return setting->whole ? *(const int32_t *)(const void *)at : *(const double *)(const void *)at;
}

sk_status sk_track_setting_set(const sk_track_setting *setting, double value, sk_track_wish *wish,
                               sk_error *err)
{
    char *at = (char *)wish + setting->at;
    if (!(value >= setting->least && value <= setting->most) || (setting->whole && value != floor(value)))
        return sk_fail(err, SK_ERR_ARG, "%s is %s between %g and %g, and not %g", setting->name,
                       setting->whole ? "a whole number" : "a number", setting->least, setting->most, value);
    if (setting->whole)
        *(int32_t *)(void *)at = (int32_t)value;
    else
        *(double *)(void *)at = value;
    return SK_OK;
}
