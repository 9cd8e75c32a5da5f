/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/frame_choice.h"
#include "media/frame_ids.h"
#include "media/pattern.h"
#include "media/text_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which frames and which files are meant, against the plainest way to find out: looking at each. */

static uint32_t seed = 3;

static int dice(int n)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)n);
}

static bool in_range(const sk_frame_range *r, int64_t at)
{
    return at >= r->first && (r->last < 0 || at < r->last) && (at - r->first) % r->step == 0;
}

static bool is_wanted(const sk_source_settings *s, int64_t at)
{
    if (s->n_ranges == 0)
        return in_range(&(sk_frame_range){s->first, s->last, s->step}, at);
    bool in = false;
    for (int32_t i = 0; i < s->n_ranges; i++)
        in = in || in_range(&s->ranges[i], at);
    return in && at >= s->first && (s->last < 0 || at < s->last);
}

static int by_first(const void *a, const void *b)
{
    const sk_frame_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void choices_are_those_of_looking_at_each(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_frame_range ranges[5];
        sk_error err = {0};
        sk_source_defaults(&s);
        s.n_ranges = dice(6);
        s.ranges = ranges;
        for (int i = 0; i < s.n_ranges; i++) {
            ranges[i] = (sk_frame_range){dice(30), 0, 1 + dice(5)};
            ranges[i].last = dice(6) ? ranges[i].first + dice(12) : -1;
        }
        qsort(ranges, (size_t)s.n_ranges, sizeof *ranges, by_first);
        s.first = dice(3) ? 0 : dice(25);
        s.last = dice(3) ? -1 : s.first + dice(30);
        s.step = s.n_ranges ? 1 : 1 + dice(4);
        assert_ok(sk_frames_check(&s, &err), &err);
        sk_frame_choice choice = sk_frame_choice_of(&s);
        int64_t total = dice(4) ? dice(60) : -1, count = 0, from = 0;
        for (int64_t at = 0; at < 60; at++) {
            count += (total < 0 || at < total) && is_wanted(&s, at);
            if (!is_wanted(&s, at))
                continue;
            assert_int_equal(sk_frame_choice_next(&choice, from), at);
            from = at + 1;
        }
        const int64_t next = sk_frame_choice_next(&choice, from);
        bool ends = s.last >= 0;
        if (!ends) {
            ends = true;
            for (int32_t i = 0; i < s.n_ranges; i++)
                ends = ends && ranges[i].last >= 0;
            ends = ends && s.n_ranges > 0;
        }
        assert_int_equal(next >= 0, !ends);
        if (total >= 0 || ends)
            assert_int_equal(sk_frames_wanted(&s, total), count);
        else
            assert_int_equal(sk_frames_wanted(&s, total), -1);
    }
}

