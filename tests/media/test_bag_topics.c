/* SPDX-License-Identifier: Apache-2.0 */
/* Which topic of a bag is a source, what is said where none is or several are, which names are bags at all, and images that were
 * promised. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "media/bag_topic.h"
#include "media/reader.h"
#include "media/source_told.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define IMAGE      "sensor_msgs/msg/Image"
#define COMPRESSED "sensor_msgs/msg/CompressedImage"
#define BEGIN      ((int64_t)1700000000 * 1000000000)
#define OTHER      "std_msgs/msg/String"

typedef struct made {
    const char *name, *type;
    int messages;
} made;

/* A bag of these topics; what their messages hold is not looked at here. */
static const char *bag_of(const made *topics, size_t count)
{
    static char path[600];
    sk_error err = {0};
    sk_bag_writer *writer = NULL;
    size_t numbers[64];
    snprintf(path, sizeof path, "%s/topics.mcap", test_folder());
    assert_ok(sk_bag_writer_open(path, SK_BAG_MCAP, &writer, &err), &err);
    for (size_t i = 0; i < count; i++)
        assert_ok(
            sk_bag_writer_topic(writer, topics[i].name, sk_msg_type_find(topics[i].type), &numbers[i], &err),
            &err);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < topics[i].messages; k++)
            assert_ok(sk_bag_writer_write(writer, numbers[i], 1000 + k, "\0\1\0\0", 4, &err), &err);
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    return path;
}

/* The topic that is chosen, by name; "" with an error's text. */
static const char *chosen(const made *topics, size_t count, const char *wanted, sk_error *err)
{
    static char name[300];
    const char *path = bag_of(topics, count);
    sk_bag *bag = NULL;
    size_t topic = 99;
    *err = (sk_error){0};
    assert_ok(sk_bag_open(path, &bag, err), err);
    const sk_status status = sk_bag_find_images(bag, "b", wanted, &topic, err);
    snprintf(name, sizeof name, "%s", status == SK_OK ? sk_bag_topic_at(bag, topic)->name : "");
    if (status != SK_OK)
        assert_int_equal(status, SK_ERR_NOT_FOUND);
    sk_bag_close(&bag);
    return name;
}

static void the_one_with_images_is_read(void **state)
{
    (void)state;
    static const made topics[] = {
        {"/a/image", IMAGE, 0}, {"/b/image", COMPRESSED, 2}, {"/chatter", OTHER, 3}};
    sk_error err;
    assert_string_equal(chosen(topics, 3, NULL, &err), "/b/image"); /* the other one has none */
    assert_string_equal(chosen(topics, 3, "/a/image", &err), "/a/image");
    assert_string_equal(chosen(topics, 3, "a/image", &err), "/a/image");
    assert_string_equal(chosen(topics, 3, "image", &err), "");
    assert_string_equal(err.message, "b: has no topic 'image'; images are in: /a/image (" IMAGE
                                     ", 0), /b/image (" COMPRESSED ", 2)");
    assert_string_equal(chosen(topics, 3, "/chatter", &err), "");
    assert_string_equal(err.message,
                        "b: topic /chatter holds no images but " OTHER "; images are in: /a/image (" IMAGE
                        ", 0), /b/image (" COMPRESSED ", 2)");
}

static void none_and_several_are_named(void **state)
{
    (void)state;
    static const made several[] = {{"/left", IMAGE, 1}, {"/other", OTHER, 4}, {"/right", COMPRESSED, 2}};
    static const made none[] = {{"/other", OTHER, 4}};
    sk_error err;
    assert_string_equal(chosen(several, 3, NULL, &err), "");
    assert_string_equal(err.message, "b: several topics have images: /left (" IMAGE
                                     ", 1), /right (" COMPRESSED ", 2)\nSay which: --topic NAME");
    assert_string_equal(chosen(none, 1, NULL, &err), "");
    assert_string_equal(
        err.message,
        "b: a bag without images (sensor_msgs/Image, CompressedImage). It holds: /other (" OTHER ", 4)");
    assert_string_equal(chosen(none, 1, "/x", &err), "");
    assert_string_equal(err.message, "b: has no topic '/x'; images are in: none");
    assert_string_equal(chosen(none, 0, NULL, &err), "");
    assert_non_null(strstr(err.message, "It holds: nothing"));
}

static void a_long_list_is_shortened(void **state)
{
    (void)state;
    char names[23][8];
    made topics[23];
    sk_error err;
    for (int i = 0; i < 23; i++) {
        snprintf(names[i], sizeof names[i], "/t%02d", i);
        topics[i] = (made){names[i], OTHER, 1};
    }
    for (size_t count = 20; count <= 23; count++) {
        char more[32] = "";
        assert_string_equal(chosen(topics, count, NULL, &err), "");
        assert_non_null(strstr(err.message, "It holds: /t00 ("));
        assert_non_null(strstr(err.message, ", /t19 ("));
        assert_null(strstr(err.message, "/t20"));
        snprintf(more, sizeof more, " and %zu more", count - 20);
        assert_int_equal(strstr(err.message, more) != NULL, count > 20);
        assert_int_equal(strstr(err.message, " more") != NULL, count > 20);
    }
}

