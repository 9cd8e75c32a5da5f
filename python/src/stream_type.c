/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>

/* An iterator over a source's results. */

typedef struct py_stream {
    PyObject_HEAD sk_py_pipeline *owner;
    sk_stream *stream;
    int busy; /* calls that use `stream`; under the flow's lock */
    bool close_wanted;
} py_stream;

static PyTypeObject *type;

/* A call begins to use the stream: null where it was closed, and in a fork. */
static sk_stream *enter(py_stream *self)
{
    if (!sk_flow_is_here(&self->owner->flow))
        return NULL;
    pthread_mutex_lock(&self->owner->flow.lock);
    sk_stream *stream = self->close_wanted ? NULL : self->stream;
    if (stream)
        self->busy++;
    pthread_mutex_unlock(&self->owner->flow.lock);
    return stream;
}

/* It ends: the last one closes what was to be closed meanwhile. */
static void leave(py_stream *self)
{
    pthread_mutex_lock(&self->owner->flow.lock);
    const bool last = --self->busy == 0 && self->close_wanted;
    sk_stream *stream = last ? self->stream : NULL;
    if (last)
        self->stream = NULL;
    pthread_mutex_unlock(&self->owner->flow.lock);
    if (stream) {
        Py_BEGIN_ALLOW_THREADS
        sk_stream_close(&stream);
        Py_END_ALLOW_THREADS
    }
}

static PyObject *close_stream(PyObject *object, PyObject *unused)
{
    py_stream *self = (py_stream *)object;
    (void)unused;
    if (enter(self)) {
        pthread_mutex_lock(&self->owner->flow.lock);
        self->close_wanted = true;
        pthread_mutex_unlock(&self->owner->flow.lock);
        leave(self);
    }
    sk_frame_sweep(&self->owner->flow);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *object)
{
    py_stream *self = (py_stream *)object;
    PyObject *none = close_stream(object, NULL);
    Py_XDECREF(none);
    Py_DECREF((PyObject *)self->owner);
    sk_free_object(object);
}

/* --- opening --- */

static int read_ranges(PyObject *options, sk_source_settings *s, sk_frame_range **ranges)
{
    PyObject *key = PyUnicode_FromString("ranges");
    PyObject *list = key ? PyDict_GetItemWithError(options, key) : NULL;
    Py_XDECREF(key);
    if (!list)
        return PyErr_Occurred() ? -1 : 0;
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : 0;
    *ranges = calloc((size_t)n + 1, sizeof **ranges);
    if (!*ranges) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        long long first, last, step;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "LLL", &first, &last, &step))
            return -1;
        (*ranges)[i] = (sk_frame_range){first, last, step};
    }
    if (n == 1) {
        s->first = (*ranges)[0].first;
        s->last = (*ranges)[0].last;
        s->step = (*ranges)[0].step;
    } else if (n > 1) {
        s->ranges = *ranges;
        s->n_ranges = (int32_t)n;
    }
    return 0;
}

static int read_options(PyObject *options, sk_stream_settings *how, sk_frame_range **ranges)
{
    sk_source_settings *s = &how->source;
    long long loop = 1, pixels = 0, colours = s->colours, frames = 0, strict = 0;
    int found;
    if (sk_dict_text(options, "hwaccel", &s->hwaccel) != 0 ||
        sk_dict_text(options, "topic", &s->topic) != 0 || sk_dict_int(options, "loop", &loop, &found) != 0 ||
        sk_dict_int(options, "max_pixels", &pixels, &found) != 0 ||
        sk_dict_int(options, "colours", &colours, &found) != 0 ||
        sk_dict_int(options, "frames", &frames, &found) != 0 ||
        sk_dict_int(options, "strict", &strict, &found) != 0 ||
        sk_dict_double(options, "reconnect", &s->reconnect_seconds, &found) != 0)
        return -1;
    s->loop = (int32_t)loop;
    s->max_pixels = pixels;
    s->colours = (sk_source_colours)colours;
    s->skip_unreadable = !strict;
    how->frames = frames != 0;
    return read_ranges(options, s, ranges);
}

PyObject *sk_stream_new(sk_py_pipeline *owner, const char *uri, PyObject *options)
{
    const sk_pipeline_info *about = sk_pipeline_about(owner->flow.pipeline);
    sk_stream_settings how = {.source = SK_SOURCE_SETTINGS_INIT};
    sk_frame_range *ranges = NULL;
    sk_stream *stream = NULL;
    sk_error err = {0};
    sk_status status = SK_OK;
    sk_source_defaults(&how.source);
    how.source.colours = about->colours;
    const int read = read_options(options, &how, &ranges);
    if (read == 0) {
        if (!how.frames) { /* a frame that is shown to people is made RGB */
            how.source.accepts = about->accepts;
            how.source.n_accepts = about->n_accepts;
        }
        Py_BEGIN_ALLOW_THREADS
        status = sk_stream_open(&owner->flow, uri, &how, about->depth, &stream, &err);
        Py_END_ALLOW_THREADS
    }
    free(ranges);
    if (read != 0)
        return NULL;
    if (status != SK_OK)
        return sk_raise(status, &err);
    py_stream *self = PyObject_New(py_stream, type);
    if (!self) {
        sk_stream_close(&stream);
        return NULL;
    }
    Py_INCREF((PyObject *)owner);
    self->owner = owner;
    self->stream = stream;
    self->busy = 0;
    self->close_wanted = false;
    return (PyObject *)self;
}

