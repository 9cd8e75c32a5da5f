/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* What became of one frame. It holds its pipeline, whose memory the numbers lie in, and gives the result back in the end. */

PyTypeObject *sk_result_type;

/* The copied picture of a stream's frame. */
static PyObject *picture_of(sk_item *item)
{
    const sk_frame *f = &item->frame;
    const Py_ssize_t channels = f->format == SK_PIXEL_GRAY ? 1 : 3;
    sk_column_of of = {.memory = item->pixels,
                       .data = item->pixels,
                       .ndim = channels == 1 ? 2 : 3,
                       .shape = {f->height, f->width, channels},
                       .strides = {f->width * channels, channels, 1},
                       .format = 'B'};
    item->pixels = NULL; /* the column's now, also where it fails */
    return sk_column_new(&of);
}

PyObject *sk_result_new(sk_py_pipeline *owner, sk_item *item)
{
    PyTypeObject *type = (PyTypeObject *)owner->result_type;
    if (!item->result) {
        const sk_error err = {.code = SK_ERR_CANCELLED, .message = "the pipeline was closed"};
        sk_item_drop(item);
        return sk_raise(SK_ERR_CANCELLED, &err);
    }
    if (!item->stream && item->result->status != SK_OK && item->result->status != SK_ERR_MISMATCH) {
        sk_error err = {.code = item->result->status};
        snprintf(err.message, sizeof err.message, "%s", item->result->problem);
        sk_item_drop(item);
        return sk_raise(err.code, &err);
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    sk_py_result *self = (sk_py_result *)allocate(type, 0);
    if (!self) {
        sk_item_drop(item);
        return NULL;
    }
    Py_INCREF((PyObject *)owner);
    self->owner = owner;
    self->result = item->result;
    item->result = NULL;
    self->frame = item->pixels ? picture_of(item) : NULL;
    if (item->name)
        self->path = PyUnicode_DecodeFSDefault(item->name);
    sk_item_drop(item);
    if (PyErr_Occurred()) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    sk_py_result *self = (sk_py_result *)object;
    if (self->owner) {
        if (sk_flow_is_here(&self->owner->flow))
            sk_pipeline_give_back(self->owner->flow.pipeline, self->result);
        Py_DECREF((PyObject *)self->owner);
    }
    free(self->ids);
    Py_XDECREF(self->frame);
    Py_XDECREF(self->path);
    sk_free_object(object);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    (void)type;
    (void)args;
    (void)named;
    PyErr_SetString(PyExc_TypeError, "results are made by a pipeline");
    return NULL;
}

/* --- its numbers --- */

static void nothing(void *context)
{
    (void)context; /* the column holds the result for us */
}

static PyObject *column_of_ids(sk_py_result *self)
{
    const sk_column_of of = {.owner = (PyObject *)self,
                             .data = self->ids,
                             .ndim = 1,
                             .shape = {sk_instances_count(self->result->instances)},
                             .strides = {4},
                             .format = 'i'};
    return sk_column_new(&of);
}

static PyObject *column(PyObject *object, PyObject *number)
{
    sk_py_result *self = (sk_py_result *)object;
    const long part = PyLong_AsLong(number);
    sk_dl_managed_versioned *tensor = NULL;
    sk_error err = {0};
    if (PyErr_Occurred())
        return NULL;
    if (part == SK_PART_TRACKS && self->ids)
        return column_of_ids(self);
    const sk_status status =
        sk_instances_to_dlpack(self->result->instances, (sk_part)part, nothing, NULL, &tensor, &err);
    if (status != SK_OK)
        return sk_raise(status, &err);
    sk_column_of of = {.owner = object,
                       .tensor = tensor,
                       .data = (const char *)tensor->tensor.data + tensor->tensor.byte_offset,
                       .ndim = tensor->tensor.ndim,
                       .format = tensor->tensor.dtype.code == SK_DL_FLOAT ? 'f' : 'i'};
    Py_ssize_t dense = 4;
    for (int i = of.ndim - 1; i >= 0; i--) {
        of.shape[i] = (Py_ssize_t)tensor->tensor.shape[i];
        of.strides[i] = tensor->tensor.strides ? (Py_ssize_t)tensor->tensor.strides[i] * 4 : dense;
        dense *= of.shape[i];
    }
    return sk_column_new(&of);
}

/* The tensor's name in a capsule is its owner's until somebody takes it. */
static void free_capsule(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned"))
        return;
    sk_dl_managed_versioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (tensor)
        tensor->deleter(tensor);
}

static void free_old_capsule(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor"))
        return;
    sk_dl_managed *tensor = PyCapsule_GetPointer(capsule, "dltensor");
    if (tensor)
        tensor->deleter(tensor);
}

static PyObject *dlpack(PyObject *object, PyObject *args)
{
    sk_py_result *self = (sk_py_result *)object;
    int part = 0, versioned = 0;
    sk_error err = {0};
    sk_status status;
    if (!PyArg_ParseTuple(args, "ii:dlpack", &part, &versioned))
        return NULL;
    if (versioned) {
        sk_dl_managed_versioned *tensor = NULL;
        status = sk_instances_to_dlpack(self->result->instances, (sk_part)part, NULL, NULL, &tensor, &err);
        return status == SK_OK ? PyCapsule_New(tensor, "dltensor_versioned", free_capsule)
                               : sk_raise(status, &err);
    }
    sk_dl_managed *tensor = NULL;
    status = sk_instances_to_dlpack_old(self->result->instances, (sk_part)part, NULL, NULL, &tensor, &err);
    return status == SK_OK ? PyCapsule_New(tensor, "dltensor", free_old_capsule) : sk_raise(status, &err);
}

static Py_ssize_t length(PyObject *object)
{
    return sk_instances_count(((sk_py_result *)object)->result->instances);
}

static PyObject *facts(PyObject *object, PyObject *unused)
{
    const sk_result *r = ((sk_py_result *)object)->result;
    (void)unused;
    PyObject *problem = sk_text(r->problem ? r->problem : "");
    if (!problem)
        return NULL;
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:i,s:i,s:i,s:N,s:i,s:d}", "ticket", (long long)r->ticket, "index",
                         (long long)r->index, "time_ns", (long long)r->time_ns, "wall_ns",
                         (long long)r->wall_ns, "width", r->width, "height", r->height, "status",
                         (int)r->status, "problem", problem, "device", r->device, "latency_ms",
                         r->latency_ms);
}

