/* SPDX-License-Identifier: Apache-2.0 */
#include "app/slp_video.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"

#include <string.h>

/* A .slp file names the videos it labels. Given as a source, it stands for its first one. */

/* A name in somebody's file never opens a camera, a pipe or a device. */
static bool may_be_opened(const char *path)
{
    return sk_file_is_regular(path) || sk_file_is_directory(path);
}

/* Where the video is now: as the file says, beside the .slp by its relative path, or beside it by its bare name (files
 * travel together). Null when none of these exists. */
static sk_status locate(const char *slp, const char *named, char **out, sk_error *err)
{
    if (may_be_opened(named)) {
        *out = sk_strdup(named);
        return *out ? SK_OK : sk_fail_memory(err, strlen(named));
    }
    char *folder = sk_path_folder(slp);
    sk_status status = folder ? SK_OK : sk_fail_memory(err, strlen(slp));
    const char *tries[] = {named, sk_path_name(named)};
    for (int i = 0; i < 2 && status == SK_OK && !*out; i++) {
        char *path = sk_path_join(folder, tries[i]);
        if (!path)
            status = sk_fail_memory(err, strlen(tries[i]));
        else if (may_be_opened(path))
            *out = path;
        else
            sk_free(path);
    }
    sk_free(folder);
    return status;
}

static sk_status path_in_entry(const char *slp, const char *entry, char **out, sk_error *err)
{
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(entry, strlen(entry), slp, &config, err));
    const sk_config_value *root = sk_config_root(config);
    const char *name = sk_config_text(sk_config_find(root, "backend.filename"));
    if (!name)
        name = sk_config_text(sk_config_find(root, "filename"));
    sk_status status = SK_OK;
    if (!name || strcmp(name, ".") == 0 || sk_config_count(sk_config_find(root, "backend.filenames")) > 1) {
        status = sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: its frames are stored inside the file or are a list of pictures; give the video or the "
            "folder of pictures instead",
            slp);
    } else {
        status = locate(slp, name, out, err);
        if (status == SK_OK && !*out)
            status = sk_fail(err, SK_ERR_NOT_FOUND,
                             "%s: its video '%s' is neither there nor beside the .slp; give the video itself",
                             slp, name);
    }
    sk_config_close(&config);
    return status;
}

sk_status sk_slp_video(const char *slp, char **out, sk_error *err)
{
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts texts = {0};
    *out = NULL;
    SK_TRY(sk_hdf5_open(slp, &file, err));
    sk_status status = sk_hdf5_dataset_texts(file, "videos_json", &texts, err);
    const char *entry = status == SK_OK ? sk_hdf5_text_at(&texts, 0) : NULL;
    if (status == SK_OK && !entry)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: names no video", slp);
    if (status == SK_OK)
        status = path_in_entry(slp, entry, out, err);
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
    return status;
}
