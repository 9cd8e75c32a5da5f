/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_OBJECT_H
#define SK_BASE_OBJECT_H

#include "skitter/status.h"

#include <string.h>

/* The two ends of an object's life that every room writes alike:
 *     sk_status sk_x_open(…, sk_x **out, sk_error *err)        void sk_x_close(sk_x **pointer)
 *     {                                                        {
 *         …                                                        SK_TAKE_OR_RETURN(x, pointer);
 *     done:                                                        …
 *         return SK_HAND_OVER(status, x, out, sk_x_close);         sk_free(x);
 *     }                                                        }
 */

/* How an open function ends: *out gets the object where `status` is SK_OK; else `close` ends what there is of it, and
 * *out is null. The value is `status`. */
#define SK_HAND_OVER(status, object, out, close)                                                             \
    ((status) == SK_OK ? (void)0 : close(&(object)), *(out) = (object), (status))

/* How a close function begins: declares `object` and moves into it what `slot` (a pointer to a pointer, may be null)
 * holds; the slot is null from now on, so that nothing is closed twice. Returns where there is nothing to close. */
#define SK_TAKE_OR_RETURN(object, slot)                                                                      \
    __typeof__(*(slot)) object = sk_take((void *)(slot));                                                    \
    if (!(object))                                                                                           \
    return

static inline void *sk_take(void *slot)
{
    void *held = NULL;
    if (slot) {
        memcpy(&held, slot, sizeof held);
        memset(slot, 0, sizeof held);
    }
    return held;
}

#endif
