/* SPDX-License-Identifier: Apache-2.0 */
/* Where pictures and their labels are looked for: lists, folders in folders, folders called as classes; and what a data.yaml says. */
#include "base/memory.h"
#include "media/picture_size.h"
#include "results/label_set.h"
#include "support/test.h"

#include "label_files.h"

#include <unistd.h>

static const char *name_of(const sk_annotation_set *set, size_t item)
{
    return sk_path_name(set->sources[set->images[set->items[item].image].source]);
}

/* Lists of pictures: with the mark of UTF-8 or without, blanks before a name, ends of lines of any kind; "./" is beside the list. */
static void lists_of_pictures(void **state)
{
    (void)state;
    const char *folder = make_set("lists", "0 0.5 0.5 0.5 0.5\n");
    char absolute[4400], list[9000];
    snprintf(absolute, sizeof absolute, "%s/images/val/b.png", folder);
    write_text(in(folder, "labels/val/b.txt"), "0 0.25 0.25 0.5 0.5\n");
    write_text(in(folder, "data.yaml"), "val: list.txt\nnames: [cat]\n");
    for (int mark = 0; mark < 2; mark++)
        for (int form = 0; form < 3; form++) {
            static const char *const ends[] = {"\n", "\r\n", "\n\n"};
            snprintf(list, sizeof list, "%s%s./images/val/a.png%snotes.txt%s\t %s%s",
                     mark ? "\xef\xbb\xbf" : "", form ? " " : "", ends[form], ends[form], absolute,
                     ends[form]);
            write_text(in(folder, "list.txt"), list);
            sk_annotation_set set;
            sk_error err = {0};
            assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
            assert_true(set.n_images == 2 && set.n_items == 2 && set.stems && set.every_frame);
            assert_string_equal(name_of(&set, 0), "a");
            assert_string_equal(name_of(&set, 1), "b");
            expect_four(set.items[0].box, 50, 25, 100, 50);
            expect_four(set.items[1].box, 0, 0, 50, 50);
            assert_true(set.images[0].width == 200 && set.images[0].height == 100 &&
                        set.images[1].width == 100);
            sk_annotations_free(&set);
        }
    write_text(in(folder, "list.txt"), "");
    sk_annotation_set set;
    sk_error err = {0};
    assert_int_equal(sk_annotations_read(in(folder, "data.yaml"), &set, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "its 'val' holds no pictures"));
}

/* A path that is not here lies in the folder that Ultralytics' own settings name, or beside the file. */
static void the_folder_of_datasets(void **state)
{
    (void)state;
    const char *made = make_set("sets/own", "0 0.5 0.5 0.5 0.5\n");
    char folder[4300], settings[4400], text[9000];
    sk_error err = {0};
    sk_annotation_set set;
    snprintf(folder, sizeof folder, "%s/config", test_folder());
    assert_ok(sk_folder_make(in(folder, "home/.config/Ultralytics"), &err), &err);
    assert_ok(sk_folder_make(in(folder, "ul"), &err), &err);
    snprintf(text, sizeof text, "{\"datasets_dir\": \"%s/sets\"}", test_folder());
    write_text(in(folder, "elsewhere.yaml"), "path: own\nval: images/val\nnames: [cat]\n");
    assert_non_null(made);
    static const char *const places[] = {"ul/settings.json", "home/.config/Ultralytics/settings.json"};
    for (int home = 0; home < 2; home++) {
        snprintf(settings, sizeof settings, "%s/%s", folder, places[home]);
        write_text(settings, text);
        setenv("HOME", in(folder, "home"), 1);
        setenv("YOLO_CONFIG_DIR", home ? "" : in(folder, "ul"), 1);
        assert_ok(sk_annotations_read(in(folder, "elsewhere.yaml"), &set, &err), &err);
        assert_true(set.n_items == 1 && set.n_images == 2);
        assert_string_equal(sk_text_get(&set.notes),
                            "1 of 2 pictures have no label file: nothing is to be found in them\n");
        sk_annotations_free(&set);
        static const char *const useless[] = {"{}", "no JSON", "{\"datasets_dir\": \"/nowhere\"}"};
        for (int i = 0; i < 3; i++) {
            write_text(settings, useless[i]);
            assert_int_equal(sk_annotations_read(in(folder, "elsewhere.yaml"), &set, &err), SK_ERR_NOT_FOUND);
            assert_non_null(strstr(err.message,
                                   "val: images/val: there is no such folder or list: not from its "
                                   "path 'own'"));
        }
        unlink(settings);
    }
}

