/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of results.jsonl: what a line may look like, what it may not, and how much may stand in one. */
#include "base/text.h"
#include "results/jsonl_line.h"
#include "support/fault.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static sk_jsonl_line line;
static sk_result_frame frame;

static sk_status read_line(const char *text, sk_error *err)
{
    return sk_jsonl_line_read(&line, text, strlen(text), "in", &frame, err);
}

static void good(const char *text)
{
    sk_error err = {0};
    if (read_line(text, &err) != SK_OK)
        fail_msg("%.300s: %s", text, err.message);
}

static void bad(const char *text, const char *why)
{
    sk_error err = {0};
    const sk_status status = read_line(text, &err);
    if (status != SK_ERR_FORMAT || !strstr(err.message, why))
        fail_msg("%.300s: %s: %s", text, sk_status_text(status), err.message);
}

/* --- the time of day --- */

static int64_t told(const char *utc)
{
    char text[256];
    snprintf(text, sizeof text, "{\"frame\":1,\"utc\":\"%s\",\"instances\":[]}", utc);
    good(text);
    return frame.wall_ns;
}

/* The C library's calendar says what each day is; ours has to agree, over all years that fit. */
static void times_are_those_of_the_calendar(void **state)
{
    (void)state;
    char text[64];
    for (int year = 1970; year <= 2261; year++)
        for (int month = 1; month <= 12; month++) {
            const int day = 1 + (year * 7 + month * 5) % 28, hour = (year + month) % 24;
            struct tm tm = {.tm_year = year - 1900,
                            .tm_mon = month - 1,
                            .tm_mday = day,
                            .tm_hour = hour,
                            .tm_min = (year * month) % 60,
                            .tm_sec = (year + 11 * month) % 60};
            snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", year, month, day, hour,
                     tm.tm_min, tm.tm_sec, 7 * year + month);
            const int64_t wanted = (int64_t)timegm(&tm) * 1000000000 + 7 * year + month;
            if (told(text) != wanted)
                fail_msg("%s is %lld, not %lld", text, (long long)frame.wall_ns, (long long)wanted);
        }
    assert_int_equal(told("2024-02-29T00:00:00.000000000Z"), 1709164800 * 1000000000ll);
    assert_int_equal(told("2024-03-01T00:00:00.000000001Z"), 1709251200 * 1000000000ll + 1);
    assert_int_equal(told("1970-01-01T00:00:00.999999999Z"), 999999999);
    assert_int_equal(told("2000-12-31T23:59:60.000000000Z"), 978307200 * 1000000000ll); /* a leap second */
}

