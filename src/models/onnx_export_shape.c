/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

/* Data movement and what is made from shapes. */

static const char *plain_name(sk_op op)
{
    switch (op) {
    case SK_OP_MATMUL: return "MatMul";
    case SK_OP_WHERE: return "Where";
    case SK_OP_NON_ZERO: return "NonZero";
    case SK_OP_SCATTER_ND: return "ScatterND";
    case SK_OP_SHAPE: return "Shape";
    case SK_OP_SIZE: return "Size";
    case SK_OP_SLICE: return "Slice";
    case SK_OP_RESHAPE: return "Reshape";
    case SK_OP_SQUEEZE: return "Squeeze";
    case SK_OP_UNSQUEEZE: return "Unsqueeze";
    case SK_OP_EXPAND: return "Expand";
    case SK_OP_TILE: return "Tile";
    default: return "Identity";
    }
}

static void export_named(sk_exporter *e, bool lists)
{
    const char *(*const next)(sk_exporter *, int) = lists ? sk_ex_in_list : sk_ex_in;
    const char *in[] = {sk_ex_in(e, 0), next(e, 1), next(e, 2), next(e, 3), next(e, 4)};
    sk_ex_emit(e, plain_name(e->node->op), in, 5, NULL, 0, sk_ex_out(e, 0));
}

void sk_export_plain(sk_exporter *e)
{
    export_named(e, false);
}

void sk_export_lists(sk_exporter *e)
{
    export_named(e, true);
}

void sk_export_split(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    sk_onnx_attr attrs[2] = {sk_ex_attr_int("axis", a->split.axis)};
    int n = 1, n_out = e->node->n_out;
    const char *in[] = {sk_ex_in(e, 0), ""};
    if (a->split.n_sizes > 0)
        in[1] = sk_ex_ints(e, a->split.sizes, a->split.n_sizes);
    else if (e->opset >= 18)
        attrs[n++] = sk_ex_attr_int("num_outputs", n_out);
    const char **outs = sk_arena_alloc(e->model->arena, (size_t)n_out * sizeof *outs);
    if (!outs) {
        sk_ex_fail(e, SK_ERR_MEMORY, "out of memory");
        return;
    }
    for (int i = 0; i < n_out; i++)
        outs[i] = sk_ex_out(e, i);
    sk_ex_emit_n(e, "Split", in, 2, attrs, n, outs, n_out);
}

/* The graph does not store how many axes there are: the longest beginning that is a permutation tells. */
static int permutation_length(const int32_t *perm)
{
    int best = 0;
    for (int n = 1; n <= SK_MAX_RANK; n++) {
        unsigned seen = 0;
        for (int i = 0; i < n; i++)
            if (perm[i] >= 0 && perm[i] < n)
                seen |= 1u << perm[i];
        if (seen == (1u << n) - 1)
            best = n;
    }
    return best;
}

void sk_export_transpose(sk_exporter *e)
{
    sk_onnx_attr perm = sk_ex_attr_ints(e, "perm", e->node->a.perm, permutation_length(e->node->a.perm));
    const char *x = sk_ex_in(e, 0);
    sk_ex_emit(e, "Transpose", &x, 1, &perm, 1, sk_ex_out(e, 0));
}

void sk_export_pad(sk_exporter *e)
{
    static const char *const modes[] = {"constant", "edge", "reflect"};
    sk_onnx_attr mode = sk_ex_attr_text(e, "mode", modes[e->node->a.pad.mode]);
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in_list(e, 1), sk_ex_in(e, 2)};
    sk_ex_emit(e, "Pad", in, 3, &mode, 1, sk_ex_out(e, 0));
}

void sk_export_gather_nd(sk_exporter *e)
{
    sk_onnx_attr dims = sk_ex_attr_int("batch_dims", e->node->a.axis);
    sk_ex_emit(e, "GatherND", (const char *[]){sk_ex_in(e, 0), sk_ex_in(e, 1)}, 2, &dims, 1, sk_ex_out(e, 0));
}

void sk_export_blocks(sk_exporter *e)
{
    const sk_attrs *a = &e->node->a;
    bool to_space = e->node->op == SK_OP_DEPTH_TO_SPACE;
    sk_onnx_attr attrs[] = {sk_ex_attr_int("blocksize", a->blocks.block),
                            sk_ex_attr_text(e, "mode", a->blocks.crd ? "CRD" : "DCR")};
    const char *x = sk_ex_in(e, 0);
    if (!to_space && a->blocks.crd)
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "column-row-depth order has no form in ONNX");
    sk_ex_emit(e, to_space ? "DepthToSpace" : "SpaceToDepth", &x, 1, attrs, to_space ? 2 : 1,
               sk_ex_out(e, 0));
}

/* ONNX's Range knows no float16: computed in float32 and narrowed. */
void sk_export_range(sk_exporter *e)
{
    bool narrow = e->half && sk_ex_type(e, 0) == SK_DTYPE_F32;
    sk_onnx_attr wide = sk_ex_attr_int("to", sk_onnx_type_of(SK_DTYPE_F32));
    sk_onnx_attr half = sk_ex_attr_int("to", sk_onnx_type_of(SK_DTYPE_F16));
    const char *in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = sk_ex_in(e, i);
        if (narrow)
            in[i] = sk_ex_emit(e, "Cast", &in[i], 1, &wide, 1, NULL);
    }
    const char *y = sk_ex_emit(e, "Range", in, 3, NULL, 0, narrow ? NULL : sk_ex_out(e, 0));
    if (narrow)
        sk_ex_emit(e, "Cast", &y, 1, &half, 1, sk_ex_out(e, 0));
}

void sk_export_constant_of_shape(sk_exporter *e)
{
    sk_onnx_attr value = sk_ex_attr_tensor(e, "value", e->node->a.fill.dtype, e->node->a.fill.value);
    const char *dims = sk_ex_in_list(e, 0);
    sk_ex_emit(e, "ConstantOfShape", &dims, 1, &value, 1, sk_ex_out(e, 0));
}

void sk_export_one_hot(sk_exporter *e)
{
    sk_onnx_attr axis = sk_ex_attr_int("axis", e->node->a.axis);
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)};
    sk_ex_emit(e, "OneHot", in, 3, &axis, 1, sk_ex_out(e, 0));
}

void sk_export_eye_like(sk_exporter *e)
{
    sk_dtype type = e->node->a.fill.dtype != SK_DTYPE_NONE ? e->node->a.fill.dtype : sk_ex_type(e, 0);
    sk_onnx_attr attrs[] = {sk_ex_attr_int("k", (int64_t)e->node->a.fill.value),
                            sk_ex_attr_int("dtype", sk_onnx_type_of(sk_onnx_written_type(type, e->half)))};
    const char *x = sk_ex_in(e, 0);
    sk_ex_emit(e, "EyeLike", &x, 1, attrs, 2, sk_ex_out(e, 0));
}
