/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "ros/discovery.h"
#include "ros/names.h"

static sk_ros_names named(const char *node, const char *space)
{
    sk_ros_names names;
    sk_error err = {0};
    assert_ok(sk_ros_names_init(&names, node, space, &err), &err);
    return names;
}

static void expect(const sk_ros_names *names, const char *name, const char *whole)
{
    char out[SK_ROS_NAME];
    sk_error err = {0};
    assert_ok(sk_ros_names_resolve(names, name, out, &err), &err);
    assert_string_equal(out, whole);
}

static void names_become_whole(void **state)
{
    (void)state;
    sk_ros_names names = named("skitter", "/");
    expect(&names, "/camera/image_raw", "/camera/image_raw");
    expect(&names, "image", "/image");
    expect(&names, "~/detections", "/skitter/detections");
    names = named("eye", "robot/left");
    expect(&names, "/camera/image_raw", "/camera/image_raw");
    expect(&names, "image", "/robot/left/image");
    expect(&names, "~/detections", "/robot/left/eye/detections");
    char whole[2 * SK_ROS_NAME];
    sk_ros_names_whole(&names, whole);
    assert_string_equal(whole, "/robot/left/eye");
}

static void remappings_are_compared_as_whole_names(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_ros_names names = named("skitter", "/");
    assert_ok(sk_ros_names_remap(&names, "__node:=eye", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "__ns:=/left", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "/camera/image_raw:=cam", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "~/detections:=/found", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "other:~/keypoints:=/not_mine", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "eye:~/tracks:=/mine", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "rostopic:///depth:=/far", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "eye:rostopic://sharp:=/near", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "ear:rostopic://loud:=/near", &err), &err);
    expect(&names, "/camera/image_raw", "/left/cam");
    expect(&names, "~/detections", "/found");
    expect(&names, "~/keypoints", "/left/eye/keypoints");
    expect(&names, "~/tracks", "/mine");
    expect(&names, "/depth", "/far");
    expect(&names, "sharp", "/near");
    expect(&names, "loud", "/left/loud");
}

static void what_ros_would_not_take_is_refused(void **state)
{
    (void)state;
    static const char *const nodes[] = {"", "2d", "a-b", "a b", "a/b", "ä"};
    static const char *const topics[] = {"", "/", "//a", "/a/", "/a//b", "/2d", "a-b", "/a__b", "~"};
    static const char *const rules[] = {"a", ":=b", "a:=", "__node:=a b", "__ns:=/a-b"};
    char out[SK_ROS_NAME];
    sk_error err = {0};
    sk_ros_names names;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        assert_int_equal(sk_ros_names_init(&names, nodes[i], "/", &err), SK_ERR_ARG);
    assert_int_equal(sk_ros_names_init(&names, "a", "/x y", &err), SK_ERR_ARG);
    names = named("skitter", "/");
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        assert_int_equal(sk_ros_names_resolve(&names, topics[i], out, &err), SK_ERR_ARG);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_int_equal(sk_ros_names_remap(&names, rules[i], &err), SK_ERR_ARG);
    char long_name[2 * SK_ROS_NAME];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(sk_ros_names_resolve(&names, long_name, out, &err), SK_ERR_ARG);
}

