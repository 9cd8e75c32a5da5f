/* SPDX-License-Identifier: Apache-2.0 */
#include "app/frame_looks.h"

#include "base/memory.h"
#include "track/looks.h"

#include <math.h>
#include <string.h>

sk_status sk_frame_looks_fill(sk_frame_looks *looks, const sk_frame *frame, const sk_instances *found,
                              sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&looks->bytes, &looks->capacity,
                            ((size_t)found->count + 1) * SK_TRACK_LOOKS, 1, SIZE_MAX / 4096, err));
    memset(looks->bytes, 0, (size_t)found->count * SK_TRACK_LOOKS);
    for (int32_t i = 0; i < found->count; i++) {
        sk_detection d;
        float numbers[SK_TRACK_LOOKS];
        if (!sk_detection_of(found, i, NULL, &d) || !sk_looks_of(frame, &d, numbers))
            continue;
        for (int k = 0; k < SK_TRACK_LOOKS; k++)
            looks->bytes[(size_t)i * SK_TRACK_LOOKS + (size_t)k] =
                (uint8_t)lrintf(255 * fminf(fmaxf(numbers[k], 0), 1));
    }
    return SK_OK;
}

void sk_frame_looks_free(sk_frame_looks *looks)
{
    sk_free(looks->bytes);
    *looks = (sk_frame_looks){0};
}

bool sk_frame_looks_get(const uint8_t *bytes, int32_t instance, float out[SK_TRACK_LOOKS])
{
    bool any = false;
    for (int k = 0; k < SK_TRACK_LOOKS; k++) {
        const uint8_t byte = bytes[(size_t)instance * SK_TRACK_LOOKS + (size_t)k];
        out[k] = (float)byte / 255;
        any = any || byte;
    }
    return any;
}
