/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/pickle.h"
#include "mutate.h"

#include <string.h>

/* Touches everything reachable within a few steps; pickles may be cyclic. */
static void walk(const sk_pickle_value *value, int depth)
{
    if (!value || depth > 6)
        return;
    size_t n = value->length < 8 ? value->length : 8;
    switch (value->kind) {
    case SK_PICKLE_STRING:
    case SK_PICKLE_BYTES: SK_FUZZ_CHECK(value->u.text[value->length] == '\0'); break;
    case SK_PICKLE_LIST:
    case SK_PICKLE_TUPLE:
        for (size_t i = 0; i < n; i++)
            walk(sk_pickle_at(value, i), depth + 1);
        break;
    case SK_PICKLE_DICT:
        for (size_t i = 0; i < n; i++) {
            const sk_pickle_pair *pair = &value->u.pairs[i];
            walk(pair->key, depth + 1);
            walk(pair->value, depth + 1);
            if (pair->key->kind == SK_PICKLE_STRING && strlen(pair->key->u.text) == pair->key->length)
                SK_FUZZ_CHECK(sk_pickle_get(value, pair->key->u.text) == pair->value);
            if (pair->key->kind == SK_PICKLE_INT)
                SK_FUZZ_CHECK(sk_pickle_get_int(value, pair->key->u.integer) == pair->value);
        }
        break;
    case SK_PICKLE_OBJECT:
        sk_pickle_class(value, NULL);
        sk_pickle_child(value, "a");
        sk_pickle_parameter(value, "weight");
        walk(value->u.object.callable, depth + 1);
        walk(value->u.object.args, depth + 1);
        walk(value->u.object.state, depth + 1);
        walk(value->u.object.items, depth + 1);
        break;
    case SK_PICKLE_TENSOR:
        SK_FUZZ_CHECK(value->u.tensor.shape.rank >= 0 && value->u.tensor.shape.rank <= SK_MAX_RANK);
        walk(value->u.tensor.storage, depth + 1);
        break;
    default: {
        double number;
        sk_pickle_to_real(value, &number);
        break;
    }
    }
}

SK_FUZZ_MUTATE(sk_mutate_pickle)

SK_FUZZ(pickle, data, size)
{
    sk_pickle *pickle;
    sk_error err = {0};
    sk_status status = sk_pickle_open(data, size, "fuzz.pkl", &pickle, &err);
    if (status == SK_OK)
        walk(sk_pickle_root(pickle), 0);
    else
        SK_FUZZ_CHECK(!pickle && err.code == status && strstr(err.message, "fuzz.pkl"));
    sk_pickle_close(&pickle);
}
