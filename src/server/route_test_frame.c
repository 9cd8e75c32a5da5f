/* SPDX-License-Identifier: Apache-2.0 */
#include "app/finder_background.h"
#include "base/clock.h"
#include "base/instances.h"
#include "media/source_told.h"
#include "models/model.h"
#include "server/ask_program.h"
#include "server/routes.h"
#include "server/runs.h"
#include "server/test_region.h"
#include "server/wish.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Test on this frame: what these settings find in one frame. Models run in a process of their own, as `skitter predict` does it,
 * one test at a time; a background is found here. */

#define LIMIT_MS    300000 /* a runtime's model file may have to be made first */
#define ANSWER_MOST ((size_t)16 << 20)

/* Options of predict that say what is found, and with what. */
static const char *const finds[] = {"model",         "runtime",
                                    "precision",     "execution-provider",
                                    "engine-option", "openvino-device",
                                    "openvino-hint", "allow-fallback",
                                    "conf",          "iou",
                                    "classes",       "max-det",
                                    "agnostic",      "peak-threshold",
                                    "max-instances", "imgsz",
                                    "rect",          "nms",
                                    "threads",       "colours",
                                    "no-winograd",   "max-pixels",
                                    "obb-form"};

static bool is_of_finding(const char *word)
{
    const size_t length = strcspn(word + 2, "=");
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++)
        if (strlen(finds[i]) == length && strncmp(finds[i], word + 2, length) == 0)
            return true;
    return false;
}

/* track keeps weaker detections than predict does, of models that have such a setting. */
static sk_status add_confidence(const sk_server *server, const sk_wish *wish, sk_wish *words, sk_error *err)
{
    static const char model_is[] = "--model=";
    const char *path = NULL,
               *usual = server->doors.fallback ? server->doors.fallback(wish->command, "conf") : NULL;
    for (int32_t i = 0; i < wish->n_words; i++) {
        if (strncmp(wish->words[i], "--conf=", 7) == 0)
            return SK_OK;
        if (!path && strncmp(wish->words[i], model_is, sizeof model_is - 1) == 0)
            path = wish->words[i] + sizeof model_is - 1;
    }
    sk_model *model = NULL;
    if (!usual || !path)
        return SK_OK;
    SK_TRY(sk_model_open(path, &model, err));
    const bool has = sk_family_is_ultralytics(model->family);
    sk_model_close(&model);
    return has ? sk_wish_add(words, err, "--conf=%s", usual) : SK_OK;
}

static sk_status write_words(const sk_server *server, const sk_wish *wish, int64_t frame, sk_wish *words,
                             sk_error *err)
{
    SK_TRY(sk_wish_add(words, err, "skitter"));
    SK_TRY(sk_wish_add(words, err, "predict"));
    SK_TRY(sk_wish_add(words, err, "%s", wish->source));
    for (int32_t i = 0; i < wish->n_words; i++)
        if (strncmp(wish->words[i], "--", 2) == 0 && is_of_finding(wish->words[i]))
            SK_TRY(sk_wish_add(words, err, "%s", wish->words[i]));
    SK_TRY(add_confidence(server, wish, words, err));
    SK_TRY(sk_wish_add(words, err, "--frames=%lld:%lld", (long long)frame, (long long)frame + 1));
    SK_TRY(sk_wish_add(words, err, "--out=-"));
    SK_TRY(sk_wish_add(words, err, "--format=jsonl"));
    return sk_wish_add(words, err, "--events=3");
}

/* --- what predict said --- */

/* The event of this kind, or null; the caller closes *config. */
static const sk_config_value *find_event(const sk_text *events, const char *kind, sk_config **config)
{
    const sk_config_value *found = NULL;
    *config = NULL;
    for (const char *line = sk_text_get(events); *line && !found;) {
        const size_t length = strcspn(line, "\n");
        sk_config *one = NULL;
        if (sk_config_open_json(line, length, "an event", &one, NULL) == SK_OK &&
            strcmp(sk_config_text_or(sk_config_root(one), "event", ""), kind) == 0) {
            *config = one;
            found = sk_config_root(one);
        } else {
            sk_config_close(&one);
        }
        line += length + (line[length] == '\n');
    }
    return found;
}

