/* SPDX-License-Identifier: Apache-2.0 */
/* Every format with every kind of run, byte for byte, what is read back from each, and what the readers say of many texts, good
 * and bad. */
#include "base/file.h"
#include "base/memory.h"
#include "results/journal.h"
#include "results/jsonl_line.h"
#include "results/label_rows.h"
#include "results/result_reader.h"
#include "results/sink.h"
#include "support/h5_writer.h"
#include "support/recorded.h"
#include "support/test.h"

#include "runs.h"
#include "set_said.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- files --- */

static char *replaced(const char *text)
{
    static char out[1 << 14];
    const char *folder = test_folder(), *at;
    size_t n = 0;
    for (; (at = strstr(text, folder)) && n + 2 < sizeof out; text = at + strlen(folder))
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s~", (int)(at - text), text);
    snprintf(out + n, sizeof out - n, "%s", text);
    return out;
}

static void say_lines(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        recorded_say("  %.*s", (int)(length < 3000 ? length : 3000), text);
        text += length + (text[length] == '\n');
    }
}

static void say_file(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    if (sk_file_read(path, 1 << 22, &text, &length, &err) != SK_OK) {
        recorded_say("  no %s", replaced(path));
        return;
    }
    if (strlen(text) == length)
        say_lines(text);
    sk_free(text);
}

static void say_folder(const char *path)
{
    struct dirent **list;
    const int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char file[4800];
        snprintf(file, sizeof file, "%.4500s/%s", path, list[i]->d_name);
        if (list[i]->d_name[0] != '.') {
            recorded_say(" %s", list[i]->d_name);
            say_file(file);
        }
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void say_read_back(const char *path)
{
    sk_error err = {0};
    sk_annotation_set set;
    if (sk_annotations_read(path, &set, &err) != SK_OK) {
        recorded_say(" not read: %s", replaced(err.message));
        return;
    }
    sk_text text = {0};
    say_set(&set, &text);
    recorded_say(" read:");
    say_lines(sk_text_get(&text));
    sk_text_free(&text);
    sk_annotations_free(&set);
}

static void write_run(const run *r, const sk_sink_kind *kind, const char *folder)
{
    sk_error err = {0};
    sk_run_header h = header_of(r);
    sk_sink *sink = NULL;
    char path[4400], line[2048];
    snprintf(path, sizeof path, "%s/%s", folder, kind->file);
    recorded_say("%s as %s: %s", r->name, kind->name, kind->file);
    if (kind->open(path, &h, &sink, &err) != SK_OK) {
        recorded_say(" not: %s", replaced(err.message));
        return;
    }
    sk_status status = SK_OK;
    for (int i = 0; i < FRAMES && status == SK_OK; i++) {
        assert_true(sk_run_header_fits(&h, frame_of(r, i)) || r->classes < 2 || r->identities);
        status = sink->write(sink, frame_of(r, i), &err);
        if (status == SK_OK && i == 2)
            status = sink->flush(sink, &err);
    }
    if (status != SK_OK)
        recorded_say(" failed: %s", replaced(err.message));
    const sk_status closed = sink->close(sink, &err);
    if (closed != SK_OK)
        recorded_say(" not closed: %s", replaced(err.message));
    recorded_say(" %s", sk_run_header_line(&h, line, sizeof line));
    if (kind->file[strlen(kind->file) - 1] == '/')
        say_folder(path);
    else
        say_file(path);
    if (kind->beside) {
        snprintf(path, sizeof path, "%s/%s", folder, kind->beside);
        say_file(path);
        say_read_back(path);
        snprintf(path, sizeof path, "%s/%s", folder, kind->file);
    }
    say_read_back(path);
}

static void every_format_of_every_run(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        for (int of_tracks = 0; of_tracks < 2; of_tracks++)
            for (const sk_sink_kind *const *kind = of_tracks ? sk_sink_track_kinds : sk_sink_kinds; *kind;
                 kind++) {
                char folder[4200];
                sk_error err = {0};
                if (of_tracks && !runs[r].tracked)
                    continue;
                snprintf(folder, sizeof folder, "%s/%zu-%s", test_folder(), r, (*kind)->name);
                assert_ok(sk_folder_make(folder, &err), &err);
                const long long before = h5_open_things();
                write_run(&runs[r], *kind, folder);
                assert_int_equal(h5_open_things(), before);
            }
    recorded_check("tests/fixtures/results/recorded/written.txt");
}

/* --- frames that are read again --- */

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    say_frame(frame, context);
    return SK_OK;
}

