/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/config_build.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

/* An anchored value and how many values it would be if written out: aliases cost nothing to keep, but
 * whoever walks the tree pays for the expansion, so that is what is bounded. */
typedef struct {
    char *name;
    const sk_config_value
        *value; /* null while its container is still open: an alias to it would be a cycle */
    size_t weight;
} anchor;

typedef struct {
    sk_config *config;
    yaml_parser_t parser;
    anchor *anchors;
    size_t n_anchors, anchors_capacity;
    size_t n_aliases;
} reader;

static sk_status parser_problem(reader *r, sk_error *err)
{
    if (r->parser.error == YAML_MEMORY_ERROR)
        return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory while reading YAML", r->config->what);
    return sk_fail(err, SK_ERR_FORMAT, "%s: not valid YAML (line %zu, column %zu): %s", r->config->what,
                   r->parser.problem_mark.line + 1, r->parser.problem_mark.column + 1,
                   r->parser.problem ? r->parser.problem : "unreadable");
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

/* 0x1F, 0b101, 017 and 1_000. The caller has excluded plain decimals. */
static bool parse_based_integer(const char *text, sk_config_value *out)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
        base = text[1] == 'x' ? 16 : 2;
        text += 2;
    } else if (text[0] == '0' && text[1]) {
        base = 8;
        text++;
    } else if (*text < '0' || *text > '9') {
        return false;
    }
    uint64_t value = 0;
    int digits = 0;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        int lower = *text | 0x20;
        int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : 99;
        if (digit >= base || value > (uint64_t)INT64_MAX / 16)
            return false;
        value = value * (uint64_t)base + (uint64_t)digit;
        digits++;
    }
    if (!digits)
        return false;
    out->kind = SK_CONFIG_INT;
    out->u.integer = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool parse_special_float(const char *text, sk_config_value *out)
{
    static const char *const nan_words[] = {".nan", ".NaN", ".NAN", NULL};
    static const char *const inf_words[] = {".inf", ".Inf", ".INF", NULL};
    bool negative = *text == '-';
    const char *unsigned_text = text + (*text == '-' || *text == '+');
    if (is_one_of(text, nan_words))
        out->u.real = NAN;
    else if (is_one_of(unsigned_text, inf_words))
        out->u.real = negative ? -INFINITY : INFINITY;
    else
        return false;
    out->kind = SK_CONFIG_REAL;
    return true;
}

/* Types a plain scalar; false leaves it a string. */
static bool resolve_plain(const char *text, size_t length, sk_config_value *out)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", "no",  "No",
                                         "NO",    "off",   "Off",   "OFF", NULL};
    if (strlen(text) != length)
        return false;
    if (is_one_of(text, nulls)) {
        out->kind = SK_CONFIG_NULL;
        return true;
    }
    if (is_one_of(text, trues) || is_one_of(text, falses)) {
        out->kind = SK_CONFIG_BOOL;
        out->u.boolean = is_one_of(text, trues);
        return true;
    }
    const char *digits = text + (*text == '-' || *text == '+');
    /* 017 is octal and 08 text, unlike 0.5 and 0e1. */
    bool zero_led = digits[0] == '0' && digits[1] && strspn(digits, "0123456789_") == strlen(digits);
    if (!zero_led && sk_config_parse_number(text, length, out))
        return true;
    return parse_based_integer(text, out) || parse_special_float(text, out);
}

static sk_status read_scalar(reader *r, const yaml_event_t *event, sk_config_value **out, sk_error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const char *tag = (const char *)event->data.scalar.tag;
    static const char *const typed[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG, NULL};
    bool resolve = tag ? is_one_of(tag, typed) : event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    sk_config_value typed_value = {0};
    if (!resolve || !resolve_plain(text, length, &typed_value))
        return sk_config_string(r->config, text, length, out, err);
    SK_TRY(sk_config_node(r->config, typed_value.kind, out, err));
    (*out)->u = typed_value.u;
    return SK_OK;
}

