/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sleap_post_internal.h"

#include "base/object.h"

#include <math.h>
#include <string.h>

sk_sleap_settings sk_sleap_settings_defaults(void)
{
    return (sk_sleap_settings){.size = sizeof(sk_sleap_settings),
                               .peak_threshold = 0.2f,
                               .centroid_threshold = -1,
                               .refinement = SK_REFINE_INTEGRAL,
                               .patch = SK_PEAK_PATCH,
                               .paf = sk_paf_settings_defaults()};
}

/* Which outputs the task reads. */
static sk_status bind_outputs(sk_sleap_post *p, const sk_model *model, sk_error *err)
{
    for (int k = 0; k <= SK_OUTPUT_OTHER; k++)
        p->at[k] = -1;
    p->n_outputs = model->n_outputs;
    for (int32_t i = 0; i < model->n_outputs; i++) {
        sk_output_kind kind = model->outputs[i].kind;
        if (kind < SK_OUTPUT_OTHER && p->at[kind] < 0) {
            p->at[kind] = i;
            p->stride[kind] = model->outputs[i].stride > 0 ? model->outputs[i].stride : 1;
        }
    }
    static const struct {
        sk_task task;
        sk_output_kind kind;
        const char *name;
    } needs[] = {{SK_TASK_SINGLE_INSTANCE, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_CENTROID, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_CENTERED_INSTANCE, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_BOTTOMUP, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_BOTTOMUP, SK_OUTPUT_PAFS, "part affinity fields"},
                 {SK_TASK_MULTICLASS_BOTTOMUP, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_MULTICLASS_BOTTOMUP, SK_OUTPUT_CLASS_MAPS, "class maps"},
                 {SK_TASK_MULTICLASS_TOPDOWN, SK_OUTPUT_CONFMAPS, "confidence maps"},
                 {SK_TASK_MULTICLASS_TOPDOWN, SK_OUTPUT_CLASS_VECTORS, "class vectors"}};
    int known = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (needs[i].task != p->task)
            continue;
        known = 1;
        if (p->at[needs[i].kind] < 0)
            return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: the model has no output of %s, which its task needs",
                           model->path ? model->path : "model", needs[i].name);
    }
    if (!known)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: not a SLEAP model (task %d)",
                       model->path ? model->path : "model", (int)p->task);
    return SK_OK;
}

static sk_status allocate(sk_sleap_post *p, sk_error *err)
{
    int32_t cap = p->settings.paf.max_peaks_per_node;
    p->most = SK_SLEAP_MOST_PEAKS > p->capacity ? SK_SLEAP_MOST_PEAKS : p->capacity;
    size_t most = (size_t)p->most, rows = (size_t)(p->capacity > p->n_classes ? p->capacity : p->n_classes);
    p->scan = sk_calloc(SK_SLEAP_MOST_PEAKS, sizeof *p->scan);
    p->peaks = sk_calloc((size_t)p->n_nodes * (size_t)(cap > 1 ? cap : 1), sizeof *p->peaks);
    p->order = sk_calloc(most, sizeof *p->order);
    p->values = sk_calloc(most, sizeof *p->values);
    p->keys = sk_calloc(most * 2, sizeof *p->keys);
    p->kept = sk_calloc(most, 1);
    p->class_of = sk_calloc(rows, sizeof *p->class_of);
    p->probability = sk_calloc(rows, sizeof *p->probability);
    p->vectors = sk_calloc((size_t)p->capacity * (size_t)p->n_classes, sizeof *p->vectors);
    if (p->task == SK_TASK_MULTICLASS_TOPDOWN) {
        const size_t crops = (size_t)p->capacity;
        p->crop_items = sk_calloc(crops, sizeof *p->crop_items);
        p->crop_points = sk_calloc(crops * (size_t)p->n_nodes, sizeof *p->crop_points);
        if (!p->crop_items || !p->crop_points)
            return sk_fail_memory(err, crops * (size_t)p->n_nodes * sizeof *p->crop_points);
    }
    if (!p->scan || !p->peaks || !p->order || !p->values || !p->keys || !p->kept || !p->class_of ||
        !p->probability || !p->vectors)
        return sk_fail_memory(err, most * 32);
    return SK_OK;
}

