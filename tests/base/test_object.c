/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "base/named.h"
#include "base/object.h"

/* How objects begin and end, and tables that are searched by name. */

typedef struct thing {
    char *name, *other;
} thing;

static int closed;

static void thing_close(thing **pointer)
{
    SK_TAKE_OR_RETURN(t, pointer);
    closed++;
    sk_free_all(t->name, t->other, t);
}

static sk_status thing_open(sk_status status, thing **out)
{
    thing *t = sk_calloc(1, sizeof *t);
    assert_non_null(t);
    t->name = sk_strdup("name");
    return SK_HAND_OVER(status, t, out, thing_close);
}

static void handed_over_or_closed(void **state)
{
    (void)state;
    const int64_t before = sk_memory_live_bytes();
    thing *t = NULL;
    assert_int_equal(thing_open(SK_OK, &t), SK_OK);
    assert_non_null(t);
    assert_int_equal(closed, 0);
    thing_close(&t);
    assert_null(t);
    thing_close(&t); /* nothing is closed twice */
    thing_close(NULL);
    assert_int_equal(closed, 1);
    t = (thing *)&closed;
    assert_int_equal(thing_open(SK_ERR_IO, &t), SK_ERR_IO);
    assert_null(t);
    assert_int_equal(closed, 2);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void rows_by_name(void **state)
{
    (void)state;
    static const sk_named colours[] = {{"red", 4}, {"green", 7}};
    static const struct {
        const char *name;
        double weight, height;
    } animals[] = {{"ant", 1, 2}, {"bee", 3, 4}, {"fly", 5, 6}};
    assert_int_equal(SK_NAMED_VALUE(colours, "green", -1), 7);
    assert_int_equal(SK_NAMED_VALUE(colours, "gree", -1), -1);
    assert_int_equal(SK_NAMED_VALUE(colours, NULL, 9), 9);
    assert_int_equal(SK_ROW_NAMED(animals, "fly"), 2);
    assert_int_equal(SK_ROW_NAMED(animals, "bee "), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(handed_over_or_closed),
                                       cmocka_unit_test(rows_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
