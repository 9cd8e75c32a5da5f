/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of every text format, good and bad, and all that is read from them. */
#include "base/file.h"
#include "base/memory.h"
#include "results/hydra_csv.h"
#include "results/journal.h"
#include "results/jsonl_line.h"
#include "results/label_rows.h"
#include "results/result_reader.h"
#include "support/recorded.h"
#include "support/test.h"

#include "set_said.h"
#include "video_header.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_lines(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        recorded_say("  %.*s", (int)(length < 3000 ? length : 3000), text);
        text += length + (text[length] == '\n');
    }
}

static void say_one_line(const char *text)
{
    char line[2000];
    snprintf(line, sizeof line, "%s", text);
    for (char *c = line; *c; c++)
        *c = *c == '\n' ? '|' : *c == '\t' ? '>' : *c == '\r' ? '<' : *c;
    recorded_say("%s", line);
}

static void say_set_or_why(sk_status status, sk_annotation_set *set, const sk_error *err)
{
    if (status != SK_OK) {
        say_lines(recorded_own_words(err->message));
        return;
    }
    sk_text text = {0};
    say_set(set, &text);
    say_lines(sk_text_get(&text));
    sk_text_free(&text);
    sk_annotations_free(set);
}

#define COCO(annotations, more) "{\"annotations\":[" annotations "]" more "}"
#define A(more)                 "{\"image_id\":1" more "}"

