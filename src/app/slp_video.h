/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SLP_VIDEO_H
#define SK_APP_SLP_VIDEO_H

#include "base/error.h"

/* Path of the first video a .slp file names, found where it lies now; ended by sk_free. */
sk_status sk_slp_video(const char *slp, char **out, sk_error *err) SK_MUST_CHECK;

#endif
