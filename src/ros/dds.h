/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_DDS_H
#define SK_ROS_DDS_H

#include "ros/dds_api.h"
#include "ros/dds_type.h"

/* A participant of a DDS domain with its publishers and subscribers, which carry messages as the bytes of their CDR
 * (formats/cdr.h). Publishers may be used by one thread each; subscribers and sk_participant_wait by one thread. */

typedef struct sk_participant sk_participant;
typedef struct sk_publisher sk_publisher;
typedef struct sk_subscriber sk_subscriber;

typedef struct sk_dds_quality {
    bool reliable;        /* else best effort */
    bool transient_local; /* the last `depth` are kept for whoever comes later */
    bool every;           /* nothing is let go: a writer waits when `depth` are not yet taken */
    int32_t depth;        /* the last so many are kept; 1 or more */
} sk_dds_quality;

/* `configuration`: Cyclone DDS's, as CYCLONEDDS_URI has it; null: that of this variable. `user_data`: what others may read of the
 * participant: "enclave=/;". */
sk_status sk_participant_open(uint32_t domain, const char *configuration, const char *user_data,
                              sk_participant **out, sk_error *err) SK_MUST_CHECK;
void sk_participant_close(sk_participant **participant); /* and all that is left of it */
sk_dds_guid sk_participant_guid(const sk_participant *participant);
/* Waits until a subscriber has something to take, sk_participant_wake was called, or `ns` have passed. */
void sk_participant_wait(sk_participant *participant, int64_t ns);
void sk_participant_wake(sk_participant *participant); /* from any thread */

sk_dds_entity sk_participant_entity(const sk_participant *participant);

/* Publishers of others that are known in the domain: calls `tell` for each. */
typedef struct sk_dds_speaker {
    const char *topic, *type; /* DDS's names; the library's, until `tell` returns */
    bool reliable, transient_local;
} sk_dds_speaker;
sk_status sk_participant_speakers(const sk_participant *participant,
                                  void (*tell)(void *context, const sk_dds_speaker *speaker), void *context,
                                  sk_error *err) SK_MUST_CHECK;

/* `topic` is DDS's name ("rt/image_raw"). The type is borrowed for as long as the publisher is there. */
sk_status sk_publisher_open(sk_participant *participant, const char *topic, const sk_dds_type *type,
                            const sk_dds_quality *quality, const char *user_data, sk_publisher **out,
                            sk_error *err) SK_MUST_CHECK;
void sk_publisher_close(sk_publisher **publisher);
sk_dds_guid sk_publisher_guid(const sk_publisher *publisher);
int32_t sk_publisher_listeners(sk_publisher *publisher); /* how many subscribers there are for it now */
/* SK_ERR_TIMEOUT: a reliable subscriber took nothing for a tenth of a second; with `every` that is waited for. */
sk_status sk_publisher_write(sk_publisher *publisher, const void *cdr, size_t bytes,
                             sk_error *err) SK_MUST_CHECK;

/* `ignore_own`: what this participant itself publishes does not come back. */
sk_status sk_subscriber_open(sk_participant *participant, const char *topic, const sk_dds_type *type,
                             const sk_dds_quality *quality, const char *user_data, bool ignore_own,
                             sk_subscriber **out, sk_error *err) SK_MUST_CHECK;
void sk_subscriber_close(sk_subscriber **subscriber);
sk_dds_guid sk_subscriber_guid(const sk_subscriber *subscriber);
int32_t sk_subscriber_speakers(sk_subscriber *subscriber); /* how many publishers there are for it now */
/* What publishers offer that were turned away, in words ("reliability"); null: none were since the last call. */
const char *sk_subscriber_refused(sk_subscriber *subscriber);
const char *sk_publisher_refused(sk_publisher *publisher);

/* A message that was taken. Its bytes are the library's, in place, until it is released, by any thread. */
typedef struct sk_dds_taken {
    const uint8_t *bytes; /* CDR with its header */
    size_t count;
    int64_t source_ns; /* when it was sent, ns since 1970 */
    uint64_t from;     /* which publisher */
    void *held;
    struct iovec view;
} sk_dds_taken;

/* The oldest; false: none is there. */
bool sk_subscriber_take(sk_subscriber *subscriber, sk_dds_taken *out);
void sk_dds_taken_release(sk_dds_taken *taken);

#endif