/* What is said in words is read back as the same. */
static void words_are_read_back(void **state)
{
    (void)state;
    static const char *const said[][2] = {{"3", "3"},           {"0:", "all"},
                                          {"::2", "0::2"},      {"4-9", "4:10"},
                                          {"4:10:3", "4:10:3"}, {"7:", "7:"},
                                          {"9,1,5", "1,5,9"},   {"0-9,20,30:60:5", "0:10,20,30:60:5"},
                                          {"5:6", "5"},         {"2-2,1::3", "1::3,2"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (int again = 0; again < 2; again++) {
            sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
            sk_frame_range *ranges = NULL;
            sk_error err = {0};
            char words[SK_FRAMES_TEXT];
            sk_source_defaults(&s);
            if (again && strcmp(said[i][1], "all") == 0)
                continue;
            assert_ok(sk_frames_parse(said[i][again], &s, &ranges, &err), &err);
            assert_string_equal(sk_frames_text(&s, words, sizeof words), said[i][1]);
            sk_free(ranges);
        }
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    static const struct {
        sk_frame_range whole, more[2];
        int32_t n;
        bool good;
    } cases[] = {{{0, -1, 1}, {{0}}, 0, true},
                 {{SK_FRAME_NUMBER_MOST, -1, 1}, {{0}}, 0, true},
                 {{SK_FRAME_NUMBER_MOST + 1, -1, 1}, {{0}}, 0, false},
                 {{-1, -1, 1}, {{0}}, 0, false},
                 {{0, -1, SK_FRAME_NUMBER_MOST}, {{0}}, 0, true},
                 {{0, -1, SK_FRAME_NUMBER_MOST + 1}, {{0}}, 0, false},
                 {{5, 5, 1}, {{0}}, 0, true},
                 {{6, 5, 1}, {{0}}, 0, false},
                 {{SK_FRAME_NUMBER_MOST, 5, 1}, {{0}}, 0, true}, /* none is left */
                 {{0, -1, 1}, {{3, 4, 1}, {3, 9, 2}}, 2, true},
                 {{0, -1, 1}, {{4, 4, 1}, {3, 9, 2}}, 2, false}, /* not in order */
                 {{0, -1, 1}, {{3, 4, 0}, {3, 9, 2}}, 2, false},
                 {{0, -1, 1}, {{3, 4, 1}, {3, 9, 0}}, 2, false},
                 {{0, -1, 1}, {{0}}, -1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_error err = {0};
        sk_source_defaults(&s);
        s.first = cases[i].whole.first, s.last = cases[i].whole.last, s.step = cases[i].whole.step;
        s.ranges = cases[i].more, s.n_ranges = cases[i].n;
        if ((sk_frames_check(&s, &err) == SK_OK) != cases[i].good)
            fail_msg("case %zu: %s", i, err.message);
    }
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_error err = {0};
    sk_source_defaults(&s);
    s.n_ranges = 1; /* of nothing */
    assert_int_equal(sk_frames_check(&s, &err), SK_ERR_ARG);
}

/* --- names of frames --- */

static void names_hold_until_the_next(void **state)
{
    (void)state;
    sk_frame_ids ids = {0};
    sk_error err = {0};
    char expected[200][8], out[8];
    sk_frame_ids_begin(&ids);
    assert_int_equal(sk_frame_ids_of(&ids, 5, out, sizeof out), 0);
    assert_string_equal(out, "");
    for (int round = 0; round < 3; round++) { /* read again from its beginning: the old ones are gone */
        char now[8] = "";
        for (int64_t i = 0; i < 200; i++) {
            if (dice(5) == 0 || i == 0)
                snprintf(now, sizeof now, "%.*s", dice(7), "abcdefg");
            strcpy(expected[i], now);
            if (dice(2) || i == 0 || strcmp(expected[i], expected[i - 1]) != 0)
                assert_ok(sk_frame_ids_note(&ids, i, now, strlen(now), &err), &err);
        }
        for (size_t i = 1; i < ids.count; i++) /* only where it changes */
            assert_string_not_equal(ids.items[i].id, ids.items[i - 1].id);
        for (int64_t i = 0; i < 200; i++) {
            assert_int_equal(sk_frame_ids_of(&ids, i, out, sizeof out), strlen(expected[i]));
            assert_string_equal(out, expected[i]);
        }
        assert_int_equal(sk_frame_ids_of(&ids, -1, out, sizeof out), 0);
        assert_string_equal(out, "");
    }
    sk_frame_ids_end(&ids);
}

/* --- patterns and lists --- */

static const char *make(const char *name, const char *text)
{
    static char path[4200];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    char *folder = sk_path_folder(path);
    assert_ok(sk_folder_make(folder, &err), &err);
    sk_free(folder);
    assert_ok(sk_file_put(path, text, strlen(text), &err), &err);
    return path;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a pattern finds, sorted, without the test's folder, by spaces. */
static const char *found(const char *pattern)
{
    static char text[4096];
    char path[4200];
    sk_pattern_files files = {0};
    sk_error err = {0};
    const size_t prefix = strlen(test_folder()) + 1;
    snprintf(path, sizeof path, "%s/%s", test_folder(), pattern);
    const sk_status status = sk_pattern_find(path, &files, &err);
    if (status != SK_OK) {
        sk_pattern_free(&files);
        return sk_status_text(status);
    }
    if (files.count)
        qsort(files.paths, files.count, sizeof *files.paths, by_name);
    text[0] = '\0';
    for (size_t i = 0; i < files.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 files.paths[i] + prefix);
    sk_pattern_free(&files);
    return text;
}

static void patterns_find_what_they_say(void **state)
{
    (void)state;
    make("p/a.png", "");
    make("p/b.jpg", "");
    make("p/x[1]/c.png", "");
    make("p/x[1]/deep/d.png", "");
    make("p/.hidden/e.png", "");
    make("p/y/a.png", "");
    assert_string_equal(found("p/*.png"), "p/a.png");
    assert_string_equal(found("p/?.*"), "p/a.png p/b.jpg");
    assert_string_equal(found("p/*.gif"), "");
    assert_string_equal(found("p/**/*.png"), "p/a.png p/x[1]/c.png p/x[1]/deep/d.png p/y/a.png");
    assert_string_equal(found("p/*/**/*.png"), "p/x[1]/c.png p/x[1]/deep/d.png p/y/a.png");
    assert_string_equal(found("p/**"),
                        "p/a.png p/b.jpg p/x[1] p/x[1]/c.png p/x[1]/deep p/x[1]/deep/d.png p/y p/y/a.png");
    assert_string_equal(found("p/**/"),
                        "p/a.png p/b.jpg p/x[1] p/x[1]/c.png p/x[1]/deep p/x[1]/deep/d.png p/y p/y/a.png");
    assert_string_equal(found("p/a**"), "p/a.png"); /* no part of its own: as one star */
    assert_string_equal(found("p/**/x*/**"), sk_status_text(SK_ERR_ARG));
    assert_int_equal(chdir(test_folder()), 0);
    sk_pattern_files files = {0};
    sk_error err = {0};
    assert_ok(sk_pattern_find("**/d.png", &files, &err), &err);
    assert_int_equal(files.count, 1);
    assert_string_equal(files.paths[0], "p/x[1]/deep/d.png");
    sk_pattern_free(&files);
    /* as deep as it goes, and one folder deeper */
    char name[400] = "q";
    for (int i = 0; i < 64; i++)
        strcat(name, "/d");
    make(strcat(name, "/end.png"), "");
    assert_true(strlen(found("q/**/end.png")) > 100);
    name[strlen(name) - 8] = '\0';
    make(strcat(name, "/d/end.png"), "");
    assert_string_equal(found("q/**/end.png"), sk_status_text(SK_ERR_LIMIT));
}

static sk_status note(void *context, const char *path, sk_error *err)
{
    char *out = context;
    (void)err;
    const size_t prefix = strlen(test_folder()) + 1;
    const bool ours = strncmp(path, test_folder(), prefix - 1) == 0;
    strcat(strcat(strcat(out, ours ? "~" : "="), ours ? path + prefix : path), ";");
    return strstr(path, "stop") ? sk_fail(err, SK_ERR_IO, "stopped") : SK_OK;
}

static void lists_name_sources(void **state)
{
    (void)state;
    char out[1024] = "";
    sk_error err = {0};
    make("l/one.mp4", "");
    const char *list = make(
        "l/list.txt", "one.mp4\r\n  \t# a remark\n\n\t*.png \t\n/absolute/x.mp4\nrtsp://host/s\nmissing.mp4");
    assert_true(sk_path_is_text_list(list));
    assert_ok(sk_text_list_read(list, note, out, &err), &err);
    assert_string_equal(out, "~l/one.mp4;~l/*.png;=/absolute/x.mp4;=rtsp://host/s;=missing.mp4;");
    out[0] = '\0';
    assert_int_equal(sk_text_list_read(make("l/list.txt", "a\nstop\nb\n"), note, out, &err), SK_ERR_IO);
    assert_string_equal(out, "=a;=stop;");
    assert_int_equal(sk_text_list_read(make("l/list.txt", "# nothing\n \n"), note, out, &err),
                     SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "names no source"));
    assert_false(sk_path_is_text_list(make("l/list.csv", "a")));
    assert_false(sk_path_is_text_list(test_missing("x.txt")));
    assert_true(sk_path_is_video("a/b.MP4") && sk_path_is_video("x.db3") && !sk_path_is_video("x.mp") &&
                !sk_path_is_video("mp4"));
    char path[4200];
    snprintf(path, sizeof path, "%s/l/bytes.txt", test_folder());
    assert_ok(sk_file_put(path, "a\0b", 3, &err), &err);
    assert_int_equal(sk_text_list_read(path, note, out, &err), SK_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_those_of_looking_at_each),
        cmocka_unit_test(words_are_read_back),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(names_hold_until_the_next),
        cmocka_unit_test(patterns_find_what_they_say),
        cmocka_unit_test(lists_name_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
