/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_TEST_H
#define SK_TESTS_SUPPORT_TEST_H

/* What every test includes: cmocka in its required order, and a few helpers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* Fails with the error's text when the call did not succeed. */
#define assert_ok(call, err)                                                                                 \
    do {                                                                                                     \
        sk_status assert_ok_ = (call);                                                                       \
        if (assert_ok_ != SK_OK)                                                                             \
            fail_msg("%s: %s: %s", #call, sk_status_text(assert_ok_), (err)->message);                       \
    } while (0)

/* The reference data's folder (SKITTER_TEST_DATA), or null where it is absent. A test that needs it calls
 * test_data_or_skip, which skips with a message. */
const char *test_data_folder(void);
/* Path of a file in the reference data; static buffer, one of four used in turn. */
const char *test_data(const char *relative);
#define test_data_or_skip()                                                                                  \
    do {                                                                                                     \
        if (!test_data_folder()) {                                                                           \
            print_message("skipped: the reference data is not on this machine\n");                           \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)

/* Path of a file in the source tree (fixtures). */
const char *test_source(const char *relative);
/* A fresh folder of this process under TMPDIR; removed at exit. */
const char *test_folder(void);

/* With SKITTER_TEST_LEAKS set, a test that ends with memory still allocated (sk_malloc and its family) fails; one that holds some
 * on purpose says so here. */
extern bool test_keeps_memory;
/* A path in a folder below that one that nobody has made; static buffer, one of four used in turn. */
const char *test_missing(const char *name);

/* Is it what this file of the source tree holds? With SKITTER_TEST_REWRITE=1 the file is written, to be read before it is believed. */
void test_text_is(const char *relative, const char *text);

#endif
