/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_BAG_FILE_H
#define SK_FORMATS_BAG_FILE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inside formats/: one file of a bag (MCAP or SQLite) as rosbag.c reads it, behind one table. */

typedef struct sk_bag_topic {
    char *name, *type; /* "/camera/image_raw", "sensor_msgs/msg/Image" */
    char *encoding;    /* of its messages: "cdr" */
    int64_t messages;  /* that were found */
    int64_t promised;  /* by metadata.yaml; -1: it says nothing */
} sk_bag_topic;

/* Where a message lies; its numbers mean something to its file only. */
typedef struct sk_bag_entry {
    int64_t log_ns; /* when it was recorded, ns since 1970 UTC */
    uint64_t chunk, offset;
    uint32_t file;
} sk_bag_entry;

/* Starts as {0}; `items` is ended by sk_free. */
typedef struct sk_bag_entries {
    sk_bag_entry *items;
    size_t count, capacity;
} sk_bag_entries;
sk_status sk_bag_entries_add(sk_bag_entries *entries, sk_bag_entry entry, sk_error *err) SK_MUST_CHECK;

typedef struct sk_bag_file sk_bag_file;
struct sk_bag_file {
    /* Adds the topic's messages, in any order. */
    sk_status (*list)(sk_bag_file *file, size_t topic, sk_bag_entries *out, sk_error *err);
    /* A message's bytes, the file's until its next call. SK_ERR_FORMAT: damaged; others may still be read. */
    sk_status (*read)(sk_bag_file *file, size_t topic, const sk_bag_entry *entry, const uint8_t **bytes,
                      size_t *count, sk_error *err);
    void (*close)(sk_bag_file *file);
    char *path;
    sk_bag_topic *topics;
    size_t n_topics, topics_capacity;
    char problem[256]; /* what is wrong with it as a whole, though it can be read; "" */
};

/* A topic by its name, made where there is none; texts are copied. */
sk_status sk_bag_file_topic(sk_bag_file *file, const char *name, const char *type, const char *encoding,
                            size_t *index, sk_error *err) SK_MUST_CHECK;
void sk_bag_file_free(sk_bag_file *file); /* what is in this structure, not the structure */

sk_status sk_bag_file_open_mcap(const char *path, sk_bag_file **out, sk_error *err) SK_MUST_CHECK;
sk_status sk_bag_file_open_db3(const char *path, sk_bag_file **out, sk_error *err) SK_MUST_CHECK;

#endif