/* What an engine would be asked for; models beyond the table's limits bring their maps. */
static sk_status plan_table(sk_sleap_post *p, const sk_model *model, sk_error *err)
{
    sk_peak_wish *w = &p->wish;
    const sk_paf_settings *paf = &p->settings.paf;
    const size_t cap = (size_t)paf->max_peaks_per_node, edges = (size_t)model->sleap.n_edges;
    const int fields = p->task == SK_TASK_BOTTOMUP, classes = p->task == SK_TASK_MULTICLASS_BOTTOMUP;
    w->local = fields || classes || p->task == SK_TASK_CENTROID;
    /* SLEAP's score of a single instance counts nodes below the threshold: their peaks are asked for, too. */
    w->threshold = p->task == SK_TASK_SINGLE_INSTANCE && p->legacy ? -INFINITY : p->settings.peak_threshold;
    w->refinement = (int32_t)p->settings.refinement;
    w->maps = p->at[SK_OUTPUT_CONFMAPS];
    w->maps_stride = p->stride[SK_OUTPUT_CONFMAPS];
    w->offsets = p->legacy ? p->at[SK_OUTPUT_OFFSETS] : -1;
    w->classes = classes ? p->at[SK_OUTPUT_CLASS_MAPS] : -1;
    w->classes_stride = classes ? p->stride[SK_OUTPUT_CLASS_MAPS] : 1;
    w->fields = fields ? p->at[SK_OUTPUT_PAFS] : -1;
    w->fields_stride = fields ? p->stride[SK_OUTPUT_PAFS] : 1;
    w->capacity = w->local ? SK_PEAK_ROWS : 1;
    w->n_channels = p->n_nodes;
    w->n_classes = classes ? p->n_classes : 0;
    w->n_points = paf->n_points;
    w->max_edge_length_ratio = paf->max_edge_length_ratio;
    w->dist_penalty_weight = paf->dist_penalty_weight;
    if (p->settings.patch != SK_PEAK_PATCH) /* engines know this one */
        return SK_OK;
    if (p->n_nodes > SK_PEAK_MOST_NODES || w->n_classes > SK_PEAK_MOST_CLASSES ||
        (fields && edges > SK_PEAK_MOST_EDGES))
        return SK_OK;
    p->rank = sk_calloc((size_t)p->n_nodes * cap, sizeof *p->rank);
    p->class_values = sk_calloc(cap * (size_t)(w->n_classes > 0 ? w->n_classes : 1), sizeof *p->class_values);
    p->first_line = sk_calloc(edges + 1, 2 * sizeof *p->first_line);
    if (!p->rank || !p->class_values || !p->first_line)
        return sk_fail_memory(err, (size_t)p->n_nodes * cap * sizeof *p->rank);
    p->columns = p->first_line + edges + 1;
    if (fields) {
        w->pairs = SK_PEAK_PAIRS;
        w->n_edges = (int32_t)edges;
        memcpy(w->edges, model->sleap.edges, edges * sizeof w->edges[0]);
    }
    p->layout = sk_peak_layout_of(w);
    p->tables = 1;
    return SK_OK;
}

bool sk_sleap_post_wish(const sk_sleap_post *p, sk_peak_wish *out)
{
    *out = p->wish;
    return p->tables != 0;
}

sk_status sk_sleap_post_open(const sk_model *model, const sk_sleap_settings *settings, sk_sleap_post **out,
                             sk_error *err)
{
    SK_CHECK_ARG(model && out, err);
    *out = NULL;
    sk_sleap_settings s = settings ? *settings : sk_sleap_settings_defaults();
    SK_CHECK_ARG(s.max_instances >= 0, err);
    if (s.max_instances > SK_SLEAP_MOST_INSTANCES)
        s.max_instances = SK_SLEAP_MOST_INSTANCES;
    if (s.patch < 3 || s.patch > 15 || s.patch % 2 == 0)
        return sk_fail(err, SK_ERR_ARG, "a patch of %d x %d around a peak: give an odd number from 3 to 15",
                       (int)s.patch, (int)s.patch);
    SK_CHECK_ARG(s.paf.max_peaks_per_node >= 1 && s.paf.max_peaks_per_node <= 4096, err);
    sk_sleap_post *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    sk_status status;
    if (model->task == SK_TASK_CENTROID && s.centroid_threshold >= 0)
        s.peak_threshold = s.centroid_threshold;
    const float least = s.min_instance_peaks;
    s.paf.min_instance_peaks = (int32_t)(least > 1 ? least : least * (float)model->n_keypoints);
    p->settings = s;
    p->task = model->task;
    p->legacy = model->sleap.legacy;
    p->n_nodes = model->task == SK_TASK_CENTROID ? 1 : model->n_keypoints;
    p->n_classes = model->n_classes;
    SK_TRY_GOTO(bind_outputs(p, model, err));
    if (p->n_nodes < 1 || p->n_nodes > 1024 || p->n_classes < 0 || p->n_classes > 4096) {
        status = sk_fail(err, SK_ERR_UNSUPPORTED, "a SLEAP model with %d nodes and %d classes cannot be read",
                         (int)p->n_nodes, (int)p->n_classes);
        goto done;
    }
    p->capacity = p->task == SK_TASK_SINGLE_INSTANCE       ? 1
                  : p->task == SK_TASK_MULTICLASS_BOTTOMUP ? (p->n_classes > 0 ? p->n_classes : 1)
                  : s.max_instances                        ? s.max_instances
                                                           : SK_SLEAP_MOST_INSTANCES;
    SK_TRY_GOTO(allocate(p, err));
    if (p->task == SK_TASK_BOTTOMUP)
        SK_TRY_GOTO(sk_paf_grouping_open(p->n_nodes, model->sleap.edges, model->sleap.n_edges, &s.paf,
                                         &p->grouping, err));
    if (p->task == SK_TASK_MULTICLASS_BOTTOMUP)
        SK_TRY_GOTO(sk_identity_open(s.paf.max_peaks_per_node, p->n_classes, &p->identity, err));
    if (p->task == SK_TASK_MULTICLASS_TOPDOWN)
        SK_TRY_GOTO(sk_identity_open(p->capacity, p->n_classes, &p->identity, err));
    SK_TRY_GOTO(plan_table(p, model, err));
done:
    return SK_HAND_OVER(status, p, out, sk_sleap_post_close);
}

void sk_sleap_post_close(sk_sleap_post **post)
{
    SK_TAKE_OR_RETURN(p, post);
    sk_free_all(p->scan, p->peaks, p->order, p->values, p->keys, p->kept, p->class_of, p->probability,
                p->vectors, p->crop_items, p->crop_points, p->rank, p->class_values, p->first_line);
    sk_paf_grouping_close(&p->grouping);
    sk_identity_close(&p->identity);
    sk_free(p);
}

int32_t sk_sleap_post_capacity(const sk_sleap_post *p)
{
    return p->capacity;
}

int32_t sk_sleap_post_keypoints(const sk_sleap_post *p)
{
    return p->n_nodes;
}
