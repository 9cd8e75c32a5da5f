/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ROS_NUMBERED_DDS_H
#define SK_TESTS_ROS_NUMBERED_DDS_H

#include "support/test.h"

#include "base/text.h"
#include "formats/ros_messages.h"
#include "ros/dds.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A DDS library without a network: entities are numbers, what is asked for is written down, messages come from a list and what is
 * written is counted. A node's turns are counted by how often it waits; a test says what happens in each. */

enum { ENDS = 128, COMING = 64 };

typedef struct numbered_end {
    char topic[300];
    atomic_int wrote;
} numbered_end;

typedef struct numbered_message {
    const char *topic; /* null: it was taken */
    uint8_t *bytes;
    size_t count;
    atomic_int held;
} numbered_message;

static sk_dds_library really;
static numbered_end ends[ENDS];
static int n_ends, qualities, turns, listeners, speakers;
static atomic_int asked_listeners;
static sk_text asked; /* a line for each end: what was asked for it */
static numbered_message coming[COMING];
static int n_coming;
static void (*on_turn)(int turn);
static int32_t (*on_write)(const char *topic, const void *sample);
static sk_dds_incompatible refused_in, refused_out;

typedef struct numbered_quality {
    char words[400];
} numbered_quality;

static inline sk_dds_entity next_end(const char *topic)
{
    if (n_ends + 1 == ENDS)
        return -1;
    const size_t length = strlen(topic);
    assert_true(length < sizeof ends[0].topic);
    memmove(ends[n_ends + 1].topic, topic, length + 1);
    ends[n_ends + 1].wrote = 0;
    return ++n_ends;
}

static inline void note(sk_dds_qos *qos, const char *format, long long number)
{
    char *words = ((numbered_quality *)(void *)qos)->words;
    const size_t at = strlen(words);
    snprintf(words + at, sizeof(numbered_quality) - at, format, number);
}

static inline sk_dds_qos *numbered_qos(void)
{
    qualities++;
    return (sk_dds_qos *)calloc(1, sizeof(numbered_quality));
}

static inline void numbered_delete_qos(sk_dds_qos *qos)
{
    qualities--;
    free(qos);
}

static inline void numbered_userdata(sk_dds_qos *qos, const void *data, size_t bytes)
{
    (void)qos, (void)data, (void)bytes;
}

static inline void numbered_history(sk_dds_qos *qos, int kind, int32_t depth)
{
    note(qos, kind == SK_DDS_KEEP_ALL ? " all %lld" : " last %lld", depth);
}

static inline void numbered_reliability(sk_dds_qos *qos, int kind, int64_t ns)
{
    note(qos, kind == SK_DDS_RELIABLE ? " reliable" : " best effort", ns);
}

static inline void numbered_durability(sk_dds_qos *qos, int kind)
{
    note(qos, kind == SK_DDS_TRANSIENT_LOCAL ? " kept" : "", 0);
}

static inline void numbered_service(sk_dds_qos *qos, int64_t delay, int history, int32_t depth, int32_t a,
                                    int32_t b, int32_t c)
{
    (void)qos, (void)delay, (void)history, (void)depth, (void)a, (void)b, (void)c;
}

static inline void numbered_limits(sk_dds_qos *qos, int32_t samples, int32_t instances, int32_t each)
{
    (void)qos, (void)samples, (void)instances, (void)each;
}

static inline void numbered_lifecycle(sk_dds_qos *qos, bool dispose)
{
    (void)qos, (void)dispose;
}

static inline void numbered_representation(sk_dds_qos *qos, uint32_t count, const int16_t *values)
{
    (void)qos, (void)count, (void)values;
}

static inline sk_dds_entity numbered_domain(uint32_t domain, const char *configuration)
{
    (void)domain, (void)configuration;
    return next_end("domain");
}

static inline sk_dds_entity numbered_participant(uint32_t domain, const sk_dds_qos *qos, const void *listener)
{
    (void)domain, (void)qos, (void)listener;
    return next_end("participant");
}

static inline sk_dds_entity numbered_of(sk_dds_entity parent)
{
    (void)parent;
    return next_end("condition");
}

static inline sk_dds_entity numbered_condition(sk_dds_entity reader, uint32_t mask)
{
    (void)reader, (void)mask;
    return next_end("condition");
}

