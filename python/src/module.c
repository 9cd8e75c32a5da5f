/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* --- errors --- */

static PyObject *errors; /* status -> class, from skitter._errors */

PyObject *sk_raise(sk_status status, const sk_error *err)
{
    const char *said = err && err->message[0] ? err->message : sk_status_text(status);
    PyObject *key = PyLong_FromLong(status), *text = sk_text(said);
    PyObject *class = key && errors ? PyDict_GetItemWithError(errors, key) : NULL;
    if (text && !PyErr_Occurred())
        PyErr_SetObject(class ? class : PyExc_RuntimeError, text);
    Py_XDECREF(key);
    Py_XDECREF(text);
    return NULL;
}

static PyObject *set_errors(PyObject *module, PyObject *classes)
{
    (void)module;
    PyObject *before = errors;
    if (!PyDict_Check(classes)) {
        PyErr_SetString(PyExc_TypeError, "set_errors needs a dictionary");
        return NULL;
    }
    Py_INCREF(classes);
    errors = classes;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

/* --- help for the others --- */

int sk_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out, const char *name)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type)
        return -1;
    *out = (PyTypeObject *)type;
    Py_INCREF(type); /* one for us, one for the module */
    if (PyModule_AddObject(module, name, type) == 0)
        return 0;
    Py_DECREF(type);
    return -1;
}

void sk_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

