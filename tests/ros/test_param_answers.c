/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "ros/param_services.h"
#include "ros/request.h"
#include "ros/ros_names.h"

#include <stdio.h>
#include <string.h>

/* The six services of parameters, asked as `ros2 param` asks: of every parameter of the table, and of what is none. */

static sk_params *params;
static sk_arena *arena;
static sk_cdr_writer request, replies[4]; /* what was read may point into the last ones */
static int n_replies;
static int32_t changed[SK_PARAM_MOST], n_changed;
static int applied;
static bool applied_anew, refuse;

static sk_status apply(void *context, bool anew, sk_error *err)
{
    (void)context;
    applied++;
    applied_anew = anew;
    return refuse ? sk_fail(err, SK_ERR_IO, "the core would not have it") : SK_OK;
}

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    applied = 0, refuse = applied_anew = false;
    return sk_params_open(&params, &err) != SK_OK || sk_arena_open((size_t)1 << 16, &arena, &err) != SK_OK;
}

static int end(void **state)
{
    (void)state;
    sk_params_close(&params);
    sk_arena_close(&arena);
    sk_cdr_writer_free(&request);
    for (int i = 0; i < 4; i++)
        sk_cdr_writer_free(&replies[i]);
    return 0;
}

/* Asks, and reads the answer into *out; the two numbers of the call come back. */
static void ask(sk_param_service service, const sk_msg_layout *in, const void *asked,
                const sk_msg_layout *layout, void *out)
{
    const sk_param_owner owner = {params, apply, NULL};
    sk_cdr_reader reader;
    sk_error err = {0};
    sk_cdr_writer *reply = &replies[n_replies++ % 4];
    sk_cdr_writer_begin(&request);
    sk_cdr_put_u64(&request, 77);
    sk_cdr_put_i64(&request, -5);
    sk_msg_put(in, asked, &request);
    assert_ok(
        sk_param_answer(&owner, service, request.data, request.length, reply, changed, &n_changed, &err),
        &err);
    assert_ok(sk_cdr_reader_begin(&reader, reply->data, reply->length, &err), &err);
    assert_int_equal(sk_cdr_get_u64(&reader), 77);
    assert_int_equal(sk_cdr_get_i64(&reader), -5);
    assert_ok(sk_msg_get(layout, &reader, arena, out, &err), &err);
}

enum { UNKNOWN = 2 };

/* Every name there is, one that is none and one that is too long to be. */
static size_t all_names(sk_msg_text *names, sk_param_about *about)
{
    static char long_name[300];
    size_t n = 0;
    for (; sk_params_at(params, (int32_t)n, &about[n]); n++)
        names[n] = sk_msg_text_of(about[n].row.name);
    memset(long_name, 'x', sizeof long_name - 1);
    names[n] = sk_msg_text_of("no_such");
    names[n + 1] = sk_msg_text_of(long_name);
    return n;
}

