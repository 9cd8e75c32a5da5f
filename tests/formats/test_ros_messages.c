/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "formats/ros_messages.h"

#include <stdio.h>
#include <string.h>

/* As ROS 2 (Jazzy) publishes them: `ros2 topic info -v`, and the .json files of its packages. */
static const struct {
    const char *type, *hash;
} published[] = {
    {"builtin_interfaces/msg/Time",
     "RIHS01_b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"},
    {"std_msgs/msg/Header", "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"},
    {"std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
    {"sensor_msgs/msg/Image", "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"},
    {"sensor_msgs/msg/CompressedImage",
     "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a"},
    {"geometry_msgs/msg/PoseWithCovariance",
     "RIHS01_9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb"},
    {"diagnostic_msgs/msg/DiagnosticArray",
     "RIHS01_5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e"},
    {"rmw_dds_common/msg/ParticipantEntitiesInfo",
     "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"},
    {"rcl_interfaces/msg/ParameterDescriptor",
     "RIHS01_52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704"},
    {"rcl_interfaces/msg/ParameterEvent",
     "RIHS01_043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"},
    {"rcl_interfaces/msg/Log", "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"},
};
static const struct {
    const char *service, *hash;
} published_services[] = {
    {"rcl_interfaces/srv/ListParameters",
     "RIHS01_3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d"},
    {"rcl_interfaces/srv/GetParameters",
     "RIHS01_bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc"},
    {"rcl_interfaces/srv/GetParameterTypes",
     "RIHS01_da199c878688b3e530bdfe3ca8f74cb9fa0c303101e980a9e8f260e25e1c80ca"},
    {"rcl_interfaces/srv/SetParameters",
     "RIHS01_56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0"},
    {"rcl_interfaces/srv/SetParametersAtomically",
     "RIHS01_0e192ef259c07fc3c07a13191d27002222e65e00ccec653ca05e856f79285fcd"},
};

static void hashes_are_those_of_ros(void **state)
{
    (void)state;
    char hash[SK_MSG_HASH];
    sk_error err = {0};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const sk_msg_type *type = sk_msg_type_find(published[i].type);
        assert_non_null(type);
        assert_ok(sk_msg_type_hash(type, hash, &err), &err);
        assert_string_equal(hash, published[i].hash);
    }
    for (size_t i = 0; i < sizeof published_services / sizeof published_services[0]; i++) {
        assert_ok(sk_msg_service_hash(published_services[i].service, hash, &err), &err);
        assert_string_equal(hash, published_services[i].hash);
    }
    assert_int_equal(sk_msg_service_hash("my_package/srv/Unknown", hash, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "my_package/srv/Unknown_Request"));
}

/* Every type of the list is made of types of the list, and has a hash. */
static void every_type_is_whole(void **state)
{
    (void)state;
    const sk_msg_type *type;
    for (size_t i = 0; (type = sk_msg_type_at(i)); i++) {
        sk_error err = {0};
        char hash[SK_MSG_HASH];
        sk_msg_field fields[SK_MSG_FIELDS];
        assert_ok(sk_msg_type_hash(type, hash, &err), &err);
        assert_in_range(sk_msg_type_fields(type, fields), 1, SK_MSG_FIELDS - 1);
    }
}

static void names_of_types(void **state)
{
    (void)state;
    char buffer[SK_MSG_DDS_NAME];
    assert_string_equal(sk_msg_type_dds_name("sensor_msgs/msg/Image", buffer),
                        "sensor_msgs::msg::dds_::Image_");
    assert_string_equal(sk_msg_type_dds_name("rcl_interfaces/srv/GetParameters_Request", buffer),
                        "rcl_interfaces::srv::dds_::GetParameters_Request_");
    assert_ptr_equal(sk_msg_type_find("std_msgs/Header"), sk_msg_type_find("std_msgs/msg/Header"));
    assert_null(sk_msg_type_find("std_msgs/msg/Nothing"));
    assert_null(sk_msg_type_find("nothing"));
    sk_text text = {0};
    sk_msg_type_definition(sk_msg_type_find("sensor_msgs/msg/CompressedImage"), &text);
    char rule[82];
    memset(rule, '=', 80);
    strcpy(rule + 80, "\n");
    char expected[600];
    snprintf(expected, sizeof expected,
             "std_msgs/Header header\nstring format\nuint8[] data\n%sMSG: std_msgs/Header\n"
             "builtin_interfaces/Time stamp\nstring frame_id\n%sMSG: builtin_interfaces/Time\n"
             "int32 sec\nuint32 nanosec\n",
             rule, rule);
    assert_string_equal(sk_text_get(&text), expected);
    sk_text_free(&text);
}

