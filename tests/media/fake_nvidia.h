/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_MEDIA_FAKE_NVIDIA_H
#define SK_TESTS_MEDIA_FAKE_NVIDIA_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What the stand-ins for NVIDIA's driver were asked for, and how they behave: the symbol `fake_nvidia_state` of libcuda.so.1. */
typedef struct fake_nvidia {
    const char *fails; /* a function of the driver that does nothing … */
    int error;         /* … and says this */
    int devices;
    int engines;    /* that decode H.264; of HEVC there is one less, of VP9 two less */
    size_t unused;  /* bytes of the device's memory */
    int contexts;   /* held */
    int pushed;     /* contexts that are current */
    int streams;    /* open; all are non-blocking */
    int blocks;     /* of memory */
    int waits;      /* for a stream */
    int last_index; /* of the device whose context was asked for */
} fake_nvidia;

/* Loads them for the whole process: they are found later by these names. Null: they are not there. */
static inline fake_nvidia *fake_nvidia_load(void)
{
    const char *const libraries[] = {"cuda", "nvcuvid"};
    char path[512];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/tests/nvidia/lib%s.so.1", getenv("SKITTER_TEST_BUILD"), libraries[i]);
        if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
            fprintf(stderr, "%s\n", dlerror());
            return NULL;
        }
    }
    return dlsym(RTLD_DEFAULT, "fake_nvidia_state");
}

#endif
