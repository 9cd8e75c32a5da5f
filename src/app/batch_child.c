/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_internal.h"
#include "app/batch_state.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct list {
    char **words;
    size_t count, capacity;
    bool failed;
} list;

static void add(list *l, const char *format, ...) SK_PRINTF(2, 3);
static void add(list *l, const char *format, ...)
{
    sk_text text = {0};
    va_list args;
    va_start(args, format);
    sk_text_vappendf(&text, format, args);
    va_end(args);
    char *word = NULL;
    if (sk_array_reserve((void **)&l->words, &l->capacity, l->count + 2, sizeof *l->words, 10000000, NULL) !=
            SK_OK ||
        sk_text_take(&text, &word, NULL) != SK_OK)
        l->failed = true;
    else
        l->words[l->count++] = word ? word : sk_strdup("");
    if (l->words)
        l->words[l->count] = NULL;
    sk_text_free(&text);
}

static bool has_option(const sk_batch *b, const char *name)
{
    char with[64];
    snprintf(with, sizeof with, "--%s", name);
    const size_t n = strlen(with);
    for (size_t i = 0; b->words[i]; i++)
        if (strncmp(b->words[i], with, n) == 0 && (b->words[i][n] == '=' || b->words[i][n] == '\0'))
            return true;
    return false;
}

/* The device of this slot: its variable and number; false: none. */
static bool device_of(const sk_batch *b, int32_t slot, char *variable, size_t capacity)
{
    const char *devices = b->how.devices;
    int32_t n = 1;
    if (!devices || !*devices)
        return false;
    for (const char *c = devices; *c; c++)
        n += *c == ',';
    const char *at = devices;
    for (int32_t i = 0; i < slot % n; i++)
        at = strchr(at, ',') + 1;
    const char *colon = memchr(at, ':', strcspn(at, ","));
    snprintf(variable, capacity, "%s=%.*s",
             strncmp(at, "rocm", 4) == 0 ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
             (int)strcspn(colon ? colon + 1 : at, ","), colon ? colon + 1 : at);
    return true;
}

/* Parts behind one whose video is cut off have nothing, and may not be done: a merge does without. */
static sk_status add_found(sk_batch *b, const sk_batch_piece *piece, bool dry, list *l, sk_error *err)
{
    char path[SK_BATCH_PATH];
    for (int64_t i = piece->number - piece->parts; i < piece->number; i++) {
        sk_batch_done done;
        if (sk_batch_done_read(b, i, &done))
            add(l, "--found=%s", sk_batch_work_path(b, i, done.attempt, path));
        else if (dry) /* where its first attempt would be */
            add(l, "--found=%s", sk_batch_work_path(b, i, 1, path));
    }
    return l->failed ? sk_fail_memory(err, 64) : SK_OK;
}

sk_status sk_batch_words(sk_batch *b, const sk_batch_piece *piece, int32_t attempt, int32_t slot, char ***out,
                         sk_error *err)
{
    list l = {0};
    char path[SK_BATCH_PATH], device[64];
    const int32_t cores = sk_cpu_usable_cores();
    if (device_of(b, slot < 0 ? 0 : slot, device, sizeof device)) {
        add(&l, "env");
        add(&l, "%s", device);
    }
    add(&l, "%s", b->program);
    add(&l, "%s", b->command);
    for (size_t i = 0; b->words[i]; i++)
        if (piece->kind != SK_BATCH_PART || strncmp(b->words[i], "--frames", 8) != 0)
            add(&l, "%s", b->words[i]);
    if (!b->how.slurm && b->how.workers > 1 && !has_option(b, "threads"))
        add(&l, "--threads=%d", cores / b->how.workers > 1 ? cores / b->how.workers : 1);
    if (piece->kind == SK_BATCH_PART) {
        add(&l, "--frames=%s", piece->frames);
        add(&l, "--find-only");
    }
    sk_status status = piece->kind == SK_BATCH_MERGE ? add_found(b, piece, slot < 0, &l, err) : SK_OK;
    add(&l, "--out=%s", sk_batch_work_path(b, piece->number, attempt, path));
    if (slot >= 0) { /* for a person they would be noise */
        add(&l, "--events=3");
        add(&l, "--json");
        add(&l, "--quiet");
    }
    add(&l, "--");
    add(&l, "%s", piece->source);
    if (status == SK_OK && l.failed)
        status = sk_fail_memory(err, 64);
    if (status != SK_OK) {
        sk_batch_words_free(l.words);
        l.words = NULL;
    }
    *out = l.words;
    return status;
}

void sk_batch_line(char *const *words, sk_text *line)
{
    for (size_t i = 0; words[i]; i++) {
        sk_text_append(line, i ? " " : "");
        sk_text_append_shell(line, words[i]);
    }
}
