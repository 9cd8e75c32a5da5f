/* SPDX-License-Identifier: Apache-2.0 */
#include "track/track.h"

/* Where hydra-suite has a setting of that meaning, its default is taken. */
void sk_track_defaults(sk_track_settings *out)
{
    *out = (sk_track_settings){
        .method = "skitter",
        .fps = 0,
        .body = 0,
        .animals = 0,
        .steady = 1,
        .tell_covered = false,
        .tell_lost = false,
        .filter = {.score = 0.1, .overlap = 1},
        .motion = {.process_noise = 0.03,
                   .longitudinal_noise = 5,
                   .lateral_noise = 0.1,
                   .measurement_noise = 0.04,
                   .damping = 0.95,
                   .maturity = 0.17,
                   .young_retention = 0,
                   .most_speed = 2},
        .weights = {.position = 1,
                    .heading = 0.75,
                    .overlap = 2,
                    .area = 2,
                    .aspect = 1,
                    .pose = 2,
                    .looks = 1,
                    .identity = 4},
        .life = {.gate = 2,
                 .strong = 0.5,
                 .birth = 0.6,
                 .start = 0,
                 .covered = 0.33,
                 .lost = 10,
                 .recovery = 0,
                 .apart = 0.25},
        .boxes =
            {.strong = 0.6, .match = 0.9, .overlap = 0.3, .kept = 1, .inertia = 0.1, .span = 3, .hits = 3},
    };
}
