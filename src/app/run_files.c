/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

static void add(sk_run_files *files, int32_t model, const char *path, const char *sha256)
{
    for (int32_t i = 0; i < files->count; i++) {
        const sk_pipeline_file *f = &files->items[i];
        if (f->model == model && strcmp(f->path, path) == 0 && strcmp(f->sha256, sha256) == 0)
            return;
    }
    if (files->count == SK_RUN_MAX_FILES || strlen(sha256) != 64)
        return;
    sk_pipeline_file *f = &files->items[files->count++];
    f->model = model;
    snprintf(f->path, sizeof f->path, "%s", path);
    snprintf(f->sha256, sizeof f->sha256, "%s", sha256);
}

void sk_run_files_read(const char *folder, sk_run_files *files)
{
    char *path = sk_path_join(folder, "run.json"), *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    if (path && sk_file_read_own(path, (size_t)16 << 20, &text, &bytes, NULL) == SK_OK &&
        sk_config_open_json(text, bytes, path, &config, NULL) == SK_OK) {
        const sk_config_value *models = sk_config_get(sk_config_root(config), "models");
        for (size_t i = 0; i < sk_config_count(models) && i < 4; i++) {
            const sk_config_value *list = sk_config_get(sk_config_at(models, i), "computed_by");
            for (size_t k = 0; k < sk_config_count(list); k++) {
                const sk_config_value *file = sk_config_at(list, k);
                add(files, (int32_t)i, sk_config_text_or(file, "path", ""),
                    sk_config_text_or(file, "sha256", ""));
            }
        }
    }
    sk_config_close(&config);
    sk_free(text);
    sk_free(path);
}

void sk_run_files_note(sk_run_files *files, sk_pipeline *pipeline, sk_run_header *header)
{
    sk_pipeline_file file = {.size = sizeof file};
    for (int32_t i = 0; pipeline && sk_pipeline_get_file(pipeline, i, &file); i++)
        add(files, file.model, file.path, file.sha256);
    header->n_files = files->count;
    for (int32_t i = 0; i < files->count; i++)
        header->files[i] = (sk_run_file){files->items[i].model, files->items[i].path, files->items[i].sha256};
}
