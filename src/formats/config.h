/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_CONFIG_H
#define SK_FORMATS_CONFIG_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One tree for what people call configuration, whether it was written as JSON, YAML or a Python literal,
 * so that importers need not care. Bounded in depth, node count and memory; nothing is executed or
 * included.
 *
 * Nodes live in the document's arena and are borrowed until sk_config_close. YAML aliases share nodes;
 * there are no cycles. Thread-safe for reading. */

typedef enum sk_config_kind {
    SK_CONFIG_NULL = 1,
    SK_CONFIG_BOOL,
    SK_CONFIG_INT,
    SK_CONFIG_REAL,
    SK_CONFIG_STRING, /* zero-terminated UTF-8; may hold inner zeros: see length */
    SK_CONFIG_LIST,   /* also Python tuples and sets */
    SK_CONFIG_MAP     /* in the file's order; a repeated key overwrites the earlier value */
} sk_config_kind;

typedef struct sk_config_value sk_config_value;

typedef struct sk_config_pair {
    const sk_config_value *key; /* Python and YAML allow keys of any scalar kind … */
    const char *name;           /* … this is the key as text: "0" for the integer 0 */
    const sk_config_value *value;
    const sk_config_value *again; /* the same key further below, whose value this is; null: there once */
} sk_config_pair;

struct sk_config_value {
    sk_config_kind kind;
    uint32_t line, column; /* YAML: where it begins, from 1; an alias: where its anchor is. 0 elsewhere */
    size_t length;         /* STRING: bytes; LIST: items; MAP: pairs */
    union {
        bool boolean;
        int64_t integer; /* integers beyond 64 bits become REAL */
        double real;
        const char *text;
        const sk_config_value **items;
        const sk_config_pair *pairs;
    } u;
};

typedef struct sk_config sk_config;

#define SK_CONFIG_MAX_DEPTH   64
#define SK_CONFIG_MAX_BYTES   ((size_t)64 << 20) /* of text */
#define SK_CONFIG_MAX_NODES   ((size_t)4 << 20)
#define SK_CONFIG_MAX_ALIASES ((size_t)10000) /* YAML */

/* `what` names the source in errors. The text need not end in a zero and is not used after the call. */
sk_status sk_config_open_json(const char *text, size_t length, const char *what, sk_config **out,
                              sk_error *err) SK_MUST_CHECK;
/* The first document. Plain scalars are typed as PyYAML and omegaconf do: null, ~, true/false (yes/no,
 * on/off), integers (0x, 0b, octal 017, digits with _), floats incl. 1e-3, .inf and .nan; everything else,
 * base-60 numbers included, and all quoted text is a string. "<<" is an ordinary key. Aliases share nodes;
 * a document that would expand to more than SK_CONFIG_MAX_NODES values is refused. */
sk_status sk_config_open_yaml(const char *text, size_t length, const char *what, sk_config **out,
                              sk_error *err) SK_MUST_CHECK;
/* The same for texts that are one document: a second one behind it, or what is no YAML, is refused. */
sk_status sk_config_open_yaml_alone(const char *text, size_t length, const char *what, sk_config **out,
                                    sk_error *err) SK_MUST_CHECK;
void sk_config_close(sk_config **config);
const sk_config_value *sk_config_root(const sk_config *config);

/* Lenient lookups: a null value is allowed everywhere and mismatches give null, so that chains need one
 * check. */
const sk_config_value *sk_config_get(const sk_config_value *map, const char *key);
const sk_config_value *sk_config_at(const sk_config_value *list, size_t index);
/* Dotted path: "model_config.head_configs", list items by index: "layers.0.name". Keys that hold dots: use
 * get. */
const sk_config_value *sk_config_find(const sk_config_value *value, const char *path);
size_t sk_config_count(const sk_config_value *value); /* items or pairs; 0 for anything else */
bool sk_config_is_null(const sk_config_value *value); /* absent or null */
bool sk_config_is(const sk_config_value *value, sk_config_kind kind);

/* Conversions: false (and *out untouched) when the value is not of that kind. */
bool sk_config_to_int(const sk_config_value *value, int64_t *out); /* INT, BOOL, integral REAL */
bool sk_config_to_real(const sk_config_value *value, double *out); /* REAL, INT, BOOL */
bool sk_config_to_bool(const sk_config_value *value, bool *out);   /* BOOL, INT 0 or 1 */
const char *sk_config_text(const sk_config_value *value);          /* STRING without inner zeros, else null */

/* The value at a path, or the fallback when it is absent, null or of another kind. */
int64_t sk_config_int_or(const sk_config_value *value, const char *path, int64_t fallback);
double sk_config_real_or(const sk_config_value *value, const char *path, double fallback);
bool sk_config_bool_or(const sk_config_value *value, const char *path, bool fallback);
const char *sk_config_text_or(const sk_config_value *value, const char *path, const char *fallback);

#endif
