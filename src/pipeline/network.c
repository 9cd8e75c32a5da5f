/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/network.h"

#include "base/memory.h"
#include "base/object.h"
#include "base/sized.h"
#include "engines/tolerance.h"
#include "models/model.h"
#include "engines/compare.h"
#include "runner/network.h"
#include "runner/session_settings.h"
#include "runner/trace.h"

#include <stdio.h>
#include <string.h>

/* The bare network: a trace without stages around it. */

#define NAME_ROOM 64
_Static_assert(SK_MAX_RANK <= SK_TENSOR_MAX_RANK, "a view has room for every shape");

struct sk_network {
    sk_model *model;
    sk_trace trace;
    sk_session *reference; /* of checks; opened by the first */
    sk_session *unrounded; /* … and by the first whose correlation is below the limit in eight bits */
    double pcc_min;
    int32_t slots, flying;
    bool released;
    sk_tensor_view given[SK_SESSION_MAX_INPUTS],
        outputs[SK_SESSION_MAX_OUTPUTS]; /* of the info, and of wait */
    sk_tensor_view waited[SK_SESSION_MAX_OUTPUTS];
    char names[SK_SESSION_MAX_INPUTS + SK_SESSION_MAX_OUTPUTS][NAME_ROOM];
    char runtime[32], device[160], precision[8];
    sk_network_info info;
};

static sk_network_settings defaults(void)
{
    return (sk_network_settings){
        .size = sizeof(sk_network_settings), .runtime = "cpu", .batch = 1, .slots = 2};
}

void sk_network_defaults(sk_network_settings *settings)
{
    const sk_network_settings whole = defaults();
    if (settings)
        sk_sized_write(settings, &whole, sizeof whole);
}

static sk_status check_settings(const sk_network_settings *s, sk_error *err)
{
    if (s->batch < 1 || s->batch > 64)
        return sk_fail(err, SK_ERR_ARG, "batch is %d; allowed are 1 to 64", s->batch);
    if (s->slots < 1 || s->slots > SK_SESSION_MAX_SLOTS)
        return sk_fail(err, SK_ERR_ARG, "slots is %d; allowed are 1 to %d", s->slots, SK_SESSION_MAX_SLOTS);
    if (s->height < 0 || s->width < 0 || s->threads < 0)
        return sk_fail(err, SK_ERR_ARG, "height %d, width %d or threads %d is negative", s->height, s->width,
                       s->threads);
    if (!(s->pcc_min >= 0 && s->pcc_min <= 1))
        return sk_fail(err, SK_ERR_ARG, "pcc_min is %g; a correlation lies between 0 and 1", s->pcc_min);
    return SK_OK;
}

/* --- what it takes and gives --- */

static sk_status view_of(const sk_tensor *tensor, const char *name, char room[NAME_ROOM], sk_tensor_view *out,
                         sk_error *err)
{
    static const struct {
        sk_dtype dtype;
        sk_element element;
    } kinds[] = {{SK_DTYPE_F32, SK_ELEMENT_F32},
                 {SK_DTYPE_I32, SK_ELEMENT_I32},
                 {SK_DTYPE_I64, SK_ELEMENT_I64},
                 {SK_DTYPE_U8, SK_ELEMENT_U8}};
    snprintf(room, NAME_ROOM, "%.63s", name ? name : "");
    *out = (sk_tensor_view){.name = room, .rank = tensor->shape.rank};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].dtype == tensor->dtype)
            out->element = kinds[i].element;
    if (!out->element)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s is of type %s with %d dimensions, which cannot be handed on", room,
                       sk_dtype_name(tensor->dtype), out->rank);
    for (int32_t k = 0; k < out->rank; k++)
        out->dim[k] = tensor->shape.dim[k];
    return SK_OK;
}

