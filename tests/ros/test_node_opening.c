/* SPDX-License-Identifier: Apache-2.0 */
/* A node's beginning where something is lacking: an interruption while its model is made ready, no thread, no memory, a library that
 * has none; and what others are told of who it is. */
#include "support/fault.h"

#include "base/clock.h"
#include "base/memory.h"
#include "ros/node_inside.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAIN = 96 };

static sk_error err;
static sk_dds_library real;

static bool there_is_no_library(void)
{
    if (sk_dds_load(&err) == SK_OK)
        return false;
    print_message("skipped: %s\n", err.message);
    return true;
}

/* --- threads --- */

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static atomic_bool no_thread, held; /* the next one does not begin yet */
static struct {
    void *(*begin)(void *);
    void *argument;
} later;

static void *begin_later(void *context)
{
    (void)context;
    while (held)
        sk_clock_sleep_ns(1000000);
    return later.begin(later.argument);
}

/* The program's own comes before the library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    create_thread *create;
    memcpy(&create, &symbol, sizeof create);
    if (no_thread)
        return 11; /* EAGAIN */
    if (!held)
        return create(thread, attributes, begin, argument);
    later.begin = begin;
    later.argument = argument;
    return create(thread, attributes, begin_later, NULL);
}

/* --- opening --- */

static bool at_once(void *context)
{
    ++*(int *)context;
    return true;
}

static void begin(sk_ros_node *node, sk_ros_node_settings *settings, const char *weights)
{
    const sk_param_value path = {.type = SK_NODE_TEXT, .text = weights};
    *node = (sk_ros_node){.settings = settings};
    *settings = (sk_ros_node_settings){0};
    assert_ok(sk_params_open(&settings->params, &err), &err);
    assert_ok(sk_params_put(settings->params, "weights_path", &path, &err), &err);
}

/* Who is interrupted does not wait; the thread that goes on ends what it has opened by itself. */
static void an_interruption_leaves_the_thread_behind(void **state)
{
    (void)state;
    sk_ros_node node;
    sk_ros_node_settings settings;
    sk_node_core *core = NULL;
    int asked = 0;
    begin(&node, &settings, test_source("share/models/demo-pose.pt"));
    assert_ok(node_open_core(&node, &core, &err), &err); /* nobody interrupts */
    assert_non_null(core);
    assert_false(node.left_behind);
    sk_node_core_close(&core);
    sk_params_close(&settings.params);
    const int64_t before = sk_memory_live_bytes();
    begin(&node, &settings, test_source("share/models/demo-pose.pt"));
    settings.interrupted = at_once;
    settings.context = &asked;
    held = true;
    assert_int_equal(node_open_core(&node, &core, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "interrupted while the model was made ready");
    assert_null(core);
    assert_true(node.left_behind);
    assert_int_equal(asked, 1);
    sk_params_close(&settings.params); /* the thread has its own */
    assert_true(sk_memory_live_bytes() > before);
    held = false;
    for (const int64_t end = sk_clock_ns() + 60000000000;
         sk_memory_live_bytes() != before && sk_clock_ns() < end;)
        sk_clock_sleep_ns(5000000);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void what_the_thread_fails_with_is_told(void **state)
{
    (void)state;
    sk_ros_node node;
    sk_ros_node_settings settings;
    sk_node_core *core = NULL;
    begin(&node, &settings, "/none.pt");
    assert_int_equal(node_open_core(&node, &core, &err), SK_ERR_NOT_FOUND);
    assert_true(strstr(err.message, "/none.pt") && err.code == SK_ERR_NOT_FOUND);
    assert_null(core);
    assert_int_equal(node_open_core(&node, &core, NULL), SK_ERR_NOT_FOUND);
    assert_false(node.left_behind);
    no_thread = true;
    assert_int_equal(node_open_core(&node, &core, &err), SK_ERR_RUNTIME);
    no_thread = false;
    assert_string_equal(err.message, "no thread could be started");
    assert_null(core);
    sk_memory_fail_nth(1);
    assert_int_equal(node_open_core(&node, &core, &err), SK_ERR_MEMORY);
    sk_memory_fail_nth(2);
    assert_int_equal(node_open_core(&node, &core, &err), SK_ERR_MEMORY);
    sk_memory_fail_nth(0);
    sk_params_close(&settings.params);
}

/* --- who it is --- */

static sk_text heard;

static void hear_data(sk_dds_qos *qos, const void *data, size_t bytes)
{
    sk_text_appendf(&heard, "[%.*s]", (int)bytes, (const char *)data);
    real.dds_qset_userdata(qos, data, bytes);
}

static sk_dds_qos *no_quality(void)
{
    return NULL;
}

static int32_t delete_nothing(sk_dds_entity entity)
{
    fail_msg("%d was never made", (int)entity);
    return 0;
}

static void enclaves_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *enclave, *told;
    } rows[] = {{NULL, "[enclave=/;]"}, {"/", "[enclave=/;]"}, {"/lab/left", "[enclave=/lab/left;]"}};
    if (there_is_no_library())
        skip();
    real = sk_dds;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int humble = 0; humble < 2; humble++) {
            const sk_ros_graph_settings how = {
                .domain = DOMAIN, .humble = humble, .enclave = rows[i].enclave};
            sk_ros_names names;
            sk_ros_graph *g = NULL;
            assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
            sk_dds.dds_qset_userdata = hear_data;
            assert_ok(sk_ros_graph_open(&how, &names, &g, &err), &err);
            sk_dds = real;
            const char *text = sk_text_get(&heard);
            assert_int_equal(strncmp(text, rows[i].told, strlen(rows[i].told)), 0);
            text += strlen(rows[i].told);
            if (humble)
                assert_string_equal(text, "");
            else
                assert_int_equal(strncmp(text, "[typehash=RIHS01_", 17), 0);
            sk_ros_graph_close(&g);
            sk_text_free(&heard);
        }
}

