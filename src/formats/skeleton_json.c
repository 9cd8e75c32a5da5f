/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/skeleton_json.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OBJECTS   (SK_SKELETON_MAX_NODES + 2 * SK_SKELETON_MAX_EDGES)
#define EDGE_BODY     1
#define EDGE_SYMMETRY 2

/* A thing py/id may refer to: a node (by name) or an edge type. */
typedef struct {
    const char *node_name; /* null for edge types */
    int64_t edge_type;
} object;

typedef struct {
    int64_t order; /* edge_insert_idx */
    int64_t type;
    const char *source, *target;
} link;

typedef struct {
    const sk_config_value *nodes; /* .slp: the numbered nodes */
    const char *what;
    object *objects;
    size_t n_objects, objects_capacity;
    link *links;
    size_t n_links;
    sk_error *err;
} reader;

static sk_status problem(const reader *r, const char *why)
{
    return sk_fail(r->err, SK_ERR_FORMAT, "%s: its skeleton cannot be read: %s", r->what, why);
}

static sk_status remember(reader *r, object made)
{
    SK_TRY(sk_array_reserve((void **)&r->objects, &r->objects_capacity, r->n_objects + 1, sizeof *r->objects,
                            MAX_OBJECTS, r->err));
    r->objects[r->n_objects++] = made;
    return SK_OK;
}

static const object *referred(const reader *r, const sk_config_value *value)
{
    int64_t id;
    if (!sk_config_to_int(sk_config_get(value, "py/id"), &id) || id < 1 || (size_t)id > r->n_objects)
        return NULL;
    return &r->objects[id - 1];
}

/* A node: its number (.slp), its name (plain JSON), an object written out, or a reference. */
static sk_status read_node(reader *r, const sk_config_value *value, const char **name)
{
    int64_t index;
    *name = NULL;
    if (sk_config_is(value, SK_CONFIG_INT) && sk_config_to_int(value, &index) && index >= 0) {
        const sk_config_value *entry = sk_config_at(r->nodes, (size_t)index);
        *name = sk_config_text(sk_config_get(entry, "name"));
    } else if (sk_config_is(value, SK_CONFIG_STRING)) {
        *name = sk_config_text(value);
    } else if (sk_config_get(value, "py/id")) {
        const object *known = referred(r, value);
        *name = known ? known->node_name : NULL;
    } else if (sk_config_get(value, "py/object")) {
        const sk_config_value *state = sk_config_get(value, "py/state");
        const sk_config_value *tuple = sk_config_get(state, "py/tuple");
        *name = sk_config_text(tuple ? sk_config_at(tuple, 0) : sk_config_get(state, "name"));
        if (!*name)
            *name = sk_config_text(sk_config_get(value, "name"));
        if (*name)
            SK_TRY(remember(r, (object){*name, 0}));
    } else if (sk_config_is(value, SK_CONFIG_MAP)) {
        *name = sk_config_text(sk_config_get(value, "name"));
    }
    return *name ? SK_OK : problem(r, "a node without a name");
}

static sk_status read_edge_type(reader *r, const sk_config_value *value, int64_t *type)
{
    *type = EDGE_BODY;
    if (sk_config_is_null(value) || sk_config_to_int(value, type))
        return SK_OK;
    if (sk_config_get(value, "py/id")) {
        const object *known = referred(r, value);
        if (!known || known->node_name)
            return problem(r, "an edge's type refers to something else");
        *type = known->edge_type;
        return SK_OK;
    }
    const sk_config_value *arguments = sk_config_at(sk_config_get(value, "py/reduce"), 1);
    const sk_config_value *tuple = sk_config_get(arguments, "py/tuple");
    if (!sk_config_to_int(sk_config_at(tuple ? tuple : arguments, 0), type))
        return problem(r, "an edge of unknown type");
    return remember(r, (object){NULL, *type});
}

/* The parts of a link in the file's order, which is the order jsonpickle numbered them in. */
static sk_status read_link(reader *r, const sk_config_value *value, link *out)
{
    *out =
        (link){.order = sk_config_int_or(value, "edge_insert_idx", (int64_t)r->n_links), .type = EDGE_BODY};
    for (size_t i = 0; i < sk_config_count(value) && sk_config_is(value, SK_CONFIG_MAP); i++) {
        const sk_config_pair *pair = &value->u.pairs[i];
        if (strcmp(pair->name, "source") == 0)
            SK_TRY(read_node(r, pair->value, &out->source));
        else if (strcmp(pair->name, "target") == 0)
            SK_TRY(read_node(r, pair->value, &out->target));
        else if (strcmp(pair->name, "type") == 0)
            SK_TRY(read_edge_type(r, pair->value, &out->type));
    }
    return out->source && out->target ? SK_OK : problem(r, "an edge without ends");
}

