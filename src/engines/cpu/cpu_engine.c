/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "engines/cpu/plan.h"
#include "graph/quantise.h"

#include <stdio.h>
#include <string.h>

/* Our own engine: fp32 on the CPU's vector units. */

typedef struct cpu_session {
    sk_session base;
    sk_pool *pool;
    cpu_plan plan;
    void *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS]; /* one slot: in the plan; more: copies */
    bool copies;
    int64_t *step_end, *step_min, *step_sum; /* profiling; null when off */
    int64_t profiled;
} cpu_session;

static const sk_engine_option cpu_options[] = {
    {.key = "winograd",
     .kind = SK_ENGINE_OPTION_SWITCH,
     .usual = "on",
     .changes_results = true,
     .help = "3x3 convolutions by Winograd's way where it is faster; off: sums as the reference makes them"},
    {.key = "tune",
     .kind = SK_ENGINE_OPTION_SWITCH,
     .usual = "on",
     .help =
         "time the kernels when a network is opened, and remember the fastest; results are the same bits"},
    {.key = "mask",
     .kind = SK_ENGINE_OPTION_WORD,
     .choices = "all|none|sse4.2|avx2|avxvnni|avx512|avx512vnni|avx512bf16|amx|neon|dotprod|i8mm",
     .usual = "all",
     .changes_results = true,
     .help = "no instructions beyond these"},
    {0}};

#define CPU_PRECISIONS (1u << SK_PRECISION_F32 | 1u << SK_PRECISION_BF16 | 1u << SK_PRECISION_I8)

static sk_status cpu_probe(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    sk_cpu_info cpu;
    sk_cpu_describe(&cpu);
    *out = (sk_engine_probe){.available = 1, .n_devices = 1};
    snprintf(out->version, sizeof out->version, "1");
    snprintf(out->detail, sizeof out->detail, "built in");
    snprintf(out->devices[0].name, sizeof out->devices[0].name, "%.60s, %d cores, %s", cpu.model,
             sk_cpu_usable_cores(), sk_cpu_level_name(sk_cpu_flags()));
    out->devices[0].precisions = CPU_PRECISIONS;
    return SK_OK;
}

static sk_status cpu_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    if (!(CPU_PRECISIONS & 1u << settings->precision))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "the cpu engine computes in f32, bf16 or i8, not in %s; set precision to one of these",
                       sk_precision_name(settings->precision));
    if (settings->precision == SK_PRECISION_I8 && sk_graph_is_f8(graph))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "this model is in fp8, not in i8; the cpu engine computes it in f32 (--precision f32)");
    if (settings->precision == SK_PRECISION_I8 && !sk_graph_is_quantised(graph))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "this model is not quantised, and precision i8 needs one that is; `skitter quantize MODEL "
            "--data VIDEO -o MODEL.skq` makes it");
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int32_t k = 0; k < graph->nodes[i].n_out; k++)
            if (!sk_shape_known(&graph->values[graph->nodes[i].out[k]].shape))
                return sk_fail(
                    err, SK_ERR_UNSUPPORTED,
                    "%s: the size of this %s's result depends on the data; the cpu engine plans all sizes "
                    "ahead. Use the runtime reference or onnx_cpu for this model",
                    graph->nodes[i].name, sk_op_name(graph->nodes[i].op));
    return SK_OK;
}

static void cpu_close(sk_session *session)
{
    cpu_session *s = (cpu_session *)session;
    for (int k = 0; s->copies && k < SK_SESSION_MAX_SLOTS; k++)
        for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            sk_free(s->outputs[k][i]);
    sk_free(s->step_end);
    cpu_plan_close(&s->plan);
    sk_pool_close(&s->pool);
    sk_free(s);
}

static void describe(cpu_session *s)
{
    sk_session_info *info = &s->base.info;
    const cpu_plan *plan = &s->plan;
    size_t used = 0;
    info->threads = plan->threads;
    info->activation_bytes =
        plan->memory_bytes + (size_t)plan->threads * plan->scratch_floats * sizeof(float);
    info->weight_bytes = plan->weight_bytes;
    snprintf(info->detail, sizeof info->detail, "%s, %zu steps, %d by winograd", plan->kernels.isa,
             plan->n_steps, plan->n_winograd);
    for (int op = 0; op < SK_OP_COUNT; op++)
        if (plan->by_reference[op] && used + 32 < sizeof info->elsewhere)
            used += (size_t)snprintf(info->elsewhere + used, sizeof info->elsewhere - used, "%s%s x%d",
                                     used ? ", " : "", sk_op_name((sk_op)op), plan->by_reference[op]);
}

static sk_status open_outputs(cpu_session *s, int32_t slots, sk_error *err)
{
    const sk_graph *g = s->plan.graph;
    s->copies = slots > 1;
    for (int32_t i = 0; i < g->n_outputs; i++) {
        const cpu_buffer *b = &s->plan.buffers[s->plan.outputs[i]];
        if (!s->copies)
            s->outputs[0][i] = s->plan.memory + b->offset;
        for (int32_t k = 0; s->copies && k < slots; k++) {
            s->outputs[k][i] = sk_aligned_calloc(64, b->bytes);
            if (!s->outputs[k][i])
                return sk_fail_memory(err, b->bytes);
        }
        s->base.info.outputs[i].data = s->outputs[0][i];
    }
    return SK_OK;
}

