/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/dds.h"

#include "base/memory.h"
#include "base/object.h"

#include <string.h>

struct sk_participant {
    sk_dds_entity domain, entity, waitset, guard;
};

struct sk_publisher {
    sk_dds_entity topic, writer;
    const sk_dds_type *type;
    char *name;
    sk_dds_sample sample;
};

struct sk_subscriber {
    sk_dds_entity topic, reader;
};

/* How long a write waits for a reader that is there and takes nothing, where others need not wait for it: a frozen window must not
 * hold up everybody. */
#define PATIENCE_NS 100000000

static sk_status fail_dds(sk_error *err, int32_t code, const char *what)
{
    return sk_fail(err, SK_ERR_IO, "DDS: %s: %s", what, sk_dds.dds_strretcode(code));
}

/* --- participants --- */

static sk_status no_participant(uint32_t domain, int32_t code, sk_error *err)
{
    return sk_fail(err, SK_ERR_IO,
                   "DDS: no participant in domain %u: %s. CYCLONEDDS_URI, where it is set, must be a "
                   "configuration that Cyclone DDS reads, with a network interface of this machine; domains "
                   "go from 0 to 232",
                   (unsigned)domain, sk_dds.dds_strretcode(code));
}

sk_status sk_participant_open(uint32_t domain, const char *configuration, const char *user_data,
                              sk_participant **out, sk_error *err)
{
    *out = NULL;
    SK_TRY(sk_dds_load(err));
    sk_participant *p = sk_calloc(1, sizeof *p);
    sk_dds_qos *qos = sk_dds.dds_create_qos();
    sk_status status = SK_OK;
    if (!p || !qos) {
        status = sk_fail_memory(err, sizeof *p);
        goto done;
    }
    sk_dds.dds_qset_userdata(qos, user_data, strlen(user_data));
    if (configuration && (p->domain = sk_dds.dds_create_domain(domain, configuration)) < 0) {
        status = no_participant(domain, p->domain, err);
        goto done;
    }
    p->entity = sk_dds.dds_create_participant(domain, qos, NULL);
    if (p->entity < 0) {
        status = no_participant(domain, p->entity, err);
        goto done;
    }
    p->waitset = sk_dds.dds_create_waitset(p->entity);
    p->guard = sk_dds.dds_create_guardcondition(p->entity);
    const int32_t attached = p->waitset < 0 ? p->waitset
                             : p->guard < 0 ? p->guard
                                            : sk_dds.dds_waitset_attach(p->waitset, p->guard, 0);
    if (attached < 0)
        status = fail_dds(err, attached, "waiting");
done:
    if (qos)
        sk_dds.dds_delete_qos(qos);
    return SK_HAND_OVER(status, p, out, sk_participant_close);
}

void sk_participant_close(sk_participant **slot)
{
    SK_TAKE_OR_RETURN(p, slot);
    if (p->entity > 0)
        sk_dds.dds_delete(p->entity);
    if (p->domain > 0)
        sk_dds.dds_delete(p->domain);
    sk_free(p);
}

static sk_dds_guid guid_of(sk_dds_entity entity)
{
    sk_dds_guid guid = {{0}};
    (void)sk_dds.dds_get_guid(entity, &guid);
    return guid;
}

sk_dds_entity sk_participant_entity(const sk_participant *participant)
{
    return participant->entity;
}

sk_dds_guid sk_participant_guid(const sk_participant *participant)
{
    return guid_of(participant->entity);
}

void sk_participant_wait(sk_participant *p, int64_t ns)
{
    bool woken;
    intptr_t tags[1];
    (void)sk_dds.dds_waitset_wait(p->waitset, tags, 1, ns);
    (void)sk_dds.dds_take_guardcondition(p->guard, &woken);
}

void sk_participant_wake(sk_participant *p)
{
    (void)sk_dds.dds_set_guardcondition(p->guard, true);
}

/* --- both ends of a topic --- */