/* Data of users that are none are not asked for. */
static void no_data_is_no_data(void **state)
{
    (void)state;
    const sk_dds_quality quality = {.depth = 1};
    static const char *const datas[] = {NULL, "", "a=b;"};
    sk_participant *p = NULL;
    sk_dds_type type = {0};
    if (there_is_no_library())
        skip();
    real = sk_dds;
    assert_ok(sk_participant_open(DOMAIN, NULL, "enclave=/;", &p, &err), &err);
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", NULL, &type, &err), &err);
    for (int i = 0; i < 3; i++) {
        sk_publisher *out = NULL;
        sk_subscriber *in = NULL;
        sk_dds.dds_qset_userdata = hear_data;
        assert_ok(sk_publisher_open(p, "rt/a", &type, &quality, datas[i], &out, &err), &err);
        assert_ok(sk_subscriber_open(p, "rt/a", &type, &quality, datas[i], false, &in, &err), &err);
        assert_string_equal(sk_text_get(&heard), i == 2 ? "[a=b;][a=b;]" : "");
        sk_publisher_close(&out);
        sk_subscriber_close(&in);
        sk_dds.dds_create_qos = no_quality;
        sk_dds.dds_delete = delete_nothing;
        assert_int_equal(sk_publisher_open(p, "rt/a", &type, &quality, datas[i], &out, &err), SK_ERR_MEMORY);
        assert_int_equal(sk_subscriber_open(p, "rt/a", &type, &quality, datas[i], false, &in, &err),
                         SK_ERR_MEMORY);
        assert_true(!out && !in);
        sk_dds = real;
        sk_text_free(&heard);
    }
    sk_participant_close(&p);
    sk_dds.dds_create_qos = no_quality;
    sk_dds.dds_delete = delete_nothing;
    assert_int_equal(sk_participant_open(DOMAIN, NULL, "", &p, &err), SK_ERR_MEMORY);
    assert_null(p);
    sk_dds = real;
    sk_dds_type_free(&type);
}

