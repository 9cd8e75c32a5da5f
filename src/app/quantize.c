/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "app/output_place.h"
#include "base/clock.h"
#include "base/file.h"
#include "formats/skq.h"
#include "models/onnx_export.h"
#include "runner/network.h"
#include "skitter/version.h"
#include "tasks/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layers go back to f32, those first that hurt most for their work, until the rest hurts by no more than this part of what all
 * did, or so much of the work is in f32. The second's are the first's and more: it hurts no more. */
static const struct {
    double hurt, work;
} limits[] = {
    [SK_QUANTIZE_I8] = {0.45, 0.04}, [SK_QUANTIZE_MIXED] = {0.25, 0.25}, [SK_QUANTIZE_FP8] = {0.35, 0.15}};

void sk_quantize_defaults(sk_quantize_settings *settings)
{
    *settings =
        (sk_quantize_settings){.frames = 100, .percent = 99.99, .confidence = 0.25f, .peak_threshold = 0.2f};
}

void sk_quantize_begin(sk_quantize_job *job, const char *step, int64_t total)
{
    job->step = step;
    job->done = 0;
    job->total = total;
}

sk_status sk_quantize_tick(sk_quantize_job *job, sk_error *err)
{
    job->done++;
    if (job->s->watch && job->s->watch(job->s->context, job->step, job->done, job->total))
        return sk_fail(err, SK_ERR_CANCELLED, "interrupted; nothing was written");
    return SK_OK;
}

static sk_status check_model(const char *path, bool in_eight_bits, const sk_quantised *q, sk_error *err)
{
    if (!in_eight_bits)
        return SK_OK;
    return sk_fail(err, SK_ERR_ARG, "%s: is in eight bits already; give the model it was made from%s%s", path,
                   q && q->source[0] ? ": " : "", q ? q->source : "");
}

static sk_output_place output_place(const sk_quantize_settings *s)
{
    return (sk_output_place){.path = s->output, .option = "output", .overwrite = s->overwrite};
}

/* Before the work, not after it. */
static sk_status check(const sk_quantize_settings *s, sk_error *err)
{
    sk_quantised q;
    bool in_eight_bits = false;
    if (!s->model || !s->data || !s->output)
        return sk_fail(err, SK_ERR_ARG, "a model, frames (--data) and a file to write (-o) are needed");
    SK_TRY(sk_quantised_look(s->model, &q, &in_eight_bits, err));
    SK_TRY(check_model(s->model, in_eight_bits, &q, err));
    if (!sk_path_has_extension(s->output, SK_SKQ_EXTENSION))
        return sk_fail(err, SK_ERR_ARG, "%s: a model in eight bits has a name that ends in %s", s->output,
                       SK_SKQ_EXTENSION);
    sk_output_read reads[] = {{.name = "the model", .path = s->model, .model = true},
                              {.name = "the data (--data)", .path = s->data},
                              {.name = "the truth (--truth)", .path = s->truth},
                              {.name = "the finder (--finder)", .path = s->finder, .model = true},
                              {.name = "the detections (--detections)", .path = s->detections},
                              {.name = "the model in eight bits (-o)", .path = s->output}};
    const size_t n = sizeof reads / sizeof *reads;
    sk_output_place place = output_place(s);
    place.reads = reads;
    place.n_reads = n - 1; /* in a folder of these no .skq is read */
    SK_TRY(sk_output_place_check(&place, err));
    /* in folders of data there are pictures and videos, which the name tells */
    reads[0].inside = reads[2].inside = reads[3].inside = reads[4].inside = true;
    place = (sk_output_place){.path = s->report,
                              .option = "report",
                              .overwrite = s->overwrite,
                              .written = "a report in JSON",
                              .extension = ".json",
                              .reads = reads,
                              .n_reads = n};
    return s->report ? sk_output_place_check(&place, err) : SK_OK;
}

static sk_status check_opened(const sk_model *model, sk_error *err)
{
    if (!model->graph || model->truncated)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off; fetch it again", model->path);
    return check_model(model->path, sk_graph_is_quantised(model->graph), model->quantised, err);
}

/* --- what stays in f32 --- */

typedef struct ranked {
    int32_t layer;
    double gain; /* how much it hurts, for its part of the work */
} ranked;

static int by_gain(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->gain != y->gain ? (x->gain < y->gain) - (x->gain > y->gain) : x->layer - y->layer;
}