static void all_of_them_are_told(void **state)
{
    (void)state;
    static sk_param_about about[SK_PARAM_MOST];
    sk_msg_text names[SK_PARAM_MOST + UNKNOWN];
    const size_t n = all_names(names, about);
    const sk_msg_parameter_names asked = {.names = {names, n + UNKNOWN}};
    sk_msg_parameter_values values;
    sk_msg_parameter_types types;
    sk_msg_parameter_descriptors told;
    sk_error err = {0};
    assert_ok(sk_params_put_rule(params, "classes:=[4, 1]", &err), &err);
    ask(SK_PARAM_GET, &sk_msg_get_parameters_request_layout, &asked, &sk_msg_get_parameters_response_layout,
        &values);
    ask(SK_PARAM_GET_TYPES, &sk_msg_get_parameter_types_request_layout, &asked,
        &sk_msg_get_parameter_types_response_layout, &types);
    ask(SK_PARAM_DESCRIBE, &sk_msg_describe_parameters_request_layout, &asked,
        &sk_msg_describe_parameters_response_layout, &told);
    assert_int_equal(values.values.count, n + UNKNOWN);
    assert_int_equal(types.types.count, n + UNKNOWN);
    assert_int_equal(told.descriptors.count, n + UNKNOWN);
    bool ranges[2] = {false, false}, lists = false;
    for (size_t i = 0; i < n; i++) {
        sk_param_about a;
        assert_true(sk_params_at(params, (int32_t)i, &a));
        const sk_msg_parameter_value *v = &values.values.items[i];
        const sk_msg_parameter_descriptor *d = &told.descriptors.items[i];
        assert_int_equal(v->type, a.row.type);
        assert_int_equal(types.types.items[i], a.row.type);
        assert_int_equal(d->type, a.row.type);
        assert_true(sk_msg_text_is(d->name, a.row.name) && sk_msg_text_is(d->description, a.row.help));
        assert_int_equal(d->read_only, !(a.row.live || a.row.found));
        assert_true(!a.row.choices ||
                    strncmp(d->additional_constraints.data, a.row.choices + (a.row.choices[0] == '|'),
                            d->additional_constraints.length) == 0);
        const bool bounded = a.row.least < a.row.most;
        assert_int_equal(d->floating_point_range.count, bounded && a.row.type == SK_NODE_DOUBLE);
        assert_int_equal(d->integer_range.count, bounded && a.row.type == SK_NODE_INT);
        if (d->floating_point_range.count)
            assert_true(d->floating_point_range.items[0].from_value == a.row.least &&
                        d->floating_point_range.items[0].to_value == a.row.most);
        if (d->integer_range.count)
            assert_true(d->integer_range.items[0].from_value == (int64_t)a.row.least &&
                        d->integer_range.items[0].to_value == (int64_t)a.row.most &&
                        d->integer_range.items[0].step == 1);
        ranges[0] |= d->floating_point_range.count > 0, ranges[1] |= d->integer_range.count > 0;
        assert_int_equal(v->bool_value, a.value.truth);
        assert_int_equal(v->integer_value, a.value.number);
        assert_true(v->double_value == a.value.real);
        if (a.row.type == SK_NODE_TEXT)
            assert_true(sk_msg_text_is(v->string_value, a.value.text));
        if (a.row.type == SK_NODE_INTS) {
            assert_int_equal(v->integer_array_value.count, a.value.count);
            for (size_t k = 0; k < a.value.count; k++)
                assert_int_equal(v->integer_array_value.items[k], a.value.list[k]);
            lists |= a.value.count == 2;
        }
    }
    assert_true(ranges[0] && ranges[1] && lists);
    for (size_t i = n; i < n + UNKNOWN; i++) {
        assert_int_equal(values.values.items[i].type, 0);
        assert_int_equal(types.types.items[i], 0);
        assert_int_equal(told.descriptors.items[i].type, 0);
        assert_int_equal(told.descriptors.items[i].name.length, names[i].length);
    }
    assert_int_equal(n_changed, 0);
}

static void lists_name_those_that_are_meant(void **state)
{
    (void)state;
    static sk_param_about about[SK_PARAM_MOST];
    sk_msg_text names[SK_PARAM_MOST + UNKNOWN];
    const size_t n = all_names(names, about);
    sk_msg_list_parameters asked = {0};
    sk_msg_list_parameters_response got;
    ask(SK_PARAM_LIST, &sk_msg_list_parameters_request_layout, &asked,
        &sk_msg_list_parameters_response_layout, &got);
    assert_int_equal(got.result.names.count, n);
    for (size_t i = 0; i < n; i++)
        assert_true(sk_msg_text_is(got.result.names.items[i], about[i].row.name));
    const sk_msg_text some[] = {sk_msg_text_of("frame_skip"), sk_msg_text_of("no_such"),
                                sk_msg_text_of("frame")};
    asked = (sk_msg_list_parameters){.prefixes = {some, 3}};
    ask(SK_PARAM_LIST, &sk_msg_list_parameters_request_layout, &asked,
        &sk_msg_list_parameters_response_layout, &got);
    assert_int_equal(got.result.names.count, 1);
    assert_true(sk_msg_text_is(got.result.names.items[0], "frame_skip"));
}

/* One by one: what is right counts, what is wrong is told with its reason. */
static void changes_count_one_by_one(void **state)
{
    (void)state;
    const int64_t classes[] = {7};
    const sk_msg_parameter wishes[] = {
        {.name = sk_msg_text_of("frame_skip"), .value = {.type = SK_NODE_INT, .integer_value = 7}},
        {.name = sk_msg_text_of("no_such"), .value = {.type = SK_NODE_INT, .integer_value = 7}},
        {.name = sk_msg_text_of("confidence_threshold"),
         .value = {.type = SK_NODE_DOUBLE, .double_value = 7}},
        {.name = sk_msg_text_of("classes"),
         .value = {.type = SK_NODE_INTS, .integer_array_value = {classes, 1}}},
        {.name = sk_msg_text_of("input_topic"),
         .value = {.type = SK_NODE_TEXT, .string_value = sk_msg_text_of("/b")}}};
    const sk_msg_parameters asked = {.parameters = {wishes, 5}};
    sk_msg_set_parameters_results got;
    ask(SK_PARAM_SET, &sk_msg_set_parameters_request_layout, &asked, &sk_msg_set_parameters_response_layout,
        &got);
    assert_int_equal(got.results.count, 5);
    assert_true(got.results.items[0].successful && got.results.items[0].reason.length == 0);
    assert_false(got.results.items[1].successful);
    assert_non_null(strstr(got.results.items[1].reason.data, "no parameter 'no_such'"));
    assert_false(got.results.items[2].successful);
    assert_non_null(strstr(got.results.items[2].reason.data, "from 0 to 1"));
    assert_true(got.results.items[3].successful);
    assert_false(got.results.items[4].successful); /* what the node was started with */
    assert_non_null(strstr(got.results.items[4].reason.data, "start it anew"));
    assert_int_equal(applied, 1);
    assert_int_equal(n_changed, 2);
    assert_int_equal(changed[0], sk_params_find(params, "frame_skip"));
    assert_int_equal(changed[1], sk_params_find(params, "classes"));
    assert_int_equal(sk_params_number(params, "frame_skip"), 7);
}

