/* SPDX-License-Identifier: Apache-2.0 */
#include "app/source_list.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/pattern.h"
#include "media/picture_size.h"
#include "media/reader.h"
#include "media/text_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST       1000000
#define LISTS_DEEP 4 /* lists that name lists */
#define NAME_MOST  120

typedef struct maker {
    sk_source_list *list;
    int depth;
} maker;

static sk_status add_text(char ***texts, size_t *count, size_t *capacity, const char *text, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)texts, capacity, *count + 1, sizeof **texts, MOST, err));
    char *copy = sk_strdup(text);
    if (!copy)
        return sk_fail_memory(err, strlen(text) + 1);
    (*texts)[(*count)++] = copy;
    return SK_OK;
}

static sk_status add_item(sk_source_list *list, const char *source, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            MOST, err));
    sk_source_item item = {.source = source ? sk_strdup(source) : NULL};
    if (source && !item.source)
        return sk_fail_memory(err, strlen(source) + 1);
    list->items[list->count++] = item;
    return SK_OK;
}

static int compare_items(const void *a, const void *b)
{
    return strverscmp(((const sk_source_item *)a)->source, ((const sk_source_item *)b)->source);
}

/* Videos among these become items, in a person's order; pictures are one source, which is called `whole`. */
typedef struct finding {
    size_t first;
    bool pictures;
} finding;

static sk_status find_one(maker *m, finding *f, const char *path, sk_error *err)
{
    f->pictures |= sk_picture_has_ending(path);
    return sk_path_is_video(path) && !sk_file_is_directory(path) ? add_item(m->list, path, err) : SK_OK;
}

static sk_status end_finding(maker *m, const finding *f, const char *whole, sk_error *err)
{
    const size_t videos = m->list->count - f->first;
    if (videos)
        qsort(m->list->items + f->first, videos, sizeof *m->list->items, compare_items);
    m->list->many |= videos > 0;
    return f->pictures || videos == 0 ? add_item(m->list, whole, err)
                                      : SK_OK; /* an empty one says so when opened */
}

static sk_status add_folder(maker *m, const char *folder, sk_error *err)
{
    finding f = {.first = m->list->count};
    DIR *directory = opendir(folder);
    if (!directory)
        return sk_fail(err, SK_ERR_IO, "%s: the folder cannot be read: %s", folder, strerror(errno));
    sk_status status = SK_OK;
    for (struct dirent *entry; status == SK_OK && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = sk_path_join(folder, entry->d_name);
        status = path ? find_one(m, &f, path, err) : sk_fail_memory(err, strlen(folder));
        sk_free(path);
    }
    closedir(directory);
    return status == SK_OK ? end_finding(m, &f, folder, err) : status;
}

static sk_status add_pattern(maker *m, const char *pattern, sk_error *err)
{
    finding f = {.first = m->list->count};
    sk_pattern_files found = {0};
    sk_status status = sk_pattern_find(pattern, &found, err);
    for (size_t i = 0; status == SK_OK && i < found.count; i++)
        status = find_one(m, &f, found.paths[i], err);
    sk_pattern_free(&found);
    return status == SK_OK ? end_finding(m, &f, pattern, err) : status;
}

static sk_status add_given(void *context, const char *given, sk_error *err);

/* A list of pictures alone is read as it is. */
typedef struct look {
    size_t pictures, others;
} look;

static sk_status look_at(void *context, const char *name, sk_error *err)
{
    look *l = context;
    (void)err;
    if (sk_picture_has_ending(name) && !strpbrk(name, "*?["))
        l->pictures++;
    else
        l->others++;
    return SK_OK;
}

static sk_status add_list(maker *m, const char *path, sk_error *err)
{
    look l = {0};
    SK_TRY(sk_text_list_read(path, look_at, &l, err));
    if (l.others == 0)
        return add_item(m->list, path, err);
    if (m->depth >= LISTS_DEEP)
        return sk_fail(err, SK_ERR_LIMIT, "%s: lists that name lists, %d deep", path, LISTS_DEEP);
    maker deeper = {m->list, m->depth + 1};
    m->list->many = true;
    return sk_text_list_read(path, add_given, &deeper, err);
}

static sk_status add_given(void *context, const char *given, sk_error *err)
{
    maker *m = context;
    if (sk_uri_is_live(given) || sk_uri_is_input(given))
        return add_item(m->list, given, err);
    if (sk_uri_is_bag(given))
        return add_item(m->list, given, err);
    if (sk_file_is_directory(given))
        return add_folder(m, given, err);
    if (sk_path_is_text_list(given))
        return add_list(m, given, err);
    if (!sk_file_exists(given) && strpbrk(given, "*?["))
        return add_pattern(m, given, err);
    if (sk_picture_has_ending(given) && !strchr(given, '%'))
        return add_text(&m->list->pictures, &m->list->n_pictures, &m->list->pictures_capacity, given, err);
    return add_item(m->list, given, err);
}

