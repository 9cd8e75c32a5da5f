/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    sk_method method;
} methods[] = {{"GET", SK_METHOD_GET},
               {"POST", SK_METHOD_POST},
               {"PUT", SK_METHOD_PUT},
               {"DELETE", SK_METHOD_DELETE},
               {"HEAD", SK_METHOD_GET}};

const char *sk_method_name(sk_method method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i].method == method)
            return methods[i].name;
    return "?";
}

bool sk_method_find(const char *name, sk_method *out)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0) {
            *out = methods[i].method;
            return true;
        }
    return false;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes `length` bytes into `out`, which has room for them and a zero. False: not what a person's browser sends. */
static bool decode(const char *text, size_t length, bool plus, char *out)
{
    char *begin = out;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= length || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
                return false;
            c = (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if ((unsigned char)c < ' ' || c == 0x7f)
            return false;
        *out++ = c;
    }
    *out = '\0';
    const size_t n = (size_t)(out - begin);
    for (size_t at = 0; at < n;) {
        const size_t bytes = sk_text_utf8(begin + at, n - at);
        if (!bytes)
            return false;
        at += bytes;
    }
    return true;
}

/* No way up, no empty part but the last, and nothing that another program takes for a separator. */
static bool is_straight(const char *path)
{
    if (path[0] != '/' || strchr(path, '\\'))
        return false;
    for (const char *part = path + 1;;) {
        const size_t length = strcspn(part, "/");
        const bool last = !part[length];
        if ((length == 0 && !last) || (length == 1 && part[0] == '.') ||
            (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (last)
            return true;
        part += length + 1;
    }
}

static sk_status take_query(sk_request *r, const char *query, char *out, sk_error *err)
{
    while (*query) {
        const size_t length = strcspn(query, "&");
        if (length > 0) {
            if (r->n_query == SK_REQUEST_FIELDS)
                return sk_fail(err, SK_ERR_LIMIT, "the address has more than %d fields", SK_REQUEST_FIELDS);
            const size_t name = strcspn(query, "=&");
            const size_t value = name < length ? name + 1 : length;
            sk_request_field *field = &r->query[r->n_query++];
            field->name = out;
            if (!decode(query, name, true, out))
                return sk_fail(err, SK_ERR_ARG, "the address holds what is no text");
            out += strlen(out) + 1;
            field->value = out;
            if (!decode(query + value, length - value, true, out))
                return sk_fail(err, SK_ERR_ARG, "the address holds what is no text");
            out += strlen(out) + 1;
        }
        query += length + (query[length] == '&');
    }
    return SK_OK;
}

sk_status sk_request_target(sk_request *r, const char *target, sk_error *err)
{
    const size_t length = strnlen(target, SK_REQUEST_TARGET + 1);
    if (length > SK_REQUEST_TARGET)
        return sk_fail(err, SK_ERR_LIMIT, "the address is longer than %d bytes", SK_REQUEST_TARGET);
    const size_t path = strcspn(target, "?");
    /* decoding never lengthens; every field has two zeros */
    r->memory = sk_malloc(length + 2 * SK_REQUEST_FIELDS + 4);
    if (!r->memory)
        return sk_fail_memory(err, length);
    if (!decode(target, path, false, r->memory) || !is_straight(r->memory))
        return sk_fail(err, SK_ERR_ARG, "this is no address of a page or of the interface");
    r->path = r->memory;
    return target[path] ? take_query(r, target + path + 1, r->memory + strlen(r->memory) + 1, err) : SK_OK;
}

void sk_request_free(sk_request *r)
{
    sk_free_all(r->memory, r->part_memory);
    r->memory = r->part_memory = NULL;
}

const char *sk_request_query(const sk_request *r, const char *name)
{
    for (int32_t i = 0; i < r->n_query; i++)
        if (strcmp(r->query[i].name, name) == 0)
            return r->query[i].value;
    return NULL;
}

sk_status sk_request_query_int(const sk_request *r, const char *name, int64_t least, int64_t most,
                               int64_t fallback, int64_t *out, sk_error *err)
{
    const char *text = sk_request_query(r, name);
    *out = fallback;
    if (!text)
        return SK_OK;
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (text[0] == ' ' || end == text || *end || errno || value < least || value > most)
        return sk_fail(err, SK_ERR_ARG, "%s=%.40s: a whole number from %lld to %lld is wanted", name, text,
                       (long long)least, (long long)most);
    *out = value;
    return SK_OK;
}

sk_status sk_request_json(const sk_request *r, sk_config **out, sk_error *err)
{
    *out = NULL;
    const bool any = r->body && r->body_length;
    SK_TRY(sk_config_open_json(any ? r->body : "{}", any ? r->body_length : 2, "the request", out, err));
    if (sk_config_is(sk_config_root(*out), SK_CONFIG_MAP))
        return SK_OK;
    sk_config_close(out);
    return sk_fail(err, SK_ERR_ARG, "the request's body is to be a JSON object");
}

const char *sk_request_cookie(const char *header, const char *name, size_t *length)
{
    const size_t n = strlen(name);
    for (const char *at = header; at && *at;) {
        while (*at == ' ' || *at == ';')
            at++;
        const size_t all = strcspn(at, ";");
        if (all > n && strncmp(at, name, n) == 0 && at[n] == '=') {
            *length = all - n - 1;
            while (*length && at[n + *length] == ' ')
                --*length;
            return at + n + 1;
        }
        at += all;
    }
    return NULL;
}
