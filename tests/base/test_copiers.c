/* SPDX-License-Identifier: Apache-2.0 */
/* Copying together: every byte once, by the caller alone where it is little, and never more threads than were allowed. */
#include "support/fault.h"

#include "base/copiers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct copying {
    const uint8_t *from;
    uint8_t *to;
    int64_t bytes;
    atomic_int parts;
} copying;

static void copy_part(void *context, int32_t part, int32_t parts)
{
    copying *c = context;
    int64_t begin, end;
    sk_pool_split(c->bytes, 64, part, parts, &begin, &end);
    memcpy(c->to + begin, c->from + begin, (size_t)(end - begin));
    atomic_fetch_add(&c->parts, 1);
}

static void check(sk_copiers *copiers, int64_t bytes, int32_t parts)
{
    uint8_t *from = malloc((size_t)bytes), *to = calloc(1, (size_t)bytes);
    for (int64_t i = 0; i < bytes; i++)
        from[i] = (uint8_t)(i * 7 + i / 251 + 1);
    copying c = {.from = from, .to = to, .bytes = bytes};
    sk_copiers_run(copiers, (size_t)bytes, copy_part, &c);
    assert_int_equal(atomic_load(&c.parts), parts);
    assert_memory_equal(to, from, (size_t)bytes);
    free(from);
    free(to);
}

static void test_sizes(void **state)
{
    (void)state;
    sk_copiers copiers = {.threads = 3};
    check(&copiers, 1000, 1);
    assert_null(copiers.team); /* nobody is called for little */
    check(&copiers, 300000, 10);
    check(&copiers, 3000001, 92);
    check(&copiers, 1000, 1);
    sk_copiers_close(&copiers);
    assert_null(copiers.team);
    check(&copiers, 300000, 10); /* called again */
    sk_copiers_close(&copiers);
}

static void test_numbers(void **state)
{
    (void)state;
    sk_copiers one = {.threads = 1}, many = {.threads = 100}, usual = {0};
    check(&one, 300000, 1);
    assert_true(one.alone);
    check(&many, 300000, 10);
    assert_int_equal(sk_pool_threads(many.team), 4);
    check(&usual, 1, 1);
    assert_null(usual.team);
    sk_copiers_close(&one);
    sk_copiers_close(&many);
    sk_copiers_close(&usual);
}

/* What the caller does first may wait until the others have done everything. */
typedef struct waiting {
    copying c;
    int32_t parts;
    bool called, others;
} waiting;

static void wait_for_all(void *context, bool others)
{
    waiting *w = context;
    w->called = true;
    w->others = others;
    while (others && atomic_load(&w->c.parts) < w->parts)
        ;
}

static void test_beside(void **state)
{
    (void)state;
    enum { BYTES = 1000003 };
    uint8_t *from = malloc(BYTES), *to = malloc(BYTES);
    memset(from, 0x5a, BYTES);
    for (int32_t threads = 1; threads <= 3; threads++) {
        sk_copiers copiers = {.threads = threads};
        int alone = 0;
        for (int i = 0; i < 50; i++) {
            waiting w = {.c = {.from = from, .to = to, .bytes = BYTES}, .parts = sk_copiers_parts(BYTES)};
            memset(to, 0, BYTES);
            sk_copiers_run_beside(&copiers, BYTES, copy_part, wait_for_all, &w);
            assert_true(w.called);
            assert_memory_equal(to, from, BYTES);
            alone += !w.others; /* a thread that has not even seen the last offer gets no new one */
        }
        assert_true(threads == 1 ? alone == 50 : alone < 50);
        sk_copiers_close(&copiers);
    }
    sk_copiers none = {0};
    waiting w = {.c = {.from = from, .to = to, .bytes = 10}};
    sk_copiers_run_beside(&none, 10, copy_part, wait_for_all, &w);
    assert_true(w.called && !w.others);
    assert_null(none.team);
    assert_int_equal(sk_copiers_parts(10), 1);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_beside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