static void say_reader(sk_result_reader *reader)
{
    sk_error err = {0};
    sk_text text = {0};
    assert_ok(sk_result_reader_refresh(reader, &err), &err);
    recorded_say(" %lld entries, round %lld%s", (long long)sk_result_reader_count(reader),
                 (long long)sk_result_reader_round(reader),
                 sk_result_reader_finished(reader) ? ", finished" : "");
    for (int64_t i = 0; i < sk_result_reader_count(reader); i++) {
        sk_result_frame frame;
        assert_ok(sk_result_reader_read(reader, i, &frame, &err), &err);
        assert_int_equal(frame.index, sk_result_reader_number(reader, i));
        say_frame(&frame, &text);
    }
    for (int64_t frame = 0; frame < 10; frame++)
        sk_text_appendf(&text, "%lld ", (long long)sk_result_reader_find(reader, frame));
    say_lines(sk_text_get(&text));
    sk_text_free(&text);
}

static void frames_are_read_again(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        sk_error err = {0};
        char path[4400], stamp[SK_JOURNAL_STAMP], *other = NULL;
        sk_journal *journal = NULL;
        sk_result_reader *reader = NULL;
        sk_text text = {0};
        snprintf(path, sizeof path, "%s/journal-%zu", test_folder(), r);
        recorded_say("%s", runs[r].name);
        assert_ok(sk_journal_open(path, "all that counts", "began", false, &journal, &other, &err), &err);
        for (int i = 0; i < FRAMES; i++) {
            sk_result_frame frame = *frame_of(&runs[r], i);
            static uint8_t looks[MOST * SK_TRACK_LOOKS];
            for (size_t k = 0; k < sizeof looks; k++)
                looks[k] = (uint8_t)(3 * k + (size_t)i);
            frame.sightings = NULL;
            frame.looks = i == 2 ? looks : NULL;
            frame.picture = i == 3 ? 99 : 0;
            frame.frame_id = i == 1 ? "lens" : NULL;
            frame.problem = i == 4 ? "torn" : NULL;
            assert_ok(sk_journal_append(journal, &frame, &err), &err);
        }
        assert_ok(sk_journal_flush(journal, r % 2, &err), &err);
        recorded_say(" %lld entries to %lld, %s, bytes %lld%s", (long long)sk_journal_count(journal),
                     (long long)sk_journal_last_index(journal), sk_journal_stamp(journal),
                     (long long)sk_file_size(path), sk_journal_finished(journal) ? ", finished" : "");
        assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
        say_reader(reader);
        assert_ok(sk_journal_truncate(journal, 3, &err), &err);
        assert_ok(sk_journal_replay(journal, visit, &text, &err), &err);
        say_lines(sk_text_get(&text));
        sk_text_free(&text);
        assert_ok(sk_journal_finish(journal, &err), &err);
        recorded_say(" %lld entries to %lld%s", (long long)sk_journal_count(journal),
                     (long long)sk_journal_last_index(journal),
                     sk_journal_finished(journal) ? ", finished" : "");
        const uint64_t id = sk_journal_id(journal);
        sk_journal_close(&journal);
        say_reader(reader);
        sk_result_reader_close(&reader);
        assert_true(sk_journal_is_one(path) && sk_journal_is_finished(path) &&
                    sk_journal_glance(path, stamp));
        assert_string_equal(stamp, "began");
        assert_int_equal(sk_journal_open(path, "something else", "later", false, &journal, &other, &err),
                         SK_ERR_MISMATCH);
        assert_string_equal(other, "all that counts");
        sk_free(other);
        other = NULL;
        assert_ok(sk_journal_open(path, "all that counts", "later", false, &journal, &other, &err), &err);
        assert_true(sk_journal_id(journal) == id && sk_journal_count(journal) == 3);
        assert_string_equal(sk_journal_stamp(journal), "began");
        sk_journal_close(&journal);
        assert_ok(sk_journal_open(path, "all that counts", "later", true, &journal, &other, &err), &err);
        assert_true(sk_journal_id(journal) != id && sk_journal_count(journal) == 0 &&
                    sk_journal_last_index(journal) == -1);
        sk_journal_close(&journal);
        /* the lines of results.jsonl, also while they come */
        snprintf(path, sizeof path, "%s/lines-%zu.jsonl", test_folder(), r);
        const sk_run_header h = header_of(&runs[r]);
        sk_sink *sink = NULL;
        assert_ok(sk_sink_find("jsonl")->open(path, &h, &sink, &err), &err);
        for (int i = 0; i < FRAMES; i++) {
            assert_ok(sink->write(sink, frame_of(&runs[r], i), &err), &err);
            assert_ok(sink->flush(sink, &err), &err);
            if (i == 1)
                assert_ok(sk_result_reader_open_jsonl(path, runs[r].keypoints, &reader, &err), &err);
            if (i == 2)
                say_reader(reader);
        }
        assert_ok(sink->close(sink, &err), &err);
        say_reader(reader);
        sk_result_reader_close(&reader);
    }
    recorded_check("tests/fixtures/results/recorded/frames.txt");
}

