/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_HYDRA_CONFIG_H
#define SK_FORMATS_HYDRA_CONFIG_H

#include "formats/config.h"

/* A configuration of hydra-suite's tracker: one JSON object of some three hundred settings. Each is known to be used here, to have no
 * counterpart, or not known at all; nothing is passed over in silence. What the settings mean for tracking: track/hydra_settings.h. */
typedef struct sk_hydra_config sk_hydra_config;

/* Text that is no JSON is refused with line and column, a value that cannot be (a text for a number, a damping of 7) by its key.
 * `what` names the file in messages. */
sk_status sk_hydra_config_open(const char *text, size_t length, const char *what, sk_hydra_config **out,
                               sk_error *err) SK_MUST_CHECK;
sk_status sk_hydra_config_read(const char *path, sk_hydra_config **out, sk_error *err) SK_MUST_CHECK;
void sk_hydra_config_close(sk_hydra_config **config);
/* Whether a JSON object looks like one: has several of its keys. */
bool sk_hydra_config_is(const sk_config_value *root);

/* The value of a key that is used; false (and *out untouched) where it is absent, null, or an empty text. */
bool sk_hydra_number(const sk_hydra_config *config, const char *key, double *out);
bool sk_hydra_truth(const sk_hydra_config *config, const char *key, bool *out);
const char *sk_hydra_text(const sk_hydra_config *config, const char *key);            /* null: absent */
const sk_config_value *sk_hydra_list(const sk_hydra_config *config, const char *key); /* null: absent */

/* The keys that are used, one after the other; null past the last. */
const char *sk_hydra_used_key(size_t index);
/* What has no counterpart, a line a subject ("pictures and data sets: dataset_class_name, …"); "" none. Only settings
 * that say something count: an empty path or list, null and false are passed over. */
const char *sk_hydra_without_counterpart(const sk_hydra_config *config);
/* The same on one line; of more than a few the subjects with numbers: "12 settings (-v names them): drawing (9), births (3)". */
const char *sk_hydra_without_brief(const sk_hydra_config *config);
/* Keys that nobody knows: "max_targts (max_targets?), …"; "" none. */
const char *sk_hydra_unknown(const sk_hydra_config *config);

#endif
