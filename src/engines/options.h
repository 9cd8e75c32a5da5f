/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_OPTIONS_H
#define SK_ENGINES_OPTIONS_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What only one engine knows: checked text, "winograd=off,tune=off". Every engine has a table of its options; whoever opens
 * a session has the text checked against it, and the engine then reads values without having to doubt them.
 *
 * A key may have an engine's name before it, "cpu.winograd=off": others leave it out. Of a key that comes twice the last
 * counts. A comma that no key follows belongs to the value: "device=AUTO:GPU,CPU". */

/* Room for a session's options. */
#define SK_OPTIONS_TEXT 512

typedef enum sk_engine_option_kind {
    SK_ENGINE_OPTION_SWITCH = 1, /* on, off; also yes, no, true, false, 1, 0 */
    SK_ENGINE_OPTION_WORD,       /* one of `choices` */
    SK_ENGINE_OPTION_NUMBER,     /* whole, `least` to `most` */
    SK_ENGINE_OPTION_TEXT        /* anything; the engine says what is wrong with it */
} sk_engine_option_kind;

typedef struct sk_engine_option {
    const char *key; /* small letters, digits, '_' */
    sk_engine_option_kind kind;
    const char *choices; /* "latency|throughput"; of a text: what people may try */
    int32_t least, most;
    const char *usual;    /* its value where nothing is said */
    bool changes_results; /* it is part of a run's identity */
    bool changes_files;   /* files made for the engine are kept apart by it */
    const char *help;     /* one line */
} sk_engine_option;

/* Tables end with a null key; a null table has no options. */
const sk_engine_option *sk_options_find(const sk_engine_option *table, const char *key);

/* SK_ERR_ARG names the engine, the key, what there is, and what was probably meant. */
sk_status sk_options_check(const char *engine, const sk_engine_option *table, const char *text,
                           sk_error *err) SK_MUST_CHECK;

/* Appends to `text` (SK_OPTIONS_TEXT bytes); null and "" add nothing. */
sk_status sk_options_add(char *text, const char *more, sk_error *err) SK_MUST_CHECK;
sk_status sk_options_put(char *text, const char *key, const char *value, sk_error *err) SK_MUST_CHECK;
/* The same where the table has the key, and nothing otherwise. */
sk_status sk_options_put_known(char *text, const sk_engine_option *table, const char *key, const char *value,
                               sk_error *err) SK_MUST_CHECK;
/* The next engine's name that stands before a key; false when there is none left. Begin with *at the text. */
bool sk_options_scope(const char **at, char *name, size_t capacity);

/* Of a checked text, for the engine called `engine`: the value, or the usual one. */
const char *sk_options_value(const char *engine, const sk_engine_option *option, const char *text,
                             char *value, size_t capacity);
bool sk_options_on(const char *engine, const sk_engine_option *table, const char *text, const char *key);

/* What a run's identity says: "winograd=off", options that change results and are not as usual, in the table's order. */
void sk_options_identity(const char *engine, const sk_engine_option *table, const char *text, sk_text *out);

/* "on|off", "1 to 8": what an option takes, for people. Returns buffer. */
const char *sk_options_takes(const sk_engine_option *option, char *buffer, size_t capacity);

#endif
