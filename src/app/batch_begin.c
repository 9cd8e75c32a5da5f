/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_again.h"
#include "app/batch_internal.h"
#include "app/run_folder.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "media/frame_choice.h"
#include "media/reader.h"
#include "media/source_told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From a list of videos to a list of pieces. */

typedef struct making {
    const sk_batch_wish *wish;
    sk_batch *b;
    size_t capacity;      /* of b->shards */
    sk_batch_again again; /* of the batch that goes on */
} making;

static void say(const making *m, const char *format, ...) SK_PRINTF(2, 3);
static void say(const making *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    batch_say(m->wish->tell, m->wish->context, format, args);
    va_end(args);
}

static sk_status add_piece(making *m, sk_batch_piece piece, const char *source, const char *name,
                           const char *frames, sk_error *err)
{
    sk_batch *b = m->b;
    const int64_t shard = b->pieces / SK_BATCH_SHARD;
    const size_t before = m->capacity;
    if (b->pieces >= SK_BATCH_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "more than %d pieces; split into fewer, or into several batches",
                       SK_BATCH_MOST);
    SK_TRY(sk_array_reserve((void **)&b->shards, &m->capacity, (size_t)shard + 2, sizeof *b->shards,
                            SK_BATCH_MOST / SK_BATCH_SHARD + 2, err));
    if (m->capacity > before)
        memset((void *)(b->shards + before), 0, (m->capacity - before) * sizeof *b->shards);
    if (!b->shards[shard] && !(b->shards[shard] = sk_calloc(SK_BATCH_SHARD, sizeof **b->shards)))
        return sk_fail_memory(err, SK_BATCH_SHARD * sizeof **b->shards);
    sk_batch_piece *p = &b->shards[shard][b->pieces % SK_BATCH_SHARD];
    *p = piece;
    p->number = b->pieces++;
    p->source = sk_strdup(source);
    p->name = sk_strdup(name);
    p->frames = sk_strdup(frames);
    return p->source && p->name && p->frames ? SK_OK : sk_fail_memory(err, strlen(source));
}

/* --- parts --- */

/* How many frames the source has, or about: the last part goes to the end, wherever that is, and one behind it is empty. -1: not to
 * be split. */
static int64_t frames_of(const char *source)
{
    sk_source *opened = NULL;
    sk_source_settings media = {.size = sizeof media};
    sk_error why = {0};
    int64_t total = -1;
    sk_source_defaults(&media);
    if (sk_uri_is_live(source) || sk_uri_is_once(source) || sk_uri_is_pictures(source) ||
        sk_file_is_directory(source))
        return -1;
    if (sk_source_open(source, &media, &opened, &why) != SK_OK)
        return -1; /* its piece says why */
    const sk_source_info info = sk_source_info_of(opened);
    if (info.kind == SK_SOURCE_VIDEO)
        total = info.total;
    sk_source_close(&opened);
    return total;
}

static sk_status add_video(making *m, const char *source, const char *name, sk_error *err)
{
    const sk_batch_wish *w = m->wish;
    const sk_source_settings *media = w->media;
    const int64_t total = w->split > 0 && !w->why_whole ? frames_of(source) : -1;
    const int64_t end = media->last >= 0 && media->last < total ? media->last : total;
    const int64_t span = w->split * media->step; /* numbers that a part's frames are among */
    const int64_t n = total > 0 && end > media->first ? (end - media->first + span - 1) / span : 0;
    char frames[96];
    m->b->videos++;
    if (n < 2)
        return add_piece(m, (sk_batch_piece){.kind = SK_BATCH_VIDEO, .frames_expected = total}, source, name,
                         "", err);
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = media->first + i * span, to = i + 1 < n ? from + span : media->last;
        int used = to < 0 ? snprintf(frames, sizeof frames, "%lld:", (long long)from)
                          : snprintf(frames, sizeof frames, "%lld:%lld", (long long)from, (long long)to);
        if (media->step != 1)
            snprintf(frames + used, sizeof frames - (size_t)used, "%s%lld", ":", (long long)media->step);
        const int64_t here = ((i + 1 < n ? from + span : end) - from + media->step - 1) / media->step;
        SK_TRY(add_piece(m, (sk_batch_piece){.kind = SK_BATCH_PART, .parts = n - i, .frames_expected = here},
                         source, name, frames, err));
    }
    return add_piece(m, (sk_batch_piece){.kind = SK_BATCH_MERGE, .parts = n, .frames_expected = total},
                     source, name, "", err);
}

/* --- going on --- */

static bool same_words(char *const *a, char *const *b)
{
    size_t i = 0;
    while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return !a[i] && !b[i];
}

static sk_status refuse_other(const sk_batch *old, const sk_batch_wish *w, sk_error *err)
{
    sk_text was = {0}, is = {0};
    sk_batch_line(old->words, &was);
    sk_batch_line(w->words, &is);
    sk_status status = sk_fail(
        err, SK_ERR_MISMATCH,
        "%s holds another batch: it was begun as '%s %.300s'%s, and now it is '%s %.300s'. Choose another "
        "--out, or begin anew here with --restart, which removes its results",
        old->out, old->command, sk_text_get(&was), old->split != w->split ? " with another --split" : "",
        w->command, sk_text_get(&is));
    sk_text_free(&was);
    sk_text_free(&is);
    return status;
}

