/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_PICKLE_WORDS_H
#define SK_TESTS_PICKLE_WORDS_H

/* A checkpoint in words: YAML as a pickle. A map with the key class ("some.where.Thing") is an object, one with the key tensor (its sizes)
 * a tensor, of `values` or of such that follow a rule; a list that begins with tuple is one of whole numbers that cannot be changed. */
#include "support/test.h"
#include "support/torch_writer.h"

#include "formats/config.h"

#include <stdio.h>
#include <string.h>

static inline void pickle_list(tw_pickle *p, const sk_config_value *v);
static inline void pickle_map(tw_pickle *p, const sk_config_value *v);

static inline void pickle_value(tw_pickle *p, const sk_config_value *v)
{
    switch (v->kind) {
    case SK_CONFIG_NULL: tw_none(p); break;
    case SK_CONFIG_BOOL: tw_bool(p, v->u.boolean); break;
    case SK_CONFIG_INT: tw_int(p, v->u.integer); break;
    case SK_CONFIG_REAL: tw_real(p, v->u.real); break;
    case SK_CONFIG_STRING: tw_text(p, v->u.text); break;
    case SK_CONFIG_LIST: pickle_list(p, v); break;
    case SK_CONFIG_MAP: pickle_map(p, v); break;
    }
}

static inline void pickle_list(tw_pickle *p, const sk_config_value *v)
{
    const char *first = sk_config_text(sk_config_at(v, 0));
    if (first && strcmp(first, "tuple") == 0) {
        int64_t numbers[16];
        assert_true(v->length <= 16);
        for (size_t i = 1; i < v->length; i++)
            assert_true(sk_config_to_int(v->u.items[i], &numbers[i - 1]));
        tw_ints(p, numbers, (int)v->length - 1);
        return;
    }
    tw_list_begin(p);
    for (size_t i = 0; i < v->length; i++)
        pickle_value(p, v->u.items[i]);
    tw_list_end(p);
}

static inline void pickle_tensor(tw_pickle *p, const sk_config_value *sizes, const sk_config_value *given)
{
    static float values[1 << 12];
    sk_shape shape = {.rank = (int32_t)sizes->length};
    for (size_t i = 0; i < sizes->length; i++)
        assert_true(sk_config_to_int(sizes->u.items[i], &shape.dim[i]));
    assert_true(sk_shape_count(&shape) <= 1 << 12);
    for (int64_t i = 0; i < sk_shape_count(&shape); i++) {
        double value = (double)(i * 7 % 11 - 4) / 8;
        sk_config_to_real(sk_config_at(given, (size_t)i), &value);
        values[i] = (float)value;
    }
    tw_tensor(p, SK_DTYPE_F32, &shape, values, false);
}

static inline void pickle_map(tw_pickle *p, const sk_config_value *v)
{
    const sk_config_value *sizes = sk_config_get(v, "tensor");
    if (sizes) {
        pickle_tensor(p, sizes, sk_config_get(v, "values"));
        return;
    }
    const char *class_name = sk_config_text(sk_config_get(v, "class")),
               *dot = class_name ? strrchr(class_name, '.') : NULL;
    if (dot) {
        char module[200];
        snprintf(module, sizeof module, "%.*s", (int)(dot - class_name), class_name);
        tw_object_begin(p, module, dot + 1);
    } else {
        tw_dict_begin(p);
    }
    for (size_t i = 0; i < v->length; i++) {
        const sk_config_pair *pair = &v->u.pairs[i];
        if (dot && strcmp(pair->name, "class") == 0)
            continue;
        pickle_value(p, pair->key);
        pickle_value(p, pair->value);
    }
    if (dot)
        tw_object_end(p);
    else
        tw_dict_end(p);
}

/* The checkpoint as bytes; the caller ends it with tw_zip_free. */
static inline tw_zip pickle_words(const char *yaml)
{
    sk_error err = {0};
    sk_config *config = NULL;
    tw_pickle p = {0};
    tw_zip zip = {.no_crc = true};
    assert_ok(sk_config_open_yaml(yaml, strlen(yaml), "words", &config, &err), &err);
    tw_start(&p);
    pickle_value(&p, sk_config_root(config));
    tw_stop(&p);
    tw_checkpoint(&zip, "best", &p);
    tw_pickle_free(&p);
    sk_config_close(&config);
    return zip;
}

#endif
