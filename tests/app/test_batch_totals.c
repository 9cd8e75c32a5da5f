/* SPDX-License-Identifier: Apache-2.0 */
/* The table and the page of a batch, row by row: sums, speeds of nothing, parts that are told as their video, names in addresses. */
#include "batch_fixture.h"

static char csv[8192], html[16384];

static void read_into(const char *path, char *out, size_t capacity)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    assert_true(length < capacity);
    memcpy(out, text, length + 1);
    sk_free(text);
}

static void tell(sk_batch *b)
{
    char path[SK_BATCH_PATH];
    assert_ok(sk_batch_summary(b, &err), &err);
    snprintf(path, sizeof path, "%.4000s/summary.csv", b->out);
    read_into(path, csv, sizeof csv);
    snprintf(path, sizeof path, "%.4000s/summary.html", b->out);
    read_into(path, html, sizeof html);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in %s", part, text);
}

static void done(sk_batch *b, int64_t number, sk_batch_outcome outcome, int64_t frames, int64_t tracks,
                 double seconds, const char *reason)
{
    sk_batch_done e = {.attempt = 1,
                       .outcome = outcome,
                       .frames = frames,
                       .instances = 2 * frames,
                       .tracks = tracks,
                       .seconds = seconds,
                       .host = "here"};
    snprintf(e.reason, sizeof e.reason, "%s", reason);
    assert_ok(sk_batch_end_put(b, number, &e, true, &err), &err);
}

/* A piece as the batch has it, to be made another. */
static sk_batch_piece *piece_of(sk_batch *b, int64_t number)
{
    return (sk_batch_piece *)(uintptr_t)sk_batch_piece_of(b, number, &err);
}

static void name_it(sk_batch *b, int64_t number, const char *name)
{
    sk_batch_piece *p = piece_of(b, number);
    sk_free(p->name);
    p->name = sk_strdup(name);
}

static void sums(void **state)
{
    (void)state;
    static const char *const videos[] = {"a.mp4", "b.mp4", "c.mp4"};
    sk_batch *b = begin("sums", videos, 3, 1, 1);
    tell(b);
    has(html,
        "<p><b>0 of 3 videos done</b>: 0 frames, 0 instances, 0 tracks, 0.0 s of computing, 0.0 frames/s a "
        "worker. As of 2");
    has(csv, "\na,a.mp4,waiting,,,,,,1,0,0,,\nb,");
    done(b, 0, SK_BATCH_FINISHED, 10, 0, 0, "");
    tell(b); /* in no time at all */
    has(html, "<b>1 of 3 videos done</b>: 10 frames, 20 instances, 0 tracks, 0.0 s of computing, 0.0 "
              "frames/s a worker");
    has(html, "<td>finished</td><td class=\"n\">10</td><td class=\"n\">20</td><td class=\"n\">0</td><td "
              "class=\"n\">0.0</td><td class=\"n\">0.0</td><td class=\"n\">1</td><td></td></tr>");
    has(csv, "\na,a.mp4,finished,10,20,0,0,,1,1,0,here,\n");
    done(b, 1, SK_BATCH_FINISHED, 10, -1, 0.5, "");
    tell(b);
    has(html, "<b>2 of 3 videos done</b>: 20 frames, 40 instances, 0 tracks, 0.5 s of computing, 40.0 "
              "frames/s a worker");
    has(html,
        "<td class=\"n\">20</td><td class=\"n\"></td><td class=\"n\">0.5</td><td class=\"n\">20.0</td>");
    has(csv, "\nb,b.mp4,finished,10,20,,0.5,20,1,1,0,here,\n");
    done(b, 2, SK_BATCH_INCOMPLETE, 6, 1, 3.5, "cut, \"off\"");
    tell(b);
    has(html, "<b>3 of 3 videos done</b>, some of them cut off: 26 frames, 52 instances, 1 tracks, 4.0 s of "
              "computing, 6.5 frames/s a worker");
    has(html, "<td class=\"some\">incomplete</td>");
    has(csv, "\nc,c.mp4,incomplete,6,12,1,3.5,1.71429,1,1,0,here,\"cut, \"\"off\"\"\"\n");
    sk_batch_close(&b);
}

