/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/ros_messages.h"
#include "mutate.h"

#include <string.h>

/* A message of any type, named by the first byte. What can be read can be written, and that is read as the same bytes. */

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(ros_message, data, size)
{
    _Alignas(16) static uint8_t message[1024], again[1024];
    const sk_msg_layout *layout = size ? sk_msg_layout_at(data[0] % 23) : NULL;
    sk_error err = {0};
    sk_arena *arena = NULL;
    if (!layout || layout->bytes > sizeof message || sk_arena_open(4096, &arena, &err) != SK_OK)
        return;
    sk_arena_limit(arena, (size_t)64 << 20);
    sk_cdr_writer first = {0}, second = {0};
    const sk_status status = sk_msg_decode(layout, data + 1, size - 1, arena, message, &err);
    if (status != SK_OK) {
        SK_FUZZ_CHECK(err.message[0]);
    } else if (sk_msg_encode(layout, message, &first, &err) == SK_OK) {
        SK_FUZZ_CHECK(sk_msg_decode(layout, first.data, first.length, arena, again, &err) == SK_OK ||
                      err.code == SK_ERR_MEMORY);
        SK_FUZZ_CHECK(sk_msg_encode(layout, again, &second, &err) == SK_OK);
        if (err.code != SK_ERR_MEMORY)
            SK_FUZZ_CHECK(first.length == second.length &&
                          memcmp(first.data, second.data, first.length) == 0);
    }
    sk_cdr_writer_free(&first);
    sk_cdr_writer_free(&second);
    sk_arena_close(&arena);
}
