/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>
#include <unistd.h>

PyTypeObject *sk_pipeline_type;

/* --- opening and closing --- */

static int read_models(PyObject *list, const char *models[SK_PIPELINE_MAX_MODELS], int32_t *n)
{
    const Py_ssize_t count = PyList_Size(list);
    if (count < 1 || count > SK_PIPELINE_MAX_MODELS) {
        PyErr_Format(PyExc_ValueError, "%zd models; one or two make a pipeline", count);
        return -1;
    }
    for (*n = 0; *n < count; ++*n)
        if (!(models[*n] = PyBytes_AsString(PyList_GetItem(list, *n))))
            return -1;
    return 0;
}

static PyObject *new_pipeline(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"models", "settings", "result_type", NULL};
    PyObject *list, *dict, *result_type;
    const char *models[SK_PIPELINE_MAX_MODELS] = {0};
    int32_t n = 0, *classes = NULL;
    sk_pipeline_settings how = SK_PIPELINE_SETTINGS_INIT;
    sk_sleap_options sleap;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O!O!O!:Pipeline", words, &PyList_Type, &list, &PyDict_Type,
                                     &dict, &PyType_Type, &result_type) ||
        read_models(list, models, &n) != 0)
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)result_type, sk_result_type)) {
        PyErr_SetString(PyExc_TypeError, "result_type is no class of results");
        return NULL;
    }
    sk_pipeline *pipeline = NULL;
    sk_error err = {0};
    sk_status status = SK_OK;
    const int read = sk_settings_of(dict, &how, &sleap, &classes);
    if (read == 0) {
        Py_BEGIN_ALLOW_THREADS
        status = sk_pipeline_open(models, n, &how, &pipeline, &err);
        Py_END_ALLOW_THREADS
    }
    free(classes);
    if (read != 0)
        return NULL;
    if (status != SK_OK)
        return sk_raise(status, &err);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    sk_py_pipeline *self = (sk_py_pipeline *)allocate(type, 0);
    if (!self) {
        sk_pipeline_close(&pipeline);
        return NULL;
    }
    sk_flow_open(&self->flow, pipeline);
    self->open = true;
    Py_INCREF(result_type);
    self->result_type = result_type;
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    sk_py_pipeline *self = (sk_py_pipeline *)object;
    if (self->open && sk_flow_is_here(&self->flow)) {
        Py_BEGIN_ALLOW_THREADS
        sk_flow_close(&self->flow);
        Py_END_ALLOW_THREADS
        for (sk_item *item = self->flow.ended; item; item = self->flow.ended) {
            self->flow.ended = item->next;
            item->next = NULL;
            sk_frame_let_go(item);
        }
    }
    Py_XDECREF(self->result_type);
    sk_free_object(object);
}

static PyObject *release(PyObject *object, PyObject *unused)
{
    sk_py_pipeline *self = (sk_py_pipeline *)object;
    (void)unused;
    if (!sk_flow_is_here(&self->flow))
        Py_RETURN_NONE; /* there is nothing to end here */
    Py_BEGIN_ALLOW_THREADS
    sk_flow_release(&self->flow);
    Py_END_ALLOW_THREADS
    sk_frame_sweep(&self->flow);
    Py_RETURN_NONE;
}

/* --- frames --- */

int sk_pipeline_here(const sk_py_pipeline *self)
{
    if (sk_flow_is_here(&self->flow))
        return 0;
    sk_error err = {.code = SK_ERR_UNSUPPORTED};
    snprintf(
        err.message, sizeof err.message,
        "this pipeline was opened by process %ld; process %ld is a fork of it and has none of its threads\n"
        "open a Pipeline in the new process, or start processes by multiprocessing.get_context(\"spawn\")",
        (long)self->flow.home, (long)getpid());
    sk_raise(SK_ERR_UNSUPPORTED, &err);
    return -1;
}

/* Waits in slices, so that Ctrl-C is heard. Null with an exception, the item dropped. */
static PyObject *finish_item(sk_py_pipeline *self, sk_item *item)
{
    for (;;) {
        bool over;
        Py_BEGIN_ALLOW_THREADS
        over = sk_flow_wait(&self->flow, item, SK_SLICE_MS);
        Py_END_ALLOW_THREADS
        if (over)
            break;
        if (PyErr_CheckSignals() != 0) {
            sk_item_drop(item);
            return NULL;
        }
    }
    return sk_result_new(self, item);
}

