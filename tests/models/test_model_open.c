/* SPDX-License-Identifier: Apache-2.0 */
/* Which reader a path or bytes are given to: folders with each file there or missing, zips and files in memory, heads that are not there;
 * and what a model keeps of itself when its network is forgotten. */
#include "onnx_model_fixture.h"
#include "support/torch_writer.h"
#include "support/yolo_writer.h"

#include "formats/skq.h"

#include <sys/stat.h>

static sk_error err;

static void put(const char *name, const char *bytes, size_t length)
{
    assert_ok(sk_file_replace(in_folder(name), bytes, length, &err), &err);
}

static void make(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0700), 0);
}

/* The words behind the path; null: it opens. */
static void opens(const char *name, sk_status wanted, const char *words)
{
    sk_model *model = NULL;
    char path[4200], whole[8800];
    snprintf(path, sizeof path, "%s", in_folder(name));
    snprintf(whole, sizeof whole, "%s: %s", path, words ? words : "");
    const sk_status status = sk_model_open(path, &model, &err);
    if (status != wanted || (words && strncmp(err.message, whole, strlen(whole)) != 0))
        fail_msg("%s: %d '%s', not '%s'", name, status, err.message, whole);
    sk_model_close(&model);
}

static void folders_of_trainings(void **state)
{
    (void)state;
    char words[9000];
    make("run");
    make("run/weights");
    const char *const nothing =
        "a folder without training_config.json or training_config.yaml, so no SLEAP model. Give "
        "the folder that holds one of them, or a .pt or .onnx file";
    opens("run", SK_ERR_FORMAT, nothing);
    make("run/best.pt.d");
    static const char *const places[] = {"weights/last.pt", "best.pt",
                                         "weights/best.pt"}; /* the last one goes first */
    for (int i = 0; i < 3; i++) {
        char name[100];
        snprintf(name, sizeof name, "run/%s", places[i]);
        put(name, "x", 1);
        snprintf(words, sizeof words, "an Ultralytics training folder. Give the checkpoint in it: %s/%s",
                 in_folder("run"), places[i]);
        opens("run", SK_ERR_FORMAT, words);
    }
    make("odd");
    make("odd/best.pt"); /* no file */
    opens("odd", SK_ERR_FORMAT, nothing);
    opens("nowhere", SK_ERR_NOT_FOUND, "no such file or folder");
    put("a.engine", "PK\3\4", 4);
    put("a.plan", "x", 1);
    opens("a.engine", SK_ERR_UNSUPPORTED,
          "a TensorRT engine fits one GPU and one library version only. Give the .pt");
    opens("a.plan", SK_ERR_UNSUPPORTED, "a TensorRT engine fits one GPU");
}

/* An exported folder is one by both of its files; else its training configuration counts. */
static void folders_of_exports(void **state)
{
    (void)state;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *made = make_sleap(), *model = NULL;
    make("export");
    assert_ok(sk_model_export_onnx(made, &s, in_folder("export/model.onnx"), &err), &err);
    sk_model_close(&made);
    opens("export", SK_ERR_FORMAT, "a folder without training_config.json");
    put("export/export_metadata.json", "{}", 2);
    assert_ok(sk_model_open(in_folder("export"), &model, &err), &err);
    assert_int_equal(model->format, SK_FORMAT_ONNX);
    assert_int_equal(model->task, SK_TASK_BOTTOMUP);
    sk_model_close(&model);
    put("export/training_config.yaml", "a: 1\n", 5); /* as sleap-nn leaves it there */
    assert_ok(sk_model_open(in_folder("export"), &model, &err), &err);
    assert_int_equal(model->format, SK_FORMAT_ONNX);
    sk_model_close(&model);
    assert_int_equal(remove(in_folder("export/model.onnx")), 0);
    sk_status status = sk_model_open(in_folder("export"), &model, &err);
    assert_int_equal(status, SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "export/training_config.yaml: names no head"));
    make("words");
    put("words/export_metadata.json", "{}", 2);
    opens("words", SK_ERR_FORMAT, "a folder without training_config.json");
}

