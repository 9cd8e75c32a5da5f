/* SPDX-License-Identifier: Apache-2.0 */
/* The same as predict.c at full speed: several frames on their way at once, through the runner.  stream MODEL SOURCE
 * Build: cc stream.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>

/* The runner is done with a frame's pixels: the decoder may have the buffer again. */
static void give_back(void *source, const sk_frame *frame)
{
    sk_source_release(source, frame);
}

static sk_status print_next(sk_runner *runner, sk_error *err)
{
    sk_runner_result result;
    sk_status status = sk_runner_wait(runner, &result, err);
    sk_instance animal = SK_INSTANCE_INIT;
    for (int i = 0; status == SK_OK && sk_instances_get(result.instances, i, &animal); i++)
        printf("frame %lld: score %.2f\n", (long long)result.index, (double)animal.score);
    return status;
}

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
        status = sk_source_open(uri, &where, &source, &err);
    how.devices = "auto"; /* an instance on each core; "cuda:0,cuda:1" would be two GPUs */
    how.frames = SK_RUNNER_BORROW;
    how.frame_done = give_back;
    how.context = source;
    if (status == SK_OK)
        status = sk_runner_open((const sk_model *const *)&model, 1, &how, &runner, &err);
    while (status == SK_OK && (status = sk_source_next(source, &frame, &err)) == SK_OK && frame) {
        status = sk_runner_submit(runner, frame, NULL, NULL, &err);
        if (status != SK_OK)
            sk_source_release(source, frame);
        else if (sk_runner_in_flight(runner) == sk_runner_depth(runner))
            status = print_next(runner, &err);
    }
    while (status == SK_OK && sk_runner_in_flight(runner) > 0)
        status = print_next(runner, &err);
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_runner_close(&runner); /* before the source, whose frames it may still hold */
    sk_source_close(&source);
    sk_model_close(&model);
    return status != SK_OK;
}
