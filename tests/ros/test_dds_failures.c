/* SPDX-License-Identifier: Apache-2.0 */
/* A DDS library that refuses: every call that can fail does once; the answer names it, and whatever was made before is unmade. */
#include "own_network.h"
#include "support/test.h"

#include "base/text.h"
#include "ros/dds.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_dds_library real;

/* --- a library of numbers --- */

enum { MOST = 64 };
static int next_entity, fails_at, calls, qualities;
static sk_dds_entity open_entities[MOST];
static int n_open;

/* The next entity, or no entity. */
static sk_dds_entity make(void)
{
    if (++calls == fails_at)
        return -3;
    return open_entities[n_open++] = ++next_entity;
}

static sk_dds_entity make_domain(uint32_t domain, const char *configuration)
{
    assert_true(domain == 5 && strcmp(configuration, "<x/>") == 0);
    return make();
}

static sk_dds_entity make_participant(uint32_t domain, const sk_dds_qos *qos, const void *listener)
{
    (void)listener;
    assert_true(domain == 5 && qos);
    return make();
}

static sk_dds_entity make_of(sk_dds_entity parent)
{
    assert_true(parent > 0);
    return make();
}

static sk_dds_entity make_topic(sk_dds_entity participant, const sk_dds_descriptor *descriptor,
                                const char *name, const sk_dds_qos *qos, const void *listener)
{
    (void)participant, (void)qos, (void)listener;
    assert_true(descriptor->n_ops > 0 && descriptor->ops && strcmp(name, "rt/x") == 0);
    return make();
}

static sk_dds_entity make_end(sk_dds_entity participant, sk_dds_entity topic, const sk_dds_qos *qos,
                              const void *listener)
{
    (void)participant, (void)listener;
    assert_true(topic > 0 && qos);
    return make();
}

static sk_dds_entity make_condition(sk_dds_entity reader, uint32_t mask)
{
    assert_true(reader > 0 && mask == SK_DDS_ANY_STATE);
    return make();
}

static int32_t attach(sk_dds_entity set, sk_dds_entity entity, intptr_t tag)
{
    (void)tag;
    assert_true(set > 0 && entity > 0);
    return ++calls == fails_at ? -4 : 0;
}

static int32_t unmake(sk_dds_entity entity)
{
    for (int i = 0; i < n_open; i++)
        if (open_entities[i] == entity) {
            open_entities[i] = open_entities[--n_open];
            return 0;
        }
    fail_msg("%d is not there", entity);
    return -1;
}

static sk_dds_qos *make_quality(void)
{
    qualities++;
    return real.dds_create_qos();
}

static void unmake_quality(sk_dds_qos *qos)
{
    qualities--;
    real.dds_delete_qos(qos);
}

static const char *word_of(int32_t code)
{
    return code == -3 ? "not made" : code == -4 ? "not attached" : "something else";
}

static void begin_failing(int at)
{
    fails_at = at;
    calls = n_open = qualities = 0;
    next_entity = 0;
    sk_dds.dds_create_domain = make_domain;
    sk_dds.dds_create_participant = make_participant;
    sk_dds.dds_create_waitset = make_of;
    sk_dds.dds_create_guardcondition = make_of;
    sk_dds.dds_create_topic = make_topic;
    sk_dds.dds_create_reader = make_end;
    sk_dds.dds_create_writer = make_end;
    sk_dds.dds_create_readcondition = make_condition;
    sk_dds.dds_waitset_attach = attach;
    sk_dds.dds_delete = unmake;
    sk_dds.dds_create_qos = make_quality;
    sk_dds.dds_delete_qos = unmake_quality;
    sk_dds.dds_strretcode = word_of;
}

static int load(void **state)
{
    (void)state;
    if (sk_dds_load(&err) != SK_OK) {
        print_message("skipped: %s\n", err.message);
        return 0;
    }
    real = sk_dds;
    return 0;
}

static int unload(void **state)
{
    (void)state;
    if (real.dds_write)
        sk_dds = real;
    return 0;
}

#define NEEDS_LIBRARY                                                                                        \
    if (!real.dds_write)                                                                                     \
    skip()