/* --- what readers say --- */

static sk_text said;

static const char *say_parsed(const unsigned char *bytes, size_t length)
{
    sk_annotation_set set;
    sk_error err = {0};
    sk_text_free(&said);
    said = (sk_text){0};
    if (sk_annotations_parse("in", bytes, length, &set, &err) != SK_OK) {
        sk_text_appendf(&said, "%s: %s", sk_status_text(err.code), recorded_own_words(err.message));
    } else {
        sk_text_append(&said, "ok ");
        say_set(&set, &said);
        sk_annotations_free(&set);
    }
    return sk_text_get(&said);
}

static const char *say_label_rows(const unsigned char *bytes, size_t length)
{
    sk_error err = {0};
    sk_annotation_set set = {0};
    sk_label_rows rows = {0};
    sk_label_form form = {0};
    int32_t source, image;
    sk_text_free(&said);
    said = (sk_text){0};
    if (!length)
        return "nothing";
    char *text = sk_strndup((const char *)bytes + 1, length - 1);
    const int known = bytes[0];
    if (known >= 128) {
        sk_annotation_reading how = {.split = "a split that no file has"};
        (void)!sk_annotations_read_data_yaml("in", text, length - 1, &how, &set, &err);
        sk_text_appendf(&said, "%s", recorded_own_words(err.message));
    } else if (sk_annotations_begin(&set, "label text", &err) == SK_OK &&
               sk_annotations_source(&set, "a", 1, &source, &err) == SK_OK &&
               sk_annotations_image(&set, source, -1, -1, &image, &err) == SK_OK) {
        set.images[image].width = known % 7 == 3 ? 0 : 640;
        set.images[image].height = known % 7 == 3 ? 0 : 480;
        if (sk_label_rows_parse("in", text, length - 1, image, &rows, &err) == SK_OK &&
            sk_label_rows_form("in", &rows, known % 20, known / 20 % 3 == 0 ? 0 : known / 20 % 3 + 1, &form,
                               &err) == SK_OK &&
            sk_label_rows_add(&rows, &form, known & 1, &set, &err) == SK_OK) {
            sk_text_appendf(&said, "ok %d x %d%s%s%s%s ", form.n_keypoints, form.per_keypoint,
                            form.polygon ? " polygons" : "", form.corners ? " corners" : "",
                            form.confidence ? " confidence" : "", form.track ? " track" : "");
            say_set(&set, &said);
        } else {
            sk_text_appendf(&said, "%s: %s", sk_status_text(err.code), recorded_own_words(err.message));
        }
    }
    sk_label_rows_free(&rows);
    sk_annotations_free(&set);
    sk_free(text);
    return sk_text_get(&said);
}

