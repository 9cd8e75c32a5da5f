/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's record says of how animals were followed, lists of pictures, and detections of files at their bounds. */
#include "support/test.h"

#include "app/given_classes.h"
#include "app/given_frames.h"
#include "app/run_pictures.h"
#include "app/track_recorded.h"
#include "app/track_region.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- how it was followed --- */

/* Every number of tracking, each another than it is by itself; one of them, or a word, may be given instead. */
static void record(const char *kind, const char *instead, const char *value)
{
    static const char *const words[][2] = {
        {"tracker", "bytetrack"},       {"tracking", "offline"}, {"backward", "1"},
        {"interpolation", "2"},         {"tell_covered", "0"},   {"tell_lost", "1"},
        {"points", "tail,base to nose"}};
    sk_text text = {0};
    sk_text_appendf(&text,
                    "{\"skitter\":\"1\",\"state\":\"finished\",\"source_kind\":\"%s\",\"rate\":29.97003,"
                    "\"identity\":{\"x\":\"y\"",
                    kind);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!instead || strcmp(instead, words[i][0]) != 0)
            sk_text_appendf(&text, ",\"%s\":\"%s\"", words[i][0], words[i][1]);
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        char name[80];
        snprintf(name, sizeof name, "track.%s", s->name);
        if (!sk_track_setting_finds(s) && (!instead || strcmp(instead, name) != 0))
            sk_text_appendf(&text, ",\"%s\":\"%s\"", name,
                            strcmp(s->name, "fps") == 0 ? "29.970029970029970"
                            : s->whole                  ? "1"
                                                        : "0.125");
    }
    if (instead && value)
        sk_text_appendf(&text, ",\"%s\":\"%s\"", instead, value);
    sk_text_append(&text, "}}");
    assert_ok(sk_folder_make("run", &err), &err);
    put("run/run.json", sk_text_get(&text));
    sk_text_free(&text);
}

typedef struct recorded {
    sk_track_wish wish;
    sk_region *region;
    sk_text text;
    sk_status status;
} recorded;

static recorded read_it(void)
{
    recorded r = {0};
    sk_run_record *from = NULL;
    assert_ok(sk_run_record_open("run", &from, &err), &err);
    r.status = sk_track_wish_recorded(from, &r.wish, &r.region, &r.text, &err);
    sk_run_record_close(&from);
    return r;
}

static void forget(recorded *r)
{
    sk_region_close(&r->region);
    sk_text_free(&r->text);
}

static void settings_come_back(void **state)
{
    (void)state;
    record("video", NULL, NULL);
    recorded r = read_it();
    assert_ok(r.status, &err);
    assert_string_equal(r.wish.track.method, "bytetrack");
    assert_true(!r.wish.online && r.wish.offline.backward && !r.wish.track.tell_covered &&
                r.wish.track.tell_lost);
    assert_true(r.wish.offline.method == 2 && !r.wish.offline.upstream);
    assert_string_equal(r.wish.tail_points, "tail,base");
    assert_string_equal(r.wish.head_points, "nose");
    assert_true(r.wish.track.fps == 30000.0 / 1001); /* with all its digits */
    sk_track_wish usual;
    sk_track_wish_defaults(&usual);
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        const double value = sk_track_setting_get(s, &r.wish);
        if (sk_track_setting_finds(s))
            assert_true(value == sk_track_setting_get(s, &usual)); /* what is found is not followed */
        else if (strcmp(s->name, "fps") != 0)
            assert_true(value == (s->whole ? 1 : 0.125));
    }
    assert_null(r.region);
    assert_null(r.wish.region_text);
    forget(&r);
    static const char *const names[] = {"track.gate", "tracker",      "tracking", "backward", "interpolation",
                                        "tell_lost",  "tell_covered", "region",   "points"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(sk_track_is_recorded(names[i]));
    assert_false(sk_track_is_recorded("track") || sk_track_is_recorded("conf") ||
                 sk_track_is_recorded("pointsx"));
}

