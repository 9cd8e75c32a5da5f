/* SPDX-License-Identifier: Apache-2.0 */
/* Columns beside stored detections, in memory and in a file without a name. */
#include "support/test.h"

#include "track/seen_store.h"

#include <stdio.h>
#include <string.h>

static sk_seen_store *open_store(bool spilt)
{
    sk_error err = {0};
    sk_seen_store *store;
    char path[512];
    snprintf(path, sizeof path, "%s/spill", test_folder());
    assert_ok(sk_seen_store_open(spilt ? path : NULL, &store, &err), &err);
    sk_detection d = {.x = 1, .y = 2, .score = 0.9, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, 40, 12, 0);
    sk_detection_set_box(&d);
    for (int frame = 0; frame < 5; frame++)
        assert_ok(sk_seen_store_add(store, frame, frame, &d, 1, &err), &err);
    return store;
}

/* They begin as zeros, do not share anything, and may be given back. */
static void columns_are_their_own(void **state)
{
    (void)state;
    for (int spilt = 0; spilt < 2; spilt++) {
        sk_error err = {0};
        sk_seen_store *store = open_store(spilt);
        for (int round = 0; round < 20; round++) { /* more than there are at once */
            int32_t *a = sk_seen_store_column(store, sizeof *a, &err);
            int32_t *b = sk_seen_store_column(store, sizeof *b, &err);
            assert_true(a && b && a != b);
            for (int i = 0; i < 5; i++) {
                assert_true(a[i] == 0 && b[i] == 0);
                a[i] = i + 1, b[i] = -i;
            }
            for (int i = 0; i < 5; i++)
                assert_true(a[i] == i + 1 && b[i] == -i);
            sk_seen_store_drop_column(store, round % 2 ? a : b);
            sk_seen_store_drop_column(store, round % 2 ? b : a);
        }
        sk_seen_store_drop_column(store, NULL);
        sk_seen_store_close(&store);
    }
}

/* One that no disk holds is refused, and the store goes on. */
static void a_column_that_nothing_holds(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_seen_store *store = open_store(true);
    assert_null(sk_seen_store_column(store, (SIZE_MAX / 2 + 1) / 6 + 1, &err));
    assert_int_equal(err.code, SK_ERR_IO);
    assert_non_null(strstr(err.message, "cannot be kept"));
    assert_non_null(strstr(err.message, "spill"));
    int32_t *a = sk_seen_store_column(store, sizeof *a, &err);
    assert_non_null(a);
    sk_seen_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_their_own),
                                       cmocka_unit_test(a_column_that_nothing_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