static int submit_item(sk_py_pipeline *self, sk_item *item)
{
    for (;;) {
        sk_error err = {0};
        sk_status status;
        Py_BEGIN_ALLOW_THREADS
        status = sk_flow_submit(&self->flow, item, SK_SUBMIT_FLUSH, SK_SLICE_MS, &err);
        Py_END_ALLOW_THREADS
        if (status == SK_OK)
            return 0;
        if (status == SK_ERR_BUSY) {
            if (PyErr_CheckSignals() != 0)
                return -1;
            continue;
        }
        sk_raise(status, &err);
        return -1;
    }
}

/* A frame on its way. `frame` is kept with the result, which shows it. */
static sk_item *hand_in(sk_py_pipeline *self, PyObject *args)
{
    PyObject *frame;
    const char *format;
    long long index = 0, time_ns = 0;
    if (sk_pipeline_here(self) != 0 ||
        !PyArg_ParseTuple(args, "OsLL:submit", &frame, &format, &index, &time_ns))
        return NULL;
    sk_item *item = sk_item_new(&self->flow);
    if (!item) {
        PyErr_NoMemory();
        return NULL;
    }
    item->frame.index = index;
    item->frame.time_ns = time_ns;
    if (sk_frame_of(frame, format, item) == 0) {
        item->frame.index = index; /* of tensors, too */
        item->frame.time_ns = time_ns;
        if (submit_item(self, item) == 0)
            return item;
    }
    sk_item_drop(item);
    return NULL;
}

static PyObject *run(PyObject *object, PyObject *args)
{
    sk_py_pipeline *self = (sk_py_pipeline *)object;
    sk_item *item = hand_in(self, args);
    PyObject *result = item ? finish_item(self, item) : NULL;
    sk_frame_sweep(&self->flow);
    return result;
}

/* --- tickets: frames that somebody will ask for later --- */

typedef struct ticket {
    PyObject_HEAD sk_py_pipeline *owner;
    sk_item *item;
} ticket;

static PyTypeObject *ticket_type;

static PyObject *submit(PyObject *object, PyObject *args)
{
    sk_py_pipeline *self = (sk_py_pipeline *)object;
    sk_item *item = hand_in(self, args);
    sk_frame_sweep(&self->flow);
    if (!item)
        return NULL;
    ticket *t = PyObject_New(ticket, ticket_type);
    if (!t) {
        sk_item_drop(item);
        return NULL;
    }
    Py_INCREF(object);
    t->owner = self;
    t->item = item;
    return (PyObject *)t;
}

/* One thread gets it. */
static sk_item *claim(ticket *t)
{
    pthread_mutex_lock(&t->owner->flow.lock);
    sk_item *item = t->item;
    t->item = NULL;
    pthread_mutex_unlock(&t->owner->flow.lock);
    return item;
}

static PyObject *ticket_result(PyObject *object, PyObject *unused)
{
    ticket *t = (ticket *)object;
    (void)unused;
    if (sk_pipeline_here(t->owner) != 0)
        return NULL;
    sk_item *item = claim(t);
    if (!item) {
        PyErr_SetString(PyExc_ValueError, "this result was taken already");
        return NULL;
    }
    PyObject *result = finish_item(t->owner, item);
    sk_frame_sweep(&t->owner->flow);
    return result;
}

static void ticket_dealloc(PyObject *object)
{
    ticket *t = (ticket *)object;
    sk_item *item = sk_flow_is_here(&t->owner->flow) ? claim(t) : NULL;
    if (item)
        sk_item_drop(item);
    Py_DECREF((PyObject *)t->owner);
    sk_free_object(object);
}

/* --- what it is --- */

