/* SPDX-License-Identifier: Apache-2.0 */
#include "base/allowance.h"
#include "base/file.h"
#include "base/object.h"
#include "formats/zip.h"
#include "models/sleap.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE_BYTES ((uint64_t)4 << 30)
#define MAX_READS      8

struct sk_sleap_source {
    char *folder;     /* or the zip's path */
    sk_blob *archive; /* the zip's bytes */
    sk_zip *zip;      /* null for a folder */
    char *prefix;     /* of entries in the zip, "model/" or "" */
    char *weights;    /* the weights file that was named instead of the folder; null: none was */
    sk_blob *held[MAX_READS];
    int n_held;
    sk_sha256_state hash;
    char path[4096];
};

static const char *const config_names[] = {"training_config.yaml", "training_config.yml",
                                           "training_config.json"};
#define N_CONFIG_NAMES (sizeof config_names / sizeof *config_names)

/* The folder inside the zip that holds a training configuration; the shallowest one. */
static sk_status find_prefix(sk_sleap_source *s, sk_error *err)
{
    const char *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < sk_zip_count(s->zip); i++) {
        const char *name = sk_zip_at(s->zip, i)->name;
        const char *last = strrchr(name, '/');
        const char *file = last ? last + 1 : name;
        size_t length = (size_t)(file - name);
        if (strncmp(name, "__MACOSX", 8) == 0)
            continue;
        for (size_t j = 0; j < N_CONFIG_NAMES; j++)
            if (strcmp(file, config_names[j]) == 0 && (!best || length < best_length)) {
                best = name;
                best_length = length;
            }
    }
    if (!best)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: no training_config.json or training_config.yaml in this zip: not a SLEAP model",
                       s->folder);
    s->prefix = sk_strndup(best, best_length);
    return s->prefix ? SK_OK : sk_fail_memory(err, best_length);
}

static sk_status open_zip(sk_sleap_source *s, sk_error *err)
{
    SK_TRY(sk_file_load(s->folder, &s->archive, err));
    SK_TRY(sk_zip_open_memory(sk_blob_data(s->archive), sk_blob_bytes(s->archive), s->folder, &s->zip, err));
    return find_prefix(s, err);
}

sk_status sk_sleap_source_open(const char *path, sk_sleap_source **out, sk_error *err)
{
    *out = NULL;
    sk_sleap_source *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status = SK_OK;
    bool is_folder = sk_file_is_directory(path);
    sk_sha256_begin(&s->hash);
    if (!is_folder && !sk_file_exists(path)) {
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: no such model folder or file", path);
        goto done;
    }
    if (is_folder || sk_path_has_extension(path, ".zip"))
        s->folder = sk_strdup(path);
    else
        s->folder = sk_path_folder(path);
    bool names_weights =
        !is_folder && (sk_path_has_extension(path, ".ckpt") || sk_path_has_extension(path, ".h5"));
    if (names_weights)
        s->weights = sk_strdup(sk_path_name(path));
    if (!s->folder || (names_weights && !s->weights)) {
        status = sk_fail_memory(err, strlen(path));
        goto done;
    }
    if (!is_folder && sk_path_has_extension(path, ".zip"))
        status = open_zip(s, err);
done:
    return SK_HAND_OVER(status, s, out, sk_sleap_source_close);
}

sk_status sk_sleap_source_of(const sk_model *model, const char *path, sk_sleap_source **out, sk_error *err)
{
    if (!model->given)
        return sk_sleap_source_open(path, out, err);
    *out = NULL;
    sk_sleap_source *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_sha256_begin(&s->hash);
    s->folder = sk_strdup(path);
    sk_status status = s->folder ? SK_OK : sk_fail_memory(err, strlen(path));
    SK_TRY_GOTO(status);
    SK_TRY_GOTO(sk_zip_open_memory(model->given, model->given_length, path, &s->zip, err));
    SK_TRY_GOTO(find_prefix(s, err));
    *out = s;
    return SK_OK;
done:
    sk_sleap_source_close(&s);
    return status;
}

void sk_sleap_source_close(sk_sleap_source **source)
{
    SK_TAKE_OR_RETURN(s, source);
    for (int i = 0; i < s->n_held; i++)
        sk_blob_unref(&s->held[i]);
    sk_zip_close(&s->zip);
    sk_blob_unref(&s->archive);
    sk_free_all(s->weights, s->prefix, s->folder, s);
}

const char *sk_sleap_source_path(sk_sleap_source *s, const char *name)
{
    if (s->zip)
        snprintf(s->path, sizeof s->path, "%s:%s%s", s->folder, s->prefix, name);
    else
        snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
    return s->path;
}

