/* SPDX-License-Identifier: Apache-2.0 */
/* sleap-nn folders: small networks of the original with random weights and their answers
 * (tests/parity/sleap_nn_models.py made them), and folders that are broken in every way we could think of. */
#include "support/fault.h"
#include "support/sleap_run.h"
#include "support/test.h"
#include "support/torch_writer.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- answers of the original --- */

static void check_output(const sk_model *model, const sleap_run *run, int32_t index, const char *folder)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/output_%s.npy", folder, model->outputs[index].name);
    npy_array expected = npy_read(path);
    const sk_tensor *ours = &run->outputs[index];
    assert_true(sk_shape_equal(&ours->shape, &expected.shape));
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < sk_shape_count(&expected.shape); i++) {
        worst = fmax(worst, fabs((double)((float *)ours->data)[i] - (double)expected.data[i]));
        largest = fmax(largest, fabs((double)expected.data[i]));
    }
    print_message("%s: worst %.2g of %.3g\n", path + strlen(folder) - strlen(strrchr(folder, '/')) + 1, worst,
                  largest);
    if (!(worst <= 2e-5 * fmax(1, largest)))
        fail_msg("%s: %g off where the largest is %g", path, worst, largest);
    sk_free(expected.data);
}

static void check_case(const char *folder)
{
    sk_error err = {0};
    sk_model *model = NULL;
    char path[4300];
    int64_t before = sk_memory_live_bytes();
    assert_ok(sk_model_open(folder, &model, &err), &err);
    snprintf(path, sizeof path, "%s/input.npy", folder);
    npy_array input = npy_read(path);
    sleap_run run = sleap_run_network(model, input.data, 1, input.shape.dim[2], input.shape.dim[3]);
    assert_int_equal(run.n_outputs, model->n_outputs);
    for (int32_t i = 0; i < model->n_outputs; i++)
        check_output(model, &run, i, folder);
    sleap_run_free(&run);
    sk_free(input.data);
    sk_model_close(&model);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static int check_cases(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!dir)
        fail_msg("%s: cannot be opened", folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4200];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check_case(path);
        count++;
    }
    closedir(dir);
    return count;
}

static void networks_give_the_original_answers(void **state)
{
    (void)state;
    assert_int_equal(check_cases(test_source("tests/fixtures/sleap_nn")), 10);
    if (getenv("SKITTER_SLEAP_NN_CASES")) /* more, made on the spot */
        assert_true(check_cases(getenv("SKITTER_SLEAP_NN_CASES")) > 0);
}

/* --- a folder of our own --- */

typedef struct {
    const char *name; /* without "model." */
    sk_shape shape;
} tensor_spec;

/* U-Net of max_stride 2: one encoder block of one convolution, a middle, one decoder block; 1 channel in. */
static const tensor_spec tiny[] = {
    {"backbone.encoders.0.encoder_stack.0.blocks.stack0_enc0_conv0.weight", {4, {2, 1, 3, 3}}},
    {"backbone.encoders.0.encoder_stack.0.blocks.stack0_enc0_conv0.bias", {1, {2}}},
    {"backbone.middle_blocks.0.blocks.stack0_enc2_middle_contract_conv0.weight", {4, {3, 2, 3, 3}}},
    {"backbone.middle_blocks.0.blocks.stack0_enc2_middle_contract_conv0.bias", {1, {3}}},
    {"backbone.decoders.0.decoder_stack.0.blocks.stack0_dec0_s2_to_s1_refine_conv0.weight",
     {4, {2, 5, 3, 3}}},
    {"backbone.decoders.0.decoder_stack.0.blocks.stack0_dec0_s2_to_s1_refine_conv0.bias", {1, {2}}},
    {"head_layers.0.SingleInstanceConfmapsHead.0.weight", {4, {1, 2, 1, 1}}},
    {"head_layers.0.SingleInstanceConfmapsHead.0.bias", {1, {1}}},
};
#define N_TINY (sizeof tiny / sizeof *tiny)

static const char tiny_config[] =
    "data_config:\n"
    "  preprocessing: {scale: 1.0, max_height: null, max_width: null, ensure_rgb: false}\n"
    "model_config:\n"
    "  backbone_config:\n"
    "    unet: {in_channels: 1, max_stride: 2, output_stride: 1, up_interpolate: true, stacks: 1}\n"
    "    convnext: null\n"
    "  head_configs:\n"
    "    single_instance:\n"
    "      confmaps: {part_names: [nose], output_stride: 1}\n"
    "    centroid: null\n";

typedef struct {
    const char *config;   /* null: none */
    const char *prefix;   /* null: "model." */
    const char *without;  /* tensor left out */
    const char *reshaped; /* tensor with one channel more */
    const char *poisoned; /* tensor with a NaN */
    const char *extra;    /* tensor added */
    const char *no_dict;  /* state_dict's name instead */
    long cut;             /* bytes of best.ckpt kept; 0: all */
    int no_checkpoint;
} fixture;

