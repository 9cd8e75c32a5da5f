/* SPDX-License-Identifier: Apache-2.0 */
#include "media/bag_topic.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/ros_messages.h"
#include "media/picture_size.h"
#include "media/reader.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool has_pictures(const char *path)
{
    bool found = false;
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && !found && (e = readdir(folder));)
        found = e->d_name[0] != '.' && sk_picture_has_ending(e->d_name);
    if (folder)
        closedir(folder);
    return found;
}

bool sk_uri_is_bag(const char *uri)
{
    uri = sk_uri_path(uri);
    if (!sk_path_is_bag(uri))
        return false;
    return !sk_file_is_directory(uri) || sk_path_has_bag_metadata(uri) || !has_pictures(uri);
}

sk_status sk_bag_refuse_ros1(const char *path, sk_error *err)
{
    static const char begin[] = "#ROSBAG V";
    char got[sizeof begin] = "";
    FILE *file = NULL;
    if (!sk_path_has_extension(path, ".bag") || sk_file_open_stream(path, &file, NULL) != SK_OK)
        return SK_OK;
    const size_t count = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    if (count != sizeof begin - 1 || memcmp(got, begin, count) != 0)
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: a bag of ROS 1; those of ROS 2 are read. PyPI's rosbags makes one of it: "
                   "rosbags-convert --src '%s' --dst FOLDER",
                   path, path);
}

sk_bag_images sk_bag_images_of(const sk_bag_topic *topic)
{
    const sk_msg_type *type = sk_msg_type_find(topic->type);
    if (!type)
        return SK_BAG_NO_IMAGES;
    return strcmp(type->name, sk_msg_image_layout.type) == 0              ? SK_BAG_RAW
           : strcmp(type->name, sk_msg_compressed_image_layout.type) == 0 ? SK_BAG_COMPRESSED
                                                                          : SK_BAG_NO_IMAGES;
}

/* "/camera/image_raw (sensor_msgs/msg/Image, 300)", … of those that are images, or of all. */
static void list_topics(const sk_bag *bag, bool images, sk_text *out)
{
    size_t told = 0;
    for (size_t i = 0; i < sk_bag_topics(bag); i++) {
        const sk_bag_topic *t = sk_bag_topic_at(bag, i);
        if (images && sk_bag_images_of(t) == SK_BAG_NO_IMAGES)
            continue;
        if (told++ < 20)
            sk_text_appendf(out, "%s%s (%s, %lld)", told > 1 ? ", " : "", t->name, t->type,
                            (long long)t->messages);
    }
    if (told > 20)
        sk_text_appendf(out, " and %zu more", told - 20);
    if (told == 0)
        sk_text_append(out, images ? "none" : "nothing");
}

static sk_status refuse(const sk_bag *bag, const char *path, const char *what, bool images, const char *help,
                        sk_error *err)
{
    sk_text text = {0};
    list_topics(bag, images, &text);
    char *told = sk_text_printable(sk_text_get(&text), "");
    sk_status status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: %s: %s%s", path, what, told ? told : "", help);
    sk_free(told);
    sk_text_free(&text);
    return status;
}

static bool is_called(const sk_bag_topic *topic, const char *name)
{
    return strcmp(topic->name, name) == 0 ||
           (topic->name[0] == '/' && name[0] != '/' && strcmp(topic->name + 1, name) == 0);
}

sk_status sk_bag_find_images(const sk_bag *bag, const char *path, const char *wanted, size_t *topic,
                             sk_error *err)
{
    size_t found = 0, count = sk_bag_topics(bag);
    char what[300];
    for (size_t i = 0; i < count; i++) {
        const sk_bag_topic *t = sk_bag_topic_at(bag, i);
        if (wanted ? !is_called(t, wanted) : sk_bag_images_of(t) == SK_BAG_NO_IMAGES || t->messages == 0)
            continue;
        *topic = i;
        found++;
    }
    if (wanted && !found) {
        snprintf(what, sizeof what, "has no topic '%.200s'; images are in", wanted);
        return refuse(bag, path, what, true, "", err);
    }
    if (!found)
        return refuse(bag, path, "a bag without images (sensor_msgs/Image, CompressedImage). It holds", false,
                      "", err);
    if (found > 1)
        return refuse(bag, path, "several topics have images", true, "\nSay which: --topic NAME", err);
    const sk_bag_topic *t = sk_bag_topic_at(bag, *topic);
    if (sk_bag_images_of(t) == SK_BAG_NO_IMAGES) {
        snprintf(what, sizeof what, "topic %.100s holds no images but %.100s; images are in", t->name,
                 t->type);
        return refuse(bag, path, what, true, "", err);
    }
    if (strcmp(t->encoding, "cdr") != 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: messages of %.100s are in the form '%.32s'; that of ROS 2 (cdr) is read", path,
                       t->name, t->encoding);
    return SK_OK;
}