/* What the core refuses is what it was, and whoever asked is told. */
static void changes_that_are_refused_are_taken_back(void **state)
{
    (void)state;
    const sk_msg_parameter wishes[] = {
        {.name = sk_msg_text_of("frame_skip"), .value = {.type = SK_NODE_INT, .integer_value = 7}},
        {.name = sk_msg_text_of("no_such"), .value = {.type = SK_NODE_INT, .integer_value = 7}}};
    const sk_msg_parameters asked = {.parameters = {wishes, 2}}, one = {.parameters = {wishes, 1}},
                            none = {{0}};
    sk_msg_set_parameters_results got;
    sk_msg_set_atomically_result whole;
    refuse = true;
    ask(SK_PARAM_SET, &sk_msg_set_parameters_request_layout, &asked, &sk_msg_set_parameters_response_layout,
        &got);
    assert_false(got.results.items[0].successful);
    assert_non_null(strstr(got.results.items[0].reason.data, "the core would not have it"));
    assert_non_null(strstr(got.results.items[1].reason.data, "no_such"));
    assert_int_equal(n_changed, 0);
    assert_int_equal(sk_params_number(params, "frame_skip"), 0);
    ask(SK_PARAM_SET_ATOMICALLY, &sk_msg_set_atomically_request_layout, &one,
        &sk_msg_set_atomically_response_layout, &whole);
    assert_false(whole.result.successful);
    assert_int_equal(applied, 2);
    refuse = false;
    ask(SK_PARAM_SET_ATOMICALLY, &sk_msg_set_atomically_request_layout, &one,
        &sk_msg_set_atomically_response_layout, &whole);
    assert_true(whole.result.successful);
    assert_int_equal(n_changed, 1);
    assert_int_equal(sk_params_number(params, "frame_skip"), 7);
    ask(SK_PARAM_SET_ATOMICALLY, &sk_msg_set_atomically_request_layout, &asked,
        &sk_msg_set_atomically_response_layout, &whole);
    assert_false(whole.result.successful);
    assert_non_null(strstr(whole.result.reason.data, "no_such"));
    assert_int_equal(applied, 3); /* together or not at all */
    ask(SK_PARAM_SET_ATOMICALLY, &sk_msg_set_atomically_request_layout, &none,
        &sk_msg_set_atomically_response_layout, &whole);
    assert_true(whole.result.successful);
    assert_int_equal(applied, 3);
}

static void bytes_that_are_no_request(void **state)
{
    (void)state;
    const sk_param_owner owner = {params, apply, NULL};
    sk_error err = {0};
    sk_cdr_writer_begin(&request);
    sk_cdr_put_u64(&request, 1);
    sk_cdr_put_i64(&request, 2);
    const size_t empty = request.length;
    for (int service = 0; service < SK_PARAM_SERVICES; service++)
        for (size_t cut = 0; cut <= empty; cut++)
            assert_int_not_equal(sk_param_answer(&owner, (sk_param_service)service, request.data, cut,
                                                 &replies[0], changed, &n_changed, &err),
                                 SK_OK);
    assert_int_equal(sk_param_answer(&owner, SK_PARAM_SERVICES, request.data, empty, &replies[0], changed,
                                     &n_changed, &err),
                     SK_ERR_ARG);
}

/* --- names --- */

