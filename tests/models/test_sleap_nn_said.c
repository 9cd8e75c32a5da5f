/* SPDX-License-Identifier: Apache-2.0 */
/* What a sleap-nn folder says of its frames and of itself, and which folder of a zip is read. */
#include "sleap_nn_folder.h"

#include "base/file.h"
#include "models/model.h"

#include <stdlib.h>

#define NET                                                                                                  \
    "model_config:\n"                                                                                        \
    "  backbone_config: {unet: {in_channels: 1, max_stride: 2, output_stride: 1}}\n"                         \
    "  head_configs: {single_instance: {confmaps: {part_names: [nose], output_stride: 1}}}\n"
#define CENTRED                                                                                              \
    "model_config:\n"                                                                                        \
    "  backbone_config: {unet: {in_channels: 1, max_stride: 2, output_stride: 1}}\n"                         \
    "  head_configs: {centered_instance: {confmaps: {part_names: [nose], output_stride: 1}}}\n"
#define DATA(words) "data_config: {preprocessing: {" words "}}\n"

static sk_model *opened(const fixture *f)
{
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(make_folder(f), &model, &err), &err);
    return model;
}

static void frames_are_prepared_as_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        bool rgb, grey;
        double scale;
        int32_t target[2], input[2];
    } cases[] = {
        {NET, false, false, 1, {0, 0}, {512, 512}},
        {NET DATA("ensure_rgb: true"), true, false, 1, {0, 0}, {512, 512}},
        {NET DATA("is_rgb: true"), true, false, 1, {0, 0}, {512, 512}}, /* as older ones said it */
        {NET DATA("ensure_rgb: false, is_rgb: true"), false, false, 1, {0, 0}, {512, 512}},
        {NET DATA("ensure_grayscale: true"), false, true, 1, {0, 0}, {512, 512}},
        {NET DATA("scale: 0.5, max_height: 100, max_width: 202"), false, false, 0.5, {100, 202}, {50, 102}},
        {NET DATA("max_height: 65536"), false, false, 1, {65536, 0}, {65536, 512}},
        {NET DATA("max_width: 7"), false, false, 1, {0, 7}, {512, 8}},
        {NET DATA("scale: 100"), false, false, 100, {0, 0}, {512, 512}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = opened(&(fixture){.config = cases[i].config});
        const sk_sleap_spec *s = &model->sleap;
        if (s->ensure_rgb != cases[i].rgb || s->ensure_grayscale != cases[i].grey ||
            s->input_scale != (float)cases[i].scale || s->target_size[0] != cases[i].target[0] ||
            s->target_size[1] != cases[i].target[1] || model->input.height != cases[i].input[0] ||
            model->input.width != cases[i].input[1])
            fail_msg("case %zu: rgb %d, grey %d, scale %g, target %d x %d, input %d x %d", i, s->ensure_rgb,
                     s->ensure_grayscale, (double)s->input_scale, s->target_size[0], s->target_size[1],
                     model->input.height, model->input.width);
        assert_true(!s->legacy && s->resize_antialias && s->pad_to_stride == 2);
        assert_true(model->input.channels == 1 && model->input.stride == 2 && !model->input.fixed_size &&
                    model->input.rgb && model->input.std[0] == 1 && model->input.std[2] == 1);
        assert_float_equal(model->input.scale * 255, 1, 1e-6f);
        assert_string_equal(model->architecture, "sleap-nn unet");
        sk_model_close(&model);
    }
}

static void crops_have_a_size(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        int32_t size[2];
    } cases[] = {{CENTRED DATA("crop_size: 20"), {20, 20}},
                 {CENTRED DATA("crop_size: [20, 30]"), {20, 30}},
                 {CENTRED DATA("crop_hw: [24, 26]"), {24, 26}}, /* before 0.0.2 */
                 {CENTRED DATA("crop_size: 20, crop_hw: 40"), {20, 20}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = opened(&(fixture){.config = cases[i].config, .head = "CenteredInstance"});
        assert_int_equal(model->task, SK_TASK_CENTERED_INSTANCE);
        assert_int_equal(model->sleap.crop_size[0], cases[i].size[0]);
        assert_int_equal(model->sleap.crop_size[1], cases[i].size[1]);
        assert_int_equal(model->input.height, cases[i].size[0]);
        assert_int_equal(model->input.width, cases[i].size[1]);
        sk_model_close(&model);
    }
}

