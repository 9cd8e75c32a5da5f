/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FINDER_BACKGROUND_H
#define SK_APP_FINDER_BACKGROUND_H

#include "app/finder.h"
#include "app/track.h"
#include "base/text.h"

/* Animals on a still background (background/background.h), found frame by frame in a source. */

typedef struct sk_finder_background {
    const sk_track_wish *wish; /* its background's settings; borrowed */
    sk_background *background;
    sk_instances found;
    sk_text identity;
    sk_finder finder;
} sk_finder_background;

/* Begins as {0}; ended by sk_finder_background_close, after a failure, too. `finder` is then for sk_predict_settings. */
sk_status sk_finder_background_open(const sk_track_wish *wish, sk_finder_background *out,
                                    sk_error *err) SK_MUST_CHECK;
void sk_finder_background_close(sk_finder_background *finder);

/* Lines that say how animals are found. */
void sk_finder_background_identity(const sk_track_wish *wish, sk_text *out);

/* Frames from all over what is looked at make the background; one that is read once has none to spare. */
sk_status sk_finder_background_prime(sk_finder_background *finder, const sk_finder_source *source,
                                     sk_error *err) SK_MUST_CHECK;

#endif
