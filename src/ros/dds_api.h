/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_DDS_API_H
#define SK_ROS_DDS_API_H

#include "base/library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* What we use of Eclipse Cyclone DDS, declared by ourselves: the library is loaded at run time, so the program neither
 * needs its headers to be built nor the library to start.
 *
 * Which part of it, and why. rmw_cyclonedds carries a message as bytes by a "sertype" of its own: a structure of Cyclone's
 * insides with a table of functions, whose layout is another in 0.9, 0.10 and 11, and which is in no public header. A topic
 * descriptor (size, name, and a list of 32-bit instructions, which idlc writes for everybody) is what every program in C
 * hands to dds_create_topic: its layout and the instructions that ROS 2's messages need are the same from 0.9.1 to 11.0.1. So
 * a type's instructions are made from its .msg text (dds_type.h), messages are written by dds_write, and taken as bytes, in
 * place, by dds_takecdr; nothing here looks into a structure that is not public. tests/ros compares all this with the
 * headers, where they are installed, and runs it with both libraries. */

typedef int32_t sk_dds_entity; /* a handle; below 0: an error */
typedef struct dds_qos sk_dds_qos;
typedef struct ddsi_serdata sk_dds_serdata;

typedef struct sk_dds_guid {
    uint8_t v[16];
} sk_dds_guid;

/* dds_sequence_t: how a sequence lies in a sample */
typedef struct sk_dds_sequence {
    uint32_t maximum, length;
    void *buffer;
    bool release;
} sk_dds_sequence;

/* dds_topic_descriptor_t */
typedef struct sk_dds_bytes {
    const unsigned char *data;
    uint32_t size;
} sk_dds_bytes;

typedef struct sk_dds_descriptor {
    uint32_t size, align, flags, n_keys;
    const char *name;
    const void *keys;
    uint32_t n_ops;
    const uint32_t *ops;
    const char *meta;
    sk_dds_bytes type_information, type_mapping;
    uint32_t restrict_data_representation;
} sk_dds_descriptor;

/* dds_sample_info_t */
typedef struct sk_dds_info {
    int32_t sample_state, view_state, instance_state;
    bool valid_data;
    int64_t source_timestamp; /* ns since 1970 */
    uint64_t instance_handle, publication_handle;
    uint32_t disposed_generation_count, no_writers_generation_count;
    uint32_t sample_rank, generation_rank, absolute_generation_rank;
} sk_dds_info;

/* dds_publication_matched_status_t, and that of subscriptions */
typedef struct sk_dds_matched {
    uint32_t total_count;
    int32_t total_count_change;
    uint32_t current_count;
    int32_t current_count_change;
    uint64_t last_handle;
} sk_dds_matched;

/* dds_requested_incompatible_qos_status_t, and the offered one */
typedef struct sk_dds_incompatible {
    uint32_t total_count;
    int32_t total_count_change;
    uint32_t last_policy_id;
} sk_dds_incompatible;

/* dds_builtintopic_endpoint_t: what the library knows of somebody's publisher */
typedef struct sk_dds_endpoint {
    sk_dds_guid key, participant_key;
    uint64_t participant_handle;
    char *topic_name, *type_name;
    sk_dds_qos *qos;
} sk_dds_endpoint;

enum {
    SK_DDS_OP_RTS = 0,
    SK_DDS_OP_ADR = 0x01 << 24,
    SK_DDS_OP_JSR = 0x02 << 24,
    /* kinds of values: shifted by 16 as a member's, by 8 as an element's */
    SK_DDS_1BY = 1,
    SK_DDS_2BY,
    SK_DDS_4BY,
    SK_DDS_8BY,
    SK_DDS_STR,
    SK_DDS_BST, /* bounded string */
    SK_DDS_SEQ,
    SK_DDS_ARR,
    SK_DDS_STU = 0x0a,
    SK_DDS_BSQ,
    SK_DDS_BLN = 0x0e,

    SK_DDS_VOLATILE = 0,
    SK_DDS_TRANSIENT_LOCAL = 1,
    SK_DDS_KEEP_LAST = 0,
    SK_DDS_KEEP_ALL = 1,
    SK_DDS_BEST_EFFORT = 0,
    SK_DDS_RELIABLE = 1,
    SK_DDS_IGNORELOCAL_PARTICIPANT = 1,
    SK_DDS_XCDR1 = 0,
    SK_DDS_UNLIMITED = -1,
    SK_DDS_ANY_STATE = 0x7f,
    SK_DDS_TIMEOUT = -10, /* DDS_RETCODE_TIMEOUT */

    SK_DDS_POLICY_DURABILITY = 2, /* of sk_dds_incompatible */
    SK_DDS_POLICY_RELIABILITY = 11
};
#define SK_DDS_NEVER        INT64_MAX
#define SK_DDS_PUBLICATIONS ((sk_dds_entity)0x7fff0003) /* DDS_BUILTIN_TOPIC_DCPSPUBLICATION */
#define SK_DDS_ALIVE        16u                         /* DDS_ALIVE_INSTANCE_STATE */

