/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file may be written: not over what is read, under whatever name; not under another kind's name; not where there is no room for
 * it; and by one process at a time. */
#include "support/fault.h"
#include "support/test.h"

#include "app/output_place.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sk_error err;

static void put(const char *path)
{
    assert_ok(sk_file_put(path, "x", 1, &err), &err);
}

static sk_output_place to(const char *path)
{
    return (sk_output_place){
        .path = path, .option = "output", .written = "an ONNX file", .extension = ".onnx"};
}

static void refused(const sk_output_place *place, sk_status status, const char *message)
{
    assert_int_equal(sk_output_place_check(place, &err), status);
    assert_string_equal(err.message, message);
}

/* --- what is read --- */

static void what_is_read_stays(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("read/below", &err), &err);
    put("read/model.bin2");
    put("read/below/one");
    put("film");
    assert_int_equal(link("film", "second_name") + symlink("film", "pointer"), 0);
    sk_output_read reads[] = {{.name = "nobody"},
                              {.name = "the video", .path = "film"},
                              {.name = "the model", .path = "read", .inside = true}};
    static const char *const same[] = {"film", "./film", "read/../film", "second_name", "pointer"};
    sk_output_place place = to("");
    char words[256];
    place.reads = reads;
    place.overwrite = true; /* whatever is asked for */
    for (size_t n = 0; n <= 3; n++)
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            place.path = same[i];
            place.n_reads = n;
            if (n < 2) {
                assert_ok(sk_output_place_check(&place, &err), &err);
                continue;
            }
            snprintf(words, sizeof words,
                     "%s: is the video, which is not written over; --output names another file", same[i]);
            refused(&place, SK_ERR_ARG, words);
        }
    /* a folder that is read: what lies in there, where that counts; a new file in it is nobody's */
    static const char *const in_there[] = {"read/model.bin2", "read/below/one"};
    for (int inside = 0; inside < 2; inside++) {
        reads[2].inside = inside;
        for (int i = 0; i < 2; i++) {
            place.path = in_there[i];
            snprintf(
                words, sizeof words,
                "%s: is a file of the model (read), which is not written over; --output names another file",
                in_there[i]);
            if (inside)
                refused(&place, SK_ERR_ARG, words);
            else
                assert_ok(sk_output_place_check(&place, &err), &err);
        }
        place.path = "read/new";
        assert_ok(sk_output_place_check(&place, &err), &err);
    }
}

/* A model that is named by one file of its folder has others there. */
static void what_belongs_to_a_model_stays(void **state)
{
    (void)state;
    static const char *const belong[] = {
        "training_config.json", "training_config.yaml", "training_config.yml", "best_model.h5", "best.ckpt",
        "export_metadata.json"};
    sk_output_read read = {.name = "the model", .path = "sleap/named"};
    sk_output_place place = {.option = "report", .overwrite = true, .reads = &read, .n_reads = 1};
    assert_ok(sk_folder_make("sleap", &err), &err);
    put("sleap/named");
    put("sleap/other.json");
    for (size_t i = 0; i < sizeof belong / sizeof *belong; i++)
        for (int model = 0; model < 2; model++) {
            char path[64], words[256];
            snprintf(path, sizeof path, "sleap/%s", belong[i]);
            place.path = path;
            read.model = model;
            assert_ok(sk_output_place_check(&place, &err), &err); /* it is not there */
            put(path);
            snprintf(
                words, sizeof words,
                "%s: is a file of the model (sleap/named), which is not written over; --report names another "
                "file",
                path);
            if (model)
                refused(&place, SK_ERR_ARG, words);
            else
                assert_ok(sk_output_place_check(&place, &err), &err);
            if (model) { /* others are no part of it */
                place.path = "sleap/other.json";
                assert_ok(sk_output_place_check(&place, &err), &err);
                place.path = "elsewhere";
                assert_ok(sk_output_place_check(&place, &err), &err);
            }
            assert_int_equal(unlink(path), 0);
        }
}

/* --- names --- */

static void names_of_other_kinds(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"a.skq", "a model's in eight bits"},
                                          {"a.pt", "a checkpoint's"},
                                          {"a.pth", "a checkpoint's"},
                                          {"a.ckpt", "a checkpoint's"},
                                          {"a.safetensors", "a checkpoint's"},
                                          {"a.torchscript", "a TorchScript file's"},
                                          {"a.tflite", "a TensorFlow Lite file's"},
                                          {"a.data", "a file's of weights"},
                                          {"a.bin", "a file's of weights"},
                                          {"a.h5", "an HDF5 file's"},
                                          {"a.hdf5", "an HDF5 file's"},
                                          {"a.keras", "a Keras model's"},
                                          {"a.engine", "a TensorRT engine's"},
                                          {"a.plan", "a TensorRT engine's"},
                                          {"a.xml", "an OpenVINO model's"},
                                          {"a.slp", "a file's of labels"},
                                          {"a.csv", "a table's"},
                                          {"a.npy", "an array's"},
                                          {"a.json", "a JSON file's"},
                                          {"a.yaml", "a YAML file's"},
                                          {"a.yml", "a YAML file's"},
                                          {"a.zip", "an archive's"},
                                          {"a.PT", "a checkpoint's"},
                                          {"a.mp4", "a video's"},
                                          {"a.png", "a picture's"},
                                          {"a.v2.pt", "a checkpoint's"},
                                          {"a.onnx", NULL},
                                          {"a.ONNX", NULL},
                                          {"a", NULL},
                                          {"a.v2", NULL},
                                          {".pt", NULL},
                                          {"a.onnx2", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_output_place place = to(rows[i][0]);
        char words[256];
        if (rows[i][1]) {
            snprintf(words, sizeof words,
                     "%s: the name is %s, and an ONNX file is what is written; call it %s.onnx", rows[i][0],
                     rows[i][1], strcmp(rows[i][0], "a.v2.pt") == 0 ? "a.v2" : "a");
            refused(&place, SK_ERR_ARG, words);
        } else {
            assert_ok(sk_output_place_check(&place, &err), &err);
        }
        place.extension = NULL; /* any name will do */
        assert_ok(sk_output_place_check(&place, &err), &err);
    }
    sk_output_place onnx = to("a.onnx"); /* a name of our own kind is another's elsewhere */
    onnx.extension = ".csv";
    onnx.written = "a table";
    refused(&onnx, SK_ERR_ARG,
            "a.onnx: the name is an ONNX file's, and a table is what is written; call it a.csv");
}

