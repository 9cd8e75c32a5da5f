/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_node.h"

#include "base/named.h"

#include <string.h>

/* What a call in a pickle stands for. Containers and torch's tensors become plain nodes; everything else becomes an
 * inert object that remembers the name and the arguments. Nothing is ever looked up, imported or run. */

static bool is_global(const pickle_node *node, const char *module, const char *name)
{
    return node->value.kind == SK_PICKLE_GLOBAL && strcmp(node->value.u.global.name, name) == 0 &&
           strcmp(node->value.u.global.module, module) == 0;
}

static bool is_builtin(const pickle_node *node, const char *name)
{
    return is_global(node, "__builtin__", name) || is_global(node, "builtins", name);
}

static pickle_node *argument(const pickle_node *args, size_t index)
{
    const sk_pickle_value *value = args ? sk_pickle_at(&args->value, index) : NULL;
    return value ? pickle_node_of(value) : NULL;
}

static bool is_sequence(const pickle_node *node)
{
    return node && (node->value.kind == SK_PICKLE_LIST || node->value.kind == SK_PICKLE_TUPLE);
}

/* --- torch --- */

static sk_dtype storage_dtype(const char *name)
{
    static const sk_named table[] = {
        {"FloatStorage", SK_DTYPE_F32},
        {"HalfStorage", SK_DTYPE_F16},
        {"BFloat16Storage", SK_DTYPE_BF16},
        {"DoubleStorage", SK_DTYPE_F64},
        {"LongStorage", SK_DTYPE_I64},
        {"IntStorage", SK_DTYPE_I32},
        {"ShortStorage", SK_DTYPE_I16},
        {"CharStorage", SK_DTYPE_I8},
        {"ByteStorage", SK_DTYPE_U8},
        {"BoolStorage", SK_DTYPE_BOOL},
        {"UntypedStorage", SK_DTYPE_U8},
        /* torch.float32 and so on: the dtype argument of _rebuild_tensor_v3 */
        {"float32", SK_DTYPE_F32},
        {"float", SK_DTYPE_F32},
        {"float16", SK_DTYPE_F16},
        {"half", SK_DTYPE_F16},
        {"bfloat16", SK_DTYPE_BF16},
        {"float64", SK_DTYPE_F64},
        {"double", SK_DTYPE_F64},
        {"int64", SK_DTYPE_I64},
        {"int32", SK_DTYPE_I32},
        {"int16", SK_DTYPE_I16},
        {"int8", SK_DTYPE_I8},
        {"uint8", SK_DTYPE_U8},
        {"uint16", SK_DTYPE_U16},
        {"uint32", SK_DTYPE_U32},
        {"uint64", SK_DTYPE_U64},
        {"bool", SK_DTYPE_BOOL},
    };
    /* none: quantised, complex, float8: known by name only, refused when read */
    return (sk_dtype)SK_NAMED_VALUE(table, name, SK_DTYPE_NONE);
}

static bool is_torch_dtype_module(const char *module)
{
    return strcmp(module, "torch") == 0 || strcmp(module, "torch.storage") == 0;
}

static sk_status opaque(sk_pickle *p, pickle_node *callable, pickle_node *args, pickle_node **out,
                        sk_error *err)
{
    SK_TRY(sk_pickle_new(p, SK_PICKLE_OBJECT, out, err));
    (*out)->value.u.object.callable = callable ? &callable->value : NULL;
    (*out)->value.u.object.args = args && args->value.kind == SK_PICKLE_TUPLE ? &args->value : NULL;
    return SK_OK;
}

