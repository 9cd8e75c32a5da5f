/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "mutate.h"
#include "track/hydra_settings.h"

#include <string.h>

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(hydra_config, data, size)
{
    sk_hydra_config *config = NULL;
    sk_region *region = NULL;
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    sk_offline_settings settings;
    sk_offline_defaults(&settings);
    sk_status status = sk_hydra_config_open((const char *)data, size, "fuzz", &config, &err);
    SK_FUZZ_CHECK((status == SK_OK) == (config != NULL));
    if (status == SK_OK) {
        SK_FUZZ_CHECK(strlen(sk_hydra_unknown(config)) < (size_t)1 << 20);
        status = sk_hydra_settings(config, "fuzz", &settings, &region, &err);
        SK_FUZZ_CHECK(status == SK_OK || (!region && err.message[0]));
        /* What was taken is used: the tracker may refuse it, by name. */
        if (status == SK_OK && sk_tracker_open(&settings.track, &tracker, &err) == SK_OK) {
            const sk_sighting *seen = NULL;
            int32_t n = 0;
            sk_detection d = {.x = 5, .y = 5, .score = 0.9, .class_id = -1, .identity = -1};
            sk_detection_set_oriented(&d, 4, 2, 0);
            for (int frame = 0; frame < 3; frame++)
                SK_FUZZ_CHECK(sk_tracker_step(tracker, frame, frame, &d, 1, &seen, &n, &err) == SK_OK);
        }
    }
    sk_tracker_close(&tracker);
    sk_region_close(&region);
    sk_hydra_config_close(&config);
}
