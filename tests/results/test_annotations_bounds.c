/* SPDX-License-Identifier: Apache-2.0 */
/* How much a file of annotations may hold: the most that is read, and one more; and sets that grow large. */
#include "base/file.h"
#include "base/memory.h"
#include "results/annotations.h"
#include "support/test.h"

#include "repeated.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_annotation_set set;
static sk_error err;

static void read_all(const char *text)
{
    assert_ok(sk_annotations_parse("in", text, strlen(text), &set, &err), &err);
}

static void refused(const char *text, sk_status wanted, const char *why)
{
    const sk_status status = sk_annotations_parse("in", text, strlen(text), &set, &err);
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%.60s…: %s: %s", text, sk_status_text(status), status == SK_OK ? "" : err.message);
    assert_null(set.items);
}

/* --- sets --- */

/* What was added is found again, however many there are; what differs in any part is another. */
static void everything_is_found_again(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    set = (sk_annotation_set){0};
    assert_ok(sk_annotations_begin(&set, "made", &err), &err);
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < MANY; i++) {
            char name[32];
            int32_t at;
            const int n = snprintf(name, sizeof name, "name %d", i);
            assert_ok(sk_annotations_source(&set, name, (size_t)n, &at, &err), &err);
            assert_int_equal(at, i);
            assert_ok(sk_annotations_class(&set, i % 10, name, (size_t)n - 1, &at, &err), &err);
            assert_string_equal(set.classes[at].name, (name[n - 1] = '\0', name));
            assert_int_equal(set.classes[at].number, i % 10);
            assert_ok(sk_annotations_image(&set, i % 7, i / 7, -1, &at, &err), &err);
            assert_int_equal(at, 2 * i);
            assert_true(set.images[at].source == i % 7 && set.images[at].frame == i / 7 &&
                        set.images[at].id == -1 && set.images[at].width == 0 && set.images[at].video == -1);
            assert_ok(sk_annotations_image(&set, -1, -1, 3 * i, &at, &err), &err);
            assert_int_equal(at, 2 * i + 1);
            assert_int_equal(set.images[at].id, 3 * i);
        }
    assert_int_equal(set.n_sources, MANY);
    assert_int_equal(set.n_images, 2 * MANY);
    int32_t one, other;
    assert_ok(sk_annotations_class(&set, 3, "x", 1, &one, &err), &err);
    assert_ok(sk_annotations_class(&set, 4, "x", 1, &other, &err), &err);
    assert_int_not_equal(one, other);
    assert_ok(sk_annotations_class(&set, 3, "xy", 2, &other, &err), &err);
    assert_int_not_equal(one, other);
    assert_ok(sk_annotations_class(&set, 3, "xz", 1, &other, &err), &err);
    assert_int_equal(one, other);
    sk_annotations_free(&set);
    assert_true(set.n_sources == 0 && set.n_images == 0 && !set.tables);
}

static void notes_end_somewhere(void **state)
{
    (void)state;
    char line[101];
    memset(line, 'n', 100);
    line[100] = '\0';
    assert_ok(sk_annotations_begin(&set, "made", &err), &err);
    for (int i = 0; i < 200; i++)
        sk_annotations_note(&set, "%s", line);
    assert_int_equal(set.notes.length, 76 * 101); /* the last one for which 600 bytes are left */
    sk_annotations_free(&set);
    static char longer[949];
    memset(longer, 'n', 948);
    assert_ok(sk_annotations_begin(&set, "made", &err), &err);
    for (int i = 0; i < 8; i++)
        sk_annotations_note(&set, "%s", longer);
    for (int i = 0; i < 2; i++) /* for one more there are just 600 */
        sk_annotations_note(&set, "x");
    assert_int_equal(set.notes.length, 8 * 949 + 2);
    sk_annotations_free(&set);
}