/* ('storage', torch.HalfStorage, '17', 'cpu', 1728) */
sk_status sk_pickle_persistent(sk_pickle *p, pickle_node *id, pickle_node **out, sk_error *err)
{
    pickle_node *kind = argument(id, 0), *type = argument(id, 1), *key = argument(id, 2),
                *location = argument(id, 3);
    pickle_node *count = argument(id, 4);
    int64_t n;
    if (!kind || !sk_pickle_text(&kind->value) || strcmp(kind->value.u.text, "storage") != 0 || !type ||
        type->value.kind != SK_PICKLE_GLOBAL || !key || !sk_pickle_text(&key->value) || !count ||
        !sk_pickle_to_int(&count->value, &n))
        return opaque(p, NULL, id, out, err);
    if (n < 0)
        return sk_fail(err, SK_ERR_FORMAT, "storage '%s' has %lld elements", key->value.u.text, (long long)n);
    SK_TRY(sk_pickle_new(p, SK_PICKLE_STORAGE, out, err));
    sk_pickle_value *v = &(*out)->value;
    v->u.storage.dtype = is_torch_dtype_module(type->value.u.global.module)
                             ? storage_dtype(type->value.u.global.name)
                             : SK_DTYPE_NONE;
    v->u.storage.key = key->value.u.text;
    v->u.storage.location = location && sk_pickle_text(&location->value) ? location->value.u.text : "";
    v->u.storage.count = n;
    return SK_OK;
}

static bool read_dims(const pickle_node *tuple, int64_t *dims, int32_t *rank)
{
    if (!is_sequence(tuple) || tuple->value.length > SK_MAX_RANK)
        return false;
    *rank = (int32_t)tuple->value.length;
    for (int32_t i = 0; i < *rank; i++) {
        if (!sk_pickle_to_int(tuple->value.u.items[i], &dims[i]) || dims[i] < 0)
            return false;
    }
    return true;
}

/* (storage, offset, size, stride, …) and, for v3, the dtype as argument 6. */
static sk_status rebuild_tensor(sk_pickle *p, pickle_node *callable, pickle_node *args, bool typed,
                                pickle_node **out, sk_error *err)
{
    pickle_node *storage = argument(args, 0), *offset = argument(args, 1);
    if (!storage || storage->value.kind != SK_PICKLE_STORAGE)
        return opaque(p, callable, args, out, err); /* a storage we do not know: refused only when read */
    SK_TRY(sk_pickle_new(p, SK_PICKLE_TENSOR, out, err));
    sk_pickle_value *v = &(*out)->value;
    int32_t stride_rank = 0;
    v->u.tensor.storage = &storage->value;
    v->u.tensor.dtype = storage->value.u.storage.dtype;
    if (!offset || !sk_pickle_to_int(&offset->value, &v->u.tensor.offset) || v->u.tensor.offset < 0 ||
        !read_dims(argument(args, 2), v->u.tensor.shape.dim, &v->u.tensor.shape.rank) ||
        !read_dims(argument(args, 3), v->u.tensor.stride, &stride_rank) ||
        stride_rank != v->u.tensor.shape.rank)
        return sk_fail(err, SK_ERR_FORMAT,
                       "a tensor on storage '%s' has a broken offset, size or stride (ranks up to "
                       "%d are read)",
                       storage->value.u.storage.key, SK_MAX_RANK);
    if (typed) {
        pickle_node *dtype = argument(args, 6);
        v->u.tensor.dtype = dtype && dtype->value.kind == SK_PICKLE_GLOBAL &&
                                    is_torch_dtype_module(dtype->value.u.global.module)
                                ? storage_dtype(dtype->value.u.global.name)
                                : SK_DTYPE_NONE;
    }
    return SK_OK;
}

static sk_status call_torch(sk_pickle *p, pickle_node *callable, pickle_node *args, int depth,
                            pickle_node **out, bool *handled, sk_error *err)
{
    const char *name = callable->value.u.global.name;
    *handled = true;
    if (strcmp(name, "_rebuild_tensor") == 0 || strcmp(name, "_rebuild_tensor_v2") == 0)
        return rebuild_tensor(p, callable, args, false, out, err);
    if (strcmp(name, "_rebuild_tensor_v3") == 0)
        return rebuild_tensor(p, callable, args, true, out, err);
    pickle_node *first = argument(args, 0);
    if ((strcmp(name, "_rebuild_parameter") == 0 || strcmp(name, "_rebuild_parameter_with_state") == 0) &&
        first && first->value.kind == SK_PICKLE_TENSOR) {
        *out = first; /* a parameter is its tensor */
        return SK_OK;
    }
    /* (function, type, arguments, state): a tensor with attributes or of a subclass */
    if (strcmp(name, "_rebuild_from_type_v2") == 0 && depth == 0 && first &&
        first->value.kind == SK_PICKLE_GLOBAL && argument(args, 2))
        return call_torch(p, first, argument(args, 2), 1, out, handled, err);
    *handled = false;
    return SK_OK;
}

