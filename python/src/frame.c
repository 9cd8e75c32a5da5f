/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Arrays (the buffer protocol) and tensors (DLPack) as frames, where their pixels lie. */

/* What keeps the pixels of an item. */
typedef struct held {
    Py_buffer view;
    bool has_view;
    PyObject *capsule; /* of DLPack; its tensor is the frame's */
    void (*release)(void *context, const sk_frame *frame);
    void *context;
    sk_frame frame;
    uint8_t *copy;
} held;

static void let_go(held *h)
{
    if (h->has_view)
        PyBuffer_Release(&h->view);
    if (h->release)
        h->release(h->context, &h->frame);
    Py_XDECREF(h->capsule);
    free(h->copy);
    free(h);
}

void sk_frame_let_go(sk_item *item)
{
    if (item->held)
        let_go(item->held);
    sk_item_free(item);
}

void sk_frame_sweep(sk_flow *flow)
{
    if (!sk_flow_is_here(flow))
        return;
    for (sk_item *item = sk_flow_ended(flow), *next; item; item = next) {
        next = item->next;
        sk_frame_let_go(item);
    }
    sk_flow_sweep(flow);
}

/* --- formats --- */

static int find_format(const char *name, sk_pixel_format *out)
{
    static const struct {
        const char *name;
        sk_pixel_format format;
    } known[] = {{"rgb", SK_PIXEL_RGB},   {"bgr", SK_PIXEL_BGR},   {"rgba", SK_PIXEL_RGBA},
                 {"bgra", SK_PIXEL_BGRA}, {"gray", SK_PIXEL_GRAY}, {"grey", SK_PIXEL_GRAY},
                 {"auto", SK_PIXEL_NONE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].format;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "format '%s' is none of rgb, bgr, rgba, bgra, gray", name);
    return -1;
}

static sk_pixel_format swapped(sk_pixel_format format)
{
    return format == SK_PIXEL_RGB ? SK_PIXEL_BGR : format == SK_PIXEL_BGR ? SK_PIXEL_RGB : SK_PIXEL_NONE;
}

/* What `channels` of them are, where the caller wishes `wish`: "rgb" and "bgr" also say it of four. */
static sk_pixel_format settle_format(sk_pixel_format wish, Py_ssize_t channels, int bytes)
{
    if (channels == 1)
        return bytes == 2 ? SK_PIXEL_GRAY16 : SK_PIXEL_GRAY;
    const bool bgr = wish == SK_PIXEL_BGR || wish == SK_PIXEL_BGRA;
    if (channels == 4)
        return bgr ? SK_PIXEL_BGRA : SK_PIXEL_RGBA;
    return bgr ? SK_PIXEL_BGR : SK_PIXEL_RGB;
}

/* --- the buffer protocol --- */

static int element_bytes(const Py_buffer *v)
{
    const char *f = v->format ? v->format : "B";
    if (*f == '@' || *f == '=' || *f == '<' || *f == '|')
        f++;
    if (strcmp(f, "B") == 0 && v->itemsize == 1)
        return 1;
    if (strcmp(f, "H") == 0 && v->itemsize == 2)
        return 2;
    return 0;
}

/* What numpy calls the elements. */
static const char *element_name(const Py_buffer *v)
{
    static const struct {
        char code;
        const char *name;
    } known[] = {{'B', "uint8"},   {'b', "int8"},    {'H', "uint16"},  {'h', "int16"},  {'I', "uint32"},
                 {'i', "int32"},   {'L', "uint64"},  {'l', "int64"},   {'?', "bool"},   {'e', "float16"},
                 {'f', "float32"}, {'d', "float64"}, {'O', "objects"}, {'Q', "uint64"}, {'q', "int64"}};
    const char *f = v->format ? v->format : "B";
    if (*f == '>')
        return strcmp(f, ">H") == 0 ? "uint16 of the other byte order" : f;
    if (strchr("@=<|", *f) && *f)
        f++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (f[0] == known[i].code && f[1] == '\0')
            return known[i].name;
    return f;
}