static const char *say_json_lines(const unsigned char *bytes, size_t length)
{
    sk_jsonl_line line = {0};
    const char *at = (const char *)bytes, *end = at + length;
    line.least_keypoints = length & 1 ? 3 : 0;
    sk_text_free(&said);
    said = (sk_text){0};
    sk_text_append(&said, "ok ");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t n = stop ? (size_t)(stop - at) : (size_t)(end - at);
        sk_error err = {0};
        sk_result_frame f;
        if (sk_jsonl_line_read(&line, at, n, "in", &f, &err) == SK_OK)
            say_frame(&f, &said);
        else
            sk_text_appendf(&said, "%s: %s\n", sk_status_text(err.code), recorded_own_words(err.message));
        sk_text_appendf(&said, "number %lld\n", (long long)sk_jsonl_line_number(at, n));
        at += n + 1;
        if (!stop)
            break;
    }
    sk_jsonl_line_free(&line);
    return sk_text_get(&said);
}

static const char *say_journal(const unsigned char *bytes, size_t length)
{
    char path[4400], stamp[SK_JOURNAL_STAMP] = "", *other = NULL;
    sk_error err = {0};
    sk_journal *journal = NULL;
    sk_result_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/replayed", test_folder());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    sk_text_free(&said);
    said = (sk_text){0};
    const bool glanced = sk_journal_glance(path, stamp);
    if (sk_result_reader_open_journal(path, &reader, &err) == SK_OK) {
        sk_text_appendf(&said, "ok %lld%s ", (long long)sk_result_reader_count(reader),
                        sk_result_reader_finished(reader) ? " finished" : "");
        for (int64_t i = 0; i < sk_result_reader_count(reader); i++) {
            sk_result_frame frame;
            if (sk_result_reader_read(reader, i, &frame, &err) == SK_OK)
                say_frame(&frame, &said);
            else
                sk_text_appendf(&said, "%s\n", replaced(err.message));
        }
        sk_result_reader_close(&reader);
    } else {
        sk_text_appendf(&said, "%s\n", replaced(err.message));
    }
    sk_text_appendf(&said, "%d %d %d '%s'\n", sk_journal_is_one(path), sk_journal_is_finished(path), glanced,
                    glanced ? stamp : "");
    const sk_status status = sk_journal_open(path, "a", "now", false, &journal, &other, &err);
    if (status == SK_OK) {
        sk_text_appendf(&said, "open %lld %lld\n", (long long)sk_journal_count(journal),
                        (long long)sk_journal_last_index(journal));
        if (sk_journal_replay(journal, visit, &said, &err) != SK_OK)
            sk_text_appendf(&said, "%s\n", replaced(err.message));
    } else {
        sk_text_appendf(&said, "%s: %s, '%s'\n", sk_status_text(status), replaced(err.message),
                        other ? other : "");
    }
    sk_journal_close(&journal);
    sk_free(other);
    remove(path);
    return sk_text_get(&said);
}

static void seeds_are_read_as_ever(void **state)
{
    (void)state;
    recorded_replay("tests/fixtures/results/recorded/annotations.txt", "fuzz/seeds/annotations", say_parsed);
    recorded_replay("tests/fixtures/results/recorded/labels.txt", "fuzz/seeds/labels", say_label_rows);
    recorded_replay("tests/fixtures/results/recorded/jsonl_line.txt", "fuzz/seeds/jsonl_line",
                    say_json_lines);
    recorded_replay("tests/fixtures/results/recorded/journal.txt", "fuzz/seeds/journal", say_journal);
    sk_text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format_of_every_run),
                                       cmocka_unit_test(frames_are_read_again),
                                       cmocka_unit_test(seeds_are_read_as_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