static void what_is_no_time_is_none(void **state)
{
    (void)state;
    static const char *const none[] = {"1969-12-31T23:59:59.000000000Z",
                                       "2262-01-01T00:00:00.000000000Z",
                                       "2026-00-01T00:00:00.000000000Z",
                                       "2026-13-01T00:00:00.000000000Z",
                                       "2026-01-00T00:00:00.000000000Z",
                                       "2026-01-32T00:00:00.000000000Z",
                                       "2026-01-01T24:00:00.000000000Z",
                                       "2026-01-01T00:60:00.000000000Z",
                                       "2026-01-01T00:00:61.000000000Z",
                                       "2026/01-01T00:00:00.000000000Z",
                                       "2026-01/01T00:00:00.000000000Z",
                                       "2026-01-01 00:00:00.000000000Z",
                                       "2026-01-01T00-00:00.000000000Z",
                                       "2026-01-01T00:00-00.000000000Z",
                                       "2026-01-01T00:00:00,000000000Z",
                                       "2026-01-01T00:00:00.000000000z",
                                       "2026-01-01T00:00:00.00000000Z",
                                       "2026-01-01T00:00:00.0000000000Z",
                                       "x026-01-01T00:00:00.000000000Z",
                                       "202:-01-01T00:00:00.000000000Z",
                                       "202/-01-01T00:00:00.000000000Z",
                                       "2026-01-01T00:00:00.00000000-Z",
                                       ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (told(none[i]) != 0)
            fail_msg("'%s' is %lld", none[i], (long long)frame.wall_ns);
    assert_true(told("1970-01-01T00:00:00.000000001Z") == 1 && told("2261-12-31T23:59:59.999999999Z") > 0);
    assert_true(told("2026-01-31T00:00:00.000000000Z") > 0 && told("2026-01-01T23:59:60.000000000Z") > 0);
}

/* --- the form of a line --- */

static void blanks_stand_anywhere(void **state)
{
    (void)state;
    good(" \t{ \"source\" : \"a b\"\t,\r\"frame\" : 5 , \"time\" : 1.5 , \"instances\" : [ { \"class\" : 1 , "
         "\"box\" : [ 1 , 2 , 3 , 4 ] , \"keypoints\" : [ [ 5 , 6 , 0.5 ] , [ null , null , 0 ] ] } , { } ] "
         "} \t\r");
    assert_string_equal(frame.source, "a b");
    assert_true(frame.index == 5 && frame.time == 1.5 && frame.instances->count == 2);
    assert_true(frame.instances->items[0].class_id == 1 && frame.instances->items[0].box[3] == 4);
    assert_true(frame.instances->keypoints[0].y == 6 && isnan(frame.instances->keypoints[1].x));
    assert_true(frame.instances->items[0].has == (SK_HAS_BOX | SK_HAS_KEYPOINTS));
    assert_true(frame.instances->items[1].has == 0 && frame.instances->items[1].class_id == -1 &&
                frame.instances->items[1].track_id == -1 && frame.instances->items[1].first_keypoint == 2);
    assert_true(frame.width == 0 && frame.height == 0 && frame.wall_ns == 0 && !frame.sightings);
}

/* Members that nobody knows are passed over, whatever they are. */
static void other_members_are_passed_over(void **state)
{
    (void)state;
    static const char *const values[] = {"1",
                                         "-1.5e3",
                                         "true",
                                         "null",
                                         "\"\"",
                                         "\"a \\\"quoted\\\" text, with ]}\"",
                                         "[]",
                                         "{}",
                                         "[1,2,[3,{\"x\":[4]}],\"]\"]",
                                         "{\"frame\":9,\"class\":8,\"a\":{\"b\":\"}\"},\"c\":[[[]]]}",
                                         " [ 1 , { \"a\" : 2 } ] "};
    char text[512];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(
            text, sizeof text,
            "{\"other\":%s,\"frame\":3,\"instances\":[{\"more\":%s,\"class\":2},{\"class\":4,\"more\":%s}],"
            "\"last\":%s}",
            values[i], values[i], values[i], values[i]);
        good(text);
        assert_int_equal(frame.index, 3);
        assert_int_equal(frame.instances->count, 2);
        assert_int_equal(frame.instances->items[0].class_id, 2);
        assert_int_equal(frame.instances->items[1].class_id, 4);
        assert_int_equal(sk_jsonl_line_number(text, strlen(text)), 3);
    }
    static const char *const broken[] = {"",    ",",       ":",   "]",       "}",      "[",         "{",
                                         "\"a", "[1",      "[1}", "\"a\\\"", "[[1]",   "{\"a\":[}", "[\"]",
                                         "1 2", "\"a\"\"", "1:",  "\"\\",    "{\"a\"", " "};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        snprintf(text, sizeof text, "{\"other\":%s", broken[i]);
        bad(text, "not valid JSON");
        assert_int_equal(sk_jsonl_line_number(text, strlen(text)), -1);
        snprintf(text, sizeof text, "{\"frame\":1,\"instances\":[{\"other\":%s", broken[i]);
        bad(text, "");
    }
}