/* --- containers --- */

static sk_status copy_items(sk_pickle *p, const pickle_node *from, pickle_node *list, sk_error *err)
{
    for (size_t i = 0; is_sequence(from) && i < from->value.length; i++)
        SK_TRY(sk_pickle_append(p, list, pickle_node_of(from->value.u.items[i]), err));
    return SK_OK;
}

static sk_status make_set(sk_pickle *p, pickle_node *args, pickle_node **out, sk_error *err)
{
    SK_TRY(sk_pickle_new(p, SK_PICKLE_LIST, out, err));
    (*out)->value.is_set = true;
    return copy_items(p, argument(args, 0), *out, err);
}

static sk_status make_dict(sk_pickle *p, pickle_node *args, pickle_node **out, sk_error *err)
{
    SK_TRY(sk_pickle_new(p, SK_PICKLE_DICT, out, err));
    pickle_node *from = argument(args, 0);
    if (from && from->value.kind == SK_PICKLE_DICT) {
        for (size_t i = 0; i < from->value.length; i++)
            SK_TRY(sk_pickle_put(p, *out, pickle_node_of(from->value.u.pairs[i].key),
                                 pickle_node_of(from->value.u.pairs[i].value), err));
    }
    for (size_t i = 0; is_sequence(from) && i < from->value.length; i++) {
        const sk_pickle_value *pair = from->value.u.items[i];
        if (!sk_pickle_at(pair, 0) || !sk_pickle_at(pair, 1))
            return sk_fail(err, SK_ERR_FORMAT,
                           "an ordered dictionary is made from something other than pairs");
        SK_TRY(sk_pickle_put(p, *out, pickle_node_of(sk_pickle_at(pair, 0)),
                             pickle_node_of(sk_pickle_at(pair, 1)), err));
    }
    return SK_OK;
}

sk_status sk_pickle_call(sk_pickle *p, pickle_node *callable, pickle_node *args, pickle_node **out,
                         sk_error *err)
{
    if (callable->value.kind == SK_PICKLE_GLOBAL) {
        const char *module = callable->value.u.global.module;
        if (is_global(callable, "collections", "OrderedDict") || is_builtin(callable, "dict"))
            return make_dict(p, args, out, err);
        if (is_global(callable, "collections", "defaultdict")) /* its argument is a factory */
            return sk_pickle_new(p, SK_PICKLE_DICT, out, err);
        if (is_builtin(callable, "set") || is_builtin(callable, "frozenset"))
            return make_set(p, args, out, err);
        if (is_builtin(callable, "list")) {
            SK_TRY(sk_pickle_new(p, SK_PICKLE_LIST, out, err));
            return copy_items(p, argument(args, 0), *out, err);
        }
        if (is_global(callable, "torch", "Size") && is_sequence(argument(args, 0))) {
            *out = argument(args, 0);
            return SK_OK;
        }
        if (strcmp(module, "torch._utils") == 0 || strcmp(module, "torch._tensor") == 0) {
            bool handled;
            SK_TRY(call_torch(p, callable, args, 0, out, &handled, err));
            if (handled)
                return SK_OK;
        }
        if (is_global(callable, "copy_reg", "_reconstructor") ||
            is_global(callable, "copyreg", "_reconstructor")) {
            /* (class, base, state): what protocols 0 and 1 write for a plain object */
            pickle_node *class = argument(args, 0);
            return opaque(p, class ? class : callable, NULL, out, err);
        }
    }
    return opaque(p, callable, args, out, err);
}