static void participants(void **state)
{
    (void)state;
    NEEDS_LIBRARY;
    static const struct {
        const char *words;
        int left; /* what goes with the participant: it ends its children itself */
    } steps[] = {
        {"DDS: no participant in domain 5: not made. CYCLONEDDS_URI, where it is set, must be a "
         "configuration that Cyclone DDS reads, with a network interface of this machine; domains go "
         "from 0 to 232",
         0},
        {"DDS: no participant in domain 5: not made", 0},
        {"DDS: waiting: not made", 1}, /* the guard, which is made all the same */
        {"DDS: waiting: not made", 1},
        {"DDS: waiting: not attached", 2},
        {NULL, 2}};
    for (int i = 0; i < 6; i++) {
        sk_participant *p = NULL;
        begin_failing(i + 1);
        const sk_status status = sk_participant_open(5, "<x/>", "enclave=/;", &p, &err);
        assert_int_equal(qualities, 0);
        if (steps[i].words) {
            assert_int_equal(status, SK_ERR_IO);
            assert_int_equal(strncmp(err.message, steps[i].words, strlen(steps[i].words)), 0);
            assert_null(p);
        } else {
            assert_ok(status, &err);
            assert_int_equal(sk_participant_entity(p), 2);
            assert_int_equal(n_open, 4);
            sk_participant_close(&p);
            assert_null(p);
        }
        assert_int_equal(n_open, steps[i].left);
        sk_participant_close(&p);
    }
    sk_dds = real;
}

static void both_ends(void **state)
{
    (void)state;
    NEEDS_LIBRARY;
    const sk_dds_quality quality = {.reliable = true, .depth = 4};
    static const char *const words[2][4] = {
        {"DDS: topic rt/x of type std_msgs::msg::dds_::Header_: not made", "DDS: rt/x: not made"},
        {"DDS: topic rt/x of type std_msgs::msg::dds_::Header_: not made", "DDS: rt/x: not made",
         "DDS: rt/x: not made", "DDS: rt/x: not attached"}};
    sk_dds_type type = {0};
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", NULL, &type, &err), &err);
    for (int reading = 0; reading < 2; reading++)
        for (int i = 0; i < (reading ? 5 : 3); i++) {
            sk_participant *p = NULL;
            sk_publisher *out = NULL;
            sk_subscriber *in = NULL;
            begin_failing(0);
            assert_ok(sk_participant_open(5, NULL, "", &p, &err), &err);
            const int before = n_open;
            fails_at = calls + i + 1;
            const sk_status status =
                reading ? sk_subscriber_open(p, "rt/x", &type, &quality, "", false, &in, &err)
                        : sk_publisher_open(p, "rt/x", &type, &quality, "", &out, &err);
            assert_int_equal(qualities, 0);
            const bool good = i == (reading ? 4 : 2);
            if (good) {
                assert_ok(status, &err);
                sk_publisher_close(&out);
                sk_subscriber_close(&in);
            } else {
                assert_int_equal(status, SK_ERR_IO);
                assert_string_equal(err.message, words[reading][i]);
            }
            assert_true(!in && !out);
            assert_int_equal(n_open - before,
                             reading && i > 2 ? 1 : 0); /* a condition goes with its reader */
            n_open = before;
            sk_participant_close(&p);
            assert_int_equal(n_open, before - 1);
        }
    sk_dds_type_free(&type);
    sk_dds = real;
}

/* --- qualities --- */

static sk_text asked;

static void ask_data(sk_dds_qos *qos, const void *data, size_t bytes)
{
    (void)qos;
    sk_text_appendf(&asked, "data %.*s; ", (int)bytes, (const char *)data);
}

static void ask_history(sk_dds_qos *qos, int kind, int32_t depth)
{
    (void)qos;
    sk_text_appendf(&asked, "%s %d; ", kind == SK_DDS_KEEP_ALL ? "all" : "last", depth);
}

static void ask_reliability(sk_dds_qos *qos, int kind, int64_t ns)
{
    (void)qos;
    sk_text_appendf(&asked, "%s %lld ns; ", kind == SK_DDS_RELIABLE ? "reliable" : "best effort",
                    ns == SK_DDS_NEVER ? -1 : (long long)ns);
}

