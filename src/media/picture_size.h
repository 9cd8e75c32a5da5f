/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_PICTURE_SIZE_H
#define SK_MEDIA_PICTURE_SIZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* How large a picture is once it stands upright; from the head of a JPEG or PNG, others are decoded. */
sk_status sk_picture_size(const char *path, int32_t *width, int32_t *height, sk_error *err) SK_MUST_CHECK;

/* True for the endings of still pictures that sources take from a folder. */
bool sk_picture_has_ending(const char *path);

#endif
