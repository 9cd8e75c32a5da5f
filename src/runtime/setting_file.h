/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_SETTING_FILE_H
#define SK_RUNTIME_SETTING_FILE_H

#include "base/json_write.h"
#include "formats/config.h"

#include <stdbool.h>
#include <stddef.h>

/* One configuration file, JSON or YAML by its name, of which skitter owns the key `compute_runtime`. */

/* *there false: the file has no such key. A value that is no text is SK_ERR_FORMAT. */
sk_status sk_setting_file_read(const char *path, char *value, size_t capacity, bool *there,
                               sk_error *err) SK_MUST_CHECK;
/* Puts the value in, keeping all else: in YAML every other line, comments too; in JSON every other key in its order.
 * Makes the file where there is none. Readers see the old file or the new one. */
sk_status sk_setting_file_write(const char *path, const char *value, sk_error *err) SK_MUST_CHECK;

/* Every pair of a map but those named (null-ended; null: none), into an object that is open. */
void sk_setting_write_others(sk_json *json, const sk_config_value *map, const char *const *but);

#endif