static PyObject *names(int32_t n, const char *const *all)
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; i < n && list; i++) {
        PyObject *text = sk_text(all[i] ? all[i] : "");
        if (!text || PyList_Append(list, text) != 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *describe_models(const sk_pipeline_info *a)
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; i < a->n_models && list; i++) {
        const sk_pipeline_model *m = a->models[i];
        PyObject *path = sk_text(m->path);
        PyObject *one = path ? Py_BuildValue("{s:N,s:s,s:s,s:i,s:i,s:i}", "path", path, "sha256", m->sha256,
                                             "task", sk_task_name(m->task), "width", m->width, "height",
                                             m->height, "channels", m->channels)
                             : NULL;
        if (!one || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *about(PyObject *object, PyObject *unused)
{
    const sk_pipeline_info *a = sk_pipeline_about(((sk_py_pipeline *)object)->flow.pipeline);
    (void)unused;
    PyObject *classes = names(a->n_classes, a->class_names), *edges = PyList_New(0);
    PyObject *points = names(a->n_keypoints, a->keypoint_names), *models = describe_models(a);
    for (int32_t i = 0; i < a->n_edges && edges; i++) {
        PyObject *pair = Py_BuildValue("(ii)", a->edges[i][0], a->edges[i][1]);
        if (!pair || PyList_Append(edges, pair) != 0)
            Py_CLEAR(edges);
        Py_XDECREF(pair);
    }
    PyObject *device = sk_text(a->device), *out = NULL;
    if (classes && edges && points && models && device)
        out = Py_BuildValue("{s:s,s:O,s:O,s:O,s:O,s:I,s:N,s:i,s:i,s:s,s:s,s:O,s:s}", "task",
                            sk_task_name(a->task), "models", models, "classes", classes, "keypoints", points,
                            "edges", edges, "has", (unsigned)a->has, "identities",
                            PyBool_FromLong(a->identities), "capacity", a->capacity, "depth", a->depth,
                            "runtime_requested", a->runtime_requested, "runtime", a->runtime, "device",
                            device, "precision", a->precision);
    Py_XDECREF(classes);
    Py_XDECREF(edges);
    Py_XDECREF(points);
    Py_XDECREF(models);
    Py_XDECREF(device);
    return out;
}

static int put_stage(PyObject *stages, sk_pipeline *pipeline, sk_stage stage)
{
    sk_stage_stats s = SK_STAGE_STATS_INIT;
    if (!sk_pipeline_get_stage(pipeline, stage, &s) || s.count == 0)
        return 0;
    PyObject *one = Py_BuildValue("{s:L,s:d,s:d,s:d,s:d,s:d,s:d}", "count", (long long)s.count, "mean",
                                  s.sum / (double)s.count, "min", s.min, "max", s.max, "p50", s.p50, "p90",
                                  s.p90, "p99", s.p99);
    const int put = one ? PyDict_SetItemString(stages, sk_stage_name(stage), one) : -1;
    Py_XDECREF(one);
    return put;
}

static PyObject *stats(PyObject *object, PyObject *unused)
{
    sk_py_pipeline *self = (sk_py_pipeline *)object;
    sk_pipeline_stats s = SK_PIPELINE_STATS_INIT;
    (void)unused;
    if (sk_pipeline_here(self) != 0)
        return NULL;
    sk_pipeline_get_stats(self->flow.pipeline, &s);
    PyObject *stages = PyDict_New();
    for (int i = 0; stages && i < SK_STAGE_COUNT; i++)
        if (put_stage(stages, self->flow.pipeline, (sk_stage)i) != 0)
            Py_CLEAR(stages);
    if (!stages)
        return NULL;
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:d,s:d,s:N}", "submitted", (long long)s.submitted,
                         "delivered", (long long)s.delivered, "failed", (long long)s.failed, "checks",
                         (long long)s.checks, "bytes", (long long)s.bytes, "worst_pcc", s.worst_pcc,
                         "open_seconds", s.open_seconds, "stages_ms", stages);
}

static PyObject *stream(PyObject *object, PyObject *args)
{
    PyObject *uri, *options;
    if (sk_pipeline_here((sk_py_pipeline *)object) != 0 ||
        !PyArg_ParseTuple(args, "O!O!:stream", &PyBytes_Type, &uri, &PyDict_Type, &options))
        return NULL;
    return sk_stream_new((sk_py_pipeline *)object, PyBytes_AsString(uri), options);
}

static PyMethodDef methods[] = {
    {"run", run, METH_VARARGS, "run(frame, format, index, time_ns): the frame's result"},
    {"submit", submit, METH_VARARGS, "submit(frame, format, index, time_ns): a ticket for its result"},
    {"open_stream", stream, METH_VARARGS, "open_stream(uri, options): an iterator of results"},
    {"about", about, METH_NOARGS, "what it is"},
    {"stats", stats, METH_NOARGS, "how it went"},
    {"release", release, METH_NOARGS, "ends all work"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)new_pipeline},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"Pipeline(models, settings, result_type)"},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "skitter._native.Pipeline",
    .basicsize = sizeof(sk_py_pipeline),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

static PyMethodDef ticket_methods[] = {
    {"result", ticket_result, METH_NOARGS, "waits for the result; once"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot ticket_slots[] = {
    {Py_tp_dealloc, (void *)ticket_dealloc},
    {Py_tp_methods, ticket_methods},
    {Py_tp_doc, (void *)"A frame on its way."},
    {0, NULL},
};

static PyType_Spec ticket_spec = {
    .name = "skitter._native.Ticket",
    .basicsize = sizeof(ticket),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = ticket_slots,
};

int sk_pipeline_ready(PyObject *module)
{
    if (sk_add_type(module, &ticket_spec, &ticket_type, "Ticket") != 0)
        return -1;
    return sk_add_type(module, &spec, &sk_pipeline_type, "Pipeline");
}
