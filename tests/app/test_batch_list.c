/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a batch: lists of pieces as somebody else may have left them, and what the names beside them say. */
#include "support/test.h"

#include "app/batch_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *folder, const char *name, const char *text)
{
    char path[SK_BATCH_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void paths(void **state)
{
    (void)state;
    static char out[] = "/o";
    const sk_batch b = {.out = out};
    static char name[] = "film";
    const sk_batch_piece piece = {.name = name};
    char path[SK_BATCH_PATH];
    assert_string_equal(sk_batch_path(&b, "batch.json", path), "/o/.batch/batch.json");
    assert_string_equal(sk_batch_file(&b, 12034, 2, "claim", path), "/o/.batch/pieces/0012/0012034.2.claim");
    assert_string_equal(sk_batch_file(&b, 999, 1, "end", path), "/o/.batch/pieces/0000/0000999.1.end");
    assert_string_equal(sk_batch_file(&b, 1000, 0, "done", path), "/o/.batch/pieces/0001/0001000.done");
    assert_string_equal(sk_batch_work_path(&b, 7, 3, path), "/o/.batch/work/0000007.3");
    assert_string_equal(sk_batch_result_path(&b, &piece, path), "/o/film");
}

#define VIDEO(number)                                                                                        \
    "{\"piece\":" number                                                                                     \
    ",\"kind\":\"video\",\"source\":\"a.mp4\",\"name\":\"a\",\"frames\":\"\",\"parts\":0,\"expected\":-1}\n"

/* The second of three pieces: what it must say. */
static void pieces_are_read(void **state)
{
    (void)state;
    char long_name[256], too_long[257];
    memset(long_name, 'n', 255);
    memset(too_long, 'n', 256);
    long_name[255] = too_long[256] = '\0';
    const struct {
        const char *kind, *source, *name;
        int number, parts;
        bool good;
    } rows[] = {{"video", "b.mp4", "b", 1, 0, true},       {"video", "b.mp4", long_name, 1, 9, true},
                {"video", "b.mp4", too_long, 1, 0, false}, {"video", "", "b", 1, 0, false},
                {"video", "b.mp4", "", 1, 0, false},       {"video", "b.mp4", ".b", 1, 0, false},
                {"video", "b.mp4", "..", 1, 0, false},     {"video", "b.mp4", "a/b", 1, 0, false},
                {"video", "b.mp4", "b", 2, 0, false},      {"video", "b.mp4", "b", 0, 0, false},
                {"film", "b.mp4", "b", 1, 0, false},       {"film", "b.mp4", "b", 1, 1, false},
                {"", "b.mp4", "b", 1, 1, false},           {"part", "b.mp4", "b", 1, 0, false},
                {"part", "b.mp4", "b", 1, 1, true},        {"part", "b.mp4", "b", 1, 2, false},
                {"merge", "b.mp4", "b", 1, 0, false},      {"merge", "b.mp4", "b", 1, 1, true},
                {"merge", "b.mp4", "b", 1, 2, false},      {"merge", "", "b", 1, 1, false},
                {"part", "b.mp4", ".b", 1, 1, false}};
    char out[4096], folder[4200];
    snprintf(out, sizeof out, "%s/read", test_folder());
    snprintf(folder, sizeof folder, "%s/.batch/pieces/0000", out);
    assert_ok(sk_folder_make(folder, &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048];
        sk_batch_piece *shards[1] = {NULL};
        sk_batch b = {.out = out, .pieces = 3, .shards = shards};
        snprintf(
            text, sizeof text,
            VIDEO("0") "{\"piece\":%d,\"kind\":\"%s\",\"source\":\"%s\",\"name\":\"%s\",\"frames\":\"0:9\","
                       "\"parts\":%d,\"expected\":7}\n" VIDEO("2"),
            rows[i].number, rows[i].kind, rows[i].source, rows[i].name, rows[i].parts);
        put(folder, "list", text);
        const sk_batch_piece *p = sk_batch_piece_of(&b, 1, &err);
        if (!p != !rows[i].good)
            fail_msg("row %zu: %s", i, p ? "taken" : err.message);
        if (p) {
            assert_string_equal(p->source, rows[i].source);
            assert_string_equal(p->name, rows[i].name);
            assert_string_equal(p->frames, "0:9");
            assert_true(p->number == 1 && p->parts == rows[i].parts && p->frames_expected == 7);
            assert_int_equal(p->kind, *rows[i].kind == 'v'   ? SK_BATCH_VIDEO
                                      : *rows[i].kind == 'p' ? SK_BATCH_PART
                                                             : SK_BATCH_MERGE);
            assert_ptr_equal(sk_batch_piece_of(&b, 2, &err), p + 1);
            assert_null(sk_batch_piece_of(&b, 3, &err));
            assert_string_equal(err.message, "piece 3: there are 3, from 0");
            assert_null(sk_batch_piece_of(&b, -1, &err));
        } else {
            assert_int_equal(err.code, SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "0000/list: line 2 is damaged; begin anew with --restart"));
        }
        batch_shard_free(shards[0]);
    }
    /* a list that ends too early, and one that is no list */
    static const char *const torn[] = {VIDEO("0") VIDEO("1"), VIDEO("0") VIDEO("1") "{\"piece\":2", ""};
    for (int i = 0; i < 3; i++) {
        sk_batch_piece *shards[1] = {NULL};
        sk_batch b = {.out = out, .pieces = 3, .shards = shards};
        put(folder, "list", torn[i]);
        assert_null(sk_batch_piece_of(&b, 0, &err));
        assert_non_null(strstr(err.message, i < 2 ? "line 3 is damaged" : "line 1 is damaged"));
        assert_null(shards[0]);
    }
}

/* What was written is read: two folders of a thousand. */
static void what_is_written_is_read(void **state)
{
    (void)state;
    char out[4096];
    snprintf(out, sizeof out, "%s/written", test_folder());
    sk_batch_piece *shards[2] = {sk_calloc(SK_BATCH_SHARD, sizeof(sk_batch_piece)),
                                 sk_calloc(SK_BATCH_SHARD, sizeof(sk_batch_piece))};
    sk_batch b = {.out = out, .pieces = SK_BATCH_SHARD + 2, .shards = shards};
    for (int64_t i = 0; i < b.pieces; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%lld", (long long)i);
        shards[i / SK_BATCH_SHARD][i % SK_BATCH_SHARD] = (sk_batch_piece){.number = i,
                                                                          .kind = SK_BATCH_VIDEO,
                                                                          .parts = 2,
                                                                          .frames_expected = 3 * i,
                                                                          .source = sk_strdup("\"s\""),
                                                                          .name = sk_strdup(name),
                                                                          .frames = sk_strdup("")};
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(batch_write_shard(&b, i, &err), &err);
        batch_shard_free(shards[i]);
        shards[i] = NULL;
    }
    static const int64_t asked[] = {0, 999, 1000, 1001};
    for (int i = 0; i < 4; i++) {
        const sk_batch_piece *p = sk_batch_piece_of(&b, asked[i], &err);
        char name[32];
        snprintf(name, sizeof name, "n%lld", (long long)asked[i]);
        assert_non_null(p);
        assert_string_equal(p->name, name);
        assert_string_equal(p->source, "\"s\"");
        assert_true(p->number == asked[i] && p->parts == 2 && p->frames_expected == 3 * asked[i]);
    }
    batch_shard_free(shards[0]);
    batch_shard_free(shards[1]);
    assert_null(sk_batch_piece_of(&b, b.pieces, &err));
    /* the thousandth line is told by its number, too */
    char path[SK_BATCH_PATH], *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(sk_batch_path(&b, "pieces/0000/list", path), 1 << 20, &text, &length, &err), &err);
    char *last = strstr(text, "\"piece\":999");
    last[8] = '8';
    assert_ok(sk_file_replace(path, text, length, &err), &err);
    sk_free(text);
    shards[0] = shards[1] = NULL;
    assert_null(sk_batch_piece_of(&b, 5, &err));
    assert_non_null(strstr(err.message, "line 1000 is damaged"));
}