/* --- iterating --- */

/* A while, without the interpreter's lock. */
static sk_status wait_for_next(sk_stream *stream, sk_item **item, sk_error *err)
{
    sk_status status;
    Py_BEGIN_ALLOW_THREADS
    status = sk_stream_next(stream, SK_SLICE_MS, item, err);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *next_result(PyObject *object)
{
    py_stream *self = (py_stream *)object;
    if (sk_pipeline_here(self->owner) != 0)
        return NULL;
    sk_stream *stream = enter(self);
    sk_item *item = NULL;
    PyObject *result = NULL;
    if (!stream)
        return NULL; /* closed: there is nothing more */
    for (;;) {
        sk_error err = {0};
        const sk_status status = wait_for_next(stream, &item, &err);
        if (status == SK_ERR_BUSY) {
            if (PyErr_CheckSignals() == 0 && !self->close_wanted)
                continue;
        } else if (status == SK_ERR_CANCELLED) {
            snprintf(err.message, sizeof err.message, "the pipeline was closed");
            sk_raise(status, &err);
        } else if (status != SK_OK) {
            sk_raise(status, &err);
        } else if (item) {
            result = sk_result_new(self->owner, item);
        }
        break;
    }
    leave(self);
    sk_frame_sweep(&self->owner->flow);
    return result;
}

static PyObject *iterate(PyObject *object)
{
    Py_INCREF(object);
    return object;
}

static PyObject *about_source(PyObject *object, PyObject *unused)
{
    static const char *const kinds[] = {"", "pictures", "video", "live"};
    py_stream *self = (py_stream *)object;
    sk_stream *stream = enter(self);
    (void)unused;
    if (!stream)
        Py_RETURN_NONE;
    const sk_source_info *i = sk_stream_about(stream);
    PyObject *out =
        Py_BuildValue("{s:s,s:i,s:i,s:d,s:L,s:L,s:s}", "kind", kinds[i->kind & 3], "width", i->width,
                      "height", i->height, "rate", i->rate, "frames", (long long)i->frames, "total",
                      (long long)i->total, "decoder", i->decoder ? i->decoder : "");
    leave(self);
    return out;
}

static PyObject *source_status(PyObject *object, PyObject *unused)
{
    py_stream *self = (py_stream *)object;
    sk_stream *stream = enter(self);
    sk_source_status s = SK_SOURCE_STATUS_INIT;
    (void)unused;
    if (!stream)
        Py_RETURN_NONE;
    sk_stream_status(stream, &s);
    leave(self);
    PyObject *problem = sk_text(s.last_problem);
    return problem ? Py_BuildValue("{s:L,s:L,s:L,s:L,s:i,s:N}", "decoded", (long long)s.decoded, "dropped",
                                   (long long)s.dropped, "damaged", (long long)s.damaged, "missing",
                                   (long long)s.missing, "reconnects", s.reconnects, "problem", problem)
                   : NULL;
}

static PyObject *take_unreadable(PyObject *object, PyObject *unused)
{
    py_stream *self = (py_stream *)object;
    sk_stream *stream = enter(self);
    sk_unreadable one = SK_UNREADABLE_INIT;
    (void)unused;
    if (!stream)
        Py_RETURN_NONE;
    const bool there = sk_stream_unreadable(stream, &one);
    leave(self);
    if (!there)
        Py_RETURN_NONE;
    PyObject *name = PyUnicode_DecodeFSDefault(one.name), *problem = sk_text(one.problem);
    PyObject *out = name && problem ? Py_BuildValue("(LOO)", (long long)one.index, name, problem) : NULL;
    Py_XDECREF(name);
    Py_XDECREF(problem);
    return out;
}

static PyMethodDef methods[] = {
    {"close", close_stream, METH_NOARGS, "stops reading; frames on their way are given up"},
    {"about", about_source, METH_NOARGS, "what is read"},
    {"status", source_status, METH_NOARGS, "what went on while it was read"},
    {"take_unreadable", take_unreadable, METH_NOARGS, "a picture that was left out, or None"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_iter, (void *)iterate},
    {Py_tp_iternext, (void *)next_result},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"The results of a source, in order."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "skitter._native.Stream",
    .basicsize = sizeof(py_stream),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int sk_stream_ready(PyObject *module)
{
    return sk_add_type(module, &spec, &type, "Stream");
}