/* The tables of members against the texts: the same names, kinds and forms, in order. */
static void check_layout(const sk_msg_layout *layout)
{
    const sk_msg_type *type = sk_msg_type_find(layout->type);
    sk_msg_field fields[SK_MSG_FIELDS];
    assert_non_null(type);
    assert_int_equal(sk_msg_type_fields(type, fields), layout->count);
    for (size_t i = 0; i < layout->count; i++) {
        const sk_msg_member *m = &layout->members[i];
        const bool many = m->form == SK_MSG_SEQUENCE || m->form == SK_MSG_BOUNDED_SEQUENCE;
        const bool text = m->kind == SK_MSG_STRING || m->kind == SK_MSG_BOUNDED_STRING;
        const size_t each = text                       ? sizeof(sk_msg_text)
                            : m->kind == SK_MSG_NESTED ? m->nested->bytes
                                                       : sk_msg_kind_bytes(m->kind);
        assert_string_equal(m->name, fields[i].name);
        assert_int_equal(m->kind, fields[i].kind);
        assert_int_equal(m->form, fields[i].form);
        assert_int_equal(m->capacity, fields[i].kind == SK_MSG_BOUNDED_STRING ? fields[i].text_capacity
                                                                              : fields[i].capacity);
        assert_int_equal(m->bytes, many                      ? sizeof(void *) + sizeof(size_t)
                                   : m->form == SK_MSG_ARRAY ? each * m->capacity
                                                             : each);
        if (m->kind == SK_MSG_NESTED) {
            assert_string_equal(m->nested->type, fields[i].nested);
            check_layout(m->nested);
        }
    }
}

static void layouts_are_the_texts(void **state)
{
    (void)state;
    const sk_msg_layout *layout;
    for (size_t i = 0; (layout = sk_msg_layout_at(i)); i++) {
        check_layout(layout);
        assert_ptr_equal(sk_msg_layout_find(layout->type), layout);
    }
    assert_null(sk_msg_layout_find("std_msgs/msg/Nothing"));
}

/* Bytes as PyPI's rosbags (and ROS 2 itself) writes them. */
static void string_and_header_byte_for_byte(void **state)
{
    (void)state;
    sk_cdr_writer writer = {0};
    sk_error err = {0};
    sk_msg_string hello = {.data = sk_msg_text_of("hello")};
    assert_ok(sk_msg_encode(&sk_msg_string_layout, &hello, &writer, &err), &err);
    static const uint8_t little[] = {0, 1, 0, 0, 6, 0, 0, 0, 'h', 'e', 'l', 'l', 'o', 0};
    assert_int_equal(writer.length, sizeof little);
    assert_memory_equal(writer.data, little, sizeof little);
    sk_cdr_writer_begin_swapped(&writer);
    sk_msg_put(&sk_msg_string_layout, &hello, &writer);
    static const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 6, 'h', 'e', 'l', 'l', 'o', 0};
    assert_memory_equal(writer.data, big, sizeof big);
    sk_msg_string back;
    assert_ok(sk_msg_decode(&sk_msg_string_layout, big, sizeof big, NULL, &back, &err), &err);
    assert_true(sk_msg_text_is(back.data, "hello"));
    assert_ptr_equal(back.data.data, big + 8); /* no copy */
    sk_cdr_writer_free(&writer);
}

