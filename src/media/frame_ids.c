/* SPDX-License-Identifier: Apache-2.0 */
#include "media/frame_ids.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define MOST ((size_t)1 << 26)

void sk_frame_ids_begin(sk_frame_ids *ids)
{
    pthread_mutex_init(&ids->lock, NULL);
}

static void clear(sk_frame_ids *ids)
{
    for (size_t i = 0; i < ids->count; i++)
        sk_free(ids->items[i].id);
    ids->count = 0;
}

void sk_frame_ids_end(sk_frame_ids *ids)
{
    clear(ids);
    sk_free(ids->items);
    pthread_mutex_destroy(&ids->lock);
}

static sk_status add(sk_frame_ids *ids, int64_t index, const char *id, size_t length, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&ids->items, &ids->capacity, ids->count + 1, sizeof *ids->items, MOST,
                            err));
    char *copy = sk_strndup(length ? id : "", length);
    if (!copy)
        return sk_fail_memory(err, length);
    ids->items[ids->count++] = (sk_frame_id_change){index, copy};
    return SK_OK;
}

sk_status sk_frame_ids_note(sk_frame_ids *ids, int64_t index, const char *id, size_t length, sk_error *err)
{
    sk_status status = SK_OK;
    pthread_mutex_lock(&ids->lock);
    const sk_frame_id_change *last = ids->count ? &ids->items[ids->count - 1] : NULL;
    if (last && index < last->index) {
        clear(ids);
        last = NULL;
    }
    if (!last || strlen(last->id) != length || memcmp(last->id, length ? id : "", length) != 0)
        status = add(ids, index, id, length, err);
    pthread_mutex_unlock(&ids->lock);
    return status;
}

size_t sk_frame_ids_of(sk_frame_ids *ids, int64_t index, char *out, size_t capacity)
{
    size_t length = 0;
    out[0] = '\0';
    pthread_mutex_lock(&ids->lock);
    size_t low = 0, high = ids->count; /* the last one that begins at or before the frame is low - 1 */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ids->items[middle].index <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0)
        length = (size_t)snprintf(out, capacity, "%s", ids->items[low - 1].id);
    pthread_mutex_unlock(&ids->lock);
    return length;
}
