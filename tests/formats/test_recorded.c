/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of files say of every seed of the fuzzers, whole, cut and changed: all that was read, or why it was refused. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/text.h"
#include "formats/bag_file.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "formats/hydra_config.h"
#include "formats/json_scan.h"
#include "formats/npy.h"
#include "formats/onnx.h"
#include "formats/pickle.h"
#include "formats/python_literal.h"
#include "formats/ros_messages.h"
#include "formats/skeleton_json.h"
#include "formats/skq.h"
#include "formats/torch_file.h"
#include "formats/zip.h"

#include <stdio.h>
#include <string.h>

static sk_text said;

static sk_text *begin(void)
{
    sk_text_free(&said);
    said = (sk_text){0};
    return &said;
}

static const char *refused(sk_status status, const sk_error *err)
{
    sk_text_appendf(&said, "%s: %s", sk_status_text(status), recorded_own_words(err->message));
    return sk_text_get(&said);
}

static void say_bytes(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * 0x100000001B3u;
    sk_text_appendf(&said, "%zu#%llx", n, (unsigned long long)h);
}

/* --- trees --- */

static void say_config(const sk_config_value *v, int depth)
{
    if (!v || depth > 12 || said.length > 200000) {
        sk_text_append(&said, "...");
        return;
    }
    if (v->line)
        sk_text_appendf(&said, "@%u:%u", v->line, v->column);
    switch (v->kind) {
    case SK_CONFIG_NULL: sk_text_append(&said, "null"); break;
    case SK_CONFIG_BOOL: sk_text_append(&said, v->u.boolean ? "true" : "false"); break;
    case SK_CONFIG_INT: sk_text_appendf(&said, "%lld", (long long)v->u.integer); break;
    case SK_CONFIG_REAL: sk_text_appendf(&said, "%.9gr", v->u.real); break;
    case SK_CONFIG_STRING:
        say_bytes(v->u.text, v->length);
        sk_text_appendf(&said, "'%s'", sk_config_text(v) ? sk_config_text(v) : "-");
        break;
    case SK_CONFIG_LIST:
        sk_text_append(&said, "[");
        for (size_t i = 0; i < v->length; i++) {
            sk_text_append(&said, i ? ", " : "");
            say_config(v->u.items[i], depth + 1);
        }
        sk_text_append(&said, "]");
        break;
    case SK_CONFIG_MAP:
        sk_text_append(&said, "{");
        for (size_t i = 0; i < v->length; i++) {
            sk_text_appendf(&said, "%s'%s'%s: ", i ? ", " : "", v->u.pairs[i].name,
                            v->u.pairs[i].again ? " again" : "");
            say_config(v->u.pairs[i].value, depth + 1);
        }
        sk_text_append(&said, "}");
        break;
    }
}

static void say_skeleton(const sk_config_value *root)
{
    sk_arena *arena = NULL;
    sk_skeleton s;
    sk_error err = {0};
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    sk_arena_limit(arena, 1 << 20);
    if (sk_skeleton_read(root, NULL, arena, "in", &s, &err) == SK_OK) {
        sk_text_appendf(&said, " skeleton '%s'", s.name);
        for (int32_t i = 0; i < s.n_nodes; i++)
            sk_text_appendf(&said, " %s", s.node_names[i]);
        for (int32_t i = 0; i < s.n_edges; i++)
            sk_text_appendf(&said, " %d-%d", s.edges[i][0], s.edges[i][1]);
        for (int32_t i = 0; i < s.n_symmetries; i++)
            sk_text_appendf(&said, " %d=%d", s.symmetries[i][0], s.symmetries[i][1]);
    } else {
        sk_text_appendf(&said, " no skeleton: %s", recorded_own_words(err.message));
    }
    sk_arena_close(&arena);
}