/* What would make a picture of it. */
static const char *shape_remedy(const Py_buffer *v)
{
    const char *name = element_name(v);
    for (int i = 0; i < v->ndim; i++)
        if (v->shape[i] == 0)
            return ". This one has no pixels";
    if (v->ndim == 4)
        return ". Several frames are given as a list: pipeline(list(frames))";
    if (strncmp(name, "float", 5) == 0)
        return ". Of values from 0 to 1: (frame * 255).astype('uint8')";
    if (strncmp(name, "uint16 of", 9) == 0)
        return ". frame.astype('uint16') turns the bytes";
    if (strcmp(name, "bool") == 0)
        return ". Of a mask: mask.astype('uint8') * 255";
    if (v->ndim == 3 && v->shape[0] <= 4 && v->shape[2] > 4)
        return ". Channels come last: frame.transpose(1, 2, 0)";
    return "";
}

static int refuse_shape(const Py_buffer *v)
{
    char shape[128] = "";
    sk_error err = {.code = SK_ERR_ARG};
    for (int i = 0; i < v->ndim && i < 5; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", i ? ", " : "",
                 (long long)v->shape[i]);
    snprintf(err.message, sizeof err.message,
             "an array of %.40s [%s] is no picture: give uint8 as [height, width, 3], [height, width, 4] or "
             "[height, width], or uint16 as [height, width]%s",
             element_name(v), shape, shape_remedy(v));
    sk_raise(SK_ERR_ARG, &err);
    return -1;
}

/* Pixels that lie in no order a frame can have, one after another. */
static int copy_dense(held *h, Py_ssize_t channels, int bytes)
{
    const Py_buffer *v = &h->view;
    const Py_ssize_t height = v->shape[0], width = v->shape[1];
    const Py_ssize_t third = v->ndim == 3 ? v->strides[2] : 0;
    h->copy = malloc((size_t)(height * width * channels * bytes));
    if (!h->copy) {
        PyErr_NoMemory();
        return -1;
    }
    uint8_t *to = h->copy;
    for (Py_ssize_t y = 0; y < height; y++)
        for (Py_ssize_t x = 0; x < width; x++)
            for (Py_ssize_t k = 0; k < channels; k++, to += bytes)
                memcpy(to, (const uint8_t *)v->buf + y * v->strides[0] + x * v->strides[1] + k * third,
                       (size_t)bytes);
    return 0;
}

static int describe_view(held *h, sk_pixel_format wish, sk_frame *f)
{
    const Py_buffer *v = &h->view;
    const int bytes = element_bytes(v);
    const Py_ssize_t channels = v->ndim == 3 ? v->shape[2] : 1;
    if (!bytes || v->ndim < 2 || v->ndim > 3 || (channels != 1 && channels != 3 && channels != 4) ||
        (bytes == 2 && channels != 1) || v->shape[0] < 1 || v->shape[1] < 1 || v->shape[0] > 65535 ||
        v->shape[1] > 65535)
        return refuse_shape(v);
    const Py_ssize_t pixel = channels * bytes, row = v->shape[1] * pixel;
    const Py_ssize_t third = v->ndim == 3 && channels > 1 ? v->strides[2] : bytes;
    f->format = settle_format(wish, channels, bytes);
    f->width = (int32_t)v->shape[1];
    f->height = (int32_t)v->shape[0];
    f->data = v->buf;
    f->stride = v->strides[0];
    const bool rows =
        (v->strides[0] >= row || v->shape[0] == 1) && (v->strides[1] == pixel || v->shape[1] == 1);
    if (v->shape[0] == 1)
        f->stride = row;
    if (rows && third == bytes)
        return 0;
    if (rows && third == -1 && channels == 3) { /* frame[:, :, ::-1]: the other order of colours */
        f->data -= 2;
        f->format = swapped(f->format);
        return 0;
    }
    if (copy_dense(h, channels, bytes) != 0)
        return -1;
    f->data = h->copy;
    f->stride = row;
    return 0;
}

/* --- DLPack --- */