/* --- names --- */

static char *clean(const char *text, size_t length)
{
    char *name = sk_calloc(1, NAME_MOST + 1), *whole = sk_calloc(1, length + 1);
    for (size_t i = 0; whole && i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        whole[i] = c >= 128 || isalnum(c) || strchr("._-+=@ ", c) ? (char)c : '_';
    }
    if (!name || !whole) {
        sk_free(name);
        sk_free(whole);
        return NULL;
    }
    sk_text_shorten(whole, name, NAME_MOST + 1);
    sk_free(whole);
    if (name[0] == '\0' || name[0] == '.' || name[0] == '-')
        name[0] = '_';
    return name;
}

/* From short to long: flies, flies.mp4, and the whole path in one word. */
static char *name_of(const sk_source_item *item, int level)
{
    if (!item->source)
        return sk_strdup("pictures");
    if (sk_uri_is_input(item->source))
        return sk_strdup("stdin");
    const char *source = item->source;
    size_t length = strlen(source);
    while (length > 1 && source[length - 1] == '/')
        length--;
    if (level > 1 || sk_uri_is_live(source))
        return clean(source, length);
    size_t begin = length;
    while (begin > 0 && source[begin - 1] != '/')
        begin--;
    size_t dot = strlen(sk_path_extension(source));
    return clean(source + begin, length - begin - (level == 0 && dot < length - begin ? dot : 0));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(sk_source_item *const *)a)->name, (*(sk_source_item *const *)b)->name);
}

/* Those that have the same name get a longer one; where even paths are the same, a number. */
static sk_status rename_equals(sk_source_item **sorted, size_t count, int level, bool *again, sk_error *err)
{
    *again = false;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(sorted[i]->name, sorted[end]->name) == 0;)
            end++;
        for (size_t k = i; k < end && end - i > 1; k++) {
            char *longer = level < 3 ? name_of(sorted[k], level) : sk_calloc(1, NAME_MOST + 32);
            if (!longer)
                return sk_fail_memory(err, NAME_MOST);
            if (level >= 3)
                snprintf(longer, NAME_MOST + 32, "%s-%zu", sorted[k]->name, k - i + 1);
            sk_free(sorted[k]->name);
            sorted[k]->name = longer;
            *again = true;
        }
    }
    return SK_OK;
}

static sk_status name_items(sk_source_list *list, sk_error *err)
{
    sk_source_item **sorted = sk_calloc(list->count + 1, sizeof(sk_source_item *));
    sk_status status = sorted ? SK_OK : sk_fail_memory(err, list->count * sizeof *sorted);
    for (size_t i = 0; status == SK_OK && i < list->count; i++) {
        sorted[i] = &list->items[i];
        list->items[i].name = name_of(&list->items[i], 0);
        if (!list->items[i].name)
            status = sk_fail_memory(err, NAME_MOST);
    }
    bool again = true;
    for (int level = 1; status == SK_OK && again && level <= 3; level++) {
        qsort(sorted, list->count, sizeof *sorted, compare_names);
        status = rename_equals(sorted, list->count, level, &again, err);
    }
    sk_free(sorted);
    return status;
}

sk_status sk_source_list_make(const char *const *given, size_t count, sk_source_list *list, sk_error *err)
{
    maker m = {list, 0};
    for (size_t i = 0; i < count; i++)
        SK_TRY(add_given(&m, given[i], err));
    if (list->n_pictures == 1)
        SK_TRY(add_item(list, list->pictures[0], err));
    else if (list->n_pictures > 1)
        SK_TRY(add_item(list, NULL, err));
    list->many |= list->count > 1;
    for (size_t i = 0; i < list->count && list->count > 1; i++)
        if (list->items[i].source &&
            (sk_uri_is_live(list->items[i].source) || sk_uri_is_once(list->items[i].source)))
            return sk_fail(
                err, SK_ERR_ARG,
                "%s: cameras, streams and pipes are read one at a time, for they do not wait\n%s",
                list->items[i].source,
                list->items[i].source[strspn(list->items[i].source, "0123456789")]
                    ? "start skitter once for each of them"
                    : "a number is a camera; an option's list is written with commas: --classes 0,2");
    return name_items(list, err);
}

void sk_source_list_free(sk_source_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sk_free(list->items[i].source);
        sk_free(list->items[i].name);
    }
    for (size_t i = 0; i < list->n_pictures; i++)
        sk_free(list->pictures[i]);
    sk_free(list->items);
    sk_free(list->pictures);
    *list = (sk_source_list){0};
}
