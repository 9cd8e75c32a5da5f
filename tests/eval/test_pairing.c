/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame, class and keypoint of a result is which of the truth: a table of what two files can say, and what comes of it. */
#include "support/fault.h"
#include "support/test.h"

#include "eval/pairing.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

/* A set as words: "source|frame|id …" of its images, "number:name …" of its classes, "name …" of its keypoints ("#3": so many
 * without names). An empty source is none. */
typedef struct words {
    const char *images, *classes, *keypoints;
    bool stems;
} words;

static void make(const words *w, sk_annotation_set *set)
{
    char word[64];
    int32_t ignored;
    *set = (sk_annotation_set){0};
    assert_ok(sk_annotations_begin(set, "words", &err), &err);
    set->stems = w->stems;
    for (const char *at = w->images; at && sscanf(at, "%63s", word) == 1;
         at = strstr(at, word) + strlen(word)) {
        char name[64] = "";
        long long frame = -1, id = -1;
        int32_t source = -1;
        if (sscanf(word, "%63[^|]|%lld|%lld", name, &frame, &id) < 1)
            assert_true(sscanf(word, "|%lld|%lld", &frame, &id) >= 1);
        if (name[0])
            assert_ok(sk_annotations_source(set, name, strlen(name), &source, &err), &err);
        assert_ok(sk_annotations_image(set, source, frame, id, &ignored, &err), &err);
    }
    for (const char *at = w->classes; at && sscanf(at, "%63s", word) == 1;
         at = strstr(at, word) + strlen(word)) {
        char name[64] = "";
        long long number = -1;
        assert_true(sscanf(word, "%lld:%63s", &number, name) >= 1);
        assert_ok(sk_annotations_class(set, number, name, strlen(name), &ignored, &err), &err);
    }
    const char *names[8];
    static char kept[8][64];
    int count = 0;
    for (const char *at = w->keypoints; at && sscanf(at, "%63s", word) == 1;
         at = strstr(at, word) + strlen(word))
        if (word[0] == '#') {
            assert_ok(sk_annotations_keypoints(set, word[1] - '0', NULL, &err), &err);
        } else {
            snprintf(kept[count], sizeof kept[count], "%s", word);
            names[count] = kept[count];
            count++;
        }
    if (count)
        assert_ok(sk_annotations_keypoints(set, count, names, &err), &err);
}

static const char *paired(const words *result, const words *truth, bool any_class)
{
    static char out[2048];
    sk_annotation_set r, t;
    sk_pairing p;
    make(result, &r);
    make(truth, &t);
    const sk_status status = sk_pairing_open(&r, &t, any_class, &p, &err);
    if (status != SK_OK) {
        snprintf(out, sizeof out, "error %d: %s", status, err.message);
    } else {
        size_t n = 0;
#define SAY(...) n += (size_t)snprintf(out + n, sizeof out - n, __VA_ARGS__)
        SAY("%s", p.pictures ? "pictures" : "frames");
        for (size_t i = 0; i < r.n_images; i++)
            SAY(" %d", p.image[i]);
        SAY("; ranks");
        for (size_t i = 0; i < t.n_images; i++)
            SAY(" %d", p.rank[i]);
        SAY("; classes");
        for (int32_t i = 0; i < p.n_classes; i++)
            SAY(" %s", p.class_names[i]);
        SAY(",");
        for (size_t i = 0; i < r.n_classes; i++)
            SAY(" %d", p.result_class[i]);
        SAY(" |");
        for (size_t i = 0; i < t.n_classes; i++)
            SAY(" %d", p.truth_class[i]);
        SAY("; points");
        for (int32_t i = 0; i < p.n_keypoints; i++)
            SAY(" %s:%d-%d", p.keypoint_names[i], p.result_point[i], p.truth_point[i]);
        if (p.notes.length)
            SAY("\n%s", sk_text_get(&p.notes));
        sk_pairing_free(&p);
        assert_true(!p.image && !p.class_names && p.n_classes == 0);
    }
    sk_annotations_free(&r);
    sk_annotations_free(&t);
    return out;
}

#define PAIRED(expected, result_images, truth_images)                                                        \
    assert_string_equal(paired(&(words){result_images, "0:fly", NULL, false},                                \
                               &(words){truth_images, "0:fly", NULL, false}, false),                         \
                        expected "; classes fly, 0 | 0; points")