/* All pieces of the batch that goes on are read: what it has stays where it is. */
static sk_status recall(making *m, sk_error *err)
{
    sk_batch *b = m->b;
    sk_batch_again *a = &m->again;
    char path[SK_BATCH_PATH];
    SK_TRY(sk_batch_again_read(b, m->wish->dry, a, err));
    m->capacity = (size_t)(b->pieces / SK_BATCH_SHARD + 1);
    if (a->n_removed)
        say(m, "%s%s: results that were removed; these videos are done anew",
            sk_batch_result_path(b, a->removed, path), a->n_removed > 1 ? " and others" : "");
    if (a->n_changed)
        say(m, "%s%s: has changed since parts of it were done; these are done anew", a->changed->source,
            a->n_changed > 1 ? " and others" : "");
    if (a->n_newer)
        say(m, "%s%s: written to since its result was; to have it done anew, remove %s and start again",
            a->newer->source, a->n_newer > 1 ? " and others" : "", sk_batch_result_path(b, a->newer, path));
    return SK_OK;
}

static bool has_name(sk_batch *b, int64_t pieces, const char *name)
{
    for (int64_t i = 0; i < pieces; i++)
        if (strcmp(b->shards[i / SK_BATCH_SHARD][i % SK_BATCH_SHARD].name, name) == 0)
            return true;
    return false;
}

static sk_status check_place(const making *m, const char *name, sk_error *err)
{
    char path[SK_BATCH_PATH];
    snprintf(path, sizeof path, "%.4000s/%.300s", m->b->out, name);
    if (!sk_file_exists(path) || (m->wish->dry && m->wish->restart)) /* it would be removed */
        return SK_OK;
    return sk_fail(err, SK_ERR_IO,
                   "%s: is there already, and not by this batch. Remove it, or choose another --out", path);
}

static sk_status add_videos(making *m, sk_error *err)
{
    const sk_source_list *list = m->wish->videos;
    const int64_t before = m->b->pieces;
    char name[300];
    for (size_t i = 0; i < list->count; i++) {
        const sk_source_item *item = &list->items[i];
        if (m->wish->alive)
            m->wish->alive(m->wish->context);
        if (!item->source)
            return sk_fail(
                err, SK_ERR_ARG,
                "%zu pictures are named one by one: a batch is of videos. Name the pictures' folder",
                list->n_pictures);
        if (sk_uri_is_live(item->source) || sk_uri_is_once(item->source))
            return sk_fail(err, SK_ERR_ARG, "%s: a batch is of files, which can be read again", item->source);
        if (sk_batch_again_has(&m->again, item->source))
            continue;
        snprintf(name, sizeof name, "%.250s", item->name);
        for (int k = 2; before && has_name(m->b, before, name) && k < 10000; k++)
            snprintf(name, sizeof name, "%.250s_%d", item->name, k);
        SK_TRY(check_place(m, name, err));
        SK_TRY(add_video(m, item->source, name, err));
    }
    return SK_OK;
}

/* --- beginning --- */

static void make_id(const sk_batch *b, char id[17])
{
    char seed[4500];
    const int n = snprintf(seed, sizeof seed, "%s %lld %lld", b->out, (long long)sk_clock_wall_ns(),
                           (long long)getpid());
    snprintf(id, 17, "%016llx", (unsigned long long)sk_hash_xxh3(seed, (size_t)n, 0));
}

static sk_status make_new(const sk_batch_wish *w, sk_batch **out, sk_error *err)
{
    sk_batch *b = sk_calloc(1, sizeof *b);
    char *here = NULL;
    sk_status status = b ? SK_OK : sk_fail_memory(err, sizeof *b);
    if (status == SK_OK && !w->dry)
        status = sk_folder_make(w->out, err);
    if (status == SK_OK) {
        here = getcwd(NULL, 0);
        b->out = sk_path_absolute(w->out);
        b->folder = sk_strdup(here ? here : "/");
        b->command = sk_strdup(w->command);
        b->words = sk_calloc(1, sizeof *b->words);
        b->split = w->split;
        status = b->out && b->folder && b->command && b->words ? SK_OK : sk_fail_memory(err, 64);
    }
    if (status == SK_OK && strlen(b->out) > 3900)
        status = sk_fail(err, SK_ERR_LIMIT, "%.80s…: this path is too long", w->out);
    if (status == SK_OK)
        make_id(b, b->id);
    free(here);
    return SK_HAND_OVER(status, b, out, sk_batch_close);
}

