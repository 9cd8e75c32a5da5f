/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_CONFIG_H
#define SK_APP_TRACK_CONFIG_H

#include "app/track.h"
#include "base/text.h"

/* Settings of tracking from a file, put over `wish`: a configuration of hydra-suite, or an object of our own whose members are
 * called as sk_track_setting's ("gate": 3), and "tracker", "online", "looks", "tell_covered", "offline_steps", "roi", "roi_exclude" (texts, or lists of
 * them), "head_points", "tail_points" (lists of keypoints' names), and "run", which track_config_run.h reads. A member of ours that is none is refused by its name; of hydra-suite's, what has no counterpart is told in `warnings`, a
 * line each.
 *
 * *region is added to (null before: opened) and is the caller's to close; `region_text` says it for the identity. */
sk_status sk_track_config_read(const char *path, sk_track_wish *wish, sk_region **region,
                               sk_text *region_text, sk_text *warnings, sk_error *err) SK_MUST_CHECK;

#endif
