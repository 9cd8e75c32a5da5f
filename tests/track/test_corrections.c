/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/memory.h"
#include "track/corrections.h"

#include <stdio.h>
#include <string.h>

static uint64_t bits = 7;

static int32_t below(int32_t most)
{
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)((bits >> 33) % (uint64_t)most);
}

static sk_correction swap(int32_t a, int32_t b, int64_t from)
{
    return (sk_correction){.kind = SK_CORRECTION_SWAP, .a = a, .b = b, .from = from, .to = -1, .prefer = -1};
}

static sk_correction delete (int32_t a, int64_t from, int64_t to)
{
    return (sk_correction){
        .kind = SK_CORRECTION_DELETE, .a = a, .b = -1, .from = from, .to = to, .prefer = -1};
}

static sk_correction merge(int32_t a, int32_t b, int32_t prefer)
{
    return (sk_correction){.kind = SK_CORRECTION_MERGE, .a = a, .b = b, .to = -1, .prefer = prefer};
}

static sk_correction rename_to(int32_t a, const char *name)
{
    sk_correction c = {.kind = SK_CORRECTION_RENAME, .a = a, .b = -1, .to = -1, .prefer = -1};
    strncpy(c.name, name, sizeof c.name - 1);
    return c;
}

static sk_correction any(void)
{
    const int32_t a = below(6), b = (a + 1 + below(5)) % 6;
    const int64_t from = below(30), to = below(2) ? -1 : from + below(20);
    switch (below(4)) {
    case 0: return (sk_correction){SK_CORRECTION_SWAP, a, b, from, to, -1, ""};
    case 1: return delete (a, from, to);
    case 2: return merge(a, b, below(2) ? a : b);
    default: return rename_to(a, below(2) ? "queen" : "");
    }
}

/* The tracks of one frame after the list. */
static void told(const sk_corrections *list, int64_t frame, const int32_t *from, int32_t n, int32_t *out)
{
    memcpy(out, from, (size_t)n * sizeof *out);
    sk_corrections_apply(list, frame, out, n);
}

static void expect(const sk_corrections *list, int64_t frame, const int32_t *expected)
{
    const int32_t all[6] = {0, 1, 2, 3, 4, 5};
    int32_t got[6];
    told(list, frame, all, 6, got);
    assert_memory_equal(got, expected, sizeof got);
}

static void test_each_kind(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_corrections list = {0};
    sk_correction c = swap(3, 5, 100);
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    expect(&list, 99, (const int32_t[]){0, 1, 2, 3, 4, 5});
    expect(&list, 100, (const int32_t[]){0, 1, 2, 5, 4, 3});
    c = delete (5, 100, 120); /* what is called 5 now was 3 */
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    expect(&list, 110, (const int32_t[]){0, 1, 2, -1, 4, 3});
    expect(&list, 121, (const int32_t[]){0, 1, 2, 5, 4, 3});
    c = merge(0, 1, 1);
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    expect(&list, 0, (const int32_t[]){-1, 0, 2, 3, 4, 5});
    const int32_t alone[2] = {1, 4};
    int32_t got[2];
    told(&list, 0, alone, 2, got);
    assert_int_equal(got[0], 0);
    c = rename_to(2, "queen");
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    assert_string_equal(sk_corrections_name(&list, 2), "queen");
    assert_null(sk_corrections_name(&list, 3));
    sk_corrections_free(&list);
}

static void test_swapped_twice_is_nothing(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int trial = 0; trial < 200; trial++) {
        sk_corrections before = {0}, after = {0};
        for (int i = below(6); i > 0; i--) {
            const sk_correction c = any();
            assert_ok(sk_corrections_add(&before, &c, &err), &err);
            assert_ok(sk_corrections_add(&after, &c, &err), &err);
        }
        const sk_correction c = swap(below(3), 3 + below(3), below(40));
        for (int i = 0; i < 2; i++)
            assert_ok(sk_corrections_add(&after, &c, &err), &err);
        for (int64_t frame = 0; frame < 60; frame++) {
            const int32_t all[6] = {4, 2, 0, 5, 1, 3};
            int32_t one[6], two[6];
            told(&before, frame, all, 6, one);
            told(&after, frame, all, 6, two);
            assert_memory_equal(one, two, sizeof one);
        }
        sk_corrections_free(&before);
        sk_corrections_free(&after);
    }
}