const char *sk_sleap_source_weights(const sk_sleap_source *s, const char *usual)
{
    return s->weights ? s->weights : usual;
}

static const sk_zip_entry *find_entry(const sk_sleap_source *s, const char *name)
{
    char full[1024];
    int length = snprintf(full, sizeof full, "%s%s", s->prefix, name);
    return length < (int)sizeof full ? sk_zip_find(s->zip, full) : NULL;
}

bool sk_sleap_source_has(const sk_sleap_source *s, const char *name)
{
    if (s->zip)
        return find_entry(s, name) != NULL;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return length < (int)sizeof path && sk_file_is_regular(path);
}

static sk_status read_entry(sk_sleap_source *s, const char *name, const char **bytes, size_t *length,
                            sk_error *err)
{
    const sk_zip_entry *entry = find_entry(s, name);
    if (!entry)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: not in the zip", sk_sleap_source_path(s, name));
    if (entry->size > MAX_FILE_BYTES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %llu bytes, more than is read", sk_sleap_source_path(s, name),
                       (unsigned long long)entry->size);
    if (entry->size > sk_allowance_of_file(sk_zip_length(s->zip)))
        return sk_allowance_fail(err, entry->size, "%s: inflates to %llu MiB from a zip of %zu KiB",
                                 sk_sleap_source_path(s, name), (unsigned long long)(entry->size >> 20),
                                 sk_zip_length(s->zip) >> 10);
    const uint8_t *data;
    sk_blob *hold = NULL;
    SK_TRY(sk_zip_read(s->zip, entry, &data, &hold, err));
    s->held[s->n_held++] = hold; /* null for stored entries, which lie in the archive */
    *bytes = (const char *)data;
    *length = (size_t)entry->size;
    return SK_OK;
}

sk_status sk_sleap_source_read(sk_sleap_source *s, const char *name, const char **bytes, size_t *length,
                               sk_error *err)
{
    if (s->n_held >= MAX_READS)
        return sk_fail(err, SK_ERR_INTERNAL, "%s: more than %d files read", s->folder, MAX_READS);
    if (s->zip) {
        SK_TRY(read_entry(s, name, bytes, length, err));
    } else {
        sk_blob *blob;
        SK_TRY(sk_file_load(sk_sleap_source_path(s, name), &blob, err));
        s->held[s->n_held++] = blob;
        *bytes = sk_blob_data(blob);
        *length = sk_blob_bytes(blob);
    }
    if (*length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty", sk_sleap_source_path(s, name));
    sk_sha256_add(&s->hash, *bytes, *length);
    return SK_OK;
}

void sk_sleap_source_hash(const sk_sleap_source *s, char text[65])
{
    sk_sha256_state copy = s->hash;
    sk_sha256 hash;
    sk_sha256_end(&copy, &hash);
    sk_sha256_text(&hash, text);
}

/* Of what opening gave; anything but a lack of memory: not one of ours, of which nobody is told. Closes it. */
static sk_status format_of(sk_status status, const sk_error *why, sk_sleap_source **s, int *format,
                           sk_error *err)
{
    if (status == SK_OK) {
        if (sk_sleap_source_has(*s, "training_config.yaml") || sk_sleap_source_has(*s, "training_config.yml"))
            *format = SK_FORMAT_SLEAP_NN;
        else if (sk_sleap_source_has(*s, "training_config.json"))
            *format = SK_FORMAT_SLEAP_KERAS;
    }
    sk_sleap_source_close(s);
    if (status != SK_ERR_MEMORY)
        return SK_OK;
    if (err)
        *err = *why;
    return status;
}

sk_status sk_sleap_format_of(const char *path, int *format, sk_error *err)
{
    static const char *const endings[] = {".zip", ".ckpt", ".h5"};
    *format = 0;
    bool candidate = sk_file_is_directory(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        candidate = candidate || sk_path_has_extension(path, endings[i]);
    for (size_t i = 0; i < N_CONFIG_NAMES; i++)
        candidate = candidate || strcmp(sk_path_name(path), config_names[i]) == 0;
    if (!candidate)
        return SK_OK;
    sk_error why = {0};
    sk_sleap_source *s = NULL;
    sk_status status = sk_sleap_source_open(path, &s, &why);
    return format_of(status, &why, &s, format, err);
}

sk_status sk_sleap_format_of_given(const sk_model *model, int *format, sk_error *err)
{
    *format = 0;
    sk_error why = {0};
    sk_sleap_source *s = NULL;
    sk_status status = sk_sleap_source_of(model, model->path, &s, &why);
    return format_of(status, &why, &s, format, err);
}
