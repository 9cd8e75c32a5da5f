/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_MCAP_H
#define SK_FORMATS_MCAP_H

#include "base/error.h"
#include "formats/packing.h"
#include "formats/ros_types.h"

#include <stddef.h>
#include <stdint.h>

/* MCAP, the container of ROS 2's bags since Iron (mcap.dev/spec): records of one byte for what they are, eight for how long
 * they are, and their content; messages lie in chunks, which may be packed. Reading is behind formats/rosbag.h. */

#define SK_MCAP_MAGIC       "\x89MCAP0\r\n"
#define SK_MCAP_MAGIC_BYTES ((size_t)8)
#define SK_MCAP_HEAD        ((size_t)9) /* of a record, before its content */

enum {
    SK_MCAP_HEADER = 0x01,
    SK_MCAP_FOOTER = 0x02,
    SK_MCAP_SCHEMA = 0x03,
    SK_MCAP_CHANNEL = 0x04,
    SK_MCAP_MESSAGE = 0x05,
    SK_MCAP_CHUNK = 0x06,
    SK_MCAP_MESSAGE_INDEX = 0x07,
    SK_MCAP_CHUNK_INDEX = 0x08,
    SK_MCAP_STATISTICS = 0x0B,
    SK_MCAP_METADATA = 0x0C,
    SK_MCAP_METADATA_INDEX = 0x0D,
    SK_MCAP_SUMMARY_OFFSET = 0x0E,
    SK_MCAP_DATA_END = 0x0F
};

/* Writing, as rosbag2 does: schemas, channels and messages in chunks, an index of each chunk behind it, a summary at the end.
 * Every chunk that is complete can be read should the program be killed: `SK_MCAP_CHUNK_BYTES` of messages at most are lost. */
#define SK_MCAP_CHUNK_BYTES ((size_t)64 << 10)

typedef struct sk_mcap_writer sk_mcap_writer;
/* A new file in place of what is there. */
sk_status sk_mcap_writer_open(const char *path, sk_packing packing, sk_mcap_writer **out,
                              sk_error *err) SK_MUST_CHECK;
/* `qos`: YAML of the publisher's profile. *channel is for sk_mcap_writer_write. */
sk_status sk_mcap_writer_topic(sk_mcap_writer *writer, const char *topic, const sk_msg_type *type,
                               const char *qos, uint16_t *channel, sk_error *err) SK_MUST_CHECK;
sk_status sk_mcap_writer_write(sk_mcap_writer *writer, uint16_t channel, int64_t log_ns, const void *bytes,
                               size_t count, sk_error *err) SK_MUST_CHECK;
/* Ends the chunk that is being filled: all that was written is in the file. */
sk_status sk_mcap_writer_flush(sk_mcap_writer *writer, sk_error *err) SK_MUST_CHECK;
/* Writes the summary, with rosbag2's metadata (YAML) if it is given, and ends the file, also after a failure. */
sk_status sk_mcap_writer_finish(sk_mcap_writer **writer, const char *metadata, sk_error *err) SK_MUST_CHECK;
void sk_mcap_writer_close(sk_mcap_writer **writer); /* leaves the file unfinished */

#endif
