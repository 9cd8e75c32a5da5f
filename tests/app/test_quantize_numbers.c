/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that eight bits are made with: what layers read and make over the frames to calibrate with, what each layer alone does to
 * the outputs, and how far off each is, against the same worked out value by value. */
#include "runner/runner_fixture.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "graph/quantise_range.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <math.h>
#include <unistd.h>

static sk_error err;

#define CLOSE(a, b)                                                                                          \
    assert_true(fabs((double)(a) - (double)(b)) <= 1e-3 * (fabs((double)(a)) + fabs((double)(b))) + 1e-6)

static void put_pictures(int count)
{
    char path[256];
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = make_frame(32, 32, i);
        f.stride = 96;
        for (int32_t k = 0; k < 32 * 96;
             k++) /* each is lighter than the one before, those that are held most of all */
            f.data[k] = (uint8_t)(f.data[k] / 4 + (i % 5 == 4 ? 190 : 4 * i));
        snprintf(path, sizeof path, "pictures/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

typedef struct fixture {
    sk_quantize_settings s;
    sk_quantize_job job;
    sk_quantize_report report;
    sk_model *model;
    int64_t ticks, total;
    const char *step;
} fixture;

static fixture f;

static bool watch(void *context, const char *step, int64_t done, int64_t total)
{
    fixture *of = context;
    assert_true(done >= 1 && done <= total);
    of->step = step;
    of->ticks = done;
    of->total = total;
    return false;
}

static void open_job(sk_quantize_precision precision)
{
    memset(&f, 0, sizeof f);
    f.model = tiny_model();
    sk_quantize_defaults(&f.s);
    f.s.data = "pictures";
    f.s.frames = 20; /* and 5 to measure on */
    f.s.height = f.s.width = 32;
    f.s.threads = 1;
    f.s.precision = precision;
    f.s.ranges = SK_RANGE_ALL;
    f.s.watch = watch;
    f.s.context = &f;
    f.job.s = &f.s;
    f.job.model = f.model;
    assert_ok(sk_net_engine("cpu", &f.job.engine, &err), &err);
    assert_ok(sk_quantise_prepare(f.model->graph, &f.job.graph, &err), &err);
    assert_ok(sk_quantise_plan_open(f.job.graph, NULL, &f.job.plan, &err), &err);
    f.report.n_rows = f.job.plan->n_layers;
    f.report.rows = sk_calloc((size_t)f.report.n_rows, sizeof *f.report.rows);
    assert_ok(sk_quantize_read(&f.job, &err), &err);
    assert_true(f.job.n_frames == 25 && f.job.n_inputs == 25 && f.job.plan->n_layers > 3);
    assert_true(sk_quantize_inputs(&f.job, true) == 5);
}

static void close_job(void)
{
    sk_quantize_numbers_free(&f.job);
    sk_free(f.job.sensitivity);
    sk_quantise_plan_close(&f.job.plan);
    sk_quantize_frames_free(&f.job);
    sk_graph_close(&f.job.graph);
    sk_quantize_report_free(&f.report);
    sk_model_close(&f.model);
}

/* --- what is seen --- */

typedef struct seen {
    double low, high, mean[256], most[256];
    int64_t channels;
} seen;

/* One value alone, over the frames that are not held. */
static void look_at(sk_value v, seen *out)
{
    sk_session *session = NULL;
    double elements = 0;
    *out = (seen){.low = INFINITY, .high = -INFINITY};
    assert_ok(sk_quantize_session(&f.job, f.job.graph, &v, 1, false, SK_PRECISION_F32, &session, &err), &err);
    for (size_t i = 0; i < f.job.n_inputs; i++) {
        sk_tensor t;
        if (f.job.inputs[i].held)
            continue;
        assert_ok(sk_quantize_run_input(session, f.job.inputs[i].data, &t, &err), &err);
        const float *x = t.data;
        const int64_t area = t.shape.dim[2] * t.shape.dim[3];
        out->channels = t.shape.dim[1];
        assert_true(t.shape.rank == 4 && t.shape.dim[0] == 1 && out->channels <= 256);
        for (int64_t k = 0; k < out->channels * area; k++) {
            const double value = (double)x[k];
            out->low = fmin(out->low, value);
            out->high = fmax(out->high, value);
            out->mean[k / area] += value;
            out->most[k / area] = fmax(out->most[k / area], fabs(value));
        }
        elements += (double)area;
    }
    for (int64_t c = 0; c < out->channels; c++)
        out->mean[c] /= elements;
    sk_session_close(&session);
}

static void ranges_and_means(void **state)
{
    (void)state;
    for (int f8 = 0; f8 < 2; f8++) {
        open_job(f8 ? SK_QUANTIZE_FP8 : SK_QUANTIZE_I8);
        const sk_quantise_plan *plan = f.job.plan;
        assert_ok(sk_quantize_calibrate(&f.job, &f.report, &err), &err);
        assert_string_equal(f.step, "calibrating");
        assert_true(f.ticks == f.total && f.total % 20 == 0 && f.total >= 20);
        int convolutions = 0;
        for (int32_t i = 0; i < plan->n_layers; i++) {
            static seen in, out;
            const sk_node *conv = &f.job.graph->nodes[plan->layers[i].node];
            look_at(plan->layers[i].input, &in);
            look_at(conv->out[0], &out);
            for (int64_t c = 0; c < in.channels; c++)
                CLOSE(f.job.means[i][c], in.mean[c]);
            CLOSE(f.job.reach[conv->out[0]], fmax(out.high, -out.low));
            if (conv->op == SK_OP_CONV) {
                convolutions++;
                for (int64_t c = 0; c < out.channels; c++)
                    CLOSE(f.job.channel_reach[conv->out[0]][c], out.most[c]);
            }
            const double step = (fmax(out.high, 0) - fmin(out.low, 0)) / 255;
            if (f8) {
                CLOSE(f.report.rows[i].low, out.low);
                CLOSE(f.report.rows[i].high, out.high);
            } else { /* all that was seen, and 0, in 256 steps */
                assert_true(fabs((double)f.report.rows[i].low - fmin(out.low, 0)) <= 1.01 * step);
                assert_true(fabs((double)f.report.rows[i].high - fmax(out.high, 0)) <= 1.01 * step);
            }
        }
        assert_true(convolutions > 3);
        /* a group has one scale, which all that it has seen fits into */
        for (int32_t i = 0; i < plan->n_values && !f8; i++) {
            static seen one;
            const sk_quantise_scale s = f.job.scales[plan->values[i]];
            for (int32_t k = 0; k < i; k++)
                if (plan->group_of[k] == plan->group_of[i])
                    assert_true(f.job.scales[plan->values[k]].scale == s.scale &&
                                f.job.scales[plan->values[k]].zero == s.zero);
            look_at(plan->values[i], &one);
            const double low = -(double)s.zero * (double)s.scale,
                         high = (255 - (double)s.zero) * (double)s.scale;
            assert_true(one.low >= low - (double)s.scale && one.high <= high + (double)s.scale);
            assert_true(s.scale > 0);
        }
        close_job();
    }
}

/* Looked at is what says something of a range, what a layer reads and what it makes; nothing else is known of any value. */
static void what_is_looked_at(void **state)
{
    (void)state;
    for (int f8 = 0; f8 < 2; f8++) {
        open_job(f8 ? SK_QUANTIZE_FP8 : SK_QUANTIZE_I8);
        const sk_quantise_plan *plan = f.job.plan;
        const sk_graph *graph = f.job.graph;
        uint8_t *watched = sk_calloc(graph->n_values, 1), *ranged = sk_calloc(graph->n_values, 1);
        int32_t count = 0, channels = 0;
        for (int32_t i = 0; i < plan->n_values; i++) {
            watched[plan->values[i]] |= !plan->moved[i];
            ranged[plan->values[i]] |= !plan->moved[i];
        }
        for (int32_t i = 0; i < plan->n_layers; i++) {
            const sk_value made = graph->nodes[plan->layers[i].node].out[0];
            watched[plan->layers[i].input] = watched[made] = ranged[made] = 1;
        }
        assert_ok(sk_quantize_calibrate(&f.job, &f.report, &err), &err);
        for (size_t v = 0; v < graph->n_values; v++) {
            const int32_t maker = graph->values[v].producer;
            const bool by_conv = maker >= 0 && graph->nodes[maker].op == SK_OP_CONV;
            count += watched[v];
            channels += f.job.channel_reach[v] != NULL;
            assert_true((f.job.channel_reach[v] != NULL) == (watched[v] && by_conv));
            assert_true(ranged[v] ? f.job.reach[v] > 0 : f.job.reach[v] == 0);
        }
        assert_true(channels > 3 && f.job.n_channel_reach == graph->n_values);
        assert_int_equal(f.total, 20 * ((count + SK_SESSION_MAX_OUTPUTS - 1) / SK_SESSION_MAX_OUTPUTS));
        /* of fp8 the largest magnitude of a group is its largest number */
        for (int32_t i = 0; i < plan->n_values && f8; i++) {
            double most = 0;
            for (int32_t k = 0; k < plan->n_values; k++)
                if (plan->group_of[k] == plan->group_of[i] && !plan->moved[k])
                    most = fmax(most, (double)f.job.reach[plan->values[k]]);
            const sk_quantise_scale s = f.job.scales[plan->values[i]],
                                    wanted = sk_quantise_f8_scale_of(-most, most);
            assert_true(most > 0 && s.zero == wanted.zero);
            CLOSE(s.scale, wanted.scale);
        }
        sk_free(watched);
        sk_free(ranged);
        close_job();
        sk_quantize_numbers_free(&f.job); /* twice is once */
    }
}

/* Who wants no more while it calibrates ends it there. */
static bool stop_soon(void *context, const char *step, int64_t done, int64_t total)
{
    (void)step, (void)total;
    ++*(int *)context;
    return done == 3;
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    int calls = 0;
    open_job(SK_QUANTIZE_I8);
    f.s.watch = stop_soon;
    f.s.context = &calls;
    assert_int_equal(sk_quantize_calibrate(&f.job, &f.report, &err), SK_ERR_CANCELLED);
    assert_int_equal(calls, 3);
    assert_true(!f.job.scales && !f.job.means && !f.job.reach && !f.job.channel_reach);
    close_job();
}

/* --- what is off --- */

static double squares(const sk_tensor *a, const sk_tensor *b)
{
    double sum = 0;
    for (int64_t i = 0; i < sk_shape_count(&a->shape); i++) {
        const double d = (double)((const float *)a->data)[i] - (b ? (double)((const float *)b->data)[i] : 0);
        sum += d * d;
    }
    return sum;
}

static void layers_that_are_off(void **state)
{
    (void)state;
    sk_graph *simulated = NULL;
    open_job(SK_QUANTIZE_I8);
    const int32_t n = f.job.plan->n_layers;
    assert_ok(sk_quantize_calibrate(&f.job, &f.report, &err), &err);
    assert_ok(sk_quantize_make(&f.job, NULL, true, &f.report, &simulated, &err), &err);
    assert_int_equal(f.report.about.layers, n);
    assert_int_equal(f.report.about.kept, f.job.plan->n_kept);
    assert_ok(sk_quantize_errors(&f.job, simulated, &f.report, &err), &err);
    assert_string_equal(f.step, "measuring layers");
    assert_true(f.ticks == f.total && f.total == (n + 31) / 32 * 4);
    for (int32_t i = 0; i < n; i++) {
        const sk_value v = f.job.graph->nodes[f.job.plan->layers[i].node].out[0];
        sk_session *whole = NULL, *rounded = NULL;
        double off = 0, power = 0;
        int used = 0;
        assert_ok(sk_quantize_session(&f.job, f.job.graph, &v, 1, false, SK_PRECISION_F32, &whole, &err),
                  &err);
        assert_ok(sk_quantize_session(&f.job, simulated, &v, 1, false, SK_PRECISION_F32, &rounded, &err),
                  &err);
        for (size_t k = 0; k < f.job.n_inputs && used < 4; k++) { /* the first four of those held */
            sk_tensor a, b;
            if (!f.job.inputs[k].held)
                continue;
            used++;
            assert_ok(sk_quantize_run_input(whole, f.job.inputs[k].data, &a, &err), &err);
            assert_ok(sk_quantize_run_input(rounded, f.job.inputs[k].data, &b, &err), &err);
            off += squares(&b, &a);
            power += squares(&a, NULL);
        }
        assert_true(fabs(f.report.rows[i].error - sqrt(off / power)) <= 0.02 * sqrt(off / power) + 1e-6);
        assert_true(f.report.rows[i].error > 0 && f.report.rows[i].weight_error > 0 &&
                    f.report.rows[i].sensitivity == 0);
        sk_session_close(&whole);
        sk_session_close(&rounded);
    }
    sk_graph_close(&simulated);
    close_job();
}

/* One layer in eight bits, all others as they are: the sum over outputs of what changed, as a part of the output's own power. */
static void layers_alone(void **state)
{
    (void)state;
    open_job(SK_QUANTIZE_MIXED);
    const int32_t n = f.job.plan->n_layers;
    uint8_t *stays = sk_malloc(f.job.graph->n_nodes);
    assert_ok(sk_quantize_calibrate(&f.job, &f.report, &err), &err);
    assert_ok(sk_quantize_sensitivity(&f.job, &err), &err);
    assert_string_equal(f.step, "measuring each layer");
    assert_true(f.ticks == n && f.total == n);
    for (int32_t i = 0; i < n; i += n - 1) { /* the first and the last */
        sk_graph *alone = NULL;
        sk_session *whole = NULL, *rounded = NULL;
        sk_tensor a[SK_SESSION_MAX_OUTPUTS], b[SK_SESSION_MAX_OUTPUTS];
        double off[SK_SESSION_MAX_OUTPUTS] = {0}, power[SK_SESSION_MAX_OUTPUTS] = {0}, sum = 0;
        memset(stays, 1, f.job.graph->n_nodes);
        stays[f.job.plan->layers[i].node] = 0;
        assert_ok(sk_quantize_make(&f.job, stays, true, NULL, &alone, &err), &err);
        assert_ok(sk_quantize_session(&f.job, f.job.graph, NULL, 0, true, SK_PRECISION_F32, &whole, &err),
                  &err);
        assert_ok(sk_quantize_session(&f.job, alone, NULL, 0, true, SK_PRECISION_F32, &rounded, &err), &err);
        const int32_t outputs = sk_session_about(whole)->n_outputs;
        for (int k = 0; k < 2; k++) { /* the first two are not held */
            assert_false(f.job.inputs[k].held);
            assert_ok(sk_quantize_run_input(whole, f.job.inputs[k].data, a, &err), &err);
            assert_ok(sk_quantize_run_input(rounded, f.job.inputs[k].data, b, &err), &err);
            for (int32_t o = 0; o < outputs; o++) {
                off[o] += squares(&b[o], &a[o]);
                power[o] += squares(&a[o], NULL);
            }
        }
        for (int32_t o = 0; o < outputs; o++)
            sum += power[o] > 0 ? off[o] / power[o] : 0;
        assert_true(sum > 0 && fabs(f.job.sensitivity[i] - sum) <= 0.02 * sum);
        sk_session_close(&whole);
        sk_session_close(&rounded);
        sk_graph_close(&alone);
    }
    sk_graph *simulated = NULL; /* its root is what the report says */
    assert_ok(sk_quantize_make(&f.job, NULL, true, NULL, &simulated, &err), &err);
    assert_ok(sk_quantize_errors(&f.job, simulated, &f.report, &err), &err);
    for (int32_t i = 0; i < n; i++)
        CLOSE(f.report.rows[i].sensitivity, sqrt(f.job.sensitivity[i]));
    sk_graph_close(&simulated);
    sk_free(stays);
    close_job();
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    put_pictures(25);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_and_means),  cmocka_unit_test(what_is_looked_at),
        cmocka_unit_test(it_can_be_stopped), cmocka_unit_test(layers_that_are_off),
        cmocka_unit_test(layers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
