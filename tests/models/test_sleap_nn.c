/* SPDX-License-Identifier: Apache-2.0 */
/* sleap-nn folders: small networks of the original with random weights and their answers
 * (tests/parity/sleap_nn_models.py made them), and folders that are broken in every way we could think of. */
#include "sleap_nn_folder.h"
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

/* --- folders of our own --- */

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