static sk_status fill_info(sk_network *n, const sk_device *device, sk_error *err)
{
    const sk_session_info *s = sk_session_about(n->trace.session);
    for (int32_t i = 0; i < s->n_inputs; i++)
        SK_TRY(view_of(&s->inputs[i], s->input_names[i], n->names[i], &n->given[i], err));
    for (int32_t i = 0; i < s->n_outputs; i++)
        SK_TRY(view_of(&s->outputs[i], s->output_names[i], n->names[SK_SESSION_MAX_INPUTS + i],
                       &n->outputs[i], err));
    snprintf(n->runtime, sizeof n->runtime, "%.31s", device->engine->name);
    snprintf(n->precision, sizeof n->precision, "%s", sk_precision_name(n->trace.precision));
    sk_engine_probe probe = {0};
    SK_TRY(device->engine->probe(&probe, err));
    snprintf(n->device, sizeof n->device, "%.140s", probe.n_devices ? probe.devices[0].name : probe.detail);
    n->info = (sk_network_info){.size = sizeof n->info,
                                .n_inputs = s->n_inputs,
                                .n_outputs = s->n_outputs,
                                .inputs = n->given,
                                .outputs = n->outputs,
                                .runtime = n->runtime,
                                .device = n->device,
                                .precision = n->precision,
                                .warm_up_ms = n->trace.warm_up_ms,
                                .optimised_ms = n->trace.optimised_ms,
                                .capture_ms = n->trace.capture_ms,
                                .bytes = (int64_t)s->activation_bytes};
    return SK_OK;
}

/* --- opening and closing --- */

/* Of what a file may hold besides: several inputs, or one that is no picture. */
static sk_status check_takes_pictures(const sk_model *m, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    if (!m->graph || m->truncated)
        return SK_OK; /* told by whoever opens it */
    if (m->graph->n_inputs != 1)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: has %d inputs; networks with one can be run", m->path,
                       m->graph->n_inputs);
    const sk_value_info *in = &m->graph->values[m->graph->inputs[0]];
    if (in->shape.rank >= 0 && in->shape.rank != 4)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: the input '%.80s' is %s; networks of pictures can be run, "
                       "[batch][channels][height][width]",
                       m->path, in->name, sk_shape_text(&in->shape, text, sizeof text));
    return SK_OK;
}

static sk_status capture(sk_network *n, const sk_network_settings *s, sk_error *err)
{
    SK_TRY(check_takes_pictures(n->model, err));
    const sk_input_spec *in = &n->model->input;
    sk_device devices[SK_RUNNER_MAX_DEVICES];
    int32_t count = 0;
    SK_TRY(sk_devices_read(NULL, s->runtime, devices, &count, err));
    if (count != 1)
        return sk_fail(err, SK_ERR_ARG,
                       "a network runs on one device, and '%s' is %d: open one network for each", s->runtime,
                       count);
    sk_trace_key key = {.engine = devices[0].engine,
                        .device = devices[0].index,
                        .batch = in->fixed_batch > 0 ? in->fixed_batch : s->batch,
                        .height = s->height ? s->height : in->height,
                        .width = s->width ? s->width : in->width,
                        .channels = in->channels};
    memcpy(key.model, n->model->content_hash, sizeof key.model);
    sk_detector_settings how;
    sk_detector_defaults(&how);
    how.runtime = s->runtime;
    how.precision = s->precision;
    how.engine_options = s->options;
    how.threads = s->threads;
    SK_TRY(sk_trace_capture(&n->trace, n->model, &devices[0], &key, &how, s->slots, false, NULL, err));
    return fill_info(n, &devices[0], err);
}

sk_status sk_network_open(const sk_model *model, const sk_network_settings *given, sk_network **out,
                          sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(model, err);
    sk_network_settings s = defaults();
    if (given)
        SK_TRY(sk_sized_read(given, &s, sizeof s, "settings of a network", err));
    s.runtime = s.runtime && s.runtime[0] ? s.runtime : "cpu";
    SK_TRY(check_settings(&s, err));
    sk_network *n = sk_calloc(1, sizeof *n);
    if (!n)
        return sk_fail_memory(err, sizeof *n);
    n->model = sk_model_hold(model);
    n->slots = s.slots;
    n->pcc_min = s.pcc_min;
    sk_status status = capture(n, &s, err);
    if (status != SK_OK) {
        sk_network_close(&n);
        return status;
    }
    *out = n;
    return SK_OK;
}

void sk_network_release(sk_network *n)
{
    if (!n || n->released)
        return;
    n->released = true;
    n->flying = 0;
    sk_trace_release(&n->trace);
    sk_session_close(&n->reference);
    sk_session_close(&n->unrounded);
    sk_model_close(&n->model);
}

void sk_network_close(sk_network **pointer)
{
    SK_TAKE_OR_RETURN(n, pointer);
    sk_network_release(n);
    sk_free(n);
}

