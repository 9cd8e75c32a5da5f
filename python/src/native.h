/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_PYTHON_NATIVE_H
#define SKITTER_PYTHON_NATIVE_H

#include "limited.h"

#include "flow.h"

/* The module skitter._native: thin objects over the library. What people see is made of them in Python (python/skitter). */

/* How long a wait lasts before Ctrl-C is looked for. */
#define SK_SLICE_MS 50

/* --- module.c --- */

/* Raises the status's exception, with the library's text; returns null. */
PyObject *sk_raise(sk_status status, const sk_error *err);
/* A class of a spec into *out and the module. 0, or -1 with an exception. */
int sk_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out, const char *name);
/* The end of every object: its memory and its hold on its class. */
void sk_free_object(PyObject *self);
/* A number of a dictionary; `*found` says whether it is there. -1 with an exception. */
int sk_dict_int(PyObject *dict, const char *key, long long *out, int *found);
int sk_dict_double(PyObject *dict, const char *key, double *out, int *found);
/* Text of a dictionary as UTF-8, borrowed from it; null where it is absent or None. -1 with an exception. */
int sk_dict_text(PyObject *dict, const char *key, const char **out);
/* Text, replaced where it is not UTF-8. */
PyObject *sk_text(const char *text);

/* --- column.c: numbers in memory, seen through the buffer protocol --- */

/* What a column shows. `owner` (may be null) is held while it lives; `tensor` is freed by its deleter, `memory` by free. */
typedef struct sk_column_of {
    PyObject *owner;
    sk_dl_managed_versioned *tensor;
    void *memory;
    const void *data;
    int ndim;
    Py_ssize_t shape[3], strides[3];
    char format; /* of the struct module: 'f', 'i', 'B' */
} sk_column_of;
PyObject *sk_column_new(const sk_column_of *of);
int sk_column_ready(PyObject *module);

/* --- frame.c: arrays and tensors as frames --- */

/* Describes the pixels of `object` in item->frame, which are held until the item is freed. 0, or -1 with an exception. */
int sk_frame_of(PyObject *object, const char *format, sk_item *item);
/* Lets go of what an item held that ended, and frees it. */
void sk_frame_let_go(sk_item *item);
/* The same for all that ended; nothing in a fork. */
void sk_frame_sweep(sk_flow *flow);

/* --- pipeline.c --- */

typedef struct sk_py_pipeline {
    PyObject_HEAD sk_flow flow;
    PyObject *result_type;
    bool open;
} sk_py_pipeline;
extern PyTypeObject *sk_pipeline_type;
/* 0, or -1 with an exception: this is a fork of the process that opened it. */
int sk_pipeline_here(const sk_py_pipeline *self);
int sk_pipeline_ready(PyObject *module);

/* --- result.c --- */

typedef struct sk_py_result {
    PyObject_HEAD sk_py_pipeline *owner;
    const sk_result *result;
    int32_t *ids;    /* the track of each instance; null: not followed */
    PyObject *frame; /* the picture, or None */
    PyObject *path;  /* of the picture, or None */
} sk_py_result;
extern PyTypeObject *sk_result_type;
/* A result of the item's, whose part is over then; null with an exception, the item dropped. */
PyObject *sk_result_new(sk_py_pipeline *owner, sk_item *item);
int sk_result_ready(PyObject *module);

/* --- stream_type.c, settings.c, tracks.c --- */

PyObject *sk_stream_new(sk_py_pipeline *owner, const char *uri, PyObject *options);
int sk_stream_ready(PyObject *module);

/* Fills the settings from a dictionary; what they point to is the dictionary's, and of *classes, which is to be freed. */
int sk_settings_of(PyObject *dict, sk_pipeline_settings *out, sk_sleap_options *sleap, int32_t **classes);

int sk_tracks_ready(PyObject *module);
PyObject *sk_draw(PyObject *module, PyObject *args);

#endif