static inline sk_dds_entity numbered_topic(sk_dds_entity participant, const sk_dds_descriptor *descriptor,
                                           const char *name, const sk_dds_qos *qos, const void *listener)
{
    (void)participant, (void)descriptor, (void)qos, (void)listener;
    return next_end(name);
}

static inline sk_dds_entity numbered_reader(sk_dds_entity participant, sk_dds_entity topic,
                                            const sk_dds_qos *qos, const void *listener)
{
    (void)participant, (void)listener;
    sk_text_appendf(&asked, "< %s%s\n", ends[topic].topic,
                    qos ? ((const numbered_quality *)(const void *)qos)->words : "");
    return next_end(ends[topic].topic);
}

static inline sk_dds_entity numbered_writer(sk_dds_entity participant, sk_dds_entity topic,
                                            const sk_dds_qos *qos, const void *listener)
{
    (void)participant, (void)listener;
    sk_text_appendf(&asked, "> %s%s\n", ends[topic].topic,
                    ((const numbered_quality *)(const void *)qos)->words);
    return next_end(ends[topic].topic);
}

static inline int32_t numbered_attach(sk_dds_entity set, sk_dds_entity entity, intptr_t tag)
{
    (void)set, (void)entity, (void)tag;
    return 0;
}

static inline int32_t numbered_wait(sk_dds_entity set, intptr_t *tags, size_t count, int64_t ns)
{
    (void)set, (void)tags, (void)count, (void)ns;
    turns++;
    if (on_turn)
        on_turn(turns);
    return 0;
}

static inline int32_t numbered_guard(sk_dds_entity guard, bool *triggered)
{
    (void)guard;
    *triggered = false;
    return 0;
}

static inline int32_t numbered_delete(sk_dds_entity entity)
{
    (void)entity;
    return 0;
}

static inline int32_t numbered_guid(sk_dds_entity entity, sk_dds_guid *out)
{
    out->v[0] = (uint8_t)entity;
    return 0;
}

static inline int32_t numbered_listeners(sk_dds_entity end, sk_dds_matched *out)
{
    (void)end;
    asked_listeners++;
    out->current_count = (uint32_t)listeners;
    return 0;
}

static inline int32_t numbered_speakers(sk_dds_entity end, sk_dds_matched *out)
{
    (void)end;
    out->current_count = (uint32_t)speakers;
    return 0;
}

static inline int32_t numbered_refused_in(sk_dds_entity end, sk_dds_incompatible *out)
{
    (void)end;
    *out = refused_in;
    refused_in = (sk_dds_incompatible){0};
    return 0;
}

static inline int32_t numbered_refused_out(sk_dds_entity end, sk_dds_incompatible *out)
{
    if (strstr(ends[end].topic, "detections")) {
        *out = refused_out;
        refused_out = (sk_dds_incompatible){0};
    }
    return 0;
}

static inline int32_t numbered_write(sk_dds_entity writer, const void *sample)
{
    const int32_t code = on_write ? on_write(ends[writer].topic, sample) : 0;
    ends[writer].wrote++;
    return code;
}

static inline int32_t numbered_take(sk_dds_entity reader, sk_dds_serdata **taken, uint32_t most,
                                    sk_dds_info *info, uint32_t mask)
{
    (void)most, (void)mask;
    for (int i = 0; i < n_coming; i++)
        if (coming[i].topic && strcmp(coming[i].topic, ends[reader].topic) == 0) {
            coming[i].topic = NULL;
            coming[i].held = 1;
            *info = (sk_dds_info){.valid_data = true};
            *taken = (sk_dds_serdata *)(void *)&coming[i];
            return 1;
        }
    return 0;
}

static inline uint32_t numbered_size(const sk_dds_serdata *data)
{
    return (uint32_t)((const numbered_message *)(const void *)data)->count;
}

static inline sk_dds_serdata *numbered_ref(const sk_dds_serdata *data, size_t offset, size_t bytes,
                                           struct iovec *out)
{
    numbered_message *m = (numbered_message *)(uintptr_t)data;
    m->held++;
    *out = (struct iovec){m->bytes + offset, bytes};
    return (sk_dds_serdata *)(void *)m;
}

