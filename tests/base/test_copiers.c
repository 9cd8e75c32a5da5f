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
    check(&copiers, 300000, 5);
    check(&copiers, 3000001, 46);
    check(&copiers, 1000, 1);
    sk_copiers_close(&copiers);
    assert_null(copiers.team);
    check(&copiers, 300000, 5); /* called again */
    sk_copiers_close(&copiers);
}

static void test_numbers(void **state)
{
    (void)state;
    sk_copiers one = {.threads = 1}, many = {.threads = 100}, usual = {0};
    check(&one, 300000, 1);
    assert_true(one.alone);
    check(&many, 300000, 5);
    assert_int_equal(sk_pool_threads(many.team), 4);
    check(&usual, 1, 1);
    assert_null(usual.team);
    sk_copiers_close(&one);
    sk_copiers_close(&many);
    sk_copiers_close(&usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