/* --- in memory --- */

static void zip_file(tw_zip *zip, const char *fixture, const char *name)
{
    char relative[200], inside[100], *bytes = NULL;
    size_t length = 0;
    snprintf(relative, sizeof relative, "tests/fixtures/%s/%s", fixture, name);
    snprintf(inside, sizeof inside, "model/%s", name);
    assert_ok(sk_file_read(test_source(relative), 1 << 24, &bytes, &length, &err), &err);
    tw_zip_add(zip, inside, bytes, length);
    sk_free(bytes);
}

static void zips_in_memory(void **state)
{
    (void)state;
    static const struct {
        const char *fixture, *config, *network;
        sk_model_format format;
    } cases[] = {{"sleap_nn/unet_class_maps", "training_config.yaml", "best.ckpt", SK_FORMAT_SLEAP_NN},
                 {"sleap_keras/transposed", "training_config.json", "best_model.h5", SK_FORMAT_SLEAP_KERAS}};
    for (int i = 0; i < 2; i++) {
        tw_zip zip = {.deflate = i == 1};
        sk_model *model = NULL, *file = NULL;
        zip_file(&zip, cases[i].fixture, cases[i].config);
        zip_file(&zip, cases[i].fixture, cases[i].network);
        tw_zip_finish(&zip);
        assert_ok(
            sk_model_open_bytes(zip.out.bytes, zip.out.length, "given.zip", SK_HEADS_AUTO, &model, &err),
            &err);
        assert_int_equal(model->format, cases[i].format);
        assert_true(model->in_memory && !model->given && model->given_length == 0 && model->graph);
        assert_string_equal(model->path, "given.zip");
        sk_model_forget_network(model); /* it could not be read again */
        assert_true(model->graph && !model->forgotten);
        assert_ok(sk_model_open(tw_save(&zip, "same.zip"), &file, &err), &err);
        assert_true(!file->in_memory && file->format == cases[i].format);
        assert_string_equal(file->content_hash, model->content_hash);
        sk_model_forget_network(file);
        assert_true(!file->graph && file->forgotten);
        sk_model_forget_network(file);
        assert_true(!file->graph && file->forgotten);
        sk_model_close(&file);
        sk_model_close(&model);
        tw_zip_free(&zip);
        /* without its network it is still that kind, and says what is missing */
        zip = (tw_zip){0};
        zip_file(&zip, cases[i].fixture, cases[i].config);
        tw_zip_finish(&zip);
        assert_int_equal(
            sk_model_open_bytes(zip.out.bytes, zip.out.length, NULL, SK_HEADS_AUTO, &model, &err),
            SK_ERR_NOT_FOUND);
        char words[100];
        snprintf(words, sizeof words, "model in memory:model/%s: missing; a ", cases[i].network);
        assert_non_null(strstr(err.message, words));
        assert_null(model);
        tw_zip_free(&zip);
    }
}

static void other_files_in_memory(void **state)
{
    (void)state;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *made = make_yolo(), *model = NULL;
    sk_onnx_model *onnx = NULL;
    uint8_t *network = NULL, *skq = NULL;
    size_t length = 0, bytes = 0;
    assert_ok(sk_model_to_onnx(made, &s, &onnx, &err), &err);
    assert_ok(sk_onnx_write(onnx, &network, &length, &err), &err);
    const sk_skq both = {.json = "{}", .json_length = 2, .network = network, .network_length = length};
    assert_ok(sk_skq_write(&both, &skq, &bytes, &err), &err);
    static const char *const names[] = {"a.onnx", "a.pt", "a.skq"};
    for (int i = 0; i < 3; i++) { /* whatever they are called */
        assert_ok(sk_model_open_bytes(network, length, names[i], SK_HEADS_AUTO, &model, &err), &err);
        assert_int_equal(model->format, SK_FORMAT_ONNX);
        assert_int_equal(model->task, SK_TASK_POSE);
        sk_model_close(&model);
        assert_ok(sk_model_open_bytes(skq, bytes, names[i], SK_HEADS_AUTO, &model, &err), &err);
        assert_int_equal(model->format, SK_FORMAT_SKQ);
        assert_true(model->in_memory && model->quantised);
        sk_model_close(&model);
    }
    put("b.skq", (const char *)network, length); /* the name of the file is not enough of one */
    assert_int_not_equal(sk_model_open(in_folder("b.skq"), &model, &err), SK_OK);
    put("c.txt", (const char *)network, length);
    assert_ok(sk_model_open(in_folder("c.txt"), &model, &err), &err);
    assert_int_equal(model->format, SK_FORMAT_ONNX);
    sk_model_close(&model);
    sk_free_all(network, skq);
    sk_onnx_close(&onnx);
    sk_model_close(&made);
}