static void put_numbers(sk_json *j, const sk_config_value *list)
{
    sk_json_array(j);
    for (size_t i = 0; i < sk_config_count(list); i++) {
        double value = 0;
        sk_config_to_real(sk_config_at(list, i), &value) ? sk_json_float(j, value) : sk_json_null(j);
    }
    sk_json_close(j);
}

/* cx, cy, w, h, angle */
static void put_box(sk_json *j, const sk_config_value *in)
{
    const sk_config_value *obb = sk_config_get(in, "obb"), *box = sk_config_get(in, "box");
    double b[4];
    sk_json_key(j, "box");
    if (sk_config_count(obb) == 5) {
        put_numbers(j, obb);
        return;
    }
    for (size_t i = 0; i < 4; i++)
        if (!sk_config_to_real(sk_config_at(box, i), &b[i])) {
            sk_json_null(j);
            return;
        }
    sk_json_array(j);
    sk_json_float(j, (b[0] + b[2]) / 2);
    sk_json_float(j, (b[1] + b[3]) / 2);
    sk_json_float(j, b[2] - b[0]);
    sk_json_float(j, b[3] - b[1]);
    sk_json_float(j, 0);
    sk_json_close(j);
}

static void put_instance(sk_json *j, const sk_config_value *in)
{
    double score = 0;
    sk_json_object(j);
    sk_json_key_int(j, "class", sk_config_int_or(in, "class", -1));
    sk_json_key_string(j, "label", sk_config_text(sk_config_get(in, "name")));
    sk_json_key(j, "score");
    sk_config_to_real(sk_config_get(in, "score"), &score) ? sk_json_float(j, score) : sk_json_null(j);
    put_box(j, in);
    const sk_config_value *points = sk_config_get(in, "keypoints");
    sk_json_key_array(j, "keypoints");
    for (size_t i = 0; i < sk_config_count(points); i++) {
        double x = 0;
        const sk_config_value *point = sk_config_at(points, i);
        sk_config_to_real(sk_config_at(point, 0), &x) ? put_numbers(j, point) : sk_json_null(j);
    }
    sk_json_close(j);
    sk_json_close(j);
}

static void put_skeleton(sk_json *j, const sk_config_value *line)
{
    const sk_config_value *names = sk_config_get(line, "keypoint_names"),
                          *edges = sk_config_get(line, "edges");
    sk_json_key_object(j, "skeleton");
    sk_json_key_array(j, "names");
    for (size_t i = 0; i < sk_config_count(names); i++)
        sk_json_string(j, sk_config_text(sk_config_at(names, i)));
    sk_json_close(j);
    sk_json_key_array(j, "edges");
    for (size_t i = 0; i < sk_config_count(edges); i++)
        put_numbers(j, sk_config_at(edges, i));
    sk_json_close(j);
    sk_json_close(j);
}

static sk_status reply_line(const sk_program_answer *answer, const sk_region *region, int64_t frame,
                            sk_reply *reply, sk_error *err)
{
    sk_config *line = NULL, *event = NULL;
    SK_TRY(sk_config_open_json(sk_text_get(&answer->out), strcspn(sk_text_get(&answer->out), "\n"),
                               "the answer", &line, err));
    const sk_config_value *root = sk_config_root(line), *found = sk_config_get(root, "instances");
    const sk_config_value *result = find_event(&answer->events, "result", &event);
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_int(&j, "frame", sk_config_int_or(root, "frame", frame));
    sk_json_key_string(&j, "runtime", sk_config_text_or(result, "runtime", ""));
    sk_json_key_float(&j, "ms", 1e3 * sk_config_real_or(result, "seconds", 0));
    put_skeleton(&j, root);
    sk_json_key_array(&j, "instances");
    int64_t outside = 0;
    for (size_t i = 0; i < sk_config_count(found); i++)
        if (sk_test_region_holds(region, sk_config_at(found, i)))
            put_instance(&j, sk_config_at(found, i));
        else
            outside++;
    sk_json_close(&j);
    sk_json_key_int(&j, "outside", outside);
    sk_json_close(&j);
    sk_config_close(&line);
    sk_config_close(&event);
    return sk_json_end(&j, err);
}

