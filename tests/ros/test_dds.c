/* SPDX-License-Identifier: Apache-2.0 */
#include "own_network.h"
#include "support/fault.h"

#include "formats/ros_messages.h"
#include "ros/dds.h"
#include "ros/param_services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<dds/dds.h>)
#include <dds/dds.h>
#include <dds/ddsrt/iovec.h>

/* What we declared ourselves is what the library's own headers say. */
#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define FIELD(ours, a, theirs, b)                                                                            \
    SAME(offsetof(ours, a), offsetof(theirs, b));                                                            \
    SAME(sizeof(((ours *)0)->a), sizeof(((theirs *)0)->b))
SAME(sizeof(sk_dds_entity), sizeof(dds_entity_t));
SAME(sizeof(sk_dds_guid), sizeof(dds_guid_t));
SAME(sizeof(sk_dds_descriptor), sizeof(dds_topic_descriptor_t));
FIELD(sk_dds_descriptor, size, dds_topic_descriptor_t, m_size);
FIELD(sk_dds_descriptor, flags, dds_topic_descriptor_t, m_flagset);
FIELD(sk_dds_descriptor, n_keys, dds_topic_descriptor_t, m_nkeys);
FIELD(sk_dds_descriptor, name, dds_topic_descriptor_t, m_typename);
FIELD(sk_dds_descriptor, n_ops, dds_topic_descriptor_t, m_nops);
FIELD(sk_dds_descriptor, ops, dds_topic_descriptor_t, m_ops);
FIELD(sk_dds_descriptor, meta, dds_topic_descriptor_t, m_meta);
FIELD(sk_dds_descriptor, type_mapping, dds_topic_descriptor_t, type_mapping);
FIELD(sk_dds_descriptor, restrict_data_representation, dds_topic_descriptor_t, restrict_data_representation);
SAME(sizeof(sk_dds_sequence), sizeof(dds_sequence_t));
FIELD(sk_dds_sequence, length, dds_sequence_t, _length);
FIELD(sk_dds_sequence, buffer, dds_sequence_t, _buffer);
FIELD(sk_dds_sequence, release, dds_sequence_t, _release);
SAME(sizeof(sk_dds_info), sizeof(dds_sample_info_t));
FIELD(sk_dds_info, valid_data, dds_sample_info_t, valid_data);
FIELD(sk_dds_info, source_timestamp, dds_sample_info_t, source_timestamp);
FIELD(sk_dds_info, publication_handle, dds_sample_info_t, publication_handle);
SAME(sizeof(sk_dds_matched), sizeof(dds_publication_matched_status_t));
FIELD(sk_dds_matched, current_count, dds_publication_matched_status_t, current_count);
SAME(sizeof(sk_dds_incompatible), sizeof(dds_requested_incompatible_qos_status_t));
FIELD(sk_dds_incompatible, last_policy_id, dds_requested_incompatible_qos_status_t, last_policy_id);
SAME(sizeof(struct iovec), sizeof(ddsrt_iovec_t));
SAME((int)SK_DDS_OP_ADR, (int)DDS_OP_ADR);
SAME((int)SK_DDS_OP_RTS, (int)DDS_OP_RTS);
SAME((int)SK_DDS_1BY, (int)DDS_OP_VAL_1BY);
SAME((int)SK_DDS_8BY, (int)DDS_OP_VAL_8BY);
SAME((int)SK_DDS_STR, (int)DDS_OP_VAL_STR);
SAME((int)SK_DDS_BST, (int)DDS_OP_VAL_BST);
SAME((int)SK_DDS_SEQ, (int)DDS_OP_VAL_SEQ);
SAME((int)SK_DDS_ARR, (int)DDS_OP_VAL_ARR);
SAME((int)SK_DDS_STU, (int)DDS_OP_VAL_STU);
SAME((int)SK_DDS_BSQ, (int)DDS_OP_VAL_BSQ);
SAME((int)SK_DDS_BLN, (int)DDS_OP_VAL_BLN);
SAME((int)SK_DDS_VOLATILE, (int)DDS_DURABILITY_VOLATILE);
SAME((int)SK_DDS_TRANSIENT_LOCAL, (int)DDS_DURABILITY_TRANSIENT_LOCAL);
SAME((int)SK_DDS_KEEP_LAST, (int)DDS_HISTORY_KEEP_LAST);
SAME((int)SK_DDS_KEEP_ALL, (int)DDS_HISTORY_KEEP_ALL);
SAME((int)SK_DDS_BEST_EFFORT, (int)DDS_RELIABILITY_BEST_EFFORT);
SAME((int)SK_DDS_RELIABLE, (int)DDS_RELIABILITY_RELIABLE);
SAME((int)SK_DDS_IGNORELOCAL_PARTICIPANT, (int)DDS_IGNORELOCAL_PARTICIPANT);
SAME((int)SK_DDS_XCDR1, (int)DDS_DATA_REPRESENTATION_XCDR1);
SAME((int)SK_DDS_ANY_STATE, (int)DDS_ANY_STATE);
SAME((int)SK_DDS_POLICY_RELIABILITY, (int)DDS_RELIABILITY_QOS_POLICY_ID);
SAME((int)SK_DDS_POLICY_DURABILITY, (int)DDS_DURABILITY_QOS_POLICY_ID);
SAME(SK_DDS_NEVER, DDS_INFINITY);
#endif

