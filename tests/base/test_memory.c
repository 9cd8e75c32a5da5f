/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/memory.h"

#include <string.h>

static void counts_and_fails_as_armed(void **state)
{
    (void)state;
    int64_t live = sk_memory_live_bytes();
    uint64_t count = sk_memory_allocations();
    void *a = sk_malloc(100);
    assert_non_null(a);
    assert_int_equal(sk_memory_allocations(), count + 1);
    assert_true(sk_memory_live_bytes() >= live + 100);
    sk_memory_fail_nth(2);
    void *b = sk_calloc(3, 5);
    assert_non_null(b);
    assert_int_equal(sk_memory_fail_left(), 1);
    assert_null(sk_realloc(a, 1000)); /* a stays */
    assert_int_equal(sk_memory_fail_left(), 0);
    a = sk_realloc(a, 1000);
    assert_non_null(a);
    sk_free(a);
    sk_free(b);
    sk_free(NULL);
    assert_int_equal(sk_memory_live_bytes(), live);
}

static void size_zero_is_a_block(void **state)
{
    (void)state;
    void *a = sk_malloc(0), *b = sk_calloc(0, 8), *c = sk_aligned_calloc(64, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_ptr_not_equal(a, b);
    sk_free(a);
    sk_free(b);
    sk_free(c);
    assert_null(sk_calloc(SIZE_MAX / 2, 3));
}

static void aligned_and_zero(void **state)
{
    (void)state;
    for (size_t alignment = 16; alignment <= 4096; alignment *= 4) {
        unsigned char *block = sk_aligned_calloc(alignment, 333);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment, 0);
        for (int i = 0; i < 333; i++)
            assert_int_equal(block[i], 0);
        sk_free(block);
    }
}

static void arrays_grow_and_stop_at_the_limit(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    sk_error err = {0};
    for (size_t i = 0; i < 100; i++) {
        assert_ok(sk_array_reserve((void **)&items, &capacity, i + 1, sizeof *items, 100, &err), &err);
        items[i] = (int)i;
    }
    assert_int_equal(capacity, 100);
    assert_int_equal(sk_array_reserve((void **)&items, &capacity, 101, sizeof *items, 100, &err),
                     SK_ERR_LIMIT);
    assert_int_equal(items[99], 99);
    sk_free(items);
}

static void arena_holds_and_limits(void **state)
{
    (void)state;
    sk_arena *arena = NULL;
    sk_error err = {0};
    assert_ok(sk_arena_open(256, &arena, &err), &err);
    char *text = sk_arena_strdup(arena, "hello");
    for (int i = 0; i < 100; i++) {
        unsigned char *block = sk_arena_alloc(arena, 50);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (int j = 0; j < 50; j++)
            assert_int_equal(block[j], 0);
        memset(block, 0xff, 50);
    }
    assert_string_equal(text, "hello");
    sk_arena_limit(arena, sk_arena_used(arena) + 32);
    assert_null(sk_arena_alloc(arena, 33));
    assert_non_null(sk_arena_alloc(arena, 32));
    assert_null(sk_arena_alloc(arena, 1));
    assert_null(sk_arena_alloc(arena, SIZE_MAX));
    sk_arena_close(&arena);
    assert_null(arena);
}

static void note_release(void *context)
{
    ++*(int *)context;
}

static void blobs_are_released_once(void **state)
{
    (void)state;
    int released = 0;
    char bytes[3];
    sk_blob *blob = NULL;
    sk_error err = {0};
    assert_ok(sk_blob_wrap(bytes, 3, note_release, &released, &blob, &err), &err);
    sk_blob *second = sk_blob_ref(blob);
    sk_blob_unref(&blob);
    assert_null(blob);
    assert_int_equal(released, 0);
    assert_ptr_equal(sk_blob_data(second), bytes);
    assert_int_equal(sk_blob_bytes(second), 3);
    sk_blob_unref(&second);
    assert_int_equal(released, 1);
    sk_blob_unref(&second);
    assert_int_equal(released, 1);
}

/* --- the fault harness itself --- */

static sk_status arena_and_blob(void *context, sk_error *err)
{
    (void)context;
    sk_status status = SK_OK;
    sk_arena *arena = NULL;
    sk_blob *blob = NULL;
    SK_TRY_GOTO(sk_arena_open(64, &arena, err));
    SK_TRY_GOTO(sk_blob_alloc(1000, &blob, err));
    if (!sk_arena_alloc(arena, 1000))
        status = sk_fail_memory(err, 1000);
done:
    sk_blob_unref(&blob);
    sk_arena_close(&arena);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(arena_and_blob, NULL), 4);
}

static sk_status shrugs_off_one(void *context, sk_error *err)
{
    (void)context;
    (void)err;
    sk_free(sk_malloc(10)); /* could do without */
    return SK_OK;
}

static void an_optional_allocation_may_fail_silently(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(shrugs_off_one, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_fails_as_armed),
        cmocka_unit_test(size_zero_is_a_block),
        cmocka_unit_test(aligned_and_zero),
        cmocka_unit_test(arrays_grow_and_stop_at_the_limit),
        cmocka_unit_test(arena_holds_and_limits),
        cmocka_unit_test(blobs_are_released_once),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(an_optional_allocation_may_fail_silently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
