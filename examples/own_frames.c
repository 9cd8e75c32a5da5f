/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of your own, from memory: lent without a copy, with a pointer of yours that comes back in the result.
 *     own_frames MODEL [COUNT]
 * Build: cc own_frames.c $(pkg-config --cflags --libs skitter) */
#include <skitter/skitter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 480 };

/* What a camera driver might have for every picture it takes. */
typedef struct shot {
    sk_frame frame;
    char label[32];
    int *still_lent;
    uint8_t pixels[HEIGHT][WIDTH][4];
} shot;

/* Called once for every frame that was taken, when its pixels are no longer needed; from any thread. Results keep no frames
 * here, so the label must live on: only the count is taken down. */
static void released(void *context, const sk_frame *frame)
{
    (void)frame;
    shot *s = context;
    __atomic_fetch_sub(s->still_lent, 1, __ATOMIC_RELAXED);
}

static shot *take_picture(int number, int *still_lent)
{
    shot *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    const sk_frame frame = SK_FRAME_INIT;
    s->frame = frame;
    s->frame.format = SK_PIXEL_BGRA;
    s->frame.width = WIDTH;
    s->frame.height = HEIGHT;
    s->frame.stride = sizeof s->pixels[0];
    s->frame.data = &s->pixels[0][0][0];
    s->frame.index = number;
    s->frame.time_ns = number * INT64_C(40000000); /* 25 a second */
    s->frame.release = released;
    s->frame.release_context = s;
    s->still_lent = still_lent;
    snprintf(s->label, sizeof s->label, "shot %d", number);
    memset(s->pixels, 40 + number % 100, sizeof s->pixels);
    return s;
}

static void use(sk_pipeline *pipeline, const sk_result *result)
{
    shot *s = result->user;
    printf("%s: %d found%s%s\n", s->label, sk_instances_count(result->instances),
           result->problem[0] ? ", " : "", result->problem);
    sk_pipeline_give_back(pipeline, result);
    free(s);
}

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "model.pt";
    int count = argc > 2 ? atoi(argv[2]) : 10, still_lent = 0;
    sk_error err = {0};
    sk_pipeline *pipeline = NULL;
    const sk_result *result = NULL;
    sk_status status = sk_pipeline_open(&model, 1, NULL, &pipeline, &err);
    for (int i = 0; i < count && status == SK_OK; i++) {
        shot *s = take_picture(i, &still_lent);
        if (!s)
            break;
        __atomic_fetch_add(&still_lent, 1, __ATOMIC_RELAXED);
        status = sk_pipeline_submit(pipeline, &s->frame, s, 0, &err);
        if (status != SK_OK) /* not taken, so it will not be released either */
            free(s);
        while (status == SK_OK && sk_pipeline_take(pipeline, 0, &result, NULL) == SK_OK && result)
            use(pipeline, result);
    }
    if (status == SK_OK)
        sk_pipeline_finish(pipeline);
    while (status == SK_OK && (status = sk_pipeline_take(pipeline, -1, &result, &err)) == SK_OK && result)
        use(pipeline, result);
    if (status != SK_OK)
        fprintf(stderr, "%s\n", err.message);
    sk_pipeline_close(&pipeline);
    printf("%d still lent\n", still_lent);
    return status != SK_OK;
}