static void names_of_topics(void **state)
{
    (void)state;
    char longest[210];
    memset(longest, 'a', sizeof longest);
    longest[200] = '\0';
    assert_true(sk_ros_topic_name(longest));
    longest[200] = 'a', longest[201] = '\0';
    assert_false(sk_ros_topic_name(longest));
    static const char *const good[] = {"a", "/a", "~/a", "a/b_c", "_a", "/a/_b9", "A1"};
    static const char *const bad[] = {"",   "/",   "~",    "~/",  "~a",  "1a",  "a//b",
                                      "a/", "a/1", "a__b", "a-b", "a b", "a/b/"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!sk_ros_topic_name(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sk_ros_topic_name(bad[i]))
            fail_msg("%s is taken", bad[i]);
    static const struct {
        const char *package, *why;
    } packages[] = {
        {"a", "too short"}, {"ab", NULL}, {"int", "C++"}, {"lambda", "Python"}, {"fly_watch", NULL}};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        char why[200] = "";
        assert_int_equal(sk_ros_package_name(packages[i].package, why, sizeof why), !packages[i].why);
        if (packages[i].why)
            assert_non_null(strstr(why, packages[i].why));
    }
}

static void package_names_are_mended(void **state)
{
    (void)state;
    static const struct {
        const char *name, *mended; /* null: nothing is proposed */
    } cases[] = {{"Fly Watch", "'fly_watch'"},
                 {"9abc", "'abc'"},
                 {"__a__b__", "'a_b'"},
                 {"a_", NULL},
                 {"!!", NULL},
                 {"int!", NULL},
                 {"x9-Y", "'x9_y'"},
                 {"ab_", "'ab'"},
                 {"_ab", "'ab'"},
                 {"", NULL},
                 {"ABC", "'abc'"},
                 {"a__b", "'a_b'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[300] = "", expected[100];
        assert_false(sk_ros_package_name(cases[i].name, why, sizeof why));
        assert_non_null(strstr(why, "lower-case letters"));
        snprintf(expected, sizeof expected, ": try %s", cases[i].mended ? cases[i].mended : "");
        if (cases[i].mended ? !strstr(why, expected) : strstr(why, "try") != NULL)
            fail_msg("%s: %s", cases[i].name, why);
    }
    char name[100], why[300];
    memset(name, 'a', sizeof name);
    name[80] = '\0';
    assert_true(sk_ros_package_name(name, why, sizeof why));
    name[80] = 'a', name[81] = '\0';
    assert_false(sk_ros_package_name(name, why, sizeof why));
    assert_non_null(strstr(why, "longer than 80"));
    name[0] = 'A', name[81] = 'a', name[99] = '\0'; /* mended it is as long as it may be */
    assert_false(sk_ros_package_name(name, why, sizeof why));
    const char *mended = strstr(why, "try '");
    assert_non_null(mended);
    assert_int_equal(strspn(mended + 5, "a"), 80);
    static const char *const reserved[] = {"class", "import", "test", "rclcpp"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        assert_false(sk_ros_package_name(reserved[i], why, sizeof why));
}

/* As Python prints a list of texts. */
static void lists_are_written_as_python_has_them(void **state)
{
    (void)state;
    static const char *const items[] = {"a", "it's", "a\"b", "both '\"", "back\\slash"};
    sk_text text = {0};
    sk_ros_append_list(&text, items, 5);
    assert_string_equal(sk_text_get(&text), "['a', \"it's\", 'a\"b', 'both \\'\"', 'back\\\\slash']");
    sk_text_clear(&text);
    sk_ros_append_list(&text, items, 0);
    assert_string_equal(sk_text_get(&text), "[]");
    sk_text_free(&text);
}

static void files_are_named_in_what_is_wrong(void **state)
{
    (void)state;
    char path[4200];
    sk_error err = {0};
    sk_ros_names names;
    sk_problems problems = {0};
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    snprintf(path, sizeof path, "%s/bad.yaml", test_folder());
    static const char *const texts[] = {"- a\n", "/left/eye: 3\n"};
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_file_put(path, texts[i], strlen(texts[i]), &err), &err);
        err = (sk_error){0};
        assert_int_equal(sk_params_read_file(params, path, &names, &problems, &err), SK_ERR_FORMAT);
        assert_int_equal(strncmp(err.message, path, strlen(path)), 0);
    }
    sk_problems_free(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_of_them_are_told, begin, end),
        cmocka_unit_test_setup_teardown(lists_name_those_that_are_meant, begin, end),
        cmocka_unit_test_setup_teardown(changes_count_one_by_one, begin, end),
        cmocka_unit_test_setup_teardown(changes_that_are_refused_are_taken_back, begin, end),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_request, begin, end),
        cmocka_unit_test_setup_teardown(files_are_named_in_what_is_wrong, begin, end),
        cmocka_unit_test(names_of_topics),
        cmocka_unit_test(package_names_are_mended),
        cmocka_unit_test(lists_are_written_as_python_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