/* The program's own words. */
static sk_status failure(const sk_program_answer *answer, sk_error *err)
{
    sk_config *event = NULL;
    const sk_config_value *end = find_event(&answer->events, "end", &event);
    const char *message = sk_config_text(sk_config_get(end, "message"));
    const int64_t code = sk_config_int_or(end, "status", SK_ERR_RUNTIME);
    const bool told = message && code > SK_OK && code <= SK_ERR_INCOMPLETE;
    sk_status status = SK_ERR_RUNTIME;
    if (told)
        status = sk_fail(err, (sk_status)code, "%s", message);
    else if (WIFSIGNALED(answer->status))
        status = sk_fail(err, SK_ERR_RUNTIME,
                         "the test crashed: signal %d (%s)\nthe doctor's page tests the runtime",
                         WTERMSIG(answer->status), strsignal(WTERMSIG(answer->status)));
    else
        status = sk_fail(err, SK_ERR_RUNTIME, "the test failed: %.600s", sk_text_get(&answer->err));
    sk_config_close(&event);
    return status;
}

static sk_status test_models(sk_server *server, const sk_wish *wish, int64_t frame, sk_reply *reply,
                             sk_error *err)
{
    sk_program_answer answer = {0};
    sk_wish words = {0};
    sk_region *region = NULL;
    sk_status status = sk_test_region_open(wish, &region, err);
    if (status == SK_OK)
        status = write_words(server, wish, frame, &words, err);
    if (status == SK_OK) {
        pthread_mutex_lock(&server->testing);
        status = sk_program_ask(sk_runs_program(server->runs), words.words, LIMIT_MS, ANSWER_MOST,
                                &server->testing_pid, &answer, err);
        pthread_mutex_unlock(&server->testing);
    }
    const bool well = status == SK_OK && WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 0;
    if (well && answer.out.length == 0)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "the video has no frame %lld", (long long)frame);
    else if (well)
        status = reply_line(&answer, region, frame, reply, err);
    else if (status == SK_OK)
        status = failure(&answer, err);
    sk_region_close(&region);
    sk_wish_free(&words);
    sk_program_answer_free(&answer);
    return status;
}

/* --- a still background --- */

/* The tracker's numbers of the wish, of which some say what is found. */
static sk_status take_sets(const sk_config_value *settings, sk_track_wish *track, sk_error *err)
{
    const sk_config_value *sets = sk_config_get(settings, "set");
    sk_track_wish_defaults(track);
    for (size_t i = 0; sk_config_is(sets, SK_CONFIG_MAP) && i < sets->length; i++) {
        const sk_track_setting *s = sk_track_setting_find(sets->u.pairs[i].name);
        double value = 0;
        if (!s || !sk_config_to_real(sets->u.pairs[i].value, &value))
            return sk_fail(err, SK_ERR_ARG, "\"set\": %.60s is no number of the tracker",
                           sets->u.pairs[i].name);
        SK_TRY(sk_track_setting_set(s, value, track, err));
    }
    return SK_OK;
}

static void put_found(sk_json *j, const sk_instances *found, const sk_region *region)
{
    int64_t outside = 0;
    sk_json_key_array(j, "instances");
    for (int32_t i = 0; i < found->count; i++) {
        const sk_found *in = &found->items[i];
        if (region && !sk_region_holds(region, (double)in->obb[0], (double)in->obb[1])) {
            outside++;
            continue;
        }
        sk_json_object(j);
        sk_json_key_int(j, "class", in->class_id);
        sk_json_key_string(j, "label", NULL);
        sk_json_key_float(j, "score", (double)in->score);
        sk_json_key_array(j, "box");
        for (int k = 0; k < 5; k++)
            sk_json_float(j, (double)in->obb[k]);
        sk_json_close(j);
        sk_json_key_array(j, "keypoints");
        sk_json_close(j);
        sk_json_close(j);
    }
    sk_json_close(j);
    sk_json_key_int(j, "outside", outside);
}