/* Messages of another form than ROS 2's. */
static void other_forms_are_refused(void **state)
{
    (void)state;
    static const made topics[] = {{"/image", IMAGE, 1}};
    sk_error err = {0};
    sk_bag *bag = NULL;
    size_t topic = 0;
    assert_ok(sk_bag_open(bag_of(topics, 1), &bag, &err), &err);
    char *encoding = sk_bag_topic_at(bag, 0)->encoding;
    assert_string_equal(encoding, "cdr");
    encoding[0] = 'x';
    assert_int_equal(sk_bag_find_images(bag, "b", NULL, &topic, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "b: messages of /image are in the form 'xdr'; that of ROS 2 (cdr) is read");
    sk_bag_close(&bag);
}

static void write_text(const char *path, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static int descriptors(void)
{
    int count = 0;
    DIR *open = opendir("/proc/self/fd");
    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return count;
}

/* A folder with such files is a bag, unless it has pictures, too: then only rosbag2's own file says so. */
static void folders_that_are_bags(void **state)
{
    (void)state;
    char folder[600], path[800];
    static const made topics[] = {{"/image", IMAGE, 1}};
    assert_true(sk_uri_is_bag(bag_of(topics, 1)));
    snprintf(folder, sizeof folder, "%s/some", test_folder());
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_false(sk_uri_is_bag(folder));
    snprintf(path, sizeof path, "%s/x.mcap", folder);
    write_text(path, "x");
    const int before = descriptors();
    assert_true(sk_uri_is_bag(folder));
    snprintf(path, sizeof path, "%s/.hidden.png", folder);
    write_text(path, "x");
    assert_true(sk_uri_is_bag(folder));
    snprintf(path, sizeof path, "%s/shown.png", folder);
    write_text(path, "x");
    assert_false(sk_uri_is_bag(folder));
    snprintf(path, sizeof path, "file://%s", folder);
    assert_false(sk_uri_is_bag(path));
    snprintf(path, sizeof path, "%s/metadata.yaml", folder);
    write_text(path, "rosbag2_bagfile_information:\n  version: 9\n");
    assert_true(sk_uri_is_bag(folder));
    snprintf(path, sizeof path, "file://%s", folder);
    assert_true(sk_uri_is_bag(path));
    assert_int_equal(descriptors(), before);
}

static void bags_of_ros_1_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        bool one;
    } cases[] = {{"a.bag", "#ROSBAG V2.0\n", true}, {"b.bag", "#ROSBAG V", true},
                 {"c.bag", "#ROSBAG ", false},      {"d.bag", "", false},
                 {"e.bag", "#ROSBAG W2", false},    {"f.dat", "#ROSBAG V2.0\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[600], says[1600];
        sk_error err = {0};
        snprintf(path, sizeof path, "%s/%s", test_folder(), cases[i].name);
        write_text(path, cases[i].text);
        assert_int_equal(sk_bag_refuse_ros1(path, &err), cases[i].one ? SK_ERR_UNSUPPORTED : SK_OK);
        snprintf(says, sizeof says,
                 "%s: a bag of ROS 1; those of ROS 2 are read. PyPI's rosbags makes one of it: "
                 "rosbags-convert --src '%s' --dst FOLDER",
                 path, path);
        assert_string_equal(err.message, cases[i].one ? says : "");
    }
    sk_error err = {0};
    assert_ok(sk_bag_refuse_ros1(test_missing("none.bag"), &err), &err);
}

/* A folder whose metadata.yaml promises more than its file has: what is missing is told to who wanted all of it. */
static void promised_images_are_missed(void **state)
{
    (void)state;
    static const uint8_t grey[] = {1, 2};
    static const sk_frame_range two[] = {{0, 1, 1}, {2, 3, 1}};
    char folder[512], path[600], *text = NULL;
    size_t length = 0, topic = 0;
    sk_error err = {0};
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    snprintf(folder, sizeof folder, "%s/promised", test_folder());
    assert_ok(sk_bag_writer_open(folder, SK_BAG_FOLDER, &writer, &err), &err);
    assert_ok(sk_bag_writer_topic(writer, "/image", sk_msg_type_find("sensor_msgs/msg/Image"), &topic, &err),
              &err);
    for (int i = 0; i < 4; i++) {
        const sk_msg_image image = {.header = {sk_msg_time_of(BEGIN + i * 1000000), sk_msg_text_of("eye")},
                                    .height = 1,
                                    .width = 2,
                                    .encoding = sk_msg_text_of("mono8"),
                                    .step = 2,
                                    .data = {grey, 2}};
        assert_ok(sk_msg_encode(&sk_msg_image_layout, &image, &cdr, &err), &err);
        assert_ok(sk_bag_writer_write(writer, topic, BEGIN + i * 1000000, cdr.data, cdr.length, &err), &err);
    }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
    snprintf(path, sizeof path, "%s/metadata.yaml", folder);
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    for (char *at = text; (at = strstr(at, "message_count: 4"));)
        memcpy(at, "message_count: 9", 16);
    assert_ok(sk_file_replace(path, text, length, &err), &err);
    sk_free(text);
    static const struct {
        int64_t last;
        int32_t n_ranges;
        int frames, missing;
    } cases[] = {{-1, 0, 4, 5}, {4, 0, 4, 0}, {0, 0, 0, 0}, {-1, 1, 1, 0}, {-1, 2, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_source *source = NULL;
        sk_source_defaults(&s);
        s.last = cases[i].last, s.n_ranges = cases[i].n_ranges, s.ranges = two;
        assert_ok(sk_source_open(folder, &s, &source, &err), &err);
        int frames = 0;
        for (const sk_frame *frame = NULL;; frames++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame)
                break;
            sk_source_release(source, frame);
        }
        const int64_t missing = sk_source_status_of(source).missing;
        sk_source_close(&source);
        if (frames != cases[i].frames || missing != cases[i].missing)
            fail_msg("case %zu: %d frames, %lld are missing", i, frames, (long long)missing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_with_images_is_read), cmocka_unit_test(none_and_several_are_named),
        cmocka_unit_test(a_long_list_is_shortened),    cmocka_unit_test(other_forms_are_refused),
        cmocka_unit_test(folders_that_are_bags),       cmocka_unit_test(bags_of_ros_1_are_told),
        cmocka_unit_test(promised_images_are_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