static const uint8_t pixels[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static sk_msg_image made_image(void)
{
    return (sk_msg_image){.header = {{12, 500000000}, sk_msg_text_of("camera")},
                          .height = 2,
                          .width = 2,
                          .encoding = sk_msg_text_of("bgr8"),
                          .step = 6,
                          .data = {pixels, sizeof pixels}};
}

static void images_both_ways(void **state)
{
    (void)state;
    const sk_msg_image image = made_image();
    sk_cdr_writer writer = {0};
    for (int swapped = 0; swapped < 2; swapped++) {
        sk_error err = {0};
        sk_msg_image back;
        swapped ? sk_cdr_writer_begin_swapped(&writer) : sk_cdr_writer_begin(&writer);
        sk_msg_put(&sk_msg_image_layout, &image, &writer);
        assert_ok(sk_cdr_writer_status(&writer, &err), &err);
        assert_ok(sk_msg_decode(&sk_msg_image_layout, writer.data, writer.length, NULL, &back, &err), &err);
        assert_int_equal(sk_msg_time_ns(back.header.stamp), 12500000000);
        assert_true(sk_msg_text_is(back.header.frame_id, "camera"));
        assert_true(back.height == 2 && back.width == 2 && back.step == 6 && !back.is_bigendian);
        assert_int_equal(back.data.count, sizeof pixels);
        assert_memory_equal(back.data.items, pixels, sizeof pixels);
        /* cut anywhere, it is an error and never a read behind the end */
        for (size_t cut = 0; cut < writer.length; cut++) {
            uint8_t *copy = sk_malloc(cut);
            memcpy(copy, writer.data, cut);
            assert_int_equal(sk_msg_decode(&sk_msg_image_layout, copy, cut, NULL, &back, &err),
                             SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "sensor_msgs/msg/Image"));
            assert_true(!back.data.items && !back.width);
            sk_free(copy);
        }
    }
    sk_cdr_writer_free(&writer);
}

static void lists_need_an_arena_and_survive_hostile_counts(void **state)
{
    (void)state;
    const sk_msg_keypoint points[2] = {{sk_msg_text_of("head"), 1.5, 2.5, 0.5f, true},
                                       {sk_msg_text_of(""), -1, 0, 0, false}};
    const sk_msg_instance instances[2] = {{.class_name = sk_msg_text_of("fly"),
                                           .score = 0.25f,
                                           .track = -1,
                                           .box = {{{10, 20}, 0.5}, 30, 40},
                                           .keypoints = {points, 2}},
                                          {.class_id = 7, .track = 3}};
    const sk_msg_text names[2] = {sk_msg_text_of("head"), sk_msg_text_of("tail")};
    const int32_t edges[2] = {0, 1};
    const sk_msg_instance_array all = {.header = {sk_msg_time_of(-1), sk_msg_text_of("x")},
                                       .skeleton_names = {names, 2},
                                       .skeleton_edges = {edges, 2},
                                       .instances = {instances, 2}};
    sk_error err = {0};
    sk_cdr_writer writer = {0};
    sk_arena *arena = NULL;
    sk_msg_instance_array back;
    assert_ok(sk_arena_open(1024, &arena, &err), &err);
    assert_ok(sk_msg_encode(&sk_msg_instance_array_layout, &all, &writer, &err), &err);
    assert_int_equal(
        sk_msg_decode(&sk_msg_instance_array_layout, writer.data, writer.length, NULL, &back, &err),
        SK_ERR_ARG);
    assert_ok(sk_msg_decode(&sk_msg_instance_array_layout, writer.data, writer.length, arena, &back, &err),
              &err);
    assert_int_equal(sk_msg_time_ns(back.header.stamp), -1);
    assert_int_equal(back.instances.count, 2);
    assert_true(sk_msg_text_is(back.skeleton_names.items[1], "tail") && back.skeleton_edges.items[1] == 1);
    const sk_msg_instance *first = &back.instances.items[0];
    assert_true(sk_msg_text_is(first->class_name, "fly") && first->score == 0.25f && first->track == -1);
    assert_true(first->box.center.position.y == 20 && first->box.center.theta == 0.5);
    assert_true(first->keypoints.count == 2 && first->keypoints.items[0].visible);
    assert_true(first->keypoints.items[0].x == 1.5 && !first->keypoints.items[1].visible);
    assert_true(back.instances.items[1].class_id == 7 && back.instances.items[1].keypoints.count == 0);
    /* four thousand million texts in a message of a few bytes */
    const uint8_t hostile[] = {0, 1, 0, 0, 0, 0, 0, 0, 0,   0,   0,   0,
                               1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255};
    assert_int_equal(
        sk_msg_decode(&sk_msg_instance_array_layout, hostile, sizeof hostile, arena, &back, &err),
        SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "fewer elements"));
    sk_arena_close(&arena);
    sk_cdr_writer_free(&writer);
}

