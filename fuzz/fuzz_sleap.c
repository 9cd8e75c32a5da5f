/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/file.h"
#include "models/model.h"
#include "mutate.h"
#include "use_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A SLEAP model's folder whose configuration is the input, beside the weights of a fixture: the first byte says which.
 * What the one says of the network and what the other holds disagree in every way. */

static const char *const models[] = {
    "sleap_nn/unet_bottomup_transposed",
    "sleap_nn/unet_class_vectors",
    "sleap_nn/unet_class_maps",
    "sleap_nn/unet_single_kernel5_convs3",
    "sleap_nn/convnext_bottomup",
    "sleap_nn/unet_no_decoder",
    "sleap_keras/convolutions",
    "sleap_keras/encoder",
    "sleap_keras/pooling_and_merging",
    "sleap_keras/transposed",
    "sleap_keras/vectors",
};
#define N_MODELS (sizeof models / sizeof models[0])

static char folders[N_MODELS][512], base[256];

static void remove_folders(void)
{
    static const char *const names[] = {"training_config.json", "training_config.yaml", "best.ckpt",
                                        "best_model.h5"};
    for (size_t i = 0; i < N_MODELS; i++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            char path[800];
            snprintf(path, sizeof path, "%.500s/%s", folders[i], names[k]);
            unlink(path);
        }
        rmdir(folders[i]);
    }
    rmdir(base);
}

static bool make_folders(void)
{
    const char *place = getenv("TMPDIR");
    sk_error err;
    snprintf(base, sizeof base, "%.200s/skitter-fuzz-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(base))
        return false;
    for (size_t i = 0; i < N_MODELS; i++) {
        const char *weights = strncmp(models[i], "sleap_nn", 8) == 0 ? "best.ckpt" : "best_model.h5";
        char from[800], to[800];
        snprintf(folders[i], sizeof folders[i], "%s/%zu", base, i);
        snprintf(from, sizeof from, SK_FUZZ_FIXTURES "/%s/%s", models[i], weights);
        snprintf(to, sizeof to, "%.500s/%s", folders[i], weights);
        if (sk_folder_make(folders[i], &err) != SK_OK || symlink(from, to) != 0)
            return false;
    }
    atexit(remove_folders);
    return true;
}

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(sleap, data, size)
{
    static int ready = -1;
    sk_error err = {0};
    char path[800];
    sk_model *model = NULL;
    if (ready < 0)
        ready = make_folders();
    if (!ready || size < 1)
        return;
    size_t i = data[0] % N_MODELS;
    bool nn = strncmp(models[i], "sleap_nn", 8) == 0;
    snprintf(path, sizeof path, "%.500s/%s", folders[i],
             nn ? "training_config.yaml" : "training_config.json");
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    bool written = fwrite(data + 1, 1, size - 1, file) == size - 1;
    if (fclose(file) != 0 || !written)
        return;
    sk_status status = sk_model_open(folders[i], &model, &err);
    if (status == SK_OK)
        sk_fuzz_use_model(model);
    else
        SK_FUZZ_CHECK(!model && err.code == status && err.message[0]);
    sk_model_close(&model);
}
