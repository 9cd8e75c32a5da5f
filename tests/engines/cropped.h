/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_CROPPED_H
#define SK_TESTS_ENGINES_CROPPED_H

#include "framed_sleap.h"

#include "models/model.h"
#include "base/instances.h"
#include "tasks/stage.h"

/* Crops cut from a frame that lies on the device beside crops that the stage's own cutter makes of it: the same outputs. For a
 * GPU of loops and for a real one. */

typedef struct cropped {
    const sk_engine *engine;
    random_source random;
    int compared, crops;
    char problem[256];
} cropped;

/* What the second model is asked for: its stage, behind a first one that found these places. */
typedef struct cropped_pair {
    sk_model first, second;
    sk_task_settings settings;
    sk_task_stage *stages[2];
    sk_instances found, out;
} cropped_pair;

enum { CROPPED_BATCH = 5 };

static inline void cropped_close(cropped_pair *p)
{
    sk_task_stage_close(&p->stages[1]);
    sk_task_stage_close(&p->stages[0]);
    sk_instances_free(&p->found);
    sk_instances_free(&p->out);
}

/* Frames come to the device by a session of the first model; the second's session cuts from there. */
static inline bool cropped_sessions(cropped *c, const cropped_pair *p, const sk_frame *frame,
                                    sk_precision precision, sk_session *sessions[3], sk_error *err)
{
    const sk_task_plan *plan = sk_task_stage_plan(p->stages[1]), *before = sk_task_stage_plan(p->stages[0]);
    sk_session_settings s = sk_session_defaults();
    sk_frame_fit fit;
    sk_crop_wish wish;
    sk_task_fit way;
    s.precision = precision;
    s.cache_dir = "";
    if (!sk_task_stage_fit(p->stages[0], &way) || !sk_offload_fit_stage(&way, frame, &fit) ||
        !sk_offload_crops(sk_task_stage_crop_form(p->stages[1]), frame, &wish))
        return false;
    fit.whole = 1;
    const sk_shape whole = sk_shape_of(4, (int64_t)2, (int64_t)before->channels, (int64_t)before->height,
                                       (int64_t)before->width);
    const sk_shape shape = sk_shape_of(4, (int64_t)CROPPED_BATCH, (int64_t)plan->channels,
                                       (int64_t)plan->height, (int64_t)plan->width);
    sk_graph *graphs[2] = {framed_graph(&whole), framed_graph(&shape)};
    s.input = SK_INPUT_FRAMES;
    s.stages.fit = &fit;
    bool fine = graphs[0] && graphs[1] &&
                sk_session_open(c->engine, graphs[0], &whole, 1, &s, &sessions[0], err) == SK_OK;
    fine = fine && sk_session_capture(sessions[0], err) == SK_OK;
    s.stages.fit = NULL;
    s.input = plan->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    fine = fine && sk_session_open(c->engine, graphs[1], &shape, 1, &s, &sessions[1], err) == SK_OK;
    fine = fine && sk_session_capture(sessions[1], err) == SK_OK;
    s.input = SK_INPUT_CROPS;
    s.stages.crops = &wish;
    fine = fine && sk_session_open(c->engine, graphs[1], &shape, 1, &s, &sessions[2], err) == SK_OK;
    fine = fine && sk_session_capture(sessions[2], err) == SK_OK;
    for (int i = 0; i < 2; i++)
        sk_graph_close(&graphs[i]);
    return fine;
}