static void test_no_track_is_there_twice(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int trial = 0; trial < 300; trial++) {
        sk_corrections list = {0};
        for (int i = 0; i < 12; i++) {
            const sk_correction c = any();
            assert_ok(sk_corrections_add(&list, &c, &err), &err);
        }
        for (int64_t frame = 0; frame < 60; frame++) {
            const int32_t all[6] = {0, 1, 2, 3, 4, 5};
            int32_t got[6], seen[6] = {0};
            told(&list, frame, all, 6, got);
            for (int i = 0; i < 6; i++) {
                assert_in_range(got[i] + 1, 0, 6);
                if (got[i] >= 0)
                    assert_int_equal(seen[got[i]]++, 0);
            }
        }
        sk_corrections_free(&list);
    }
}

static void test_undo_and_redo(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_corrections list = {0};
    sk_correction c = swap(0, 1, 0);
    assert_int_equal(sk_corrections_undo(&list, &err), SK_ERR_ARG);
    assert_int_equal(sk_corrections_redo(&list, &err), SK_ERR_ARG);
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    c = delete (2, 0, -1);
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_corrections_undo(&list, &err), &err);
    expect(&list, 5, (const int32_t[]){0, 1, 2, 3, 4, 5});
    for (int i = 0; i < 2; i++)
        assert_ok(sk_corrections_redo(&list, &err), &err);
    expect(&list, 5, (const int32_t[]){1, 0, -1, 3, 4, 5});
    assert_ok(sk_corrections_undo(&list, &err), &err);
    c = delete (5, 0, -1);
    assert_ok(sk_corrections_add(&list, &c, &err), &err);
    assert_int_equal(sk_corrections_redo(&list, &err), SK_ERR_ARG); /* that way is gone */
    expect(&list, 5, (const int32_t[]){1, 0, 2, 3, 4, -1});
    sk_corrections_free(&list);
}

static void test_senseless_ones_are_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_corrections list = {0};
    const sk_correction wrong[] = {swap(1, 1, 0),      swap(-1, 2, 0),          swap(1, 2, -5),
                                   delete (1, 20, 10), delete (1, 0, -7),       merge(1, 2, 3),
                                   merge(2, 2, 2),     rename_to(1, "a\nb"),    rename_to(1, "\xff"),
                                   rename_to(-1, "a"), rename_to(1, "\x1b[31m")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err.message[0] = '\0';
        assert_int_equal(sk_corrections_add(&list, &wrong[i], &err), SK_ERR_ARG);
        assert_true(err.message[0]);
    }
    assert_int_equal(list.count, 0);
    sk_corrections_free(&list);
}

/* What is written is read back as the same. */
static void test_as_lines(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_corrections list = {0}, back = {0};
    for (int i = 0; i < 400; i++) {
        sk_text text = {0};
        sk_json json = sk_json_to_text(&text, 0);
        const sk_correction c = any();
        sk_correction_step step = below(5) ? SK_STEP_ADD : below(2) ? SK_STEP_UNDO : SK_STEP_REDO;
        if ((step == SK_STEP_UNDO && !list.count) || (step == SK_STEP_REDO && !list.undone))
            step = SK_STEP_ADD;
        assert_ok(step == SK_STEP_ADD    ? sk_corrections_add(&list, &c, &err)
                  : step == SK_STEP_UNDO ? sk_corrections_undo(&list, &err)
                                         : sk_corrections_redo(&list, &err),
                  &err);
        sk_correction_write(step, &c, "2026-11-16T05:00:00Z", &json);
        assert_ok(sk_json_end(&json, &err), &err);
        assert_ok(sk_corrections_read(&back, text.data, text.length, "line", &err), &err);
        sk_text_free(&text);
        assert_int_equal(back.count, list.count);
        assert_int_equal(back.undone, list.undone);
        for (size_t k = 0; k < list.count; k++) {
            const sk_correction *a = &list.items[k], *b = &back.items[k];
            assert_true(a->kind == b->kind && a->a == b->a && a->b == b->b && a->to == b->to &&
                        a->from == b->from && a->prefer == b->prefer);
            assert_string_equal(a->name, b->name);
        }
    }
    sk_corrections_free(&list);
    sk_corrections_free(&back);
}