static const char *say_configs(const unsigned char *bytes, size_t n)
{
    static sk_status (*const openers[])(const char *, size_t, const char *, sk_config **, sk_error *) = {
        sk_config_open_json, sk_config_open_yaml, sk_config_open_yaml_alone, sk_python_literal_open};
    begin();
    for (int i = 0; i < 4; i++) {
        sk_config *config = NULL;
        sk_error err = {0};
        const sk_status status = openers[i]((const char *)bytes, n, "in", &config, &err);
        sk_text_appendf(&said, "%s%d ", status == SK_OK && !i ? "ok " : "; ", i);
        if (status != SK_OK) {
            (void)refused(status, &err);
            continue;
        }
        say_config(sk_config_root(config), 0);
        if (i == 0)
            say_skeleton(sk_config_root(config));
        sk_config_close(&config);
    }
    sk_json_scan scan = sk_json_scan_over((const char *)bytes, n, "in");
    sk_error err = {0};
    sk_status status = sk_json_scan_enter(&scan, '{', &err);
    for (sk_json_span key = {"", 0}, value; status == SK_OK && key.text;) {
        status = sk_json_scan_pair(&scan, &key, &value, &err);
        if (status == SK_OK && key.text)
            sk_text_appendf(&said, " <%.*s> %zu", (int)key.length, key.text, value.length);
    }
    if (status == SK_OK)
        status = sk_json_scan_finish(&scan, &err);
    return status == SK_OK ? sk_text_get(&said) : refused(status, &err);
}