/* The frame goes up with another one before it; then all its crops, some at a time, both ways. */
static inline bool cropped_compare(cropped *c, cropped_pair *p, const sk_frame *frame, sk_precision precision,
                                   sk_error *err)
{
    sk_session *sessions[3] = {NULL};
    const sk_task_plan *plan = sk_task_stage_plan(p->stages[1]);
    const size_t values = (size_t)plan->width * (size_t)plan->height * (size_t)plan->channels,
                 bytes = values * (plan->u8 ? 1 : sizeof(float)),
                 picture = (size_t)frame->stride * (size_t)frame->height;
    uint8_t *input = calloc(CROPPED_BATCH, bytes), *both = malloc(2 * picture);
    sk_tensor want, got;
    sk_crop_list list;
    sk_frame resident;
    bool fine = input && both && cropped_sessions(c, p, frame, precision, sessions, err);
    for (size_t i = 0; fine && i < picture; i++)
        both[i] = (uint8_t)~frame->data[i];
    if (fine)
        memcpy(both + picture, frame->data, picture);
    const sk_session_input up = {
        .data = both, .row_bytes = frame->stride, .picture_bytes = (ptrdiff_t)picture};
    fine = fine && sk_session_run(sessions[0], &up, 1, NULL, 0, err) == SK_OK &&
           sk_session_resident(sessions[0], 1, &resident, err) == SK_OK &&
           sk_task_stage_find_crops(p->stages[1], &p->found, &p->out, &list, err) == SK_OK &&
           sk_task_stage_cut_from(p->stages[1], frame, err) == SK_OK;
    resident.format = frame->format;
    const sk_frame *const frames[] = {&resident};
    for (int32_t first = 0; fine && first < list.count; first += CROPPED_BATCH) {
        const sk_crop_list part = {list.items + first,
                                   list.count - first < CROPPED_BATCH ? list.count - first : CROPPED_BATCH,
                                   list.masks ? list.masks + first : NULL};
        for (int32_t i = 0; fine && i < part.count; i++)
            fine = sk_task_stage_crop_input(p->stages[1], first + i,
                                            plan->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                            input + (size_t)i * bytes, err) == SK_OK;
        const sk_session_input cut = {.data = input}, places = {.frames = frames, .crops = &part};
        fine = fine && sk_session_run(sessions[1], &cut, 1, &want, 1, err) == SK_OK &&
               sk_session_run(sessions[2], &places, 1, &got, 1, err) == SK_OK;
        for (size_t i = 0; fine && i < (size_t)part.count * values; i++)
            if (((const float *)want.data)[i] != ((const float *)got.data)[i]) {
                const sk_crop *crop = &part.items[i / values];
                snprintf(c->problem, sizeof c->problem,
                         "crop %d (%g, %g, %g x %g of %dx%d), value %d of %d is %g, should be %g",
                         (int)(first + (int32_t)(i / values)), (double)crop->left, (double)crop->top,
                         (double)crop->width, (double)crop->height, frame->width, frame->height,
                         (int)(i % values), (int)values, (double)((const float *)got.data)[i],
                         (double)((const float *)want.data)[i]);
                fine = false;
            }
        c->crops += part.count;
    }
    c->compared++;
    for (int i = 0; i < 3; i++)
        sk_session_close(&sessions[i]);
    free(input);
    free(both);
    return fine;
}

static inline sk_model cropped_model(sk_task task, int channels, const sk_sleap_spec *spec)
{
    sk_model m = {.path = "fake", .n_keypoints = 2, .n_outputs = 1};
    m.input = (sk_input_spec){.channels = channels, .scale = 1.0f / 255.0f};
    m.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_CONFMAPS, .stride = 2};
    m.sleap = *spec;
    sk_model_set_task(&m, task);
    return m;
}

/* A frame of noise; `grey` in three channels where it is asked for. */
static inline sk_frame cropped_frame(cropped *c, sk_pixel_format format, int w, int h, bool grey)
{
    const int k = format == SK_PIXEL_GRAY ? 1 : 3, stride = w * k;
    uint8_t *data = malloc((size_t)(stride * h));
    for (int i = 0; i < stride * h; i++)
        data[i] = (uint8_t)(random_next(&c->random) >> 7);
    for (int i = 0; grey && k == 3 && i < w * h; i++)
        data[3 * i + 1] = data[3 * i + 2] = data[3 * i];
    return (sk_frame){.format = format, .width = w, .height = h, .stride = stride, .data = data};
}

/* Boxes in, at the edge of and outside of a frame. */
static inline bool cropped_places(cropped *c, cropped_pair *p, const sk_frame *frame, sk_error *err)
{
    const sk_task_plan *before = sk_task_stage_plan(p->stages[0]), *plan = sk_task_stage_plan(p->stages[1]);
    if (sk_instances_alloc(before->capacity, before->n_keypoints, &p->found, err) != SK_OK ||
        sk_instances_alloc(plan->capacity, plan->n_keypoints, &p->out, err) != SK_OK)
        return false;
    for (int i = 0; i < 11; i++) {
        sk_found *found = sk_instances_add(&p->found);
        const float x = (float)(random_next(&c->random) % 10000) * 1.2e-4f * (float)frame->width -
                        0.1f * (float)frame->width,
                    y = (float)(random_next(&c->random) % 10000) * 1.2e-4f * (float)frame->height -
                        0.1f * (float)frame->height,
                    w = 1.0f + (float)(random_next(&c->random) % 40),
                    h = 1.0f + (float)(random_next(&c->random) % 40),
                    angle = (float)(random_next(&c->random) % 628) / 100 - 3.14f;
        found->has |= SK_HAS_BOX;
        found->box[0] = x - w / 2;
        found->box[1] = y - h / 2;
        found->box[2] = x + w / 2;
        found->box[3] = y + h / 2;
        if (p->first.task == SK_TASK_OBB) {
            const float obb[5] = {x, y, w, h, i % 4 == 3 ? 0 : angle};
            memcpy(found->obb, obb, sizeof obb);
            found->has |= SK_HAS_OBB;
        }
        if (before->n_keypoints > 0)
            p->found.keypoints[found->first_keypoint] = (sk_keypoint){x, y, 0.9f};
    }
    return true;
}

