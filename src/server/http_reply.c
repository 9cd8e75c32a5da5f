/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sk_reply_init(sk_reply *reply)
{
    *reply = (sk_reply){.file = -1};
}

void sk_reply_free(sk_reply *reply)
{
    sk_text_free(&reply->text);
    sk_blob_unref(&reply->blob);
    if (reply->file >= 0)
        close(reply->file);
    reply->file = -1;
}

void sk_reply_header_add(sk_reply *reply, const char *name, const char *value)
{
    if (reply->n_headers == SK_REPLY_HEADERS)
        return;
    sk_reply_header *header = &reply->headers[reply->n_headers++];
    header->name = name;
    snprintf(header->value, sizeof header->value, "%s", value);
}

sk_json sk_reply_json(sk_reply *reply)
{
    reply->type = "application/json";
    return sk_json_to_text(&reply->text, 0);
}

int sk_reply_code_of(sk_status status)
{
    switch (status) {
    case SK_OK: return 200;
    case SK_ERR_ARG: return 400;
    case SK_ERR_NOT_FOUND: return 404;
    case SK_ERR_BUSY: return 409;
    case SK_ERR_LIMIT: return 413;
    case SK_ERR_FORMAT:
    case SK_ERR_UNSUPPORTED:
    case SK_ERR_MISMATCH:
    case SK_ERR_INCOMPLETE: return 422;
    case SK_ERR_MEMORY:
    case SK_ERR_CANCELLED:
    case SK_ERR_TIMEOUT: return 503;
    case SK_ERR_IO:
    case SK_ERR_RUNTIME:
    case SK_ERR_INTERNAL: break;
    }
    return 500;
}

void sk_reply_error(sk_reply *reply, const sk_error *error)
{
    const char *text = error->message[0] ? error->message : sk_status_text(error->code);
    const char *hint = strchr(text, '\n');
    const int code = reply->code >= 400 ? reply->code : sk_reply_code_of(error->code);
    sk_text_free(&reply->text);
    sk_blob_unref(&reply->blob);
    if (reply->file >= 0)
        close(reply->file);
    reply->file = -1;
    reply->bytes = NULL;
    reply->stream = reply->lasting = false;
    reply->code = code >= 400 ? code : 500;
    sk_json json = sk_reply_json(reply);
    sk_json_object(&json);
    sk_json_key_object(&json, "error");
    sk_json_key(&json, "message");
    sk_json_string_bytes(&json, text, hint ? (size_t)(hint - text) : strlen(text));
    sk_json_key_string(&json, "hint", hint && hint[1] ? hint + 1 : NULL);
    sk_json_close(&json);
    sk_json_close(&json);
    if (sk_json_end(&json, NULL) != SK_OK) { /* no memory for a sentence: the code alone says it */
        sk_text_free(&reply->text);
        reply->bytes = "{\"error\":{\"message\":\"out of memory\",\"hint\":null}}\n";
        reply->n_bytes = strlen(reply->bytes);
    }
}