static sk_status open_anchor(reader *r, const yaml_char_t *name, size_t *index, sk_error *err)
{
    *index = SIZE_MAX;
    if (!name)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&r->anchors, &r->anchors_capacity, r->n_anchors + 1, sizeof *r->anchors,
                            SK_CONFIG_MAX_ALIASES, err));
    char *copy = sk_arena_strdup(r->config->arena, (const char *)name);
    if (!copy)
        return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory while reading YAML", r->config->what);
    *index = r->n_anchors;
    r->anchors[r->n_anchors++] = (anchor){copy, NULL, 0};
    return SK_OK;
}

static sk_status read_alias(reader *r, const yaml_event_t *event, const sk_config_value **out, size_t *weight,
                            sk_error *err)
{
    const char *name = (const char *)event->data.alias.anchor;
    const size_t line = event->start_mark.line + 1, column = event->start_mark.column + 1;
    if (++r->n_aliases > SK_CONFIG_MAX_ALIASES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: more than %zu YAML aliases (line %zu, column %zu)",
                       r->config->what, SK_CONFIG_MAX_ALIASES, line, column);
    for (size_t i = r->n_anchors; i-- > 0;) {
        if (strcmp(r->anchors[i].name, name) != 0)
            continue;
        if (!r->anchors[i].value)
            return sk_fail(err, SK_ERR_FORMAT,
                           "%s: the YAML alias *%s (line %zu, column %zu) points into itself",
                           r->config->what, name, line, column);
        *out = r->anchors[i].value;
        *weight = r->anchors[i].weight;
        return SK_OK;
    }
    return sk_fail(err, SK_ERR_FORMAT, "%s: the YAML alias *%s (line %zu, column %zu) has no anchor",
                   r->config->what, name, line, column);
}

static sk_status read_value(reader *r, const yaml_event_t *event, int depth, const sk_config_value **out,
                            size_t *weight, sk_error *err);

/* Reads values until the container's end event. */
static sk_status read_container(reader *r, yaml_mark_t begin, yaml_event_type_t end, int depth,
                                sk_config_value **out, size_t *weight, sk_error *err)
{
    if (depth > SK_CONFIG_MAX_DEPTH)
        return sk_fail(err, SK_ERR_LIMIT, "%s: nested deeper than %d levels (line %zu, column %zu)",
                       r->config->what, SK_CONFIG_MAX_DEPTH, begin.line + 1, begin.column + 1);
    sk_status status = SK_OK;
    sk_config_gather gather = {0};
    *weight = 1;
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            status = parser_problem(r, err);
            goto done;
        }
        if (event.type == end) {
            yaml_event_delete(&event);
            break;
        }
        const sk_config_value *item = NULL;
        size_t item_weight = 0;
        const yaml_mark_t at = event.start_mark;
        status = read_value(r, &event, depth, &item, &item_weight, err);
        yaml_event_delete(&event);
        if (status != SK_OK)
            goto done;
        *weight += item_weight; /* both are at most the limit */
        if (*weight > SK_CONFIG_MAX_NODES) {
            status = sk_fail(err, SK_ERR_LIMIT,
                             "%s: its YAML aliases expand to more than %zu values (line %zu, column %zu)",
                             r->config->what, SK_CONFIG_MAX_NODES, at.line + 1, at.column + 1);
            goto done;
        }
        SK_TRY_GOTO(sk_config_gather_add(&gather, item, err));
    }
    status = end == YAML_MAPPING_END_EVENT ? sk_config_finish_map(r->config, &gather, out, err)
                                           : sk_config_finish_list(r->config, &gather, out, err);
done:
    sk_config_gather_free(&gather);
    return status;
}

static uint32_t position(size_t counted)
{
    return counted < UINT32_MAX ? (uint32_t)counted + 1 : UINT32_MAX;
}