static void one_word_is_another(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *words; /* words: it is refused with these */
    } rows[] = {
        {"tracker", "nobody", "run.json: tracker is 'nobody', which this version does not know"},
        {"tracker", NULL, "run.json: tracker is '', which this version does not know"},
        {"backward", "yes", "run.json: backward is 'yes', which this version does not know"},
        {"backward", NULL, "run.json: backward is ''"},
        {"tell_covered", "1x", "run.json: tell_covered is '1x'"},
        {"tell_lost", "", "run.json: tell_lost is ''"},
        {"interpolation", "soft", "run.json: interpolation is 'soft'"},
        {"track.gate", "wide", "run.json: track.gate is 'wide'"},
        {"track.gate", "-1", "gate is a number between 0 and 1e+06, and not -1"},
        {"track.animals", "1.5", "animals is a whole number between 0 and 65536, and not 1.5"},
        {"points", "nose", "run.json: points is 'nose'"},
        {"points", "a to b to c", "run.json: points is 'a to b to c'"},
        {"region", "mask 12ab", "its region was a picture, or one of a configuration"},
        {"region", "shapes of configuration 12ab", "its region was a picture, or one of a configuration"},
        {"region", "1,2,x,4", "1,2,x,4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        record("video", rows[i].name, rows[i].value);
        recorded r = read_it();
        if (r.status == SK_OK || !strstr(err.message, rows[i].words))
            fail_msg("%s %s: %s", rows[i].name, rows[i].value ? rows[i].value : "", err.message);
        forget(&r);
    }
    record("video", "tracking", "online");
    recorded r = read_it();
    assert_true(r.status == SK_OK && r.wish.online);
    forget(&r);
    record("live", NULL, NULL); /* was followed as it came */
    r = read_it();
    assert_true(r.status == SK_OK && r.wish.online);
    forget(&r);
    record("video", "offline steps", "upstream");
    r = read_it();
    assert_true(r.status == SK_OK && r.wish.offline.upstream && !r.wish.online);
    forget(&r);
    record("video", "points", NULL); /* of an older version: by the names */
    r = read_it();
    assert_true(r.status == SK_OK && !r.wish.head_points[0] && !r.wish.tail_points[0]);
    forget(&r);
    record("video", "track.fps", "29"); /* somebody gave it */
    r = read_it();
    assert_true(r.status == SK_OK && r.wish.track.fps == 29);
    forget(&r);
    static const struct {
        const char *value;
        int method;
    } methods[] = {{"0", 0}, {"-1", 0}, {"99", 0}, {"1", 1}};
    for (int i = 0; i < 4; i++) {
        record("video", "interpolation", methods[i].value);
        r = read_it();
        assert_true(r.status == SK_OK && (int)r.wish.offline.method == methods[i].method);
        forget(&r);
    }
    record("video", "region", " 10,10,90,90  !circle:50,50,20 "); /* two shapes */
    r = read_it();
    assert_ok(r.status, &err);
    assert_ptr_equal(r.wish.track.filter.region, r.region);
    assert_non_null(r.wish.region_text);
    assert_true(strstr(r.wish.region_text, "10,10") && strstr(r.wish.region_text, "circle:50,50,20"));
    sk_text shape = {0};
    assert_true(sk_track_region_text(r.region, 1, &shape) && !sk_track_region_text(r.region, 2, &shape));
    sk_text_free(&shape);
    forget(&r);
}

/* --- lists that are too long --- */

static void put_many(const char *key, const char *one, int n)
{
    sk_text text = {.limit = 1 << 22};
    sk_text_appendf(&text, "{\"skitter\":\"1\",\"state\":\"finished\",\"%s\":[", key);
    for (int i = 0; i < n; i++)
        sk_text_appendf(&text, "%s%s", i ? "," : "", one);
    sk_text_append(&text, "]}");
    put("run/run.json", sk_text_get(&text));
    sk_text_free(&text);
}

