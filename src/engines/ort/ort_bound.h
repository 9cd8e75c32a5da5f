/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_BOUND_H
#define SK_ENGINES_ORT_ORT_BOUND_H

#include "engines/foreign/foreign.h"
#include "engines/ort/ort_device.h"
#include "engines/ort/ort_provider.h"

/* The ends of a model, bound to buffers that stay: on the host, or on the device beside buffers of the host. Part of a session;
 * zeroed before open, and closed however open ended. */
typedef struct ort_bound {
    const ort_api *api;
    ort_session *session;
    const ort_provider *provider;
    ort_device *device; /* null: the ends lie on the host */
    ort_memory_info *memory;
    ort_value *inputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_INPUTS];
    ort_value *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
    void *device_inputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_INPUTS];
    void *device_outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
    ort_binding *bindings[SK_SESSION_MAX_SLOTS];
    ort_run_options *run_options[SK_SESSION_MAX_SLOTS]; /* null: none */
    char *input_names[SK_SESSION_MAX_INPUTS];
} ort_bound;

/* `device` (null: the host), the `number`-th of the machine, and the session are borrowed. */
sk_status ort_bound_open(ort_bound *bound, const ort_api *api, ort_session *session,
                         const ort_provider *provider, ort_device *device, int32_t number,
                         const sk_foreign_session *foreign, const sk_foreign_model *model,
                         sk_error *err) SK_MUST_CHECK;
void ort_bound_close(ort_bound *bound); /* before the session and the host's buffers */

/* Runs what the slot's input buffers hold; with a device it returns before that is done. */
sk_status ort_bound_run(ort_bound *bound, const sk_foreign_session *foreign, int32_t slot,
                        sk_error *err) SK_MUST_CHECK;
sk_status ort_bound_wait(ort_bound *bound, int32_t slot, sk_error *err) SK_MUST_CHECK;
/* After wait, by the device's clock; all zero where there is none. */
sk_status ort_bound_times(ort_bound *bound, int32_t slot, sk_session_times *out, sk_error *err) SK_MUST_CHECK;

#endif