static sk_status find_background(const char *source, const char *topic, int64_t n,
                                 sk_finder_background *finder, const sk_instances **found, sk_error *err)
{
    sk_source *whole = NULL, *one = NULL;
    const sk_frame *frame = NULL;
    sk_status status;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT, only;
    sk_source_defaults(&media);
    media.topic = topic;
    SK_TRY_GOTO(sk_source_open(source, &media, &whole, err));
    sk_source_info info = sk_source_info_of(whole);
    only = media;
    only.first = n;
    only.last = n + 1;
    SK_TRY_GOTO(sk_source_open(source, &only, &one, err));
    SK_TRY_GOTO(sk_source_next(one, &frame, err));
    if (!frame) {
        status = sk_fail(err, SK_ERR_NOT_FOUND, "the video has no frame %lld", (long long)n);
        goto done;
    }
    if (info.width <= 0 || info.height <= 0) { /* pictures have a size each: as a run does, by this one */
        info.width = frame->width;
        info.height = frame->height;
    }
    const sk_finder_source from = {source, &media, &info, -1};
    status = finder->finder.begin(finder->finder.context, &from, err);
    if (status == SK_OK)
        status = finder->finder.find(finder->finder.context, frame, found, err);
    sk_source_release(one, frame);
done:
    sk_source_close(&one);
    sk_source_close(&whole);
    return status;
}

static sk_status test_background(const sk_wish *wish, const sk_config_value *settings, int64_t frame,
                                 sk_reply *reply, sk_error *err)
{
    sk_track_wish track;
    sk_finder_background finder = {0};
    sk_region *region = NULL;
    const sk_instances *found = NULL;
    const char *topic = sk_config_text_or(settings, "topic", NULL); /* of a bag */
    const int64_t begin = sk_clock_ns();
    SK_TRY(take_sets(settings, &track, err));
    SK_TRY(sk_test_region_open(wish, &region, err));
    sk_status status = sk_finder_background_open(&track, &finder, err);
    if (status == SK_OK)
        status = find_background(wish->source, topic && topic[0] ? topic : NULL, frame, &finder, &found, err);
    if (status == SK_OK) {
        sk_json j = sk_reply_json(reply);
        sk_json_object(&j);
        sk_json_key_int(&j, "frame", frame);
        sk_json_key_string(&j, "runtime", "cpu");
        sk_json_key_float(&j, "ms", (double)(sk_clock_ns() - begin) * 1e-6);
        put_skeleton(&j, NULL);
        put_found(&j, found, region);
        sk_json_close(&j);
        status = sk_json_end(&j, err);
    }
    sk_finder_background_close(&finder);
    sk_region_close(&region);
    return status;
}

sk_status sk_serve_test_frame(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    sk_wish wish = {0};
    SK_TRY(sk_request_json(r, &body, err));
    const sk_config_value *root = sk_config_root(body), *settings = sk_config_get(root, "settings");
    const int64_t frame = sk_config_int_or(root, "frame", 0);
    sk_status status = sk_wish_read(server, root, false, &wish, err);
    const bool background = strcmp(sk_config_text_or(settings, "detector", ""), "background") == 0;
    if (status == SK_OK && (frame < 0 || frame > INT64_MAX / 4 || !wish.source))
        status = sk_fail(err, SK_ERR_ARG, "\"frame\" is the number of a frame of the video");
    if (status == SK_OK && background)
        status = test_background(&wish, settings, frame, reply, err);
    else if (status == SK_OK)
        status = test_models(server, &wish, frame, reply, err);
    sk_config_close(&body);
    sk_wish_free(&wish);
    return status;
}
