/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_LIVE_TRACKS_H
#define SKITTER_LIVE_TRACKS_H

#include "skitter/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who is who from frame to frame, as frames come: what a pipeline found in goes a frame at a time, the number of each animal's
 * track comes out. `skitter track --online` says the same; without --online it looks at the whole video, which no program that
 * goes with the frames can.
 *
 *     sk_live_tracks_open(sk_pipeline_about(pipeline), NULL, &tracks, &err);
 *     for every result, in order:
 *         sk_live_tracks_tell(tracks, result, ids, 300, &err);      ids[i]: of the i-th instance
 *
 * Threads: one at a time. */
typedef struct sk_live_tracks sk_live_tracks;

/* From sk_live_tracks_defaults(). */
typedef struct sk_live_tracks_settings {
    /* sizeof(sk_live_tracks_settings), by SK_LIVE_TRACKS_SETTINGS_INIT */
    uint32_t size;
    /* "skitter" (default), "bytetrack", "ocsort"; copied by open */
    const char *tracker;
    /* there are so many: always so many identities, never more; 0 (default): unknown */
    int32_t animals;
    /* frames a second; 0 (default): by the frames' times, 25 where they have none */
    double fps;
} sk_live_tracks_settings;

/* The only way to begin settings, before their defaults. */
#define SK_LIVE_TRACKS_SETTINGS_INIT SK_INIT_BY_SIZE(sk_live_tracks_settings)
/* Fills what settings->size reaches with the defaults. */
SK_API void sk_live_tracks_defaults(sk_live_tracks_settings *settings);

/* `about` is borrowed until close: the pipeline stays open. Null settings: defaults. */
SK_API sk_status sk_live_tracks_open(const sk_pipeline_info *about, const sk_live_tracks_settings *settings,
                                     sk_live_tracks **out, sk_error *err) SK_MUST_CHECK;
SK_API void sk_live_tracks_close(sk_live_tracks **tracks);

/* The next frame's result. ids[i] is the track of its i-th instance, from 0 and never given twice; -1: none yet, or none any more.
 * A frame that failed has none. SK_ERR_ARG where `capacity` is below the number of instances. */
SK_API sk_status sk_live_tracks_tell(sk_live_tracks *tracks, const sk_result *result, int32_t *ids,
                                     int32_t capacity, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