/* The rate of the earliest and the latest frame with a time, to a thousandth; from one in ten seconds to 100 000 a second. */
static void rates_come_of_times(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        double rate;
    } cases[] = {{"1,0,0,1,1,0\n2,0,0,1,1,10\n", 0.1},
                 {"1,0,0,1,1,0\n2,0,0,1,1,10.1\n", 0},
                 {"0,0,0,1,1,0\n100000,0,0,1,1,1\n", 1e5},
                 {"0,0,0,1,1,0\n100001,0,0,1,1,1\n", 0},
                 {"7,0,0,1,1,0.5\n3,0,0,1,1,0.1\n5,0,0,1,1,9\n", 10},
                 {"3,0,0,1,1,0\n4,0,0,1,1,0.033367\n", 29.97},
                 {"3,0,0,1,1,0\n4,0,0,1,1,nan\n9,0,0,1,1,2\n10,0,0,1,1,\n", 3},
                 {"3,0,0,1,1,5\n4,0,0,1,1,5\n", 0},
                 {"3,0,0,1,1,5\n4,0,0,1,1,4\n", 0},
                 {"3,0,0,1,1,5\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "frame,x1,y1,x2,y2,time\n%s", cases[i].rows);
        read_all(text);
        if (fabs(set.rate - cases[i].rate) > 1e-9)
            fail_msg("%s: %g", cases[i].rows, set.rate);
        sk_annotations_free(&set);
    }
}

/* --- MOTChallenge --- */

static void numbers_of_a_mot_line(void **state)
{
    (void)state;
    static const struct {
        int more;
        uint32_t has;
        int32_t keypoints;
    } cases[] = {{5, 0, 0},
                 {6, SK_HAS_BOX, 0},
                 {7, SK_HAS_BOX, 0},
                 {8, SK_HAS_BOX, 0},
                 {9, SK_HAS_BOX, 0},
                 {10, SK_HAS_BOX, 0},
                 {11, SK_HAS_OBB, 0},
                 {12, SK_HAS_OBB, 0},
                 {13, SK_HAS_OBB, 0},
                 {14, 0, 0},
                 {15, SK_HAS_BOX | SK_HAS_OBB, 0},
                 {16, SK_HAS_BOX | SK_HAS_KEYPOINTS, 2},
                 {17, 0, 0},
                 {18, SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS, 1},
                 {19, SK_HAS_BOX | SK_HAS_KEYPOINTS, 3},
                 {20, 0, 0},
                 {21, SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS, 2},
                 {3087, SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS, 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = repeated("", "1", ",", cases[i].more, "\n");
        if (!cases[i].has) {
            char why[64];
            snprintf(why, sizeof why, "line 1: %d numbers", cases[i].more);
            refused(text, SK_ERR_FORMAT, why);
            continue;
        }
        read_all(text);
        assert_int_equal(set.has, cases[i].has);
        assert_int_equal(set.n_keypoints, cases[i].keypoints);
        assert_int_equal(set.items[0].has, cases[i].has);
        assert_int_equal(set.n_points, cases[i].keypoints);
        sk_annotations_free(&set);
    }
    refused(repeated("", "1", ",", 3088, "\n"), SK_ERR_LIMIT, "line 1: more than 3087 numbers");
}

/* The last of all frames is the two millionth: beyond, only frames with a line are listed. */
static void frames_of_a_mot_file(void **state)
{
    (void)state;
    read_all("2000001,1,1,1,1,1\n");
    assert_false(set.every_frame);
    assert_int_equal(set.n_images, 1);
    sk_annotations_free(&set);
    read_all("2000000,1,1,1,1,1\n");
    assert_true(set.every_frame);
    assert_int_equal(set.n_images, 2000000);
    sk_annotations_free(&set);
    read_all("3,9e15,1,1,1,1\n1,-9e15,1,1,1,1\n");
    assert_int_equal(set.n_images, 3);
    assert_int_equal(set.items[0].track, 9000000000000000);
    assert_int_equal(set.items[1].track, -1);
    sk_annotations_free(&set);
    refused("1,9000000000000002,1,1,1,1\n", SK_ERR_FORMAT, "the track is no whole number");
    refused("9000000000000002,1,1,1,1,1\n", SK_ERR_FORMAT, "the frame is no whole number");
}

static void read_with_info(const char *info, bool above)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/mot%d/gt", test_folder(), above);
    assert_ok(sk_folder_make(path, &err), &err);
    snprintf(path, sizeof path, "%s/mot%d/%sseqinfo.ini", test_folder(), above, above ? "" : "gt/");
    assert_ok(sk_file_replace(path, info, strlen(info), &err), &err);
    snprintf(path, sizeof path, "%s/mot%d/gt/gt.txt", test_folder(), above);
    assert_ok(sk_file_replace(path, "2,1,1,2,3,4\n", 12, &err), &err);
    assert_ok(sk_annotations_read(path, &set, &err), &err);
}