const sk_network_info *sk_network_about(const sk_network *n)
{
    return n ? &n->info : NULL;
}

/* --- running --- */

/* "float 2x3x32x32" */
static const char *say_view(const sk_tensor_view *view, char *text, size_t capacity)
{
    static const char *const elements[] = {[SK_ELEMENT_F32] = "float",
                                           [SK_ELEMENT_I32] = "int32",
                                           [SK_ELEMENT_I64] = "int64",
                                           [SK_ELEMENT_U8] = "uint8"};
    const bool known = view->element >= SK_ELEMENT_F32 && view->element <= SK_ELEMENT_U8;
    int used = snprintf(text, capacity, "%s", known ? elements[view->element] : "no known element");
    for (int32_t k = 0; k < view->rank && k < SK_TENSOR_MAX_RANK; k++)
        used +=
            snprintf(text + used, capacity - (size_t)used, "%c%lld", k ? 'x' : ' ', (long long)view->dim[k]);
    return text;
}

static sk_status refuse_input(const sk_tensor_view *want, const sk_tensor_view *got, sk_error *err)
{
    char wanted[256], given[256];
    if (!got->data)
        return sk_fail(err, SK_ERR_MISMATCH, "input '%s' has no data", want->name);
    return sk_fail(err, SK_ERR_MISMATCH, "input '%s' is %s; the network takes %s (sk_network_about)",
                   want->name, say_view(got, given, sizeof given), say_view(want, wanted, sizeof wanted));
}

static sk_status check_inputs(const sk_network *n, const sk_tensor_view *inputs, int32_t n_inputs,
                              sk_error *err)
{
    if (n->released)
        return sk_fail(err, SK_ERR_CANCELLED, "the network was released");
    if (n_inputs != n->info.n_inputs)
        return sk_fail(err, SK_ERR_ARG, "%d inputs were given; the network takes %d", n_inputs,
                       n->info.n_inputs);
    for (int32_t i = 0; i < n_inputs; i++) {
        const sk_tensor_view *got = &inputs[i], *want = &n->given[i];
        bool same = got->data && got->element == want->element && got->rank == want->rank;
        for (int32_t k = 0; same && k < want->rank; k++)
            same = got->dim[k] == want->dim[k];
        if (!same)
            return refuse_input(want, got, err);
    }
    return SK_OK;
}

sk_status sk_network_submit(sk_network *n, const sk_tensor_view *inputs, int32_t n_inputs, sk_error *err)
{
    SK_CHECK_ARG(n && inputs, err);
    SK_TRY(check_inputs(n, inputs, n_inputs, err));
    if (n->flying == n->slots)
        return sk_fail(err, SK_ERR_BUSY, "all %d slots are in flight: wait for one first", n->slots);
    const sk_session_input in = {.data = inputs[0].data};
    SK_TRY(sk_trace_submit(&n->trace, &n->trace.key, &in, err));
    n->flying++;
    return SK_OK;
}

sk_status sk_network_wait(sk_network *n, const sk_tensor_view **outputs, sk_error *err)
{
    SK_CHECK_ARG(n && outputs, err);
    *outputs = NULL;
    if (n->released)
        return sk_fail(err, SK_ERR_CANCELLED, "the network was released");
    if (!n->flying)
        return sk_fail(err, SK_ERR_NOT_FOUND, "nothing is in flight: submit first");
    sk_tensor got[SK_SESSION_MAX_OUTPUTS];
    SK_TRY(sk_trace_wait(&n->trace, got, err));
    n->flying--;
    for (int32_t i = 0; i < n->info.n_outputs; i++) {
        n->waited[i] = n->outputs[i];
        n->waited[i].data = got[i].data;
    }
    *outputs = n->waited;
    return SK_OK;
}

sk_status sk_network_run(sk_network *n, const sk_tensor_view *inputs, int32_t n_inputs,
                         const sk_tensor_view **outputs, sk_error *err)
{
    SK_CHECK_ARG(n && outputs, err);
    *outputs = NULL;
    if (n->flying)
        return sk_fail(err, SK_ERR_BUSY, "%d submits are in flight: wait for them first", n->flying);
    SK_TRY(sk_network_submit(n, inputs, n_inputs, err));
    return sk_network_wait(n, outputs, err);
}

/* --- checking --- */