static inline void numbered_unref(sk_dds_serdata *data)
{
    ((numbered_message *)(void *)data)->held--;
}

static inline void numbered_release(sk_dds_serdata *data, const struct iovec *view)
{
    (void)view;
    numbered_unref(data);
}

static inline const char *numbered_word(int32_t code)
{
    return code == -7 ? "it is broken" : "something else";
}

/* False, with a word about it, where there is no library to stand in for. */
static inline bool numbered_begin(void)
{
    sk_error err = {0};
    if (!really.dds_write) {
        if (sk_dds_load(&err) != SK_OK) {
            print_message("skipped: %s\n", err.message);
            return false;
        }
        really = sk_dds;
    }
    n_ends = n_coming = qualities = turns = 0;
    listeners = speakers = 1;
    on_turn = NULL;
    on_write = NULL;
    sk_dds.dds_create_domain = numbered_domain;
    sk_dds.dds_create_participant = numbered_participant;
    sk_dds.dds_create_topic = numbered_topic;
    sk_dds.dds_create_reader = numbered_reader;
    sk_dds.dds_create_writer = numbered_writer;
    sk_dds.dds_create_readcondition = numbered_condition;
    sk_dds.dds_create_waitset = numbered_of;
    sk_dds.dds_create_guardcondition = numbered_of;
    sk_dds.dds_take_guardcondition = numbered_guard;
    sk_dds.dds_waitset_attach = numbered_attach;
    sk_dds.dds_waitset_wait = numbered_wait;
    sk_dds.dds_delete = numbered_delete;
    sk_dds.dds_get_guid = numbered_guid;
    sk_dds.dds_get_publication_matched_status = numbered_listeners;
    sk_dds.dds_get_subscription_matched_status = numbered_speakers;
    sk_dds.dds_get_requested_incompatible_qos_status = numbered_refused_in;
    sk_dds.dds_get_offered_incompatible_qos_status = numbered_refused_out;
    sk_dds.dds_create_qos = numbered_qos;
    sk_dds.dds_delete_qos = numbered_delete_qos;
    sk_dds.dds_qset_userdata = numbered_userdata;
    sk_dds.dds_qset_history = numbered_history;
    sk_dds.dds_qset_reliability = numbered_reliability;
    sk_dds.dds_qset_durability = numbered_durability;
    sk_dds.dds_qset_durability_service = numbered_service;
    sk_dds.dds_qset_resource_limits = numbered_limits;
    sk_dds.dds_qset_writer_data_lifecycle = numbered_lifecycle;
    sk_dds.dds_qset_data_representation = numbered_representation;
    sk_dds.dds_write = numbered_write;
    sk_dds.dds_takecdr = numbered_take;
    sk_dds.ddsi_serdata_size = numbered_size;
    sk_dds.ddsi_serdata_to_ser_ref = numbered_ref;
    sk_dds.ddsi_serdata_to_ser_unref = numbered_release;
    sk_dds.ddsi_serdata_unref = numbered_unref;
    sk_dds.dds_strretcode = numbered_word;
    return true;
}

/* Everything that came was given back; what was asked for is forgotten. */
static inline void numbered_end_of_it(void)
{
    for (int i = 0; i < n_coming; i++) {
        if (!coming[i].topic)
            assert_int_equal(coming[i].held, 0);
        free(coming[i].bytes);
    }
    assert_int_equal(qualities, 0);
    sk_text_free(&asked);
    sk_dds = really;
}

/* How often was written to topics whose name ends so? */
static inline int numbered_wrote(const char *ending)
{
    int n = 0;
    for (int i = 1; i <= n_ends; i++) {
        const size_t length = strlen(ends[i].topic);
        if (length >= strlen(ending) && strcmp(ends[i].topic + length - strlen(ending), ending) == 0)
            n += ends[i].wrote;
    }
    return n;
}

static inline void numbered_come(const char *topic, const void *bytes, size_t count)
{
    assert_true(n_coming < COMING);
    coming[n_coming].bytes = malloc(count ? count : 1);
    memcpy(coming[n_coming].bytes, bytes, count);
    coming[n_coming].count = count;
    coming[n_coming].held = 0;
    coming[n_coming++].topic = topic;
}

#endif
