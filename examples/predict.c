/* SPDX-License-Identifier: Apache-2.0 */
/* Every animal in every frame, in thirty lines:  predict MODEL SOURCE
 * Build: cc predict.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "model.pt", *uri = argc > 2 ? argv[2] : "video.mp4";
    sk_error err = {0};
    sk_runner_settings how;
    sk_source_settings where;
    sk_runner_defaults(&how);
    sk_source_defaults(&where);
    sk_model *model = NULL;
    sk_runner *runner = NULL;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_status status = sk_model_open(path, &model, &err);
    if (status == SK_OK)
        status = sk_runner_open((const sk_model *const *)&model, 1, &how, &runner, &err);
    if (status == SK_OK)
        status = sk_source_open(uri, &where, &source, &err);
    while (status == SK_OK && (status = sk_source_next(source, &frame, &err)) == SK_OK && frame) {
        sk_runner_result result;
        sk_instance animal = SK_INSTANCE_INIT;
        status = sk_runner_run(runner, frame, NULL, &result, &err);
        for (int i = 0; status == SK_OK && sk_instances_get(result.instances, i, &animal); i++)
            printf("frame %lld: score %.2f\n", (long long)frame->index, (double)animal.score);
        sk_source_release(source, frame);
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_source_close(&source);
    sk_runner_close(&runner);
    sk_model_close(&model);
    return status != SK_OK;
}