PyObject *sk_text(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *look_up(PyObject *dict, const char *key)
{
    PyObject *name = PyUnicode_FromString(key);
    PyObject *value = name ? PyDict_GetItemWithError(dict, name) : NULL;
    Py_XDECREF(name);
    return value == Py_None ? NULL : value;
}

int sk_dict_int(PyObject *dict, const char *key, long long *out, int *found)
{
    PyObject *value = look_up(dict, key);
    *found = value != NULL;
    if (value)
        *out = PyLong_AsLongLong(value);
    return PyErr_Occurred() ? -1 : 0;
}

int sk_dict_double(PyObject *dict, const char *key, double *out, int *found)
{
    PyObject *value = look_up(dict, key);
    *found = value != NULL;
    if (value)
        *out = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
}

int sk_dict_text(PyObject *dict, const char *key, const char **out)
{
    PyObject *value = look_up(dict, key);
    *out = NULL;
    if (value && !PyBytes_Check(value))
        PyErr_Format(PyExc_TypeError, "%s is to be bytes", key);
    else if (value)
        *out = PyBytes_AsString(value);
    return PyErr_Occurred() ? -1 : 0;
}

/* --- messages: kept until somebody asks, because they come from threads that know no interpreter --- */

#define MOST_MESSAGES 256

static struct {
    pthread_mutex_t lock;
    int count, lost;
    struct {
        sk_log_level level;
        char *text;
    } all[MOST_MESSAGES];
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void hear(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    char *copy = strdup(text);
    pthread_mutex_lock(&messages.lock);
    if (copy && messages.count < MOST_MESSAGES) {
        messages.all[messages.count].level = level;
        messages.all[messages.count++].text = copy;
        copy = NULL;
    } else {
        messages.lost++;
    }
    pthread_mutex_unlock(&messages.lock);
    free(copy);
}

static PyObject *take_messages(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    while (list) {
        pthread_mutex_lock(&messages.lock);
        char *text = NULL;
        sk_log_level level = SK_LOG_INFO;
        if (messages.count > 0) {
            text = messages.all[0].text;
            level = messages.all[0].level;
            memmove(&messages.all[0], &messages.all[1], (size_t)--messages.count * sizeof messages.all[0]);
        }
        pthread_mutex_unlock(&messages.lock);
        if (!text)
            break;
        PyObject *said = sk_text(text), *pair = said ? Py_BuildValue("(iN)", (int)level, said) : NULL;
        free(text);
        if (!pair || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* --- what needs no object --- */

static PyObject *pick_runtime(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *list;
    const char *wish = NULL, *models[SK_PIPELINE_MAX_MODELS] = {0};
    int fallback = 0;
    if (!PyArg_ParseTuple(args, "O!zp:pick_runtime", &PyList_Type, &list, &wish, &fallback))
        return NULL;
    const Py_ssize_t n = PyList_Size(list);
    for (Py_ssize_t i = 0; i < n && i < SK_PIPELINE_MAX_MODELS; i++)
        if (!(models[i] = PyBytes_AsString(PyList_GetItem(list, i))))
            return NULL;
    sk_runtime_pick pick = SK_RUNTIME_PICK_INIT;
    sk_error err = {0};
    sk_status status;
    Py_BEGIN_ALLOW_THREADS
    status = sk_runtime_pick_for(models, (int32_t)(n < SK_PIPELINE_MAX_MODELS ? n : SK_PIPELINE_MAX_MODELS),
                                 wish, fallback != 0, &pick, &err);
    Py_END_ALLOW_THREADS
    if (status != SK_OK)
        return sk_raise(status, &err);
    return Py_BuildValue("(ssis)", pick.runtime, pick.requested, (int)pick.fell_back, pick.notice);
}

static PyObject *names_of(const sk_model *model, int32_t n,
                          const char *(*name)(const sk_model *model, int32_t index))
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; i < n && list; i++) {
        PyObject *text = sk_text(name(model, i));
        if (!text || PyList_Append(list, text) != 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *describe_model(PyObject *module, PyObject *path)
{
    (void)module;
    const char *name = PyBytes_AsString(path);
    sk_model *model = NULL;
    sk_error err = {0};
    sk_status status;
    if (!name)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = sk_model_open(name, &model, &err);
    Py_END_ALLOW_THREADS
    if (status != SK_OK)
        return sk_raise(status, &err);
    PyObject *classes = names_of(model, sk_model_class_count(model), sk_model_class_name);
    PyObject *points = names_of(model, sk_model_keypoint_count(model), sk_model_keypoint_name);
    PyObject *out =
        classes && points ? Py_BuildValue("(iOO)", (int)sk_model_task(model), classes, points) : NULL;
    Py_XDECREF(classes);
    Py_XDECREF(points);
    sk_model_close(&model);
    return out;
}

/* --- the module --- */

static PyMethodDef methods[] = {
    {"set_errors", set_errors, METH_O, "set_errors({status: class}): what failures raise."},
    {"take_messages", take_messages, METH_NOARGS, "What the library said since: [(level, text)]."},
    {"pick_runtime", pick_runtime, METH_VARARGS, "pick_runtime(models, wish, allow_fallback)"},
    {"describe_model", describe_model, METH_O, "describe_model(path): task, classes, keypoints"},
    {"draw", sk_draw, METH_VARARGS, "draw(result, canvas): draws what was found into an RGB array."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    static bool loaded;
    static sk_log_listener *listener;
    if (loaded) {
        PyErr_SetString(PyExc_ImportError, "skitter runs in one interpreter of a process");
        return -1;
    }
    if (sk_column_ready(module) != 0 || sk_result_ready(module) != 0 || sk_pipeline_ready(module) != 0 ||
        sk_stream_ready(module) != 0 || sk_tracks_ready(module) != 0 ||
        PyModule_AddStringConstant(module, "version", sk_version_text()) != 0)
        return -1;
    if (!listener && sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, NULL) != SK_OK) {
        PyErr_NoMemory();
        return -1;
    }
    loaded = true;
    return 0;
}

/* Slots that later versions know, and earlier ones refuse: which interpreter this is, is known when it is loaded. */
enum { SLOT_MULTIPLE_INTERPRETERS = 3, SLOT_GIL = 4 };

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
    {0, NULL},
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "skitter._native",
    .m_doc = "Thin objects over libskitter; the package skitter is made of them.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    int minor = 0, n = 1;
    const char *version = Py_GetVersion(); /* "3.12.1 (main, …" */
    if (strncmp(version, "3.", 2) == 0)
        minor = atoi(version + 2);
    if (minor >= 12)
        module_slots[n++] = (PyModuleDef_Slot){SLOT_MULTIPLE_INTERPRETERS, (void *)0}; /* not supported */
    if (minor >= 13)
        module_slots[n++] = (PyModuleDef_Slot){SLOT_GIL, (void *)1}; /* not used */
    return PyModuleDef_Init(&definition);
}
