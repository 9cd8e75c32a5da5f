/* SPDX-License-Identifier: Apache-2.0 */
#include "module_writer.h"

#include "test.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct words {
    const char *at;
    tw_pickle *p;
    uint32_t seed;
    bool silent; /* only walk over it */
} words;

static void wrong(const words *w, const char *what)
{
    fail_msg("%s at '%.40s'", what, w->at);
}

static void blanks(words *w)
{
    while (*w->at == ' ' || *w->at == '\n')
        w->at++;
}

static void name(words *w, char out[48])
{
    size_t n = 0;
    while ((isalnum((unsigned char)*w->at) || *w->at == '_') && n < 47)
        out[n++] = *w->at++;
    out[n] = '\0';
    if (n == 0)
        wrong(w, "a name is missing");
}

static int numbers(words *w, int64_t *out, int most)
{
    int n = 0;
    w->at++; /* ( */
    while (*w->at && *w->at != ')') {
        char *end;
        if (n == most)
            wrong(w, "too many numbers");
        out[n++] = strtoll(w->at, &end, 10);
        if (end == w->at)
            wrong(w, "a number is missing");
        w->at = end + (*end == ',');
    }
    w->at++;
    return n;
}

/* --- tensors --- */

static void tensor(words *w, const char *called, const sk_shape *shape, float middle, float spread)
{
    const size_t count = (size_t)sk_shape_count(shape);
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        w->seed = w->seed * 1664525u + 1013904223u;
        values[i] = middle + spread * ((float)(w->seed >> 8) / (float)(1 << 24) - 0.5f);
    }
    tw_text(w->p, called);
    tw_tensor(w->p, SK_DTYPE_F32, shape, values, true);
    free(values);
}

static void begin(words *w, const char *module, const char *class_name)
{
    tw_object_begin(w->p, module, class_name);
    tw_text(w->p, "training");
    tw_bool(w->p, false);
}

static void section(words *w, const char *called)
{
    tw_text(w->p, called);
    tw_ordered_begin(w->p);
}

static void pair(words *w, const char *called, int64_t value)
{
    tw_text(w->p, called);
    tw_ints(w->p, (const int64_t[]){value, value}, 2);
}

static void integer(words *w, const char *called, int64_t value)
{
    tw_text(w->p, called);
    tw_int(w->p, value);
}

/* in, out, kernel, stride, groups, bias, padding */
static void convolution(words *w, const int64_t *n, bool transposed)
{
    const int64_t groups = n[4];
    const sk_shape shape = transposed ? sk_shape_of(4, (int)n[0], (int)(n[1] / groups), (int)n[2], (int)n[2])
                                      : sk_shape_of(4, (int)n[1], (int)(n[0] / groups), (int)n[2], (int)n[2]);
    section(w, "_parameters");
    tensor(w, "weight", &shape, 0, 2.0f / sqrtf((float)(n[0] / groups * n[2] * n[2])));
    if (n[5])
        tensor(w, "bias", &(sk_shape){.rank = 1, .dim = {n[1]}}, 0, 1);
    tw_dict_end(w->p);
    integer(w, "in_channels", n[0]);
    integer(w, "out_channels", n[1]);
    integer(w, "groups", groups);
    pair(w, "kernel_size", n[2]);
    pair(w, "stride", n[3]);
    pair(w, "padding", n[6] >= 0 ? n[6] : transposed ? 0 : n[2] / 2);
    pair(w, "dilation", 1);
}

static void norm(words *w, int64_t channels, bool affine)
{
    const sk_shape shape = {.rank = 1, .dim = {channels}};
    if (affine) {
        section(w, "_parameters");
        tensor(w, "weight", &shape, 1, 0.4f);
        tensor(w, "bias", &shape, 0, 0.6f);
        tw_dict_end(w->p);
    }
    section(w, "_buffers");
    tensor(w, "running_mean", &shape, 0, 0.5f);
    tensor(w, "running_var", &shape, 1, 0.5f);
    tw_dict_end(w->p);
}

static void conv_block(words *w, const int64_t *n)
{
    section(w, "_modules");
    tw_text(w->p, "conv");
    begin(w, "torch.nn.modules.conv", "Conv2d");
    convolution(w, n, false);
    tw_object_end(w->p);
    tw_text(w->p, "bn");
    begin(w, "torch.nn.modules.batchnorm", "BatchNorm2d");
    norm(w, n[1], true);
    tw_text(w->p, "eps");
    tw_real(w->p, 0.001);
    tw_object_end(w->p);
    tw_text(w->p, "act");
    begin(w, "torch.nn.modules.activation", "SiLU");
    tw_object_end(w->p);
    tw_dict_end(w->p);
}