static const char *const texts[] = {
    /* COCO: points */
    "[" A(",\"keypoints\":[1,2,0.5,0,0,0,3,0,0,0,4,0,0,0,0.1]") "]",
    "[" A(",\"keypoints\":[1,2,null,null,2,1,3,null,1]") "]",
    "[" A(",\"keypoints\":[1,\"x\",1]") "]",
    COCO(A(",\"keypoints\":[1,2,0,3,4,1,5,6,2,7,8,3,0,0,2,null,1,2]"), ""),
    COCO(A(",\"keypoints\":[1,2,2],\"num_keypoints\":1") "," A(",\"keypoints\":[]") "," A(
             ",\"num_keypoints\":-5"),
         ""),
    COCO(A(",\"num_keypoints\":2000000"), ""),
    "[" A(",\"keypoints\":[1,2]") "]",
    "[" A(",\"keypoints\":[1,2,3]") "," A(",\"keypoints\":[1,2,3,4,5,6]") "]",
    /* COCO: boxes and the rest */
    "[" A(",\"bbox\":[1,2,3,4],\"score\":0.5,\"category_id\":7") "," A(",\"bbox\":[1,2,3]") "," A(
        ",\"bbox\":"
        "[1,2,3,"
        "null]") "," A(",\"bbox\":[null,2,3,4]") "," A(",\"bbox\":[1,null,3,4]") "," A(",\"bbox\":[1,2,null,"
                                                                                       "4]") "," A(",\"b"
                                                                                                   "box"
                                                                                                   "\":"
                                                                                                   "7") "]",
    "[" A(",\"obb\":[1,2,3,4,0.5]") "," A(",\"obb\":[1,2,3,4]") "," A(
        ",\"area\":12,\"length\":3,\"visible\":0.5") "]",
    COCO(A(",\"iscrowd\":1,\"bbox\":[0,0,1,1]") "," A(",\"iscrowd\":0,\"bbox\":[0,0,1,1]"), ""),
    COCO(
        A(",\"track_id\":3") "," A(",\"instance_id\":4") "," A(",\"attributes\":{\"track_id\":5}") "," A(
            ",\"track_id\":0,\"instance_id\":4") "," A(",\"track_id\":-1,\"instance_id\":0") "," A(",\"track_"
                                                                                                   "id\":-1,"
                                                                                                   "\"instanc"
                                                                                                   "e_id\":-"
                                                                                                   "1,"
                                                                                                   "\"attribu"
                                                                                                   "tes\":{"
                                                                                                   "\"track_"
                                                                                                   "id\":0}"),
        ""),
    COCO(A(""), ",\"images\":[{\"id\":1,\"file_name\":\"a.jpg\",\"width\":64,\"height\":48},{\"id\":2,"
                "\"video\":\"v.mp4\",\"file_name\":"
                "\"v_1.jpg\",\"frame\":0,\"video_id\":3,\"width\":-5,\"height\":9999999},{\"id\":0}]"),
    COCO("", ",\"images\":[{\"id\":-1}]"),
    COCO("", ",\"images\":[{\"id\":\"a\"}]"),
    COCO("", ",\"images\":[7]"),
    COCO(A(",\"category_id\":2"),
         ",\"categories\":[{\"id\":2,\"name\":\"fly\",\"keypoints\":[]},{\"id\":3,\"keypoints\":[\"a\"]}]"),
    COCO(A(",\"keypoints\":[1,2,2]"),
         ",\"categories\":[{\"id\":1,\"keypoints\":[\"head\"]},{\"id\":2,\"keypoints\":[\"other\"]}]"),
    COCO(A(",\"keypoints\":[1,2,2]"), ",\"categories\":[{\"id\":1,\"keypoints\":[7]}]"),
    COCO(A(",\"keypoints\":[1,2,2]"), ",\"categories\":[{\"id\":1,\"keypoints\":[\"a\",\"b\"]}]"),
    COCO("", ",\"categories\":[{\"name\":\"x\"}]"),
    COCO("{\"image_id\":-1}", ""),
    COCO("{\"image_id\":0,\"bbox\":[0,0,1,1]}", ""),
    COCO("7", ""),
    "{\"images\":[]}",
    "{\"annotations\":7}",
    "[]",
    "[7]",
    "[" A("") "] x",
    /* MOT */
    "1,2,3,4,5,6\n",
    "1 2 3 4 5 6\n2 2 3 4 5 6 \n",
    "1,2,3,4,5\n1,2\n",
    "1,2\n",
    "0,1,3,4,5,6,0.5\n1,1,3,4,5,6,0.5\n",
    "1,1,3,4,5,6,0.5\n1,-1,3,4,5,6,-1\n3,0,3,4,5,6,0\n",
    "1,1,3,4,5,6,1,2\n1,2,3,4,5,6,1,3\n2,2,3,4,5,6,0,9\n",
    "1,1,3,4,5,6,1,2\n2,2,3,4,5,6,0,9\n",
    "1,1,3,4,5,6,0,9\n2,2,3,4,5,6,0,8\n",
    "1,1,3,4,5,6,1,2.5\n1,1,3,4,5,6,1,-2\n",
    "1,1,3,4,5,6,1,2,0.25\n1,2,3,4,5,6,1,2,-1\n1,3,3,4,5,6,1,2,1\n",
    "1,1,3,4,5,6,1,2,0.25\n1,2,3,4,5,6,1,2,1.5\n",
    "1,1,3,4,5,6,1,2,0.25\n1,2,3,4,5,6,1,2,-0.5\n",
    "1,1,3,4,5,6,1,2,-1,-1\n1,2,3,4,5,6,1,3,-1,-1\n",
    "1,1,3,4,5,6,1,2,-1,-1\n1,2,3,4,5,6,1,3,4,-1\n1,2,3,4,5,6,1,3,-1,-1\n",
    "1,1,3,4,5,6,1,2,-1,5\n",
    "1,1,0,0,10,0,10,5,0,5,0.5\n",
    "1,1,0,0,10,0,10,5,0,5,0.5,2\n",
    "1,1,0,0,10,0,10,5,0,5,0.5,2,0.7\n2,1,0,0,10,0,10,5,0,nan,0.5,2,0.7\n",
    "1,1,3,4,5,6,1,2,-1,-1,7,8,0.5\n1,1,3,4,5,6,1,2,-1,-1,nan,8,0.5\n1,1,3,4,5,6,1,2,-1,-1,7,NaN,nan\n",
    "1,1,3,4,5,6,1,2,-1,-1,9,9,4,2,0.5\n1,1,3,4,5,6,1,2,-1,-1,9,nan,4,2,0.5\n",
    "1,1,3,4,5,6,1,2,-1,-1,9,9,4,2,0.5,1,2,0.5,3,4,0.25\n",
    "1,1,3,4,5,6,1,2,-1,-1,1,2,3,4\n",
    "1.5,1,3,4,5,6\n",
    "1,1.5,3,4,5,6\n",
    "-1,1,3,4,5,6\n",
    "1,1,3,nan,5,6\n",
    "1,1,3,4,-5,6\n",
    "1,1,3,4,5,-6\n",
    "1,1,3,4,0,0\n",
    "1,1,3,4,5,6\n1,1,3,4,5,6,7\n",
    "1,1,3,4,5,6\n# a remark\n\n  \t\n2,1,3,4,5,x\n",
    "1,1,3,4,5,1e999\n",
    "1,1,3,4,5,6\r\n2,1,3,4,5,6\r\n",
    "1,9e15,3,4,5,6\n1,9e15,3,4,5,6\n",
    "1,1e16,3,4,5,6\n",
    /* CSV */
    "frame,x1,y1,x2,y2\n0,1,2,3,4\n",
    "frame,x1,y1,x2,y2,score\n0,1,2,3,4,\n1, 1 ,2,3,nan,0.5\n2,NaN,2,3,4,1\n",
    "FrameID,TrajectoryID,X,Y,Theta,State,DetectionConfidence,DetectionID,Strange\n3,7,1,2,0.5,active,0.9,1,"
    "x\n4,7,,,,lost,,,\n",
    "id,frame,time_s,x,y,heading_deg,state,detection_confidence\n1,0,0,5,6,90,active,1\n1,1,0.04,5,6,,"
    "covered,1\n",
    "frame,x,y\n0,1,2\n1,,2\n",
    "frame,cx,cy,w,h,angle,x,y\n0,1,2,3,4,0.5,9,9\n1,1,2,3,4,,9,9\n",
    "frame,class,name,score\n0,1,fly,0.5\n1,,mouse,0.5\n2,3,,0.5\n",
    "frame,name\n0,fly\n",
    "frame,score\n0,1\n",
    "frame,a_x,a_y,a_score,b_x,b_y,b_visible,c_x\n0,1,2,0.5,3,4,1,9\n1,1,,0.5,3,4,0,9\n2,1,2,,3,4,2,9\n3,1,2,"
    "1,3,4,,9\n4,1,2,1,3,4,5,9\n",
    "frame,PoseKpt_a_X,PoseKpt_a_Y,PoseKpt_a_Conf\n0,1,2,0.5\n",
    "frame,_x,_y,a_conf,a_x,a_y\n0,1,2,3,4,5\n",
    "frame,frame,x1,y1,x2,y2\n0,5,1,2,3,4\n",
    "frame,x1,y1,x2,y2,time\n0,1,2,3,4,0\n50,1,2,3,4,2\n25,1,2,3,4,9\n",
    "frame,x1,y1,x2,y2,time\n0,1,2,3,4,0\n1,1,2,3,4,1e9\n",
    "frame,x1,y1,x2,y2,time\n0,1,2,3,4,0\n1000000,1,2,3,4,1\n",
    "frame,x1,y1,x2,y2,time\n0,1,2,3,4,0\n1,1,2,3,4,9.999\n",
    "frame,x1,y1,x2,y2,time\n5,1,2,3,4,1\n",
    "frame,x1,y1,x2,y2,crowd,visible,area,length\n0,1,2,3,4,1,0.5,6,7\n1,1,2,3,4,0,,,\n",
    "frame,source,x1,y1,x2,y2\n0,\"a, \"\"b\"\".mp4\",1,2,3,4\n0,c.mp4,1,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,\"1\"x,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,\"1,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,\"1\n\",2,3,4\n",
    "frame,x1,y1,x2,y2\n0,1\n",
    "frame,x1,y1,x2,y2\n0,1,2,3,4,5\n",
    "frame,track,x1,y1,x2,y2\n0,-1,1,2,3,4\n0,0,1,2,3,4\n0,9e15,1,2,3,4\n0,1e16,1,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,one,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,a text that is longer than forty characters are,2,3,4\n",
    "frame,x1,y1,x2,y2\n0,1e400,2,3,4\n",
    "frame,x1,y1,x2,y2\n-1,1,2,3,4\n",
    "# made; frames 3;\nframe,x1,y1,x2,y2\n1,1,2,3,4\n",
    "# made; frames 3\r\nframe,x1,y1,x2,y2\n1,1,2,3,4\n",
    "# made; frames 3x;\nframe,x1,y1,x2,y2\n1,1,2,3,4\n",
    "# made; frames 0;\nframe,x1,y1,x2,y2\n1,1,2,3,4\n",
    "# made; frames 2000001;\nframe,x1,y1,x2,y2\n1,1,2,3,4\n",
    "# made; frames 2\nframe,source,x1,y1,x2,y2\n1,a,1,2,3,4\n1,b,1,2,3,4\n",
    "\xef\xbb\xbf frame,x1,y1,x2,y2\n0,1,2,3,4",
    "frame,x1,y1,x2,y2\r\n\r\n0,1,2,3,4\r\n\n",
    "frame,instance,utc,certainty,other,a_column_with_a_name_that_is_longer_than_sixty_characters_is_not_"
    "told,x,y\n0,1,2,3,4,5,6,7\n",
    "x,y\n1,2\n",
    /* JSON lines */
    "{\"frame\":0,\"instances\":[]}\n",
    "{\"source\":\"a\",\"frame\":0,\"time\":0,\"instances\":[{\"class\":1,\"name\":\"x\",\"score\":0.5,"
    "\"box\":[1,2,3,4],\"track\":5}]}\n"
    "{\"source\":\"a\",\"frame\":2,\"time\":0.5,\"instances\":[{\"obb\":[1,2,3,4,0.5],\"state\":\"lost\"},{"
    "\"keypoints\":[[1,2,0.5]]}]}",
    "{\"frame\":0,\"keypoint_names\":[\"h\",\"t\"],\"instances\":[{\"keypoints\":[[1,2,0.5],[null,null,0]]}]}"
    "\n",
    "{\"frame\":0,\"keypoint_names\":[\"h\"],\"instances\":[{\"keypoints\":[[1,2,0.5],[null,null,0]]}]}\n",
    "{\"frame\":0,\"instances\":[{\"keypoints\":[[1,2,1]]},{\"keypoints\":[[1,2,1],[1,2,1]]}]}\n",
    "{\"frame\":0,\"instances\":[{\"box\":[1,2,3]},{\"box\":[1,2,3,null]},{\"obb\":[1,2,3,4]}]}\n",
    "{\"frame\":-1,\"instances\":[]}\n",
    "{\"frame\":0.5,\"instances\":[]}\n",
    "{\"instances\":[],\"frame\":\"x\"}\n",
    "{\"frame\":0,\"instances\":7}\n",
    "{\"frame\":0,\"instances\":[]}\n\n  \n{\"frame\":1,\"instances\":[]}\n",
    "{\"frame\":0,\"instances\":[{\"class\":0,\"state\":\"active\",\"x\":5,\"y\":6,\"heading\":1}]}\n",
    " \t\r\n{\"frame\":0,\"instances\":[]}",
    "",
    " \r\n\t",
};