static void images(void **state)
{
    (void)state;
    /* one video each, whatever it is called: by the frame's number */
    PAIRED("frames 0 -1 1; ranks 0 1", "a.mp4|3 a.mp4|4 a.mp4|5", "b.mp4|3 b.mp4|5");
    PAIRED("frames 1 0; ranks 1 0", "|2 |7", "|7 |2");
    /* several videos: by name, without folders, and number */
    PAIRED("frames 1 -1 0; ranks 0 1 2", "x/a.mp4|3 x/b.mp4|4 x/b.mp4|3", "y/b.mp4|3 y/a.mp4|3 y/a.mp4|9");
    PAIRED("frames 1; ranks 0 1 2", "a.mp4|3", "a.mp4|2 a.mp4|3 b.mp4|3");
    /* … with folders, where names alone are not enough */
    PAIRED("frames 1 0 -1; ranks 0 1 2", "y/a.mp4|3 x/a.mp4|3 x/a.mp4|5", "x/a.mp4|3 y/a.mp4|3 y/a.mp4|4");
    /* pictures: more sources than one, each with one frame, or no numbers: the name alone */
    PAIRED("pictures 1 0; ranks 0 1", "d/b.png|0 d/a.png|1", "a.png|5 b.png|9");
    PAIRED("pictures 0 -1; ranks 0", "a.png|-1 b.png|-1", "a.png|-1");
    PAIRED("pictures -1 0 -1; ranks 0 1", "a|0 ab|1 b|2", "ab|0 abc|1");
    PAIRED("frames 0 1; ranks 0 1", "a.mp4|0 a.mp4|1", "a.mp4|0 a.mp4|1");
    /* COCO's numbers, where one side has nothing else */
    PAIRED("pictures 1 0; ranks 1 0", "|-1|4 |-1|9", "a.png|-1|9 b.png|-1|4");
    PAIRED("pictures 1 0; ranks 0 1", "b.png|-1|9 a.png|-1|4", "|-1|4 |-1|9");
    PAIRED("pictures 0 1; ranks 0 1", "a.png|-1|9 b.png|-1|4", "a.png|-1|4 b.png|-1|9"); /* names are surer */
}

static void orders(void **state)
{
    (void)state;
    /* by number of COCO, then source, then frame */
    PAIRED("frames 0 1 2 3; ranks 1 3 0 2", "a|1|5 b|0|9 a|2|3 a|0|7", "a|1|5 b|0|9 a|2|3 a|0|7");
    PAIRED("frames 0 1 2 3; ranks 1 3 0 2", "a|5 b|2 a|1 b|1", "a|5 b|2 a|1 b|1");
}

static void endings_of_labels(void **state)
{
    (void)state;
    assert_string_equal(paired(&(words){"d/a.png|0 d/b.jpg|0 d/a.b.png|0", "0:", NULL, false},
                               &(words){"b|-1 a|-1 a.b|-1", "0:", NULL, true}, false),
                        "pictures 1 0 2; ranks 0 1 2; classes class 0, 0 | 0; points");
    assert_string_equal(paired(&(words){"a|-1 b|-1", "0:", NULL, true},
                               &(words){"b.png|-1 a.png|-1", "0:", NULL, false}, false),
                        "pictures 1 0; ranks 0 1; classes class 0, 0 | 0; points");
    assert_string_equal(
        paired(&(words){"a|-1 b|-1", "0:", NULL, false}, &(words){"b.png|-1 a|-1", "0:", NULL, false}, false),
        "pictures 1 -1; ranks 0 1; classes class 0, 0 | 0; points");
}

static void nothing_in_common(void **state)
{
    (void)state;
    assert_non_null(
        strstr(paired(&(words){"|3", NULL, NULL, false}, &(words){"|4", NULL, NULL, false}, false),
               ": the result and the truth share no frame: the result has frame 3, the truth frame 4\n"
               "they are paired by the frame's number"));
    assert_int_equal(err.code, SK_ERR_MISMATCH);
    assert_non_null(
        strstr(paired(&(words){"a.png|-1", NULL, NULL, false},
                      &(words){"b.png|-1 c.png|-1", NULL, NULL, false}, false),
               "the result has a.png -1, the truth b.png -1\nthey are paired by the picture's name, or the "
               "video's with the frame's number"));
    assert_non_null(
        strstr(paired(&(words){"|-1|3", NULL, NULL, false}, &(words){"b.png|-1|4", NULL, NULL, false}, false),
               "they are paired by COCO's image_id"));
    /* numbers that not all have are none, whichever lacks it */
    static const char *const some[] = {"a.png|-1 b.png|-1|9", "b.png|-1|9 a.png|-1"};
    for (int i = 0; i < 2; i++) {
        const words named = {some[i], NULL, NULL, false}, numbered = {"|-1|9", NULL, NULL, false};
        assert_non_null(strstr(paired(&named, &numbered, false), "they are paired by the picture's name"));
        assert_non_null(strstr(paired(&numbered, &named, false), "they are paired by the picture's name"));
    }
    /* nothing at all is no contradiction */
    assert_non_null(strstr(paired(&(words){"", NULL, NULL, false}, &(words){"|4", NULL, NULL, false}, false),
                           "frames; ranks 0"));
}