static void names_tell_how_far_pieces_are(void **state)
{
    (void)state;
    char out[4096], folders[2][4200];
    snprintf(out, sizeof out, "%s/seen", test_folder());
    for (int i = 0; i < 2; i++) {
        snprintf(folders[i], sizeof folders[i], "%s/.batch/pieces/%04d", out, i);
        assert_ok(sk_folder_make(folders[i], &err), &err);
    }
    sk_batch b = {.out = out, .pieces = SK_BATCH_SHARD + 2};
    static const char *const names[] = {"list",
                                        "0000001.done",
                                        "0000001.2.claim",
                                        "0000002.1.claim",
                                        "0000003.1.end",
                                        "000004.done",
                                        "0000005.claim",
                                        "0000006.done.x",
                                        "0000007xdone",
                                        "0001000.done",
                                        "0000999.1.claim",
                                        "0000008.1.log",
                                        "0000009.1.claimx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put(folders[0], names[i], "");
    put(folders[1], "0001001.done", "");
    put(folders[1], "0001002.done", ""); /* there is no such piece */
    put(folders[1], "0000010.done", "");
    for (int round = 0; round < 2; round++) {
        assert_ok(sk_batch_refresh(&b, &err), &err);
        for (int64_t i = 0; i < b.pieces; i++) {
            const int want = i == 1 || i == 1001  ? SK_BATCH_SEEN_DONE
                             : i == 2 || i == 999 ? SK_BATCH_SEEN_CLAIM
                                                  : SK_BATCH_SEEN_NOTHING;
            if (b.seen[i] != want)
                fail_msg("piece %lld: %d, not %d", (long long)i, b.seen[i], want);
        }
        assert_true(b.seen_done[0] == 1 && b.seen_done[1] == 1); /* counted once */
    }
    put(folders[1], "0001000.done", "");
    put(folders[0], "0000002.done", "");
    assert_ok(sk_batch_refresh(&b, &err), &err);
    assert_true(b.seen[2] == SK_BATCH_SEEN_DONE && b.seen[1000] == SK_BATCH_SEEN_DONE);
    assert_true(b.seen_done[0] == 2 && b.seen_done[1] == 2);
    batch_remove_tree(folders[1]); /* all of its pieces are done: nobody looks there again */
    assert_false(sk_file_exists(folders[1]));
    assert_ok(sk_batch_refresh(&b, &err), &err);
    batch_remove_tree(folders[0]);
    assert_int_equal(sk_batch_refresh(&b, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "pieces/0000: cannot be listed: "));
    sk_free_all(b.seen, b.seen_done);
}

static void trees_are_removed_and_links_are_not_followed(void **state)
{
    (void)state;
    char tree[4096], inner[4200], outside[4096], link[4300];
    snprintf(tree, sizeof tree, "%s/tree", test_folder());
    snprintf(inner, sizeof inner, "%s/a/b", tree);
    snprintf(outside, sizeof outside, "%s/outside", test_folder());
    snprintf(link, sizeof link, "%s/link", inner);
    assert_ok(sk_folder_make(inner, &err), &err);
    assert_ok(sk_folder_make(outside, &err), &err);
    put(outside, "kept", "x");
    put(inner, "f", "x");
    put(tree, ".hidden", "x");
    assert_int_equal(symlink(outside, link), 0);
    batch_remove_tree(tree);
    assert_false(sk_file_exists(tree));
    char kept[4200];
    snprintf(kept, sizeof kept, "%s/kept", outside);
    assert_true(sk_file_exists(kept));
    batch_remove_tree(tree); /* nothing is there */
}

static void cancelling(void **state)
{
    (void)state;
    char out[4096], folder[4200];
    snprintf(out, sizeof out, "%s/cancelled", test_folder());
    snprintf(folder, sizeof folder, "%s/.batch", out);
    assert_ok(sk_folder_make(folder, &err), &err);
    const sk_batch b = {.out = out};
    assert_false(sk_batch_is_cancelled(&b));
    assert_ok(sk_batch_set_cancelled(&b, false, &err), &err); /* it was not */
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_batch_set_cancelled(&b, true, &err), &err);
        assert_true(sk_batch_is_cancelled(&b));
    }
    assert_ok(sk_batch_set_cancelled(&b, false, &err), &err);
    assert_false(sk_batch_is_cancelled(&b));
    put(folder, "cancelled", "");
    assert_true(sk_batch_is_cancelled(&b));
    snprintf(folder, sizeof folder, "%s/.batch/cancelled", out);
    assert_int_equal(unlink(folder), 0);
    assert_ok(sk_folder_make(folder, &err), &err); /* a folder is no file to remove */
    assert_int_equal(sk_batch_set_cancelled(&b, false, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, ".batch/cancelled: cannot be removed: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(pieces_are_read),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(names_tell_how_far_pieces_are),
        cmocka_unit_test(trees_are_removed_and_links_are_not_followed),
        cmocka_unit_test(cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
