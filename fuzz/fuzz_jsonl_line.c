/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/memory.h"
#include "mutate.h"
#include "results/jsonl_line.h"

#include <string.h>

/* Lines of a results.jsonl that somebody else wrote: each is a frame or refused with a text, and what it says of itself holds. */

SK_FUZZ_MUTATE(sk_mutate_text)

static void look_at(const sk_result_frame *f)
{
    const sk_instances *all = f->instances;
    float sum = 0;
    SK_FUZZ_CHECK(f->index >= 0 && f->source && all->count >= 0 && all->n_keypoints >= 0);
    for (int32_t i = 0; i < all->count; i++) {
        const sk_found *in = &all->items[i];
        SK_FUZZ_CHECK(in->track_id >= -1 && in->class_id >= -1);
        SK_FUZZ_CHECK(!f->sightings || f->sightings[i].track == in->track_id);
        for (int32_t k = 0; k < all->n_keypoints; k++)
            sum += all->keypoints[in->first_keypoint + k].x;
    }
    volatile float used = sum;
    (void)used;
}

SK_FUZZ(jsonl_line, data, size)
{
    sk_jsonl_line line = {0};
    const char *at = (const char *)data, *end = at + size;
    line.least_keypoints = size & 1 ? 3 : 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        sk_error err = {0};
        sk_result_frame f;
        if (sk_jsonl_line_read(&line, at, length, "fuzz", &f, &err) == SK_OK)
            look_at(&f);
        else
            SK_FUZZ_CHECK(err.message[0]);
        (void)sk_jsonl_line_number(at, length);
        at += length + 1;
        if (!stop)
            break;
    }
    sk_jsonl_line_free(&line);
}
