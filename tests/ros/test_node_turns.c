/* SPDX-License-Identifier: Apache-2.0 */
/* A node's turns, one by one: which ends it opens and how, when it says how it is, and of whom it says that nothing comes from them. */
#include "node_turns.h"

/* --- ends --- */

static void every_end_has_its_quality(void **state)
{
    (void)state;
    sk_ros_node_report report;
#define SERVICE(name)                                                                                        \
    "< rq/left/eye/" name "Request last 1000 reliable\n> rr/left/eye/" name "Reply last 1000 reliable\n"
#define SERVICES                                                                                             \
    SERVICE("describe_parameters")                                                                           \
    SERVICE("get_parameter_types")                                                                           \
    SERVICE("get_parameters")                                                                                \
    SERVICE("list_parameters")                                                                               \
    SERVICE("set_parameters")                                                                                \
    SERVICE("set_parameters_atomically") "> rt/parameter_events last 1000 reliable\n"
    static const struct {
        wish wish;
        const char *asked, *hello;
    } rows[] = {
        {{.head = "Pose",
          .rules = {"qos_reliability:=reliable", "qos_durability:=transient_local", "qos_depth:=7",
                    "input_topic:=image"},
          .track = true,
          .turns = 1},
         "> ros_discovery_info last 1 reliable kept\n> rt/rosout last 1000 reliable kept\n"
         "> rt/left/eye/detections all 64 reliable\n> rt/left/eye/keypoints all 64 reliable\n"
         "> rt/left/eye/tracks all 64 reliable\n> rt/left/eye/annotated last 10 reliable\n"
         "> rt/diagnostics last 10 reliable\n< rt/left/image all 7 reliable kept\n" SERVICES,
         "20 /left/eye is active on domain 3: /left/image -> /left/eye/detections; "},
        {{.head = "Detect",
          .rules = {"input_transport:=compressed", "input_topic:=/image", "qos_depth:=2"},
          .turns = 1},
         "> ros_discovery_info last 1 reliable kept\n> rt/rosout last 1000 reliable kept\n"
         "> rt/left/eye/detections last 10 reliable\n> rt/left/eye/annotated last 10 reliable\n"
         "> rt/diagnostics last 10 reliable\n< rt/image/compressed last 2 best effort\n" SERVICES,
         "20 /left/eye is active on domain 3: /image/compressed -> /left/eye/detections; "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!numbered_begin())
            skip();
        assert_ok(run(&rows[i].wish, &report), &err);
        assert_string_equal(sk_text_get(&asked), rows[i].asked);
        assert_int_equal(strncmp(said, rows[i].hello, strlen(rows[i].hello)), 0);
        expect_said(i == 0 ? " on cpu (" : "turns.pt on cpu (");
        expect_said(i == 0 ? "), every image (reliable)\n" : "), the newest image (best effort)\n");
        assert_int_equal(numbered_wrote("ros_discovery_info"), 2); /* that it is there, and that it goes */
        assert_int_equal(numbered_wrote("rosout"), 1);
        assert_true(report.received == 0 && report.published == 0 && report.failed == 0);
        assert_false(report.left_behind);
        numbered_end_of_it();
    }
}

/* --- how it is --- */

static int told[8];

/* A period is over when it is over, to the nanosecond. */
static void pass_time(int turn)
{
    static const int64_t times[] = {1000 * SECOND, 1000 * SECOND + 2499999999, 1002 * SECOND + 500000000,
                                    1005 * SECOND, 1005 * SECOND + 1};
    told[turn - 1] = numbered_wrote("rt/diagnostics");
    if (turn <= 5)
        now_ns = times[turn - 1];
}

static void diagnoses_come_by_the_clock(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=2.5"}, .turns = 6, .on_turn = pass_time}, &report),
              &err);
    static const int wanted[] = {0, 1, 1, 2, 3, 3};
    for (int i = 0; i < 6; i++)
        assert_int_equal(told[i], wanted[i]);
    assert_int_equal(strncmp(last_facts, "0 eye: inference\n", 17), 0);
    assert_non_null(strstr(last_facts, "\nmessages replaced by newer ones=0\nresults published=0\n"));
    assert_null(strstr(last_facts, "node ms"));
    numbered_end_of_it();
    assert_true(numbered_begin());
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=0.0"}, .turns = 6, .on_turn = pass_time}, &report),
              &err);
    assert_int_equal(numbered_wrote("rt/diagnostics"), 0);
    numbered_end_of_it();
}

static void refuse(int turn)
{
    static const uint32_t policies[] = {SK_DDS_POLICY_RELIABILITY, SK_DDS_POLICY_DURABILITY, 77};
    now_ns = (1000 + turn) * SECOND;
    if (turn <= 3)
        refused_in = (sk_dds_incompatible){.total_count_change = 1, .last_policy_id = policies[turn - 1]};
    else if (turn == 4)
        refused_out =
            (sk_dds_incompatible){.total_count_change = 1, .last_policy_id = SK_DDS_POLICY_DURABILITY};
}

/* Who offers less than is asked for, or asks for more than is offered, is told of once each. */
static void refusals_are_told(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=1.0", "input_topic:=/image"},
                          .turns = 6,
                          .on_turn = refuse},
                  &report),
              &err);
    static const char rest[] = "asks for, so nothing comes from it; qos_reliability:=best_effort and "
                               "qos_durability:=volatile take what anybody offers\n";
    char wanted[2048];
    snprintf(wanted, sizeof wanted,
             "30 a publisher of /image offers another reliability than qos_reliability %s"
             "30 a publisher of /image offers another durability than qos_durability %s"
             "30 a publisher of /image offers another another quality of service than qos_reliability %s"
             "30 a subscriber of ~/detections asks for another durability than the node offers (reliable, "
             "volatile)\n",
             rest, rest, rest);
    assert_string_equal(strchr(said, '\n') + 1, wanted);
    assert_int_equal(numbered_wrote("rosout"), 5);
    numbered_end_of_it();
}

static int32_t break_diagnoses(const char *topic, const void *sample)
{
    (void)sample;
    return strcmp(topic, "rt/diagnostics") == 0 ? -7 : 0;
}

static void pass_seconds(int turn)
{
    now_ns = (1000 + turn) * SECOND;
}

/* Nobody who only listens ends the node. */
static void diagnoses_that_fail_end_nothing(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=1.0"},
                          .turns = 3,
                          .on_turn = pass_seconds,
                          .on_write = break_diagnoses},
                  &report),
              &err);
    assert_int_equal(numbered_wrote("rt/diagnostics"), 3);
    assert_string_equal(strchr(said, '\n') + 1, "30 DDS: rt/diagnostics: it is broken\n");
    numbered_end_of_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_has_its_quality), cmocka_unit_test(diagnoses_come_by_the_clock),
        cmocka_unit_test(refusals_are_told), cmocka_unit_test(diagnoses_that_fail_end_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
