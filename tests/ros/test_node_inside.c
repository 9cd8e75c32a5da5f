/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "ros/node_inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Inside of the node, without a network: what it says and how often; a change of parameters that cannot be brought about. */

/* --- threads that cannot be started --- */

static const void *no_thread_for; /* with this argument … */
static int failures;              /* … so many times */

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The program's own comes before the library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    static create_thread *real;
    if (argument && argument == no_thread_for && failures > 0) {
        failures--;
        return 11; /* EAGAIN */
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(thread, attributes, begin, argument);
}

/* --- a clock that was just begun --- */

static int64_t young_ns = -1; /* its time; below 0: the real one */

typedef int read_clock(clockid_t, struct timespec *);

int clock_gettime(clockid_t which, struct timespec *out)
{
    static read_clock *real;
    if (young_ns >= 0 && which != CLOCK_REALTIME) {
        *out = (struct timespec){young_ns / 1000000000, young_ns % 1000000000};
        return 0;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(which, out);
}

/* --- a node that says what it says into a list --- */

static int said;
static char last_said[1024];

static void hear(void *context, sk_ros_node_level level, const char *text)
{
    (void)context;
    (void)level;
    said++;
    snprintf(last_said, sizeof last_said, "%.*s", (int)sizeof last_said - 1, text);
}

static void begin(sk_ros_node *node, sk_ros_node_settings *settings)
{
    *node = (sk_ros_node){.settings = settings};
    *settings = (sk_ros_node_settings){.say = hear};
    pthread_mutex_init(&node->lock, NULL);
    pthread_mutex_init(&node->log_lock, NULL);
    said = 0;
}

static void end(sk_ros_node *node)
{
    sk_cdr_writer_free(&node->log_writer);
    sk_free_all(node->frame_id, node->next_frame_id);
    pthread_mutex_destroy(&node->lock);
    pthread_mutex_destroy(&node->log_lock);
}

static void complaints_in_turn_are_told_once_each(void **state)
{
    sk_ros_node node;
    sk_ros_node_settings settings;
    (void)state;
    begin(&node, &settings);
    for (int i = 0; i < 500; i++) {
        char text[64];
        node_complain(&node, "the image cannot be read");
        snprintf(text, sizeof text, "image %d is too short by %d bytes", i, 3 * i);
        node_complain(&node, text);
    }
    assert_int_equal(said, 2);
    for (int i = 0; i < NODE_COMPLAINTS; i++) /* half a minute later */
        node.complaints[i].told_ns -= NODE_COMPLAINT_NS;
    node_complain(&node, "the image cannot be read");
    assert_int_equal(said, 3);
    assert_string_equal(last_said,
                        "the image cannot be read (and 499 more like this since it was told last)");
    for (int i = 0; i < 100; i++) { /* more kinds than are kept: each is told, none is lost */
        char text[2] = {(char)('A' + i % 50), '\0'};
        node_complain(&node, text);
    }
    assert_int_equal(said, 103);
    end(&node);
}

/* A machine that has just started: what was never told is told now; half a minute is counted from there, to the nanosecond. */
static void complaints_do_not_wait_for_a_young_clock(void **state)
{
    sk_ros_node node;
    sk_ros_node_settings settings;
    (void)state;
    begin(&node, &settings);
    young_ns = 5;
    for (int i = 0; i < 3; i++) {
        node_complain(&node, "first");
        node_complain(&node, "second");
    }
    assert_int_equal(said, 2);
    assert_string_equal(last_said, "second");
    young_ns = 5 + NODE_COMPLAINT_NS - 1;
    node_complain(&node, "first");
    assert_int_equal(said, 2);
    young_ns++;
    node_complain(&node, "first");
    assert_int_equal(said, 3);
    assert_string_equal(last_said, "first (and 3 more like this since it was told last)");
    node_complain(&node, "first");
    assert_int_equal(said, 3);
    young_ns += NODE_COMPLAINT_NS;
    node_complain(&node, "first");
    assert_string_equal(last_said, "first (and 1 more like this since it was told last)");
    young_ns += NODE_COMPLAINT_NS;
    node_complain(&node, "first");
    assert_string_equal(last_said, "first"); /* nothing was kept back */
    young_ns = -1;
    end(&node);
}

/* A kind keeps its place as long as it is told more often than others; the one told longest ago makes room. */
static void the_oldest_complaint_makes_room(void **state)
{
    sk_ros_node node;
    sk_ros_node_settings settings;
    (void)state;
    begin(&node, &settings);
    young_ns = 1000;
    for (int i = 0; i < NODE_COMPLAINTS; i++, young_ns++) {
        const char text[2] = {(char)('a' + i), '\0'};
        node_complain(&node, text);
    }
    assert_int_equal(said, NODE_COMPLAINTS);
    node_complain(&node, "one more"); /* in the place of "a" */
    assert_int_equal(said, NODE_COMPLAINTS + 1);
    for (int i = 1; i < NODE_COMPLAINTS; i++) {
        const char text[2] = {(char)('a' + i), '\0'};
        node_complain(&node, text);
    }
    assert_int_equal(said, NODE_COMPLAINTS + 1);
    node_complain(&node, "a");
    assert_int_equal(said, NODE_COMPLAINTS + 2);
    node_complain(&node, "b"); /* made room for it */
    assert_int_equal(said, NODE_COMPLAINTS + 3);
    young_ns = -1;
    end(&node);
}

static sk_ros_node *watched;
static bool was_free;

static int32_t write_and_look(sk_dds_entity writer, const void *sample)
{
    (void)writer;
    (void)sample;
    was_free = pthread_mutex_trylock(&watched->lock) == 0;
    if (was_free)
        pthread_mutex_unlock(&watched->lock);
    return 0;
}

/* A reader of /rosout that takes nothing holds up who writes to it; images and results go on. */
static void the_log_holds_up_nothing(void **state)
{
    const sk_dds_quality quality = {.reliable = true, .depth = 4};
    const sk_dds_twist twist = {0};
    sk_ros_names names = {.node = "eye"};
    sk_ros_node node;
    sk_ros_node_settings settings;
    sk_participant *participant = NULL;
    sk_dds_type type = {0};
    sk_error err = {0};
    (void)state;
    if (sk_dds_load(&err) != SK_OK) {
        print_message("skipped: %s\n", err.message);
        skip();
    }
    begin(&node, &settings);
    settings.names = &names;
    assert_ok(sk_participant_open(98, NULL, "enclave=/;", &participant, &err), &err);
    assert_ok(sk_dds_type_make("rcl_interfaces/msg/Log", &twist, &type, &err), &err);
    assert_ok(sk_publisher_open(participant, "rt/rosout", &type, &quality, "", &node.out.log, &err), &err);
    int32_t (*const really)(sk_dds_entity, const void *) = sk_dds.dds_write;
    watched = &node;
    sk_dds.dds_write = write_and_look;
    node_say(&node, SK_ROS_NODE_WARNING, "hello");
    sk_dds.dds_write = really;
    assert_true(was_free);
    sk_publisher_close(&node.out.log);
    sk_participant_close(&participant);
    sk_dds_type_free(&type);
    end(&node);
}

/* The thread that tells results cannot be started: the core that was open comes back; where that fails, too, the node ends. */
static void a_core_without_a_teller_is_not_kept(void **state)
{
    sk_ros_node node;
    sk_ros_node_settings settings;
    sk_error err = {0};
    const sk_param_value path = {.type = SK_NODE_TEXT, .text = test_source("share/models/demo-pose.pt")};
    (void)state;
    begin(&node, &settings);
    assert_ok(sk_params_open(&settings.params, &err), &err);
    assert_ok(sk_params_put(settings.params, "weights_path", &path, &err), &err);
    assert_ok(sk_node_core_open(sk_params_settings(settings.params), &node.core, &err), &err);
    assert_ok(node_begin_telling(&node, &err), &err);
    assert_ok(node_apply(&node, true, &err), &err);
    const sk_node_core *before = node.core;
    no_thread_for = &node;
    for (int times = 1; times <= 2; times++) {
        failures = times;
        assert_int_equal(node_apply(&node, true, &err), SK_ERR_RUNTIME);
        assert_non_null(strstr(err.message, "thread"));
        assert_ptr_equal(node.core, before);
        assert_int_equal(node.telling, times == 1);
        assert_int_equal(node.broken.code != SK_OK, times == 2);
    }
    node_end_telling(&node);
    sk_node_core_close(&node.core);
    sk_params_close(&settings.params);
    end(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(complaints_in_turn_are_told_once_each),
                                       cmocka_unit_test(complaints_do_not_wait_for_a_young_clock),
                                       cmocka_unit_test(the_oldest_complaint_makes_room),
                                       cmocka_unit_test(the_log_holds_up_nothing),
                                       cmocka_unit_test(a_core_without_a_teller_is_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
