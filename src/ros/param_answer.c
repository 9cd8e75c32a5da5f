/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_messages.h"
#include "ros/param_services.h"

#include <stdio.h>
#include <string.h>

#define ARENA_CHUNK ((size_t)16 << 10)
#define ARENA_MOST  ((size_t)4 << 20) /* more than any honest request takes */
#define MOST_NAMES  4096

typedef struct call {
    const sk_param_owner *owner;
    sk_arena *arena;
    sk_cdr_writer *reply;
    int32_t *changed, n_changed;
} call;

/* May others change it while the node runs? What is not live takes a moment: the core is opened anew. */
static bool is_settable(const sk_node_param *row)
{
    return row->live || row->found;
}

/* --- reading --- */

static sk_status fill_value(const call *c, const sk_param_value *from, sk_msg_parameter_value *out,
                            sk_error *err)
{
    *out = (sk_msg_parameter_value){.type = (uint8_t)from->type};
    out->bool_value = from->truth;
    out->integer_value = from->number;
    out->double_value = from->real;
    if (from->type == SK_NODE_TEXT) {
        char *text = sk_arena_strdup(c->arena, from->text);
        if (!text)
            return sk_fail_memory(err, strlen(from->text));
        out->string_value = sk_msg_text_of(text);
    }
    if (from->type == SK_NODE_INTS) {
        int64_t *list = sk_arena_alloc(c->arena, (from->count + 1) * sizeof *list);
        if (!list)
            return sk_fail_memory(err, from->count * sizeof *list);
        if (from->count)
            memcpy(list, from->list, from->count * sizeof *list);
        out->integer_array_value.items = list;
        out->integer_array_value.count = from->count;
    }
    return SK_OK;
}

