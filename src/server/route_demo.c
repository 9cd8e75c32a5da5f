/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"
#include "app/scene_run.h"
#include "base/file.h"
#include "server/routes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* For a first visit with nothing at hand: the demo's scene as a video in the first folder that may be written, drawn
 * once, and the models that come with skitter. */

#define FOLDER "skitter-demo-page"

static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER; /* two tabs wish for one video */

static sk_status draw(const sk_demo_settings *demo, const char *path, sk_error *err)
{
    sk_scene_run_settings s;
    sk_scene_report report;
    sk_scene_run_defaults(&s);
    s.scene = demo->scene;
    s.output = path;
    s.frames = (int64_t)(demo->seconds * demo->scene.rate + 0.5);
    return sk_scene_run(&s, NULL, NULL, &report, err);
}

/* A video that is there was finished: it gets its name when it is. */
static sk_status draw_once(const sk_demo_settings *demo, const char *folder, const char *video, sk_error *err)
{
    char *part = sk_path_join(folder, ".scene.mp4");
    sk_status status = SK_OK;
    if (!part)
        return sk_fail_memory(err, strlen(folder));
    pthread_mutex_lock(&drawing);
    if (!sk_file_is_regular(video)) {
        status = draw(demo, part, err);
        if (status == SK_OK && rename(part, video) != 0)
            status = sk_fail(err, SK_ERR_IO, "%s cannot be written: %s", video, strerror(errno));
        if (status != SK_OK)
            (void)remove(part);
    }
    pthread_mutex_unlock(&drawing);
    sk_free(part);
    return status;
}

static const sk_root *writable_root(const sk_roots *roots)
{
    for (int32_t i = 0; i < roots->count; i++)
        if (roots->items[i].writable)
            return &roots->items[i];
    return NULL;
}

sk_status sk_serve_demo(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    char models[SK_DEMO_PARTS][512], *real[SK_DEMO_PARTS] = {0};
    char *folder = NULL, *wish = NULL, *video = NULL;
    sk_demo_settings demo;
    sk_status status;
    (void)r;
    const sk_root *root = writable_root(&server->roots);
    if (!root)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "no folder may be written, and the demo's video needs one");
    sk_demo_defaults(&demo);
    SK_TRY_GOTO(sk_demo_find_models(NULL, models, err));
    for (int i = 0; i < SK_DEMO_PARTS; i++)
        SK_TRY_GOTO(sk_roots_resolve(&server->roots, models[i], &real[i], err));
    wish = sk_path_join(root->path, FOLDER);
    if (!wish) {
        status = sk_fail_memory(err, strlen(root->path));
        goto done;
    }
    SK_TRY_GOTO(
        sk_roots_resolve_new(&server->roots, wish, &folder, err)); /* a link there leads nowhere else */
    SK_TRY_GOTO(sk_folder_make(folder, err));
    video = sk_path_join(folder, "scene.mp4");
    if (!video) {
        status = sk_fail_memory(err, strlen(folder));
        goto done;
    }
    SK_TRY_GOTO(draw_once(&demo, folder, video, err));
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_strings(&j, {"video", video}, {"detector", real[SK_DEMO_BOXES]},
                        {"pose", real[SK_DEMO_POSES]}, {"folder", folder});
    sk_json_key_int(&j, "animals", demo.scene.animals);
    sk_json_close(&j);
    status = sk_json_end(&j, err);
done:
    sk_free_all(real[0], real[1], folder, wish, video);
    return status;
}
