/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_DB3_H
#define SK_FORMATS_DB3_H

#include "base/error.h"
#include "formats/ros_types.h"

#include <stddef.h>
#include <stdint.h>

/* rosbag2's SQLite files (.db3), the default of ROS 2 up to Humble: a table of topics, one of messages. Reading is behind
 * formats/rosbag.h. Writing makes the tables as ROS 2 Jazzy does (schema 4). A program that is killed leaves a file that can be
 * read, up to the last SK_DB3_BATCH messages, by itself: what is done lies in the file, not beside it. The disk is not waited for. */
#define SK_DB3_BATCH 50

typedef struct sk_db3_writer sk_db3_writer;
/* A new file in place of what is there. */
sk_status sk_db3_writer_open(const char *path, sk_db3_writer **out, sk_error *err) SK_MUST_CHECK;
sk_status sk_db3_writer_topic(sk_db3_writer *writer, const char *topic, const sk_msg_type *type,
                              const char *qos, uint16_t *channel, sk_error *err) SK_MUST_CHECK;
sk_status sk_db3_writer_write(sk_db3_writer *writer, uint16_t channel, int64_t log_ns, const void *bytes,
                              size_t count, sk_error *err) SK_MUST_CHECK;
sk_status sk_db3_writer_flush(sk_db3_writer *writer, sk_error *err) SK_MUST_CHECK;
/* With what metadata.yaml says, and ends the file, also after a failure. */
sk_status sk_db3_writer_finish(sk_db3_writer **writer, const char *metadata, sk_error *err) SK_MUST_CHECK;
void sk_db3_writer_close(sk_db3_writer **writer);

#endif