static PyObject *get_number(PyObject *object, void *which)
{
    const sk_result *r = ((sk_py_result *)object)->result;
    switch ((int)(intptr_t)which) {
    case 0: return PyLong_FromLongLong(r->index);
    case 1: return PyFloat_FromDouble((double)r->time_ns * 1e-9);
    case 2: return PyLong_FromLong(r->width);
    case 3: return PyLong_FromLong(r->height);
    case 4: return PyFloat_FromDouble(r->latency_ms);
    default: return PyLong_FromLong(r->instances ? sk_instances_keypoint_count(r->instances) : 0);
    }
}

static PyObject *get_object(PyObject *object, void *which)
{
    sk_py_result *self = (sk_py_result *)object;
    PyObject *all[] = {self->frame, self->path, (PyObject *)self->owner};
    PyObject *one = all[(intptr_t)which] ? all[(intptr_t)which] : Py_None;
    Py_INCREF(one);
    return one;
}

static int set_object(PyObject *object, PyObject *value, void *which)
{
    sk_py_result *self = (sk_py_result *)object;
    PyObject **at = which ? &self->path : &self->frame, *before = *at;
    Py_XINCREF(value);
    *at = value;
    Py_XDECREF(before);
    return 0;
}

static PyGetSetDef getset[] = {
    {"index", get_number, NULL, "number of the frame in its source, from 0", (void *)0},
    {"time", get_number, NULL, "seconds from the source's beginning", (void *)1},
    {"width", get_number, NULL, "of the frame, pixels", (void *)2},
    {"height", get_number, NULL, "of the frame, pixels", (void *)3},
    {"latency_ms", get_number, NULL, "from the frame's coming to its result", (void *)4},
    {"_keypoint_count", get_number, NULL, NULL, (void *)5},
    {"_frame", get_object, set_object, NULL, (void *)0},
    {"_path", get_object, set_object, NULL, (void *)1},
    {"_owner", get_object, NULL, NULL, (void *)2},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_column", column, METH_O, "a part of the results, by the buffer protocol"},
    {"_dlpack", dlpack, METH_VARARGS, "a copy of a part of the results, as DLPack's capsule"},
    {"_facts", facts, METH_NOARGS, "everything but the numbers"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_getset, getset},
    {Py_tp_methods, methods},
    {Py_sq_length, (void *)length},
    {Py_tp_doc, (void *)"What was found in one frame."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "skitter._native.Result",
    .basicsize = sizeof(sk_py_result),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int sk_result_ready(PyObject *module)
{
    return sk_add_type(module, &spec, &sk_result_type, "Result");
}
