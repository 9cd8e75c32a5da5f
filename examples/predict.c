/* SPDX-License-Identifier: Apache-2.0 */
/* Every animal in every frame, one after the other:  predict MODEL SOURCE
 * Build: cc predict.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "model.pt", *uri = argc > 2 ? argv[2] : "video.mp4";
    sk_error err = {0};
    sk_source_settings where;
    sk_source_defaults(&where);
    sk_pipeline *pipeline = NULL;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_status status = sk_pipeline_open(&model, 1, NULL, &pipeline, &err);
    if (status == SK_OK)
        status = sk_source_open(uri, &where, &source, &err);
    while (status == SK_OK && (status = sk_source_next(source, &frame, &err)) == SK_OK && frame) {
        const sk_result *result = NULL;
        sk_instance animal = SK_INSTANCE_INIT;
        status = sk_pipeline_run(pipeline, frame, &result, &err);
        for (int i = 0; result && sk_instances_get(result->instances, i, &animal); i++)
            printf("frame %lld: score %.2f\n", (long long)frame->index, (double)animal.score);
        sk_pipeline_give_back(pipeline, result);
        sk_source_release(source, frame);
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_source_close(&source);
    sk_pipeline_close(&pipeline);
    return status != SK_OK;
}
