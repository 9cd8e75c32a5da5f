/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/bag_file.h"

#include <string.h>

#define MOST_TOPICS   4096
#define MOST_MESSAGES ((size_t)1 << 26) /* of one topic: 25 days of 30 a second */

#define LATEST_NS     ((int64_t)INT32_MAX * 1000000000)

sk_status sk_bag_entries_add(sk_bag_entries *entries, sk_bag_entry entry, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&entries->items, &entries->capacity, entries->count + 1,
                            sizeof *entries->items, MOST_MESSAGES, err));
    /* what a stamp of ROS can say: times of damaged files may be anything, and are subtracted from each other */
    entry.log_ns = entry.log_ns > LATEST_NS    ? LATEST_NS
                   : entry.log_ns < -LATEST_NS ? -LATEST_NS
                                               : entry.log_ns;
    entries->items[entries->count++] = entry;
    return SK_OK;
}

sk_status sk_bag_file_topic(sk_bag_file *file, const char *name, const char *type, const char *encoding,
                            size_t *index, sk_error *err)
{
    for (*index = 0; *index < file->n_topics; ++*index)
        if (strcmp(file->topics[*index].name, name) == 0)
            return SK_OK;
    SK_TRY(sk_array_reserve((void **)&file->topics, &file->topics_capacity, file->n_topics + 1,
                            sizeof *file->topics, MOST_TOPICS, err));
    sk_bag_topic topic = {
        .name = sk_strdup(name), .type = sk_strdup(type), .encoding = sk_strdup(encoding), .promised = -1};
    if (!topic.name || !topic.type || !topic.encoding) {
        sk_free_all(topic.name, topic.type, topic.encoding);
        return sk_fail_memory(err, strlen(name) + strlen(type) + strlen(encoding) + 3);
    }
    file->topics[file->n_topics++] = topic;
    return SK_OK;
}

void sk_bag_file_free(sk_bag_file *file)
{
    for (size_t i = 0; i < file->n_topics; i++)
        sk_free_all(file->topics[i].name, file->topics[i].type, file->topics[i].encoding);
    sk_free_all(file->topics, file->path);
}
