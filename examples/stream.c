/* SPDX-License-Identifier: Apache-2.0 */
/* The same as predict.c at full speed: several frames on their way at once, read where they are.  stream MODEL SOURCE
 * Build: cc stream.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>
#include <stdlib.h>

/* A frame on its way: what the pipeline reads, and what the source gave. */
typedef struct passing {
    sk_frame frame;
    sk_source *source;
    const sk_frame *given;
} passing;

/* The pipeline is done with a frame's pixels: the decoder may have the buffer again. */
static void give_back(void *context, const sk_frame *frame)
{
    passing *p = context;
    (void)frame;
    sk_source_release(p->source, p->given);
    free(p);
}

static sk_status submit(sk_pipeline *pipeline, sk_source *source, const sk_frame *frame, sk_error *err)
{
    passing *p = calloc(1, sizeof *p);
    if (!p)
        return SK_ERR_MEMORY;
    *p = (passing){.frame = *frame, .source = source, .given = frame};
    p->frame.release = give_back;
    p->frame.release_context = p;
    sk_status status = sk_pipeline_submit(pipeline, &p->frame, NULL, 0, err);
    if (status != SK_OK)
        give_back(p, &p->frame);
    return status;
}

/* Whatever is there, without waiting; with `rest` everything that is still to come. */
static sk_status print_results(sk_pipeline *pipeline, int rest, sk_error *err)
{
    const sk_result *result = NULL;
    sk_status status;
    while ((status = sk_pipeline_take(pipeline, rest ? -1 : 0, &result, err)) == SK_OK && result) {
        sk_instance animal = SK_INSTANCE_INIT;
        for (int i = 0; sk_instances_get(result->instances, i, &animal); i++)
            printf("frame %lld: score %.2f\n", (long long)result->index, (double)animal.score);
        sk_pipeline_give_back(pipeline, result);
    }
    return status == SK_ERR_TIMEOUT ? SK_OK : status;
}

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "model.pt", *uri = argc > 2 ? argv[2] : "video.mp4";
    sk_error err = {0};
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_source_settings where;
    sk_pipeline_defaults(&how);
    sk_source_defaults(&where);
    how.devices = "auto"; /* an instance on each core; "cuda:0,cuda:1" would be two GPUs */
    sk_pipeline *pipeline = NULL;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_status status = sk_source_open(uri, &where, &source, &err);
    if (status == SK_OK)
        status = sk_pipeline_open(&model, 1, &how, &pipeline, &err);
    while (status == SK_OK && (status = sk_source_next(source, &frame, &err)) == SK_OK && frame) {
        status = submit(pipeline, source, frame, &err);
        if (status == SK_OK)
            status = print_results(pipeline, 0, &err);
    }
    if (status == SK_OK) {
        sk_pipeline_finish(pipeline);
        status = print_results(pipeline, 1, &err);
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_pipeline_close(&pipeline); /* before the source, whose frames it may still hold */
    sk_source_close(&source);
    return status != SK_OK;
}
