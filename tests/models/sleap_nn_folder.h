/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SLEAP_NN_FOLDER_H
#define SK_TESTS_SLEAP_NN_FOLDER_H

/* A sleap-nn folder of our own: a U-Net as small as can be, with faults that are asked for by name. */
#include "support/test.h"
#include "support/torch_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    const char *head; /* null: "SingleInstance" */
} fixture;

static inline void put_tensor(tw_pickle *p, const fixture *f, const char *name, sk_shape shape)
{
    static float values[4096];
    char full[200];
    const char *usual = strstr(name, "SingleInstance");
    snprintf(full, sizeof full, "%s%.*s%s%s", f->prefix ? f->prefix : "model.",
             usual ? (int)(usual - name) : (int)strlen(name), name,
             !usual    ? ""
             : f->head ? f->head
                       : "SingleInstance",
             usual ? usual + strlen("SingleInstance") : "");
    if (f->reshaped && strcmp(f->reshaped, name) == 0)
        shape.dim[0]++;
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        values[i] = (float)((i * 7 + (int64_t)strlen(name)) % 11 - 5) / 8.0f;
    if (f->poisoned && strcmp(f->poisoned, name) == 0)
        values[0] = NAN;
    tw_text(p, full);
    tw_tensor(p, SK_DTYPE_F32, &shape, values, false);
}

static inline void write_file(const char *folder, const char *name, const void *bytes, size_t length)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static inline const char *make_folder(const fixture *f)
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

#endif
