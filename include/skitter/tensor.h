/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_TENSOR_H
#define SKITTER_TENSOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of a network: what goes in, what comes out. A view owns nothing. */

#define SK_TENSOR_MAX_RANK 8

typedef enum sk_element {
    /* float */
    SK_ELEMENT_F32 = 1,
    /* int32_t */
    SK_ELEMENT_I32 = 2,
    /* int64_t */
    SK_ELEMENT_I64 = 3,
    /* uint8_t */
    SK_ELEMENT_U8 = 4
} sk_element;

/* A dense array, the last dimension running fastest. This struct never changes its size: they lie in arrays. */
typedef struct sk_tensor_view {
    /* "images", "output0"; "" where it has none; never null in what we give */
    const char *name;
    /* what its numbers are */
    sk_element element;
    /* dimensions, 0 … SK_TENSOR_MAX_RANK */
    int32_t rank;
    /* each >= 1 */
    int64_t dim[SK_TENSOR_MAX_RANK];
    /* aligned for its element; null where only shapes are told */
    const void *data;
} sk_tensor_view;

#ifdef __cplusplus
}
#endif
#endif
