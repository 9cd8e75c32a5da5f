/* SPDX-License-Identifier: Apache-2.0 */
#include "app/output_place.h"

#include "base/text.h"
#include "media/picture_size.h"
#include "media/text_list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What is read with a model that is named by one file of its folder. */
static sk_status is_beside(const sk_output_read *read, const char *path, bool *is, sk_error *err)
{
    static const char *const names[] = {
        "training_config.json", "training_config.yaml", "training_config.yml", "best_model.h5", "best.ckpt",
        "export_metadata.json"};
    char *folder = sk_path_folder(read->path);
    sk_status status = folder ? SK_OK : sk_fail_memory(err, strlen(read->path));
    for (size_t i = 0; i < sizeof names / sizeof *names && status == SK_OK && !*is; i++) {
        char *name = sk_path_join(folder, names[i]);
        if (name)
            *is = sk_file_exists(name) && sk_file_is_same(name, path);
        else
            status = sk_fail_memory(err, strlen(folder));
        sk_free(name);
    }
    sk_free(folder);
    return status;
}

static sk_status check_reads(const sk_output_place *place, sk_error *err)
{
    for (size_t i = 0; i < place->n_reads; i++) {
        const sk_output_read *read = &place->reads[i];
        bool within = false;
        if (!read->path)
            continue;
        if (sk_file_is_same(place->path, read->path))
            return sk_fail(err, SK_ERR_ARG, "%s: is %s, which is not written over; --%s names another file",
                           place->path, read->name, place->option);
        if (sk_file_is_directory(read->path))
            within = read->inside && sk_file_is_within(place->path, read->path);
        else if (read->model)
            SK_TRY(is_beside(read, place->path, &within, err));
        if (within)
            return sk_fail(err, SK_ERR_ARG,
                           "%s: is a file of %s (%s), which is not written over; --%s names another file",
                           place->path, read->name, read->path, place->option);
    }
    return SK_OK;
}

static sk_status check_folder(const char *path, sk_error *err)
{
    sk_status status = SK_OK;
    char *folder = sk_path_folder(path);
    if (!folder)
        return sk_fail_memory(err, strlen(path));
    if (sk_file_is_directory(path))
        status = sk_fail(err, SK_ERR_ARG, "%s: is a folder, where a file is to be written", path);
    else if (!sk_file_is_directory(folder))
        status = sk_fail(err, SK_ERR_IO, "%s: there is no folder %s; make it first", path, folder);
    else if (access(folder, W_OK) != 0)
        status =
            sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s in folder %s", path, strerror(errno), folder);
    sk_free(folder);
    return status;
}

sk_status sk_output_place_check_free(const sk_output_place *place, sk_error *err)
{
    if (sk_file_exists(place->path) && !place->overwrite)
        return sk_fail(err, SK_ERR_BUSY,
                       "%s: is there already; --overwrite replaces it, --%s names another file", place->path,
                       place->option);
    return SK_OK;
}

/* "a video's", or null: a name that says nothing. */
static const char *whose_name(const char *path)
{
    static const struct {
        const char *extension, *whose;
    } rows[] = {{".skq", "a model's in eight bits"},
                {".onnx", "an ONNX file's"},
                {".pt", "a checkpoint's"},
                {".pth", "a checkpoint's"},
                {".ckpt", "a checkpoint's"},
                {".safetensors", "a checkpoint's"},
                {".torchscript", "a TorchScript file's"},
                {".tflite", "a TensorFlow Lite file's"},
                {".data", "a file's of weights"},
                {".bin", "a file's of weights"},
                {".h5", "an HDF5 file's"},
                {".hdf5", "an HDF5 file's"},
                {".keras", "a Keras model's"},
                {".engine", "a TensorRT engine's"},
                {".plan", "a TensorRT engine's"},
                {".xml", "an OpenVINO model's"},
                {".slp", "a file's of labels"},
                {".csv", "a table's"},
                {".npy", "an array's"},
                {".json", "a JSON file's"},
                {".yaml", "a YAML file's"},
                {".yml", "a YAML file's"},
                {".zip", "an archive's"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sk_path_has_extension(path, rows[i].extension))
            return rows[i].whose;
    return sk_path_is_video(path) ? "a video's" : sk_picture_has_ending(path) ? "a picture's" : NULL;
}

static sk_status check_kind(const sk_output_place *place, sk_error *err)
{
    const char *whose = !place->extension || sk_path_has_extension(place->path, place->extension)
                            ? NULL
                            : whose_name(place->path);
    if (!whose)
        return SK_OK;
    char *better = sk_path_with_extension(place->path, place->extension);
    if (!better)
        return sk_fail_memory(err, strlen(place->path));
    sk_status status = sk_fail(err, SK_ERR_ARG, "%s: the name is %s, and %s is what is written; call it %s",
                               place->path, whose, place->written, better);
    sk_free(better);
    return status;
}

sk_status sk_output_place_check(const sk_output_place *place, sk_error *err)
{
    SK_TRY(check_reads(place, err));
    SK_TRY(check_kind(place, err));
    SK_TRY(check_folder(place->path, err));
    return sk_output_place_check_free(place, err);
}

sk_status sk_output_place_hold(const char *output, sk_lock **out, sk_error *err)
{
    char *folder = sk_path_folder(output), *path = NULL;
    sk_lock_holder holder = {0};
    sk_text name = {0};
    sk_text_appendf(&name, ".%s.skitter.lock", sk_path_name(output));
    sk_status status = sk_text_status(&name, err);
    path = status == SK_OK && folder ? sk_path_join(folder, sk_text_get(&name)) : NULL;
    if (!path)
        status = sk_fail_memory(err, strlen(output));
    else
        status = sk_lock_open(path, 0, out, &holder, err);
    if (status == SK_ERR_BUSY)
        status = sk_fail(err, SK_ERR_BUSY,
                         "%s: is being made by process %lld, '%s'. Wait for it, stop it or give another -o",
                         output, (long long)holder.pid, holder.command);
    sk_text_free(&name);
    sk_free_all(folder, path);
    return status;
}
