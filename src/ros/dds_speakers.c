/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/dds.h"

#include <string.h>

/* Who publishes, by what the library has learnt of the domain. */

#define AT_ONCE 64
#define MOST    16384 /* endpoints of a domain that are looked at */

static void tell_one(const sk_dds_endpoint *end, void (*tell)(void *, const sk_dds_speaker *), void *context)
{
    int reliability = SK_DDS_BEST_EFFORT, durability = SK_DDS_VOLATILE;
    int64_t blocking;
    if (end->qos) {
        (void)sk_dds.dds_qget_reliability(end->qos, &reliability, &blocking);
        (void)sk_dds.dds_qget_durability(end->qos, &durability);
    }
    const sk_dds_speaker speaker = {.topic = end->topic_name ? end->topic_name : "",
                                    .type = end->type_name ? end->type_name : "",
                                    .reliable = reliability == SK_DDS_RELIABLE,
                                    .transient_local = durability >= SK_DDS_TRANSIENT_LOCAL};
    tell(context, &speaker);
}

/* A reader of its own each time: it begins with all that is known. */
sk_status sk_participant_speakers(const sk_participant *participant,
                                  void (*tell)(void *context, const sk_dds_speaker *speaker), void *context,
                                  sk_error *err)
{
    const sk_dds_guid own = sk_participant_guid(participant);
    const sk_dds_entity reader =
        sk_dds.dds_create_reader(sk_participant_entity(participant), SK_DDS_PUBLICATIONS, NULL, NULL);
    if (reader < 0)
        return sk_fail(err, SK_ERR_IO, "DDS: who publishes is not known: %s", sk_dds.dds_strretcode(reader));
    for (int32_t looked_at = 0; looked_at < MOST;) {
        void *samples[AT_ONCE] = {NULL};
        sk_dds_info infos[AT_ONCE];
        const int32_t n = sk_dds.dds_take(reader, samples, infos, AT_ONCE, AT_ONCE);
        if (n <= 0)
            break;
        for (int32_t i = 0; i < n; i++) {
            const sk_dds_endpoint *end = samples[i];
            if (infos[i].valid_data && infos[i].instance_state == (int32_t)SK_DDS_ALIVE &&
                memcmp(&end->participant_key, &own, sizeof own) != 0)
                tell_one(end, tell, context);
        }
        (void)sk_dds.dds_return_loan(reader, samples, n);
        looked_at += n;
    }
    sk_dds.dds_delete(reader);
    return SK_OK;
}
