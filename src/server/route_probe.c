/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "base/file.h"
#include "media/bag_topic.h"
#include "models/model.h"
#include "server/kinds.h"
#include "server/routes.h"
#include "skitter/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void put_names(sk_json *j, const char *key, const char *const *names, int32_t count)
{
    sk_json_key_array(j, key);
    for (int32_t i = 0; i < count; i++)
        sk_json_string(j, names && names[i] ? names[i] : "");
    sk_json_close(j);
}

static void put_edges(sk_json *j, const sk_model *model)
{
    sk_json_key_array(j, "edges");
    for (int32_t i = 0; i < model->n_edges; i++) {
        sk_json_array(j);
        sk_json_int(j, model->edges[i][0]);
        sk_json_int(j, model->edges[i][1]);
        sk_json_close(j);
    }
    sk_json_close(j);
}

static sk_status probe_model(const char *path, sk_json *j, sk_error *err)
{
    sk_model *model = NULL;
    SK_TRY(sk_model_open(path, &model, err));
    if (model->truncated) {
        sk_model_close(&model);
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be run; fetch it again", path);
    }
    sk_json_key_string(j, "kind", "model");
    sk_json_key_object(j, "model");
    sk_json_key_strings(j, {"family", sk_family_is_ultralytics(model->family) ? "yolo" : "sleap"},
                        {"task", sk_task_name(model->task)},
                        {"pipeline", sk_work_name(sk_runtimes_work(model))},
                        {"architecture", model->architecture});
    sk_json_key_ints(j, {"height", model->input.height}, {"width", model->input.width});
    put_names(j, "classes", model->class_names, model->n_classes);
    put_names(j, "keypoints", model->keypoint_names, model->n_keypoints);
    put_edges(j, model);
    sk_json_close(j);
    sk_model_close(&model);
    return SK_OK;
}

static bool is_of_images(const sk_bag_topic *topic)
{
    return sk_bag_images_of(topic) != SK_BAG_NO_IMAGES && topic->messages > 0;
}

static void put_topics(sk_json *j, const sk_bag *bag, const char *chosen)
{
    sk_json_key_string(j, "topic", chosen);
    sk_json_key_array(j, "topics");
    for (size_t i = 0; i < sk_bag_topics(bag); i++) {
        const sk_bag_topic *topic = sk_bag_topic_at(bag, i);
        if (!is_of_images(topic))
            continue;
        sk_json_object(j);
        sk_json_key_strings(j, {"name", topic->name}, {"type", topic->type});
        sk_json_key_ints(j, {"images", topic->messages});
        sk_json_close(j);
    }
    sk_json_close(j);
}

static sk_status probe_video(const char *path, const char *kind, const char *topic, const sk_bag *topics,
                             sk_json *j, sk_error *err)
{
    sk_source *source = NULL;
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_defaults(&settings);
    settings.queue = 1;
    settings.threads = 1;
    settings.topic = topic;
    SK_TRY(sk_source_open(path, &settings, &source, err));
    sk_source_get_info(source, &info);
    sk_json_key_string(j, "kind", kind);
    sk_json_key_object(j, "video");
    sk_json_key_ints(j, {"frames", info.total}, {"width", info.width}, {"height", info.height});
    sk_json_key_float(j, "fps", info.rate);
    sk_json_key(j, "seconds");
    if (info.rate > 0 && info.total >= 0)
        sk_json_float(j, (double)info.total / info.rate);
    else
        sk_json_null(j);
    sk_json_key_bool(j, "exact", info.exact);
    sk_json_key_string(j, "decoder", info.decoder);
    if (topics)
        put_topics(j, topics, topic);
    sk_json_close(j);
    sk_source_close(&source);
    return SK_OK;
}

/* A bag's topics with images; of several that are not chosen from, the first is looked at. */
static sk_status probe_bag(const char *path, const char *topic, sk_json *j, sk_error *err)
{
    sk_bag *bag = NULL;
    SK_TRY(sk_bag_open(path, &bag, err));
    for (size_t i = 0; i < sk_bag_topics(bag) && !topic; i++)
        if (is_of_images(sk_bag_topic_at(bag, i)))
            topic = sk_bag_topic_at(bag, i)->name;
    const sk_status status = probe_video(path, "video", topic, bag, j, err);
    sk_bag_close(&bag);
    return status;
}

/* A folder that is neither a run nor a model may be one of pictures. */
static sk_status probe_folder(const char *path, const char *topic, sk_json *j, sk_error *err)
{
    const char *kind = sk_kind_of_folder(AT_FDCWD, path);
    if (strcmp(kind, "model") == 0)
        return probe_model(path, j, err);
    if (strcmp(kind, "run") != 0 && sk_path_is_bag(path))
        return probe_bag(path, topic, j, err);
    if (strcmp(kind, "run") != 0 && probe_video(path, "images", NULL, NULL, j, NULL) == SK_OK)
        return SK_OK;
    sk_json_key_string(j, "kind", kind);
    return SK_OK;
}

static sk_status probe_file(const char *path, const char *topic, sk_json *j, sk_error *err)
{
    const char *kind = sk_kind_of_file(path);
    if (strcmp(kind, "model") == 0)
        return probe_model(path, j, err);
    if (strcmp(kind, "video") == 0 || strcmp(kind, "image") == 0)
        return sk_path_is_bag(path) ? probe_bag(path, topic, j, err)
                                    : probe_video(path, kind, NULL, NULL, j, err);
    sk_json_key_string(j, "kind", kind);
    return SK_OK;
}

/* What a file or folder that the person chose is; what is broken is refused with the reader's own words. */
sk_status sk_serve_probe(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(r, "path"), *topic = sk_request_query(r, "topic");
    char *real = NULL;
    struct stat is;
    topic = topic && topic[0] ? topic : NULL;
    if (!path || !path[0])
        return sk_fail(err, SK_ERR_ARG, "path= names the file or folder");
    SK_TRY(sk_roots_resolve(&server->roots, path, &real, err));
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "path", real);
    sk_status status = stat(real, &is) != 0
                           ? sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no such file", path)
                       : S_ISDIR(is.st_mode) ? probe_folder(real, topic, &j, err)
                                             : probe_file(real, topic, &j, err);
    sk_free(real);
    if (status != SK_OK) {
        sk_text_free(&reply->text); /* what was begun is not said */
        return status;
    }
    sk_json_close(&j);
    return sk_json_end(&j, err);
}