#define CLASSES(expected, result_classes, truth_classes, any)                                                \
    assert_string_equal(paired(&(words){"|0", result_classes, NULL, false},                                  \
                               &(words){"|0", truth_classes, NULL, false}, any),                             \
                        "frames 0; ranks 0; classes " expected)

static void classes(void **state)
{
    (void)state;
    /* by name where both have names, else by number; in the order of the truth's numbers, then what only the result has */
    CLASSES("bee fly ant, 1 0 2 | 1 0; points", "0:fly 1:bee 2:ant", "7:fly 3:bee", false);
    CLASSES("class 1 class 3 class 2, 0 2 | 1 0; points", "1: 2:", "3: 1:", false);
    CLASSES("fly bee, 0 1 | 0 1; points", "0: 1:", "0:fly 1:bee", false);
    CLASSES("fly class 1 class 5, 0 2 | 0 1; points", "0:fly 5:", "0:fly 1:", false);
    CLASSES("animal, 0 0 | 0 0; points", "0:fly 1:bee", "0:ant 1:fly", true);
    CLASSES("ant, 0 0 | 0; points", "0:fly 1:bee", "0:ant", true);
    CLASSES("animal, 0 | 0; points", "-1:", "-1:", false);
    CLASSES("animal, 0 0 | 0; points\none of the two files knows no classes: all are taken for one\n",
            "0:fly 1:bee", "-1:", false);
    CLASSES("animal, 0 | 0 0; points\none of the two files knows no classes: all are taken for one\n",
            "-1:", "0:fly 1:bee", false);
    CLASSES("fly, 0 | 0; points", "-1:", "0:fly", false);
    CLASSES("fly, 0 | 0; points\nthe result's only class, 'bee', is taken for the truth's, 'fly'\n", "0:bee",
            "0:fly", false);
    CLASSES("class 3, 0 | 0; points\nthe result's only class, '', is taken for the truth's, ''\n",
            "0:", "3:", false);
    CLASSES("fly, 0 | 0; points", "5:fly", "0:fly", false);
    CLASSES("fly ant bee, 1 2 | 0; points\nno class of the result ('ant' …) is one of the truth ('fly' …): "
            "--any-class compares "
            "without classes\n",
            "0:ant 1:bee", "0:fly", false);
    CLASSES("fly bee, 1 | 0 1; points", "1:bee", "0:fly 1:bee", false);
}

#define POINTS(expected, result_points, truth_points)                                                        \
    assert_string_equal(paired(&(words){"|0", "0:fly", result_points, false},                                \
                               &(words){"|0", "0:fly", truth_points, false}, false),                         \
                        "frames 0; ranks 0; classes fly, 0 | 0; points" expected)

static void keypoints(void **state)
{
    (void)state;
    POINTS(" nose:0-0 tail:1-1", "nose tail", "nose tail");
    POINTS(" tail:1-0 nose:0-1", "nose tail", "tail nose");
    POINTS(" tail:1-0\nonly the 1 keypoints both name are compared (result 2, truth 2)\n", "nose tail",
           "tail wing");
    POINTS(" nose:0-0\nonly the 1 keypoints both name are compared (result 1, truth 2)\n", "nose",
           "nose tail");
    POINTS(" nose:0-0\nonly the 1 keypoints both name are compared (result 2, truth 1)\n", "nose tail",
           "nose");
    POINTS(" a:0-0 b:1-1", "c d", "a b"); /* as many: by their order */
    POINTS(" kpt0:0-0 kpt1:1-1", "#2", "#2");
    POINTS(" a:0-0 b:1-1", "a b", "#2");
    POINTS(" a:0-0 b:1-1", "#2", "a b");
    POINTS("\nkeypoints are not compared: the result has 3, the truth 2, and no name is in both\n", "#3",
           "a b");
    POINTS("\nkeypoints are not compared: the result has 1, the truth 2, and no name is in both\n", "c",
           "a b");
    POINTS("", NULL, "a b");
    POINTS("", "a b", NULL);
}

static sk_status pair_all(void *context, sk_error *e)
{
    sk_annotation_set *sets = context;
    sk_pairing p;
    const sk_status status = sk_pairing_open(&sets[0], &sets[1], false, &p, e);
    if (status == SK_OK)
        sk_pairing_free(&p);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_annotation_set sets[2];
    make(&(words){"x/a.mp4|3 x/b.mp4|4 x/b.mp4|3", "0:fly 1:bee", "nose tail", false}, &sets[0]);
    make(&(words){"y/b.mp4|3 y/a.mp4|3 y/a.mp4|8", "0:fly 1:ant", "tail wing", false}, &sets[1]);
    assert_true(test_every_allocation(pair_all, sets) > 8);
    sk_annotations_free(&sets[0]);
    sk_annotations_free(&sets[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(orders),
        cmocka_unit_test(endings_of_labels),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(classes),
        cmocka_unit_test(keypoints),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
