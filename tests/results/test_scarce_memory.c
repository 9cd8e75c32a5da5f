/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever allocation fails, writing and reading every format says so, and leaves neither memory nor an open file behind. */
#include "base/file.h"
#include "base/memory.h"
#include "results/annotations.h"
#include "results/journal.h"
#include "results/result_reader.h"
#include "results/sink.h"
#include "results/stems.h"
#include "support/fault.h"
#include "support/test.h"

#include "label_files.h"
#include "runs.h"

#include <dirent.h>

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

typedef struct writing {
    const sk_sink_kind *kind;
    const run *of;
} writing;

static sk_status write_run(void *context, sk_error *err)
{
    const writing *w = context;
    sk_run_header h = header_of(w->of);
    sk_sink *sink = NULL;
    char path[4400];
    h.tracked = true;
    snprintf(path, sizeof path, "%s/scarce-%s", test_folder(), w->kind->name);
    SK_TRY(w->kind->open(path, &h, &sink, err));
    sk_status status = SK_OK;
    for (int i = 0; i < FRAMES && status == SK_OK; i++) {
        sk_result_frame frame = *frame_of(w->of, i);
        sk_sighting seen[MOST] = {{0}};
        for (int32_t k = 0; k < frame.instances->count; k++)
            seen[k].track = seen[k].place = k;
        frame.sightings = seen;
        status = sink->write(sink, &frame, err);
    }
    const sk_status closed = sink->close(sink, status == SK_OK ? err : NULL);
    return status == SK_OK ? closed : status;
}

/* Those of libraries with memory of their own say in another way that something is missing (results_hdf5_laid_out). */
static void every_format_is_written(void **state)
{
    (void)state;
    static const char *const texts[] = {"csv", "jsonl",  "coco",  "labels", "labels-conf",
                                        "mot", "tracks", "final", "raw"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int of = 2; of < 5; of += 2) { /* pictures, tracks */
            writing w = {sk_sink_find(texts[i]), &runs[of]};
            const int before = open_files();
            assert_true(test_every_allocation(write_run, &w) > 2);
            assert_int_equal(open_files(), before);
            test_leaves_nothing(write_run, &w);
        }
}

static sk_status read_set(void *context, sk_error *err)
{
    sk_annotation_set set;
    SK_TRY(sk_annotations_read(context, &set, err));
    sk_annotations_free(&set);
    return SK_OK;
}

static void every_kind_of_file_is_read(void **state)
{
    (void)state;
    const char *made = make_set("scarce", "0 0.5 0.5 0.5 0.5\n1 0.25 0.25 0.5 0.5\n");
    char folder[4300], path[4400];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s", made);
    write_text(in(folder, "data.yaml"), "path: .\nval: [images/val, list.txt]\nnames: {0: cat, 1: 12}\n");
    write_text(in(folder, "list.txt"), "./images/val/a.png\n");
    assert_ok(sk_folder_make(in(folder, "by/val/cat"), &err), &err);
    write_picture(in(folder, "by/val/cat/1.png"), 8, 8);
    write_text(in(folder, "gt.txt"), "1,1,2,3,4,5,1,1,1\n2,1,2,3,4,5,1,1,1\n");
    write_text(in(folder, "seqinfo.ini"), "seqLength=3\nimWidth=4\nimHeight=5\n");
    static const char *const names[] = {"data.yaml", "labels/val", "by", "gt.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        const int before = open_files();
        assert_true(test_every_allocation(read_set, path) > 3);
        assert_int_equal(open_files(), before);
    }
    static const char *const formats[] = {"csv", "jsonl", "coco", "slp", "analysis", "mot"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const writing w = {sk_sink_find(formats[i]), &runs[4]};
        assert_ok(write_run((void *)(uintptr_t)&w, &err), &err);
        snprintf(path, sizeof path, "%s/scarce-%s", test_folder(), formats[i]);
        const int before = open_files();
        assert_true(test_every_allocation(read_set, path) > 3);
        assert_int_equal(open_files(), before);
        test_leaves_nothing(read_set, path);
    }
}

static sk_status use_journal(void *context, sk_error *err)
{
    (void)context;
    sk_journal *journal = NULL;
    sk_result_reader *reader = NULL;
    sk_result_frame frame;
    char path[4400], *other = NULL;
    snprintf(path, sizeof path, "%s/scarce-journal", test_folder());
    SK_TRY(sk_journal_open(path, "what it is", "now", true, &journal, &other, err));
    sk_status status = SK_OK;
    for (int i = 1; i < FRAMES && status == SK_OK; i++)
        status = sk_journal_append(journal, frame_of(&runs[4], i), err);
    if (status == SK_OK)
        status = sk_journal_finish(journal, err);
    sk_journal_close(&journal);
    sk_free(other);
    SK_TRY(status);
    SK_TRY(sk_result_reader_open_journal(path, &reader, err));
    assert_int_equal(sk_result_reader_count(reader), FRAMES - 1); /* all of them, or none */
    assert_true(sk_result_reader_finished(reader));
    for (int64_t i = 0; i < FRAMES - 1 && status == SK_OK; i++)
        status = sk_result_reader_read(reader, i, &frame, err);
    sk_result_reader_close(&reader);
    return status;
}

