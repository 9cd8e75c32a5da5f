/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TASKS_NPY_TEST_H
#define SK_TESTS_TASKS_NPY_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A NumPy file of a trusted fixture, whole, in memory of the test's own. */
typedef struct npy {
    char descr[8]; /* "<f4", "|u1", "<i8" */
    int rank;
    int64_t dim[8], count;
    void *data;
} npy;

static inline npy npy_load(const char *path)
{
    npy a = {.count = 1};
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s cannot be opened\n", path);
        exit(1);
    }
    unsigned char head[10];
    char text[4096] = {0};
    size_t length = fread(head, 1, 10, f) == 10 ? (size_t)head[8] | (size_t)head[9] << 8 : 0;
    if (length == 0 || length >= sizeof text || fread(text, 1, length, f) != length)
        exit(1);
    sscanf(strstr(text, "'descr': '") + 10, "%7[^']", a.descr);
    char *p = strchr(strstr(text, "'shape'"), '(') + 1;
    while (*p && *p != ')') {
        if (*p >= '0' && *p <= '9')
            a.count *= a.dim[a.rank++] = strtoll(p, &p, 10);
        else
            p++;
    }
    size_t bytes = (size_t)a.count * (size_t)(a.descr[2] - '0');
    a.data = malloc(bytes ? bytes : 1);
    if (!a.data || fread(a.data, 1, bytes, f) != bytes)
        exit(1);
    fclose(f);
    return a;
}

#endif
