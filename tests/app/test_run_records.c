/* SPDX-License-Identifier: Apache-2.0 */
/* A run's record as others may have written it, which folders are none, and the names of many sources: case by case. */
#include "support/fault.h"
#include "support/test.h"

#include "app/run_record.h"
#include "app/source_list.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- records --- */

static sk_run_record *record_of(const char *members)
{
    sk_run_record *r = NULL;
    sk_text text = {0};
    sk_text_appendf(&text, "{\"skitter\": \"1\", \"state\": \"finished\", %s}", members);
    assert_ok(sk_folder_make("record", &err), &err);
    put("record/run.json", sk_text_get(&text));
    sk_text_free(&text);
    assert_ok(sk_run_record_open("record", &r, &err), &err);
    return r;
}

static void numbers_of_a_record(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t width, height, input_width, input_height;
        double rate;
    } rows[] = {
        {"\"width\": 1, \"height\": 65535", 1, 65535, 0, 0, 0},
        {"\"width\": 0, \"height\": -5", 0, 0, 0, 0, 0},
        {"\"width\": 65536, \"height\": 2", 0, 2, 0, 0, 0},
        {"\"network_input\": \"640x480\"", 0, 0, 480, 640, 0},
        {"\"network_input\": \"640\"", 0, 0, 0, 0, 0},
        {"\"network_input\": \"640x\"", 0, 0, 0, 0, 0},
        {"\"rate\": 1000000", 0, 0, 0, 0, 0},
        {"\"rate\": 999999", 0, 0, 0, 0, 999999},
        {"\"rate\": 0", 0, 0, 0, 0, 0},
        {"\"rate\": 0.001", 0, 0, 0, 0, 0.001},
        {"\"rate\": 1", 0, 0, 0, 0, 1},
        {"\"rate\": 29.97002997", 0, 0, 0, 0, 30000.0 / 1001},
        {"\"rate\": 0.333333333", 0, 0, 0, 0, 1.0 / 3},
        {"\"rate\": 14.985015", 0, 0, 0, 0, 15000.0 / 1001},
        {"\"rate\": 119.88012", 0, 0, 0, 0, 120000.0 / 1001},
        /* ten thousand steps are gone to find a fraction, and no more */
        {"\"rate\": 9997.33333", 0, 0, 0, 0, 29992.0 / 3},
        {"\"rate\": 9998.33333", 0, 0, 0, 0, 9998.33333},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_run_record *r = record_of(rows[i].text);
        const sk_run_header *h = sk_run_record_header(r);
        if (h->width != rows[i].width || h->height != rows[i].height ||
            h->input_width != rows[i].input_width || h->input_height != rows[i].input_height ||
            fabs(h->rate - rows[i].rate) > 1e-12 * rows[i].rate)
            fail_msg("row %zu: %dx%d, %dx%d, %.17g", i, h->width, h->height, h->input_width, h->input_height,
                     h->rate);
        assert_int_equal(sk_run_record_frames(r), 0);
        sk_run_record_close(&r);
        sk_run_record_close(&r);
    }
}