static const char *say_hydra(const unsigned char *bytes, size_t n)
{
    sk_hydra_config *config = NULL;
    sk_error err = {0};
    begin();
    const sk_status status = sk_hydra_config_open((const char *)bytes, n, "in", &config, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_appendf(&said, "ok unknown '%s' without '%s' brief '%s'", sk_hydra_unknown(config),
                    sk_hydra_without_counterpart(config), sk_hydra_without_brief(config));
    const char *key;
    for (size_t i = 0; (key = sk_hydra_used_key(i)); i++) {
        double number = -1;
        bool truth = false;
        const char *text = sk_hydra_text(config, key);
        const bool numbered = sk_hydra_number(config, key, &number),
                   true_ = sk_hydra_truth(config, key, &truth);
        if (numbered || true_ || text || sk_hydra_list(config, key))
            sk_text_appendf(&said, " %s %d %.9g %d %d '%s' %zu", key, numbered, number, true_, truth,
                            text ? text : "-", sk_config_count(sk_hydra_list(config, key)));
    }
    sk_hydra_config_close(&config);
    return sk_text_get(&said);
}

/* --- pickles --- */

static void say_pickle(const sk_pickle_value *v, int depth)
{
    if (!v || depth > 7 || said.length > 100000) {
        sk_text_append(&said, v ? "..." : "-");
        return;
    }
    switch (v->kind) {
    case SK_PICKLE_NONE: sk_text_append(&said, "None"); break;
    case SK_PICKLE_BOOL: sk_text_append(&said, v->u.boolean ? "True" : "False"); break;
    case SK_PICKLE_INT: sk_text_appendf(&said, "%lld", (long long)v->u.integer); break;
    case SK_PICKLE_FLOAT: sk_text_appendf(&said, "%.9gf", v->u.real); break;
    case SK_PICKLE_STRING:
    case SK_PICKLE_BYTES:
        sk_text_append(&said, v->kind == SK_PICKLE_BYTES ? "b" : "s");
        say_bytes(v->u.text, v->length);
        break;
    case SK_PICKLE_LIST:
    case SK_PICKLE_TUPLE:
        sk_text_append(&said, v->is_set ? "{(" : v->kind == SK_PICKLE_LIST ? "[" : "(");
        for (size_t i = 0; i < v->length && i < 12; i++) {
            say_pickle(sk_pickle_at(v, i), depth + 1);
            sk_text_append(&said, ",");
        }
        sk_text_appendf(&said, "%zu)", v->length);
        break;
    case SK_PICKLE_DICT:
        sk_text_append(&said, "{");
        for (size_t i = 0; i < v->length && i < 12; i++) {
            say_pickle(v->u.pairs[i].key, depth + 1);
            sk_text_append(&said, ":");
            say_pickle(v->u.pairs[i].value, depth + 1);
            sk_text_append(&said, ",");
        }
        sk_text_appendf(&said, "%zu}", v->length);
        break;
    case SK_PICKLE_GLOBAL: sk_text_appendf(&said, "%s.%s", v->u.global.module, v->u.global.name); break;
    case SK_PICKLE_OBJECT: {
        const char *module = "", *name = sk_pickle_class(v, &module);
        sk_text_appendf(&said, "<%s %s ", name ? name : "-", module ? module : "-");
        say_pickle(v->u.object.callable, depth + 1);
        say_pickle(v->u.object.args, depth + 1);
        say_pickle(v->u.object.state, depth + 1);
        say_pickle(v->u.object.items, depth + 1);
        sk_text_appendf(&said, " %d%d>", sk_pickle_child(v, "a") != NULL,
                        sk_pickle_parameter(v, "weight") != NULL);
        break;
    }
    case SK_PICKLE_STORAGE:
        sk_text_appendf(&said, "storage %s %s %s %lld", sk_dtype_name(v->u.storage.dtype), v->u.storage.key,
                        v->u.storage.location, (long long)v->u.storage.count);
        break;
    case SK_PICKLE_TENSOR: {
        char shape[SK_SHAPE_TEXT];
        sk_text_appendf(&said, "tensor %s %s at %lld", sk_dtype_name(v->u.tensor.dtype),
                        sk_shape_text(&v->u.tensor.shape, shape, sizeof shape),
                        (long long)v->u.tensor.offset);
        for (int i = 0; i < v->u.tensor.shape.rank; i++)
            sk_text_appendf(&said, " %lld", (long long)v->u.tensor.stride[i]);
        sk_text_append(&said, " of ");
        say_pickle(v->u.tensor.storage, depth + 1);
        break;
    }
    }
}

static const char *say_pickles(const unsigned char *bytes, size_t n)
{
    sk_pickle *pickle = NULL;
    sk_error err = {0};
    begin();
    const sk_status status = sk_pickle_open(bytes, n, "in", &pickle, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_append(&said, "ok ");
    say_pickle(sk_pickle_root(pickle), 0);
    sk_pickle_close(&pickle);
    return sk_text_get(&said);
}

static void say_tensors(sk_torch_file *file, const sk_pickle_value *v, int depth)
{
    if (!v || depth > 5)
        return;
    if (v->kind == SK_PICKLE_TENSOR) {
        static const sk_dtype types[] = {SK_DTYPE_F32, SK_DTYPE_I64, SK_DTYPE_F16};
        for (int i = 0; i < 3; i++) {
            sk_blob *blob = NULL;
            sk_error err = {0};
            const sk_status status = sk_torch_file_tensor(file, v, types[i], &blob, &err);
            sk_text_append(&said, " ");
            if (status == SK_OK)
                say_bytes(sk_blob_data(blob), sk_blob_bytes(blob));
            else
                (void)refused(status, &err);
            sk_blob_unref(&blob);
        }
    } else if (v->kind == SK_PICKLE_DICT) {
        for (size_t i = 0; i < v->length && i < 8; i++)
            say_tensors(file, v->u.pairs[i].value, depth + 1);
    } else if (v->kind == SK_PICKLE_LIST || v->kind == SK_PICKLE_TUPLE) {
        for (size_t i = 0; i < v->length && i < 8; i++)
            say_tensors(file, v->u.items[i], depth + 1);
    } else if (v->kind == SK_PICKLE_OBJECT) {
        say_tensors(file, v->u.object.state, depth + 1);
    }
}

static const char *say_torch(const unsigned char *bytes, size_t n)
{
    sk_torch_file *file = NULL;
    sk_zip *zip = NULL;
    sk_error err = {0};
    begin();
    sk_status status = sk_torch_file_open_memory(bytes, n, "in", &file, &err);
    if (status == SK_OK) {
        sk_text_appendf(&said, "ok %zu%s ", sk_torch_file_length(file),
                        sk_torch_file_truncated(file) ? " cut" : "");
        say_pickle(sk_torch_file_root(file), 2);
        say_tensors(file, sk_torch_file_root(file), 0);
        sk_torch_file_close(&file);
    } else {
        (void)refused(status, &err);
    }
    sk_text_appendf(&said, "; %d ", sk_zip_looks_like(bytes, n));
    status = sk_zip_open_memory(bytes, n, "in", &zip, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_appendf(&said, "%zu entries, %llu bytes of %zu%s", sk_zip_count(zip),
                    (unsigned long long)sk_zip_total_size(zip), sk_zip_length(zip),
                    sk_zip_truncated(zip) ? ", cut" : "");
    for (size_t i = 0; i < sk_zip_count(zip) && i < 20; i++) {
        const sk_zip_entry *e = sk_zip_at(zip, i);
        const uint8_t *data = NULL;
        sk_blob *hold = NULL;
        sk_text_appendf(&said, "; %s %llu %llu %llu %x %u %u %llu ", e->name, (unsigned long long)e->header,
                        (unsigned long long)e->compressed, (unsigned long long)e->size, e->crc, e->method,
                        e->flags, (unsigned long long)sk_zip_work(zip, e));
        status = sk_zip_read(zip, e, &data, &hold, &err);
        if (status == SK_OK)
            say_bytes(data, (size_t)e->size);
        else
            (void)refused(status, &err);
        sk_text_appendf(&said, " %llu", (unsigned long long)sk_zip_work(zip, e));
        assert_true(sk_zip_find(zip, e->name) != NULL);
        sk_blob_unref(&hold);
    }
    sk_zip_close(&zip);
    return sk_text_get(&said);
}

/* --- arrays and networks --- */

static const char *say_npy(const unsigned char *bytes, size_t n)
{
    sk_tensor t = {0};
    sk_error err = {0};
    char shape[SK_SHAPE_TEXT];
    begin();
    const sk_status status = sk_npy_parse(bytes, n, "in", 1 << 20, &t, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_appendf(&said, "ok %s %s ", sk_dtype_name(t.dtype), sk_shape_text(&t.shape, shape, sizeof shape));
    say_bytes(t.data, (size_t)sk_tensor_bytes(&t));
    sk_free(t.data);
    return sk_text_get(&said);
}

static void say_onnx_graph(const sk_onnx_graph *g, int depth);

static void say_attr(const sk_onnx_attr *a, int depth)
{
    sk_text_appendf(&said, " %s=%d'%s' %.9g %lld '%s'", a->name, (int)a->type, a->ref, (double)a->f,
                    (long long)a->i, a->s ? a->s : "-");
    for (int32_t i = 0; i < a->count && i < 20; i++) {
        if (a->type == SK_ONNX_FLOATS)
            sk_text_appendf(&said, " %.9g", (double)a->floats[i]);
        if (a->type == SK_ONNX_INTS)
            sk_text_appendf(&said, " %lld", (long long)a->ints[i]);
        if (a->type == SK_ONNX_STRINGS)
            sk_text_appendf(&said, " '%s'", a->strings[i]);
    }
    if (a->tensor && a->tensor->blob)
        say_bytes((const uint8_t *)sk_blob_data(a->tensor->blob) + a->tensor->offset,
                  (size_t)sk_shape_count(&a->tensor->shape) * sk_dtype_bytes(a->tensor->dtype));
    if (a->graph && depth < 3)
        say_onnx_graph(a->graph, depth + 1);
}

static void say_node(const sk_onnx_node *n, int depth)
{
    sk_text_appendf(&said, "; %s '%s' '%s' (", n->op, n->domain, n->name);
    for (int32_t i = 0; i < n->n_in; i++)
        sk_text_appendf(&said, "%s,", n->in[i]);
    sk_text_append(&said, ") -> (");
    for (int32_t i = 0; i < n->n_out; i++)
        sk_text_appendf(&said, "%s,", n->out[i]);
    sk_text_append(&said, ")");
    for (int32_t i = 0; i < n->n_attrs; i++)
        say_attr(&n->attrs[i], depth);
}

static void say_end(const sk_onnx_value *v)
{
    char shape[SK_SHAPE_TEXT];
    sk_text_appendf(&said, " %s %s %s", v->name, sk_dtype_name(v->dtype),
                    sk_shape_text(&v->shape, shape, sizeof shape));
    for (int i = 0; i < v->shape.rank; i++)
        sk_text_appendf(&said, " '%s'", v->param[i] ? v->param[i] : "-");
}

static void say_onnx_graph(const sk_onnx_graph *g, int depth)
{
    char shape[SK_SHAPE_TEXT];
    sk_text_appendf(&said, " graph '%s'", g->name);
    for (int32_t i = 0; i < g->n_inputs; i++)
        say_end(&g->inputs[i]);
    for (int32_t i = 0; i < g->n_outputs; i++)
        say_end(&g->outputs[i]);
    for (int32_t i = 0; i < g->n_initializers; i++) {
        const sk_onnx_tensor *t = &g->initializers[i];
        sk_text_appendf(&said, "; %s %s %s ", t->name, sk_dtype_name(t->dtype),
                        sk_shape_text(&t->shape, shape, sizeof shape));
        if (t->blob)
            say_bytes((const uint8_t *)sk_blob_data(t->blob) + t->offset,
                      (size_t)sk_shape_count(&t->shape) * sk_dtype_bytes(t->dtype));
    }
    for (int32_t i = 0; i < g->n_nodes && i < 60; i++)
        say_node(&g->nodes[i], depth);
}

static void say_onnx_model(const sk_onnx_model *m)
{
    sk_text_appendf(&said, "%lld '%s' '%s' '%s'", (long long)m->ir_version, m->producer, m->producer_version,
                    m->doc);
    for (int32_t i = 0; i < m->n_opsets; i++)
        sk_text_appendf(&said, " '%s' %lld", m->opsets[i].domain, (long long)m->opsets[i].version);
    for (int32_t i = 0; i < m->n_metadata; i++)
        sk_text_appendf(&said, " %s='%s'", m->metadata[i][0], m->metadata[i][1]);
    for (int32_t i = 0; i < m->n_functions; i++) {
        const sk_onnx_function *f = &m->functions[i];
        sk_text_appendf(&said, " function %s %s %d %d %d %d", f->domain, f->name, f->n_in, f->n_out,
                        f->n_defaults, f->n_opsets);
        for (int32_t k = 0; k < f->n_nodes; k++)
            say_node(&f->nodes[k], 0);
        for (int32_t k = 0; k < f->n_defaults; k++)
            say_attr(&f->defaults[k], 0);
    }
    say_onnx_graph(&m->graph, 0);
}

static const char *say_onnx(const unsigned char *bytes, size_t n)
{
    sk_onnx_model *m = NULL, *again = NULL;
    sk_error err = {0};
    begin();
    sk_status status = sk_onnx_read(bytes, n, "in", NULL, &m, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_append(&said, "ok ");
    say_onnx_model(m);
    uint8_t *written = NULL;
    size_t length = 0;
    status = sk_onnx_write(m, &written, &length, &err);
    if (status == SK_OK) {
        sk_text_append(&said, " written ");
        say_bytes(written, length);
        assert_ok(sk_onnx_read(written, length, "again", NULL, &again, &err), &err);
        say_onnx_model(again);
        sk_onnx_close(&again);
    } else {
        (void)refused(status, &err);
    }
    sk_free(written);
    sk_onnx_close(&m);
    return sk_text_get(&said);
}

static const char *say_skq(const unsigned char *bytes, size_t n)
{
    sk_skq parts = {0};
    sk_error err = {0};
    begin();
    sk_text_appendf(&said, "%s", sk_skq_is(bytes, n) ? "ok " : "no ");
    sk_status status = sk_skq_read(bytes, n, "in", &parts, &err);
    if (status != SK_OK)
        return refused(status, &err);
    say_bytes(parts.json, parts.json_length);
    say_bytes(parts.network, parts.network_length);
    uint8_t *again = NULL;
    size_t length = 0;
    assert_ok(sk_skq_write(&parts, &again, &length, &err), &err);
    assert_int_equal(length, n);
    assert_memory_equal(again, bytes, n);
    sk_free(again);
    return sk_text_get(&said);
}

/* --- HDF5 --- */

static void say_texts(const sk_hdf5_texts *t)
{
    sk_text_appendf(&said, " %zu texts", t->count);
    for (size_t i = 0; i < t->count && i < 10; i++)
        sk_text_appendf(&said, " '%.200s'", sk_hdf5_text_at(t, i));
    assert_null(sk_hdf5_text_at(t, t->count));
}

static void say_object(sk_hdf5_file *file, const char *path)
{
    static const char *const attributes[] = {"model_config", "weight_names", "layer_names",
                                             "format_id",    "json",         "marker_type"};
    sk_hdf5_texts texts;
    sk_blob *blob = NULL;
    sk_shape shape;
    sk_dtype dtype;
    double number;
    sk_error err = {0};
    char text[SK_SHAPE_TEXT];
    sk_text_appendf(&said, "; %s %d", path, sk_hdf5_exists(file, path));
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (!sk_hdf5_has_attribute(file, path, attributes[i]))
            continue;
        sk_text_appendf(&said, " %s", attributes[i]);
        if (sk_hdf5_attribute_texts(file, path, attributes[i], &texts, &err) == SK_OK) {
            say_texts(&texts);
            sk_free(texts.bytes);
        } else {
            (void)refused(err.code, &err);
        }
        if (sk_hdf5_attribute_real(file, path, attributes[i], &number, &err) == SK_OK)
            sk_text_appendf(&said, " %.9g", number);
        else
            (void)refused(err.code, &err);
    }
    if (sk_hdf5_dataset_info(file, path, &dtype, &shape, &err) != SK_OK) {
        (void)refused(err.code, &err);
        return;
    }
    sk_text_appendf(&said, " %s %s ", sk_dtype_name(dtype), sk_shape_text(&shape, text, sizeof text));
    static const sk_dtype types[] = {SK_DTYPE_F32, SK_DTYPE_I64, SK_DTYPE_U8};
    for (int i = 0; i < 3; i++) {
        const sk_status status = sk_hdf5_dataset_read(file, path, types[i], 1 << 20, &blob, &shape, &err);
        if (status == SK_OK)
            say_bytes(sk_blob_data(blob), sk_blob_bytes(blob));
        else
            (void)refused(status, &err);
        sk_blob_unref(&blob);
    }
    static const char *const columns[] = {"x", "y", "frame_idx", "score", "none"};
    for (size_t i = 0; dtype == SK_DTYPE_NONE && i < sizeof columns / sizeof *columns; i++) {
        size_t count = 0;
        const sk_status status =
            sk_hdf5_dataset_column(file, path, columns[i], SK_DTYPE_F64, 1 << 20, &blob, &count, &err);
        sk_text_appendf(&said, " %s %zu ", columns[i], count);
        if (status == SK_OK)
            say_bytes(sk_blob_data(blob), sk_blob_bytes(blob));
        else
            (void)refused(status, &err);
        sk_blob_unref(&blob);
    }
    if (sk_hdf5_dataset_texts(file, path, &texts, &err) == SK_OK) {
        say_texts(&texts);
        sk_free(texts.bytes);
    }
}

static void walk(sk_hdf5_file *file, const char *path, int depth, int *budget)
{
    sk_hdf5_texts members;
    if (--*budget < 0)
        return;
    say_object(file, path);
    if (depth >= 4 || sk_hdf5_members(file, path, &members, NULL) != SK_OK)
        return;
    for (size_t i = 0; i < members.count && i < 16; i++) {
        char child[512];
        if (snprintf(child, sizeof child, "%s/%s", path, sk_hdf5_text_at(&members, i)) < (int)sizeof child)
            walk(file, child, depth + 1, budget);
    }
    sk_free(members.bytes);
}

static const char *say_hdf5(const unsigned char *bytes, size_t n)
{
    sk_hdf5_file *file = NULL;
    sk_error err = {0};
    int budget = 40;
    begin();
    const sk_status status = sk_hdf5_open_memory(bytes, n, "in", &file, &err);
    if (status != SK_OK)
        return refused(status, &err);
    sk_text_append(&said, "ok ");
    walk(file, "", 0, &budget);
    sk_hdf5_close(&file);
    return sk_text_get(&said);
}

/* --- bags --- */

static const char *say_bag(sk_status (*open)(const char *, sk_bag_file **, sk_error *),
                           const unsigned char *bytes, size_t n)
{
    char path[4200];
    sk_bag_file *file = NULL;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/bag", test_folder());
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, n, to), n);
    fclose(to);
    begin();
    const sk_status status = open(path, &file, &err);
    if (status != SK_OK) {
        const char *why = strstr(err.message, "bag");
        sk_text_appendf(&said, "%s: %s", sk_status_text(status), recorded_own_words(why ? why : err.message));
        return sk_text_get(&said);
    }
    sk_text_appendf(&said, "ok '%s'", file->problem);
    for (size_t i = 0; i < file->n_topics && i < 16; i++) {
        sk_bag_entries entries = {0};
        sk_text_appendf(&said, "; %s %s %s %lld %lld", file->topics[i].name, file->topics[i].type,
                        file->topics[i].encoding, (long long)file->topics[i].messages,
                        (long long)file->topics[i].promised);
        if (file->list(file, i, &entries, &err) != SK_OK)
            sk_text_append(&said, " not listed");
        for (size_t k = 0; k < entries.count && k < 20; k++) {
            const uint8_t *data = NULL;
            size_t count = 0;
            sk_text_appendf(&said, " %lld/", (long long)entries.items[k].log_ns);
            if (file->read(file, i, &entries.items[k], &data, &count, &err) == SK_OK)
                say_bytes(data, count);
            else
                sk_text_appendf(&said, "%d", (int)err.code);
        }
        sk_free(entries.items);
    }
    file->close(file);
    return sk_text_get(&said);
}

static const char *say_mcap(const unsigned char *bytes, size_t n)
{
    return say_bag(sk_bag_file_open_mcap, bytes, n);
}

static const char *say_db3(const unsigned char *bytes, size_t n)
{
    return say_bag(sk_bag_file_open_db3, bytes, n);
}

static const char *say_message(const unsigned char *bytes, size_t n)
{
    _Alignas(16) static uint8_t message[1024];
    begin();
    const sk_msg_layout *layout = n ? sk_msg_layout_at(bytes[0] % 23) : NULL;
    sk_error err = {0};
    sk_arena *arena = NULL;
    sk_cdr_writer writer = {0};
    if (!layout || layout->bytes > sizeof message)
        return "nothing";
    assert_ok(sk_arena_open(4096, &arena, &err), &err);
    sk_arena_limit(arena, (size_t)1 << 20);
    sk_status status = sk_msg_decode(layout, bytes + 1, n - 1, arena, message, &err);
    if (status == SK_OK) {
        sk_text_appendf(&said, "ok %s ", layout->type);
        status = sk_msg_encode(layout, message, &writer, &err);
    }
    if (status == SK_OK)
        say_bytes(writer.data, writer.length);
    else
        (void)refused(status, &err);
    sk_cdr_writer_free(&writer);
    sk_arena_close(&arena);
    return sk_text_get(&said);
}

static void seeds_are_read_as_ever(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        recorded_use use;
    } readers[] = {{"config", say_configs},
                   {"hydra_config", say_hydra},
                   {"pickle", say_pickles},
                   {"torch", say_torch},
                   {"npy", say_npy},
                   {"onnx", say_onnx},
                   {"skq", say_skq},
                   {"hdf5", say_hdf5},
                   {"mcap", say_mcap},
                   {"db3", say_db3},
                   {"ros_message", say_message}};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        char fixture[200], seeds[200];
        snprintf(fixture, sizeof fixture, "tests/fixtures/formats/recorded/%s.txt", readers[i].name);
        snprintf(seeds, sizeof seeds, "fuzz/seeds/%s", readers[i].name);
        recorded_replay(fixture, seeds, readers[i].use);
    }
    sk_text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(seeds_are_read_as_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
