/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/engine.h"

#include <string.h>

/* In the order `auto` tries them; the reference executor is last: it is always there and always slow. */
static const sk_engine *const engines[] = {
    &sk_engine_cpu,      &sk_engine_tensorrt,  &sk_engine_cuda,
    &sk_engine_rocm,     &sk_engine_onnx_cuda, &sk_engine_onnx_rocm,
    &sk_engine_onnx_cpu, &sk_engine_openvino,  &sk_engine_reference,
};

int32_t sk_engine_count(void)
{
    return (int32_t)(sizeof engines / sizeof engines[0]);
}

const sk_engine *sk_engine_at(int32_t index)
{
    return index >= 0 && index < sk_engine_count() ? engines[index] : NULL;
}

const sk_engine *sk_engine_find(const char *name)
{
    for (int32_t i = 0; name && i < sk_engine_count(); i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

const sk_capabilities *sk_engine_can(const char *name)
{
    static const sk_capabilities nothing = {.device = SK_DEVICE_NONE};
    const sk_engine *engine = sk_engine_find(name);
    return engine ? &engine->can : &nothing;
}
