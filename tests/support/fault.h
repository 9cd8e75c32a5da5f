/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_FAULT_H
#define SK_TESTS_SUPPORT_FAULT_H

#include "support/test.h"

/* Something that opens, uses and closes objects, freeing all it made whatever happens, and returns the first
 * failure. It must not assert on statuses itself, and must do the same each time. */
typedef sk_status (*test_fault_fn)(void *context, sk_error *err);

/* Runs fn once undisturbed (it must succeed), then with the 1st, 2nd, 3rd … allocation failing, until it runs
 * through without reaching the armed one. Each time: the answer is SK_ERR_MEMORY, with a text, or SK_OK where
 * the memory could be done without; and nothing leaked. Returns the number of allocations that were made to
 * fail. */
int test_every_allocation(test_fault_fn fn, void *context);

/* Runs fn many times: each time all memory that the process has of the C library is given back, that of other libraries included. What
 * they keep for the next time is made at the first. */
void test_leaves_nothing(test_fault_fn fn, void *context);

#endif