static void refuse(const fixture *f, sk_status expected, const char *part)
{
    sk_error err = {0};
    sk_model *model = NULL;
    const sk_status status = sk_model_open(make_folder(f), &model, &err);
    if (status != expected || !strstr(err.message, part))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
    assert_null(model);
}

static void what_is_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *config, *part;
    } cases[] = {
        {NET DATA("scale: 0"), "\"scale\" is out of range"},
        {NET DATA("scale: 100.5"), "\"scale\" is out of range"},
        {NET DATA("max_height: 65537"), "\"max_height\" is out of range"},
        {NET DATA("max_width: -1"), "\"max_width\" is out of range"},
        {NET DATA("max_width: wide"), "\"max_width\" is out of range"},
        {CENTRED DATA("scale: 1"), "\"crop_size\" is missing"},
        {CENTRED DATA("crop_size: [20, 0]"), "\"crop_size\" is missing"},
        {CENTRED DATA("crop_size: [0, 20]"), "\"crop_size\" is missing"},
        {CENTRED DATA("crop_size: [20]"), "\"crop_size\" is missing"},
        {CENTRED DATA("crop_size: [20, 65537]"), "\"crop_size\" is out of range"},
        {NET "data_config: {skeletons: [{nodes: [{colour: red}]}]}\n",
         "its skeleton has a node without a name"},
        {NET "data_config: {skeletons: [{nodes: [{name: nose}], edges: [{source: {name: nose}, destination: "
             "{name: tail}}]}]}\n",
         "edge 0 of its skeleton joins nodes it does not list"},
        {NET "data_config: {skeletons: [{nodes: [nose], edges: [{source: {name: tail}, destination: {name: "
             "nose}}]}]}\n",
         "edge 0 of its skeleton joins nodes it does not list"},
        {"model_config:\n"
         "  backbone_config: {unet: {max_stride: 2}, convnext: {max_stride: 32}}\n"
         "  head_configs: {single_instance: {confmaps: {part_names: [nose], output_stride: 1}}}\n",
         "names two backbones, \"unet\" and \"convnext\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(&(fixture){.config = cases[i].config,
                          .head = strstr(cases[i].config, "centered") ? "CenteredInstance" : NULL},
               SK_ERR_FORMAT, cases[i].part);
    refuse(&(fixture){.config = "model_config:\n"
                                "  backbone_config: {unet: {max_stride: 2}}\n"
                                "  head_configs: {single_instance: {confmaps: {part_names: [nose], "
                                "output_stride: 0}}}\n"},
           SK_ERR_MISMATCH,
           "head SingleInstanceConfmapsHead is at stride 0, which the backbone does not produce");
}

static void names_come_of_the_skeleton(void **state)
{
    (void)state;
    sk_model *model =
        opened(&(fixture){.config = NET "data_config: {skeletons: [{nodes: [{name: snout}]}]}\n"});
    assert_int_equal(model->n_keypoints, 1);
    assert_string_equal(model->keypoint_names[0], "snout");
    sk_model_close(&model);
}