/* A tensor's capsule; on a GPU, ready for the legacy default stream. */
static PyObject *ask_capsule(PyObject *object, bool gpu)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *capsule = NULL;
    for (int versioned = 1; method && none && versioned >= 0 && !capsule; versioned--) {
        PyObject *with = gpu ? Py_BuildValue("{s:i}", "stream", 1) : PyDict_New();
        PyObject *version = versioned ? Py_BuildValue("(ii)", 1, 0) : NULL;
        if (with && version && PyDict_SetItemString(with, "max_version", version) != 0)
            Py_CLEAR(with);
        PyErr_Clear();
        if (with)
            capsule = PyObject_Call(method, none, with);
        Py_XDECREF(version);
        Py_XDECREF(with);
        if (!capsule && !PyErr_ExceptionMatches(PyExc_TypeError))
            break; /* it knows the question and has another answer */
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    return capsule;
}

static int is_on_gpu(PyObject *object, bool *gpu)
{
    PyObject *where = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *first = where ? PySequence_GetItem(where, 0) : NULL;
    PyObject *number = first ? PyNumber_Index(first) : NULL; /* of enumerations, too */
    long type = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(first);
    if (where && PyErr_Occurred()) { /* it answered, with something else */
        PyErr_Clear();
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__ gave no device: (type, number) is expected");
    }
    Py_XDECREF(where);
    if (PyErr_Occurred())
        return -1;
    *gpu = type == SK_DL_CUDA || type == SK_DL_ROCM;
    return 0;
}

static int describe_tensor(PyObject *object, held *h, sk_pixel_format wish, sk_frame *f)
{
    bool gpu = false;
    sk_error err = {0};
    sk_status status = SK_OK;
    if (is_on_gpu(object, &gpu) != 0 || !(h->capsule = ask_capsule(object, gpu)))
        return -1;
    sk_frame tensor = SK_FRAME_INIT;
    const sk_pixel_format format = wish == SK_PIXEL_RGB ? SK_PIXEL_NONE : wish; /* rgb: by their number */
    if (PyCapsule_IsValid(h->capsule, "dltensor_versioned")) {
        status = sk_frame_from_dlpack(PyCapsule_GetPointer(h->capsule, "dltensor_versioned"), format, &tensor,
                                      &err);
        if (status == SK_OK)
            PyCapsule_SetName(h->capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(h->capsule, "dltensor")) {
        status =
            sk_frame_from_dlpack_old(PyCapsule_GetPointer(h->capsule, "dltensor"), format, &tensor, &err);
        if (status == SK_OK)
            PyCapsule_SetName(h->capsule, "used_dltensor");
    } else {
        PyErr_SetString(PyExc_TypeError, "__dlpack__ gave no tensor");
        return -1;
    }
    if (status != SK_OK) {
        sk_raise(status, &err);
        return -1;
    }
    h->frame = tensor;
    h->release = tensor.release;
    h->context = tensor.release_context;
    *f = tensor;
    if (gpu)
        f->stream = (void *)(uintptr_t)1; /* the legacy default stream, as it was asked for */
    return 0;
}

int sk_frame_of(PyObject *object, const char *format, sk_item *item)
{
    sk_pixel_format wish = SK_PIXEL_NONE;
    if (find_format(format, &wish) != 0)
        return -1;
    held *h = calloc(1, sizeof *h);
    if (!h) {
        PyErr_NoMemory();
        return -1;
    }
    item->held = h;
    if (PyObject_GetBuffer(object, &h->view, PyBUF_RECORDS_RO) == 0) {
        h->has_view = true;
        return describe_view(h, wish, &item->frame);
    }
    PyErr_Clear(); /* before the next question: Python 3.13 complains of one that is asked with an exception at hand */
    if (!PyObject_HasAttrString(object, "__dlpack__")) {
        PyErr_SetString(PyExc_TypeError,
                        "a frame is an array (numpy, or another with the buffer protocol) or a tensor "
                        "(DLPack: torch, cupy, jax)");
        return -1;
    }
    return describe_tensor(object, h, wish, &item->frame);
}