static void lists_of_a_record(void **state)
{
    (void)state;
    sk_run_record *r =
        record_of("\"classes\": [\"a\", 5, \"c\"], \"keypoints\": \"none\", \"edges\": [[0, 1]], \"task\": "
                  "\"detect\", \"identity\": [\"x\"]");
    const sk_run_header *h = sk_run_record_header(r);
    sk_text lines = {0};
    assert_true(h->n_classes == 3 && strcmp(h->class_names[0], "a") == 0 && h->class_names[1][0] == '\0' &&
                strcmp(h->class_names[2], "c") == 0);
    assert_null(h->class_names[3] && h->class_names[3][0] ? h->class_names[3] : NULL);
    assert_true(h->n_keypoints == 0 && h->n_edges == 0 && h->has == SK_HAS_BOX && !h->tracked);
    assert_ok(sk_run_record_identity_text(r, NULL, &lines, &err), &err);
    assert_string_equal(sk_text_get(&lines), "");
    sk_run_record_close(&r);
    r = record_of("\"keypoints\": [\"a\", \"b\", \"c\"], \"edges\": [[0, 1], [1, 2], [2, 3], [3, 0], [0, "
                  "-1], [-1, 0], [1], \"x\", [\"0\", 1], [2, 0]], \"task\": \"bottomup\"");
    h = sk_run_record_header(r);
    static const int32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}};
    assert_int_equal(h->n_edges, 3);
    assert_memory_equal(h->edges, edges, sizeof edges);
    assert_true(h->has == SK_HAS_KEYPOINTS && !h->identities);
    sk_run_record_close(&r);
    r = record_of("\"keypoints\": [\"a\"], \"task\": \"pose\"");
    h = sk_run_record_header(r);
    assert_true(h->n_keypoints == 1 && h->has == (SK_HAS_BOX | SK_HAS_KEYPOINTS));
    sk_run_record_close(&r);
    r = record_of("\"models\": [{\"path\": \"0\"}, {\"path\": \"1\", \"sha256\": \"h\"}, {\"path\": \"2\", "
                  "\"computed_by\": [{\"path\": \"x\"}, {\"sha256\": \"y\"}]}, {}, {\"path\": \"4\"}]");
    h = sk_run_record_header(r);
    assert_int_equal(h->n_models, 4);
    assert_string_equal(h->model_paths[2], "2");
    assert_string_equal(h->model_paths[3], "");
    assert_string_equal(h->model_hashes[0], "");
    assert_string_equal(h->model_hashes[1], "h");
    assert_true(h->n_files == 2 && h->files[0].model == 2 && h->files[1].model == 2);
    assert_string_equal(h->files[0].path, "x");
    assert_string_equal(h->files[0].sha256, "");
    assert_string_equal(h->files[1].sha256, "y");
    sk_run_record_close(&r);
    /* so many files have room */
    sk_text many = {0};
    sk_text_append(&many, "\"models\": [");
    for (int m = 0; m < 4; m++) {
        sk_text_appendf(&many, "%s{\"computed_by\": [", m ? ", " : "");
        for (int i = 0; i < SK_RUN_MAX_FILES / 2; i++)
            sk_text_appendf(&many, "%s{\"path\": \"%d-%d\"}", i ? ", " : "", m, i);
        sk_text_append(&many, "]}");
    }
    sk_text_append(&many, "]");
    r = record_of(sk_text_get(&many));
    h = sk_run_record_header(r);
    assert_int_equal(h->n_files, SK_RUN_MAX_FILES);
    assert_true(h->n_models == 4 && h->files[SK_RUN_MAX_FILES - 1].model == 1);
    sk_run_record_close(&r);
    sk_text_free(&many);
    sk_text_free(&lines);
}

static bool leave_b(const char *name)
{
    return strcmp(name, "b") == 0;
}

static void members_that_are_left(void **state)
{
    (void)state;
    sk_text lines = {0};
    sk_run_record *r = record_of("\"identity\": {\"a\": \"1\", \"b\": \"2\", \"c\": 3, \"d\": \"4\\t5\", "
                                 "\"e\\n\": \"6\", \"f\": \"\"}");
    assert_ok(sk_run_record_identity_text(r, leave_b, &lines, &err), &err);
    assert_string_equal(sk_text_get(&lines), "a\t1\nd\t4\t5\nf\t\n");
    sk_run_record_close(&r);
    sk_text_free(&lines);
}