/* As many nodes and edges as a skeleton may have, and one more; and edges in the order of its nodes. */
static void skeletons_have_limits(void **state)
{
    (void)state;
    static const int most[2] = {4096, 16384};
    for (int edges = 0; edges < 2; edges++)
        for (int more = 0; more < 2; more++) {
            const int n = most[edges] + more;
            char *config = malloc(1 << 21);
            assert_non_null(config);
            size_t at = (size_t)snprintf(config, 1 << 21,
                                         NET "data_config: {skeletons: [{nodes: [nose, {name: tail}");
            for (int i = 2; !edges && i < n; i++)
                at += (size_t)snprintf(config + at, 40, ", n%d", i);
            at += (size_t)snprintf(config + at, 40, "], edges: [");
            for (int i = 0; edges && i < n; i++)
                at +=
                    (size_t)snprintf(config + at, 80, "{source: {name: tail}, destination: {name: nose}}, ");
            snprintf(config + at, 40, "]}]}\n");
            if (more) {
                refuse(&(fixture){.config = config}, SK_ERR_LIMIT,
                       "training_config.yaml: its skeleton is too large");
            } else {
                sk_model *model = opened(&(fixture){.config = config});
                assert_int_equal(model->n_keypoints, 1); /* the head's: there is one channel */
                assert_string_equal(model->keypoint_names[0], "nose");
                assert_int_equal(model->n_edges, 0); /* the other end is not one of them */
                sk_model_close(&model);
            }
            free(config);
        }
}

/* The configuration may end in .yml; where there are both, the first counts. */
static void both_endings(void **state)
{
    (void)state;
    char folder[4200], path[4300];
    sk_error err = {0};
    sk_model *model = NULL;
    snprintf(folder, sizeof folder, "%s", make_folder(&(fixture){.config = NULL}));
    write_file(folder, "training_config.yml", NET, strlen(NET));
    assert_ok(sk_model_open(folder, &model, &err), &err);
    sk_model_close(&model);
    write_file(folder, "training_config.yaml", "a: 1\n", 5);
    assert_int_equal(sk_model_open(folder, &model, &err), SK_ERR_FORMAT);
    snprintf(path, sizeof path, "%s/training_config.yaml: names no head", folder);
    assert_non_null(strstr(err.message, path));
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "not told";
}

static void facts_are_told(void **state)
{
    (void)state;
    sk_model *model = opened(&(fixture){
        .config = NET
        "sleap_nn_version: 0.1.2\n"
        "description: true\n"
        "trainer_config: {run_name: first, max_epochs: 7, optimizer_name: '', optimizer: {lr: 0.125}}\n"});
    assert_string_equal(fact(model, "head"), "single_instance");
    assert_string_equal(fact(model, "version"), "0.1.2");
    assert_string_equal(fact(model, "description"), "true");
    assert_string_equal(fact(model, "run_name"), "first");
    assert_string_equal(fact(model, "epochs"), "7");
    assert_string_equal(fact(model, "optimizer"), "not told");
    assert_string_equal(fact(model, "learning_rate"), "0.125");
    assert_string_equal(fact(model, "batch_size"), "not told");
    assert_string_equal(fact(model, "epoch"), "3"); /* of the checkpoint */
    assert_int_equal(strlen(model->content_hash), 64);
    sk_model_close(&model);
}

/* --- zips --- */

static char *checkpoint;
static size_t checkpoint_bytes;

static void add(tw_zip *zip, const char *folder, const char *config)
{
    char name[200];
    snprintf(name, sizeof name, "%straining_config.yaml", folder);
    tw_zip_add(zip, name, config, strlen(config));
    if (!checkpoint)
        return;
    snprintf(name, sizeof name, "%sbest.ckpt", folder);
    tw_zip_add(zip, name, checkpoint, checkpoint_bytes);
}

/* The shallowest configuration is the model's, whichever comes first; what a Mac puts beside it is none. */
static void the_shallowest_folder_of_a_zip(void **state)
{
    (void)state;
    static const char *const orders[][3] = {{"", "a/", "a/b/"}, {"a/b/", "a/", ""}, {"a/", "", "a/b/"}};
    char path[4400];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/best.ckpt", make_folder(&(fixture){.config = NET}));
    assert_ok(sk_file_read(path, 1 << 20, &checkpoint, &checkpoint_bytes, &err), &err);
    for (int i = 0; i < 3; i++)
        for (int outer = 0; outer < 2; outer++) {
            tw_zip zip = {0};
            sk_model *model = NULL;
            add(&zip, "__MACOSX/", "no: model\n");
            for (int k = 0; k < 3; k++) {
                const char *folder = orders[i][k];
                if (*folder || !outer)
                    add(&zip, folder, strcmp(folder, outer ? "a/" : "") == 0 ? NET : "no: model\n");
            }
            tw_zip_finish(&zip);
            assert_ok(sk_model_open(tw_save(&zip, "many.zip"), &model, &err), &err);
            assert_string_equal(fact(model, "head"), "single_instance");
            sk_model_close(&model);
            tw_zip_free(&zip);
        }
    sk_free(checkpoint);
    checkpoint = NULL;
}

