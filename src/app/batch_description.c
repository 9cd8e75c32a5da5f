/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

/* What a batch is: batch.json, written when it is begun and read by everybody else. */

#define DESCRIPTION_MOST ((size_t)16 << 20)

/* --- lists of words --- */

void sk_batch_words_free(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        sk_free(words[i]);
    sk_free((void *)words);
}

static sk_status copy_words(char *const *words, char ***out, sk_error *err)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    char **copy = sk_calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = sk_strdup(words[i]))) {
            sk_batch_words_free(copy);
            copy = NULL;
        }
    *out = copy;
    return copy ? SK_OK : sk_fail_memory(err, n * sizeof *copy);
}

static char *copy_text(const char *text, bool *failed)
{
    char *copy = text ? sk_strdup(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

void batch_how_free(sk_batch_how *how)
{
    sk_free_all(how->devices, how->partition, how->time, how->gpus, how->memory, how->cpus);
    sk_batch_words_free(how->modules);
    sk_batch_words_free(how->sbatch);
    *how = (sk_batch_how){0};
}

sk_status batch_how_copy(const sk_batch_how *from, sk_batch_how *to, sk_error *err)
{
    bool failed = false;
    *to = *from;
    to->devices = copy_text(from->devices, &failed);
    to->partition = copy_text(from->partition, &failed);
    to->time = copy_text(from->time, &failed);
    to->gpus = copy_text(from->gpus, &failed);
    to->memory = copy_text(from->memory, &failed);
    to->cpus = copy_text(from->cpus, &failed);
    to->modules = to->sbatch = NULL;
    SK_TRY(copy_words(from->modules, &to->modules, err));
    SK_TRY(copy_words(from->sbatch, &to->sbatch, err));
    return failed ? sk_fail_memory(err, 64) : SK_OK;
}

/* --- batch.json --- */

static void put_words(sk_json *json, const char *key, char *const *words)
{
    sk_json_key_array(json, key);
    for (size_t i = 0; words && words[i]; i++)
        sk_json_string(json, words[i]);
    sk_json_close(json);
}

sk_status batch_write(const sk_batch *b, sk_error *err)
{
    sk_text text = {0};
    char path[SK_BATCH_PATH];
    const sk_batch_how *h = &b->how;
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_int(&json, "skitter_batch", 1);
    sk_json_key_strings(&json, {"id", b->id}, {"program", b->program}, {"command", b->command},
                        {"folder", b->folder}, {"frames", b->frames});
    put_words(&json, "words", b->words);
    if (b->stamps)
        put_words(&json, "stamps", b->stamps);
    sk_json_key_ints(&json, {"split", b->split}, {"pieces", b->pieces}, {"videos", b->videos},
                     {"round", b->round}, {"workers", h->workers}, {"retries", h->retries},
                     {"losses", h->losses}, {"pieces_per_task", h->pieces_per_task});
    sk_json_key_bool(&json, "slurm", h->slurm);
    sk_json_key_strings(&json, {"devices", h->devices}, {"partition", h->partition}, {"time", h->time},
                        {"gpus", h->gpus}, {"memory", h->memory}, {"cpus", h->cpus});
    put_words(&json, "modules", h->modules);
    put_words(&json, "sbatch", h->sbatch);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_file_replace(sk_batch_path(b, "batch.json", path), text.data, text.length, err);
    sk_text_free(&text);
    return status;
}

static sk_status read_words(const sk_config_value *list, char ***out, sk_error *err)
{
    const size_t n = sk_config_count(list);
    char **words = sk_calloc(n + 1, sizeof *words);
    for (size_t i = 0; words && i < n; i++) {
        const char *text = sk_config_text(sk_config_at(list, i));
        if (!(words[i] = sk_strdup(text ? text : ""))) {
            sk_batch_words_free(words);
            words = NULL;
        }
    }
    *out = words;
    return words ? SK_OK : sk_fail_memory(err, n * sizeof *words);
}

static sk_status read_how(const sk_config_value *root, sk_batch_how *h, sk_error *err)
{
    bool failed = false;
    h->workers = (int32_t)sk_config_int_or(root, "workers", 0);
    h->retries = (int32_t)sk_config_int_or(root, "retries", 0);
    h->losses = (int32_t)sk_config_int_or(root, "losses", 0);
    h->pieces_per_task = (int32_t)sk_config_int_or(root, "pieces_per_task", 0);
    h->slurm = sk_config_bool_or(root, "slurm", false);
    h->devices = copy_text(sk_config_text_or(root, "devices", NULL), &failed);
    h->partition = copy_text(sk_config_text_or(root, "partition", NULL), &failed);
    h->time = copy_text(sk_config_text_or(root, "time", NULL), &failed);
    h->gpus = copy_text(sk_config_text_or(root, "gpus", NULL), &failed);
    h->memory = copy_text(sk_config_text_or(root, "memory", NULL), &failed);
    h->cpus = copy_text(sk_config_text_or(root, "cpus", NULL), &failed);
    SK_TRY(read_words(sk_config_get(root, "modules"), &h->modules, err));
    SK_TRY(read_words(sk_config_get(root, "sbatch"), &h->sbatch, err));
    return failed ? sk_fail_memory(err, 64) : SK_OK;
}

static sk_status read_description(sk_batch *b, const sk_config_value *root, const char *path, sk_error *err)
{
    bool failed = false;
    const char *id = sk_config_text_or(root, "id", "");
    snprintf(b->id, sizeof b->id, "%.16s", id);
    b->program = copy_text(sk_config_text_or(root, "program", "skitter"), &failed);
    b->command = copy_text(sk_config_text_or(root, "command", ""), &failed);
    b->folder = copy_text(sk_config_text_or(root, "folder", "/"), &failed);
    b->frames = copy_text(sk_config_text_or(root, "frames", NULL), &failed);
    b->split = sk_config_int_or(root, "split", 0);
    b->pieces = sk_config_int_or(root, "pieces", -1);
    b->videos = sk_config_int_or(root, "videos", 0);
    b->round = sk_config_int_or(root, "round", 0);
    if (failed)
        return sk_fail_memory(err, 64);
    if (sk_config_int_or(root, "skitter_batch", 0) != 1 || strlen(id) != 16 || b->pieces < 0 ||
        b->pieces > SK_BATCH_MOST || b->split < 0 ||
        (strcmp(b->command, "track") != 0 && strcmp(b->command, "predict") != 0))
        return sk_fail(err, SK_ERR_FORMAT, "%s: is not what 'skitter batch' wrote; begin anew with --restart",
                       path);
    SK_TRY(read_words(sk_config_get(root, "words"), &b->words, err));
    if (sk_config_get(root, "stamps"))
        SK_TRY(read_words(sk_config_get(root, "stamps"), &b->stamps, err));
    return read_how(root, &b->how, err);
}

sk_status sk_batch_open(const char *out, sk_batch **batch, sk_error *err)
{
    sk_batch *b = sk_calloc(1, sizeof *b);
    char *text = NULL, path[SK_BATCH_PATH];
    size_t bytes = 0;
    sk_config *config = NULL;
    *batch = NULL;
    if (!b)
        return sk_fail_memory(err, sizeof *b);
    sk_status status = SK_OK;
    b->out = sk_path_absolute(out);
    if (!b->out || strlen(b->out) > 3900) {
        status = b->out ? sk_fail(err, SK_ERR_LIMIT, "%.80s…: this path is too long", out)
                        : sk_fail_memory(err, 64);
        goto done;
    }
    const size_t length = strlen(b->out), own = strlen("/" SK_BATCH_FOLDER);
    if (length > own && strcmp(b->out + length - own, "/" SK_BATCH_FOLDER) == 0)
        b->out[length - own] = '\0';
    sk_batch_path(b, "batch.json", path);
    if (!sk_file_is_regular(path)) {
        status =
            sk_fail(err, SK_ERR_NOT_FOUND,
                    "%s: no batch was begun here. Name the folder of its results (--out), or its plan", out);
        goto done;
    }
    SK_TRY_GOTO(sk_file_read_own(path, DESCRIPTION_MOST, &text, &bytes, err));
    SK_TRY_GOTO(sk_config_open_json(text, bytes, path, &config, err));
    SK_TRY_GOTO(read_description(b, sk_config_root(config), path, err));
    b->shards = sk_calloc((size_t)(b->pieces / SK_BATCH_SHARD + 1), sizeof *b->shards);
    if (!b->shards)
        status = sk_fail_memory(err, 64);
done:
    sk_config_close(&config);
    sk_free(text);
    return SK_HAND_OVER(status, b, batch, sk_batch_close);
}

void sk_batch_close(sk_batch **pointer)
{
    SK_TAKE_OR_RETURN(b, pointer);
    for (int64_t i = 0; b->shards && i <= b->pieces / SK_BATCH_SHARD; i++)
        batch_shard_free(b->shards[i]);
    batch_how_free(&b->how);
    sk_batch_words_free(b->words);
    sk_batch_words_free(b->stamps);
    sk_free((void *)b->shards);
    sk_free_all(b->seen, b->seen_done);
    sk_free_all(b->out, b->program, b->command, b->folder, b->frames, b);
}