static void members_have_their_form(void **state)
{
    (void)state;
#define IN(instance) "{\"frame\":3,\"instances\":[" instance "]}"
    bad("{\"source\":7,\"frame\":1}", "\"source\" is a text");
    bad("{\"utc\":7,\"frame\":1}", "\"utc\" is a text");
    bad("{\"time\":\"x\",\"frame\":1}", "\"time\" is a number");
    bad("{\"frame\":-1}", "\"frame\" is a whole number from 0 on");
    bad("{\"frame\":\"x\"}", "\"frame\" is a whole number from 0 on");
    bad("{\"frame\":null}", "\"frame\" is a whole number from 0 on");
    bad("{\"frame\":1,\"instances\":{}}", "\"instances\" is a list");
    bad("{\"frame\":1,\"instances\":[{}", "not valid JSON");
    bad("{\"frame\":1,\"instances\":[{},]}", "an instance is an object");
    bad("{\"frame\":1,,\"time\":1}", "not valid JSON");
    bad("{\"frame\":1 \"time\":1}", "not valid JSON");
    bad("{\"frame\" 1}", "not valid JSON");
    bad("{frame:1}", "not valid JSON");
    bad("{}", "an object with \"frame\" was expected");
    bad("{\"frame\":1}}", "something follows the end");
    bad("[]", "an object was expected");
    bad(IN("{\"class\":1.5}"), "an instance's member stands there in another form");
    bad(IN("{\"class\":-2}"), "another form");
    bad(IN("{\"track\":-1}"), "another form");
    bad(IN("{\"class\":null}"), "another form");
    bad(IN("{\"state\":\"asleep\"}"), "another form");
    bad(IN("{\"state\":1}"), "another form");
    bad(IN("{\"box\":[1,2,3]}"), "another form");
    bad(IN("{\"box\":[1,2,3,4,5]}"), "another form");
    bad(IN("{\"box\":[1 2,3,4]}"), "another form");
    bad(IN("{\"box\":7}"), "another form");
    bad(IN("{\"obb\":[1,2,3,4]}"), "another form");
    bad(IN("{\"x\":\"a\"}"), "a number was expected");
    bad(IN("{\"keypoints\":{}}"), "keypoints are a list");
    bad(IN("{\"keypoints\":[[1,2]]}"), "a keypoint is a list of x, y and score");
    bad("{\"frame\":3,\"instances\":[{\"keypoints\":[[1,2,3]",
        "not as many keypoints as other instances have");
    bad(IN("{\"keypoints\":[[1,2,3]]},{\"keypoints\":[[1,2,3],[1,2,3]]}"), "not as many keypoints");
    bad(IN("{\"keypoints\":[[1,2,3],[1,2,3]]},{\"keypoints\":[[1,2,3]]}"), "not as many keypoints");
    bad(IN("{\"keypoints\":[[1,2,3]]},{\"keypoints\":[]}"), "not as many keypoints");
    good(IN("{\"score\":null}"));
    assert_true(isnan(frame.instances->items[0].score));
    bad(IN("{\"score\":nul}"), "a number was expected");
    good("{\"frame\":7,\"time\":null}");
    assert_true(isnan(frame.time) && frame.index == 7 && frame.instances->count == 0);
}

/* --- how much --- */

static void whole_numbers_end_somewhere(void **state)
{
    (void)state;
    good(IN("{\"class\":16777216,\"track\":16777216},{\"class\":-1,\"track\":0}"));
    assert_true(frame.instances->items[0].class_id == 16777216 && frame.instances->items[1].class_id == -1);
    assert_true(frame.instances->items[0].track_id == 16777216 && frame.instances->items[1].track_id == 0);
    bad(IN("{\"class\":16777217}"), "another form");
    bad(IN("{\"track\":16777217}"), "another form");
    good("{\"frame\":9007199254740992}");
    assert_int_equal(frame.index, 9007199254740992);
    bad("{\"frame\":9007199254740994}", "\"frame\"");
    good("{\"frame\":0}");
    assert_int_equal(frame.index, 0);
    assert_int_equal(sk_jsonl_line_number("{\"frame\":9007199254740992}", 26), 9007199254740992);
    assert_int_equal(sk_jsonl_line_number("{\"frame\":9007199254740994}", 26), -1);
    assert_int_equal(sk_jsonl_line_number("{\"frame\":0}", 11), 0);
    assert_int_equal(sk_jsonl_line_number("{\"frame\":-1}", 12), -1);
    assert_int_equal(sk_jsonl_line_number("{\"frame\":x}", 11), -1);
    assert_int_equal(sk_jsonl_line_number("[\"frame\",1]", 11), -1);
    assert_int_equal(sk_jsonl_line_number("{\"time\":1}", 10), -1);
}

