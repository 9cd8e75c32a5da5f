/* SPDX-License-Identifier: Apache-2.0 */
/* Every animal in every frame, in thirty lines:  predict MODEL SOURCE
 * Build: cc predict.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "model.pt", *uri = argc > 2 ? argv[2] : "video.mp4";
    sk_error err = {0};
    sk_detector_settings how;
    sk_source_settings where;
    sk_detector_defaults(&how);
    sk_source_defaults(&where);
    sk_detector *detector = NULL;
    sk_source *source = NULL;
    sk_instances found = {0};
    const sk_frame *frame = NULL;
    sk_status status = sk_detector_open(&model, 1, &how, &detector, &err);
    if (status == SK_OK)
        status = sk_source_open(uri, &where, &source, &err);
    if (status == SK_OK) {
        const sk_detector_info *info = sk_detector_about(detector);
        status = sk_instances_alloc(info->capacity, info->n_keypoints, &found, &err);
    }
    while (status == SK_OK && (status = sk_source_next(source, &frame, &err)) == SK_OK && frame) {
        status = sk_detector_run(detector, &frame, 1, &found, &err);
        for (int i = 0; status == SK_OK && i < found.count; i++)
            printf("frame %lld: score %.2f\n", (long long)frame->index, (double)found.items[i].score);
        sk_source_release(source, frame);
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_instances_free(&found);
    sk_source_close(&source);
    sk_detector_close(&detector);
    return status != SK_OK;
}
