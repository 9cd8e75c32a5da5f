/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of several sources, what each of them is asked for, and which ends all. Runs are stand-ins. */
#include "support/fault.h"
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/predict_many.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

/* --- stand-ins --- */

typedef struct run {
    sk_status status;
    int64_t frames, total, instances, missing;
    double seconds;
    bool stopped;
} run;

static char listed[64]; /* what a source that is a list of pictures says */

static run runs[4];
static int n_runs;
static sk_text asked;

sk_status sk_predict_run(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *e)
{
    const run *r = &runs[n_runs++];
    (void)watch;
    (void)context;
    const char *ending = strrchr(settings->source, '.');
    if (ending && strcmp(ending, ".txt") == 0) {
        char *text = NULL;
        size_t length = 0;
        assert_ok(sk_file_read(settings->source, sizeof listed - 1, &text, &length, e), e);
        snprintf(listed, sizeof listed, "%s", text);
        sk_free(text);
    }
    sk_text_appendf(&asked, "%s > %s%s\n", settings->source, settings->out ? settings->out : "-",
                    settings->goes_on ? " goes on" : "");
    *report = (sk_predict_report){.frames = r->frames,
                                  .total_frames = r->total,
                                  .instances = r->instances,
                                  .missing = r->missing,
                                  .seconds = r->seconds,
                                  .stopped = r->stopped};
    return r->status == SK_OK ? SK_OK : sk_fail(e, r->status, "run %d", n_runs);
}

static char network[4300];

/* --- sources --- */

static char names[4][4] = {"a", "b", "c", "d"}, sources[4][8] = {"a.mp4", "b.mp4", "c.mp4", "d.mp4"};
static sk_source_item items[4];
static sk_text watched;

static void begins(void *context, const sk_predict_item *item)
{
    assert_ptr_equal(context, &err);
    sk_text_appendf(&watched, "%zu/%zu %s > %s:", item->number, item->count, item->source,
                    item->out ? item->out : "-");
    assert_true(item->status == SK_OK && item->report.total_frames == 0 && !item->error.message[0]);
}

static void ends(void *context, const sk_predict_item *item)
{
    assert_ptr_equal(context, &err);
    sk_text_appendf(&watched, " %d %lld %s\n", item->status == SK_OK, (long long)item->report.total_frames,
                    item->error.message);
}

static sk_predict_many_report many(const char *out, size_t count, bool in_folders)
{
    static const sk_predict_many_watch watch = {.begin = begins, .end = ends, .context = &err};
    const sk_predict_settings s = {.out = out, .n_models = 2, .models = {network, network}};
    sk_predict_many_report r = {.done = 7, .failed = 7, .incomplete = 7, .stopped = true};
    for (int i = 0; i < 4; i++)
        items[i] = (sk_source_item){.source = sources[i], .name = names[i]};
    const sk_source_list list = {.items = items, .count = count, .many = in_folders};
    n_runs = 0;
    sk_text_clear(&asked);
    sk_text_clear(&watched);
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_int_equal(r.sources, count);
    return r;
}

