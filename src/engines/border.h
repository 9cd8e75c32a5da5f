/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_BORDER_H
#define SK_ENGINES_BORDER_H

#include "border_hash.h"
#include "engines/engine.h"

/* Everything that crosses between the program and an engine in a shared library of its own: this header and all it includes.
 * Graphs, settings and sessions cross as bare structures, so both sides must have been built from the same texts; the build
 * makes SK_BORDER_HASH of them all (cmake/Border.cmake), and a plugin of other texts is refused with a message instead of
 * trusted. Raise the version where the meaning of something changes and its text does not. */

#define SK_BORDER_VERSION 2u
#define SK_PLUGIN_ENTRY   sk_plugin_entry
#define SK_PLUGIN_SYMBOL  "sk_plugin_entry"

/* What a plugin's one function hands out. The first four members keep their places for ever: they are read before it is
 * known whether the rest can be. */
typedef struct sk_plugin {
    uint32_t border;     /* SK_BORDER_VERSION */
    uint32_t size;       /* sizeof(sk_plugin) */
    uint64_t hash;       /* SK_BORDER_HASH */
    const char *version; /* skitter's, "0.3.0" */
    const sk_engine *engine;
} sk_plugin;

typedef const sk_plugin *(*sk_plugin_entry_function)(void);

#define SK_PLUGIN_TABLE(its_version, its_engine)                                                             \
    {                                                                                                        \
        .border = SK_BORDER_VERSION, .size = sizeof(sk_plugin), .hash = SK_BORDER_HASH,                      \
        .version = (its_version), .engine = (its_engine)                                                     \
    }

#endif