/* As rmw_cyclonedds sets them for a profile of ROS; XCDR version 1 is what ROS 2 speaks. */
static sk_dds_qos *qos_of(const sk_dds_quality *q, const char *user_data, bool ignore_own)
{
    sk_dds_qos *qos = sk_dds.dds_create_qos();
    const int history = q->every ? SK_DDS_KEEP_ALL : SK_DDS_KEEP_LAST;
    const int32_t depth = q->every ? SK_DDS_UNLIMITED : q->depth;
    const int16_t representation = SK_DDS_XCDR1;
    if (!qos)
        return NULL;
    sk_dds.dds_qset_writer_data_lifecycle(qos, false);
    sk_dds.dds_qset_history(qos, history, q->every ? q->depth : depth);
    if (q->every)
        sk_dds.dds_qset_resource_limits(qos, q->depth, SK_DDS_UNLIMITED, SK_DDS_UNLIMITED);
    sk_dds.dds_qset_reliability(qos, q->reliable ? SK_DDS_RELIABLE : SK_DDS_BEST_EFFORT,
                                q->every      ? SK_DDS_NEVER
                                : q->reliable ? PATIENCE_NS
                                              : 0);
    sk_dds.dds_qset_durability(qos, q->transient_local ? SK_DDS_TRANSIENT_LOCAL : SK_DDS_VOLATILE);
    if (q->transient_local)
        sk_dds.dds_qset_durability_service(qos, 0, history, depth, SK_DDS_UNLIMITED, SK_DDS_UNLIMITED,
                                           SK_DDS_UNLIMITED);
    sk_dds.dds_qset_data_representation(qos, 1, &representation);
    if (ignore_own)
        sk_dds.dds_qset_ignorelocal(qos, SK_DDS_IGNORELOCAL_PARTICIPANT);
    if (user_data && user_data[0])
        sk_dds.dds_qset_userdata(qos, user_data, strlen(user_data));
    return qos;
}

static sk_status open_topic(sk_participant *p, const char *topic, const sk_dds_type *type, sk_dds_entity *out,
                            sk_error *err)
{
    const sk_dds_descriptor descriptor = {.size = type->size,
                                          .align = type->align,
                                          .name = type->name,
                                          .n_ops = type->n_ops,
                                          .ops = type->ops,
                                          .meta = ""};
    *out = sk_dds.dds_create_topic(p->entity, &descriptor, topic, NULL, NULL);
    if (*out >= 0)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "DDS: topic %s of type %s: %s", topic, type->name,
                   sk_dds.dds_strretcode(*out));
}

static const char *refused(const sk_dds_incompatible *status)
{
    if (status->total_count_change <= 0)
        return NULL;
    return status->last_policy_id == SK_DDS_POLICY_RELIABILITY  ? "reliability"
           : status->last_policy_id == SK_DDS_POLICY_DURABILITY ? "durability"
                                                                : "another quality of service";
}

/* --- publishers --- */

sk_status sk_publisher_open(sk_participant *p, const char *topic, const sk_dds_type *type,
                            const sk_dds_quality *quality, const char *user_data, sk_publisher **out,
                            sk_error *err)
{
    sk_publisher *w = sk_calloc(1, sizeof *w);
    sk_dds_qos *qos = qos_of(quality, user_data, false);
    sk_status status = SK_OK;
    if (!w || !qos || !(w->name = sk_strdup(topic))) {
        status = sk_fail_memory(err, sizeof *w);
        goto done;
    }
    w->type = type;
    SK_TRY_GOTO(open_topic(p, topic, type, &w->topic, err));
    w->writer = sk_dds.dds_create_writer(p->entity, w->topic, qos, NULL);
    if (w->writer < 0)
        status = fail_dds(err, w->writer, topic);
done:
    if (qos)
        sk_dds.dds_delete_qos(qos);
    return SK_HAND_OVER(status, w, out, sk_publisher_close);
}

void sk_publisher_close(sk_publisher **slot)
{
    SK_TAKE_OR_RETURN(w, slot);
    if (w->writer > 0)
        sk_dds.dds_delete(w->writer);
    if (w->topic > 0)
        sk_dds.dds_delete(w->topic);
    sk_dds_sample_free(&w->sample);
    sk_free_all(w->name, w);
}

sk_dds_guid sk_publisher_guid(const sk_publisher *publisher)
{
    return guid_of(publisher->writer);
}

int32_t sk_publisher_listeners(sk_publisher *w)
{
    sk_dds_matched matched = {0};
    return sk_dds.dds_get_publication_matched_status(w->writer, &matched) < 0
               ? 0
               : (int32_t)matched.current_count;
}

