/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>

/* Numbers of a result or a picture, read only, for numpy.asarray, memoryview and everybody else who knows the buffer protocol.
 * Whoever looks holds the column, the column holds its owner: memory is there as long as anybody can see it. */

typedef struct column {
    PyObject_HEAD sk_column_of of;
    char format[2];
    Py_ssize_t itemsize;
} column;

static PyTypeObject *type;

PyObject *sk_column_new(const sk_column_of *of)
{
    column *self = PyObject_New(column, type);
    if (!self) {
        if (of->tensor)
            of->tensor->deleter(of->tensor);
        free(of->memory);
        return NULL;
    }
    self->of = *of;
    Py_XINCREF(self->of.owner);
    self->format[0] = of->format;
    self->format[1] = '\0';
    self->itemsize = of->format == 'B' ? 1 : 4;
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    column *self = (column *)object;
    if (self->of.tensor)
        self->of.tensor->deleter(self->of.tensor);
    free(self->of.memory);
    Py_XDECREF(self->of.owner);
    sk_free_object(object);
}

static int is_dense(const column *self)
{
    Py_ssize_t expected = self->itemsize;
    for (int i = self->of.ndim - 1; i >= 0; i--) {
        if (self->of.shape[i] > 1 && self->of.strides[i] != expected)
            return 0;
        expected *= self->of.shape[i];
    }
    return 1;
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    column *self = (column *)object;
    view->obj = NULL;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "results are read only: copy them to change them");
        return -1;
    }
    if (((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS & ~PyBUF_STRIDES)) &&
        !is_dense(self)) {
        PyErr_SetString(PyExc_BufferError, "these numbers do not lie one after another: ask for strides");
        return -1;
    }
    view->buf = (void *)(uintptr_t)self->of.data;
    view->itemsize = self->itemsize;
    view->len = self->itemsize;
    for (int i = 0; i < self->of.ndim; i++)
        view->len *= self->of.shape[i];
    view->readonly = 1;
    view->ndim = self->of.ndim;
    view->format = (flags & PyBUF_FORMAT) ? self->format : NULL;
    view->shape = (flags & PyBUF_ND) ? self->of.shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->of.strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    Py_INCREF(object);
    view->obj = object;
    return 0;
}

static PyObject *get_owner(PyObject *object, void *unused)
{
    column *self = (column *)object;
    (void)unused;
    PyObject *owner = self->of.owner ? self->of.owner : Py_None;
    Py_INCREF(owner);
    return owner;
}

static PyGetSetDef getset[] = {
    {"owner", get_owner, NULL, "what the numbers belong to, or None", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_getset, getset},
    {Py_bf_getbuffer, (void *)get_buffer},
    {Py_tp_doc, (void *)"Numbers of a result, read only, by the buffer protocol."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "skitter._native.Column",
    .basicsize = sizeof(column),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int sk_column_ready(PyObject *module)
{
    return sk_add_type(module, &spec, &type, "Column");
}