static sk_status read_value(reader *r, const yaml_event_t *event, int depth, const sk_config_value **out,
                            size_t *weight, sk_error *err)
{
    size_t anchored = SIZE_MAX;
    sk_config_value *value = NULL;
    *weight = 1;
    switch (event->type) {
    case YAML_ALIAS_EVENT: return read_alias(r, event, out, weight, err);
    case YAML_SCALAR_EVENT:
        SK_TRY(open_anchor(r, event->data.scalar.anchor, &anchored, err));
        SK_TRY(read_scalar(r, event, &value, err));
        break;
    case YAML_SEQUENCE_START_EVENT:
        SK_TRY(open_anchor(r, event->data.sequence_start.anchor, &anchored, err));
        SK_TRY(read_container(r, event->start_mark, YAML_SEQUENCE_END_EVENT, depth + 1, &value, weight, err));
        break;
    case YAML_MAPPING_START_EVENT:
        SK_TRY(open_anchor(r, event->data.mapping_start.anchor, &anchored, err));
        SK_TRY(read_container(r, event->start_mark, YAML_MAPPING_END_EVENT, depth + 1, &value, weight, err));
        break;
    default: return sk_fail(err, SK_ERR_FORMAT, "%s: unexpected YAML structure", r->config->what);
    }
    value->line = position(event->start_mark.line);
    value->column = position(event->start_mark.column);
    if (anchored != SIZE_MAX) {
        r->anchors[anchored].value = value;
        r->anchors[anchored].weight = *weight;
    }
    *out = value;
    return SK_OK;
}

static sk_status read_document(reader *r, sk_error *err)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return parser_problem(r, err);
        sk_status status = SK_OK;
        bool ended = false;
        if (event.type == YAML_STREAM_END_EVENT) {
            sk_config_value *empty; /* an empty file is null, as for PyYAML */
            status = sk_config_node(r->config, SK_CONFIG_NULL, &empty, err);
            r->config->root = status == SK_OK ? empty : NULL;
            ended = true;
        } else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT) {
            size_t weight;
            status = read_value(r, &event, 0, &r->config->root, &weight, err);
            ended = true;
        }
        yaml_event_delete(&event);
        if (status != SK_OK || ended)
            return status;
    }
}

/* Behind the document there must be nothing more. */
static sk_status read_end(reader *r, sk_error *err)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return parser_problem(r, err);
        const yaml_event_type_t type = event.type;
        const size_t line = event.start_mark.line + 1, column = event.start_mark.column + 1;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT)
            return SK_OK;
        if (type == YAML_DOCUMENT_START_EVENT)
            return sk_fail(err, SK_ERR_FORMAT, "%s: a second YAML document begins (line %zu, column %zu)",
                           r->config->what, line, column);
    }
}

static sk_status open_yaml(const char *text, size_t length, const char *what, bool alone, sk_config **out,
                           sk_error *err)
{
    SK_CHECK_ARG(text && what && out, err);
    *out = NULL;
    reader r = {0};
    SK_TRY(sk_config_create(length, what, &r.config, err));
    sk_status status;
    if (!yaml_parser_initialize(&r.parser)) {
        sk_config_close(&r.config);
        return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory while reading YAML", what);
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    status = read_document(&r, err);
    if (status == SK_OK && alone)
        status = read_end(&r, err);
    yaml_parser_delete(&r.parser);
    sk_free(r.anchors);
    if (status == SK_OK) {
        *out = r.config;
        r.config = NULL;
    }
    sk_config_close(&r.config);
    return status;
}

sk_status sk_config_open_yaml(const char *text, size_t length, const char *what, sk_config **out,
                              sk_error *err)
{
    return open_yaml(text, length, what, false, out, err);
}

sk_status sk_config_open_yaml_alone(const char *text, size_t length, const char *what, sk_config **out,
                                    sk_error *err)
{
    return open_yaml(text, length, what, true, out, err);
}