static void small_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sk_annotation_set set;
        sk_error err = {0};
        say_one_line(texts[i]);
        const sk_status status = sk_annotations_parse("in", texts[i], strlen(texts[i]), &set, &err);
        if (status == SK_OK && set.n_images > 60) { /* too many to be told */
            recorded_say("  %zu images", set.n_images);
            sk_annotations_free(&set);
            continue;
        }
        say_set_or_why(status, &set, &err);
    }
    recorded_check("tests/fixtures/results/recorded/small_files.txt");
}

/* What a tracker thinks becomes no detection, and a place has no size. */
static void as_detections(void **state)
{
    (void)state;
    static const char *const some[] = {
        "frame,x,y,state\n0,1,2,active\n1,1,2,lost\n",
        "frame,x,y,x1,y1,x2,y2,state\n0,1,2,3,4,5,6,active\n1,1,2,3,4,5,6,lost\n",
        "frame,x,y,a_x,a_y\n0,1,2,3,4\n", "frame,x1,y1,x2,y2,crowd\n0,1,2,3,4,1\n"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int body = 0; body < 2; body++) {
            sk_annotation_set set;
            sk_error err = {0};
            say_one_line(some[i]);
            assert_ok(sk_annotations_parse("in", some[i], strlen(some[i]), &set, &err), &err);
            const sk_status status = sk_annotations_as_detections("in", body * 20.0, &set, &err);
            if (status != SK_OK)
                sk_annotations_free(&set);
            say_set_or_why(status, &set, &err);
        }
    recorded_check("tests/fixtures/results/recorded/detections.txt");
}