/* Names of a request with their parameters; index -1: there is none of that name. */
static bool about_of(const call *c, sk_msg_text name, sk_param_about *out)
{
    char text[128];
    if (name.length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%s", name.length ? name.data : "");
    const int32_t index = sk_params_find(c->owner->params, text);
    return index >= 0 && sk_params_at(c->owner->params, index, out);
}

static sk_status get_names(const call *c, const sk_msg_layout *layout, sk_cdr_reader *in,
                           sk_msg_parameter_names *out, sk_error *err)
{
    SK_TRY(sk_msg_get(layout, in, c->arena, out, err));
    return out->names.count > MOST_NAMES ? sk_fail(err, SK_ERR_LIMIT, "more than %d parameters", MOST_NAMES)
                                         : SK_OK;
}

static sk_status answer_get(const call *c, sk_cdr_reader *in, sk_error *err)
{
    sk_msg_parameter_names asked;
    sk_param_about about;
    SK_TRY(get_names(c, &sk_msg_get_parameters_request_layout, in, &asked, err));
    sk_msg_parameter_value *values = sk_arena_alloc(c->arena, (asked.names.count + 1) * sizeof *values);
    if (!values)
        return sk_fail_memory(err, asked.names.count * sizeof *values);
    for (size_t i = 0; i < asked.names.count; i++)
        if (about_of(c, asked.names.items[i], &about))
            SK_TRY(fill_value(c, &about.value, &values[i], err));
    const sk_msg_parameter_values reply = {.values = {values, asked.names.count}};
    sk_msg_put(&sk_msg_get_parameters_response_layout, &reply, c->reply);
    return SK_OK;
}

static sk_status answer_types(const call *c, sk_cdr_reader *in, sk_error *err)
{
    sk_msg_parameter_names asked;
    sk_param_about about;
    SK_TRY(get_names(c, &sk_msg_get_parameter_types_request_layout, in, &asked, err));
    uint8_t *types = sk_arena_alloc(c->arena, asked.names.count + 1);
    if (!types)
        return sk_fail_memory(err, asked.names.count);
    for (size_t i = 0; i < asked.names.count; i++)
        types[i] = about_of(c, asked.names.items[i], &about) ? (uint8_t)about.row.type : 0;
    const sk_msg_parameter_types reply = {.types = {types, asked.names.count}};
    sk_msg_put(&sk_msg_get_parameter_types_response_layout, &reply, c->reply);
    return SK_OK;
}

static sk_status describe(const call *c, const sk_param_about *about, sk_msg_parameter_descriptor *out,
                          sk_error *err)
{
    const sk_node_param *row = &about->row;
    out->name = sk_msg_text_of(row->name);
    out->type = (uint8_t)row->type;
    out->description = sk_msg_text_of(row->help);
    out->additional_constraints = sk_msg_text_of(row->choices ? row->choices + (row->choices[0] == '|') : "");
    out->read_only = !is_settable(row);
    if (row->least >= row->most || (row->type != SK_NODE_INT && row->type != SK_NODE_DOUBLE))
        return SK_OK;
    sk_msg_float_range *reals = sk_arena_alloc(c->arena, sizeof *reals);
    sk_msg_integer_range *ints = sk_arena_alloc(c->arena, sizeof *ints);
    if (!reals || !ints)
        return sk_fail_memory(err, sizeof *reals);
    *reals = (sk_msg_float_range){.from_value = row->least, .to_value = row->most};
    *ints =
        (sk_msg_integer_range){.from_value = (int64_t)row->least, .to_value = (int64_t)row->most, .step = 1};
    out->floating_point_range.items = reals;
    out->floating_point_range.count = row->type == SK_NODE_DOUBLE;
    out->integer_range.items = ints;
    out->integer_range.count = row->type == SK_NODE_INT;
    return SK_OK;
}

static sk_status answer_describe(const call *c, sk_cdr_reader *in, sk_error *err)
{
    sk_msg_parameter_names asked;
    sk_param_about about;
    SK_TRY(get_names(c, &sk_msg_describe_parameters_request_layout, in, &asked, err));
    sk_msg_parameter_descriptor *list = sk_arena_alloc(c->arena, (asked.names.count + 1) * sizeof *list);
    if (!list)
        return sk_fail_memory(err, asked.names.count * sizeof *list);
    for (size_t i = 0; i < asked.names.count; i++) {
        list[i].name = asked.names.items[i];
        if (about_of(c, asked.names.items[i], &about))
            SK_TRY(describe(c, &about, &list[i], err));
    }
    const sk_msg_parameter_descriptors reply = {.descriptors = {list, asked.names.count}};
    sk_msg_put(&sk_msg_describe_parameters_response_layout, &reply, c->reply);
    return SK_OK;
}

/* Ours have no '.' in them, so there is one level, and a prefix is a whole name. */
static sk_status answer_list(const call *c, sk_cdr_reader *in, sk_error *err)
{
    sk_msg_list_parameters asked;
    sk_msg_text names[SK_PARAM_MOST];
    sk_param_about about;
    size_t n = 0;
    SK_TRY(sk_msg_get(&sk_msg_list_parameters_request_layout, in, c->arena, &asked, err));
    for (int32_t i = 0; n < SK_PARAM_MOST && sk_params_at(c->owner->params, i, &about); i++) {
        bool meant = asked.prefixes.count == 0;
        for (size_t k = 0; k < asked.prefixes.count; k++)
            meant |= sk_msg_text_is(asked.prefixes.items[k], about.row.name);
        if (meant)
            names[n++] = sk_msg_text_of(about.row.name);
    }
    const sk_msg_list_parameters_response reply = {.result = {.names = {names, n}}};
    sk_msg_put(&sk_msg_list_parameters_response_layout, &reply, c->reply);
    return SK_OK;
}

/* --- changing --- */

static sk_status set_one(call *c, const sk_msg_parameter *asked, bool *anew, sk_error *err)
{
    const sk_msg_parameter_value *v = &asked->value;
    sk_param_about about;
    if (!about_of(c, asked->name, &about))
        return sk_fail(err, SK_ERR_NOT_FOUND, "the node has no parameter '%.60s'",
                       asked->name.length ? asked->name.data : "");
    if (!is_settable(&about.row))
        return sk_fail(err, SK_ERR_BUSY, "%s is what the node was started with: start it anew to change it",
                       about.row.name);
    const sk_param_value value = {.type = (sk_node_type)v->type,
                                  .truth = v->bool_value,
                                  .number = v->integer_value,
                                  .real = v->double_value,
                                  .text = v->string_value.length ? v->string_value.data : "",
                                  .list = v->integer_array_value.items,
                                  .count = v->integer_array_value.count};
    SK_TRY(sk_params_put(c->owner->params, about.row.name, &value, err));
    *anew |= !about.row.live;
    if (c->n_changed < SK_PARAM_MOST)
        c->changed[c->n_changed++] = sk_params_find(c->owner->params, about.row.name);
    return SK_OK;
}

static sk_status note(const call *c, sk_status status, const sk_error *problem,
                      sk_msg_set_parameters_result *out, sk_error *err)
{
    *out = (sk_msg_set_parameters_result){.successful = status == SK_OK};
    if (status == SK_OK)
        return SK_OK;
    char *reason = sk_arena_strdup(c->arena, problem->message);
    if (!reason)
        return sk_fail_memory(err, 1);
    out->reason = sk_msg_text_of(reason);
    return SK_OK;
}

/* All changes are made, then brought about at once; where that fails, or one of them does and they go together, none is. */
static sk_status set_all(call *c, const sk_msg_parameters *asked, bool together,
                         sk_msg_set_parameters_result *results, sk_error *err)
{
    sk_params *params = c->owner->params;
    sk_params_kept before;
    bool anew = false, failed = false;
    sk_error problem = {0}, first = {0};
    SK_TRY(sk_params_keep(params, &before, err));
    sk_status status = SK_OK;
    for (size_t i = 0; status == SK_OK && i < asked->parameters.count; i++) {
        const sk_status one = set_one(c, &asked->parameters.items[i], &anew, &problem);
        if (one != SK_OK && !failed)
            first = problem;
        failed |= one != SK_OK;
        status = note(c, one, &problem, &results[i], err);
    }
    sk_status applied = SK_OK;
    if (status == SK_OK && c->n_changed && !(together && failed))
        applied = c->owner->apply(c->owner->context, anew, &first);
    if (status != SK_OK || applied != SK_OK || (together && failed)) {
        sk_params_restore(params, &before);
        c->n_changed = 0;
        for (size_t i = 0; status == SK_OK && i < asked->parameters.count; i++)
            if (results[i].successful || together)
                status = note(c, SK_ERR_ARG, &first, &results[i], err);
    }
    sk_params_kept_free(&before);
    return status;
}

static sk_status answer_set(call *c, sk_cdr_reader *in, bool together, sk_error *err)
{
    sk_msg_parameters asked;
    SK_TRY(
        sk_msg_get(together ? &sk_msg_set_atomically_request_layout : &sk_msg_set_parameters_request_layout,
                   in, c->arena, &asked, err));
    const size_t n = asked.parameters.count;
    sk_msg_set_parameters_result *results = sk_arena_alloc(c->arena, (n + 1) * sizeof *results);
    if (!results)
        return sk_fail_memory(err, n * sizeof *results);
    results[0].successful = true; /* of none, all succeed */
    SK_TRY(set_all(c, &asked, together, results, err));
    const sk_msg_set_atomically_result one = {.result = results[0]};
    const sk_msg_set_parameters_results each = {.results = {results, n}};
    if (together)
        sk_msg_put(&sk_msg_set_atomically_response_layout, &one, c->reply);
    else
        sk_msg_put(&sk_msg_set_parameters_response_layout, &each, c->reply);
    return SK_OK;
}

static sk_status answer(call *c, sk_param_service service, sk_cdr_reader *in, sk_error *err)
{
    switch (service) {
    case SK_PARAM_DESCRIBE: return answer_describe(c, in, err);
    case SK_PARAM_GET_TYPES: return answer_types(c, in, err);
    case SK_PARAM_GET: return answer_get(c, in, err);
    case SK_PARAM_LIST: return answer_list(c, in, err);
    case SK_PARAM_SET: return answer_set(c, in, false, err);
    case SK_PARAM_SET_ATOMICALLY: return answer_set(c, in, true, err);
    default: return sk_fail(err, SK_ERR_ARG, "no such service");
    }
}

sk_status sk_param_answer(const sk_param_owner *owner, sk_param_service service, const void *request,
                          size_t bytes, sk_cdr_writer *reply, int32_t *changed, int32_t *n_changed,
                          sk_error *err)
{
    call c = {.owner = owner, .reply = reply, .changed = changed};
    sk_cdr_reader in;
    *n_changed = 0;
    SK_TRY(sk_cdr_reader_begin(&in, request, bytes, err));
    const uint64_t client = sk_cdr_get_u64(&in);
    const int64_t number = sk_cdr_get_i64(&in);
    SK_TRY(sk_cdr_reader_status(&in, err));
    SK_TRY(sk_arena_open(ARENA_CHUNK, &c.arena, err));
    sk_arena_limit(c.arena, ARENA_MOST);
    sk_cdr_writer_begin(reply);
    sk_cdr_put_u64(reply, client);
    sk_cdr_put_i64(reply, number);
    sk_status status = answer(&c, service, &in, err);
    if (status == SK_OK)
        status = sk_cdr_writer_status(reply, err);
    *n_changed = c.n_changed;
    sk_arena_close(&c.arena);
    return status;
}