static void put_tensor(tw_pickle *p, const fixture *f, const char *name, sk_shape shape)
{
    static float values[4096];
    char full[200];
    snprintf(full, sizeof full, "%s%s", f->prefix ? f->prefix : "model.", name);
    if (f->reshaped && strcmp(f->reshaped, name) == 0)
        shape.dim[0]++;
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        values[i] = (float)((i * 7 + (int64_t)strlen(name)) % 11 - 5) / 8.0f;
    if (f->poisoned && strcmp(f->poisoned, name) == 0)
        values[0] = NAN;
    tw_text(p, full);
    tw_tensor(p, SK_DTYPE_F32, &shape, values, false);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t length)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static const char *make_folder(const fixture *f)
{
    static char folder[4200];
    static int count;
    snprintf(folder, sizeof folder, "%s/model%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    if (f->config)
        write_file(folder, "training_config.yaml", f->config, strlen(f->config));
    if (f->no_checkpoint)
        return folder;
    tw_pickle p = {0};
    tw_zip zip = {0};
    tw_start(&p);
    tw_dict_begin(&p);
    tw_text(&p, "epoch");
    tw_int(&p, 3);
    tw_text(&p, f->no_dict ? f->no_dict : "state_dict");
    tw_ordered_begin(&p);
    for (size_t i = 0; i < N_TINY; i++)
        if (!f->without || strcmp(f->without, tiny[i].name) != 0)
            put_tensor(&p, f, tiny[i].name, tiny[i].shape);
    if (f->extra)
        put_tensor(&p, f, f->extra, (sk_shape){1, {2}});
    tw_dict_end(&p);
    tw_dict_end(&p);
    tw_stop(&p);
    tw_checkpoint(&zip, "best", &p);
    write_file(folder, "best.ckpt", zip.out.bytes, f->cut ? (size_t)f->cut : zip.out.length);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
    return folder;
}

static void a_folder_of_our_own_opens(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"model.", "", "model._orig_mod."};
    float first = 0;
    for (int i = 0; i < 3; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        assert_ok(sk_model_open(make_folder(&(fixture){.config = tiny_config, .prefix = prefixes[i]}), &model,
                                &err),
                  &err);
        assert_int_equal(model->task, SK_TASK_SINGLE_INSTANCE);
        assert_string_equal(model->keypoint_names[0], "nose");
        assert_true(model->input.stride == 2 && model->input.height == 512);
        float pixels[16];
        for (int j = 0; j < 16; j++)
            pixels[j] = (float)j / 16;
        sleap_run run = sleap_run_network(model, pixels, 1, 4, 4);
        float value = ((float *)run.outputs[0].data)[5];
        assert_true(i == 0 || value == first);
        first = value;
        sleap_run_free(&run);
        sk_model_close(&model);
    }
}

/* A checkpoint named by its path is the one that is read, not its neighbour. */
static void the_named_checkpoint_is_read(void **state)
{
    (void)state;
    char path[4300], folder[4200];
    snprintf(folder, sizeof folder, "%s", make_folder(&(fixture){.config = tiny_config}));
    write_file(folder, "last.ckpt", "not a checkpoint", 16);
    sk_error err = {0};
    sk_model *model = NULL;
    snprintf(path, sizeof path, "%s/best.ckpt", folder);
    assert_ok(sk_model_open(path, &model, &err), &err);
    sk_model_close(&model);
    snprintf(path, sizeof path, "%s/last.ckpt", folder);
    assert_int_equal(sk_model_open(path, &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "last.ckpt"));
}