static sk_status open_reference(sk_network *n, bool unrounded, sk_session **session, sk_error *err)
{
    const sk_network_wish wish = {.precision = SK_PRECISION_F32};
    sk_session_settings s;
    if (*session)
        return SK_OK;
    SK_TRY(sk_session_settings_of(&sk_engine_reference, &wish, &s, err));
    const sk_trace_key *key = &n->trace.key;
    return unrounded ? sk_net_open_unrounded(n->model, key->batch, key->height, key->width, &s, session, err)
                     : sk_net_open(n->model, &sk_engine_reference, key->batch, key->height, key->width, &s,
                                   session, err);
}

static sk_status run_reference(sk_network *n, const void *data, bool unrounded, sk_tensor *outputs,
                               sk_error *err)
{
    sk_session **session = unrounded ? &n->unrounded : &n->reference;
    const sk_session_input in = {.data = data};
    SK_TRY(open_reference(n, unrounded, session, err));
    return sk_session_run(*session, &in, 1, outputs, SK_SESSION_MAX_OUTPUTS, err);
}

/* `plain`, where it is given: without the roundings of eight bits, which may explain a correlation below the limit. */
static void compare_output(const sk_network *n, int32_t i, const sk_tensor *reference, const sk_tensor *plain,
                           double limit, sk_check *check)
{
    const sk_tensor_view *ours = &n->waited[i];
    if (ours->element != SK_ELEMENT_F32)
        return;
    const size_t count = sk_tensor_bytes(reference) / sizeof(float);
    const sk_likeness a = sk_compare(ours->data, reference->data, count);
    const bool explained = plain && !(a.pcc >= limit) &&
                           sk_compare_rounding(ours->data, reference->data, plain->data, count) <=
                               sk_tolerance_of(n->trace.precision)->rounding;
    if (check->n_outputs < SK_MAX_CHECKED) {
        sk_output_check *o = &check->outputs[check->n_outputs++];
        *o = (sk_output_check){.output = i,
                               .pcc = a.pcc,
                               .pcc_min = explained ? a.pcc : limit,
                               .max_diff = a.max_diff,
                               .mean_diff = a.mean_diff};
        snprintf(o->name, sizeof o->name, "%.39s", ours->name);
    }
    check->passed &= a.pcc >= limit || explained;
    check->pcc = a.pcc >= check->pcc ? check->pcc : a.pcc; /* one that is no number counts as worst */
    check->max_diff = a.max_diff > check->max_diff ? a.max_diff : check->max_diff;
    check->mean_diff = a.mean_diff > check->mean_diff ? a.mean_diff : check->mean_diff;
}

static void compare_outputs(const sk_network *n, const sk_tensor *reference, const sk_tensor *plain,
                            double limit, sk_check *check)
{
    *check = (sk_check){.pcc = 1, .pcc_min = limit, .ran = true, .passed = true};
    for (int32_t i = 0; i < n->info.n_outputs; i++)
        compare_output(n, i, &reference[i], plain ? &plain[i] : NULL, limit, check);
}

sk_status sk_network_check(sk_network *n, const sk_tensor_view *inputs, int32_t n_inputs, sk_check *check,
                           sk_error *err)
{
    SK_CHECK_ARG(n && inputs && check, err);
    const sk_tensor_view *outputs = NULL;
    const sk_tolerance *usual = sk_tolerance_of(n->trace.precision);
    const double limit = n->pcc_min > 0 ? n->pcc_min : usual->pcc;
    sk_tensor reference[SK_SESSION_MAX_OUTPUTS], plain[SK_SESSION_MAX_OUTPUTS];
    *check = (sk_check){.pcc = 1};
    SK_TRY(sk_network_run(n, inputs, n_inputs, &outputs, err));
    SK_TRY(run_reference(n, inputs[0].data, false, reference, err));
    compare_outputs(n, reference, NULL, limit, check);
    if (!check->passed && usual->rounding > 0 && !(n->pcc_min > 0)) {
        SK_TRY(run_reference(n, inputs[0].data, true, plain, err));
        compare_outputs(n, reference, plain, limit, check);
    }
    return check->passed ? SK_OK
                         : sk_fail(err, SK_ERR_MISMATCH,
                                   "%s on %s: correlation %.6f with the reference executor, below %g",
                                   n->model->path, n->runtime, check->pcc, check->pcc_min);
}