/* --- attributes and parts --- */

static void value(words *w)
{
    if (*w->at == '(') {
        int64_t list[8];
        const int n = numbers(w, list, 8);
        if (!w->silent)
            tw_ints(w->p, list, n);
    } else if (*w->at == '\'') {
        char text[64];
        size_t n = 0;
        for (w->at++; *w->at && *w->at != '\'' && n < 63; w->at++)
            text[n++] = *w->at;
        text[n] = '\0';
        w->at++;
        if (!w->silent)
            tw_text(w->p, text);
    } else if (strchr("TFN", *w->at) && *w->at) {
        const char word = *w->at++;
        if (!w->silent && word == 'N')
            tw_none(w->p);
        else if (!w->silent)
            tw_bool(w->p, word == 'T');
    } else {
        char *end, *real_end;
        const long long whole = strtoll(w->at, &end, 10);
        const double real = strtod(w->at, &real_end);
        if (real_end == w->at)
            wrong(w, "a value is missing");
        if (!w->silent && real_end > end)
            tw_real(w->p, real);
        else if (!w->silent)
            tw_int(w->p, whole);
        w->at = real_end;
    }
}

static void module(words *w, const char *more);

enum { PARAMETERS, PARTS, ATTRIBUTES };

/* The items between braces, of which those of one kind are written. */
static void items(words *w, int kind)
{
    const bool silent = w->silent;
    for (blanks(w); *w->at && *w->at != '}'; blanks(w)) {
        char called[48];
        name(w, called);
        const char sign = *w->at++;
        const bool parameter = sign == ':' && strncmp(w->at, "Parameter(", 10) == 0;
        w->silent = silent || kind != (parameter ? PARAMETERS : sign == ':' ? PARTS : ATTRIBUTES);
        if (parameter) {
            int64_t n[1];
            w->at += 9;
            (void)numbers(w, n, 1);
            if (!w->silent)
                tensor(w, called, &(sk_shape){.rank = 1, .dim = {n[0]}}, 0.5f, 0.5f);
            continue;
        }
        if (!w->silent)
            tw_text(w->p, called);
        if (sign == ':')
            module(w, NULL);
        else if (sign == '=')
            value(w);
        else
            wrong(w, "neither : nor =");
    }
    w->silent = silent;
}

static const char *package_of(const char *class_name)
{
    static const char *const torch[] = {"Sequential",  "ModuleList",      "Identity",         "Conv2d",
                                        "BatchNorm2d", "MaxPool2d",       "AvgPool2d",        "Upsample",
                                        "ZeroPad2d",   "ConvTranspose2d", "AdaptiveAvgPool2d"};
    for (size_t i = 0; i < sizeof torch / sizeof *torch; i++)
        if (strcmp(class_name, torch[i]) == 0)
            return "torch.nn.modules.some";
    return "ultralytics.nn.modules.block";
}

static void module(words *w, const char *more)
{
    char class_name[48];
    int64_t n[7] = {1, 1, 1, 1, 1, 0, -1};
    bool given = false;
    name(w, class_name);
    const bool transposed = strcmp(class_name, "Transposed") == 0;
    if (*w->at == '(') {
        given = true;
        (void)numbers(w, n, 7);
    }
    const char *inside = *w->at == '{' ? w->at + 1 : NULL;
    if (!w->silent) {
        begin(w, package_of(class_name), transposed ? "ConvTranspose2d" : class_name);
        if (given && strcmp(class_name, "BatchNorm2d") == 0)
            norm(w, n[0], n[1] != 0);
        else if (given && (transposed || strcmp(class_name, "Conv2d") == 0))
            convolution(w, n, transposed);
        else if (given)
            conv_block(w, n);
        static const char *const sections[] = {"_parameters", "_modules"};
        for (int kind = PARAMETERS; inside && !given && kind <= PARTS; kind++) {
            section(w, sections[kind]);
            w->at = inside;
            items(w, kind);
            tw_dict_end(w->p);
        }
    }
    if (inside) {
        w->at = inside;
        items(w, ATTRIBUTES);
        if (*w->at != '}')
            wrong(w, "a brace is missing");
        w->at++;
    }
    if (!w->silent && more) {
        words behind = {.at = more, .p = w->p};
        items(&behind, ATTRIBUTES);
    }
    if (!w->silent)
        tw_object_end(w->p);
}

void module_write(tw_pickle *p, const char *text, const char *more, uint32_t seed)
{
    words w = {.at = text, .p = p, .seed = seed};
    module(&w, more);
    if (*w.at)
        wrong(&w, "something is left");
}
