/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json_text.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

json_t *sk_json_text(const char *text)
{
    char *valid = sk_text_utf8_copy(text);
    json_t *value = valid ? json_string_nocheck(valid) : NULL;
    sk_free(valid);
    return value;
}

char *sk_json_dump(const json_t *root, size_t flags)
{
    char *dump = json_dumps(root, flags), *clean = dump ? sk_text_printable(dump, "\n") : NULL;
    bool plain = clean && strcmp(clean, dump) == 0;
    sk_free(clean);
    if (!dump || plain)
        return dump;
    free(dump);
    return json_dumps(root, flags | JSON_ENSURE_ASCII);
}