#define DOMAIN 99

static bool there_is_no_library(void)
{
    sk_error err = {0};
    if (sk_dds_load(&err) == SK_OK)
        return false;
    print_message("skipped: %s\n", err.message);
    return true;
}

/* A message with something of everything, of every layout that we speak. */
static void fill(sk_cdr_writer *writer, const char *name, int depth)
{
    static const uint8_t bytes[8] = {1, 0, 1, 1, 5, 6, 7, 8};
    char longest[1024];
    sk_msg_field fields[SK_MSG_FIELDS];
    const size_t n = sk_msg_type_fields(sk_msg_type_find(name), fields);
    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < n; i++) {
        const sk_msg_field *f = &fields[i];
        const bool list = f->form == SK_MSG_SEQUENCE || f->form == SK_MSG_BOUNDED_SEQUENCE;
        const size_t some = f->form == SK_MSG_SEQUENCE ? (size_t)(3 - depth % 2) : f->capacity;
        const size_t count = f->form == SK_MSG_ONE ? 1 : some;
        if (list)
            sk_cdr_put_count(writer, count);
        for (size_t k = 0; k < count; k++) {
            if (f->kind == SK_MSG_NESTED)
                fill(writer, f->nested, depth + 1);
            else if (f->kind == SK_MSG_BOOL)
                sk_cdr_put_u8(writer, (uint8_t)(k % 2));
            else if (sk_msg_kind_bytes(f->kind))
                sk_cdr_put_numbers(writer, bytes, sk_msg_kind_bytes(f->kind), 1);
            else if (f->kind == SK_MSG_BOUNDED_STRING) /* as long as it may be */
                sk_cdr_put_text(writer, longest, f->text_capacity);
            else
                sk_cdr_put_text(writer, "some text", (i + k) % 10);
        }
    }
}

/* Every type goes through the library, from instructions and a sample to bytes, and comes back as it was. */
static void every_type_comes_back_as_it_went(void **state)
{
    (void)state;
    const sk_dds_quality quality = {.reliable = true, .depth = 4};
    sk_participant *participant = NULL;
    sk_cdr_writer writer = {0};
    sk_error err = {0};
    if (there_is_no_library())
        skip();
    assert_ok(sk_participant_open(DOMAIN, NULL, "enclave=/;", &participant, &err), &err);
    const sk_msg_type *type;
    for (size_t i = 0; (type = sk_msg_type_at(i)); i++) {
        sk_dds_type wire = {0};
        sk_publisher *publisher = NULL;
        sk_subscriber *subscriber = NULL;
        sk_dds_taken taken;
        assert_ok(sk_dds_type_make(type->name, NULL, &wire, &err), &err);
        assert_ok(sk_publisher_open(participant, type->name, &wire, &quality, "a=b;", &publisher, &err),
                  &err);
        assert_ok(
            sk_subscriber_open(participant, type->name, &wire, &quality, NULL, false, &subscriber, &err),
            &err);
        sk_cdr_writer_begin(&writer);
        fill(&writer, type->name, 0);
        assert_ok(sk_cdr_writer_status(&writer, &err), &err);
        assert_ok(sk_publisher_write(publisher, writer.data, writer.length, &err), &err);
        sk_participant_wait(participant, 5000000000);
        if (!sk_subscriber_take(subscriber, &taken))
            fail_msg("%s: nothing came", type->name);
        if (taken.count < writer.length || memcmp(taken.bytes + 4, writer.data + 4, writer.length - 4) != 0)
            fail_msg("%s: other bytes came back", type->name);
        sk_dds_taken_release(&taken);
        sk_subscriber_close(&subscriber);
        sk_publisher_close(&publisher);
        sk_dds_type_free(&wire);
    }
    sk_cdr_writer_free(&writer);
    sk_participant_close(&participant);
}

static int writes;

static int32_t nobody_takes(sk_dds_entity writer, const void *sample)
{
    (void)writer;
    (void)sample;
    writes++;
    return SK_DDS_TIMEOUT;
}

static sk_status change_nothing(void *context, bool anew, sk_error *err)
{
    (void)context;
    (void)anew;
    (void)err;
    return SK_OK;
}

static void ask(sk_publisher *requests, int64_t number)
{
    sk_cdr_writer writer = {0};
    sk_error err = {0};
    sk_cdr_writer_begin(&writer);
    sk_cdr_put_u64(&writer, 7);
    sk_cdr_put_i64(&writer, number);
    sk_cdr_put_count(&writer, 0);
    sk_cdr_put_u64(&writer, 0);
    assert_ok(sk_publisher_write(requests, writer.data, writer.length, &err), &err);
    sk_cdr_writer_free(&writer);
}