/* Both models of the pair on the frame; ends both. */
static inline bool cropped_run(cropped *c, cropped_pair *p, sk_frame *frame, int round)
{
    sk_error err = {0};
    const bool fine =
        sk_task_stage_open(&p->first, &p->settings, frame->width, frame->height, &p->stages[0], &err) ==
            SK_OK &&
        sk_task_stage_open_second(&p->second, p->stages[0], &p->settings, &p->stages[1], &err) == SK_OK &&
        cropped_places(c, p, frame, &err) &&
        cropped_compare(c, p, frame, round % 5 == 0 ? SK_PRECISION_F32 : SK_PRECISION_F16, &err);
    if (err.code != SK_OK)
        snprintf(c->problem, sizeof c->problem, "%.250s", err.message);
    cropped_close(p);
    free(frame->data);
    return fine;
}

/* Every format, era and number of channels, with and without size matching and scaling. */
static inline bool cropped_round(cropped *c, int round, int width, int height)
{
    static const float scales[] = {1.0f, 0.5f, 0.37f, 1.3f};
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    const int channels = round / 3 % 2 ? 3 : 1, matched = round / 12 % 3;
    const int w = width + (int)(random_next(&c->random) % 9), h = height + (int)(random_next(&c->random) % 9);
    sk_sleap_spec spec = {.legacy = round / 6 % 2,
                          .ensure_grayscale = round / 2 % 2,
                          .input_scale = 1,
                          .pad_to_stride = 16,
                          .target_size = {matched == 0   ? 0
                                          : matched == 1 ? height * 3 / 4
                                                         : h + 5,
                                          matched == 0   ? 0
                                          : matched == 1 ? width + 30
                                                         : w + 3}};
    cropped_pair p = {.settings = sk_task_settings_defaults()};
    p.first = cropped_model(SK_TASK_CENTROID, channels, &spec);
    spec.input_scale = scales[round / 36 % 4];
    spec.crop_size[0] = 20 + round % 7;
    spec.crop_size[1] = 24 + round % 5;
    p.second = cropped_model(SK_TASK_CENTERED_INSTANCE, channels, &spec);
    sk_frame frame = cropped_frame(c, formats[round % 3], w, h, round % 4 == 1);
    return cropped_run(c, &p, &frame, round);
}

/* A detector, and a network of poses that sees what it finds letterboxed. */
static inline void cropped_detector(cropped_pair *p, int round, sk_task task)
{
    for (int i = 0; i < 2; i++) {
        sk_model *m = i ? &p->second : &p->first;
        *m = (sk_model){.path = "fake", .n_keypoints = i};
        m->input = (sk_input_spec){.channels = 3,
                                   .height = i && round % 4 == 3 ? 32 : 64,
                                   .width = 64,
                                   .stride = 32,
                                   .rgb = round / 3 % 2,
                                   .scale = 1.0f / 255.0f};
        m->yolo = (sk_yolo_spec){.n_levels = 3,
                                 .stride = {8, 16, 32},
                                 .reg_max = 16,
                                 .n_classes = 1,
                                 .n_keypoints = i,
                                 .keypoint_dims = i ? 3 : 0};
        sk_model_set_task(m, i ? SK_TASK_POSE : task);
    }
}

static inline bool cropped_boxes(cropped *c, int round, int width, int height)
{
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    const int w = width + (int)(random_next(&c->random) % 9), h = height + (int)(random_next(&c->random) % 9);
    cropped_pair p = {.settings = sk_task_settings_defaults()};
    cropped_detector(&p, round, SK_TASK_DETECT);
    sk_frame frame = cropped_frame(c, formats[round % 3], w, h, false);
    return cropped_run(c, &p, &frame, round);
}

/* Crops along oriented boxes, with neighbours painted over, each with and without the other; for letterboxed networks and SLEAP's of
 * both eras. */
static inline bool cropped_turned(cropped *c, int round, int width, int height)
{
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    static const float scales[] = {1.0f, 0.5f, 1.3f};
    const int w = width + (int)(random_next(&c->random) % 9), h = height + (int)(random_next(&c->random) % 9);
    const int channels = round / 3 % 2 ? 3 : 1;
    cropped_pair p = {.settings = sk_task_settings_defaults()};
    p.settings.crop_turned = round % 4 != 1 ? SK_CHOICE_ON : SK_CHOICE_OFF;
    p.settings.mask_neighbours = round % 4 != 0 ? SK_CHOICE_ON : SK_CHOICE_OFF;
    cropped_detector(&p, round, SK_TASK_OBB);
    sk_sleap_spec spec = {
        .legacy = round / 4 % 3 == 1,
        .ensure_grayscale = round / 2 % 2,
        .input_scale = scales[round % 3],
        .pad_to_stride = 16,
        .crop_size = {20 + round % 7, 24 + round % 5},
        .target_size = {round % 5 == 0 ? height * 3 / 4 : 0, round % 5 == 0 ? width + 30 : 0}};
    if (round / 4 % 3 > 0)
        p.second = cropped_model(SK_TASK_CENTERED_INSTANCE, channels, &spec);
    sk_frame frame = cropped_frame(c, formats[round % 3], w, h, round % 4 == 1);
    return cropped_run(c, &p, &frame, round);
}

#endif