static void what_is_no_plain_cdr_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_msg_string text;
    assert_int_equal(sk_msg_decode(&sk_msg_string_layout, "\0\7\0\0\0\0\0\0", 8, NULL, &text, &err),
                     SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "0007"));
    assert_int_equal(sk_msg_decode(&sk_msg_string_layout, "\0\1\0\0\2\0\0\0ab", 10, NULL, &text, &err),
                     SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "final zero"));
    sk_cdr_writer writer = {0};
    char name[300];
    memset(name, 'x', sizeof name);
    const sk_msg_node_entities node = {.node_name = {name, sizeof name}};
    const sk_msg_participant_entities all = {.node_entities_info_seq = {&node, 1}};
    assert_int_equal(sk_msg_encode(&sk_msg_participant_entities_layout, &all, &writer, &err), SK_ERR_LIMIT);
    sk_cdr_writer_free(&writer);
}

static sk_status encode_and_decode(void *context, sk_error *err)
{
    const sk_msg_image image = made_image();
    sk_msg_image back;
    sk_cdr_writer writer = {0};
    char hash[SK_MSG_HASH];
    (void)context;
    sk_status status = sk_msg_encode(&sk_msg_image_layout, &image, &writer, err);
    if (status == SK_OK)
        status = sk_msg_decode(&sk_msg_image_layout, writer.data, writer.length, NULL, &back, err);
    if (status == SK_OK)
        status = sk_msg_type_hash(sk_msg_type_find("sensor_msgs/msg/Image"), hash, err);
    sk_cdr_writer_free(&writer);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(encode_and_decode, NULL) > 0);
}

/* A text is another where it is as long and has the same bytes; one of nothing needs none. */
static void texts_are_compared(void **state)
{
    (void)state;
    assert_true(sk_msg_text_is((sk_msg_text){"abc", 3}, "abc"));
    assert_true(sk_msg_text_is((sk_msg_text){"abcd", 3}, "abc"));
    assert_true(sk_msg_text_is((sk_msg_text){NULL, 0}, ""));
    assert_false(sk_msg_text_is((sk_msg_text){"abd", 3}, "abc"));
    assert_false(sk_msg_text_is((sk_msg_text){"abc", 2}, "abc"));
    assert_false(sk_msg_text_is((sk_msg_text){"abc", 3}, "ab"));
    assert_false(sk_msg_text_is((sk_msg_text){NULL, 0}, "a"));
}

static void bytes_of_message_fields(void **state)
{
    (void)state;
    static const struct {
        sk_msg_kind kind;
        size_t bytes;
    } kinds[] = {{SK_MSG_I8, 1},  {SK_MSG_U8, 1},  {SK_MSG_BOOL, 1}, {SK_MSG_BYTE, 1},
                 {SK_MSG_I16, 2}, {SK_MSG_U16, 2}, {SK_MSG_I32, 4},  {SK_MSG_U32, 4},
                 {SK_MSG_F32, 4}, {SK_MSG_I64, 8}, {SK_MSG_U64, 8},  {SK_MSG_F64, 8}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_int_equal(sk_msg_kind_bytes(kinds[i].kind), kinds[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_message_fields),
        cmocka_unit_test(texts_are_compared),
        cmocka_unit_test(hashes_are_those_of_ros),
        cmocka_unit_test(every_type_is_whole),
        cmocka_unit_test(names_of_types),
        cmocka_unit_test(layouts_are_the_texts),
        cmocka_unit_test(string_and_header_byte_for_byte),
        cmocka_unit_test(images_both_ways),
        cmocka_unit_test(lists_need_an_arena_and_survive_hostile_counts),
        cmocka_unit_test(what_is_no_plain_cdr_is_told),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