static void ask_durability(sk_dds_qos *qos, int kind)
{
    (void)qos;
    sk_text_appendf(&asked, "%s; ", kind == SK_DDS_TRANSIENT_LOCAL ? "kept" : "volatile");
}

static void ask_service(sk_dds_qos *qos, int64_t delay, int history, int32_t depth, int32_t samples,
                        int32_t instances, int32_t each)
{
    (void)qos;
    sk_text_appendf(&asked, "service %lld %s %d %d %d %d; ", (long long)delay,
                    history == SK_DDS_KEEP_ALL ? "all" : "last", depth, samples, instances, each);
}

static void ask_limits(sk_dds_qos *qos, int32_t samples, int32_t instances, int32_t each)
{
    (void)qos;
    sk_text_appendf(&asked, "limits %d %d %d; ", samples, instances, each);
}

static void ask_lifecycle(sk_dds_qos *qos, bool dispose)
{
    (void)qos;
    sk_text_appendf(&asked, "disposes %d; ", dispose);
}

static void ask_ignore(sk_dds_qos *qos, int kind)
{
    (void)qos;
    assert_int_equal(kind, SK_DDS_IGNORELOCAL_PARTICIPANT);
    sk_text_append(&asked, "not its own; ");
}

static void ask_bytes(sk_dds_qos *qos, uint32_t count, const int16_t *values)
{
    (void)qos;
    assert_true(count == 1 && values[0] == SK_DDS_XCDR1);
}

/* What is asked of the library for each quality, to the last number; -1 is as many as there may be, or for ever. */
static void qualities_in_full(void **state)
{
    (void)state;
    NEEDS_LIBRARY;
    static const struct {
        sk_dds_quality quality;
        const char *words;
    } rows[] = {
        {{.depth = 3}, "disposes 0; last 3; best effort 0 ns; volatile; "},
        {{.reliable = true, .depth = 10}, "disposes 0; last 10; reliable 100000000 ns; volatile; "},
        {{.reliable = true, .transient_local = true, .depth = 5},
         "disposes 0; last 5; reliable 100000000 ns; kept; service 0 last 5 -1 -1 -1; "},
        {{.reliable = true, .every = true, .depth = 64},
         "disposes 0; all 64; limits 64 -1 -1; reliable -1 ns; volatile; "},
    };
    sk_dds_type type = {0};
    sk_participant *p = NULL;
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", NULL, &type, &err), &err);
    begin_failing(0);
    assert_ok(sk_participant_open(5, NULL, "", &p, &err), &err);
    sk_dds.dds_qset_userdata = ask_data;
    sk_dds.dds_qset_history = ask_history;
    sk_dds.dds_qset_reliability = ask_reliability;
    sk_dds.dds_qset_durability = ask_durability;
    sk_dds.dds_qset_durability_service = ask_service;
    sk_dds.dds_qset_resource_limits = ask_limits;
    sk_dds.dds_qset_writer_data_lifecycle = ask_lifecycle;
    sk_dds.dds_qset_ignorelocal = ask_ignore;
    sk_dds.dds_qset_data_representation = ask_bytes;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_publisher *out = NULL;
        sk_subscriber *in = NULL;
        sk_text_clear(&asked);
        assert_ok(sk_publisher_open(p, "rt/x", &type, &rows[i].quality, NULL, &out, &err), &err);
        assert_string_equal(sk_text_get(&asked), rows[i].words);
        sk_text wanted = {0};
        sk_text_appendf(&wanted, "%snot its own; data hash; ", rows[i].words);
        sk_text_clear(&asked);
        assert_ok(sk_subscriber_open(p, "rt/x", &type, &rows[i].quality, "hash", true, &in, &err), &err);
        assert_string_equal(sk_text_get(&asked), sk_text_get(&wanted));
        sk_text_free(&wanted);
        sk_publisher_close(&out);
        sk_subscriber_close(&in);
    }
    sk_participant_close(&p);
    sk_dds_type_free(&type);
    sk_text_free(&asked);
    sk_dds = real;
}