static void counts(void **state)
{
    (void)state;
    static const struct {
        run one;
        size_t done, failed, incomplete;
        bool stopped;
    } rows[] = {{{.total = 5}, 1, 0, 0, false},
                {{.missing = 1}, 0, 0, 1, false},
                {{.stopped = true}, 0, 0, 0, true},
                {{.stopped = true, .missing = 2}, 0, 0, 1, true},
                {{.status = SK_ERR_IO}, 0, 1, 0, false},
                {{.status = SK_ERR_IO, .missing = 3}, 0, 1, 0, false},
                {{.status = SK_ERR_IO, .stopped = true}, 0, 1, 0, true},
                {{.status = SK_ERR_CANCELLED}, 0, 1, 0, true},
                {{.status = SK_ERR_MEMORY}, 0, 1, 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(runs, 0, sizeof runs);
        runs[0] = rows[i].one;
        const sk_predict_many_report one = many("o", 1, false);
        if (one.done != rows[i].done || one.failed != rows[i].failed ||
            one.incomplete != rows[i].incomplete || one.stopped != rows[i].stopped)
            fail_msg("row %zu: %zu %zu %zu %d", i, one.done, one.failed, one.incomplete, one.stopped);
        /* those behind it go on, unless all are to end */
        const sk_predict_many_report three = many("o", 3, true);
        assert_int_equal(n_runs, rows[i].stopped ? 1 : 3);
        assert_true(three.done == rows[i].done + (rows[i].stopped ? 0 : 2) &&
                    three.failed == rows[i].failed && three.incomplete == rows[i].incomplete &&
                    three.stopped == rows[i].stopped);
    }
    const sk_predict_many_report none = many("o", 0, true);
    assert_true(n_runs == 0 && none.done == 0 && none.failed == 0 && none.incomplete == 0 && !none.stopped);
}

static void sums_and_places(void **state)
{
    (void)state;
    memset(runs, 0, sizeof runs);
    runs[0] = (run){.frames = 1, .total = 10, .instances = 100, .seconds = 0.5};
    runs[1] = (run){.status = SK_ERR_IO, .frames = 2, .total = 20, .instances = 200, .seconds = 0.25};
    runs[2] = (run){.frames = 3, .total = 30, .instances = 300, .seconds = 2, .missing = 4};
    sk_predict_many_report r = many("o", 3, true);
    assert_true(r.frames == 60 && r.instances == 600 && r.seconds == 2.75);
    assert_true(r.done == 1 && r.failed == 1 && r.incomplete == 1 && !r.stopped);
    assert_string_equal(sk_text_get(&asked), "a.mp4 > o/a\nb.mp4 > o/b\nc.mp4 > o/c\n");
    assert_string_equal(sk_text_get(&watched), "0/3 a.mp4 > o/a: 1 10 \n1/3 b.mp4 > o/b: 0 20 run 2\n"
                                               "2/3 c.mp4 > o/c: 1 30 \n");
    r = many("o", 1, true); /* of several one was found: it has a folder still */
    assert_string_equal(sk_text_get(&asked), "a.mp4 > o/a\n");
    r = many("o", 1, false);
    assert_string_equal(sk_text_get(&asked), "a.mp4 > o\n");
    r = many(NULL, 3, true); /* standard output: behind the first no head */
    assert_string_equal(sk_text_get(&asked), "a.mp4 > -\nb.mp4 > - goes on\nc.mp4 > - goes on\n");
    assert_int_equal(r.frames, 60);
    /* a link or a file where a folder belongs */
    assert_ok(sk_folder_make("o", &err), &err);
    assert_int_equal(symlink(".", "o/b"), 0);
    r = many("o", 3, true);
    assert_true(r.failed == 2 && r.done == 1 && n_runs == 2 && r.frames == 30);
    assert_string_equal(sk_text_get(&watched),
                        "0/3 a.mp4 > o/a: 1 10 \n1/3 b.mp4 > o/b: 0 0 o/b: is no folder, where the source's "
                        "results belong; remove it\n2/3 c.mp4 > o/c: 0 20 run 2\n");
    assert_int_equal(unlink("o/b"), 0);
}

/* Pictures by their names, without a folder: the list of them lies aside while they are looked at, and nothing of it stays. */
static void pictures_without_a_folder(void **state)
{
    (void)state;
    char first[] = "p/1.png", second[] = "p/0.png", name[] = "pictures", *pictures[] = {first, second};
    const sk_predict_many_watch nobody = {0};
    for (int i = 0; i < 2; i++) {
        sk_source_item item = {.name = name};
        const sk_source_list list = {.items = &item, .count = 1, .pictures = pictures, .n_pictures = 2};
        const sk_predict_settings s = {.out = i ? "kept" : NULL, .n_models = 1, .models = {network}};
        sk_predict_many_report r;
        memset(runs, 0, sizeof runs);
        n_runs = 0;
        sk_text_clear(&asked);
        listed[0] = '\0';
        assert_ok(sk_folder_make("kept", &err), &err);
        assert_ok(sk_predict_many(&s, &list, &nobody, &r, &err), &err);
        assert_int_equal(n_runs, 1);
        assert_string_equal(listed, "p/1.png\np/0.png\n");
        char *path = sk_strdup(sk_text_get(&asked));
        *strstr(path, " > ") = '\0';
        assert_int_equal(sk_file_exists(path), i); /* beside the results it stays */
        sk_free(path);
    }
}

/* Of several sources models are opened before the first; of one by its run. */
static void models_first(void **state)
{
    (void)state;
    const sk_predict_many_watch nobody = {0};
    memset(runs, 0, sizeof runs);
    for (int which = 0; which < 3; which++) /* neither, the first, the second is not there */
        for (size_t count = 1; count < 3; count++) {
            const sk_source_list list = {.items = items, .count = count, .many = true};
            const sk_predict_settings s = {
                .out = "o",
                .n_models = 2,
                .models = {which == 1 ? "absent.pt" : network, which == 2 ? "absent.pt" : network}};
            const bool refused = count > 1 && which > 0;
            sk_predict_many_report r;
            n_runs = 0;
            assert_int_equal(sk_predict_many(&s, &list, &nobody, &r, &err),
                             refused ? SK_ERR_NOT_FOUND : SK_OK);
            assert_true(n_runs == (refused ? 0 : (int)count) && r.sources == count);
            if (refused)
                assert_non_null(strstr(err.message, "absent.pt"));
        }
}

static sk_status run_two(void *context, sk_error *e)
{
    const sk_predict_many_watch nobody = {0};
    const sk_predict_settings s = {.out = "o", .n_models = 1, .models = {network}};
    const sk_source_list list = {.items = items, .count = 2, .many = true};
    sk_predict_many_report r;
    (void)context;
    n_runs = 0;
    asked.length = 0;
    return sk_predict_many(&s, &list, &nobody, &r, e);
}

static sk_status fresh(void *context, sk_error *e)
{
    char *out = NULL;
    const sk_status status = sk_predict_fresh_folder(context, &out, e);
    assert_int_equal(out != NULL, status == SK_OK);
    if (out)
        assert_int_equal(rmdir(out), 0);
    sk_free(out);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    char command[] = "track";
    memset(runs, 0, sizeof runs);
    assert_true(test_every_allocation(run_two, NULL) >= 3);
    assert_true(test_every_allocation(fresh, command) >= 1);
    sk_text_free(&asked);
    sk_text_free(&watched);
}

static void fresh_folders(void **state)
{
    (void)state;
    static const char *const wanted[] = {"runs/predict1", "runs/predict2", "runs/predict3", "runs/predict2"};
    for (int i = 0; i < 4; i++) {
        char *out = NULL;
        if (i == 3)
            assert_int_equal(rmdir("runs/predict2"), 0);
        assert_ok(sk_predict_fresh_folder("predict", &out, &err), &err);
        assert_string_equal(out, wanted[i]);
        assert_true(sk_file_is_directory(out));
        sk_free(out);
    }
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),        cmocka_unit_test(sums_and_places),
        cmocka_unit_test(models_first),  cmocka_unit_test(pictures_without_a_folder),
        cmocka_unit_test(fresh_folders), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
