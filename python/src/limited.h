/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_PYTHON_LIMITED_H
#define SKITTER_PYTHON_LIMITED_H

/* CPython's stable ABI from 3.9 on: one binary for every later version. Where the module is built for one version
 * (free-threaded Python, which has no stable ABI) SKITTER_PYTHON_WHOLE is set. */
#ifndef SKITTER_PYTHON_WHOLE
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The buffer protocol joined the stable ABI in 3.11. Its struct, its two slots and its two functions are the same in 3.9 and 3.10,
 * whose headers hide them from users of the stable ABI: here they are, and tests run the module with those versions. */
#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030B0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *from, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#define PyBUF_WRITABLE       0x0001
#define PyBUF_FORMAT         0x0004
#define PyBUF_ND             0x0008
#define PyBUF_STRIDES        (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS   (0x0020 | PyBUF_STRIDES)
#define PyBUF_F_CONTIGUOUS   (0x0040 | PyBUF_STRIDES)
#define PyBUF_ANY_CONTIGUOUS (0x0080 | PyBUF_STRIDES)
#define PyBUF_RECORDS_RO     (PyBUF_STRIDES | PyBUF_FORMAT)
#define Py_bf_getbuffer      1
#define Py_bf_releasebuffer  2
#endif

#endif
