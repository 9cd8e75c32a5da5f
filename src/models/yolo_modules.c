/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include "base/named.h"

#include <stdio.h>
#include <string.h>

/* --- errors and names --- */

sk_value sk_yolo_fail(yolo_reader *y, sk_status code, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sk_builder_fail(&y->b, code, "%s: layer %d (%s), at %s: %s", y->path, y->layer,
                           y->layer_class ? y->layer_class : "?", y->scope, text);
}

bool sk_yolo_ok(const yolo_reader *y)
{
    return y->b.status == SK_OK;
}

size_t sk_yolo_enter(yolo_reader *y, const char *name)
{
    size_t mark = strlen(y->scope);
    snprintf(y->scope + mark, sizeof y->scope - mark, "%s%s", mark ? "." : "", name);
    return mark;
}

void sk_yolo_leave(yolo_reader *y, size_t mark)
{
    y->scope[mark] = '\0';
}

/* --- looking into modules --- */

yolo_module *sk_yolo_find(yolo_module *module, const char *name)
{
    yolo_module *child = sk_pickle_child(module, name);
    return child && child->kind == SK_PICKLE_OBJECT ? child : NULL;
}

int sk_yolo_list_count(yolo_module *list)
{
    const sk_pickle_value *modules = sk_pickle_get(list, "_modules");
    if (!modules || modules->kind != SK_PICKLE_DICT)
        return 0;
    return modules->length > YOLO_MAX_MODULES ? YOLO_MAX_MODULES : (int)modules->length;
}

yolo_module *sk_yolo_list_at(yolo_module *list, int index, const char **name)
{
    if (index < 0 || index >= sk_yolo_list_count(list))
        return NULL;
    const sk_pickle_pair *pair = &sk_pickle_get(list, "_modules")->u.pairs[index];
    if (name)
        *name = sk_pickle_text(pair->key) ? pair->key->u.text : "?";
    return pair->value;
}

int64_t sk_yolo_int(yolo_module *module, const char *name, int64_t otherwise)
{
    int64_t value;
    return sk_pickle_to_int(sk_pickle_get(module, name), &value) ? value : otherwise;
}

bool sk_yolo_flag(yolo_module *module, const char *name, bool otherwise)
{
    const sk_pickle_value *value = sk_pickle_get(module, name);
    return value && value->kind == SK_PICKLE_BOOL ? value->u.boolean : otherwise;
}

bool sk_yolo_pair(yolo_module *module, const char *name, int64_t out[2])
{
    const sk_pickle_value *value = sk_pickle_get(module, name);
    if (sk_pickle_to_int(value, &out[0])) {
        out[1] = out[0];
        return true;
    }
    if (!sk_pickle_at(value, 0) || !sk_pickle_to_int(sk_pickle_at(value, 0), &out[0]))
        return false;
    if (value->length == 1) {
        out[1] = out[0];
        return true;
    }
    return value->length == 2 && sk_pickle_to_int(sk_pickle_at(value, 1), &out[1]);
}

/* --- torch's own modules --- */

static sk_value sequential(yolo_reader *y, yolo_module *module, sk_value x)
{
    int n = sk_yolo_list_count(module);
    for (int i = 0; i < n; i++) {
        const char *name;
        yolo_module *child = sk_yolo_list_at(module, i, &name);
        size_t mark = sk_yolo_enter(y, name);
        x = sk_yolo_module(y, child, x);
        sk_yolo_leave(y, mark);
    }
    return x;
}

static sk_value identity(yolo_reader *y, yolo_module *module, sk_value x)
{
    (void)y;
    (void)module;
    return x;
}

