/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/memory.h"
#include "mutate.h"
#include "track/corrections.h"

#include <string.h>

/* A file of corrections that somebody else wrote: every line is taken or refused with a text, and what was taken leaves no track
 * twice in a frame. */

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(corrections, data, size)
{
    sk_corrections list = {0};
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        sk_error err = {0};
        if (sk_corrections_read(&list, at, length, "fuzz", &err) != SK_OK)
            SK_FUZZ_CHECK(err.message[0]);
        at += length + 1;
        if (!stop)
            break;
    }
    for (int64_t frame = 0; frame < 4; frame++) {
        int32_t tracks[5] = {0, 1, 2, 3, 9};
        sk_corrections_apply(&list, frame * 50, tracks, 5);
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < i; k++)
                SK_FUZZ_CHECK(tracks[i] < 0 || tracks[i] != tracks[k]);
    }
    sk_text words = {0};
    for (size_t i = 0; i < list.count; i++) {
        const char *name = sk_corrections_name(&list, list.items[i].a);
        SK_FUZZ_CHECK(!name || strlen(name) < SK_CORRECTION_NAME);
        sk_text_clear(&words);
        sk_correction_describe(&list.items[i], &words);
    }
    sk_text_free(&words);
    sk_corrections_free(&list);
}
