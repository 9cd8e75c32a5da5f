/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/journal.h"
#include "results/jsonl_line.h"
#include "results/result_reader.h"
#include "support/fault.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4300];

static const char *file_called(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static const char *const classes[] = {"mouse", "a \"fly\", é"}, *const points[] = {"nose", "tail"};
static const sk_run_header header = {.version = "0",
                                     .source = "in \\ \"quoted\".mp4",
                                     .source_kind = "video",
                                     .settings = "",
                                     .n_classes = 2,
                                     .class_names = classes,
                                     .n_keypoints = 2,
                                     .keypoint_names = points,
                                     .tracked = true,
                                     .has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS};

/* A frame's animals: the i-th of `n`, of which the second has no keypoints and is covered. */
static sk_found items[3];
static sk_keypoint keypoints[6];
static sk_sighting sightings[3];
static sk_instances list;

static sk_result_frame frame_at(int64_t index, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const float f = (float)index + 0.1234567f * (float)(i + 1);
        items[i] = (sk_found){.has = SK_HAS_BOX | SK_HAS_OBB | (i == 1 ? 0 : SK_HAS_KEYPOINTS),
                              .class_id = i - 1,
                              .score = 1 / (f + 3),
                              .box = {f, 2 * f, 3 * f + 1, 4 * f + 1e-3f},
                              .obb = {f, f / 3, 20, 10, 1.5f},
                              .first_keypoint = 2 * i,
                              .track_id = i * 2,
                              .tracking_score = 0.25f * (float)(i + 1)};
        keypoints[2 * i] = (sk_keypoint){f / 7, f / 11, 0.5f};
        keypoints[2 * i + 1] = (sk_keypoint){i ? f : NAN, i ? f : NAN, 0};
        sightings[i] = (sk_sighting){.frame = index,
                                     .track = i * 2,
                                     .detection = i == 1 ? -1 : i,
                                     .state = i == 1 ? SK_TRACK_COVERED : SK_TRACK_ACTIVE,
                                     .x = (double)f / 3,
                                     .y = (double)f / 7,
                                     .heading = 1.25,
                                     .uncertainty = NAN};
    }
    list =
        (sk_instances){.count = n, .capacity = n, .items = items, .n_keypoints = 2, .keypoints = keypoints};
    return (sk_result_frame){.source = header.source,
                             .index = index,
                             .time = (double)index / 30,
                             .instances = &list,
                             .sightings = sightings};
}

