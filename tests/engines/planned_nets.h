/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_PLANNED_NETS_H
#define SK_TESTS_ENGINES_PLANNED_NETS_H

#include "planned.h"

/* Writing graphs of a few nodes in a few lines, and what is done with each. */

typedef struct net {
    sk_graph *graph;
    sk_builder b;
    random_source r;
    sk_shape shapes[SK_SESSION_MAX_INPUTS];
    int inputs;
} net;

static inline net net_begin(void)
{
    sk_error err = {0};
    net n = {.r = {11}};
    assert_ok(sk_graph_open(&n.graph, &err), &err);
    sk_builder_init(&n.b, n.graph);
    return n;
}

static inline sk_value net_shaped(net *n, sk_shape shape)
{
    char name[8];
    snprintf(name, sizeof name, "in%d", n->inputs);
    n->shapes[n->inputs++] = shape;
    return sk_b_input(&n->b, name, SK_DTYPE_F32, &shape);
}

static inline sk_value net_in(net *n, int images, int c, int h, int w)
{
    return net_shaped(n, sk_shape_of(4, images, c, h, w));
}

static inline sk_value net_random(net *n, sk_shape shape)
{
    return random_constant(&n->b, &n->r, &shape, 1.0f);
}

typedef struct win {
    int kernel[2], stride[2], dilation[2], pad[4], groups, act;
    bool no_bias;
} win;

static inline sk_value net_conv(net *n, sk_value x, int cin, int cout, win w)
{
    for (int i = 0; i < 2; i++) {
        w.kernel[i] = w.kernel[i] ? w.kernel[i] : 1;
        w.stride[i] = w.stride[i] ? w.stride[i] : 1;
        w.dilation[i] = w.dilation[i] ? w.dilation[i] : 1;
    }
    w.groups = w.groups ? w.groups : 1;
    const sk_window window = {.kernel = {w.kernel[0], w.kernel[1]},
                              .stride = {w.stride[0], w.stride[1]},
                              .dilation = {w.dilation[0], w.dilation[1]},
                              .pad = {w.pad[0], w.pad[1], w.pad[2], w.pad[3]}};
    const float scale = 1.0f / sqrtf((float)(cin / w.groups * w.kernel[0] * w.kernel[1]));
    const sk_shape ws = sk_shape_of(4, cout, cin / w.groups, w.kernel[0], w.kernel[1]),
                   bs = sk_shape_of(1, cout);
    sk_value k = random_constant(&n->b, &n->r, &ws, scale),
             bias = w.no_bias ? SK_VALUE_NONE : random_constant(&n->b, &n->r, &bs, 0.3f);
    sk_value y = sk_b_conv(&n->b, x, k, bias, &window, w.groups, "conv");
    return w.act ? sk_b_unary_alpha(&n->b, (sk_unary)w.act, y, 0.1f, 0.0f) : y;
}

/* A square window with pads that keep the size. */
static inline win net_square(int kernel, int act)
{
    const int p = kernel / 2;
    return (win){.kernel = {kernel, kernel}, .pad = {p, p, p, p}, .act = act};
}

static inline sk_value net_resize(net *n, sk_value x, sk_resize_mode mode, sk_resize_coords coords,
                                  sk_resize_round round, float scale_h, float scale_w)
{
    sk_attrs a = {0};
    a.resize.mode = mode;
    a.resize.coords = coords;
    a.resize.round = round;
    a.resize.scale[0] = scale_h;
    a.resize.scale[1] = scale_w;
    return sk_b_node(&n->b, SK_OP_RESIZE, &a, &x, 1, "resize");
}

static inline void net_out(net *n, sk_value v)
{
    char name[8];
    snprintf(name, sizeof name, "out%d", n->graph->n_outputs);
    sk_b_output(&n->b, v, name);
}

/* Tells the plan of this network and, where the tolerance is not below 0, compares what it computes with the reference. */
static inline void net_check(net *n, const char *name, plan_how how, double tolerance)
{
    assert_ok(n->b.status, &n->b.error);
    planned p;
    planned_open(&p, n->graph, n->shapes, n->inputs, how);
    plan_tell(&p, name);
    if (tolerance >= 0)
        planned_is_reference(&p, name, tolerance);
    planned_close(&p);
}

static inline void net_end(net *n)
{
    sk_graph_close(&n->graph);
}

#endif
