/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rosbag.h"

#include "base/file.h"
#include "base/object.h"
#include "base/text.h"
#include "formats/config.h"
#include "formats/mcap.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METADATA       "metadata.yaml"
#define METADATA_BYTES ((size_t)16 << 20)
#define MOST_FILES     65536
#define MOST_MESSAGE   ((uint64_t)2 << 30) /* bytes of an unpacked one … */
#define SURE_MESSAGE   ((uint64_t)64 << 20)
#define PER_BYTE       4096 /* … and beyond SURE_MESSAGE for each packed one */

struct sk_bag {
    char *path;
    sk_bag_file **files;
    char **problems; /* one a file, and one of the whole; null: none */
    size_t n_files, files_capacity, n_problems, problems_capacity;
    sk_bag_topic *topics; /* of all files, by name */
    size_t n_topics, topics_capacity;
    bool packed; /* every message by itself, by Zstandard */
    sk_bag_entries entries;
    size_t *topic_in; /* the chosen topic in each file; SIZE_MAX: not there */
    uint8_t *unpacked;
    size_t unpacked_capacity;
};

/* --- what is a bag --- */

static bool is_storage(const char *name)
{
    return sk_path_has_extension(name, ".mcap") || sk_path_has_extension(name, ".db3");
}

bool sk_path_has_bag_metadata(const char *folder)
{
    char *path = sk_path_join(folder, METADATA), *text = NULL;
    size_t bytes = 0;
    const bool is = path && sk_file_read(path, METADATA_BYTES, &text, &bytes, NULL) == SK_OK &&
                    strstr(text, "rosbag2_bagfile_information");
    sk_free_all(path, text);
    return is;
}

static bool folder_is_bag(const char *path)
{
    bool found = false;
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));)
        found = found || (e->d_name[0] != '.' && is_storage(e->d_name));
    if (folder)
        closedir(folder);
    return found || sk_path_has_bag_metadata(path);
}

bool sk_path_is_bag(const char *path)
{
    if (sk_file_is_directory(path))
        return folder_is_bag(path);
    return sk_file_is_regular(path) && is_storage(path);
}

/* --- opening --- */

static sk_status add_problem(sk_bag *bag, const char *name, const char *problem, sk_error *err)
{
    sk_text text = {0};
    SK_TRY(sk_array_reserve((void **)&bag->problems, &bag->problems_capacity, bag->n_problems + 1,
                            sizeof *bag->problems, MOST_FILES + 16, err));
    sk_text_appendf(&text, "%s: %s", name, problem);
    SK_TRY(sk_text_take(&text, &bag->problems[bag->n_problems], err));
    bag->n_problems++;
    return SK_OK;
}