/* What a batch left: the results that its pieces put there, and what lies in its own folder but for whoever looks after it. */
static void remove_old(sk_batch *old)
{
    static const char *const left[] = {"pieces", "work", "slurm"};
    char path[SK_BATCH_PATH];
    for (int64_t i = 0; i < old->pieces; i++) {
        const sk_batch_piece *p = sk_batch_piece_of(old, i, NULL);
        if (p && p->kind != SK_BATCH_PART && sk_file_exists(sk_batch_file(old, i, 0, "done", path)) &&
            sk_run_folder_is_used(sk_batch_result_path(old, p, path)))
            batch_remove_tree(path);
    }
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        batch_remove_tree(sk_batch_path(old, left[i], path));
    (void)unlink(sk_batch_path(old, "cancelled", path));
    (void)unlink(sk_batch_path(old, "batch.json", path)); /* last: until then there is something to remove */
}

/* What there is, where it can be read; --restart also removes what cannot. */
static sk_status open_old(const sk_batch_wish *w, sk_batch **old, sk_error *err)
{
    const sk_status status = sk_batch_open(w->out, old, err);
    if (status != SK_ERR_FORMAT || !w->restart)
        return status;
    *old = sk_calloc(1, sizeof **old);
    if (!*old || !((*old)->out = sk_path_absolute(w->out)))
        return sk_fail_memory(err, sizeof **old);
    return SK_OK;
}

/* The program that pieces are done by: this one, whatever it is called (skitter-0.2); where a batch is begun by another, the one beside it. */
static char *own_program(void)
{
    char *program = sk_path_program(), *folder = sk_folder_program();
    char *beside = folder ? sk_path_join(folder, "skitter") : NULL;
    const char *name = program ? strrchr(program, '/') : NULL;
    char *found = name && strncmp(name, "/skitter", 8) == 0 && sk_file_is_regular(program)
                      ? sk_strdup(program)
                  : beside && sk_file_is_regular(beside) ? sk_strdup(beside)
                                                         : sk_strdup("skitter");
    sk_free_all(program, folder, beside);
    return found;
}

static sk_status set_words(const sk_batch_wish *w, sk_batch *b, sk_error *err)
{
    size_t n = 0;
    while (w->words[n])
        n++;
    sk_batch_words_free(b->words);
    b->words = sk_calloc(n + 1, sizeof *b->words);
    for (size_t i = 0; b->words && i < n; i++)
        if (!(b->words[i] = sk_strdup(w->words[i])))
            return sk_fail_memory(err, 64);
    sk_free(b->program);
    b->program = own_program();
    batch_how_free(&b->how);
    return b->words && b->program ? batch_how_copy(w->how, &b->how, err) : sk_fail_memory(err, 64);
}

static sk_status write_all(making *m, int64_t before, sk_error *err)
{
    sk_batch *b = m->b;
    char path[SK_BATCH_PATH];
    if (m->wish->dry)
        return SK_OK;
    SK_TRY(sk_folder_make(sk_batch_path(b, "work", path), err));
    SK_TRY(sk_folder_make(sk_batch_path(b, "slurm", path), err));
    for (int64_t shard = before / SK_BATCH_SHARD; before < b->pieces && shard * SK_BATCH_SHARD < b->pieces;
         shard++)
        SK_TRY(batch_write_shard(b, shard, err));
    b->round++;
    return batch_write(b, err); /* last: what it counts is there */
}

sk_status sk_batch_begin(const sk_batch_wish *w, sk_batch **out, sk_error *err)
{
    making m = {.wish = w};
    char **stamps = NULL;
    char *file = sk_path_join(w->out, SK_BATCH_FOLDER "/batch.json");
    sk_status status = file ? SK_OK : sk_fail_memory(err, 64);
    bool there = file && sk_file_exists(file);
    *out = NULL;
    sk_free(file);
    if (status == SK_OK && there)
        status = open_old(w, &m.b, err);
    if (status == SK_OK)
        status = batch_stamp_words(w->words, &stamps, err);
    if (status == SK_OK && there && w->restart) {
        if (!w->dry)
            remove_old(m.b);
        sk_batch_close(&m.b);
        there = false;
    }
    if (status == SK_OK && there) {
        if (strcmp(m.b->command, w->command) != 0 || m.b->split != w->split ||
            !same_words(m.b->words, w->words))
            status = refuse_other(m.b, w, err);
        if (status == SK_OK)
            status = batch_stamp_check(m.b, stamps, err);
        if (status == SK_OK)
            status = batch_stamp_folder(m.b, w->videos, err);
        if (status == SK_OK)
            status = recall(&m, err);
    } else if (status == SK_OK) {
        status = make_new(w, &m.b, err);
    }
    const int64_t before = m.b ? m.b->pieces : 0;
    if (status == SK_OK && w->split > 0 && w->why_whole)
        say(&m, "videos are not split: %s", w->why_whole);
    if (status == SK_OK)
        status = add_videos(&m, err);
    if (status == SK_OK)
        status = set_words(w, m.b, err);
    if (status == SK_OK) {
        sk_batch_words_free(m.b->stamps);
        m.b->stamps = stamps;
        stamps = NULL;
    }
    if (status == SK_OK)
        status = write_all(&m, before, err);
    sk_batch_again_free(&m.again);
    sk_batch_words_free(stamps);
    return SK_HAND_OVER(status, m.b, out, sk_batch_close);
}
