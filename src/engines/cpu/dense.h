/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_DENSE_H
#define SK_ENGINES_CPU_DENSE_H

#include "engines/cpu/plan.h"

/* Steps on dense tensors. Addresses are looked up while running (inputs of the graph may move). */

typedef void (*cpu_dense_run)(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts);

/* Adds a step for a node: inputs in dense form, outputs made, lifetimes noted. */
sk_status cpu_add_dense(cpu_plan *plan, const sk_node *node, size_t data_bytes, cpu_dense_run run,
                        cpu_step **out, sk_error *err) SK_MUST_CHECK;
sk_status cpu_bind_nothing(cpu_plan *plan, cpu_step *step, sk_error *err) SK_MUST_CHECK;
bool cpu_all_f32(const cpu_plan *plan, const sk_node *node); /* and few enough of them */

sk_status cpu_build_dense_unary(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_binary(cpu_plan *plan, const sk_node *node, bool *done,
                                 sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_move(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_softmax(cpu_plan *plan, const sk_node *node, bool *done,
                                  sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_matmul(cpu_plan *plan, const sk_node *node, bool *done,
                                 sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_gemm(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_layer_norm(cpu_plan *plan, const sk_node *node, bool *done,
                                     sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_reduce(cpu_plan *plan, const sk_node *node, bool *done,
                                 sk_error *err) SK_MUST_CHECK;

#endif