/* --- label lines --- */

static void label_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t n, per;
        bool truth;
    } some[] = {
        {"0 0.5 0.5 0.2 0.4\n1 0.1 0.1 0.1 0.1\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.9\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.9 7\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.9 0\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.9 7.5\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.9 -1\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4\n0 0.5 0.5 0.2 0.4\n1 0.5 0.5 0.2 0.4\n0 0.5 0.5 0.2 0.5\n", 0, 0, true},
        {"0 0.5 0.5 0.2 0.4\n0 0.5 0.5 0.2 0.4\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2 0.5\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2 0.5 3\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2\n1 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2\n", 0, 0, true},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2 0.5\n1 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2 0.5\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1 0.3 0.2\n1 0.1 0.1 0.3 0.1 0.3\n", 0, 0, false},
        {"0 0.1 0.1 0.3 0.1\n1 0.1 0.1 0.3 0.1 0.3 0.2\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 2 0.3 0.4 1 0 0 0\n", 0, 0, true},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 2 0.3 0.4 1 0 0 0\n", 0, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.5 0.3 0 0.25 0 0.4 0.5 0 0 0.9\n", 4, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.5\n", 1, 3, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.5 0.9\n", 1, 3, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.5 0.9 4\n", 1, 3, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.3 0\n0 0.5 0.5 0.2 0.4 -0.1 0.2 0 -0.5\n", 2, 2, true},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.3 0\n0 0.5 0.5 0.2 0.4 0 0 0 0.5\n", 2, 2, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 0.3 0 0.9\n", 2, 0, false},
        {"0 0.5 0.5 0.2 0.4 0.1 0.2 3\n", 0, 0, true},
        {"0 0.5 0.5 0.2 0.4\n", 3, 2, true},
        {"", 0, 0, true},
        {"\xef\xbb\xbf"
         "0 0.5 0.5 0.2 0.4\r\n\r\n  \t1\t0.5\t0.5\t0.2\t0.4\n",
         0, 0, true},
        {"x 0.5 0.5 0.2 0.4\n", 0, 0, true},
        {"0 0.5 y 0.2 0.4\n", 0, 0, true},
        {"-1 0.5 0.5 0.2 0.4\n", 0, 0, true},
        {"1.5 0.5 0.5 0.2 0.4\n", 0, 0, true},
        {"0 0.5 0.5 0.2\n", 0, 0, true},
        {"0\n", 0, 0, true},
        {"0 0.5 0.5 0.2 inf\n", 0, 0, true},
        {"9999999999 0.5 0.5 0.2 0.4\n", 0, 0, true},
        {"0.0 0.5 0.5 0.2 0.4\n", 0, 0, true},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int sized = 0; sized < 2; sized++) {
            sk_error err = {0};
            sk_annotation_set set = {0};
            sk_label_rows rows = {0};
            sk_label_form form = {0};
            int32_t source, image;
            say_one_line(some[i].text);
            assert_ok(sk_annotations_begin(&set, "label text", &err), &err);
            assert_ok(sk_annotations_source(&set, "a", 1, &source, &err), &err);
            assert_ok(sk_annotations_image(&set, source, -1, -1, &image, &err), &err);
            set.images[image].width = sized ? 640 : 0;
            set.images[image].height = sized ? 480 : 0;
            sk_status status =
                sk_label_rows_parse("in", some[i].text, strlen(some[i].text), image, &rows, &err);
            if (status == SK_OK)
                status = sk_label_rows_form("in", &rows, some[i].n, some[i].per, &form, &err);
            recorded_say("  %d x %d%s%s%s%s", form.n_keypoints, form.per_keypoint,
                         form.polygon ? " polygons" : "", form.corners ? " corners" : "",
                         form.confidence ? " confidence" : "", form.track ? " track" : "");
            if (status == SK_OK)
                status = sk_label_rows_add(&rows, &form, some[i].truth, &set, &err);
            sk_label_rows_free(&rows);
            if (status != SK_OK)
                sk_annotations_free(&set);
            say_set_or_why(status, &set, &err);
        }
    recorded_check("tests/fixtures/results/recorded/label_lines.txt");
}