static const char *of_keypoints(int count)
{
    static sk_text text;
    sk_text_free(&text);
    text = (sk_text){0};
    if (count < 0)
        return NULL;
    sk_text_append(&text, "{\"frame\":1,\"instances\":[{\"class\":1},{\"keypoints\":[");
    for (int i = 0; i < count; i++)
        sk_text_appendf(&text, "%s[%d,%d,1]", i ? "," : "", i, 2 * i);
    sk_text_append(&text, "]},{}]}");
    return sk_text_get(&text);
}

static const char *of_instances(int count)
{
    static sk_text text;
    sk_text_free(&text);
    text = (sk_text){0};
    if (count < 0)
        return NULL;
    sk_text_append(&text, "{\"frame\":1,\"instances\":[");
    for (int i = 0; i < count; i++)
        sk_text_append(&text, i ? ",{}" : "{}");
    sk_text_append(&text, "]}");
    return sk_text_get(&text);
}

static void as_many_as_there_may_be(void **state)
{
    (void)state;
    good(of_keypoints(1024));
    assert_int_equal(frame.instances->n_keypoints, 1024);
    assert_int_equal(frame.instances->items[1].first_keypoint, 1024);
    for (int i = 0; i < 1024; i++) { /* those before and after it have places without a point */
        assert_true(isnan(frame.instances->keypoints[i].x) && frame.instances->keypoints[i].score == 0);
        assert_true(frame.instances->keypoints[1024 + i].x == (float)i &&
                    frame.instances->keypoints[1024 + i].y == (float)(2 * i));
        assert_true(isnan(frame.instances->keypoints[2048 + i].y));
    }
    bad(of_keypoints(1025), "not as many keypoints");
    good(of_instances(SK_TRACK_MOST));
    assert_int_equal(frame.instances->count, SK_TRACK_MOST);
    bad(of_instances(SK_TRACK_MOST + 1), "more instances than a frame may have");
    line.least_keypoints = 64; /* four million places are the most of a line */
    good(of_instances(SK_TRACK_MOST));
    assert_int_equal(frame.instances->n_keypoints, 64);
    line.least_keypoints = 65;
    sk_error err = {0};
    assert_int_equal(read_line(of_instances(SK_TRACK_MOST), &err), SK_ERR_LIMIT);
    line.least_keypoints = 0;
    of_keypoints(-1);
    of_instances(-1);
}

/* --- what becomes of it --- */