static bool pool_window(yolo_reader *y, yolo_module *module, sk_attrs *attrs)
{
    int64_t kernel[2], stride[2], pad[2], dilation[2] = {1, 1};
    *attrs = (sk_attrs){0};
    if (!sk_yolo_pair(module, "kernel_size", kernel)) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "a pooling layer without a kernel size");
        return false;
    }
    if (!sk_yolo_pair(module, "stride", stride)) /* None: as large as the kernel */
        memcpy(stride, kernel, sizeof stride);
    if (!sk_yolo_pair(module, "padding", pad))
        pad[0] = pad[1] = 0;
    if (sk_pickle_get(module, "dilation") && !sk_yolo_pair(module, "dilation", dilation))
        dilation[0] = 0;
    for (int i = 0; i < 2; i++) {
        if (kernel[i] < 1 || kernel[i] > 1024 || stride[i] < 1 || stride[i] > 1024 || pad[i] < 0 ||
            pad[i] > kernel[i] / 2 || dilation[i] != 1) {
            sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "its pooling window is out of range");
            return false;
        }
        attrs->pool.window.kernel[i] = (int32_t)kernel[i];
        attrs->pool.window.stride[i] = (int32_t)stride[i];
        attrs->pool.window.dilation[i] = 1;
        attrs->pool.window.pad[i] = attrs->pool.window.pad[i + 2] = (int32_t)pad[i];
    }
    attrs->pool.ceil_mode = sk_yolo_flag(module, "ceil_mode", false);
    attrs->pool.count_include_pad = sk_yolo_flag(module, "count_include_pad", true);
    return true;
}

static sk_value max_pool(yolo_reader *y, yolo_module *module, sk_value x)
{
    sk_attrs attrs;
    return pool_window(y, module, &attrs) ? sk_b_node(&y->b, SK_OP_MAX_POOL, &attrs, &x, 1, NULL)
                                          : SK_VALUE_NONE;
}

static sk_value avg_pool(yolo_reader *y, yolo_module *module, sk_value x)
{
    sk_attrs attrs;
    return pool_window(y, module, &attrs) ? sk_b_node(&y->b, SK_OP_AVG_POOL, &attrs, &x, 1, NULL)
                                          : SK_VALUE_NONE;
}

static sk_value global_average(yolo_reader *y, yolo_module *module, sk_value x)
{
    int64_t size[2] = {1, 1};
    if (sk_pickle_get(module, "output_size") && !sk_yolo_pair(module, "output_size", size))
        size[0] = 0;
    if (size[0] != 1 || size[1] != 1)
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "adaptive pooling to other sizes than 1x1");
    return sk_b_reduce(&y->b, SK_REDUCE_MEAN, x, (const int[]){2, 3}, 2, true);
}

static sk_value upsample(yolo_reader *y, yolo_module *module, sk_value x)
{
    const char *mode = sk_pickle_text(sk_pickle_get(module, "mode"));
    const sk_pickle_value *factor = sk_pickle_get(module, "scale_factor");
    double scale = 0;
    if (!sk_pickle_to_real(factor, &scale) && !sk_pickle_to_real(sk_pickle_at(factor, 0), &scale))
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "upsampling without a scale factor");
    if (!(scale >= 1 && scale <= 64))
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "upsampling by %g", scale);
    if (!mode || strcmp(mode, "nearest") == 0)
        return sk_b_upsample_nearest(&y->b, x, (float)scale);
    if (strcmp(mode, "bilinear") == 0 && !sk_yolo_flag(module, "align_corners", false))
        return sk_b_upsample_linear(&y->b, x, (float)scale);
    return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "upsampling mode '%s'", mode);
}

static sk_value zero_pad(yolo_reader *y, yolo_module *module, sk_value x)
{
    const sk_pickle_value *pads = sk_pickle_get(module, "padding"); /* left, right, top, bottom */
    int64_t p[4];
    for (size_t i = 0; i < 4; i++) {
        if (!sk_pickle_to_int(sk_pickle_at(pads, i), &p[i]) || p[i] < 0 || p[i] > 1024)
            return sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "padding that is not four small integers");
    }
    const int64_t list[8] = {0, 0, p[2], p[0], 0, 0, p[3], p[1]};
    const sk_value in[2] = {x, sk_b_i64s(&y->b, list, 8)};
    return sk_b_node(&y->b, SK_OP_PAD, &(sk_attrs){.pad = {.mode = 0}}, in, 2, NULL);
}

static sk_value conv_transpose2d(yolo_reader *y, yolo_module *module, sk_value x)
{
    return sk_yolo_conv_transpose2d(y, module, NULL, x);
}

