/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over a video's frames in C, for bench/python_loop.py, which does the same in Python in turns:
 *     frame_loop MODEL VIDEO IMGSZ
 * For every line on standard input it plays the video once and answers with one: wall and processor milliseconds, frames, and the
 * sum of all boxes' coordinates. Only the public headers are used, as programs of others do. */
#include <skitter/skitter.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

typedef struct played {
    long frames;
    double sum;
} played;

static void use(sk_pipeline *pipeline, const sk_result *result, played *all)
{
    sk_instance found = SK_INSTANCE_INIT;
    for (int32_t i = 0; sk_instances_get(result->instances, i, &found); i++)
        for (int k = 0; k < 4; k++)
            all->sum += (double)found.box[k];
    all->frames++;
    sk_pipeline_give_back(pipeline, result);
}

static sk_status play(sk_pipeline *pipeline, const char *video, played *all, sk_error *err)
{
    sk_source_settings where = SK_SOURCE_SETTINGS_INIT;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    const sk_result *result = NULL;
    sk_source_defaults(&where);
    where.accepts = sk_pipeline_about(pipeline)->accepts;
    where.n_accepts = sk_pipeline_about(pipeline)->n_accepts;
    where.colours = sk_pipeline_about(pipeline)->colours;
    sk_status status = sk_source_open(video, &where, &source, err);
    bool more = status == SK_OK;
    while (more) {
        more = (status = sk_source_next(source, &frame, err)) == SK_OK && frame;
        if (more)
            more = (status = sk_pipeline_submit(pipeline, frame, NULL, 0, err)) == SK_OK;
        else if (status == SK_OK)
            sk_pipeline_finish(pipeline);
        while (status == SK_OK && sk_pipeline_take(pipeline, more ? 0 : -1, &result, err) == SK_OK && result)
            use(pipeline, result, all);
    }
    if (sk_pipeline_drain(pipeline, NULL) == SK_OK) /* the source's frames are back */
        sk_source_close(&source);
    return status;
}

int main(int argc, char **argv)
{
    sk_error err = {0};
    sk_pipeline *pipeline = NULL;
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    if (argc < 4)
        return 2;
    sk_pipeline_defaults(&how);
    how.height = how.width = atoi(argv[3]);
    const char *model = argv[1];
    sk_status status = sk_pipeline_open(&model, 1, &how, &pipeline, &err);
    char line[64];
    while (status == SK_OK && fgets(line, sizeof line, stdin)) {
        played all = {0};
        const double wall = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        status = play(pipeline, argv[2], &all, &err);
        printf("%.3f %.3f %ld %.3f\n", now_ms(CLOCK_MONOTONIC) - wall, now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu,
               all.frames, all.sum);
        fflush(stdout);
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_pipeline_close(&pipeline);
    return status != SK_OK;
}