static sk_status cpu_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                          sk_error *err)
{
    uint32_t flags = sk_cpu_flags();
    char mask[32];
    sk_options_value(sk_engine_cpu.name, sk_options_find(cpu_options, "mask"), settings->options, mask,
                     sizeof mask);
    if (strcmp(mask, "all") != 0)
        SK_TRY(sk_cpu_apply_mask(mask, flags, &flags, err));
    cpu_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_pool_settings pool = sk_pool_defaults();
    pool.threads = settings->threads;
    pool.cores = settings->cores;
    pool.core_count = settings->core_count;
    sk_status status;
    SK_TRY_GOTO(sk_pool_open(&pool, &s->pool, err));
    sk_kernels_f32_fill(&s->plan.kernels, flags);
    sk_kernels_u8_fill(&s->plan.kernels_u8, flags);
    s->plan.winograd = sk_options_on(sk_engine_cpu.name, cpu_options, settings->options, "winograd");
    s->plan.tune = sk_options_on(sk_engine_cpu.name, cpu_options, settings->options, "tune");
    SK_TRY_GOTO(cpu_plan_open(graph, settings, s->pool, &s->plan, err));
    SK_TRY_GOTO(open_outputs(s, settings->slots, err));
    describe(s);
    *out = &s->base;
    return SK_OK;
done:
    cpu_close(&s->base);
    return status;
}

static void add_profile(cpu_session *s, int64_t start)
{
    for (size_t i = 0; i < s->plan.n_steps; i++) {
        int64_t ns = s->step_end[i] - start;
        start = s->step_end[i];
        s->step_sum[i] += ns;
        if (s->profiled == 0 || ns < s->step_min[i])
            s->step_min[i] = ns;
    }
    s->profiled++;
}

static sk_status cpu_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    cpu_session *s = (cpu_session *)session;
    int64_t start = s->step_end ? cpu_profile_clock(&s->plan) : 0;
    SK_TRY(cpu_plan_run(&s->plan, s->pool, inputs, s->step_end, err));
    if (s->step_end)
        add_profile(s, start);
    for (int32_t i = 0; s->copies && i < s->plan.graph->n_outputs; i++) {
        const cpu_buffer *b = &s->plan.buffers[s->plan.outputs[i]];
        memcpy(s->outputs[slot][i], s->plan.memory + b->offset, b->bytes);
    }
    return SK_OK;
}

static sk_status cpu_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    (void)err;
    cpu_session *s = (cpu_session *)session;
    for (int32_t i = 0; i < s->plan.graph->n_outputs; i++)
        outputs[i] = s->outputs[slot][i];
    return SK_OK;
}

static sk_status cpu_profile_start(sk_session *session, sk_error *err)
{
    cpu_session *s = (cpu_session *)session;
    size_t n = s->plan.n_steps;
    if (!s->step_end) {
        s->step_end = sk_calloc(3 * n + 1, sizeof *s->step_end);
        if (!s->step_end)
            return sk_fail_memory(err, 3 * n * sizeof *s->step_end);
        s->step_min = s->step_end + n;
        s->step_sum = s->step_min + n;
    }
    memset(s->step_end, 0, 3 * n * sizeof *s->step_end);
    s->profiled = 0;
    return SK_OK;
}

static sk_status cpu_profile(sk_session *session, sk_profile_row *rows, int32_t capacity, int32_t *count,
                             sk_error *err)
{
    cpu_session *s = (cpu_session *)session;
    if (!s->step_end)
        return sk_fail(err, SK_ERR_ARG, "profiling was not started");
    *count = (int32_t)s->plan.n_steps;
    for (int32_t i = 0; i < *count && i < capacity; i++) {
        const cpu_step *step = &s->plan.steps[i];
        rows[i] = (sk_profile_row){.flops = step->flops, .min_us = (double)s->step_min[i] / 1e3};
        rows[i].mean_us = s->profiled ? (double)s->step_sum[i] / 1e3 / (double)s->profiled : 0.0;
        snprintf(rows[i].name, sizeof rows[i].name, "%.63s", step->name);
        snprintf(rows[i].kernel, sizeof rows[i].kernel, "%s", step->kernel);
        snprintf(rows[i].shape, sizeof rows[i].shape, "%s", step->shape);
    }
    return SK_OK;
}

const sk_engine sk_engine_cpu = {
    .name = "cpu",
    .title = "skitter on the CPU",
    .can = {.device = SK_DEVICE_CPU,
            .reads = SK_READS(SK_PLACE_HOST),
            .precisions = CPU_PRECISIONS,
            .usual = SK_PRECISION_F32,
            .free_shapes = true,
            .same_bits = true},
    .options = cpu_options,
    .probe = cpu_probe,
    .supports = cpu_supports,
    .open = cpu_open,
    .submit = cpu_submit,
    .wait = cpu_wait,
    .close = cpu_close,
    .profile_start = cpu_profile_start,
    .profile = cpu_profile,
};
