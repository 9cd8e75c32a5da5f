/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ROS_TYPES_H
#define SK_FORMATS_ROS_TYPES_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/* Types of ROS 2's messages as bags and the wire know them: by a name, by a text that lists the fields (the .msg file), and
 * by a hash of what that text says. Everything is derived from the texts of ros_type_texts.c. */

/* Kinds of fields, by the numbers of type_description_interfaces/msg/FieldType. */
typedef enum sk_msg_kind {
    SK_MSG_NESTED = 1,
    SK_MSG_I8 = 2,
    SK_MSG_U8 = 3, /* also .msg's char */
    SK_MSG_I16 = 4,
    SK_MSG_U16 = 5,
    SK_MSG_I32 = 6,
    SK_MSG_U32 = 7,
    SK_MSG_I64 = 8,
    SK_MSG_U64 = 9,
    SK_MSG_F32 = 10,
    SK_MSG_F64 = 11,
    SK_MSG_BOOL = 15,
    SK_MSG_BYTE = 16,
    SK_MSG_STRING = 17,
    SK_MSG_BOUNDED_STRING = 21 /* string<=N */
} sk_msg_kind;

/* How many there are of it; the numbers are what a kind is raised by. */
typedef enum sk_msg_form {
    SK_MSG_ONE = 0,
    SK_MSG_ARRAY = 48,            /* T[N] */
    SK_MSG_BOUNDED_SEQUENCE = 96, /* T[<=N] */
    SK_MSG_SEQUENCE = 144         /* T[] */
} sk_msg_form;

size_t sk_msg_kind_bytes(sk_msg_kind kind); /* of a number; 0 for texts and messages */

typedef struct sk_msg_type {
    const char *name; /* "sensor_msgs/msg/Image", "rcl_interfaces/srv/GetParameters_Request" */
    const char *text; /* the .msg file without comments */
} sk_msg_type;

/* Null for a type that is not in the list. A name without /msg/ is found too: "sensor_msgs/Image". */
const sk_msg_type *sk_msg_type_find(const char *name);
const sk_msg_type *sk_msg_type_at(size_t index); /* null past the end */

typedef struct sk_msg_field {
    char name[64];
    sk_msg_kind kind;
    sk_msg_form form;
    uint32_t capacity;      /* N of arrays and bounded sequences */
    uint32_t text_capacity; /* N of string<=N */
    char nested[96];        /* a message's whole name: "std_msgs/msg/Header"; "" */
} sk_msg_field;

#define SK_MSG_FIELDS 32 /* more than any of the types has */
/* How many of `fields` were filled; constants are no fields. 0: the type has none. */
size_t sk_msg_type_fields(const sk_msg_type *type, sk_msg_field fields[SK_MSG_FIELDS]);

/* "sensor_msgs::msg::dds_::Image_", the name on the wire. Returns buffer. */
#define SK_MSG_DDS_NAME 160
const char *sk_msg_type_dds_name(const char *name, char buffer[SK_MSG_DDS_NAME]);

/* The text with those of all types it is made of behind it, as bags hold it ("ros2msg"). */
void sk_msg_type_definition(const sk_msg_type *type, sk_text *out);

/* "RIHS01_" and 64 hexadecimal digits: SHA-256 over the type's description, as ROS 2 names types since Iron (REP 2011). */
#define SK_MSG_HASH 72
sk_status sk_msg_type_hash(const sk_msg_type *type, char buffer[SK_MSG_HASH], sk_error *err) SK_MUST_CHECK;
/* The same of a service whose _Request and _Response are in the list: "rcl_interfaces/srv/GetParameters". */
sk_status sk_msg_service_hash(const char *service, char buffer[SK_MSG_HASH], sk_error *err) SK_MUST_CHECK;

/* Inside: the list itself. */
extern const sk_msg_type sk_msg_type_list[];
extern const size_t sk_msg_type_count;

#endif