/* --- lines of results --- */

static void result_lines(void **state)
{
    (void)state;
#define IN(instance) "{\"source\":\"a\",\"frame\":3,\"time\":1.5,\"instances\":[" instance "]}"
    static const char *const lines[] = {
        IN(""),
        IN("{\"class\":1,\"score\":0.5,\"box\":[1,2,3,4]}"),
        IN("{\"class\":0,\"obb\":[1,2,3,4,0.5],\"track\":4,\"tracking_score\":0.25}"),
        IN("{\"class\":-1,\"keypoints\":[[1,2,0.5],[null,null,0]]}"),
        IN("{\"keypoints\":[[1,2,0.5]]},{\"keypoints\":[[1,2,0.5],[3,4,1]]}"),
        IN("{\"track\":4,\"state\":\"active\",\"x\":5,\"y\":6,\"heading\":1,\"uncertainty\":2}"),
        IN("{\"track\":4,\"state\":\"covered\",\"x\":5,\"y\":6},{\"track\":5,\"state\":\"lost\"}"),
        IN("{\"track\":4,\"state\":\"sleeping\"}"),
        IN("{\"track\":-1}"),
        IN("{\"track\":-2}"),
        IN("{\"track\":3000000000}"),
        IN("{\"class\":-2}"),
        IN("{\"class\":3000000000}"),
        IN("{\"box\":[1,2,3]}"),
        IN("{\"box\":[1,2,3,4,5]}"),
        IN("{\"box\":[1,2,null,4]}"),
        IN("{\"obb\":[1,2,3,4]}"),
        IN("{\"keypoints\":[[1,2]]}"),
        IN("{\"keypoints\":[]}"),
        IN("{\"keypoints\":7}"),
        IN("{\"score\":null,\"name\":\"x\",\"other\":[{}]}"),
        IN("7"),
        "{\"source\":\"a\",\"frame\":3,\"utc\":\"2026-01-02T03:04:05.678Z\",\"instances\":[]}",
        "{\"source\":\"a\",\"frame\":3,\"utc\":\"2026-01-02T03:04:05Z\",\"instances\":[]}",
        "{\"source\":\"a\",\"frame\":3,\"utc\":\"yesterday\",\"instances\":[]}",
        "{\"frame\":3,\"instances\":[]}",
        "{\"source\":\"a\",\"instances\":[]}",
        "{\"source\":\"a\",\"frame\":-3,\"instances\":[]}",
        "{\"source\":\"a\",\"frame\":3.5,\"instances\":[]}",
        "{\"source\":\"a\",\"frame\":3}",
        "{\"source\":\"\\u00e9\\n\",\"frame\":9007199254740993,\"time\":-1,\"instances\":[]}",
        "{\"instances\":[],\"frame\":2,\"source\":\"late\"}",
        "[]",
        "",
        "{",
        IN("") " x",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int least = 0; least < 4; least += 3) {
            sk_jsonl_line line = {.least_keypoints = least};
            sk_error err = {0};
            sk_result_frame frame;
            recorded_say("%s", lines[i]);
            recorded_say("  number %lld", (long long)sk_jsonl_line_number(lines[i], strlen(lines[i])));
            if (sk_jsonl_line_read(&line, lines[i], strlen(lines[i]), "in", &frame, &err) == SK_OK) {
                sk_text text = {0};
                say_frame(&frame, &text);
                recorded_say("  room for %d keypoints", frame.instances->n_keypoints);
                say_lines(sk_text_get(&text));
                sk_text_free(&text);
            } else {
                say_lines(recorded_own_words(err.message));
            }
            sk_jsonl_line_free(&line);
        }
    recorded_check("tests/fixtures/results/recorded/result_lines.txt");
}

