/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_NODE_SETTINGS_H
#define SK_APP_NODE_SETTINGS_H

#include "base/error.h"
#include "skitter/node_core.h"

/* A node's parameters as what they mean: skitter/node_core.h's settings, read. */

/* Values as they are needed, of settings whose texts were checked when they were set. */
bool sk_node_settings_bool(const sk_node_settings *settings, const char *name);
int32_t sk_node_settings_int(const sk_node_settings *settings, const char *name);
double sk_node_settings_double(const sk_node_settings *settings, const char *name);
/* Null where it is "". */
const char *sk_node_settings_text(const sk_node_settings *settings, const char *name);
/* The numbers of a list, freed by sk_free; null and 0: none. */
sk_status sk_node_settings_ints(const sk_node_settings *settings, const char *name, int32_t **out,
                                int32_t *count, sk_error *err) SK_MUST_CHECK;
/* SK_ERR_ARG that names the parameter, what it was given and what it may be. */
sk_status sk_node_settings_refuse(const char *name, const char *value, sk_error *err) SK_MUST_CHECK;
bool sk_node_settings_follows(const sk_node_settings *settings);
/* A copy; null where memory is out. */
sk_node_settings *sk_node_settings_copy(const sk_node_settings *settings);

#endif