/* --- heads --- */

static void heads_that_are_not_there(void **state)
{
    (void)state;
    static const struct {
        yolo_fixture fixture;
        sk_heads heads;
        const char *words; /* null: opens */
    } cases[] = {
        {{.head = "Detect"}, SK_HEADS_ONE_TO_MANY, NULL},
        {{.head = "Detect"},
         SK_HEADS_ONE_TO_ONE,
         "heads.pt: has no one-to-one heads, so its boxes need suppression (NMS); YOLOv10 and YOLO26 "
         "checkpoints have "
         "them, unless they were fused or exported without"},
        {{.head = "v10Detect", .drop = "model.6.cv2"}, SK_HEADS_AUTO, NULL},
        {{.head = "v10Detect", .drop = "model.6.cv2"}, SK_HEADS_ONE_TO_ONE, NULL},
        {{.head = "v10Detect", .drop = "model.6.cv2"},
         SK_HEADS_ONE_TO_MANY,
         "heads.pt: has only its one-to-one heads, which need no suppression (NMS): it was fused or exported "
         "so. Give "
         "the checkpoint it was made from"},
        {{.head = "Classify"}, SK_HEADS_ONE_TO_ONE, NULL}, /* which has neither */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = yolo_save(&cases[i].fixture, "heads.pt");
        char *bytes = NULL;
        size_t length = 0;
        assert_ok(sk_file_read(path, 1 << 24, &bytes, &length, &err), &err);
        for (int memory = 0; memory < 2; memory++) {
            sk_model *model = NULL;
            const sk_status status =
                memory ? sk_model_open_bytes(bytes, length, "heads.pt", cases[i].heads, &model, &err)
                       : sk_model_open_heads(path, cases[i].heads, &model, &err);
            assert_int_equal(status, cases[i].words ? SK_ERR_UNSUPPORTED : SK_OK);
            if (cases[i].words)
                assert_non_null(strstr(err.message, cases[i].words));
            assert_int_equal(model != NULL, !cases[i].words);
            sk_model_close(&model);
        }
        sk_free(bytes);
    }
}

/* Facts are for reading by people: the first 256 of them. */
static void many_facts(void **state)
{
    (void)state;
    sk_model *model = NULL;
    assert_ok(sk_model_create(&model, &err), &err);
    assert_string_equal(model->path, "");
    assert_string_equal(model->architecture, "");
    for (int i = 0; i < 257; i++) {
        char key[16], value[16];
        snprintf(key, sizeof key, "k%d", i);
        snprintf(value, sizeof value, "v%d", i);
        sk_model_add_fact(model, key, value);
        assert_int_equal(model->n_facts, i < 256 ? i + 1 : 256);
    }
    for (int i = 0; i < 256; i++)
        assert_true(atoi(model->facts[i][0] + 1) == i && atoi(model->facts[i][1] + 1) == i);
    sk_model_close(&model);
    assert_null(model);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_trainings),     cmocka_unit_test(folders_of_exports),
        cmocka_unit_test(zips_in_memory),           cmocka_unit_test(other_files_in_memory),
        cmocka_unit_test(heads_that_are_not_there), cmocka_unit_test(many_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
