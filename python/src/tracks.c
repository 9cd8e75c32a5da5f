/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>

/* Who is who as results come, and pictures with it drawn in. */

typedef struct tracks {
    PyObject_HEAD PyObject *owner; /* the pipeline, whose names are borrowed */
    sk_live_tracks *tracks;
    pthread_mutex_t lock;
} tracks;

static PyTypeObject *type;

static PyObject *new_tracks(PyTypeObject *class, PyObject *args, PyObject *named)
{
    static char *words[] = {"pipeline", "tracker", "animals", "fps", NULL};
    PyObject *pipeline;
    const char *tracker = NULL;
    int animals = 0;
    double fps = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O!|zid:Tracks", words, sk_pipeline_type, &pipeline,
                                     &tracker, &animals, &fps))
        return NULL;
    sk_live_tracks_settings how = SK_LIVE_TRACKS_SETTINGS_INIT;
    sk_live_tracks *made = NULL;
    sk_error err = {0};
    sk_live_tracks_defaults(&how);
    if (tracker)
        how.tracker = tracker;
    how.animals = animals;
    how.fps = fps;
    const sk_status status = sk_live_tracks_open(
        sk_pipeline_about(((sk_py_pipeline *)pipeline)->flow.pipeline), &how, &made, &err);
    if (status != SK_OK)
        return sk_raise(status, &err);
    allocfunc allocate = (allocfunc)PyType_GetSlot(class, Py_tp_alloc);
    tracks *self = (tracks *)allocate(class, 0);
    if (!self) {
        sk_live_tracks_close(&made);
        return NULL;
    }
    Py_INCREF(pipeline);
    self->owner = pipeline;
    self->tracks = made;
    pthread_mutex_init(&self->lock, NULL);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    tracks *self = (tracks *)object;
    if (self->owner) {
        sk_live_tracks_close(&self->tracks);
        pthread_mutex_destroy(&self->lock);
        Py_DECREF(self->owner);
    }
    sk_free_object(object);
}

static PyObject *tell(PyObject *object, PyObject *given)
{
    tracks *self = (tracks *)object;
    if (!PyObject_TypeCheck(given, sk_result_type)) {
        PyErr_SetString(PyExc_TypeError, "a result of the pipeline is followed");
        return NULL;
    }
    sk_py_result *result = (sk_py_result *)given;
    const int32_t n = sk_instances_count(result->result->instances);
    int32_t *ids = calloc((size_t)n + 1, sizeof *ids);
    sk_error err = {0};
    sk_status status;
    if (!ids)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&self->lock);
    status = sk_live_tracks_tell(self->tracks, result->result, ids, n, &err);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS
    if (status != SK_OK || result->ids) { /* views of the first answer may be out: it stays */
        free(ids);
        if (status != SK_OK)
            return sk_raise(status, &err);
        PyErr_SetString(PyExc_ValueError, "this result was followed already");
        return NULL;
    }
    result->ids = ids;
    Py_RETURN_NONE;
}

PyObject *sk_draw(PyObject *module, PyObject *args)
{
    PyObject *given, *canvas;
    Py_buffer view;
    sk_error err = {0};
    sk_status status;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:draw", sk_result_type, &given, &canvas) ||
        PyObject_GetBuffer(canvas, &view, PyBUF_RECORDS_RO | PyBUF_WRITABLE) != 0)
        return NULL;
    sk_py_result *result = (sk_py_result *)given;
    sk_frame frame = SK_FRAME_INIT;
    if (view.ndim != 3 || view.shape[2] != 3 || view.itemsize != 1 || view.strides[2] != 1 ||
        view.strides[1] != 3 || view.shape[0] > 65535 || view.shape[1] > 65535) {
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_ValueError, "drawing needs an array [height, width, 3] of unsigned 8 bits");
        return NULL;
    }
    frame.format = SK_PIXEL_RGB;
    frame.width = (int32_t)view.shape[1];
    frame.height = (int32_t)view.shape[0];
    frame.stride = view.strides[0];
    frame.data = view.buf;
    Py_BEGIN_ALLOW_THREADS
    status = sk_draw_instances(sk_pipeline_about(result->owner->flow.pipeline), result->result->instances,
                               result->ids, &frame, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    if (status != SK_OK)
        return sk_raise(status, &err);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"tell", tell, METH_O, "tell(result): gives its instances their tracks; results come in order"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)new_tracks},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"Tracks(pipeline, tracker=None, animals=0, fps=0)"},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "skitter._native.Tracks",
    .basicsize = sizeof(tracks),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int sk_tracks_ready(PyObject *module)
{
    return sk_add_type(module, &spec, &type, "Tracks");
}
