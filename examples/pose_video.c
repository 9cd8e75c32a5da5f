/* SPDX-License-Identifier: Apache-2.0 */
/* Every animal and its keypoints in a video, at full speed:  pose_video MODEL VIDEO [RUNTIME]
 * Build: cc pose_video.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>

static void print(const sk_pipeline_info *about, const sk_result *result)
{
    if (result->status != SK_OK) /* one broken frame does not end the video */
        fprintf(stderr, "frame %lld: %s\n", (long long)result->index, result->problem);
    sk_instance animal = SK_INSTANCE_INIT;
    for (int32_t i = 0; sk_instances_get(result->instances, i, &animal); i++) {
        printf("frame %lld: score %.2f", (long long)result->index, (double)animal.score);
        const sk_keypoint *points = sk_instances_keypoints(result->instances, i);
        for (int32_t k = 0; points && k < about->n_keypoints; k++)
            printf(" %s %.1f,%.1f", about->keypoint_names[k], (double)points[k].x, (double)points[k].y);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "model.pt", *video = argc > 2 ? argv[2] : "video.mp4";
    sk_error err = {0};
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_source_settings where = SK_SOURCE_SETTINGS_INIT;
    sk_pipeline_defaults(&how);
    sk_source_defaults(&where);
    if (argc > 3)
        how.runtime = argv[3];
    sk_pipeline *pipeline = NULL;
    sk_source *source = NULL;
    sk_status status = sk_pipeline_open(&model, 1, &how, &pipeline, &err);
    if (status == SK_OK) {
        where.accepts = sk_pipeline_about(pipeline)->accepts; /* frames the way the network likes them */
        where.n_accepts = sk_pipeline_about(pipeline)->n_accepts;
        status = sk_source_open(video, &where, &source, &err);
    }
    const sk_frame *frame = NULL;
    const sk_result *result = NULL;
    bool more = status == SK_OK;
    while (more) {
        more = (status = sk_source_next(source, &frame, &err)) == SK_OK && frame;
        if (more) /* lent: the frame goes back to the source by itself, when it has been looked at */
            more = (status = sk_pipeline_submit(pipeline, frame, NULL, 0, &err)) == SK_OK;
        else if (status == SK_OK)
            sk_pipeline_finish(pipeline);
        /* While frames come: what is ready. After the last: all that is left. */
        while (status == SK_OK && sk_pipeline_take(pipeline, more ? 0 : -1, &result, &err) == SK_OK &&
               result) {
            print(sk_pipeline_about(pipeline), result);
            sk_pipeline_give_back(pipeline, result);
        }
    }
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_pipeline_close(&pipeline); /* before the source, whose frames it may still hold */
    sk_source_close(&source);
    return status != SK_OK;
}
