/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_SOURCE_TOLD_H
#define SK_MEDIA_SOURCE_TOLD_H

#include "skitter/source.h"

/* What a source tells of itself, whole: for callers that are compiled with it. */
static inline sk_source_info sk_source_info_of(const sk_source *source)
{
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    return info;
}

static inline sk_source_status sk_source_status_of(sk_source *source)
{
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    return status;
}

/* The frame_id of a bag's image that was read, copied up to `capacity` with its zero; how long it is; 0: it has none. Any thread. */
size_t sk_source_frame_id(sk_source *source, int64_t index, char *out, size_t capacity);

#endif