static void records_are_bounded(void **state)
{
    (void)state;
    static const char *const rows[][3] = {{"classes", "\"a\"", "run.json: 65537 names in one list"},
                                          {"keypoints", "\"a\"", "run.json: 65537 names in one list"},
                                          {"edges", "[0,0]", "run.json: 65537 edges"}};
    assert_ok(sk_folder_make("run", &err), &err);
    for (int i = 0; i < 3; i++) {
        sk_run_record *r = NULL;
        put_many(rows[i][0], rows[i][1], 65537);
        assert_int_equal(sk_run_record_open("run", &r, &err), SK_ERR_LIMIT);
        assert_string_equal(err.message, rows[i][2]);
        assert_null(r);
        put_many(rows[i][0], rows[i][1], 65536);
        assert_ok(sk_run_record_open("run", &r, &err), &err);
        const sk_run_header *h = sk_run_record_header(r);
        assert_true(h->n_classes == (i == 0 ? 65536 : 0) && h->n_keypoints == (i == 1 ? 65536 : 0) &&
                    !h->n_edges);
        sk_run_record_close(&r);
    }
}

/* --- pictures that are named one by one --- */

static void lists_of_pictures(void **state)
{
    (void)state;
    static char names[][8] = {"a.png", "#b.png", " c.png", "\td.png", "e\n.png", "f\r.png"};
    char *odd[] = {names[0], names[1], names[2], names[3]}, *broken[] = {names[0], names[4]},
         *cr[] = {names[5]};
    char *path = NULL, *text = NULL;
    size_t length = 0;
    sk_run_pictures how = {.count = 4, .paths = odd};
    assert_ok(sk_run_pictures_write(&how, &path, &err), &err); /* no folder: aside */
    assert_true(strncmp(path, "/tmp/skitter-pictures-", 22) == 0 &&
                strcmp(path + strlen(path) - 4, ".txt") == 0);
    assert_ok(sk_file_read(path, 1000, &text, &length, &err), &err);
    assert_string_equal(text, "a.png\n./#b.png\n./ c.png\n./\td.png\n");
    assert_int_equal(unlink(path), 0);
    sk_free(text);
    sk_free(path);
    for (int i = 0; i < 2; i++) {
        how = (sk_run_pictures){.count = i ? 1 : 2, .paths = i ? cr : broken};
        assert_int_equal(sk_run_pictures_write(&how, &path, &err), SK_ERR_ARG);
        assert_null(path);
        assert_non_null(strstr(err.message, ".png: a name with a line break cannot be one of many"));
    }
    /* a list that somebody else left there stays unless it may go */
    assert_ok(sk_folder_make("left", &err), &err);
    put("left/pictures.txt", "mine\n");
    how = (sk_run_pictures){.count = 1, .paths = odd, .folder = "left", .restart = true};
    assert_int_equal(sk_run_pictures_write(&how, &path, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "left/pictures.txt is there already, and no run of skitter began"));
    sk_free(path);
    how.overwrite = true;
    assert_ok(sk_run_pictures_write(&how, &path, &err), &err);
    assert_string_equal(path, "left/pictures.txt");
    assert_ok(sk_file_read(path, 1000, &text, &length, &err), &err);
    assert_string_equal(text, "a.png\n");
    sk_free(text);
    sk_free(path);
}

/* --- detections of a file --- */

static sk_status open_given(const char *text, sk_annotation_set *set, sk_given_classes *classes,
                            sk_given_frames **out)
{
    put("given.csv", text);
    *set = (sk_annotation_set){0};
    *classes = (sk_given_classes){0};
    assert_ok(sk_annotations_read("given.csv", set, &err), &err);
    assert_ok(sk_given_classes_of(set, classes, &err), &err);
    return sk_given_frames_open("given.csv", set, classes->number, out, &err);
}

static char warned[512];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