static void write_lines(const char *name, const int64_t *frames, int n)
{
    sk_error err = {0};
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("jsonl")->open(name, &header, &sink, &err), &err);
    for (int i = 0; i < n; i++) {
        const sk_result_frame f = frame_at(frames[i], (int32_t)(frames[i] % 4));
        assert_ok(sink->write(sink, &f, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
}

/* What was read is written as the same bytes. */
static void test_lines_come_back(void **state)
{
    (void)state;
    sk_error err = {0};
    static const int64_t frames[] = {0, 1, 2, 3, 7, 9, 10, 11, 900, 1023};
    sk_result_reader *reader = NULL;
    sk_sink *sink = NULL;
    char again[4400], *one = NULL, *two = NULL;
    size_t n_one, n_two;
    write_lines(file_called("a.jsonl"), frames, 10);
    assert_ok(sk_result_reader_open_jsonl(path, 2, &reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 10);
    snprintf(again, sizeof again, "%s.again", path);
    assert_ok(sk_sink_find("jsonl")->open(again, &header, &sink, &err), &err);
    for (int64_t i = 0; i < 10; i++) {
        sk_result_frame f;
        assert_int_equal(sk_result_reader_number(reader, i), frames[i]);
        assert_int_equal(sk_result_reader_find(reader, frames[i]), i);
        assert_ok(sk_result_reader_read(reader, i, &f, &err), &err);
        assert_true(sk_run_header_fits(&header, &f));
        assert_string_equal(f.source, header.source);
        assert_int_equal(f.instances->count, frames[i] % 4);
        if (f.instances->count > 1) {
            assert_int_equal(f.sightings[1].detection, -1);
            assert_int_equal(f.sightings[1].state, SK_TRACK_COVERED);
            assert_true(isnan(f.sightings[1].score) && f.sightings[0].major > 19);
        }
        assert_ok(sink->write(sink, &f, &err), &err);
    }
    assert_int_equal(sk_result_reader_find(reader, 8), 5);
    assert_int_equal(sk_result_reader_find(reader, 5000), 10);
    assert_ok(sink->close(sink, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &one, &n_one, &err), &err);
    assert_ok(sk_file_read(again, 1 << 20, &two, &n_two, &err), &err);
    assert_int_equal(n_one, n_two);
    assert_memory_equal(one, two, n_one);
    sk_free_all(one, two);
    sk_result_reader_close(&reader);
}

static void append_text(const char *text, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_lines_that_grow(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_result_reader *reader = NULL;
    file_called("grows.jsonl");
    append_text("{\"frame\":0,\"instances\":[]}\n{\"frame\":3,\"inst", "w");
    assert_ok(sk_result_reader_open_jsonl(path, 0, &reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 1);
    append_text("ances\":[]}\n{\"frame\":4,\"instances\":[]}\n", "a");
    assert_ok(sk_result_reader_refresh(reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 3);
    assert_int_equal(sk_result_reader_round(reader), 0);
    append_text("{\"frame\":0,\"instances\":[]}\n", "w"); /* begun anew */
    assert_ok(sk_result_reader_refresh(reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 1);
    assert_int_equal(sk_result_reader_round(reader), 1);
    append_text("{\"frame\":0,\"instances\":[]}\n", "a");
    assert_int_equal(sk_result_reader_refresh(reader, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "rise"));
    sk_result_reader_close(&reader);
}

static void test_a_journal_that_grows(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_journal *journal = NULL;
    char *other = NULL;
    sk_result_reader *reader = NULL;
    sk_result_frame f;
    file_called("j.skj");
    assert_ok(sk_journal_open(path, "a", "now", false, &journal, &other, &err), &err);
    for (int64_t i = 0; i < 5; i++) {
        f = frame_at(2 * i, 3);
        assert_ok(sk_journal_append(journal, &f, &err), &err);
    }
    assert_ok(sk_journal_flush(journal, false, &err), &err);
    assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 5);
    f = frame_at(20, 2);
    assert_ok(sk_journal_append(journal, &f, &err), &err);
    assert_ok(sk_journal_finish(journal, &err), &err);
    assert_false(sk_result_reader_finished(reader));
    assert_ok(sk_result_reader_refresh(reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 6);
    assert_true(sk_result_reader_finished(reader));
    assert_ok(sk_result_reader_read(reader, 5, &f, &err), &err);
    assert_int_equal(f.index, 20);
    assert_int_equal(f.instances->count, 2);
    sk_journal_close(&journal);
    sk_result_reader_close(&reader);
    const int64_t whole = sk_file_size(path);
    assert_int_equal(truncate(path, whole - 30),
                     0); /* torn: what is whole is there, and the file stays as it is */
    assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 5);
    assert_int_equal(sk_file_size(path), whole - 30);
    sk_result_reader_close(&reader);
}

static void test_what_is_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "nothing\n", "{}\n", "{\"frame\":-1}\n", "{\"frame\":1e300}\n", "[1]\n",
    };
    sk_result_reader *reader = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        sk_error err = {0};
        file_called("bad.jsonl");
        append_text(lines[i], "w");
        assert_int_equal(sk_result_reader_open_jsonl(path, 0, &reader, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "line 1"));
        assert_int_equal(sk_result_reader_open_journal(path, &reader, &err), SK_ERR_FORMAT);
    }
    static const char *const members[] = {
        "{\"frame\":0,\"instances\":[3]}",
        "{\"frame\":0,\"instances\":[{\"track\":-4}]}",
        "{\"frame\":0,\"instances\":[{\"track\":1e9}]}",
        "{\"frame\":0,\"instances\":[{\"track\":0.5}]}",
        "{\"frame\":0,\"instances\":[{\"class\":\"x\"}]}",
        "{\"frame\":0,\"instances\":[{\"state\":\"gone\"}]}",
        "{\"frame\":0,\"instances\":[{\"box\":[1,2,3]}]}",
        "{\"frame\":0,\"instances\":[{\"keypoints\":[[1,2]]}]}",
        "{\"frame\":0,\"instances\":[{\"keypoints\":[[1,2,1]]},{\"keypoints\":[[1,2,1],[1,2,1]]}]}",
        "{\"frame\":0,\"instances\":[{\"keypoints\":[[1,2,1],[1,2,1]]},{\"keypoints\":[[1,2,1]]}]}",
        "{\"frame\":0,\"instances\":[{}}",
        "{\"frame\":0,\"instances\":[",
        "{\"frame\":0,\"source\":7}",
        "{\"frame\":0} x",
    };
    sk_jsonl_line line = {0};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        sk_error err = {0};
        sk_result_frame f;
        if (sk_jsonl_line_read(&line, members[i], strlen(members[i]), "here", &f, &err) != SK_ERR_FORMAT)
            fail_msg("taken: %s", members[i]);
        assert_non_null(strstr(err.message, "here"));
    }
    sk_jsonl_line_free(&line);
}

/* One with keypoints behind others without: each has its own place. */
static void test_places_of_keypoints(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_jsonl_line line = {0};
    sk_result_frame f;
    static const char text[] = "{\"frame\":4,\"more\":{\"a\":[1,\"}\"]},\"instances\":[{\"track\":1},{"
                               "\"track\":2,\"keypoints\":[[1,2,0.5],[3,4,0.5]]},{}]}";
    assert_ok(sk_jsonl_line_read(&line, text, sizeof text - 1, "here", &f, &err), &err);
    assert_int_equal(f.instances->count, 3);
    assert_int_equal(f.instances->n_keypoints, 2);
    for (int i = 0; i < 3; i++) {
        const sk_keypoint *p = f.instances->keypoints + f.instances->items[i].first_keypoint;
        assert_true(i == 1 ? p[1].x == 3 : isnan(p[0].x) && isnan(p[1].x));
    }
    assert_null(f.sightings); /* not every one has a state */
    sk_jsonl_line_free(&line);
}

static void test_when_a_frame_came(void **state)
{
    (void)state;
    static const struct {
        const char *utc;
        bool is;
    } times[] = {{"2026-11-15T19:48:25.123456789Z", true},
                 {"2000-02-29T00:00:00.000000001Z", true},
                 {"2261-12-31T23:59:59.999999999Z", true},
                 {"4052-11-15T19:48:25.123456789Z", false},
                 {"1969-12-31T23:59:59.000000000Z", false},
                 {"2026-13-15T19:48:25.123456789Z", false},
                 {"2026-11-15", false},
                 {"1970-01-01T00:00:00.000000001Z", true},
                 {"1999-12-31T23:59:59.000000000Z", true},
                 {"2100-03-01T01:02:03.000000000Z", true}, /* no leap year */
                 {"2262-01-01T00:00:00.000000000Z", false},
                 {"2026-00-15T19:48:25.123456789Z", false},
                 {"2026-12-01T00:00:00.000000000Z", true},
                 {"2026-11-00T19:48:25.123456789Z", false},
                 {"2026-10-31T19:48:25.123456789Z", true},
                 {"2026-11-32T19:48:25.123456789Z", false},
                 {"2026-11-15T24:00:00.000000000Z", false},
                 {"2026-11-15T19:60:00.000000000Z", false},
                 {"2026-11-15T19:48:61.000000000Z", false},
                 {"2026-11-15 19:48:25.123456789Z", false},
                 {"2026-11-15T19:48:25.12345678xZ", false},
                 {"2026-11-15T19:48:25.123456789+", false},
                 {"2026-11-15T19:48:25.1234567890", false}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        sk_error err = {0};
        sk_jsonl_line line = {0};
        sk_result_frame f;
        char text[100], again[SK_CLOCK_TEXT];
        snprintf(text, sizeof text, "{\"frame\":0,\"utc\":\"%s\"}", times[i].utc);
        assert_ok(sk_jsonl_line_read(&line, text, strlen(text), "here", &f, &err), &err);
        if (times[i].is)
            assert_string_equal(sk_clock_text_ns(f.wall_ns, again, sizeof again), times[i].utc);
        else
            assert_int_equal(f.wall_ns, 0);
        sk_jsonl_line_free(&line);
    }
}

static sk_status read_all(void *context, sk_error *err)
{
    (void)context;
    sk_result_reader *reader = NULL;
    sk_result_frame f;
    SK_TRY(sk_result_reader_open_jsonl(path, 2, &reader, err));
    sk_status status = SK_OK;
    for (int64_t i = 0; i < sk_result_reader_count(reader) && status == SK_OK; i++)
        status = sk_result_reader_read(reader, i, &f, err);
    sk_result_reader_close(&reader);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    write_lines(file_called("m.jsonl"), (const int64_t[]){0, 3, 7}, 3);
    assert_true(test_every_allocation(read_all, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_come_back),      cmocka_unit_test(test_lines_that_grow),
        cmocka_unit_test(test_a_journal_that_grows), cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_places_of_keypoints),  cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_when_a_frame_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
