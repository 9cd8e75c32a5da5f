/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ROSBAG_H
#define SK_FORMATS_ROSBAG_H

#include "formats/bag_file.h"
#include "formats/packing.h"
#include "formats/ros_types.h"

/* Bags of ROS 2 (rosbag2): a folder with metadata.yaml and one or more files, or such a file alone: .mcap, .db3. Folders
 * without metadata.yaml, whose recorder was killed, are read too. One thread at a time. */

typedef struct sk_bag sk_bag;

/* By what lies there: a folder with a bag's metadata.yaml, or with .mcap or .db3 files; a file that ends so, or begins as MCAP
 * does. */
bool sk_path_is_bag(const char *path);
bool sk_path_has_bag_metadata(const char *folder); /* rosbag2's metadata.yaml */

sk_status sk_bag_open(const char *path, sk_bag **out, sk_error *err) SK_MUST_CHECK;
void sk_bag_close(sk_bag **bag);

/* All topics, by name. */
size_t sk_bag_topics(const sk_bag *bag);
const sk_bag_topic *sk_bag_topic_at(const sk_bag *bag, size_t index);
/* Null past the end. What is wrong with the bag though it can be read, file by file: "run_0.mcap: nobody finished it …". */
const char *sk_bag_problem(const sk_bag *bag, size_t index);

/* Lists the topic's messages, in the order in which they were recorded; again for another topic. */
sk_status sk_bag_choose(sk_bag *bag, size_t topic, sk_error *err) SK_MUST_CHECK;
size_t sk_bag_messages(const sk_bag *bag);             /* of the chosen topic */
int64_t sk_bag_time(const sk_bag *bag, size_t number); /* when one of them was recorded, ns since 1970 UTC */

typedef struct sk_bag_message {
    int64_t log_ns;
    const uint8_t *bytes; /* the bag's until the next call */
    size_t count;
} sk_bag_message;
/* SK_ERR_FORMAT: this one is damaged; others may be read. */
sk_status sk_bag_read(sk_bag *bag, size_t number, sk_bag_message *out, sk_error *err) SK_MUST_CHECK;

/* --- writing --- */

typedef enum sk_bag_kind {
    SK_BAG_MCAP,  /* one file */
    SK_BAG_DB3,   /* likewise */
    SK_BAG_FOLDER /* a folder with metadata.yaml and an .mcap file, both named after it */
} sk_bag_kind;

typedef struct sk_bag_writer sk_bag_writer;
/* Replaces what is at the path. Should the program be killed, what was written can be read but for the last part (mcap.h, db3.h),
 * and metadata.yaml is missing. */
sk_status sk_bag_writer_open(const char *path, sk_bag_kind kind, sk_bag_writer **out,
                             sk_error *err) SK_MUST_CHECK;
/* Topics are named before the first message; *number is for sk_bag_writer_write. */
sk_status sk_bag_writer_topic(sk_bag_writer *writer, const char *name, const sk_msg_type *type,
                              size_t *number, sk_error *err) SK_MUST_CHECK;
sk_status sk_bag_writer_write(sk_bag_writer *writer, size_t topic, int64_t log_ns, const void *bytes,
                              size_t count, sk_error *err) SK_MUST_CHECK;
sk_status sk_bag_writer_flush(sk_bag_writer *writer, sk_error *err) SK_MUST_CHECK;
/* Completes the bag and ends the writer, also after a failure. */
sk_status sk_bag_writer_finish(sk_bag_writer **writer, sk_error *err) SK_MUST_CHECK;
void sk_bag_writer_close(sk_bag_writer **writer); /* leaves the bag unfinished */

#endif