static sk_value conv_transpose_block(yolo_reader *y, yolo_module *module, sk_value x)
{
    yolo_module *conv = sk_yolo_find(module, "conv_transpose");
    if (!conv)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "its part 'conv_transpose' is missing");
    x = sk_yolo_conv_transpose2d(y, conv, sk_yolo_find(module, "bn"), x);
    return sk_yolo_activation(y, sk_yolo_find(module, "act"), x);
}

/* --- which class is what --- */

static const yolo_named_block plain[] = {
    {"Sequential", sequential},
    {"Identity", identity},
    {"Silence", identity}, /* YOLOv9's name for it */
    {"Dropout", identity},
    {"Conv2d", sk_yolo_conv2d},
    {"Conv", sk_yolo_conv_block},
    {"Conv2", sk_yolo_conv_block},
    {"DWConv", sk_yolo_conv_block},
    {"RepConv", sk_yolo_rep_conv},
    {"RepVGGDW", sk_yolo_rep_vgg_dw},
    {"BatchNorm2d", sk_yolo_batch_norm},
    {"ConvTranspose2d", conv_transpose2d},
    {"DWConvTranspose2d", conv_transpose2d},
    {"ConvTranspose", conv_transpose_block},
    {"MaxPool2d", max_pool},
    {"AvgPool2d", avg_pool},
    {"AdaptiveAvgPool2d", global_average},
    {"Upsample", upsample},
    {"ZeroPad2d", zero_pad},
};

yolo_block sk_yolo_block_named(const yolo_named_block *table, size_t rows, const char *class_name)
{
    int32_t i = sk_row_named(table, rows, sizeof *table, class_name);
    return i < 0 ? NULL : table[i].block;
}

static yolo_block find_block(const char *class_name)
{
    if (sk_yolo_is_activation(class_name))
        return sk_yolo_activation;
    yolo_block block = YOLO_BLOCK_NAMED(plain, class_name);
    block = block ? block : sk_yolo_block_for(class_name);
    return block ? block : sk_yolo_attention_for(class_name);
}

sk_value sk_yolo_module(yolo_reader *y, yolo_module *module, sk_value x)
{
    if (!sk_yolo_ok(y))
        return SK_VALUE_NONE;
    const char *package, *class_name = sk_pickle_class(module, &package);
    if (!class_name)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "a module is missing or is no module");
    if (y->depth >= YOLO_MAX_DEPTH || ++y->modules > YOLO_MAX_MODULES)
        return sk_yolo_fail(y, SK_ERR_LIMIT, "modules are nested deeper than %d or are more than %d",
                            YOLO_MAX_DEPTH, YOLO_MAX_MODULES);
    yolo_block block = find_block(class_name);
    if (!block)
        return sk_yolo_fail(y, SK_ERR_UNSUPPORTED,
                            "module class '%s.%s' is not known. Export the model to ONNX with "
                            "the program that made it, and open the .onnx file",
                            package, class_name);
    y->depth++;
    sk_value out = block(y, module, x);
    y->depth--;
    return out;
}

sk_value sk_yolo_child(yolo_reader *y, yolo_module *module, const char *name, sk_value x)
{
    if (!sk_yolo_ok(y))
        return SK_VALUE_NONE;
    yolo_module *child = sk_yolo_find(module, name);
    if (!child)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "its part '%s' is missing; the checkpoint is incomplete", name);
    size_t mark = sk_yolo_enter(y, name);
    sk_value out = sk_yolo_module(y, child, x);
    sk_yolo_leave(y, mark);
    return out;
}

sk_value sk_yolo_list_item(yolo_reader *y, yolo_module *module, const char *list, int index, sk_value x)
{
    if (!sk_yolo_ok(y))
        return SK_VALUE_NONE;
    const char *name = NULL;
    yolo_module *child = sk_yolo_list_at(sk_yolo_find(module, list), index, &name);
    if (!child)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "part %d of '%s' is missing; the checkpoint is incomplete",
                            index, list);
    size_t mark = sk_yolo_enter(y, list);
    sk_yolo_enter(y, name);
    sk_value out = sk_yolo_module(y, child, x);
    sk_yolo_leave(y, mark);
    return out;
}
