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

#endif