static void refuse(fixture f, sk_status expected, const char *hint)
{
    sk_error err = {0};
    sk_model *model = NULL;
    int64_t before = sk_memory_live_bytes();
    const char *folder = make_folder(&f);
    sk_status status = sk_model_read_sleap_nn(folder, NULL, &err);
    assert_int_equal(status, SK_ERR_ARG);
    assert_ok(sk_model_create(&model, &err), &err);
    status = sk_model_read_sleap_nn(folder, model, &err);
    sk_model_close(&model);
    if (status != expected || !strstr(err.message, hint))
        fail_msg("gave %d \"%s\", expected %d with \"%s\"", status, err.message, expected, hint);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void broken_checkpoints_are_refused(void **state)
{
    (void)state;
    const char *middle = "backbone.middle_blocks.0.blocks.stack0_enc2_middle_contract_conv0.weight";
    const char *refine =
        "backbone.decoders.0.decoder_stack.0.blocks.stack0_dec0_s2_to_s1_refine_conv0.weight";
    refuse((fixture){.config = tiny_config, .no_checkpoint = 1}, SK_ERR_NOT_FOUND, "best.ckpt");
    refuse((fixture){.config = tiny_config, .cut = 700}, SK_ERR_FORMAT, "best.ckpt");
    refuse((fixture){.config = tiny_config, .cut = 3}, SK_ERR_FORMAT, "best.ckpt");
    refuse((fixture){.config = tiny_config, .no_dict = "weights"}, SK_ERR_FORMAT, "state_dict");
    refuse((fixture){.config = tiny_config, .without = tiny[0].name}, SK_ERR_NOT_FOUND, "encoder_stack.0");
    refuse((fixture){.config = tiny_config, .without = tiny[1].name}, SK_ERR_NOT_FOUND, "enc0_conv0.bias");
    refuse((fixture){.config = tiny_config, .without = refine}, SK_ERR_NOT_FOUND, "decoder_stack.0");
    refuse((fixture){.config = tiny_config, .reshaped = middle}, SK_ERR_MISMATCH,
           "middle_contract_conv0.bias");
    refuse((fixture){.config = tiny_config, .poisoned = middle}, SK_ERR_FORMAT, middle);
    refuse((fixture){.config = tiny_config, .extra = "backbone.neck.weight"}, SK_ERR_UNSUPPORTED,
           "backbone.neck.weight");
}

#define WITH(backbone, heads)                                                                                \
    "model_config:\n  backbone_config: {" backbone "}\n  head_configs: {" heads "}\n"
#define UNET   "unet: {max_stride: 2, output_stride: 1}"
#define SINGLE "single_instance: {confmaps: {part_names: [nose], output_stride: 1}}"

static void broken_configurations_are_refused(void **state)
{
    (void)state;
    refuse((fixture){.config = "a: [1"}, SK_ERR_FORMAT, "training_config.yaml");
    refuse((fixture){.config = "just text"}, SK_ERR_FORMAT, "names no head");
    refuse((fixture){.config = WITH(UNET, "single_instance: null")}, SK_ERR_FORMAT, "names no head");
    refuse((fixture){.config = WITH(UNET, SINGLE ", centroid: {confmaps: {output_stride: 1}}")},
           SK_ERR_FORMAT, "two heads");
    refuse((fixture){.config = WITH(UNET, "bottomup_segmentation: {a: 1}")}, SK_ERR_UNSUPPORTED,
           "bottomup_segmentation");
    refuse((fixture){.config = WITH("swint: {model_type: tiny}", SINGLE)}, SK_ERR_UNSUPPORTED,
           "sleap-nn export");
    refuse((fixture){.config = WITH("unet: null", SINGLE)}, SK_ERR_FORMAT, "names no backbone");
    refuse((fixture){.config = WITH("unet: {max_stride: 2, stacks: 3}", SINGLE)}, SK_ERR_UNSUPPORTED,
           "stacks");
    refuse((fixture){.config = WITH("unet: {max_stride: 3}", SINGLE)}, SK_ERR_FORMAT, "power of two");
    refuse((fixture){.config = WITH("unet: {max_stride: 2, up_interpolate: false}", SINGLE)},
           SK_ERR_NOT_FOUND, "transposed");
    refuse((fixture){.config =
                         WITH(UNET, "single_instance: {confmaps: {part_names: [a, b], output_stride: 1}}")},
           SK_ERR_MISMATCH, "1 channels");
    refuse(
        (fixture){.config = WITH(UNET, "single_instance: {confmaps: {part_names: [a], output_stride: 4}}")},
        SK_ERR_MISMATCH, "stride 4");
    refuse((fixture){.config = WITH(UNET, "single_instance: {confmaps: {output_stride: 1}}")}, SK_ERR_FORMAT,
           "keypoints");
    refuse(
        (fixture){.config = WITH(UNET, "bottomup: {confmaps: {part_names: [a]}, pafs: {edges: [[a, z]]}}")},
        SK_ERR_FORMAT, "\"z\"");
    refuse((fixture){.config = WITH(UNET, SINGLE) "data_config: {preprocessing: {scale: -1}}\n"},
           SK_ERR_FORMAT, "scale");
    refuse((fixture){.config = WITH(UNET, SINGLE) "data_config: {preprocessing: {crop_mode: bbox}}\n"},
           SK_ERR_UNSUPPORTED, "bbox");
    refuse(
        (fixture){.config = WITH(UNET, SINGLE) "data_config: {preprocessing: {tiling: {enabled: true}}}\n"},
        SK_ERR_UNSUPPORTED, "tiling");
    refuse(
        (fixture){.config = WITH(UNET, "centered_instance: {confmaps: {part_names: [a], output_stride: 1}}")},
        SK_ERR_NOT_FOUND, "CenteredInstanceConfmapsHead");
}

static sk_status open_and_close(void *folder, sk_error *err)
{
    sk_model *model = NULL;
    sk_status status = sk_model_open(folder, &model, err);
    sk_model_close(&model);
    return status;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s", make_folder(&(fixture){.config = tiny_config}));
    assert_true(test_every_allocation(open_and_close, folder) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_give_the_original_answers),
        cmocka_unit_test(a_folder_of_our_own_opens),
        cmocka_unit_test(the_named_checkpoint_is_read),
        cmocka_unit_test(broken_checkpoints_are_refused),
        cmocka_unit_test(broken_configurations_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