/* --- what is asked of ends --- */

static int32_t answer;
static sk_dds_matched matched;
static sk_dds_incompatible incompatible;

static int32_t tell_matched(sk_dds_entity end, sk_dds_matched *out)
{
    (void)end;
    *out = matched;
    return answer;
}

static int32_t tell_incompatible(sk_dds_entity end, sk_dds_incompatible *out)
{
    (void)end;
    *out = incompatible;
    return answer;
}

static int32_t write_nothing(sk_dds_entity writer, const void *sample)
{
    (void)writer;
    assert_non_null(sample);
    return answer;
}

static void what_ends_say(void **state)
{
    (void)state;
    NEEDS_LIBRARY;
    const sk_dds_quality quality = {.reliable = true, .depth = 4};
    sk_dds_type type = {0};
    sk_participant *p = NULL;
    sk_publisher *out = NULL;
    sk_subscriber *in = NULL;
    begin_failing(0);
    sk_dds.dds_get_publication_matched_status = tell_matched;
    sk_dds.dds_get_subscription_matched_status = tell_matched;
    sk_dds.dds_get_requested_incompatible_qos_status = tell_incompatible;
    sk_dds.dds_get_offered_incompatible_qos_status = tell_incompatible;
    sk_dds.dds_write = write_nothing;
    assert_ok(sk_dds_type_make("std_msgs/msg/Header", NULL, &type, &err), &err);
    assert_ok(sk_participant_open(5, NULL, "", &p, &err), &err);
    assert_ok(sk_publisher_open(p, "rt/x", &type, &quality, "", &out, &err), &err);
    assert_ok(sk_subscriber_open(p, "rt/x", &type, &quality, "", false, &in, &err), &err);
    matched = (sk_dds_matched){.total_count = 9, .current_count = 3};
    for (answer = -1; answer <= 1; answer++) {
        assert_int_equal(sk_publisher_listeners(out), answer < 0 ? 0 : 3);
        assert_int_equal(sk_subscriber_speakers(in), answer < 0 ? 0 : 3);
    }
    static const struct {
        int32_t change;
        uint32_t policy;
        const char *words;
    } rows[] = {{1, SK_DDS_POLICY_RELIABILITY, "reliability"},
                {2, SK_DDS_POLICY_DURABILITY, "durability"},
                {1, 99, "another quality of service"},
                {0, SK_DDS_POLICY_RELIABILITY, NULL},
                {-1, SK_DDS_POLICY_RELIABILITY, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (answer = -1; answer <= 1; answer++) {
            incompatible =
                (sk_dds_incompatible){.total_count_change = rows[i].change, .last_policy_id = rows[i].policy};
            const char *const told[2] = {sk_publisher_refused(out), sk_subscriber_refused(in)};
            for (int k = 0; k < 2; k++)
                if (answer < 0 || !rows[i].words)
                    assert_null(told[k]);
                else
                    assert_string_equal(told[k], rows[i].words);
        }
    static const uint8_t header[] = {0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
    answer = 0;
    assert_ok(sk_publisher_write(out, header, sizeof header, &err), &err);
    answer = SK_DDS_TIMEOUT;
    assert_int_equal(sk_publisher_write(out, header, sizeof header, &err), SK_ERR_TIMEOUT);
    assert_string_equal(err.message, "rt/x: a subscriber takes nothing, and has lost a message");
    answer = -1;
    assert_int_equal(sk_publisher_write(out, header, sizeof header, &err), SK_ERR_IO);
    assert_string_equal(err.message, "DDS: rt/x: something else");
    sk_subscriber_close(&in);
    sk_publisher_close(&out);
    sk_participant_close(&p);
    sk_dds_type_free(&type);
    sk_dds = real;
}

int main(void)
{
    keep_to_this_machine();
    const struct CMUnitTest tests[] = {cmocka_unit_test(participants), cmocka_unit_test(both_ends),
                                       cmocka_unit_test(qualities_in_full), cmocka_unit_test(what_ends_say)};
    return cmocka_run_group_tests(tests, load, unload);
}