/* --- folders --- */

static void folders_that_are_none(void **state)
{
    (void)state;
    sk_output_place place = to("folder");
    assert_ok(sk_folder_make("folder", &err), &err);
    put("file");
    place.overwrite = true;
    refused(&place, SK_ERR_ARG, "folder: is a folder, where a file is to be written");
    place.path = "no/where";
    refused(&place, SK_ERR_IO, "no/where: there is no folder no; make it first");
    place.path = "file/x";
    refused(&place, SK_ERR_IO, "file/x: there is no folder file; make it first");
    place.path = "folder/x";
    assert_ok(sk_output_place_check(&place, &err), &err);
    assert_false(sk_file_exists("folder/x")); /* nothing is written */
    /* one that may be read only: whoever may everything asks as somebody else */
    assert_int_equal(chmod(test_folder(), 0755) + chmod("folder", 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool other = getuid() != 0 || setuid(65534) == 0;
        const sk_status status = other ? sk_output_place_check(&place, &err) : SK_OK;
        _exit(!other ? 2
              : status == SK_ERR_IO &&
                      strcmp(err.message,
                             "folder/x: cannot be written: Permission denied in folder folder") == 0
                  ? 0
                  : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2));
    assert_int_equal(chmod("folder", 0755), 0);
}

static void what_is_there(void **state)
{
    (void)state;
    sk_output_place place = to("there.onnx");
    assert_ok(sk_output_place_check_free(&place, &err), &err);
    put("there.onnx");
    static const char words[] =
        "there.onnx: is there already; --overwrite replaces it, --output names another file";
    refused(&place, SK_ERR_BUSY, words);
    assert_int_equal(sk_output_place_check_free(&place, &err), SK_ERR_BUSY);
    assert_string_equal(err.message, words);
    place.overwrite = true;
    assert_ok(sk_output_place_check(&place, &err), &err);
    assert_ok(sk_output_place_check_free(&place, &err), &err);
}

/* --- two at once --- */

static void one_at_a_time(void **state)
{
    (void)state;
    sk_lock *first = NULL, *second = NULL, *other = NULL;
    char begin[128];
    assert_ok(sk_folder_make("held", &err), &err);
    assert_ok(sk_output_place_hold("held/a.onnx", &first, &err), &err);
    assert_true(sk_file_exists("held/.a.onnx.skitter.lock")); /* beside it */
    assert_int_equal(sk_output_place_hold("held/a.onnx", &second, &err), SK_ERR_BUSY);
    assert_null(second);
    snprintf(begin, sizeof begin, "held/a.onnx: is being made by process %lld, '", (long long)getpid());
    assert_int_equal(strncmp(err.message, begin, strlen(begin)), 0);
    const char *end = "'. Wait for it, stop it or give another -o";
    assert_string_equal(err.message + strlen(err.message) - strlen(end), end);
    assert_ok(sk_output_place_hold("held/b.onnx", &other, &err), &err); /* another file is free */
    sk_lock_remove(&other);
    sk_lock_remove(&first);
    assert_false(sk_file_exists("held/.a.onnx.skitter.lock"));
    assert_ok(sk_output_place_hold("held/a.onnx", &second, &err), &err);
    sk_lock_remove(&second);
    assert_int_not_equal(sk_output_place_hold("gone/a.onnx", &second, &err), SK_OK);
    assert_non_null(strstr(err.message, "gone/.a.onnx.skitter.lock"));
    assert_null(second);
}

static sk_status ask_and_hold(void *context, sk_error *error)
{
    sk_output_read read = {.name = "the model", .path = "sleap/named", .model = true};
    sk_output_place place = {.path = "sleap/free", .option = "output", .reads = &read, .n_reads = 1};
    sk_lock *lock = NULL;
    (void)context;
    SK_TRY(sk_output_place_check(&place, error));
    const sk_status status = sk_output_place_hold(place.path, &lock, error);
    sk_lock_remove(&lock);
    return status;
}

static sk_status call_it_otherwise(void *context, sk_error *error)
{
    const sk_output_place place = to("a.pt");
    (void)context;
    const sk_status status = sk_output_place_check(&place, error);
    return status == SK_ERR_ARG ? SK_OK : status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(ask_and_hold, NULL) >= 11);
    assert_int_equal(test_every_allocation(call_it_otherwise, NULL), 1);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_stays),   cmocka_unit_test(what_belongs_to_a_model_stays),
        cmocka_unit_test(names_of_other_kinds), cmocka_unit_test(folders_that_are_none),
        cmocka_unit_test(what_is_there),        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
