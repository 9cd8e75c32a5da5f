/* SPDX-License-Identifier: Apache-2.0 */
#include "app/scene_run.h"

#include "app/scene_truth.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/frame.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "scene/maths.h"

#include <string.h>

void sk_scene_run_defaults(sk_scene_run_settings *settings)
{
    *settings = (sk_scene_run_settings){.scene = sk_scene_defaults(), .frames = 120, .extension = ".jpg"};
}

/* What both kinds of run hold. */
typedef struct work {
    const sk_scene_run_settings *settings;
    sk_scene_watch watch;
    void *context;
    sk_scene_report *report;
    sk_frame frame;
    sk_file_writer *truth, *mot; /* null: none */
    sk_scene_animal animals[SK_SCENE_MAX_ANIMALS];
} work;

static sk_status begin(work *w, const char *truth, sk_error *err)
{
    const sk_scene_settings *scene = &w->settings->scene;
    w->frame = (sk_frame){.format = SK_PIXEL_RGB,
                          .width = scene->width,
                          .height = scene->height,
                          .stride = 3 * (ptrdiff_t)scene->width};
    size_t bytes = 3 * (size_t)scene->width * (size_t)scene->height;
    w->frame.data = sk_calloc(1, bytes + SK_VIDEO_SINK_SPARE);
    if (!w->frame.data)
        return sk_fail_memory(err, bytes);
    if (truth) {
        SK_TRY(sk_file_writer_open(truth, &w->truth, err));
        sk_scene_truth_header(sk_file_writer_stream(w->truth));
    }
    return w->settings->mot ? sk_file_writer_open(w->settings->mot, &w->mot, err) : SK_OK;
}

static void record(work *w, const char *source, int64_t frame, double time, int32_t count)
{
    if (w->truth)
        sk_scene_truth_rows(sk_file_writer_stream(w->truth), source, frame, time, w->animals, count);
    if (w->mot)
        sk_scene_mot_rows(sk_file_writer_stream(w->mot), frame, w->animals, count);
    w->report->frames++;
    w->report->instances += count;
}

static sk_status finish(work *w, sk_status status, sk_error *err)
{
    if (status == SK_OK && w->truth)
        status = sk_file_writer_commit(&w->truth, err);
    if (status == SK_OK && w->mot)
        status = sk_file_writer_commit(&w->mot, err);
    sk_file_writer_close(&w->truth);
    sk_file_writer_close(&w->mot);
    sk_free(w->frame.data);
    w->frame.data = NULL;
    return status;
}

/* The frames of the video as pictures, for where no video can be written. */
static sk_status run_sequence(work *w, sk_error *err)
{
    const sk_scene_run_settings *s = w->settings;
    sk_scene *scene = NULL;
    char path[4200];
    sk_status status = SK_OK;
    if (strlen(s->output) > 4000)
        return sk_fail(err, SK_ERR_ARG, "%.40s…: the path is too long", s->output);
    SK_TRY_GOTO(sk_folder_make(s->output, err));
    SK_TRY_GOTO(sk_scene_open(&s->scene, &scene, err));
    SK_TRY_GOTO(begin(w, s->truth, err));
    for (int64_t i = 0; i < s->frames && !w->report->stopped; i++) {
        const int32_t count = sk_scene_next(scene, &w->frame, w->animals);
        snprintf(path, sizeof path, "%s/%06lld.png", s->output, (long long)i);
        SK_TRY_GOTO(sk_picture_write_drawing(path, &w->frame, err));
        record(w, path, i, sk_time_seconds(w->frame.time_ns), count);
        w->report->stopped = w->watch && w->watch(w->context, i + 1, s->frames);
    }
done:
    sk_scene_close(&scene);
    return finish(w, status, err);
}

static sk_status run_video(work *w, sk_error *err)
{
    const sk_scene_run_settings *s = w->settings;
    sk_scene *scene = NULL;
    sk_video_sink *sink = NULL;
    sk_status status = SK_OK;
    SK_TRY_GOTO(sk_scene_open(&s->scene, &scene, err));
    SK_TRY_GOTO(begin(w, s->truth, err));
    SK_TRY_GOTO(sk_video_sink_open(s->output, s->scene.width, s->scene.height, s->scene.rate, &sink, err));
    for (int64_t i = 0; i < s->frames && !w->report->stopped; i++) {
        int32_t count = sk_scene_next(scene, &w->frame, w->animals);
        SK_TRY_GOTO(sk_video_sink_write(sink, &w->frame, err));
        record(w, s->output, i, sk_time_seconds(w->frame.time_ns), count);
        w->report->stopped = w->watch && w->watch(w->context, i + 1, s->frames);
    }
done:
    if (sink) {
        sk_status closed = sk_video_sink_close(&sink, status == SK_OK ? err : NULL);
        status = status == SK_OK ? closed : status;
    }
    sk_scene_close(&scene);
    return finish(w, status, err);
}

