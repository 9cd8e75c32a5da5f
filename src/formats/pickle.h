/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_PICKLE_H
#define SK_FORMATS_PICKLE_H

#include "graph/tensor.h"

/* A pickle is data. This reader builds a tree of plain nodes and never executes, imports or calls anything, whatever
 * the file names: GLOBAL becomes a (module, name) pair, REDUCE and NEWOBJ become inert objects that remember what
 * would have been called. Bounded in memory, depth and time.
 *
 * Nodes live in the document's arena and are borrowed until sk_pickle_close. The tree may share nodes (memo) and may
 * contain cycles; walkers must bound their depth. Thread-safe for reading. */

typedef enum sk_pickle_kind {
    SK_PICKLE_NONE = 1,
    SK_PICKLE_BOOL,
    SK_PICKLE_INT,
    SK_PICKLE_FLOAT,
    SK_PICKLE_STRING, /* UTF-8, zero-terminated; may hold inner zeros: see length */
    SK_PICKLE_BYTES,
    SK_PICKLE_LIST, /* also sets and frozensets (is_set) */
    SK_PICKLE_TUPLE,
    SK_PICKLE_DICT,    /* also OrderedDict: order of insertion, duplicate keys overwrite */
    SK_PICKLE_GLOBAL,  /* a class or function by name; inert */
    SK_PICKLE_OBJECT,  /* result of NEWOBJ, REDUCE or BUILD: callable, args, state; inert */
    SK_PICKLE_STORAGE, /* torch: persistent id ('storage', type, key, location, count) */
    SK_PICKLE_TENSOR   /* torch: _rebuild_tensor_v2, _rebuild_parameter and kin */
} sk_pickle_kind;

typedef struct sk_pickle_value sk_pickle_value;

typedef struct sk_pickle_pair {
    const sk_pickle_value *key, *value;
} sk_pickle_pair;

struct sk_pickle_value {
    sk_pickle_kind kind;
    bool is_set;
    size_t length; /* STRING, BYTES: bytes; LIST, TUPLE: items; DICT: pairs */
    union {
        bool boolean;
        int64_t integer; /* LONGs beyond 64 bits saturate */
        double real;
        const char *text; /* STRING, BYTES */
        const sk_pickle_value **items;
        sk_pickle_pair *pairs;
        struct {
            const char *module, *name;
        } global;
        struct {
            const sk_pickle_value *callable; /* usually a GLOBAL */
            const sk_pickle_value *args;     /* TUPLE, or null */
            const sk_pickle_value *state;    /* what BUILD gave; null without */
            const sk_pickle_value *items;    /* DICT or LIST filled in by SETITEMS / APPENDS; null without */
        } object;
        struct {
            sk_dtype dtype; /* SK_DTYPE_U8 for UntypedStorage, counted in bytes */
            const char *key;
            const char *location;
            int64_t count;
        } storage;
        struct {
            const sk_pickle_value *storage;
            int64_t offset; /* elements */
            sk_shape shape;
            int64_t stride[SK_MAX_RANK]; /* elements */
            sk_dtype dtype;
        } tensor;
    } u;
};

typedef struct sk_pickle sk_pickle;

/* Checkpoints keep their weights outside: real ones have some hundred kilobytes. Longer is SK_ERR_LIMIT. */
#define SK_PICKLE_MAX_BYTES ((size_t)64 << 20)

/* Parses one pickle (protocols 0 to 5 as far as they are plain). `what` names the source in errors. */
sk_status sk_pickle_open(const void *bytes, size_t length, const char *what, sk_pickle **out,
                         sk_error *err) SK_MUST_CHECK;
void sk_pickle_close(sk_pickle **pickle);
const sk_pickle_value *sk_pickle_root(const sk_pickle *pickle);

/* Lenient lookups: null on any mismatch, so that chains need one check. */
/* DICT by string key, or attribute of an OBJECT: its state dict, then its items. */
const sk_pickle_value *sk_pickle_get(const sk_pickle_value *value, const char *key);
const sk_pickle_value *sk_pickle_get_int(const sk_pickle_value *value,
                                         int64_t key); /* DICT with integer keys */
/* nn.Module conveniences: state["_modules"][name], ["_parameters"][name] or ["_buffers"][name]. */
const sk_pickle_value *sk_pickle_child(const sk_pickle_value *module, const char *name);
const sk_pickle_value *sk_pickle_parameter(const sk_pickle_value *module, const char *name);
const sk_pickle_value *sk_pickle_at(const sk_pickle_value *value, size_t index); /* LIST, TUPLE */
const char *sk_pickle_text(const sk_pickle_value *value);                        /* STRING, else null */
bool sk_pickle_to_int(const sk_pickle_value *value, int64_t *out); /* INT, BOOL, integral FLOAT */
bool sk_pickle_to_real(const sk_pickle_value *value, double *out);
/* The last part of an object's class, "Conv2d"; null when it is none. Full module in *module if given. */
const char *sk_pickle_class(const sk_pickle_value *value, const char **module);

#endif
