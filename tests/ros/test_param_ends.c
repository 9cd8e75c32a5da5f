/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that come to a node's services of parameters, with a DDS library of numbers: one of each kind a turn is answered, changes
 * are told to everybody, and a change that breaks the node ends it. */
#include "node_turns.h"

#include "ros/param_services.h"
#include "skitter/log.h"

#define TOPIC(name) "rq/left/eye/" name "Request"

static char events[2048], logged[2048];
static int applied, applied_anew;

static sk_status apply(void *context, bool anew, sk_error *problem)
{
    (void)context, (void)problem;
    applied++;
    applied_anew += anew;
    return SK_OK;
}

static void hear_log(void *user, sk_log_level level, const char *text)
{
    (void)user;
    const size_t at = strlen(logged);
    snprintf(logged + at, sizeof logged - at, "%d %s\n", (int)level, text);
}

typedef struct parameter {
    const char *name;
    uint8_t type;
} parameter;

typedef struct event {
    int32_t sec;
    uint32_t nanosec;
    const char *node;
    sk_dds_sequence fresh, changed, deleted;
} event;

static int32_t broken_reply; /* what writing a reply gives */

static int32_t look_at_events(const char *topic, const void *sample)
{
    const event *e = sample;
    if (strcmp(topic, "rt/parameter_events") == 0) {
        const size_t at = strlen(events);
        const parameter *p = e->changed.buffer;
        snprintf(events + at, sizeof events - at, "%s %u+%u-%u %s %d\n", e->node, e->fresh.length,
                 e->changed.length, e->deleted.length, p->name, p->type);
    }
    return strstr(topic, "Reply") ? broken_reply : 0;
}

static sk_msg_parameter number_of(const char *name, int64_t value)
{
    return (sk_msg_parameter){sk_msg_text_of(name),
                              {.type = SK_MSG_PARAMETER_INTEGER, .integer_value = value}};
}

static void ask(const char *topic, const sk_msg_layout *layout, const void *request)
{
    sk_cdr_writer writer = {0};
    sk_cdr_writer_begin(&writer);
    sk_cdr_put_u64(&writer, 7);
    sk_cdr_put_i64(&writer, 8);
    sk_msg_put(layout, request, &writer);
    assert_ok(sk_cdr_writer_status(&writer, &err), &err);
    numbered_come(topic, writer.data, writer.length);
    sk_cdr_writer_free(&writer);
}

static void ask_to_set(const sk_msg_parameter *wanted, size_t count, bool together)
{
    const sk_msg_parameters request = {.parameters = {wanted, count}};
    ask(together ? TOPIC("set_parameters_atomically") : TOPIC("set_parameters"),
        together ? &sk_msg_set_atomically_request_layout : &sk_msg_set_parameters_request_layout, &request);
}

typedef struct served {
    sk_ros_names names;
    sk_ros_graph *graph;
    sk_params *params;
    sk_param_services *services;
} served;

static void begin_serving(served *s)
{
    const sk_ros_graph_settings how = {.domain = 3};
    *s = (served){0};
    assert_ok(sk_ros_names_init(&s->names, "eye", "/left", &err), &err);
    assert_ok(sk_params_open(&s->params, &err), &err);
    assert_ok(sk_ros_graph_open(&how, &s->names, &s->graph, &err), &err);
    const sk_param_owner owner = {s->params, apply, NULL};
    assert_ok(sk_param_services_open(s->graph, &owner, "/left/eye", &s->services, &err), &err);
    on_write = look_at_events;
    events[0] = logged[0] = '\0';
    applied = applied_anew = broken_reply = 0;
    asked_listeners = 0;
}

static void end_serving(served *s)
{
    sk_param_services_close(&s->services);
    sk_ros_graph_close(&s->graph);
    sk_params_close(&s->params);
    numbered_end_of_it();
}

/* One of each kind a turn; the others wait for the next. */
static void one_of_each_kind_is_answered(void **state)
{
    (void)state;
    served s;
    if (!numbered_begin())
        skip();
    begin_serving(&s);
    const sk_msg_list_parameters all = {0};
    const sk_msg_parameter_names none = {0};
    for (int i = 0; i < 2; i++) {
        ask(TOPIC("list_parameters"), &sk_msg_list_parameters_request_layout, &all);
        ask(TOPIC("get_parameters"), &sk_msg_get_parameters_request_layout, &none);
        ask(TOPIC("get_parameter_types"), &sk_msg_get_parameter_types_request_layout, &none);
        ask(TOPIC("describe_parameters"), &sk_msg_describe_parameters_request_layout, &none);
        ask_to_set(NULL, 0, false);
        ask_to_set(NULL, 0, true);
    }
    static const char *const names[] = {"list_parameters",     "get_parameters", "get_parameter_types",
                                        "describe_parameters", "set_parameters", "set_parameters_atomically"};
    for (int turn = 1; turn <= 3; turn++) {
        sk_param_services_turn(s.services);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char topic[80];
            snprintf(topic, sizeof topic, "rr/left/eye/%sReply", names[i]);
            assert_int_equal(numbered_wrote(topic), turn < 2 ? 1 : 2);
        }
    }
    assert_string_equal(events, "");
    assert_int_equal(applied, 0);
    end_serving(&s);
}

