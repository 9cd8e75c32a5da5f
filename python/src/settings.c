/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stddef.h>
#include <stdlib.h>

/* Settings of a pipeline by name. skitter/_pipeline.py has the command line's words for them, and says what they may be. */

typedef enum kind { WHOLE, REAL, DOUBLE, FLAG, TEXT } kind;

typedef struct setting {
    const char *name;
    kind kind;
    size_t at;
} setting;

#define OF(field) offsetof(sk_pipeline_settings, field)
static const setting settings[] = {
    {"runtime", TEXT, OF(runtime)},
    {"devices", TEXT, OF(devices)},
    {"precision", TEXT, OF(precision)},
    {"options", TEXT, OF(options)},
    {"threads", WHOLE, OF(threads)},
    {"batch", WHOLE, OF(batch)},
    {"height", WHOLE, OF(height)},
    {"width", WHOLE, OF(width)},
    {"rect", WHOLE, OF(rect)},
    {"heads", WHOLE, OF(heads)},
    {"confidence", REAL, OF(confidence)},
    {"iou", DOUBLE, OF(iou)},
    {"max_det", WHOLE, OF(max_det)},
    {"agnostic", FLAG, OF(agnostic)},
    {"obb_quarter", FLAG, OF(obb_quarter)},
    {"peak_threshold", REAL, OF(peak_threshold)},
    {"max_instances", WHOLE, OF(max_instances)},
    {"depth", WHOLE, OF(depth)},
    {"batch_wait_ms", WHOLE, OF(batch_wait_ms)},
    {"quick_open", FLAG, OF(quick_open)},
    {"allow_failover", FLAG, OF(allow_failover)},
    {"check_every", WHOLE, OF(check_every)},
    {"pcc_min", DOUBLE, OF(pcc_min)},
    {"crop_turned", WHOLE, OF(crop_turned)},
    {"mask_neighbours", WHOLE, OF(mask_neighbours)},
    {"crop_batch", WHOLE, OF(crop_batch)},
    {NULL, WHOLE, 0},
};
#undef OF
#define OF(field) offsetof(sk_sleap_options, field)
static const setting sleap_settings[] = {
    {"centroid_peak_threshold", REAL, OF(centroid_peak_threshold)},
    {"refinement", WHOLE, OF(refinement)},
    {"integral_patch_size", WHOLE, OF(integral_patch_size)},
    {"max_edge_length_ratio", REAL, OF(max_edge_length_ratio)},
    {"dist_penalty_weight", REAL, OF(dist_penalty_weight)},
    {"n_points", WHOLE, OF(n_points)},
    {"min_instance_peaks", REAL, OF(min_instance_peaks)},
    {"min_line_scores", REAL, OF(min_line_scores)},
    {"overlap", WHOLE, OF(overlap)},
    {"overlap_threshold", REAL, OF(overlap_threshold)},
    {"min_visible_nodes", WHOLE, OF(min_visible_nodes)},
    {"min_visible_node_fraction", REAL, OF(min_visible_node_fraction)},
    {"min_mean_node_score", REAL, OF(min_mean_node_score)},
    {"min_instance_score", REAL, OF(min_instance_score)},
    {"min_centroid_distance", REAL, OF(min_centroid_distance)},
    {NULL, WHOLE, 0},
};
#undef OF

static int fill(PyObject *dict, const setting *table, void *into)
{
    for (const setting *s = table; s->name; s++) {
        void *at = (char *)into + s->at;
        long long whole = 0;
        double real = 0;
        int found = 0;
        if (s->kind == TEXT) {
            const char *text = NULL;
            if (sk_dict_text(dict, s->name, &text) != 0)
                return -1;
            if (text)
                *(const char **)at = text;
            continue;
        }
        const bool is_real = s->kind == REAL || s->kind == DOUBLE;
        if ((is_real ? sk_dict_double(dict, s->name, &real, &found)
                     : sk_dict_int(dict, s->name, &whole, &found)) != 0)
            return -1;
        if (!found)
            continue;
        if (!is_real && (whole > INT32_MAX || whole < INT32_MIN)) {
            PyErr_Format(PyExc_ValueError, "%s is too large", s->name);
            return -1;
        }
        if (s->kind == REAL)
            *(float *)at = (float)real;
        else if (s->kind == DOUBLE)
            *(double *)at = real;
        else if (s->kind == FLAG)
            *(bool *)at = whole != 0;
        else
            *(int32_t *)at = (int32_t)whole;
    }
    return 0;
}

static int read_classes(PyObject *dict, sk_pipeline_settings *out, int32_t **classes)
{
    PyObject *name = PyUnicode_FromString("classes");
    PyObject *list = name ? PyDict_GetItemWithError(dict, name) : NULL;
    Py_XDECREF(name);
    if (!list)
        return PyErr_Occurred() ? -1 : 0;
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 0 || n > 100000) {
        PyErr_SetString(PyExc_TypeError, "classes is to be a list");
        return -1;
    }
    *classes = calloc((size_t)n + 1, sizeof **classes);
    if (!*classes) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        (*classes)[i] = (int32_t)PyLong_AsLong(PyList_GetItem(list, i));
    out->classes = *classes;
    out->n_classes = (int32_t)n;
    return PyErr_Occurred() ? -1 : 0;
}

int sk_settings_of(PyObject *dict, sk_pipeline_settings *out, sk_sleap_options *sleap, int32_t **classes)
{
    const sk_sleap_options options = SK_SLEAP_OPTIONS_INIT;
    sk_pipeline_defaults(out);
    *sleap = options;
    sk_sleap_options_defaults(sleap);
    out->when_full = SK_FULL_REFUSE; /* sk_flow waits by itself */
    if (fill(dict, settings, out) != 0 || fill(dict, sleap_settings, sleap) != 0)
        return -1;
    out->sleap = sleap;
    return read_classes(dict, out, classes);
}
