/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of tables are found by their names, wherever they stand: every turn of a table's columns says the same. */
#include "results/annotations.h"
#include "support/test.h"

#include "set_said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, ROWS = 4 };

/* Rows of cells, the heading first; columns turned so that another one is the first. */
static void turned(const char *const *rows, size_t first, sk_text *out)
{
    for (size_t r = 0; r < ROWS && rows[r]; r++) {
        char copy[600], *cells[MOST];
        size_t n = 0;
        snprintf(copy, sizeof copy, "%s", rows[r]);
        for (char *at = copy; at; n++) {
            assert_true(n < MOST);
            cells[n] = at;
            at = strchr(at, ',');
            if (at)
                *at++ = '\0';
        }
        for (size_t i = 0; i < n; i++)
            sk_text_appendf(out, "%s%s", i ? "," : "", cells[(first + i) % n]);
        sk_text_append(out, "\n");
    }
}

static size_t count_of(const char *heading)
{
    size_t n = 1;
    for (; *heading; heading++)
        n += *heading == ',';
    return n;
}

static const char *const tables[][ROWS] = {
    {"frame,name,score", "0,fly,0.5", "1,mouse,0.25", NULL},
    {"frame,class,score", "0,1,0.5", "1,2,0.25", NULL},
    {"frame,source,track,class,name,time,score,x1,y1,x2,y2", "3,a.mp4,7,1,fly,0.5,0.25,1,2,30,40",
     "9,b.mp4,,2,mouse,2.5,,5,6,7,9", NULL},
    {"frame,cx,cy,w,h,angle,visible,area,length,crowd", "0,1,2,3,4,0.5,0.25,6,7,1", "1,1,2,3,4,,,,,0", NULL},
    {"frame,x,y,heading,state", "0,5,6,1.5,active", "1,5,6,,lost", "2,,6,1,covered"},
    {"FrameID,TrajectoryID,X,Y,Theta,State,DetectionConfidence", "4,7,1,2,3,active,0.5", "5,7,,,,lost,",
     NULL},
    {"id,frame,time_s,x,y,heading_deg,state,detection_confidence", "1,0,0,5,6,90,active,1",
     "1,1,0.04,5,6,,covered,1", NULL},
    {"frame,nose_x,nose_y,nose_score,nose_visible", "0,1,2,0.5,1", "1,,2,0.5,2", "2,5,6,,0"},
    {"frame,PoseKpt_nose_X,PoseKpt_nose_Y,PoseKpt_nose_Conf", "0,1,2,0.5", "1,,,", NULL},
};

static void every_turn_says_the_same(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        sk_text whole = {0};
        for (size_t first = 0; first < count_of(tables[t][0]); first++) {
            sk_text text = {0}, said = {0};
            sk_annotation_set set;
            sk_error err = {0};
            turned(tables[t], first, &text);
            if (sk_annotations_parse("in", sk_text_get(&text), text.length, &set, &err) != SK_OK)
                fail_msg("%s: %s", sk_text_get(&text), err.message);
            say_set(&set, &said);
            sk_annotations_free(&set);
            if (first == 0)
                sk_text_append(&whole, sk_text_get(&said));
            else
                assert_string_equal(sk_text_get(&said), sk_text_get(&whole));
            sk_text_free(&said);
            sk_text_free(&text);
        }
        sk_text_free(&whole);
    }
}

/* Without one of its columns a shape is none; without any there is nothing to read. */
static void every_column_is_needed(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        uint32_t has;
    } shapes[] = {{"x1,y1,x2,y2", SK_HAS_BOX}, {"cx,cy,w,h,angle", SK_HAS_OBB}, {"x,y", SK_HAS_POINT}};
    for (size_t s = 0; s < 3; s++) {
        const size_t n = count_of(shapes[s].columns);
        for (size_t without = 0; without <= n; without++) {
            sk_text text = {0};
            sk_annotation_set set;
            sk_error err = {0};
            char copy[100], *rest = NULL;
            size_t i = 0;
            snprintf(copy, sizeof copy, "%s", shapes[s].columns);
            sk_text_append(&text, "frame");
            for (char *c = strtok_r(copy, ",", &rest); c; c = strtok_r(NULL, ",", &rest), i++)
                if (i != without)
                    sk_text_appendf(&text, ",%s", c);
            sk_text_append(&text, "\n1");
            for (i = 0; i < n; i++)
                if (i != without)
                    sk_text_append(&text, ",5");
            sk_text_append(&text, "\n");
            const sk_status status = sk_annotations_parse("in", sk_text_get(&text), text.length, &set, &err);
            assert_int_equal(status, without == n ? SK_OK : SK_ERR_FORMAT);
            if (status == SK_OK) {
                assert_true(set.has == shapes[s].has && set.items[0].has == shapes[s].has);
                sk_annotations_free(&set);
            }
            sk_text_free(&text);
        }
    }
}

/* Of two columns with one name the first counts, wherever the two are. */
static void the_first_of_a_name_counts(void **state)
{
    (void)state;
    static const char *const texts[] = {"x1,frame,y1,x2,y2,x1\n1,0,2,31,42,9\n",
                                        "frame,x1,y1,x1,x2,y2\n0,1,2,9,31,42\n",
                                        "x1,x1,frame,y1,x2,y2\n1,9,0,2,31,42\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sk_annotation_set set;
        sk_error err = {0};
        assert_ok(sk_annotations_parse("in", texts[i], strlen(texts[i]), &set, &err), &err);
        assert_int_equal(set.n_items, 1);
        const double *box = set.items[0].box;
        assert_true(box[0] == 1 && box[1] == 2 && box[2] == 30 && box[3] == 40);
        sk_annotations_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_says_the_same),
        cmocka_unit_test(every_column_is_needed),
        cmocka_unit_test(the_first_of_a_name_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
