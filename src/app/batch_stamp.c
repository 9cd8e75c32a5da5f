/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_internal.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the words of a batch stood for when it was begun. The same words later may mean other files: a model that was trained again
 * under its old name, a video of the same name in another folder. Their results would be mixed with those that are there. */

static const char *value_of(const char *word, const char *option)
{
    const size_t n = strlen(option);
    return strncmp(word, option, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* "" where the word names no file. A model that cannot be read is told here, before anything is begun. */
static sk_status hash_of(const char *word, char hash[SK_SHA256_TEXT], sk_error *err)
{
    static const char *const files[] = {"--config", "--roi-mask"};
    const char *path = value_of(word, "--model");
    sk_model *model = NULL;
    hash[0] = '\0';
    if (path) {
        SK_TRY(sk_model_open(path, &model, err));
        snprintf(hash, SK_SHA256_TEXT, "%s", model->content_hash);
        sk_model_close(&model);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if ((path = value_of(word, files[i]))) {
            sk_sha256 content;
            SK_TRY(sk_hash_sha256_file(path, &content, err));
            sk_sha256_text(&content, hash);
        }
    return SK_OK;
}

sk_status batch_stamp_words(char *const *words, char ***out, sk_error *err)
{
    size_t n = 0;
    while (words[n])
        n++;
    char **stamps = sk_calloc(n + 1, sizeof *stamps), hash[SK_SHA256_TEXT];
    sk_status status = stamps ? SK_OK : sk_fail_memory(err, n * sizeof *stamps);
    for (size_t i = 0; i < n && status == SK_OK; i++) {
        status = hash_of(words[i], hash, err);
        if (status == SK_OK && !(stamps[i] = sk_strdup(hash)))
            status = sk_fail_memory(err, sizeof hash);
    }
    if (status != SK_OK) {
        sk_batch_words_free(stamps);
        stamps = NULL;
    }
    *out = stamps;
    return status;
}

sk_status batch_stamp_check(const sk_batch *b, char *const *now, sk_error *err)
{
    for (size_t i = 0; b->words[i] && b->stamps && b->stamps[i] && now[i]; i++)
        if (strcmp(b->stamps[i], now[i]) != 0)
            return sk_fail(err, SK_ERR_MISMATCH,
                           "%s: is not the file that this batch was begun with: what is in it has changed, "
                           "and results of both would be mixed\nPut the old one back, choose another --out, "
                           "or begin anew here with --restart, which removes the results",
                           strchr(b->words[i], '=') ? strchr(b->words[i], '=') + 1 : b->words[i]);
    return SK_OK;
}

sk_status batch_stamp_folder(const sk_batch *b, const sk_source_list *videos, sk_error *err)
{
    if (sk_file_is_same(".", b->folder))
        return SK_OK;
    for (size_t i = 0; i < videos->count; i++) {
        const char *source = videos->items[i].source;
        if (source && *source != '/' && !strstr(source, "://"))
            return sk_fail(err, SK_ERR_MISMATCH,
                           "%s: this batch was begun in the folder %s, from which '%s' is another file\n"
                           "Start it there, name videos by their whole paths, or choose another --out",
                           b->out, b->folder, source);
    }
    return SK_OK;
}