static void frames_at_their_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *rows; /* frames, a comma between; each has one detection */
        int64_t count;    /* -1: refused */
    } cases[] = {{"0,268435455", 268435455 / 268435455 + 1},
                 {"5,6,268435460", 268435456},
                 {"5,6,268435461", -1},
                 {"0,2,536870910", 268435456},
                 {"0,2,536870912", -1}};
    sk_annotation_set set;
    sk_given_classes classes;
    sk_given_frames *f = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_text text = {0};
        sk_text_append(&text, "frame,class,score,x1,y1,x2,y2\n");
        for (const char *at = cases[i].rows; *at; at += strcspn(at, ","), at += *at == ',')
            sk_text_appendf(&text, "%lld,0,0.5,1,1,9,9\n", strtoll(at, NULL, 10));
        const sk_status status = open_given(sk_text_get(&text), &set, &classes, &f);
        if (cases[i].count < 0) {
            assert_int_equal(status, SK_ERR_LIMIT);
            assert_non_null(strstr(err.message, "given.csv: names frames "));
            assert_non_null(strstr(err.message, "; so many frames no video has"));
            assert_null(f);
        } else {
            assert_ok(status, &err);
            assert_int_equal(sk_given_frames_count(f), cases[i].count);
        }
        sk_given_frames_close(&f);
        sk_given_classes_free(&classes);
        sk_annotations_free(&set);
        sk_text_free(&text);
    }
}

/* One without a number among those that have some: they are pictures, each the next frame. */
static void pictures_have_no_numbers(void **state)
{
    (void)state;
    for (int without = -1; without < 3; without++) {
        sk_annotation_set set = {0};
        sk_given_classes classes = {0};
        sk_given_frames *f = NULL;
        put("given.csv",
            "frame,class,score,x1,y1,x2,y2\n3,0,0.5,1,1,9,9\n5,0,0.5,1,1,9,9\n11,0,0.5,1,1,9,9\n");
        assert_ok(sk_annotations_read("given.csv", &set, &err), &err);
        assert_int_equal(set.n_images, 3);
        if (without >= 0)
            set.images[without].frame = -1;
        assert_ok(sk_given_classes_of(&set, &classes, &err), &err);
        assert_ok(sk_given_frames_open("given.csv", &set, classes.number, &f, &err), &err);
        assert_int_equal(sk_given_frames_count(f), without < 0 ? 5 : 3); /* 3, 5, 7, 9, 11 */
        assert_int_equal(sk_given_frames_first(f), without < 0 ? 3 : 0);
        sk_given_frames_close(&f);
        sk_given_classes_free(&classes);
        sk_annotations_free(&set);
    }
}

/* Boxes inside out or without a size are no animals: how many, and where, is told. */
static void what_is_no_animal_is_told(void **state)
{
    (void)state;
    sk_annotation_set set;
    sk_given_classes classes;
    sk_given_frames *f = NULL;
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (int sound = 0; sound < 2; sound++) {
        warned[0] = '\0';
        assert_ok(
            open_given(
                sound ? "frame,class,score,x1,y1,x2,y2\n3,0,0.5,1,1,9,9\n"
                      : "frame,class,score,x1,y1,x2,y2\n3,0,0.5,1,1,9,9\n4,0,0.5,9,1,1,9\n5,0,0.5,1,1,9,1\n"
                        "6,0,0.5,1,1,9,9\n",
                &set, &classes, &f),
            &err);
        if (sound)
            assert_string_equal(warned, "");
        else
            assert_non_null(strstr(
                warned, "given.csv: 2 of 4 detections, the first of them in frame 4, have no place or no "
                        "size"));
        sk_given_frames_close(&f);
        sk_given_classes_free(&classes);
        sk_annotations_free(&set);
    }
    sk_log_unlisten(&listener);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_back),        cmocka_unit_test(one_word_is_another),
        cmocka_unit_test(records_are_bounded),       cmocka_unit_test(lists_of_pictures),
        cmocka_unit_test(frames_at_their_bounds),    cmocka_unit_test(pictures_have_no_numbers),
        cmocka_unit_test(what_is_no_animal_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
