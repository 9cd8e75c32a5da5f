/* SPDX-License-Identifier: Apache-2.0 */
/* Two videos at once with one model: two pipelines in two threads, which share its weights.
 *     two_pipelines MODEL VIDEO VIDEO
 * Build: cc two_pipelines.c $(pkg-config --cflags --libs skitter) -pthread */
#include <skitter/skitter.h>

#include <pthread.h>
#include <stdio.h>

typedef struct job {
    const sk_model *model;
    const char *video;
    int64_t frames, animals;
    sk_status status;
    sk_error err;
} job;

static sk_status count_animals(job *j, sk_pipeline *pipeline, sk_source *source)
{
    const sk_frame *frame = NULL;
    const sk_result *result = NULL;
    for (;;) {
        sk_status status = sk_source_next(source, &frame, &j->err);
        if (status != SK_OK || !frame)
            return status;
        status = sk_pipeline_run(pipeline, frame, &result, &j->err); /* one frame in, its result out */
        if (status != SK_OK)
            return status;
        j->frames++;
        j->animals += sk_instances_count(result->instances);
        sk_pipeline_give_back(pipeline, result);
    }
}

static void *work(void *argument)
{
    job *j = argument;
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_source_settings where = SK_SOURCE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    sk_source_defaults(&where);
    how.threads = 1; /* each has a core of its own */
    sk_pipeline *pipeline = NULL;
    sk_source *source = NULL;
    j->status = sk_pipeline_open_models(&j->model, 1, &how, &pipeline, &j->err);
    if (j->status == SK_OK)
        j->status = sk_source_open(j->video, &where, &source, &j->err);
    if (j->status == SK_OK)
        j->status = count_animals(j, pipeline, source);
    sk_pipeline_close(&pipeline);
    sk_source_close(&source);
    return NULL;
}

int main(int argc, char **argv)
{
    sk_error err = {0};
    sk_model *model = NULL;
    if (sk_model_open(argc > 1 ? argv[1] : "model.pt", &model, &err) != SK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    job jobs[2] = {{.model = model, .video = argc > 2 ? argv[2] : "one.mp4"},
                   {.model = model, .video = argc > 3 ? argv[3] : "two.mp4"}};
    pthread_t threads[2];
    int started = 0, failed = 0;
    while (started < 2 && pthread_create(&threads[started], NULL, work, &jobs[started]) == 0)
        started++;
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (jobs[i].status == SK_OK)
            printf("%s: %lld animals in %lld frames\n", jobs[i].video, (long long)jobs[i].animals,
                   (long long)jobs[i].frames);
        else
            fprintf(stderr, "%s\n", jobs[i].err.message);
        failed |= jobs[i].status != SK_OK;
    }
    sk_model_close(&model);
    return failed || started < 2;
}