/* A video in two parts and their merge is one row: its numbers, the time and the attempts of all. */
static void parts(void **state)
{
    (void)state;
    static const char *const videos[] = {"x.mp4", "a.mp4", "b.mp4", "c.mp4"};
    char path[SK_BATCH_PATH];
    sk_batch *b = begin("parts", videos, 4, 1, 1);
    for (int64_t i = 1; i < 4; i++) {
        piece_of(b, i)->kind = i < 3 ? SK_BATCH_PART : SK_BATCH_MERGE;
        piece_of(b, i)->parts = i == 1 ? 2 : i == 2 ? 1 : 2;
    }
    done(b, 0, SK_BATCH_FINISHED, 1, -1, 100, "");
    tell(b);
    has(csv, "\nx,x.mp4,finished,1,2,,100,0.01,1,1,0,here,\nc,c.mp4,waiting for its parts,,,,,,2,0,0,,\n");
    assert_null(strstr(csv, "a.mp4"));
    assert_null(strstr(csv, "b.mp4"));
    const sk_batch_done fell = {
        .attempt = 1, .outcome = SK_BATCH_FAILED, .round = b->round, .tracks = -1, .reason = "it fell"};
    put(sk_batch_file(b, 1, 1, "claim", path), "{}");
    assert_ok(sk_batch_end_put(b, 1, &fell, false, &err), &err);
    tell(b);
    has(csv, "\nc,c.mp4,waiting for its parts,,,,,,2,1,1,,it fell\n");
    done(b, 1, SK_BATCH_FINISHED, 5, -1, 1, "");
    done(b, 2, SK_BATCH_FINISHED, 5, -1, 2, "");
    done(b, 3, SK_BATCH_FINISHED, 10, 4, 1, "");
    tell(b);
    has(csv, "\nc,c.mp4,finished,10,20,4,4,2.5,2,3,1,here,it fell\n");
    has(html,
        "<b>2 of 2 videos done</b>: 11 frames, 22 instances, 4 tracks, 104.0 s of computing, 0.1 frames/s");
    sk_batch_close(&b);
}

static void names(void **state)
{
    (void)state;
    static const char *const videos[] = {"a.mp4", "b.mp4"};
    sk_batch *b = begin("names", videos, 2, 1, 1);
    name_it(b, 0, "azAZ09-_.@[`{/:+~\xc3\xa9");
    done(b, 0, SK_BATCH_FINISHED, 1, 1, 1, "");
    tell(b);
    has(html, "<tr><td><a "
              "href=\"azAZ09-_.%40%5B%60%7B%2F%3A%2B%7E%C3%A9/\">azAZ09-_.@[`{/:+~\xc3\xa9</a></td><td>fini");
    has(html, "<tr><td>b</td><td class=\"some\">waiting</td><td></td><td></td><td></td><td></td><td></td><td "
              "class=\"n\">0</td><td></td></tr>\n</table></body></html>\n");
    static const struct {
        const char *name, *field;
    } fields[] = {{"a b", "\na b,"},       {"a,b", "\n\"a,b\","},   {"a\"b", "\n\"a\"\"b\","},
                  {"a\nb", "\n\"a\nb\","}, {"a\rb", "\n\"a\rb\","}, {"", "\n,b.mp4,"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        name_it(b, 1, fields[i].name);
        tell(b);
        has(csv, fields[i].field);
    }
    sk_claim claim; /* somebody is at it */
    char path[SK_BATCH_PATH];
    assert_ok(sk_claim_take(sk_batch_file(b, 1, 1, "claim", path), b->round, &claim, &err), &err);
    tell(b);
    has(csv, "\n,b.mp4,running,,,,,,1,1,0,,\n");
    has(html, "<td class=\"some\">running</td>");
    sk_claim_close(&claim);
    sk_batch_close(&b);
}

/* Where the page cannot be put, that is told; the table that cannot be does not come to be. */
static void no_place(void **state)
{
    (void)state;
    static const char *const videos[] = {"a.mp4"};
    sk_batch *b = begin("blocked", videos, 1, 1, 1);
    assert_ok(sk_folder_make("blocked/summary.html/x", &err), &err);
    assert_int_not_equal(sk_batch_summary(b, &err), SK_OK);
    has(err.message, "summary.html");
    assert_true(sk_file_size("blocked/summary.csv") > 10);
    assert_ok(sk_folder_make("blocked/.batch/pieces/0000/list.d", &err), &err);
    sk_batch_close(&b);
    b = begin("torn", videos, 1, 1, 1);
    sk_batch_close(&b);
    assert_ok(sk_batch_open("torn", &b, &err), &err);
    put("torn/.batch/pieces/0000/list", "{");
    assert_int_equal(sk_batch_summary(b, &err), SK_ERR_FORMAT);
    assert_false(sk_file_exists("torn/summary.csv") || sk_file_exists("torn/summary.html"));
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(parts),
                                       cmocka_unit_test(names), cmocka_unit_test(no_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
