/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds.h"

#include "base/file.h"
#include "media/reader.h"
#include "media/text_list.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static bool has_any(const char *name, const char *const *suffixes)
{
    for (; *suffixes; suffixes++)
        if (sk_path_has_extension(name, *suffixes))
            return true;
    return false;
}

const char *sk_kind_of_file(const char *name)
{
    static const char *const models[] = {".pt", ".onnx", ".skq", ".engine", ".zip", NULL};
    static const char *const configs[] = {".json", ".yaml", ".yml", NULL};
    if (sk_path_has_extension(name, ".txt")) /* a list of pictures may name some outside of the folders */
        return "other";
    if (sk_path_is_video(name))
        return "video";
    if (sk_uri_is_pictures(name))
        return "image";
    return has_any(name, models) ? "model" : has_any(name, configs) ? "config" : "other";
}

static bool holds(int folder, const char *name, const char *file)
{
    char path[PATH_MAX];
    struct stat kind;
    const int n = snprintf(path, sizeof path, "%s/%s", name, file);
    return n > 0 && (size_t)n < sizeof path && fstatat(folder, path, &kind, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *sk_kind_of_folder(int folder, const char *name)
{
    static const char *const models[] = {"training_config.json", "training_config.yaml", "best_model.h5",
                                         "best.ckpt", NULL};
    if (holds(folder, name, "run.json"))
        return "run";
    for (const char *const *file = models; *file; file++)
        if (holds(folder, name, *file))
            return "model";
    return "folder";
}
