/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "base/file.h"
#include "tasks/family.h"

#include <stdlib.h>
#include <string.h>

/* Who finds the animals that a network looks at, where it takes crops: a model, whose network runs over the frames as they are read, or
 * a file. */

static sk_status check_alone(const sk_quantize_job *job, sk_error *err)
{
    if (sk_family_role(job->model).whole_frames)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_ARG,
        "%s: looks at crops around animals, and frames alone do not say where they are\n--finder "
        "MODEL, the one that finds them (a SLEAP centroid model, a YOLO detector), or --detections "
        "FILE, where they are known",
        job->model->path);
}

/* One that has no network of its own. */
static sk_status open_file(sk_quantize_job *job, sk_error *err)
{
    const sk_finder *f = &job->file.finder;
    SK_TRY(sk_finder_detections_open(job->s->detections, 0, &job->file, err));
    if (job->file.set.n_items == 0)
        return sk_fail(err, SK_ERR_ARG, "%s: holds no detections; there is nothing to look at",
                       job->s->detections);
    return sk_model_of_given(f->name, f->identity, f->n_classes, f->class_names, f->oriented, &job->finder,
                             err);
}

static sk_status describe(sk_quantize_job *job, sk_error *err)
{
    const sk_task_settings t = sk_quantize_task_settings(job);
    const sk_model *models[2] = {job->finder ? job->finder : job->model, job->model};
    return sk_task_describe(models, job->finder ? 2 : 1, &t, &job->gives, err);
}

sk_status sk_quantize_finder_open(sk_quantize_job *job, sk_error *err)
{
    const sk_quantize_settings *s = job->s;
    if (s->finder && s->detections)
        return sk_fail(err, SK_ERR_ARG, "--finder and --detections: one of them says where the animals are");
    if (!s->finder && !s->detections) {
        SK_TRY(check_alone(job, err));
        return describe(job, err);
    }
    SK_TRY(s->detections ? open_file(job, err) : sk_model_open(s->finder, &job->finder, err));
    if (!sk_family_role(job->model).needs)
        return sk_fail(
            err, SK_ERR_ARG,
            "%s: a '%s' model takes whole frames, and needs nobody who finds animals for it; leave "
            "%s away, or give the model that looks at crops of what it finds",
            job->model->path, sk_task_name(job->model->task), s->finder ? "--finder" : "--detections");
    if (!sk_family_pair(job->finder, job->model))
        return sk_fail(err, SK_ERR_ARG,
                       "%s: a '%s' model does not find what %s, a '%s' model, looks at; a SLEAP centroid "
                       "model or a YOLO detector does",
                       job->finder->path, sk_task_name(job->finder->task), job->model->path,
                       sk_task_name(job->model->task));
    return describe(job, err);
}

void sk_quantize_finder_close(sk_quantize_job *job)
{
    sk_task_description_free(&job->gives);
    sk_model_close(&job->finder);
    sk_finder_detections_close(&job->file);
}

sk_status sk_quantize_finder_stage(sk_quantize_job *job, sk_quantize_stage *stage, sk_error *err)
{
    sk_task_settings t = sk_quantize_task_settings(job);
    t.net_height = t.net_width = 0; /* --imgsz is the other's */
    SK_TRY(sk_task_stage_open(job->finder, &t, stage->width, stage->height, &stage->finder, err));
    if (sk_task_is_given(job->finder))
        return SK_OK;
    const sk_task_plan *plan = sk_task_stage_plan(stage->finder);
    const sk_graph *graph = job->finder->graph;
    if (!graph || job->finder->truncated)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off; fetch it again", job->finder->path);
    const size_t values = (size_t)plan->width * (size_t)plan->height * (size_t)plan->channels,
                 bytes = plan->u8 ? values : values * sizeof(float);
    stage->finder_input = sk_aligned_calloc(64, bytes);
    if (!stage->finder_input)
        return sk_fail_memory(err, bytes);
    SK_TRY(sk_instances_alloc(plan->capacity, plan->n_keypoints, &stage->found, err));
    return sk_quantize_open_network(job, job->finder, plan, graph, plan->cut_tail,
                                    sk_graph_is_quantised(graph) ? SK_PRECISION_I8 : SK_PRECISION_F32,
                                    &stage->finder_network, err);
}

void sk_quantize_finder_stage_close(sk_quantize_stage *stage)
{
    sk_session_close(&stage->finder_network);
    sk_task_stage_close(&stage->finder);
    sk_instances_free(&stage->found);
    sk_instances_free(&stage->unused);
    sk_free(stage->finder_input);
}

sk_status sk_quantize_find(sk_quantize_job *job, sk_quantize_stage *stage, const sk_frame *frame,
                           const sk_instances **found, sk_error *err)
{
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    if (!stage->finder_network)
        return job->file.finder.find(job->file.finder.context, frame, found, err);
    const sk_session_info *about = sk_session_about(stage->finder_network);
    const bool u8 = sk_task_stage_plan(stage->finder)->u8;
    SK_TRY(sk_task_stage_input(stage->finder, frame, u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                               stage->finder_input, err));
    SK_TRY(sk_quantize_run_input(stage->finder_network, stage->finder_input, outputs, err));
    SK_TRY(sk_task_stage_result(stage->finder, outputs, about->n_outputs, 0, about->outputs_form,
                                &stage->found, err));
    *found = &stage->found;
    return SK_OK;
}

/* --- which frames --- */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

sk_status sk_quantize_finder_frames(const sk_quantize_job *job, int64_t wanted, sk_frame_range **out,
                                    int32_t *count, sk_error *err)
{
    const sk_annotation_set *set = &job->file.set;
    int64_t *numbers = sk_calloc(set->n_items + 1, sizeof *numbers);
    size_t n = 0, different = 0;
    *out = sk_calloc((size_t)wanted, sizeof **out);
    *count = 0;
    if (!numbers || !*out) {
        sk_free(numbers);
        return sk_fail_memory(err, set->n_items * sizeof *numbers);
    }
    for (size_t i = 0; i < set->n_items; i++) {
        const int64_t frame = set->images[set->items[i].image].frame;
        if (!set->items[i].crowd && frame >= 0)
            numbers[n++] = frame;
    }
    qsort(numbers, n, sizeof *numbers, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            numbers[different++] = numbers[i];
    const size_t take = different < (size_t)wanted ? different : (size_t)wanted;
    for (size_t i = 0; i < take; i++) {
        const int64_t frame = numbers[i * different / take];
        (*out)[(*count)++] = (sk_frame_range){frame, frame + 1, 1};
    }
    sk_free(numbers);
    return SK_OK;
}