static void zips_without_a_model(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        tw_zip zip = {0};
        sk_error err = {0};
        sk_model *model = NULL;
        if (i == 0)
            add(&zip, "__MACOSX/", NET);
        else
            add(&zip, "m/", i == 1 ? NET : "");
        tw_zip_finish(&zip);
        const char *path = tw_save(&zip, "few.zip");
        assert_ok(sk_model_create(&model, &err), &err);
        const sk_status status = sk_model_read_sleap_nn(path, model, &err);
        assert_int_equal(status, i == 1 ? SK_ERR_NOT_FOUND : SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, i == 0
                                                ? "few.zip: no training_config.json or training_config.yaml"
                                            : i == 1 ? "few.zip:m/best.ckpt: missing"
                                                     : "few.zip:m/training_config.yaml: the file is empty"));
        sk_model_close(&model);
        tw_zip_free(&zip);
    }
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_create(&model, &err), &err);
    assert_int_equal(sk_model_read_sleap_nn(test_missing("nowhere"), model, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "no such model folder or file"));
    assert_int_equal(sk_model_read_sleap_nn(NULL, model, &err), SK_ERR_ARG);
    sk_model_close(&model);
}

/* --- ConvNeXt --- */

/* Older configurations say 16 of a network that is at 32; a larger number is one of padding. */
static void strides_of_convnext(void **state)
{
    (void)state;
    static const int said[][2] = {{16, 32}, {32, 32}, {64, 64}};
    for (int i = 0; i < 3; i++) {
        char folder[4200], *text = NULL, *ckpt = NULL;
        size_t length = 0, bytes = 0;
        sk_error err = {0};
        sk_model *model = NULL;
        snprintf(folder, sizeof folder, "%s/stride%d", test_folder(), i);
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_ok(sk_file_read(test_source("tests/fixtures/sleap_nn/convnext_bottomup/training_config.yaml"),
                               1 << 20, &text, &length, &err),
                  &err);
        assert_ok(sk_file_read(test_source("tests/fixtures/sleap_nn/convnext_bottomup/best.ckpt"), 1 << 26,
                               &ckpt, &bytes, &err),
                  &err);
        char *number = strstr(text, "max_stride: 32");
        assert_non_null(number);
        number[12] = (char)('0' + said[i][0] / 10);
        number[13] = (char)('0' + said[i][0] % 10);
        write_file(folder, "training_config.yaml", text, length);
        write_file(folder, "best.ckpt", ckpt, bytes);
        assert_ok(sk_model_open(folder, &model, &err), &err);
        assert_string_equal(model->architecture, "sleap-nn convnext");
        assert_int_equal(model->input.stride, said[i][1]);
        assert_int_equal(model->sleap.pad_to_stride, said[i][1]);
        sk_model_close(&model);
        sk_free(text);
        sk_free(ckpt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_prepared_as_it_says),
        cmocka_unit_test(crops_have_a_size),
        cmocka_unit_test(what_is_out_of_range),
        cmocka_unit_test(names_come_of_the_skeleton),
        cmocka_unit_test(skeletons_have_limits),
        cmocka_unit_test(both_endings),
        cmocka_unit_test(facts_are_told),
        cmocka_unit_test(the_shallowest_folder_of_a_zip),
        cmocka_unit_test(zips_without_a_model),
        cmocka_unit_test(strides_of_convnext),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