static sk_status count_frame(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)frame, (void)err;
    ++*(int *)context;
    return SK_OK;
}

/* What is in a journal is not cut off for want of memory. */
static sk_status continue_journal(void *context, sk_error *err)
{
    sk_journal *journal = NULL;
    char *other = NULL;
    int seen = 0;
    SK_TRY(sk_journal_open(context, "what it is", "now", false, &journal, &other, err));
    assert_int_equal(sk_journal_count(journal), FRAMES - 1);
    assert_int_equal(sk_journal_last_index(journal), frame_of(&runs[4], FRAMES - 1)->index);
    assert_true(sk_journal_finished(journal));
    const sk_status status = sk_journal_replay(journal, count_frame, &seen, err);
    assert_true(seen == FRAMES - 1 || status != SK_OK);
    sk_journal_close(&journal);
    return status;
}

static void journals_are_continued(void **state)
{
    (void)state;
    char path[4400];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/scarce-journal", test_folder());
    assert_ok(use_journal(NULL, &err), &err);
    const int64_t bytes = sk_file_size(path);
    assert_true(test_every_allocation(continue_journal, path) > 5);
    assert_int_equal(sk_file_size(path), bytes);
}

static void journals_are_written_and_read(void **state)
{
    (void)state;
    const int before = open_files();
    assert_true(test_every_allocation(use_journal, NULL) > 5);
    assert_int_equal(open_files(), before);
    test_leaves_nothing(use_journal, NULL);
}

static sk_status name_many(void *context, sk_error *err)
{
    (void)context;
    sk_stems *stems = NULL;
    SK_TRY(sk_stems_open(true, &stems, err));
    sk_status status = SK_OK;
    for (int i = 0; i < 60 && status == SK_OK; i++) { /* more than the first table holds */
        char source[40];
        const char *stem;
        snprintf(source, sizeof source, "f%d/p%d.%s", i % 3, i / 2, i % 2 ? "jpg" : "png");
        status = sk_stems_of(stems, source, i, &stem, err);
        if (status == SK_OK)
            status = sk_stems_of(stems, source, i + 100, &stem, err);
    }
    sk_stems_close(&stems);
    return status;
}

static void names_of_pictures(void **state)
{
    (void)state;
    assert_true(test_every_allocation(name_many, NULL) > 60);
}

/* Each source has a name of its own, the same whenever it is asked for; pages and frames have numbers. */
static void every_source_has_its_own_name(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static char first[MANY][64];
    for (int pictures = 0; pictures < 2; pictures++) {
        sk_error err = {0};
        sk_stems *stems = NULL;
        const char *stem;
        assert_ok(sk_stems_open(pictures, &stems, &err), &err);
        for (int again = 0; again < 2; again++)
            for (int i = 0; i < MANY; i++) { /* f0/p0.png, f0/p0.jpg, f1/p0.png, f1/p0.jpg, … */
                char source[40], wanted[64];
                snprintf(source, sizeof source, "f%d/p%d.%s", i / 2 % 2, i / 4, i % 2 ? "jpg" : "png");
                assert_ok(sk_stems_of(stems, source, 7, &stem, &err), &err);
                snprintf(wanted, sizeof wanted,
                         i % 4 == 0   ? "p%d"
                         : i % 4 == 1 ? "p%d.jpg"
                         : i % 4 == 2 ? "p%d.png"
                                      : "p%d.jpg_2",
                         i / 4);
                if (!pictures)
                    strcat(wanted, "_8");
                assert_string_equal(stem, wanted);
                assert_ok(sk_stems_of(stems, source, 9, &stem, &err), &err);
                if (!pictures)
                    wanted[strlen(wanted) - 2] = '\0';
                strcat(wanted, "_10");
                assert_string_equal(stem, wanted);
                snprintf(first[i], sizeof first[i], "%s", stem);
            }
        for (int i = 0; i < MANY; i += 7)
            for (int k = 0; k < i; k++)
                assert_string_not_equal(first[i], first[k]);
        sk_stems_close(&stems);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_written),
        cmocka_unit_test(every_kind_of_file_is_read),
        cmocka_unit_test(journals_are_written_and_read),
        cmocka_unit_test(journals_are_continued),
        cmocka_unit_test(names_of_pictures),
        cmocka_unit_test(every_source_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