/* What the library is told of messages, worked out by hand: members at their own alignment, texts as pointers, lists with how many. */
static void layouts_by_hand(void **state)
{
    (void)state;
    sk_dds_type type;
    static const uint32_t header[] = {SK_DDS_OP_ADR | SK_DDS_4BY << 16,
                                      0,
                                      SK_DDS_OP_ADR | SK_DDS_4BY << 16,
                                      4,
                                      SK_DDS_OP_ADR | SK_DDS_STR << 16,
                                      8,
                                      SK_DDS_OP_RTS};
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", NULL, &type, &err), &err);
    assert_true(type.size == 16 && type.align == 8 && type.n_ops == 7);
    assert_string_equal(type.name, "std_msgs::msg::dds_::Header_");
    assert_memory_equal(type.ops, header, sizeof header);
    sk_dds_type_free(&type);
    const sk_dds_twist service = {.service = true};
    static const uint32_t called[] = {SK_DDS_OP_ADR | SK_DDS_8BY << 16, 0,
                                      SK_DDS_OP_ADR | SK_DDS_8BY << 16, 8,
                                      SK_DDS_OP_ADR | SK_DDS_4BY << 16, 16};
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", &service, &type, &err), &err);
    assert_true(type.size == 32 && type.align == 8 && type.n_ops == 11);
    assert_memory_equal(type.ops, called, sizeof called);
    sk_dds_type_free(&type);
    for (uint32_t bytes = 0; bytes <= 24; bytes += 24) { /* as it is, and as Humble has it */
        const sk_dds_twist twist = {.gid_bytes = bytes};
        const uint32_t gid[] = {SK_DDS_OP_ADR | SK_DDS_ARR << 16 | SK_DDS_1BY << 8, 0, bytes ? bytes : 16,
                                SK_DDS_OP_RTS};
        assert_ok(sk_dds_type_make("rmw_dds_common/msg/Gid", &twist, &type, &err), &err);
        assert_true(type.size == gid[2] && type.align == 1 && type.n_ops == 4);
        assert_memory_equal(type.ops, gid, sizeof gid);
        sk_dds_type_free(&type);
    }
    assert_int_equal(sk_dds_type_make("a/msg/B", NULL, &type, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "a/msg/B: no message type of that name is known");
    assert_true(!type.name && !type.ops && !type.n_ops);
}

/* --- without memory --- */

static sk_status open_graph(void *context, sk_error *problem)
{
    const sk_ros_graph_settings how = {.domain = DOMAIN, .messages = "lab_msgs"};
    const sk_dds_quality quality = {.reliable = true, .depth = 1};
    const sk_ros_names *names = context;
    sk_ros_graph *g = NULL;
    sk_publisher *out = NULL;
    sk_subscriber *in = NULL;
    sk_ros_graph_service service;
    sk_status status = sk_ros_graph_open(&how, names, &g, problem);
    if (status == SK_OK)
        status = sk_ros_graph_publish(g, "~/x", "skitter_msgs/msg/TrackArray", &quality, &out, problem);
    if (status == SK_OK)
        status = sk_ros_graph_subscribe(g, "y", "std_msgs/msg/Header", &quality, &in, problem);
    if (status == SK_OK)
        status = sk_ros_graph_serve(g, "~/z", "rcl_interfaces/srv/ListParameters", &service, problem);
    if (status == SK_OK)
        status = sk_ros_graph_announce(g, problem);
    sk_ros_graph_close(&g);
    return status;
}

static void graphs_without_memory(void **state)
{
    (void)state;
    static sk_ros_names names;
    if (there_is_no_library())
        skip();
    assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
    assert_true(test_every_allocation(open_graph, &names) > 20);
}

static sk_status change_nothing(void *context, bool anew, sk_error *problem)
{
    (void)context, (void)anew, (void)problem;
    return SK_OK;
}

static sk_status ask_all(void *context, sk_error *problem)
{
    static const sk_msg_text names[] = {{"classes", 7}, {"input_topic", 11}, {"frame_skip", 10}, {"none", 4}};
    const sk_msg_parameter_names some = {.names = {names, 4}};
    const sk_msg_parameter wishes[] = {
        {.name = names[2], .value = {.type = SK_NODE_INT, .integer_value = 3}},
        {.name = names[3], .value = {.type = SK_NODE_INT, .integer_value = 3}}};
    const sk_msg_parameters set = {.parameters = {wishes, 2}};
    const sk_msg_list_parameters all = {0};
    const struct {
        sk_param_service service;
        const sk_msg_layout *layout;
        const void *asked;
    } rows[] = {{SK_PARAM_GET, &sk_msg_get_parameters_request_layout, &some},
                {SK_PARAM_GET_TYPES, &sk_msg_get_parameter_types_request_layout, &some},
                {SK_PARAM_DESCRIBE, &sk_msg_describe_parameters_request_layout, &some},
                {SK_PARAM_LIST, &sk_msg_list_parameters_request_layout, &all},
                {SK_PARAM_SET, &sk_msg_set_parameters_request_layout, &set},
                {SK_PARAM_SET_ATOMICALLY, &sk_msg_set_atomically_request_layout, &set}};
    sk_status status = SK_OK;
    const sk_param_owner owner = {context, change_nothing, NULL};
    for (size_t i = 0; status == SK_OK && i < sizeof rows / sizeof *rows; i++) {
        sk_cdr_writer request = {0}, reply = {0};
        int32_t changed[SK_PARAM_MOST], n_changed = 0;
        sk_cdr_writer_begin(&request);
        sk_cdr_put_u64(&request, 1);
        sk_cdr_put_i64(&request, 2);
        sk_msg_put(rows[i].layout, rows[i].asked, &request);
        status = sk_cdr_writer_status(&request, problem);
        if (status == SK_OK)
            status = sk_param_answer(&owner, rows[i].service, request.data, request.length, &reply, changed,
                                     &n_changed, problem);
        sk_cdr_writer_free(&request);
        sk_cdr_writer_free(&reply);
    }
    return status;
}

static sk_status ask_anew(void *context, sk_error *problem)
{
    (void)context;
    sk_params *params = NULL;
    sk_status status = sk_params_open(&params, problem);
    if (status == SK_OK)
        status = ask_all(params, problem);
    sk_params_close(&params);
    return status;
}

static void answers_without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(ask_anew, NULL) > 10);
}

int main(void)
{
    setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF", 1); /* nobody but this process */
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_thread_fails_with_is_told),
                                       cmocka_unit_test(an_interruption_leaves_the_thread_behind),
                                       cmocka_unit_test(enclaves_are_told),
                                       cmocka_unit_test(no_data_is_no_data),
                                       cmocka_unit_test(layouts_by_hand),
                                       cmocka_unit_test(graphs_without_memory),
                                       cmocka_unit_test(answers_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