/* The rows name the video they would belong to: the truth's own name as .mp4. */
static sk_status run_truth(work *w, sk_error *err)
{
    const sk_scene_run_settings *s = w->settings;
    sk_scene *scene = NULL;
    sk_status status = SK_OK;
    char *source = sk_path_with_extension(s->truth ? s->truth : s->mot, ".mp4");
    if (!source)
        return sk_fail_memory(err, 64);
    SK_TRY_GOTO(sk_scene_open(&s->scene, &scene, err));
    SK_TRY_GOTO(begin(w, s->truth, err));
    for (int64_t i = 0; i < s->frames && !w->report->stopped; i++) {
        int32_t count = sk_scene_tell(scene, w->animals);
        record(w, source, i, sk_time_seconds(sk_time_ns((double)i / s->scene.rate)), count);
        w->report->stopped = w->watch && w->watch(w->context, i + 1, s->frames);
    }
done:
    sk_scene_close(&scene);
    sk_free(source);
    return finish(w, status, err);
}

/* The scene of picture i: kind, number of animals and moment drawn anew. */
static sk_scene_settings picture_scene(const sk_scene_settings *all, int64_t i, int32_t *moment)
{
    sk_random random = sk_random_begin(sk_random_scramble(all->seed) + (uint64_t)i, 4);
    sk_scene_settings one = *all;
    one.seed = (uint64_t)sk_random_bits(&random) << 32;
    one.seed |= sk_random_bits(&random);
    one.animals = 1 + sk_random_below(&random, all->animals);
    if (all->species == SK_SPECIES_MIXED) /* pictures of one kind and of several */
        one.species = (sk_species)sk_random_below(&random, SK_SPECIES_COUNT + 1);
    *moment = sk_random_below(&random, 30);
    return one;
}

static sk_status write_labels(const work *w, const char *path, int32_t count, sk_error *err)
{
    sk_file_writer *writer = NULL;
    SK_TRY(sk_file_writer_open(path, &writer, err));
    sk_scene_label_rows(sk_file_writer_stream(writer), w->settings->labels, w->frame.width, w->frame.height,
                        w->animals, count);
    return sk_file_writer_commit(&writer, err);
}

static sk_status one_picture(work *w, int64_t i, sk_error *err)
{
    const sk_scene_run_settings *s = w->settings;
    char path[4200];
    int32_t moment;
    sk_scene_settings one = picture_scene(&s->scene, i, &moment);
    sk_scene *scene = NULL;
    SK_TRY(sk_scene_open(&one, &scene, err));
    sk_scene_skip(scene, moment);
    int32_t count = sk_scene_next(scene, &w->frame, w->animals);
    sk_scene_close(&scene);
    snprintf(path, sizeof path, "%s/labels/%06lld.txt", s->output, (long long)i);
    SK_TRY(write_labels(w, path, count, err));
    snprintf(path, sizeof path, "%s/images/%06lld%s", s->output, (long long)i, s->extension);
    SK_TRY(sk_picture_write(path, &w->frame, err));
    record(w, path, i, 0.0, count);
    return SK_OK;
}

static sk_status run_pictures(work *w, sk_error *err)
{
    const sk_scene_run_settings *s = w->settings;
    char path[4200];
    sk_status status = SK_OK;
    sk_file_writer *dataset = NULL;
    if (strlen(s->output) > 4000)
        return sk_fail(err, SK_ERR_ARG, "%.40s…: the path is too long", s->output);
    snprintf(path, sizeof path, "%s/images", s->output);
    SK_TRY_GOTO(sk_folder_make(path, err));
    snprintf(path, sizeof path, "%s/labels", s->output);
    SK_TRY_GOTO(sk_folder_make(path, err));
    snprintf(path, sizeof path, "%s/data.yaml", s->output);
    SK_TRY_GOTO(sk_file_writer_open(path, &dataset, err));
    sk_scene_dataset(sk_file_writer_stream(dataset), s->labels);
    SK_TRY_GOTO(sk_file_writer_commit(&dataset, err));
    snprintf(path, sizeof path, "%s/truth.csv", s->output);
    SK_TRY_GOTO(begin(w, s->truth ? s->truth : path, err));
    for (int64_t i = 0; i < s->pictures && !w->report->stopped; i++) {
        SK_TRY_GOTO(one_picture(w, i, err));
        w->report->stopped = w->watch && w->watch(w->context, i + 1, s->pictures);
    }
done:
    return finish(w, status, err);
}

sk_status sk_scene_run(const sk_scene_run_settings *settings, sk_scene_watch watch, void *context,
                       sk_scene_report *report, sk_error *err)
{
    *report = (sk_scene_report){0};
    SK_CHECK_ARG(settings->output || settings->truth || settings->mot, err);
    SK_CHECK_ARG(settings->pictures <= 0 || (settings->output && !settings->mot), err);
    if (settings->output && settings->pictures <= 0 && !settings->sequence &&
        ((settings->scene.width | settings->scene.height) & 1))
        return sk_fail(err, SK_ERR_ARG, "a video's sides must be even, not %dx%d", settings->scene.width,
                       settings->scene.height);
    work *w = sk_calloc(1, sizeof *w);
    if (!w)
        return sk_fail_memory(err, sizeof *w);
    w->settings = settings;
    w->watch = watch;
    w->context = context;
    w->report = report;
    int64_t start = sk_clock_ns();
    sk_status status = settings->pictures > 0 ? run_pictures(w, err)
                       : settings->sequence   ? run_sequence(w, err)
                       : settings->output     ? run_video(w, err)
                                              : run_truth(w, err);
    report->seconds = (double)(sk_clock_ns() - start) * 1e-9;
    sk_free(w);
    return status;
}