static void a_sighting_is_completed_from_its_instance(void **state)
{
    (void)state;
    good(IN(
        "{\"class\":2,\"track\":7,\"state\":\"active\",\"score\":0.5,\"tracking_score\":0.25,\"box\":[10,20,"
        "30,60],\"heading\":1.5,\"uncertainty\":3},{\"class\":1,\"track\":4,\"state\":\"covered\",\"score\":"
        "0."
        "75,\"x\":5,\"y\":6,\"obb\":[100,50,20,8,0.5]}"));
    assert_non_null(frame.sightings);
    const sk_sighting *s = frame.sightings;
    assert_true(s[0].frame == 3 && s[0].track == 7 && s[0].place == 7 && s[0].detection == 0 &&
                s[0].class_id == 2 && s[0].state == SK_TRACK_ACTIVE);
    assert_true(s[0].score == 0.5 && s[0].certainty == 0.25 && s[0].heading == 1.5 && s[0].uncertainty == 3);
    assert_true(s[0].x == 20 && s[0].y == 40 && s[0].major == 40 && s[0].minor == 20); /* the box's own */
    assert_true(fabs(s[0].angle - 1.5707963) < 1e-6);
    assert_true(s[0].box.upright[0] == 10 && s[0].box.upright[1] == 20 && s[0].box.upright[2] == 30 &&
                s[0].box.upright[3] == 60 && s[0].box.turned[2] == 0);
    assert_true(s[1].frame == 3 && s[1].track == 4 && s[1].place == 4 && s[1].detection == -1 &&
                s[1].class_id == 1 && s[1].state == SK_TRACK_COVERED);
    assert_true(isnan(s[1].score) && s[1].certainty == 0 && isnan(s[1].heading) && isnan(s[1].uncertainty));
    assert_true(s[1].x == 5 && s[1].y == 6 && s[1].major == 20 && s[1].minor == 8 && s[1].angle == 0.5);
    assert_true(s[1].box.turned[0] == 100 && s[1].box.turned[3] == 8 && s[1].box.turned[4] == 0.5);
    assert_true(frame.instances->items[0].tracking_score == 0.25f && frame.instances->items[0].score == 0.5f);
    assert_true(frame.instances->items[1].score == 0.75f);
    assert_int_equal(frame.instances->capacity, 2);
    /* a place alone: no box to take anything from */
    good(IN("{\"track\":0,\"state\":\"lost\",\"x\":8}"));
    assert_true(frame.sightings && frame.sightings[0].x == 8 && isnan(frame.sightings[0].y));
    assert_true(frame.sightings[0].state == SK_TRACK_LOST && frame.sightings[0].major == 0);
    /* of several without a state, of none, and of one without a track there are no sightings */
    good(IN("{\"track\":0,\"state\":\"lost\"},{\"track\":1}"));
    assert_null(frame.sightings);
    good(IN("{\"state\":\"lost\"}"));
    assert_null(frame.sightings);
    good(IN(""));
    assert_null(frame.sightings);
}

static void sources_are_texts(void **state)
{
    (void)state;
    good("{\"source\":\"a\\\"b\\\\c\\u00e9\\n\",\"frame\":1}");
    assert_string_equal(frame.source, "a\"b\\c\xc3\xa9\n");
    good("{\"source\":\"first\",\"source\":\"second\",\"frame\":1}");
    assert_string_equal(frame.source, "second");
    good("{\"frame\":1}"); /* that of the line before is forgotten */
    assert_string_equal(frame.source, "");
    bad("{\"source\":\"\\x\",\"frame\":1}", "");
    bad("{\"source\":\"open", "\"source\" is a text");
}

static sk_status read_one(void *context, sk_error *err)
{
    (void)context;
    sk_jsonl_line own = {.least_keypoints = 2};
    sk_result_frame f;
    static const char text[] =
        "{\"source\":\"a\\\"b\",\"frame\":3,\"instances\":[{\"class\":1},{\"keypoints\":[[1,"
        "2,3],[1,2,3],[4,5,6]]}]}";
    const sk_status status = sk_jsonl_line_read(&own, text, sizeof text - 1, "in", &f, err);
    sk_jsonl_line_free(&own);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(read_one, NULL) >= 5);
    sk_jsonl_line_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_calendar),
        cmocka_unit_test(what_is_no_time_is_none),
        cmocka_unit_test(blanks_stand_anywhere),
        cmocka_unit_test(other_members_are_passed_over),
        cmocka_unit_test(members_have_their_form),
        cmocka_unit_test(whole_numbers_end_somewhere),
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(a_sighting_is_completed_from_its_instance),
        cmocka_unit_test(sources_are_texts),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