static sk_status read_links(reader *r, const sk_config_value *links)
{
    size_t count = sk_config_count(links);
    if (count > SK_SKELETON_MAX_EDGES)
        return problem(r, "too many edges");
    r->links = sk_calloc(count, sizeof *r->links);
    if (!r->links)
        return sk_fail_memory(r->err, count * sizeof *r->links);
    for (size_t i = 0; i < count; i++) {
        SK_TRY(read_link(r, sk_config_at(links, i), &r->links[i]));
        r->n_links++;
    }
    return SK_OK;
}

static sk_status read_nodes(reader *r, const sk_config_value *nodes, sk_arena *arena, sk_skeleton *out)
{
    size_t count = sk_config_count(nodes);
    if (count > SK_SKELETON_MAX_NODES)
        return problem(r, "too many nodes");
    out->node_names = sk_arena_alloc(arena, count * sizeof *out->node_names);
    if (!out->node_names)
        return sk_fail_memory(r->err, count * sizeof *out->node_names);
    for (size_t i = 0; i < count; i++) {
        const sk_config_value *entry = sk_config_at(nodes, i);
        const sk_config_value *id = sk_config_get(entry, "id");
        const char *name;
        SK_TRY(read_node(r, id ? id : entry, &name));
        out->node_names[i] = sk_arena_strdup(arena, name);
        if (!out->node_names[i])
            return sk_fail_memory(r->err, strlen(name));
    }
    out->n_nodes = (int32_t)count;
    return SK_OK;
}

/* --- from names to indices --- */

static int compare_links(const void *left, const void *right)
{
    const link *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

typedef struct {
    const char *name;
    int32_t index;
} named;

static int compare_named(const void *left, const void *right)
{
    return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

static int32_t index_of(const named *order, int32_t count, const char *name)
{
    named key = {name, 0};
    const named *found = count ? bsearch(&key, order, (size_t)count, sizeof *order, compare_named) : NULL;
    return found ? found->index : -1;
}

static sk_status connect(reader *r, sk_arena *arena, const named *order, sk_skeleton *out)
{
    if (r->n_links)
        qsort(r->links, r->n_links, sizeof *r->links, compare_links);
    out->edges = sk_arena_alloc(arena, r->n_links * sizeof *out->edges);
    out->symmetries = sk_arena_alloc(arena, r->n_links * sizeof *out->symmetries);
    if (!out->edges || !out->symmetries)
        return sk_fail_memory(r->err, r->n_links * sizeof *out->edges);
    for (size_t i = 0; i < r->n_links; i++) {
        int32_t source = index_of(order, out->n_nodes, r->links[i].source);
        int32_t target = index_of(order, out->n_nodes, r->links[i].target);
        if (source < 0 || target < 0)
            return problem(r, "an edge to a node it does not list");
        if (r->links[i].type == EDGE_BODY) {
            out->edges[out->n_edges][0] = source;
            out->edges[out->n_edges++][1] = target;
        } else if (r->links[i].type == EDGE_SYMMETRY && source < target) { /* written in both directions */
            out->symmetries[out->n_symmetries][0] = source;
            out->symmetries[out->n_symmetries++][1] = target;
        }
    }
    return SK_OK;
}

static sk_status finish(reader *r, sk_arena *arena, sk_skeleton *out)
{
    named *order = sk_calloc((size_t)out->n_nodes, sizeof *order);
    if (!order)
        return sk_fail_memory(r->err, (size_t)out->n_nodes * sizeof *order);
    for (int32_t i = 0; i < out->n_nodes; i++)
        order[i] = (named){out->node_names[i], i};
    qsort(order, (size_t)out->n_nodes, sizeof *order, compare_named);
    sk_status status = connect(r, arena, order, out);
    sk_free(order);
    return status;
}

sk_status sk_skeleton_read(const sk_config_value *skeleton, const sk_config_value *nodes, sk_arena *arena,
                           const char *what, sk_skeleton *out, sk_error *err)
{
    *out = (sk_skeleton){.name = ""};
    if (sk_config_get(skeleton, "nx_graph")) /* skeleton files with a description and a picture */
        skeleton = sk_config_get(skeleton, "nx_graph");
    reader r = {.nodes = nodes, .what = what, .err = err};
    sk_status status = SK_OK;
    if (!sk_config_is(sk_config_get(skeleton, "nodes"), SK_CONFIG_LIST)) {
        status = problem(&r, "it lists no nodes");
        goto done;
    }
    out->name = sk_arena_strdup(arena, sk_config_text_or(skeleton, "graph.name", ""));
    if (!out->name) {
        status = sk_fail_memory(err, 1);
        goto done;
    }
    /* In the file's order, links usually before nodes: that is how objects are numbered. */
    for (size_t i = 0; i < sk_config_count(skeleton); i++) {
        const sk_config_pair *pair = &skeleton->u.pairs[i];
        if (strcmp(pair->name, "links") == 0)
            SK_TRY_GOTO(read_links(&r, pair->value));
        else if (strcmp(pair->name, "nodes") == 0)
            SK_TRY_GOTO(read_nodes(&r, pair->value, arena, out));
    }
    SK_TRY_GOTO(finish(&r, arena, out));
done:
    sk_free(r.objects);
    sk_free(r.links);
    return status;
}
