/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run: cut anywhere, and of another run. */
#include "base/file.h"
#include "results/journal.h"
#include "support/test.h"

#include "written.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct visited {
    int count;
    float sum;
} visited;

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    visited *v = context;
    assert_int_equal(frame->index, v->count);
    assert_int_equal(frame->instances->count, v->count % 8);
    for (int32_t i = 0; i < frame->instances->count; i++)
        v->sum += frame->instances->items[i].box[0];
    v->count++;
    return SK_OK;
}

static const sk_result_frame *journal_frame(int i)
{
    static sk_result_frame frame;
    frame = *frame_number(i % 8);
    frame.index = i;
    return &frame;
}

static void journal_survives_any_cut(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", true, &journal, &other, &err), &err);
    for (int i = 0; i < 20; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    sk_journal_close(&journal);
    FILE *file = fopen(path, "rb");
    static char whole[1 << 16];
    size_t length = fread(whole, 1, sizeof whole, file);
    fclose(file);
    int64_t last = 0;
    for (size_t cut = 49; cut <= length;
         cut += cut + 40 < length ? 7 : 1) { /* 8 magic, 32 stamp, 4 length, 5 fingerprint */
        file = fopen(path, "wb");
        fwrite(whole, 1, cut, file);
        fclose(file);
        assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
        int64_t count = sk_journal_count(journal);
        assert_true(count >= last && count <= 20);
        last = count;
        visited v = {0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count);
        /* and goes on from there */
        assert_ok(sk_journal_append(journal, journal_frame((int)count), &err), &err);
        v = (visited){0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count + 1);
        sk_journal_close(&journal);
    }
    assert_int_equal(last, 20);
}

static void journal_knows_its_run(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal2", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    assert_ok(sk_journal_finish(journal, &err), &err);
    sk_journal_close(&journal);
    assert_int_equal(sk_journal_open(path, "run B", "now", false, &journal, &other, &err), SK_ERR_MISMATCH);
    assert_string_equal(other, "run A"); /* what it is, for whoever says what differs */
    sk_free(other);
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    assert_true(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 5);
    assert_ok(sk_journal_truncate(journal, 3, &err), &err);
    assert_false(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 3);
    sk_journal_close(&journal);
    assert_ok(sk_journal_open(path, "run B", "now", true, &journal, &other, &err), &err);
    assert_int_equal(sk_journal_count(journal), 0);
    sk_journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journal_survives_any_cut),
        cmocka_unit_test(journal_knows_its_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