/* What a data.yaml says of its classes and keypoints, and what it may not say. */
static void data_yaml_in_many_forms(void **state)
{
    (void)state;
    const char *folder = make_set("many", "0 0.5 0.5 0.5 0.5 0.25 0.5 2 0.1 0.1 1\n");
    static const struct {
        const char *yaml, *wrong; /* null: good */
        const char *class_name, *keypoint;
    } cases[] = {
        {"val: images/val\nnc: 1\nkpt_shape: [2, 3]", NULL, "class_0", NULL},
        {"val: images/val\nnames: [cat]\nkpt_shape: [2, 3]\nkpt_names:\n  0: [a, b]", NULL, "cat", "b"},
        {"val: images/val\nnames: [cat]\nkpt_shape: [2, 3]\nkpt_names:\n  0: [a]\n  1: [c, d]", NULL, "cat",
         "d"},
        {"val: images/val\nnames: [cat]\nkpt_shape: [2, 3]\nkpt_names:\n  0: [a, 7]", NULL, "cat", NULL},
        {"val: images/val\nnames: [cat]\nkpt_shape: [2, 3]\nkpt_names: [a, b]", NULL, "cat", NULL},
        {"val: images/val\nnames: {0: 12}\nkpt_shape: [2, 3]", NULL, "12", NULL},
        {"val: images/val\nnames: [[x]]\nkpt_shape: [2, 3]", NULL, "class_0", NULL},
        {"val: images/val\nnames: [cat]", NULL, "cat", NULL}, /* told by 0, 1 and 2 */
        {"val: [images/val, images/none]\nnames: [cat]", "there is no such folder or list", NULL, NULL},
        {"val: [images/val, 7]\nnames: [cat]", "'val' is a folder, a text file or a list of these", NULL,
         NULL},
        {"val: null\nnames: [cat]", "has no 'val'; --split names another", NULL, NULL},
        {"val: images/val\nnames: []", "it names no classes", NULL, NULL},
        {"val: images/val\nnc: 0", "it names no classes", NULL, NULL},
        {"val: images/val\nnc: 100001", "it names no classes", NULL, NULL},
        {"val: images/val", "it names no classes", NULL, NULL},
        {"val: images/val\nnames: {a: cat}", "names: 'a' is not a class's number", NULL, NULL},
        {"val: images/val\nnames: {1: cat}", "a label of class 0", NULL, NULL},
        {"val: images/val\nnc: 1\nkpt_shape: [2, 4]", "kpt_shape is [number of keypoints, 2 or 3]", NULL,
         NULL},
        {"val: images/val\nnc: 1\nkpt_shape: [2, 1]", "kpt_shape is", NULL, NULL},
        {"val: images/val\nnc: 1\nkpt_shape: [0, 3]", "kpt_shape is", NULL, NULL},
        {"val: images/val\nnc: 1\nkpt_shape: [1025, 3]", "kpt_shape is", NULL, NULL},
        {"val: images/val\nnc: 1\nkpt_shape: [2]", "kpt_shape is", NULL, NULL},
        {"val: images/val\nnc: 1\nkpt_shape: x", "kpt_shape is", NULL, NULL},
        {"- val", "not a data.yaml", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_annotation_set set;
        sk_error err = {0};
        write_text(in(folder, "data.yaml"), cases[i].yaml);
        const sk_status status = sk_annotations_read(in(folder, "data.yaml"), &set, &err);
        if (cases[i].wrong) {
            if (status == SK_OK || !strstr(err.message, cases[i].wrong))
                fail_msg("%s: %s", cases[i].yaml, status == SK_OK ? "read" : err.message);
            continue;
        }
        assert_ok(status, &err);
        assert_true(set.n_items == 1 && set.n_keypoints == 2 && set.n_images == 2);
        assert_string_equal(set.classes[set.items[0].class_id].name, cases[i].class_name);
        assert_int_equal(set.keypoint_names != NULL, cases[i].keypoint != NULL);
        if (cases[i].keypoint)
            assert_string_equal(set.keypoint_names[1], cases[i].keypoint);
        assert_true(set.points[0].x == 50 && set.points[0].y == 50 && set.points[0].visible == 2 &&
                    set.points[1].visible == 1);
        sk_annotations_free(&set);
    }
    write_text(in(folder, "data.yaml"), "val: images/val\nnc: 100000\nkpt_shape: [2, 3]\n");
    sk_annotation_set set;
    sk_error err = {0};
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_int_equal(set.n_classes, 100000);
    assert_string_equal(set.classes[99999].name, "class_99999");
    sk_annotations_free(&set);
    /* one keypoint of two numbers */
    write_text(in(folder, "labels/val/a.txt"), "0 0.5 0.5 0.5 0.5 0.25 0.5\n");
    write_text(in(folder, "data.yaml"), "val: images/val\nnc: 1\nkpt_shape: [1, 2]\n");
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_true(set.n_keypoints == 1 && set.points[0].x == 50 && set.points[0].visible == 2);
    sk_annotations_free(&set);
    /* a result, not a truth */
    write_text(in(folder, "labels/val/a.txt"), "0 0.5 0.5 0.5 0.5 0.9\n");
    write_text(in(folder, "data.yaml"), "val: images/val\nnc: 1\n");
    assert_int_equal(sk_annotations_read(in(folder, "data.yaml"), &set, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "its labels carry one number more"));
}

/* Pictures may lie anywhere, and deep: a label's is the one of the same way below its folder, or of the same name. */
static void pictures_of_a_folder_of_labels(void **state)
{
    (void)state;
    char folder[4200], images[4300];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/elsewhere", test_folder());
    snprintf(images, sizeof images, "%s/pictures-of-it", folder);
    for (int deep = 0; deep < 2; deep++) {
        assert_ok(sk_folder_make(in(folder, deep ? "texts/x" : "texts/y"), &err), &err);
        assert_ok(sk_folder_make(in(images, deep ? "x" : "y"), &err), &err);
    }
    write_picture(in(images, "x/a.png"), 200, 100);
    write_picture(in(images, "y/a.png"), 400, 300);
    write_picture(in(images, "y/b.png"), 80, 60);
    write_text(in(folder, "texts/x/a.txt"), "0 0.5 0.5 0.5 0.5\n");
    write_text(in(folder, "texts/y/a.txt"), "0 0.5 0.5 0.5 0.5\n");
    write_text(in(folder, "texts/b.txt"), "0 0.5 0.5 0.5 0.5\n");
    write_text(in(folder, "texts/classes.txt"), "no labels\n");
    write_text(in(folder, "texts/.hidden.txt"), "no labels\n");
    write_text(in(folder, "texts/read.md"), "no labels\n");
    static const char *const endings[] = {"", "/", "//"};
    for (int i = 0; i < 9; i++) {
        char labels[4400], pictures[4400];
        snprintf(labels, sizeof labels, "%s/texts%s", folder, endings[i % 3]);
        snprintf(pictures, sizeof pictures, "%s%s", images, endings[i / 3]);
        const sk_annotation_reading how = {.images = pictures};
        sk_annotation_set set;
        assert_ok(sk_annotations_read_as(labels, &how, &set, &err), &err);
        assert_int_equal(set.n_items, 3);
        assert_int_equal(set.n_images, 3);
        assert_true(set.every_frame && set.stems);
        expect_four(set.items[0].box, 20, 15, 40, 30); /* b, x/a, y/a */
        expect_four(set.items[1].box, 50, 25, 100, 50);
        expect_four(set.items[2].box, 100, 75, 200, 150);
        sk_annotations_free(&set);
    }
    const sk_annotation_reading nowhere = {.images = test_missing("x")};
    sk_annotation_set set;
    assert_int_equal(sk_annotations_read_as(in(folder, "texts"), &nowhere, &set, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "the folder cannot be read"));
    assert_int_equal(sk_annotations_read(in(folder, "texts"), &set, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "the size of its picture is not known"));
}

/* Folders are looked through sixteen deep; a link to one above is not followed round. */
static void folders_in_folders(void **state)
{
    (void)state;
    char path[4400], file[4500];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/deep", test_folder());
    for (int depth = 0; depth <= 18; depth++) {
        assert_ok(sk_folder_make(path, &err), &err);
        snprintf(file, sizeof file, "%s/p%d.png", path, depth);
        write_picture(file, 8, 8);
        strcat(path, "/d");
    }
    snprintf(path, sizeof path, "%s/deep", test_folder());
    snprintf(file, sizeof file, "%s/deep/d/d/round", test_folder());
    assert_int_equal(symlink(path, file), 0);
    sk_files files = {0};
    assert_ok(sk_files_list(path, sk_picture_has_ending, &files, &err), &err);
    assert_int_equal(files.count, 17); /* 0 … 16 below the first */
    for (size_t i = 0; i < files.count; i++)
        assert_null(strstr(files.paths[i], "round"));
    sk_files_free(&files);
    assert_true(files.count == 0 && !files.paths);
}

/* Folders called as classes: each picture in them is one of that class. */
static void folders_of_classes(void **state)
{
    (void)state;
    char folder[4200];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/by-class", test_folder());
    static const char *const made[] = {"val/cat", "val/dog", "test/cow", "test"};
    for (int i = 0; i < 4; i++)
        assert_ok(sk_folder_make(in(folder, made[i]), &err), &err);
    static const char *const pictures[] = {"val/cat/1.png", "val/cat/2.png", "val/dog/1.png",
                                           "test/cow/9.png", "test/none.png"};
    for (int i = 0; i < 5; i++)
        write_picture(in(folder, pictures[i]), 8, 8);
    for (int split = 0; split < 3; split++) {
        const sk_annotation_reading how = {.split = split ? "test" : NULL};
        sk_annotation_set set;
        assert_ok(sk_annotations_read_as(split == 2 ? in(folder, "test") : folder, &how, &set, &err), &err);
        assert_int_equal(set.n_items, split ? 1 : 3);
        assert_int_equal(set.n_images, split ? 1 : 3);
        assert_int_equal(set.n_classes, split ? 1 : 2);
        assert_true(set.every_frame && set.stems && set.has == 0);
        for (size_t i = 0; i < set.n_items; i++) {
            assert_string_equal(name_of(&set, i), split ? "9" : i == 1 ? "2" : "1");
            assert_string_equal(set.classes[set.items[i].class_id].name, split   ? "cow"
                                                                         : i < 2 ? "cat"
                                                                                 : "dog");
            assert_true(set.classes[set.items[i].class_id].number == -1 && set.items[i].score == 1);
        }
        sk_annotations_free(&set);
    }
}

/* The last part of a way that is called so, at its beginning, within or at its end. */
static void parts_of_ways(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"a/images/b.png", "a/labels/b.png"},
                                          {"images/b.png", "labels/b.png"},
                                          {"a/images", "a/labels"},
                                          {"images", "labels"},
                                          {"/images", "/labels"},
                                          {"images/a/images/b", "images/a/labels/b"},
                                          {"a/images2/b", NULL},
                                          {"a/myimages/b", NULL},
                                          {"imagesb", NULL},
                                          {"", NULL}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *swapped = NULL;
        sk_error err = {0};
        assert_ok(sk_path_swap_part(ways[i][0], "images", "labels", &swapped, &err), &err);
        if (ways[i][1])
            assert_string_equal(swapped, ways[i][1]);
        else
            assert_null(swapped);
        sk_free(swapped);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_pictures),       cmocka_unit_test(the_folder_of_datasets),
        cmocka_unit_test(data_yaml_in_many_forms), cmocka_unit_test(pictures_of_a_folder_of_labels),
        cmocka_unit_test(folders_in_folders),      cmocka_unit_test(folders_of_classes),
        cmocka_unit_test(parts_of_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