static sk_status add_file(sk_bag *bag, const char *path, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&bag->files, &bag->files_capacity, bag->n_files + 1, sizeof *bag->files,
                            MOST_FILES, err));
    if (sk_path_has_extension(path, ".zstd"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a file that was packed as a whole; unpack it first: zstd -d '%s'", path, path);
    SK_TRY(sk_path_has_extension(path, ".db3") ? sk_bag_file_open_db3(path, &bag->files[bag->n_files], err)
                                               : sk_bag_file_open_mcap(path, &bag->files[bag->n_files], err));
    const sk_bag_file *file = bag->files[bag->n_files++];
    return file->problem[0] ? add_problem(bag, path, file->problem, err) : SK_OK;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Every .mcap and .db3 file of a folder, by name: where metadata.yaml was not written. */
static sk_status add_folder(sk_bag *bag, sk_error *err)
{
    char **names = NULL;
    size_t count = 0, capacity = 0;
    sk_status status = SK_OK;
    DIR *folder = opendir(bag->path);
    if (!folder)
        return sk_fail(err, SK_ERR_IO, "%s: the folder cannot be read: %s", bag->path, strerror(errno));
    for (struct dirent *e; status == SK_OK && (e = readdir(folder));) {
        if (e->d_name[0] == '.' || !is_storage(e->d_name))
            continue;
        status = sk_array_reserve((void **)&names, &capacity, count + 1, sizeof *names, MOST_FILES, err);
        if (status == SK_OK && !(names[count] = sk_path_join(bag->path, e->d_name)))
            status = sk_fail_memory(err, strlen(e->d_name));
        count += status == SK_OK;
    }
    closedir(folder);
    if (count)
        qsort(names, count, sizeof *names, by_version);
    for (size_t i = 0; status == SK_OK && i < count; i++)
        status = add_file(bag, names[i], err);
    for (size_t i = 0; i < count; i++)
        sk_free(names[i]);
    sk_free(names);
    if (status == SK_OK && count == 0)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: the folder holds no .mcap and no .db3 file", bag->path);
    return status;
}

static sk_bag_topic *find_topic(const sk_bag *bag, const char *name)
{
    for (size_t i = 0; i < bag->n_topics; i++)
        if (strcmp(bag->topics[i].name, name) == 0)
            return &bag->topics[i];
    return NULL;
}

/* What metadata.yaml says of each topic: how many messages there should be. */
static void note_promises(sk_bag *bag, const sk_config_value *info)
{
    const sk_config_value *topics = sk_config_get(info, "topics_with_message_count");
    for (size_t i = 0; i < sk_config_count(topics); i++) {
        const sk_config_value *t = sk_config_at(topics, i);
        sk_bag_topic *topic = find_topic(bag, sk_config_text_or(t, "topic_metadata.name", ""));
        if (topic)
            topic->promised = sk_config_int_or(t, "message_count", -1);
    }
}

/* The names lie in the bag's folder, whatever path the metadata has: bags are moved, and nothing else is to be read. */
static sk_status add_listed(sk_bag *bag, const sk_config_value *info, sk_error *err)
{
    const sk_config_value *paths = sk_config_get(info, "relative_file_paths");
    for (size_t i = 0; i < sk_config_count(paths); i++) {
        const char *name = sk_config_text(sk_config_at(paths, i));
        char *path = name ? sk_path_join(bag->path, sk_path_name(name)) : NULL;
        if (!name)
            return sk_fail(err, SK_ERR_FORMAT, "%s/" METADATA ": 'relative_file_paths' is no list of names",
                           bag->path);
        sk_status status = path ? add_file(bag, path, err) : sk_fail_memory(err, strlen(name));
        sk_free(path);
        SK_TRY(status);
    }
    if (bag->n_files == 0)
        return add_folder(bag, err);
    return SK_OK;
}

static sk_status merge_topics(sk_bag *bag, sk_error *err)
{
    for (size_t f = 0; f < bag->n_files; f++) {
        for (size_t i = 0; i < bag->files[f]->n_topics; i++) {
            const sk_bag_topic *from = &bag->files[f]->topics[i];
            sk_bag_topic *to = find_topic(bag, from->name);
            if (!to) {
                SK_TRY(sk_array_reserve((void **)&bag->topics, &bag->topics_capacity, bag->n_topics + 1,
                                        sizeof *bag->topics, MOST_FILES, err));
                to = &bag->topics[bag->n_topics++];
                *to = *from; /* its texts are the file's */
            } else {
                to->messages += from->messages;
            }
        }
    }
    return SK_OK;
}

static int topics_by_name(const void *a, const void *b)
{
    return strcmp(((const sk_bag_topic *)a)->name, ((const sk_bag_topic *)b)->name);
}

static sk_status open_folder(sk_bag *bag, sk_error *err)
{
    char *path = sk_path_join(bag->path, METADATA), *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    const sk_config_value *info = NULL;
    sk_status status = path ? SK_OK : sk_fail_memory(err, strlen(bag->path));
    if (status == SK_OK && !sk_file_exists(path)) {
        status = add_problem(bag, bag->path,
                             "there is no " METADATA
                             ", its recorder was killed; read without (ros2 bag reindex makes one)",
                             err);
        if (status == SK_OK)
            status = add_folder(bag, err);
        goto merge;
    }
    SK_TRY_GOTO(status);
    SK_TRY_GOTO(sk_file_read(path, METADATA_BYTES, &text, &bytes, err));
    SK_TRY_GOTO(sk_config_open_yaml(text, bytes, path, &config, err));
    info = sk_config_get(sk_config_root(config), "rosbag2_bagfile_information");
    if (!info) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: has no rosbag2_bagfile_information", path);
        goto done;
    }
    bag->packed = strcasecmp(sk_config_text_or(info, "compression_mode", ""), "message") == 0;
    if (bag->packed && strcmp(sk_config_text_or(info, "compression_format", ""), "zstd") != 0) {
        status = sk_fail(err, SK_ERR_UNSUPPORTED, "%s: messages packed by '%.32s'; zstd is read", path,
                         sk_config_text_or(info, "compression_format", ""));
        goto done;
    }
    status = add_listed(bag, info, err);
merge:
    if (status == SK_OK)
        status = merge_topics(bag, err);
    if (status == SK_OK)
        note_promises(bag, info);
done:
    sk_config_close(&config);
    sk_free_all(path, text);
    return status;
}

sk_status sk_bag_open(const char *path, sk_bag **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_bag *bag = sk_calloc(1, sizeof *bag);
    *out = NULL;
    if (!bag)
        return sk_fail_memory(err, sizeof *bag);
    bag->path = sk_strdup(path);
    if (!bag->path) {
        status = sk_fail_memory(err, strlen(path));
        goto done;
    }
    if (sk_file_is_directory(path)) {
        SK_TRY_GOTO(open_folder(bag, err));
    } else {
        SK_TRY_GOTO(add_file(bag, path, err));
        SK_TRY_GOTO(merge_topics(bag, err));
    }
    bag->topic_in = sk_malloc(bag->n_files * sizeof *bag->topic_in);
    if (!bag->topic_in)
        status = sk_fail_memory(err, bag->n_files * sizeof *bag->topic_in);
    if (bag->n_topics)
        qsort(bag->topics, bag->n_topics, sizeof *bag->topics, topics_by_name);
done:
    return SK_HAND_OVER(status, bag, out, sk_bag_close);
}

void sk_bag_close(sk_bag **pointer)
{
    SK_TAKE_OR_RETURN(bag, pointer);
    for (size_t i = 0; i < bag->n_files; i++)
        bag->files[i]->close(bag->files[i]);
    for (size_t i = 0; i < bag->n_problems; i++)
        sk_free(bag->problems[i]);
    sk_free_all(bag->path, bag->files, bag->problems, bag->topics, bag->entries.items, bag->topic_in,
                bag->unpacked, bag);
}

size_t sk_bag_topics(const sk_bag *bag)
{
    return bag->n_topics;
}

const sk_bag_topic *sk_bag_topic_at(const sk_bag *bag, size_t index)
{
    return &bag->topics[index];
}

const char *sk_bag_problem(const sk_bag *bag, size_t index)
{
    return index < bag->n_problems ? bag->problems[index] : NULL;
}

/* --- messages --- */

static int by_time(const void *a, const void *b)
{
    const sk_bag_entry *x = a, *y = b;
    if (x->log_ns != y->log_ns)
        return x->log_ns < y->log_ns ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

sk_status sk_bag_choose(sk_bag *bag, size_t topic, sk_error *err)
{
    bag->entries.count = 0;
    for (size_t f = 0; f < bag->n_files; f++) {
        sk_bag_file *file = bag->files[f];
        const size_t before = bag->entries.count;
        bag->topic_in[f] = SIZE_MAX;
        for (size_t i = 0; i < file->n_topics; i++)
            if (strcmp(file->topics[i].name, bag->topics[topic].name) == 0)
                bag->topic_in[f] = i;
        if (bag->topic_in[f] == SIZE_MAX)
            continue;
        SK_TRY(file->list(file, bag->topic_in[f], &bag->entries, err));
        for (size_t i = before; i < bag->entries.count; i++)
            bag->entries.items[i].file = (uint32_t)f;
    }
    if (bag->entries.count)
        qsort(bag->entries.items, bag->entries.count, sizeof *bag->entries.items, by_time);
    return SK_OK;
}

size_t sk_bag_messages(const sk_bag *bag)
{
    return bag->entries.count;
}

int64_t sk_bag_time(const sk_bag *bag, size_t number)
{
    return bag->entries.items[number].log_ns;
}

static sk_status unpack(sk_bag *bag, sk_bag_message *message, sk_error *err)
{
    uint64_t bytes = 0;
    SK_TRY(sk_unpacked_bytes(message->bytes, message->count, &bytes, err));
    if (bytes > MOST_MESSAGE || (bytes > SURE_MESSAGE && bytes / PER_BYTE > message->count))
        return sk_fail(err, SK_ERR_LIMIT, "a message of %zu bytes that claims to unpack to %llu",
                       message->count, (unsigned long long)bytes);
    SK_TRY(sk_array_reserve((void **)&bag->unpacked, &bag->unpacked_capacity, (size_t)bytes + 1, 1,
                            SIZE_MAX / 4, err));
    SK_TRY(sk_unpack(SK_PACKING_ZSTD, message->bytes, message->count, bag->unpacked, (size_t)bytes, err));
    message->bytes = bag->unpacked;
    message->count = (size_t)bytes;
    return SK_OK;
}

sk_status sk_bag_read(sk_bag *bag, size_t number, sk_bag_message *out, sk_error *err)
{
    const sk_bag_entry *entry = &bag->entries.items[number];
    sk_bag_file *file = bag->files[entry->file];
    *out = (sk_bag_message){.log_ns = entry->log_ns};
    SK_TRY(file->read(file, bag->topic_in[entry->file], entry, &out->bytes, &out->count, err));
    return bag->packed ? unpack(bag, out, err) : SK_OK;
}