/* Each change is told by itself, of what cannot be nothing; also where the reply reached nobody, who is told of in the log. */
static void changes_are_told(void **state)
{
    (void)state;
    served s;
    if (!numbered_begin())
        skip();
    sk_log_listener *log = NULL;
    begin_serving(&s);
    const sk_msg_parameter wanted[] = {number_of("frame_skip", 3), number_of("nothing", 1),
                                       number_of("max_detections", 9)};
    ask_to_set(wanted, 3, false);
    sk_param_services_turn(s.services);
    assert_string_equal(events, "/left/eye 0+1-0 frame_skip 2\n/left/eye 0+1-0 max_detections 2\n");
    assert_int_equal(sk_params_number(s.params, "frame_skip"), 3);
    assert_int_equal(sk_params_number(s.params, "max_detections"), 9);
    assert_true(applied == 1 && applied_anew == 1);
    events[0] = '\0';
    ask_to_set(wanted, 3, true); /* together: none */
    sk_param_services_turn(s.services);
    assert_string_equal(events, "");
    assert_int_equal(applied, 1);
    broken_reply = -7;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear_log, NULL, &log, &err), &err);
    ask_to_set(wanted, 1, true);
    sk_param_services_turn(s.services);
    assert_string_equal(events, "/left/eye 0+1-0 frame_skip 2\n");
    assert_true(applied == 2 && applied_anew == 1);
    assert_non_null(
        strstr(logged, "~/set_parameters_atomically: DDS: rr/left/eye/set_parameters_atomicallyReply: it is "
                       "broken\n"));
    assert_null(strstr(strchr(logged, '\n') + 1, "\n"));
    logged[0] = '\0';
    numbered_come(TOPIC("get_parameters"), "\0\1\0\0abc", 7); /* no request: no reply */
    sk_param_services_turn(s.services);
    assert_int_equal(numbered_wrote("get_parametersReply"), 0);
    assert_non_null(strstr(logged, "~/get_parameters: "));
    sk_log_unlisten(&log);
    end_serving(&s);
}

static int listens_from; /* asked so often, somebody is there */

static int32_t listeners_come(sk_dds_entity end, sk_dds_matched *out)
{
    (void)end;
    out->current_count = ++asked_listeners >= listens_from;
    return 0;
}

/* A reply waits for whoever asked to listen, and not for ever. */
static void replies_wait_for_their_listener(void **state)
{
    (void)state;
    static const int from[] = {1, 3, 20, 21, 99}, asked_for[] = {1, 3, 20, 20, 20};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        served s;
        const sk_msg_list_parameters all = {0};
        if (!numbered_begin())
            skip();
        begin_serving(&s);
        sk_dds.dds_get_publication_matched_status = listeners_come;
        listens_from = from[i];
        ask(TOPIC("list_parameters"), &sk_msg_list_parameters_request_layout, &all);
        sk_param_services_turn(s.services);
        assert_int_equal(asked_listeners, asked_for[i]);
        assert_int_equal(numbered_wrote("list_parametersReply"), 1);
        end_serving(&s);
    }
}

/* --- a change that breaks the node --- */

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static pthread_t first;
static int created, fails_from,
    fails_to; /* of the threads that the first one starts, counted from when that is wished */

/* The program's own comes before the library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    create_thread *create;
    memcpy(&create, &symbol, sizeof create);
    if (fails_from && pthread_equal(pthread_self(), first)) {
        created++;
        if (created >= fails_from && created <= fails_to)
            return 11; /* EAGAIN */
    }
    return create(thread, attributes, start, argument);
}

static void change_the_core(int turn)
{
    const sk_msg_parameter wanted = number_of("max_detections", 9);
    created = 0;
    fails_from = turn == 2 ? 2 : 0; /* behind the one that opens the other core */
    if (turn == 2)
        ask_to_set(&wanted, 1, false);
}

/* Nobody could tell results any more, neither of the new core nor of the one before: the node ends and says so. Where the old one
 * comes back it goes on. */
static void a_node_that_cannot_tell_ends(void **state)
{
    (void)state;
    first = pthread_self();
    for (int lacking = 1; lacking <= 2; lacking++) {
        sk_ros_node_report report;
        if (!numbered_begin())
            skip();
        fails_to = lacking == 1 ? 2 : 3;
        const sk_status status_ = run(&(wish){.rules = {"diagnostics_period:=0.0", "input_topic:=/image"},
                                              .turns = 5,
                                              .on_turn = change_the_core},
                                      &report);
        fails_from = 0;
        assert_int_equal(numbered_wrote("set_parametersReply"), 1);
        assert_int_equal(numbered_wrote("rt/parameter_events"), 0);
        if (lacking == 1) {
            assert_ok(status_, &err);
            assert_int_equal(turns, 5);
        } else {
            assert_int_equal(status_, SK_ERR_RUNTIME);
            assert_string_equal(err.message, "no thread could be started");
            assert_int_equal(turns, 2);
        }
        numbered_end_of_it();
    }
}

static void change_the_frame(int turn)
{
    const sk_msg_parameter wanted = {
        sk_msg_text_of("frame_id"),
        {.type = SK_MSG_PARAMETER_STRING, .string_value = sk_msg_text_of(turn == 1 ? "one" : "two")}};
    if (turn <= 2)
        ask_to_set(&wanted, 1, false);
}

/* No image has come between two changes: nobody has taken the first, and nothing is left of it. */
static void changes_that_nobody_has_taken(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    const int64_t before = sk_memory_live_bytes();
    assert_ok(
        run(&(wish){.rules = {"diagnostics_period:=0.0"}, .turns = 4, .on_turn = change_the_frame}, &report),
        &err);
    assert_int_equal(numbered_wrote("rt/parameter_events"), 2);
    sk_text_free(&asked);
    assert_int_equal(sk_memory_live_bytes(), before);
    numbered_end_of_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_each_kind_is_answered), cmocka_unit_test(changes_are_told),
        cmocka_unit_test(replies_wait_for_their_listener), cmocka_unit_test(a_node_that_cannot_tell_ends),
        cmocka_unit_test(changes_that_nobody_has_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