const char *sk_publisher_refused(sk_publisher *w)
{
    sk_dds_incompatible status = {0};
    return sk_dds.dds_get_offered_incompatible_qos_status(w->writer, &status) < 0 ? NULL : refused(&status);
}

sk_status sk_publisher_write(sk_publisher *w, const void *cdr, size_t bytes, sk_error *err)
{
    SK_TRY(sk_dds_sample_make(&w->sample, w->type, cdr, bytes, err));
    const int32_t code = sk_dds.dds_write(w->writer, w->sample.data);
    if (code == SK_DDS_TIMEOUT)
        return sk_fail(err, SK_ERR_TIMEOUT, "%s: a subscriber takes nothing, and has lost a message",
                       w->name);
    return code < 0 ? fail_dds(err, code, w->name) : SK_OK;
}

/* --- subscribers --- */

sk_status sk_subscriber_open(sk_participant *p, const char *topic, const sk_dds_type *type,
                             const sk_dds_quality *quality, const char *user_data, bool ignore_own,
                             sk_subscriber **out, sk_error *err)
{
    sk_subscriber *r = sk_calloc(1, sizeof *r);
    sk_dds_qos *qos = qos_of(quality, user_data, ignore_own);
    sk_status status = SK_OK;
    if (!r || !qos) {
        status = sk_fail_memory(err, sizeof *r);
        goto done;
    }
    SK_TRY_GOTO(open_topic(p, topic, type, &r->topic, err));
    r->reader = sk_dds.dds_create_reader(p->entity, r->topic, qos, NULL);
    if (r->reader < 0) {
        status = fail_dds(err, r->reader, topic);
        goto done;
    }
    const sk_dds_entity ready = sk_dds.dds_create_readcondition(r->reader, SK_DDS_ANY_STATE);
    const int32_t attached = ready < 0 ? ready : sk_dds.dds_waitset_attach(p->waitset, ready, 0);
    if (attached < 0)
        status = fail_dds(err, attached, topic);
done:
    if (qos)
        sk_dds.dds_delete_qos(qos);
    return SK_HAND_OVER(status, r, out, sk_subscriber_close);
}

void sk_subscriber_close(sk_subscriber **slot)
{
    SK_TAKE_OR_RETURN(r, slot);
    if (r->reader > 0)
        sk_dds.dds_delete(r->reader);
    if (r->topic > 0)
        sk_dds.dds_delete(r->topic);
    sk_free(r);
}

sk_dds_guid sk_subscriber_guid(const sk_subscriber *subscriber)
{
    return guid_of(subscriber->reader);
}

int32_t sk_subscriber_speakers(sk_subscriber *r)
{
    sk_dds_matched matched = {0};
    return sk_dds.dds_get_subscription_matched_status(r->reader, &matched) < 0
               ? 0
               : (int32_t)matched.current_count;
}

const char *sk_subscriber_refused(sk_subscriber *r)
{
    sk_dds_incompatible status = {0};
    return sk_dds.dds_get_requested_incompatible_qos_status(r->reader, &status) < 0 ? NULL : refused(&status);
}

bool sk_subscriber_take(sk_subscriber *r, sk_dds_taken *out)
{
    sk_dds_serdata *taken = NULL;
    sk_dds_info info;
    while (sk_dds.dds_takecdr(r->reader, &taken, 1, &info, SK_DDS_ANY_STATE) == 1) {
        const uint32_t size = sk_dds.ddsi_serdata_size(taken);
        if (info.valid_data && size >= 4) {
            *out = (sk_dds_taken){.source_ns = info.source_timestamp, .from = info.publication_handle};
            out->held = sk_dds.ddsi_serdata_to_ser_ref(taken, 0, size, &out->view);
            out->bytes = out->view.iov_base;
            out->count = out->view.iov_len;
            sk_dds.ddsi_serdata_unref(taken); /* the view holds it */
            return true;
        }
        sk_dds.ddsi_serdata_unref(taken);
    }
    return false;
}

void sk_dds_taken_release(sk_dds_taken *taken)
{
    if (taken->held)
        sk_dds.ddsi_serdata_to_ser_unref(taken->held, &taken->view);
    *taken = (sk_dds_taken){0};
}