/* Work of each node at the size that is calibrated at. */
static sk_status works(const sk_quantize_job *job, double *work, double *total, sk_error *err)
{
    sk_graph *fixed = NULL;
    sk_shape shape = sk_shape_of(4, 1, (int64_t)job->channels, (int64_t)job->height, (int64_t)job->width);
    SK_TRY(sk_graph_specialise(job->graph, &shape, 1, &fixed, err));
    *total = sk_graph_flops(fixed);
    for (int32_t i = 0; i < job->plan->n_layers; i++) {
        sk_value out = job->graph->nodes[job->plan->layers[i].node].out[0];
        int32_t producer = fixed->values[out].producer;
        work[i] = producer >= 0 ? sk_node_flops(fixed, &fixed->nodes[producer]) : 0;
    }
    sk_graph_close(&fixed);
    return SK_OK;
}

static sk_status choose_kept(sk_quantize_job *job, uint8_t *stays, sk_quantize_report *report, sk_error *err)
{
    const int32_t n = job->plan->n_layers;
    ranked *order = sk_calloc((size_t)n, sizeof *order);
    double *work = sk_calloc((size_t)n, sizeof *work), total = 0, all = 0, spent = 0;
    sk_status status = SK_OK;
    if (!order || !work) {
        status = sk_fail_memory(err, (size_t)n * sizeof *order);
        goto done;
    }
    SK_TRY_GOTO(sk_quantize_sensitivity(job, err));
    SK_TRY_GOTO(works(job, work, &total, err));
    for (int32_t i = 0; i < n; i++) {
        order[i] = (ranked){i, job->sensitivity[i] / fmax(work[i] / total, 1e-4)};
        all += job->sensitivity[i];
    }
    qsort(order, (size_t)n, sizeof *order, by_gain);
    double rest = all, hurt = limits[job->s->precision].hurt, most = total * limits[job->s->precision].work;
    for (int32_t i = 0; i + 1 < n && rest > all * hurt; i++) {
        int32_t layer = order[i].layer;
        const sk_node *node = &job->graph->nodes[job->plan->layers[layer].node];
        if (job->s->precision == SK_QUANTIZE_FP8 && sk_quantise_is_depthwise(job->graph, node))
            continue; /* its weights are as they were, and what it reads is what others read */
        if (spent + work[layer] > most)
            break;
        spent += work[layer];
        rest -= job->sensitivity[layer];
        stays[job->plan->layers[layer].node] = 1;
        report->rows[layer].kept = true;
    }
done:
    sk_free_all(order, work);
    return status;
}

/* --- writing --- */

/* The size it was made for is its usual one from now on. SLEAP's follow the picture. */
static sk_status keep_size(const sk_quantize_job *job, sk_input_spec *input, sk_error *err)
{
    const sk_task_settings t = sk_quantize_task_settings(job);
    if (t.net_height <= 0 || t.net_width <= 0 || !sk_family_is_ultralytics(job->model->family))
        return SK_OK;
    return sk_stage_network_size(job->model, &t, &input->width, &input->height, err);
}

static sk_status write_file(const sk_quantize_job *job, sk_graph *graph, sk_quantize_report *report,
                            sk_error *err)
{
    sk_onnx_settings onnx = sk_onnx_defaults();
    sk_onnx_model *tree = NULL;
    sk_text text = {0};
    uint8_t *network = NULL, *file = NULL;
    size_t network_length = 0, length = 0;
    sk_status status = SK_OK;
    sk_model written = *job->model; /* borrows everything; only its network is another */
    written.graph = graph;
    SK_TRY_GOTO(keep_size(job, &written.input, err));
    onnx.dynamic_size = !written.input.fixed_size;
    onnx.dynamic_batch = !written.input.fixed_batch;
    onnx.undated = 1;
    onnx.eight_bits = SK_ONNX_EIGHT_BITS_OWN;
    SK_TRY_GOTO(sk_model_to_onnx(&written, &onnx, &tree, err));
    SK_TRY_GOTO(sk_onnx_write(tree, &network, &network_length, err));
    sk_json json = sk_json_to_text(&text, 0);
    sk_quantize_report_json(report, &json);
    SK_TRY_GOTO(sk_json_end(&json, err));
    SK_TRY_GOTO(sk_text_status(&text, err));
    sk_skq parts = {sk_text_get(&text), strlen(sk_text_get(&text)), network, network_length};
    SK_TRY_GOTO(sk_skq_write(&parts, &file, &length, err));
    sk_model *again = NULL; /* as any reader will */
    SK_TRY_GOTO(sk_model_open_bytes(file, length, job->s->output, SK_HEADS_AUTO, &again, err));
    sk_model_close(&again);
    const sk_output_place place = output_place(job->s);
    SK_TRY_GOTO(sk_output_place_check_free(&place, err)); /* somebody else may have put one there meanwhile */
    SK_TRY_GOTO(sk_file_replace(job->s->output, file, length, err));
    report->bytes = (int64_t)length;
done:
    sk_onnx_close(&tree);
    sk_text_free(&text);
    sk_free_all(network, file);
    return status;
}