static void patterns_of_files(void **state)
{
    (void)state;
    const sk_ros_names names = named("eye", "/robot/left");
    static const char *const meant[] = {"/**",         "/robot/left/eye", "robot/left/eye", "/**/eye",
                                        "/*/left/eye", "/robot/**",       "/robot/*/eye",   "**/eye"};
    static const char *const others[] = {"eye",    "/*", "/robot/left", "/robot/left/eye/x", "/**/ear",
                                         "/*/eye", ""};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        assert_true(sk_ros_names_meant(&names, meant[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(sk_ros_names_meant(&names, others[i]));
    const sk_ros_names plain = named("eye", "/");
    assert_true(sk_ros_names_meant(&plain, "eye"));
    assert_true(sk_ros_names_meant(&plain, "/*"));
}

static void expect_discovery(const char *range, const char *peers, const char *local, const char *part)
{
    sk_text text = {0};
    sk_error err = {0};
    unsetenv("ROS_AUTOMATIC_DISCOVERY_RANGE"), unsetenv("ROS_STATIC_PEERS"), unsetenv("ROS_LOCALHOST_ONLY");
    setenv("CYCLONEDDS_URI", "<last/>", 1);
    if (range)
        setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", range, 1);
    if (peers)
        setenv("ROS_STATIC_PEERS", peers, 1);
    if (local)
        setenv("ROS_LOCALHOST_ONLY", local, 1);
    const sk_status status = sk_ros_discovery(&text, &err);
    if (!part)
        assert_int_equal(status, SK_ERR_ARG);
    else if (status != SK_OK || !strstr(sk_text_get(&text), part) || !strstr(sk_text_get(&text), "<last/>"))
        fail_msg("'%s' is not in: %s", part, sk_text_get(&text));
    sk_text_free(&text);
}

static void variables_say_how_far_to_look(void **state)
{
    (void)state;
    expect_discovery(NULL, NULL, NULL, "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex></Discovery>");
    expect_discovery("subnet", "10.0.0.2;robot.local", NULL,
                     "<Peers><Peer address=\"10.0.0.2\"/><Peer address=\"robot.local\"/></Peers>");
    expect_discovery("LOCALHOST", NULL, NULL, "<AllowMulticast>false</AllowMulticast>");
    expect_discovery(NULL, NULL, "1", "<Peers><Peer address=\"localhost\"/></Peers>");
    expect_discovery("OFF", "10.0.0.2", NULL, "<Tag>ros_discovery_off_");
    expect_discovery("SYSTEM_DEFAULT", NULL, NULL, "<last/>");
    expect_discovery("everywhere", NULL, NULL, NULL);
    expect_discovery(NULL, "a\"/><x", NULL, NULL);
}

/* image_transport's: a rule for the compressed topic itself, else one for the topic that it is a form of. */
static void other_forms_of_a_topic(void **state)
{
    static const struct {
        const char *rules[2], *topic, *whole;
    } cases[] = {{{NULL}, "image", "/left/image/compressed"},
                 {{"image:=/usb/image"}, "image", "/usb/image/compressed"},
                 {{"/left/image:=/usb/image"}, "image", "/usb/image/compressed"},
                 {{"image/compressed:=/x/packed"}, "image", "/x/packed"},
                 {{"image:=/usb/image", "image/compressed:=/x/packed"}, "image", "/x/packed"},
                 {{"image:=/usb/image", "/usb/image/compressed:=/y"}, "image", "/y"},
                 {{"/a/b:=/c"}, "/a/b/compressed", "/a/b/compressed"},
                 {{"/a/b/compressed:=/c/d"}, "/a/b/compressed", "/c/d"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_ros_names names;
        char whole[SK_ROS_NAME];
        assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
        for (int k = 0; k < 2 && cases[i].rules[k]; k++)
            assert_ok(sk_ros_names_remap(&names, cases[i].rules[k], &err), &err);
        assert_ok(sk_ros_names_resolve_transport(&names, cases[i].topic, "compressed", whole, &err), &err);
        assert_string_equal(whole, cases[i].whole);
    }
    sk_error err = {0};
    sk_ros_names names;
    char whole[SK_ROS_NAME], name[SK_ROS_NAME] = "/";
    memset(name + 1, 'a', SK_ROS_NAME - 5);
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    assert_int_equal(sk_ros_names_resolve_transport(&names, name, "compressed", whole, &err), SK_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_forms_of_a_topic),
        cmocka_unit_test(names_become_whole),
        cmocka_unit_test(remappings_are_compared_as_whole_names),
        cmocka_unit_test(what_ros_would_not_take_is_refused),
        cmocka_unit_test(patterns_of_files),
        cmocka_unit_test(variables_say_how_far_to_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
