/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hdf5_text.h"

#include "base/memory.h"
#include "base/text.h"

json_t *sk_hdf5_json_text(const char *text)
{
    char *valid = sk_text_utf8_copy(text);
    json_t *value = valid ? json_string(valid) : NULL;
    sk_free(valid);
    return value;
}