static sk_status write_report(const sk_quantize_settings *s, const sk_quantize_report *report, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    const sk_output_place place = {.path = s->report, .option = "report", .overwrite = s->overwrite};
    sk_quantize_report_json(report, &json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = sk_output_place_check_free(&place, err);
    if (status == SK_OK)
        status = sk_file_replace(s->report, sk_text_get(&text), strlen(sk_text_get(&text)), err);
    sk_text_free(&text);
    return status;
}

void sk_quantize_report_json(const sk_quantize_report *report, sk_json *json)
{
    sk_json_object(json);
    sk_quantised_write(&report->about, json);
    sk_json_key_float(json, "correlation", report->correlation);
    sk_json_key_ints(json, {"frames_asked", report->asked}, {"frames_missing", report->missing},
                     {"near_threshold", report->unsure});
    if (report->truth_of[0]) {
        static const char *const names[2] = {"f32", "eight_bits"};
        sk_json_key_object(json, "truth");
        sk_json_key_string(json, "of", report->truth_of);
        for (int i = 0; i < 2; i++) {
            const sk_quantize_score *t = &report->truth[i];
            sk_json_key_object(json, names[i]);
            sk_json_key_floats(json, {"ap", t->ap}, {"ap50", t->ap50}, {"precision", t->precision},
                               {"recall", t->recall});
            if (t->median_px >= 0)
                sk_json_key_float(json, "median_px", t->median_px);
            sk_json_close(json);
        }
        sk_json_close(json);
    }
    sk_json_key_array(json, "layers");
    for (int32_t i = 0; i < report->n_rows; i++) {
        const sk_quantize_row *r = &report->rows[i];
        sk_json_object(json);
        sk_json_key_string(json, "name", r->name);
        sk_json_key_string(json, "precision",
                           r->kept                                       ? "f32"
                           : strcmp(report->about.precision, "fp8") == 0 ? "fp8"
                                                                         : "i8");
        sk_json_key_floats(json, {"error", r->error}, {"weight_error", r->weight_error},
                           {"low", (double)r->low}, {"high", (double)r->high});
        if (r->sensitivity > 0)
            sk_json_key_float(json, "sensitivity", r->sensitivity);
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_close(json);
}

/* --- the whole --- */

static sk_status make_rows(const sk_quantize_job *job, sk_quantize_report *report, sk_error *err)
{
    report->rows = sk_calloc((size_t)job->plan->n_layers, sizeof *report->rows);
    if (!report->rows)
        return sk_fail_memory(err, (size_t)job->plan->n_layers * sizeof *report->rows);
    report->n_rows = job->plan->n_layers;
    for (int32_t i = 0; i < report->n_rows; i++)
        snprintf(report->rows[i].name, sizeof report->rows[i].name, "%s", job->plan->layers[i].name);
    return SK_OK;
}

static void about(const sk_quantize_job *job, sk_quantised *q)
{
    const sk_quantize_settings *s = job->s;
    snprintf(q->precision, sizeof q->precision, "%s",
             s->precision == SK_QUANTIZE_FP8     ? "fp8"
             : s->precision == SK_QUANTIZE_MIXED ? "mixed"
                                                 : "i8");
    snprintf(q->source, sizeof q->source, "%.255s", sk_path_name(job->model->path));
    snprintf(q->source_sha256, sizeof q->source_sha256, "%s", job->model->content_hash);
    snprintf(q->data, sizeof q->data, "%.255s", sk_path_name(s->data));
    if (job->finder)
        snprintf(q->finder, sizeof q->finder, "%.255s", sk_path_name(job->finder->path));
    snprintf(q->made_by, sizeof q->made_by, "%.31s", sk_version_text());
    q->frames = sk_quantize_count(job, false);
    q->height = job->height;
    q->width = job->width;
}

static void job_free(sk_quantize_job *job)
{
    sk_quantize_numbers_free(job);
    sk_free(job->sensitivity);
    sk_quantise_plan_close(&job->plan);
    sk_quantize_frames_free(job);
    sk_quantize_truth_close(&job->truth);
    sk_quantize_finder_close(job);
    sk_graph_close(&job->graph);
}

/* Twice where joined values were brought to reach alike. */
static sk_status calibrate(sk_quantize_job *job, sk_quantize_report *report, sk_error *err)
{
    bool changed = false;
    SK_TRY(sk_quantize_calibrate(job, report, err));
    SK_TRY(sk_quantise_equalise(job->graph, job->reach, (const float *const *)job->channel_reach, &changed,
                                err));
    if (!changed)
        return SK_OK;
    sk_quantize_numbers_free(job);
    return sk_quantize_calibrate(job, report, err);
}

/* A byte for each node, 1: stays in f32 whatever is measured. Tensor cores of fp8 have no transposed convolutions. */
static sk_status find_stays(const sk_quantize_job *job, uint8_t **out, sk_error *err)
{
    uint8_t *stays = *out = sk_calloc(job->graph->n_nodes, 1);
    if (!stays)
        return sk_fail_memory(err, job->graph->n_nodes);
    for (size_t n = 0; n < job->graph->n_nodes; n++)
        stays[n] = job->s->precision == SK_QUANTIZE_FP8 && job->graph->nodes[n].op == SK_OP_CONV_TRANSPOSE;
    return SK_OK;
}

sk_status sk_quantize_run(const sk_quantize_settings *settings, sk_quantize_report *report, sk_error *err)
{
    sk_quantize_job job = {.s = settings};
    sk_model *model = NULL;
    sk_graph *eight_bits = NULL, *simulated = NULL;
    uint8_t *stays = NULL;
    sk_lock *lock = NULL;
    sk_status status = SK_OK;
    int64_t begin = sk_clock_ns();
    memset(report, 0, sizeof *report);
    SK_TRY(check(settings, err));
    SK_TRY(sk_output_place_hold(settings->output, &lock, err));
    SK_TRY_GOTO(sk_model_open_heads(settings->model, settings->heads, &model, err));
    job.model = model;
    SK_TRY_GOTO(check_opened(model, err));
    SK_TRY_GOTO(sk_net_engine("cpu", &job.engine, err));
    SK_TRY_GOTO(sk_quantize_finder_open(&job, err));
    SK_TRY_GOTO(sk_quantize_truth_open(&job, &job.truth, err));
    SK_TRY_GOTO(sk_quantise_prepare(model->graph, &job.graph, err));
    SK_TRY_GOTO(find_stays(&job, &stays, err));
    SK_TRY_GOTO(sk_quantise_plan_open(job.graph, stays, &job.plan, err));
    SK_TRY_GOTO(make_rows(&job, report, err));
    SK_TRY_GOTO(sk_quantize_read(&job, err));
    SK_TRY_GOTO(sk_quantize_truth_check(&job, err));
    SK_TRY_GOTO(calibrate(&job, report, err));
    SK_TRY_GOTO(choose_kept(&job, stays, report, err));
    SK_TRY_GOTO(sk_quantize_make(&job, stays, false, report, &eight_bits, err));
    SK_TRY_GOTO(sk_quantize_make(&job, stays, true, NULL, &simulated, err));
    SK_TRY_GOTO(sk_quantize_errors(&job, simulated, report, err));
    SK_TRY_GOTO(sk_quantize_loss(&job, eight_bits, simulated, report, err));
    about(&job, &report->about);
    report->asked = settings->frames;
    report->missing = job.missing;
    SK_TRY_GOTO(write_file(&job, eight_bits, report, err));
    if (settings->report)
        SK_TRY_GOTO(write_report(settings, report, err));
    sk_quantize_judge(settings, report);
    report->seconds = (double)(sk_clock_ns() - begin) * 1e-9;
done:
    sk_lock_remove(&lock);
    sk_graph_close(&eight_bits);
    sk_graph_close(&simulated);
    job_free(&job);
    sk_model_close(&model);
    sk_free(stays);
    if (status != SK_OK)
        sk_quantize_report_free(report);
    return status;
}

void sk_quantize_report_free(sk_quantize_report *report)
{
    sk_free(report->rows);
    report->rows = NULL;
    report->n_rows = 0;
}