static void folders_that_are_none(void **state)
{
    (void)state;
    sk_run_record *r = NULL;
    assert_ok(sk_folder_make("several/.hidden", &err), &err);
    assert_ok(sk_folder_make("several/a", &err), &err);
    put("several/.hidden/run.json", "{}");
    put("several/run.txt", "");
    put("several/a/note", "");
    assert_int_equal(sk_run_record_open("several", &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "several: is not the folder of a run: there is no run.json in it. Give "
                                     "the --out of 'skitter track' or 'skitter predict'");
    put("several/a/run.json", "{}");
    assert_int_equal(sk_run_record_open("several", &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message,
                        "several: holds the folders of several runs; give one of them: several/a");
    assert_int_equal(sk_run_record_open("several/run.txt", &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "several/run.txt: is a file; give the folder of a run, the --out of "
                                     "'skitter track' or 'skitter predict'");
    assert_int_equal(sk_run_record_open("nowhere", &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "nowhere: there is no such folder");
    assert_int_equal(sk_run_record_open("several/a", &r, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "several/a/run.json: was not written by a run of skitter");
    put("several/a/run.json", "{");
    assert_int_not_equal(sk_run_record_open("several/a", &r, &err), SK_OK);
    assert_null(r);
}

/* --- names of sources --- */

/* The names of these sources, in their order. */
static const char *names(const char *const *given, size_t count)
{
    static char out[4096];
    sk_source_list list = {0};
    size_t at = 0;
    out[0] = '\0';
    const sk_status status = sk_source_list_make(given, count, &list, &err);
    if (status != SK_OK)
        snprintf(out, sizeof out, "%s", err.message);
    for (size_t i = 0; status == SK_OK && i < list.count; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", i ? "; " : "", list.items[i].name);
    sk_source_list_free(&list);
    assert_true(list.count == 0 && !list.items && !list.pictures);
    return out;
}

#define NAMES(expected, ...)                                                                                 \
    do {                                                                                                     \
        const char *const given_[] = {__VA_ARGS__};                                                          \
        assert_string_equal(names(given_, sizeof given_ / sizeof *given_), expected);                        \
    } while (0)

static void names_of_sources(void **state)
{
    (void)state;
    NAMES("a", "x/a.mp4");
    NAMES("a; b", "x/a.mp4", "x/b.mp4");
    NAMES("a.mp4; a.avi; b", "x/a.mp4", "y/a.avi", "y/b.mp4");
    NAMES("x_a.mp4; y_a.mp4; b", "x/a.mp4", "y/a.mp4", "b.mp4");
    NAMES("x_a.mp4-1; x_a.mp4-2; x_a.mp4-3; b", "x/a.mp4", "x/a.mp4", "x/a.mp4", "b.mp4");
    NAMES("_hidden", ".hidden");
    NAMES("_", "/");
    NAMES("a_b_c._-+=@ ", "x/a*b?c._-+=@ .mp4");
    NAMES("dir", "x/dir///");
    NAMES("a.b", "a.b.mp4");
    /* 120 bytes are kept of a name, and a number goes behind them */
    char path[256], kept[121], wanted[512];
    memset(path, 'n', 150);
    snprintf(path + 150, sizeof path - 150, ".mp4");
    const char *const alone[] = {path}, *const both[] = {path, path};
    const size_t length = strlen(names(alone, 1));
    assert_true(length <= 120 && length > 100);
    snprintf(kept, sizeof kept, "%s", names(alone, 1));
    assert_memory_equal(kept, path, 50);
    snprintf(wanted, sizeof wanted, "%s", names(both, 2));
    const char *second = strstr(wanted, "; ");
    assert_non_null(second);
    assert_memory_equal(second - 2, "-1", 2);
    assert_string_equal(wanted + strlen(wanted) - 2, "-2");
    assert_true(strlen(second + 2) <= 122 && strlen(second + 2) == (size_t)(second - wanted));
}

/* Nothing of a list is kept where a camera is among several, and each says what to do. */
static void cameras_come_alone(void **state)
{
    (void)state;
    NAMES("rtsp___h_s", "rtsp://h/s");
    NAMES(
        "rtsp://h/s: cameras, streams and pipes are read one at a time, for they do not wait\nstart skitter "
        "once for each of them",
        "a.mp4", "rtsp://h/s");
    NAMES("0: cameras, streams and pipes are read one at a time, for they do not wait\na number is a camera; "
          "an option's list is written with commas: --classes 0,2",
          "a.mp4", "0");
    NAMES(
        "-: cameras, streams and pipes are read one at a time, for they do not wait\nstart skitter once for "
        "each of them",
        "-", "a.mp4");
    assert_ok(sk_folder_make("films", &err), &err);
    put("films/10.mp4", "");
    put("films/9.mp4", "");
    put("films/.8.mp4", "");
    put("films/x.png", "");
    assert_ok(sk_folder_make("films/7.mp4", &err), &err); /* a folder is no video */
    NAMES("9; 10; films", "films");
    NAMES("9; 10; _", "films/*.mp4", "films/*.nothing");
}

static sk_status list_films(void *context, sk_error *error)
{
    static const char *const given[] = {"films", "a.png", "b.png", "films/9.mp4", "films/9.mp4"};
    sk_source_list list = {0};
    (void)context;
    const sk_status status = sk_source_list_make(given, 5, &list, error);
    sk_source_list_free(&list);
    return status;
}

static void lists_without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(list_films, NULL) > 15);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_record),   cmocka_unit_test(lists_of_a_record),
        cmocka_unit_test(members_that_are_left), cmocka_unit_test(folders_that_are_none),
        cmocka_unit_test(names_of_sources),      cmocka_unit_test(cameras_come_alone),
        cmocka_unit_test(lists_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