/* Who asks for parameters and takes no reply ends nothing, and who asks a lot is answered one by one: others want something, too. */
static void replies_that_nobody_takes_end_nothing(void **state)
{
    (void)state;
    const sk_dds_quality quality = {.reliable = true, .depth = 10};
    const sk_ros_graph_settings how = {.domain = DOMAIN};
    const sk_dds_twist twist = {.service = true};
    sk_ros_names names;
    sk_ros_graph *graph = NULL;
    sk_params *params = NULL;
    sk_param_services *services = NULL;
    sk_dds_type types[2] = {0};
    char node[32], topics[2][80];
    sk_publisher *requests = NULL;
    sk_subscriber *replies = NULL;
    sk_dds_taken taken;
    sk_error err = {0};
    if (there_is_no_library())
        skip();
    snprintf(node, sizeof node, "eye_%ld", (long)getpid()); /* other tests may run beside this one */
    snprintf(topics[0], sizeof topics[0], "rq/%s/list_parametersRequest", node);
    snprintf(topics[1], sizeof topics[1], "rr/%s/list_parametersReply", node);
    assert_ok(sk_ros_names_init(&names, node, NULL, &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    assert_ok(sk_ros_graph_open(&how, &names, &graph, &err), &err);
    const sk_param_owner owner = {params, change_nothing, NULL};
    assert_ok(sk_param_services_open(graph, &owner, node, &services, &err), &err);
    sk_participant *p = sk_ros_graph_participant(graph);
    assert_ok(sk_dds_type_make("rcl_interfaces/srv/ListParameters_Request", &twist, &types[0], &err), &err);
    assert_ok(sk_dds_type_make("rcl_interfaces/srv/ListParameters_Response", &twist, &types[1], &err), &err);
    assert_ok(sk_publisher_open(p, topics[0], &types[0], &quality, "", &requests, &err), &err);
    assert_ok(sk_subscriber_open(p, topics[1], &types[1], &quality, "", false, &replies, &err), &err);
    for (int i = 0; i < 3; i++)
        ask(requests, i);
    sk_participant_wait(p, 5000000000);
    int32_t (*const write)(sk_dds_entity, const void *) = sk_dds.dds_write;
    sk_dds.dds_write = nobody_takes;
    sk_param_services_turn(services);
    sk_dds.dds_write = write;
    assert_int_equal(writes, 1);
    assert_false(sk_subscriber_take(replies, &taken));
    sk_param_services_turn(services);
    assert_true(sk_subscriber_take(replies, &taken));
    sk_dds_taken_release(&taken);
    sk_subscriber_close(&replies);
    sk_publisher_close(&requests);
    sk_param_services_close(&services);
    sk_ros_graph_close(&graph);
    sk_params_close(&params);
    sk_dds_type_free(&types[0]);
    sk_dds_type_free(&types[1]);
}

static void bytes_of_another_type_are_refused(void **state)
{
    (void)state;
    sk_dds_type type = {0};
    sk_dds_sample sample = {0};
    sk_cdr_writer writer = {0};
    sk_error err = {0};
    assert_ok(sk_dds_type_make("vision_msgs/msg/Detection2DArray", NULL, &type, &err), &err);
    sk_cdr_writer_begin(&writer);
    fill(&writer, "vision_msgs/msg/Detection2DArray", 0);
    for (size_t cut = 0; cut < writer.length; cut++)
        assert_int_not_equal(sk_dds_sample_make(&sample, &type, writer.data, cut, &err), SK_OK);
    assert_ok(sk_dds_sample_make(&sample, &type, writer.data, writer.length, &err), &err);
    sk_dds_type none;
    assert_int_not_equal(sk_dds_type_make("no_msgs/msg/Such", NULL, &none, &err), SK_OK);
    sk_dds_sample_free(&sample);
    sk_dds_type_free(&type);
    sk_cdr_writer_free(&writer);
}

static void a_library_that_is_not_there_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    setenv("SKITTER_DDS_LIBRARY", "/no/such/libddsc.so", 1);
    assert_int_equal(sk_dds_load(&err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "SKITTER_DDS_LIBRARY"));
    setenv("SKITTER_DDS_LIBRARY", test_folder(), 1);
    assert_int_equal(sk_dds_load(&err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "apt-get install libddsc0debian"));
    unsetenv("SKITTER_DDS_LIBRARY");
}

static sk_status make_type(void *context, sk_error *err)
{
    (void)context;
    sk_dds_type type = {0};
    SK_TRY(sk_dds_type_make("vision_msgs/msg/Detection2DArray", NULL, &type, err));
    sk_dds_type_free(&type);
    return SK_OK;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(make_type, NULL) > 0);
}

int main(void)
{
    keep_to_this_machine();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_not_there_is_told), /* before one is loaded, and kept */
        cmocka_unit_test(every_type_comes_back_as_it_went),
        cmocka_unit_test(replies_that_nobody_takes_end_nothing),
        cmocka_unit_test(bytes_of_another_type_are_refused),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