/* F(result, name, parameters) of every function that is used. */
#define SK_DDS_FUNCTIONS(F)                                                                                  \
    F(sk_dds_entity, dds_create_domain, (uint32_t domain, const char *configuration))                        \
    F(sk_dds_entity, dds_create_participant, (uint32_t domain, const sk_dds_qos *, const void *listener))    \
    F(sk_dds_entity, dds_create_topic,                                                                       \
      (sk_dds_entity participant, const sk_dds_descriptor *, const char *name, const sk_dds_qos *,           \
       const void *listener))                                                                                \
    F(sk_dds_entity, dds_create_reader,                                                                      \
      (sk_dds_entity participant, sk_dds_entity topic, const sk_dds_qos *, const void *listener))            \
    F(sk_dds_entity, dds_create_writer,                                                                      \
      (sk_dds_entity participant, sk_dds_entity topic, const sk_dds_qos *, const void *listener))            \
    F(sk_dds_entity, dds_create_readcondition, (sk_dds_entity reader, uint32_t mask))                        \
    F(sk_dds_entity, dds_create_waitset, (sk_dds_entity participant))                                        \
    F(sk_dds_entity, dds_create_guardcondition, (sk_dds_entity participant))                                 \
    F(int32_t, dds_set_guardcondition, (sk_dds_entity, bool triggered))                                      \
    F(int32_t, dds_take_guardcondition, (sk_dds_entity, bool *triggered))                                    \
    F(int32_t, dds_waitset_attach, (sk_dds_entity set, sk_dds_entity, intptr_t tag))                         \
    F(int32_t, dds_waitset_wait, (sk_dds_entity set, intptr_t * tags, size_t count, int64_t ns))             \
    F(int32_t, dds_delete, (sk_dds_entity))                                                                  \
    F(int32_t, dds_get_guid, (sk_dds_entity, sk_dds_guid *))                                                 \
    F(int32_t, dds_get_publication_matched_status, (sk_dds_entity writer, sk_dds_matched *))                 \
    F(int32_t, dds_get_subscription_matched_status, (sk_dds_entity reader, sk_dds_matched *))                \
    F(int32_t, dds_get_requested_incompatible_qos_status, (sk_dds_entity reader, sk_dds_incompatible *))     \
    F(int32_t, dds_get_offered_incompatible_qos_status, (sk_dds_entity writer, sk_dds_incompatible *))       \
    F(sk_dds_qos *, dds_create_qos, (void))                                                                  \
    F(void, dds_delete_qos, (sk_dds_qos *))                                                                  \
    F(void, dds_qset_userdata, (sk_dds_qos *, const void *, size_t bytes))                                   \
    F(void, dds_qset_history, (sk_dds_qos *, int kind, int32_t depth))                                       \
    F(void, dds_qset_reliability, (sk_dds_qos *, int kind, int64_t blocking_ns))                             \
    F(void, dds_qset_durability, (sk_dds_qos *, int kind))                                                   \
    F(void, dds_qset_durability_service,                                                                     \
      (sk_dds_qos *, int64_t delay_ns, int history, int32_t depth, int32_t samples, int32_t instances,       \
       int32_t per_instance))                                                                                \
    F(void, dds_qset_resource_limits,                                                                        \
      (sk_dds_qos *, int32_t samples, int32_t instances, int32_t per_instance))                              \
    F(void, dds_qset_writer_data_lifecycle, (sk_dds_qos *, bool dispose))                                    \
    F(void, dds_qset_ignorelocal, (sk_dds_qos *, int kind))                                                  \
    F(void, dds_qset_data_representation, (sk_dds_qos *, uint32_t count, const int16_t *values))             \
    F(int32_t, dds_write, (sk_dds_entity writer, const void *sample))                                        \
    F(int32_t, dds_wait_for_acks, (sk_dds_entity writer, int64_t ns))                                        \
    F(int32_t, dds_take, (sk_dds_entity reader, void **samples, sk_dds_info *, size_t count, uint32_t most)) \
    F(int32_t, dds_return_loan, (sk_dds_entity reader, void **samples, int32_t count))                       \
    F(bool, dds_qget_reliability, (const sk_dds_qos *, int *kind, int64_t *blocking_ns))                     \
    F(bool, dds_qget_durability, (const sk_dds_qos *, int *kind))                                            \
    F(int32_t, dds_takecdr,                                                                                  \
      (sk_dds_entity reader, sk_dds_serdata * *taken, uint32_t most, sk_dds_info *, uint32_t mask))          \
    F(uint32_t, ddsi_serdata_size, (const sk_dds_serdata *))                                                 \
    F(sk_dds_serdata *, ddsi_serdata_to_ser_ref,                                                             \
      (const sk_dds_serdata *, size_t offset, size_t bytes, struct iovec *))                                 \
    F(void, ddsi_serdata_to_ser_unref, (sk_dds_serdata *, const struct iovec *))                             \
    F(void, ddsi_serdata_unref, (sk_dds_serdata *))                                                          \
    F(const char *, dds_strretcode, (int32_t code))                                                          \
    F(void, dds_set_log_mask, (uint32_t categories))

typedef struct sk_dds_library {
#define F(result, name, parameters) result(*name) parameters;
    SK_DDS_FUNCTIONS(F)
#undef F
    char path[SK_LIBRARY_PATH]; /* of the file that was loaded */
} sk_dds_library;

/* The functions, once sk_dds_load has said SK_OK; loaded once and kept. */
extern sk_dds_library sk_dds;

/* SKITTER_DDS_LIBRARY (a path) or what the system has. SK_ERR_UNSUPPORTED says what was looked for and how to get it. */
sk_status sk_dds_load(sk_error *err) SK_MUST_CHECK;

#endif