static void what_seqinfo_says(void **state)
{
    (void)state;
    static const struct {
        const char *info;
        size_t images;
        int32_t width, height;
        double rate;
    } cases[] = {{"seqLength=4\nimWidth=640\nimHeight=480\nframeRate=30\n", 4, 640, 480, 30},
                 {"[Sequence]\nframeRate=30\nseqLength=3\n", 3, 0, 0, 30},
                 {"imWidth=640\n", 2, 0, 0, 0},
                 {"imHeight=480\n", 2, 0, 0, 0},
                 {"imWidth=1048576\nimHeight=1048576\n", 2, 1048576, 1048576, 0},
                 {"imWidth=1048577\nimHeight=480\n", 2, 0, 0, 0},
                 {"imWidth=640\nimHeight=1048577\n", 2, 0, 0, 0},
                 {"imWidth=1\nimHeight=1\nframeRate=1\nseqLength=1\n", 2, 1, 1, 1},
                 {"frameRate=1000000\n", 2, 0, 0, 1000000},
                 {"frameRate=1000001\n", 2, 0, 0, 0},
                 {"frameRate=0\nframeRate=5\n", 2, 0, 0, 0},
                 {"frameRate=-5\nseqLength=-5\n", 2, 0, 0, 0},
                 {"noframeRate=5\nframeRates=6\nframeRate 7\nframeRate=8\n", 2, 0, 0, 8},
                 {"seqLength=2000001\n", 2, 0, 0, 0},
                 {"", 2, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int above = 0; above < 2; above++) {
            read_with_info(cases[i].info, above);
            assert_int_equal(set.n_images, cases[i].images);
            assert_true(set.rate == cases[i].rate);
            for (size_t k = 0; k < set.n_images; k++) {
                assert_int_equal(set.images[k].width, cases[i].width);
                assert_int_equal(set.images[k].height, cases[i].height);
            }
            sk_annotations_free(&set);
        }
    char path[4400];
    snprintf(path, sizeof path, "%s/mot1/gt/seqinfo.ini", test_folder()); /* the nearer one counts */
    assert_ok(sk_file_replace(path, "frameRate=7\n", 12, &err), &err);
    read_with_info("frameRate=9\nseqLength=5\n", true);
    assert_true(set.rate == 7 && set.n_images == 2);
    sk_annotations_free(&set);
}

/* --- tables --- */

static void columns_of_a_table(void **state)
{
    (void)state;
    const char *most = repeated("frame,x1,y1,x2,y2,", "c", ",", 8192 - 5, "\n0,1,2,3,4\n");
    read_all(most);
    assert_int_equal(set.n_items, 1);
    assert_true(set.items[0].box[2] == 2 && set.items[0].box[3] == 2);
    assert_true(set.notes.length < 400); /* not all of their names */
    sk_annotations_free(&set);
    refused(repeated("frame,x1,y1,x2,y2,", "c", ",", 8193 - 5, "\n0,1,2,3,4\n"), SK_ERR_LIMIT,
            "line 1: has more than 8192 columns");
    refused(repeated("frame,x1,y1,x2,y2\n", ",", "", 5, "\n"), SK_ERR_FORMAT, "line 2 has 6 cells");
    for (int length = 60; length <= 61; length++) {
        char name[80];
        memset(name, 'n', 61);
        name[length] = '\0';
        read_all(repeated("frame,x1,y1,x2,y2,", name, ",", 1, "\n0,1,2,3,4,5\n"));
        assert_int_equal(strstr(sk_text_get(&set.notes), name) != NULL, length == 60);
        sk_annotations_free(&set);
    }
}

static void keypoints_of_a_table(void **state)
{
    (void)state;
    for (int count = 1023; count <= 1025; count++) {
        sk_text text = {0};
        sk_text_append(&text, "frame");
        for (int i = 0; i < count; i++)
            sk_text_appendf(&text, ",p%d_x,p%d_y", i, i);
        sk_text_append(&text, "\n3");
        for (int i = 0; i < count; i++)
            sk_text_appendf(&text, ",%d,%d", i, -i);
        sk_text_append(&text, "\n");
        read_all(sk_text_get(&text));
        sk_text_free(&text);
        assert_int_equal(set.n_keypoints, count < 1024 ? count : 1024);
        for (int i = 0; i < set.n_keypoints; i++) {
            char name[16];
            snprintf(name, sizeof name, "p%d", i);
            assert_string_equal(set.keypoint_names[i], name);
            assert_true(set.points[i].x == i && set.points[i].y == -i && set.points[i].score == 1 &&
                        set.points[i].visible == 2);
        }
        sk_annotations_free(&set);
    }
}

static void frames_that_a_table_tells_of(void **state)
{
    (void)state;
    read_all("# a; frames 2000000\nframe,x1,y1,x2,y2\n1,1,2,3,4\n");
    assert_true(set.every_frame && set.n_images == 2000000);
    sk_annotations_free(&set);
    read_all("# a; frames 2000001\nframe,x1,y1,x2,y2\n1,1,2,3,4\n");
    assert_true(!set.every_frame && set.n_images == 1);
    sk_annotations_free(&set);
    read_all("# a; frames 1\nframe,source,x1,y1,x2,y2\n");
    assert_true(set.every_frame && set.n_images == 1 && set.n_sources == 1 && set.n_items == 0);
    assert_string_equal(set.sources[0], "");
    sk_annotations_free(&set);
    read_all("frame,source,x1,y1,x2,y2\n4,a,1,2,3,4\n# a; frames 2;\n");
    assert_true(set.every_frame && set.n_images == 3 && set.n_sources == 1);
    assert_int_equal(set.images[1].frame, 0);
    assert_int_equal(set.images[2].source, 0);
    sk_annotations_free(&set);
    read_all("frame,track,x1,y1,x2,y2\n1,9000000000000000,1,2,3,4\n2,-9000000000000000,1,2,3,4\n");
    assert_int_equal(set.items[0].track, 9000000000000000);
    assert_int_equal(set.items[1].track, -9000000000000000);
    sk_annotations_free(&set);
    refused("frame,track,x1,y1,x2,y2\n1,9000000000000002,1,2,3,4\n", SK_ERR_FORMAT, "line 2, column 2");
    refused("frame,x1,y1,x2,y2\n0,1234567890123456789012345678901234567890x,2,3,4\n", SK_ERR_FORMAT,
            "column 2: '1234567890123456789012345678901234567890' is no number");
    refused("frame,x1,y1,x2,y2\n0,123456789012345678901234567890123456789x,2,3,4\n", SK_ERR_FORMAT,
            "column 2: '123456789012345678901234567890123456789x' is no number");
}

/* --- JSON --- */

static void keypoints_of_json(void **state)
{
    (void)state;
    read_all(repeated("[{\"image_id\":1,\"keypoints\":[", "1,2,0.5", ",", 1024, "]}]"));
    assert_int_equal(set.n_keypoints, 1024);
    sk_annotations_free(&set);
    refused(repeated("[{\"image_id\":1,\"keypoints\":[", "1,2,0.5", ",", 1025, "]}]"), SK_ERR_FORMAT,
            "result 1: too many keypoints");
    read_all(repeated("{\"frame\":1,\"instances\":[{\"keypoints\":[", "[1,2,0.5]", ",", 1024, "]}]}"));
    assert_int_equal(set.n_keypoints, 1024);
    sk_annotations_free(&set);
    refused(repeated("{\"frame\":1,\"instances\":[{\"keypoints\":[", "[1,2,0.5]", ",", 1025, "]}]}"),
            SK_ERR_FORMAT, "line 1: too many keypoints");
    read_all(repeated("{\"frame\":1,\"instances\":[],\"keypoint_names\":[", "\"a\"", ",", 1024, "]}"));
    assert_int_equal(set.n_keypoints, 1024);
    sk_annotations_free(&set);
    refused(repeated("{\"frame\":1,\"instances\":[],\"keypoint_names\":[", "\"a\"", ",", 1025, "]}"),
            SK_ERR_FORMAT, "line 1: too many keypoint_names");
    refused("{\"frame\":1,\"instances\":[],\"keypoint_names\":[\"a\",7]}", SK_ERR_FORMAT,
            "keypoint_names is a list of texts");
}

/* How well keypoints are seen: 0, 1 and 2, what is less or more is the nearest. */
static void visibility_in_json_lines(void **state)
{
    (void)state;
    read_all("{\"frame\":1,\"instances\":[{\"keypoints\":[[1,2,0.5],[1,2,0.5],[1,2,0.5],[1,2,0.5],[1,2,null],"
             "[null,2,1]],\"keypoint_visible\":[-1,0,1,2,3,2],\"crowd\":true,\"area\":5,\"length\":6,"
             "\"visible\":0.5}]}");
    static const int32_t wanted[] = {0, 0, 1, 2, 2, 0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(set.points[i].visible, wanted[i]);
    assert_true(set.points[4].score == 1 && set.points[0].score == 0.5 && isnan(set.points[5].y));
    assert_true(set.items[0].crowd && set.items[0].area == 5 && set.items[0].length == 6 &&
                set.items[0].visible == 0.5);
    sk_annotations_free(&set);
    refused("{\"frame\":1,\"instances\":[{\"keypoints\":[[1,2,0.5]],\"keypoint_visible\":[\"x\"]}]}",
            SK_ERR_FORMAT, "keypoint_visible is a list of 0, 1 and 2");
    refused("{\"frame\":1,\"instances\":[{\"keypoints\":[[1,2,0.5]],\"keypoint_visible\":[]}]}",
            SK_ERR_FORMAT, "keypoint_visible is a list of 0, 1 and 2");
}

/* A box is all of its numbers: without one of them there is none. */
static void boxes_without_a_number(void **state)
{
    (void)state;
    for (int missing = -1; missing < 9; missing++) {
        sk_text text = {0};
        sk_text_append(&text, "{\"frame\":1,\"instances\":[{\"box\":[");
        for (int i = 0; i < 9; i++) {
            sk_text_append(&text, i == 4 ? "],\"obb\":[" : i ? "," : "");
            sk_text_append(&text, i == missing ? "null" : i == 8 ? "0.5" : "7");
        }
        sk_text_append(&text, "]}]}");
        read_all(sk_text_get(&text));
        sk_text_free(&text);
        assert_int_equal(set.items[0].has,
                         (missing >= 0 && missing < 4 ? 0 : SK_HAS_BOX) | (missing >= 4 ? 0 : SK_HAS_OBB));
        assert_int_equal(set.has, set.items[0].has);
        sk_annotations_free(&set);
    }
}

/* What is no number in a list of numbers: then there is no such shape. */
static void lists_of_other_things(void **state)
{
    (void)state;
    read_all(
        "{\"frame\":1,\"instances\":[{\"box\":[1,\"x\",3,4],\"obb\":[1,2,3,4,true]},{\"box\":[1,2,3,[4]],"
        "\"obb\":[1,2,{},4,5]},{\"box\":7,\"obb\":\"x\"},{\"box\":[1,2,3,4,5],\"obb\":[1,2,3,4]}]}");
    assert_int_equal(set.n_items, 4);
    assert_int_equal(set.items[0].has, SK_HAS_OBB); /* true is 1 */
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(set.items[i].has, 0);
    sk_annotations_free(&set);
    refused("{\"frame\":1,\"instances\":[{\"keypoints\":[[1,\"x\",3]]}]}", SK_ERR_FORMAT,
            "line 1: a keypoint is a list of x, y and score");
}

static void sizes_in_coco(void **state)
{
    (void)state;
    read_all(
        "{\"annotations\":[{\"image_id\":1,\"num_keypoints\":1000000},{\"image_id\":1,\"num_keypoints\":"
        "1000001},{\"image_id\":1,\"num_keypoints\":0},{\"image_id\":1,\"num_keypoints\":-1}],\"images\":["
        "{\"id\":1,\"width\":1000000,\"height\":1000001},{\"id\":2,\"width\":0,\"height\":-1}]}");
    assert_int_equal(set.items[0].labelled, 1000000);
    assert_int_equal(set.items[1].labelled, 1000000);
    assert_int_equal(set.items[2].labelled, 0);
    assert_int_equal(set.items[3].labelled, -1);
    assert_true(set.images[0].width == 1000000 && set.images[0].height == 1000000);
    assert_true(set.images[1].width == 0 && set.images[1].height == 0 && set.images[1].source == -1);
    assert_string_equal(sk_text_get(&set.notes),
                        "4 annotations have neither a box nor keypoints (masks are not read)\n");
    sk_annotations_free(&set);
}

/* What tells JSON lines from one object over many: both words in the first line, near its beginning. */
static void lines_and_objects(void **state)
{
    (void)state;
    char blanks[4200];
    for (int length = 4096; length <= 4098; length++) {
        const int fill = length - (int)strlen("{\"frame\":1,\"instances\"");
        memset(blanks, ' ', sizeof blanks);
        blanks[fill] = '\0';
        const char *text = repeated("{\"frame\":1,", blanks, "", 1, "\"instances\":[]}\n");
        if (length <= 4096) {
            read_all(text);
            assert_string_equal(set.format, "JSON lines");
            sk_annotations_free(&set);
        } else {
            refused(text, SK_ERR_FORMAT, "neither a COCO dataset");
        }
    }
    refused("{\n\"frame\":1,\"instances\":[]}\n", SK_ERR_FORMAT, "neither a COCO dataset");
    refused("{\"instances\":[]}\n", SK_ERR_FORMAT, "neither a COCO dataset");
    sk_text_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_found_again),
        cmocka_unit_test(notes_end_somewhere),
        cmocka_unit_test(rates_come_of_times),
        cmocka_unit_test(numbers_of_a_mot_line),
        cmocka_unit_test(frames_of_a_mot_file),
        cmocka_unit_test(what_seqinfo_says),
        cmocka_unit_test(columns_of_a_table),
        cmocka_unit_test(keypoints_of_a_table),
        cmocka_unit_test(frames_that_a_table_tells_of),
        cmocka_unit_test(keypoints_of_json),
        cmocka_unit_test(visibility_in_json_lines),
        cmocka_unit_test(boxes_without_a_number),
        cmocka_unit_test(lists_of_other_things),
        cmocka_unit_test(sizes_in_coco),
        cmocka_unit_test(lines_and_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