static void test_lines_that_are_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "{\"do\":\"dance\"}",
        "{\"do\":\"swap\"}",
        "{\"do\":\"swap\",\"tracks\":[1]}",
        "{\"do\":\"swap\",\"tracks\":[1,1]}",
        "{\"do\":\"swap\",\"tracks\":[1,2,3]}",
        "{\"do\":\"swap\",\"tracks\":[1,99999999999]}",
        "{\"do\":\"swap\",\"tracks\":[\"x\",2]}",
        "{\"do\":\"delete\",\"tracks\":[\"x\"]}",
        "{\"do\":\"delete\",\"tracks\":[-1]}",
        "{\"do\":\"delete\",\"tracks\":[0.5]}",
        "{\"do\":\"delete\",\"tracks\":[2147483648]}",
        "{\"do\":\"rename\",\"tracks\":[null],\"name\":\"a\"}",
        "{\"do\":\"merge\",\"tracks\":[1,2],\"prefer\":\"x\"}",
        "{\"do\":\"delete\",\"tracks\":[1],\"from\":-3}",
        "{\"do\":\"delete\",\"tracks\":[1],\"from\":9,\"to\":3}",
        "{\"do\":\"merge\",\"tracks\":[1,2],\"prefer\":3}",
        "{\"do\":\"undo\"}",
        "{\"do\":\"redo\"}",
    };
    sk_corrections list = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        sk_error err = {0};
        assert_int_equal(sk_corrections_read(&list, lines[i], strlen(lines[i]), "line 3", &err),
                         SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "line 3"));
    }
    char name[SK_CORRECTION_NAME + 1] = {0}, line[200];
    sk_error err = {0};
    memset(name, 'q', sizeof name - 1); /* one byte more than there is room for */
    snprintf(line, sizeof line, "{\"do\":\"rename\",\"tracks\":[1],\"name\":\"%s\"}", name);
    assert_int_equal(sk_corrections_read(&list, line, strlen(line), "line 3", &err), SK_ERR_FORMAT);
    assert_int_equal(list.count, 0);
    sk_corrections_free(&list);
}

/* The largest numbers that there are. */
static void test_largest_numbers(void **state)
{
    (void)state;
    static const char line[] =
        "{\"do\":\"swap\",\"tracks\":[2147483647,0],\"from\":0,\"to\":9007199254740991}";
    sk_error err = {0};
    sk_corrections list = {0};
    assert_ok(sk_corrections_read(&list, line, sizeof line - 1, "line", &err), &err);
    assert_true(list.count == 1 && list.items[0].a == INT32_MAX && list.items[0].b == 0);
    assert_true(list.items[0].from == 0 && list.items[0].to == 9007199254740991);
    sk_corrections_free(&list);
}

static sk_status read_some(void *context, sk_error *err)
{
    (void)context;
    static const char line[] = "{\"do\":\"swap\",\"tracks\":[3,5],\"from\":1200}";
    sk_corrections list = {0};
    sk_status status = SK_OK;
    for (int i = 0; i < 20 && status == SK_OK; i++)
        status = sk_corrections_read(&list, line, sizeof line - 1, "line", err);
    sk_corrections_free(&list);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(read_some, NULL) > 3);
}

static void test_in_words(void **state)
{
    (void)state;
    sk_text text = {0};
    const sk_correction all[] = {swap(3, 5, 1200), delete (7, 0, -1), delete (7, 5, 9), merge(2, 9, 9),
                                 rename_to(4, "queen")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_correction_describe(&all[i], &text);
        sk_text_append(&text, "\n");
    }
    assert_string_equal(sk_text_get(&text), "swap 3 and 5 from frame 1200 on\ndelete 7\n"
                                            "delete 7 in frames 5 to 9\nmerge 9 into 2, 9 where both are\n"
                                            "call 4 'queen'\n");
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_swapped_twice_is_nothing),
        cmocka_unit_test(test_no_track_is_there_twice),
        cmocka_unit_test(test_undo_and_redo),
        cmocka_unit_test(test_senseless_ones_are_refused),
        cmocka_unit_test(test_as_lines),
        cmocka_unit_test(test_lines_that_are_none),
        cmocka_unit_test(test_largest_numbers),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