/* A file that is begun anew, by another of its name or shorter than it was, is read anew. */
static void files_that_begin_anew(void **state)
{
    (void)state;
    char path[4300], other[4300];
    sk_error err = {0};
    sk_result_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/anew.jsonl", test_folder());
    snprintf(other, sizeof other, "%s/other.jsonl", test_folder());
#define LINE(n) "{\"source\":\"a\",\"frame\":" #n ",\"time\":0,\"instances\":[]}\n"
    static const char *const steps[] = {LINE(0) LINE(1), LINE(0) LINE(1) LINE(2),
                                        LINE(0) LINE(1) LINE(2) "{\"sou", LINE(5)};
    static const int counts[] = {2, 3, 3, 1}, rounds[] = {0, 0, 0, 1};
    int64_t begun = -1;
    for (int i = 0; i < 4; i++) {
        FILE *file = fopen(path, i < 3 ? "r+b" : "wb");
        file = file ? file : fopen(path, "wb");
        assert_non_null(file);
        assert_true(fputs(steps[i], file) >= 0);
        fclose(file);
        if (!reader)
            assert_ok(sk_result_reader_open_jsonl(path, 0, &reader, &err), &err);
        assert_ok(sk_result_reader_refresh(reader, &err), &err);
        if (begun < 0)
            begun = sk_result_reader_round(reader);
        assert_int_equal(sk_result_reader_count(reader), counts[i]);
        assert_int_equal(sk_result_reader_round(reader) - begun, rounds[i]);
    }
    assert_int_equal(sk_result_reader_number(reader, 0), 5);
    assert_false(sk_result_reader_finished(reader));
    /* another file of the same name, longer */
    FILE *file = fopen(other, "wb");
    assert_non_null(file);
    assert_true(fputs(LINE(7) LINE(8), file) >= 0);
    fclose(file);
    assert_int_equal(rename(other, path), 0);
    assert_ok(sk_result_reader_refresh(reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 2);
    assert_int_equal(sk_result_reader_round(reader) - begun, 2);
    assert_int_equal(sk_result_reader_number(reader, 1), 8);
    sk_result_frame frame;
    assert_ok(sk_result_reader_read(reader, 1, &frame, &err), &err);
    assert_int_equal(frame.index, 8);
    for (int64_t f = 0; f < 10; f++)
        assert_int_equal(sk_result_reader_find(reader, f), f <= 7 ? 0 : f == 8 ? 1 : 2);
    sk_result_reader_close(&reader);
    assert_null(reader);
    assert_int_not_equal(sk_result_reader_open_jsonl(test_missing("x"), 0, &reader, &err), SK_OK);
    assert_int_not_equal(sk_result_reader_open_journal(test_missing("x"), &reader, &err), SK_OK);
}

/* What a run is may take 16 MiB to say, no more; a journal that was cut off within that has nothing to lose. */
static void the_longest_identity(void **state)
{
    (void)state;
    const size_t most = (size_t)16 << 20;
    char path[4300], *identity = sk_malloc(most + 2), *other = NULL;
    sk_error err = {0};
    sk_journal *journal = NULL;
    assert_non_null(identity);
    memset(identity, 'i', most + 1);
    identity[most + 1] = '\0';
    snprintf(path, sizeof path, "%s/long-journal", test_folder());
    assert_int_equal(sk_journal_open(path, identity, "now", false, &journal, &other, &err), SK_ERR_LIMIT);
    assert_null(journal);
    identity[most] = '\0';
    for (int cut = 0; cut < 3; cut++) { /* whole, within the identity, within the head */
        assert_ok(sk_journal_open(path, identity, cut ? "later" : "now", false, &journal, &other, &err),
                  &err);
        assert_string_equal(sk_journal_stamp(journal), cut ? "later" : "now"); /* it began anew */
        sk_journal_close(&journal);
        assert_ok(sk_journal_open(path, identity, "never", false, &journal, &other, &err), &err);
        assert_string_equal(sk_journal_stamp(journal), cut ? "later" : "now");
        sk_journal_close(&journal);
        assert_int_equal(truncate(path, cut ? 20 : (off_t)most - 5), 0);
    }
    sk_free(identity);
}

/* --- upstream's tables --- */

static void tables_of_tracks(void **state)
{
    (void)state;
    static const char *const names[] = {"nose, \"tip\"", "tail"};
    static const sk_hydra_table tables[] = {SK_HYDRA_RAW, SK_HYDRA_FINAL, SK_HYDRA_USER};
    for (int t = 0; t < 3; t++)
        for (int k = 0; k < 4; k++) {
            const sk_hydra_csv_header header = {k % 2 ? 30 : 0, k > 1, k > 1 ? 2 : 0, names};
            char path[4300], *text = NULL;
            size_t bytes;
            sk_error err = {0};
            sk_hydra_csv *csv = NULL;
            snprintf(path, sizeof path, "%s/table-%d-%d.csv", test_folder(), t, k);
            assert_ok(sk_hydra_csv_open(path, tables[t], &header, &csv, &err), &err);
            for (int frame = 0; frame < 4; frame++) {
                sk_sighting seen[3];
                sk_hydra_more more[3];
                const sk_keypoint points[2] = {{1.5f, 2.25f, 0.5f}, {NAN, NAN, 0.25f}};
                for (int i = 0; i < 3; i++) {
                    const bool found = (frame + i) % 3 != 0;
                    seen[i] = (sk_sighting){.frame = frame,
                                            .track = 5 - 2 * i,
                                            .place = i,
                                            .detection = found ? i : -1,
                                            .state = (sk_track_state)(found ? 0 : 1 + i % 2),
                                            .x = 10.49 + i + 0.1 * frame,
                                            .y = 20.5 + frame,
                                            .heading = 0.1 * frame + 3 * i,
                                            .score = found ? 0.1 + 0.2 : NAN,
                                            .certainty = 1.0 / 3,
                                            .uncertainty = 1e-7 * i};
                    more[i] = (sk_hydra_more){found && i ? points : NULL, i - 1, i == 2 ? "Ann, \"A\"" : NULL,
                                              0.75 * i};
                }
                assert_ok(sk_hydra_csv_add(csv, seen, k % 4 == 1 ? NULL : more, 3 - (frame == 2), &err),
                          &err);
            }
            assert_false(sk_file_exists(path));
            assert_ok(sk_hydra_csv_finish(&csv, &err), &err);
            assert_null(csv);
            assert_ok(sk_file_read(path, 1 << 20, &text, &bytes, &err), &err);
            recorded_say("table %d %d", t, k);
            say_lines(text);
            sk_free(text);
        }
    for (int64_t frame = 0; frame < 3; frame++) {
        assert_int_equal(sk_hydra_detection_id(frame, 0), frame * 10000);
        assert_int_equal(sk_hydra_detection_id(frame, 9999), frame * 10000 + 9999);
        assert_int_equal(sk_hydra_detection_id(frame, 10000), ((int64_t)1 << 52) + frame * 65536 + 10000);
        assert_int_equal(sk_hydra_detection_id(frame, 65535), ((int64_t)1 << 52) + frame * 65536 + 65535);
    }
    recorded_check("tests/fixtures/results/recorded/tables.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files),           cmocka_unit_test(as_detections),
        cmocka_unit_test(label_lines),           cmocka_unit_test(result_lines),
        cmocka_unit_test(files_that_begin_anew), cmocka_unit_test(the_longest_identity),
        cmocka_unit_test(tables_of_tracks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
