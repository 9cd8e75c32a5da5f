/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/artifact_table.h"

#include "base/text.h"
#include "cli/cli.h"

#include <stdio.h>

void sk_cli_print_artifact_json(sk_json *j, const sk_artifact_row *r, const char *did)
{
    sk_json_object(j);
    sk_json_key_strings(j, {"path", r->path},
                        {"state", r->orphan ? "orphan" : sk_artifact_state_name(r->state)},
                        {"reason", r->why});
    sk_json_key_int(j, "bytes", r->bytes);
    sk_json_key_bool(j, "in_cache", r->in_cache);
    if (r->state != SK_ARTIFACT_USER) {
        const sk_artifact_key *k = &r->record.key;
        sk_json_key_string(j, "model", r->record.model);
        sk_json_key_string(j, "form", k->form);
        sk_json_key_ints(j, {"batch", k->batch}, {"height", k->height}, {"width", k->width});
        sk_json_key_strings(j, {"precision", k->precision}, {"architecture", k->architecture},
                            {"library", k->library}, {"skitter", k->version}, {"made", r->record.made});
        sk_json_key_array(j, "checks");
        for (int32_t i = 0; i < r->record.n_checks; i++) {
            sk_json_object(j);
            sk_json_key_string(j, "runtime", r->record.checks[i].runtime);
            sk_json_key_string(j, "library", r->record.checks[i].library);
            sk_json_key_float(j, "pcc", r->record.checks[i].pcc);
            sk_json_key_float(j, "max_difference", r->record.checks[i].max_difference);
            sk_json_close(j);
        }
        sk_json_close(j);
    }
    sk_json_key_bool(j, "exported", r->record.exported);
    sk_json_key_bool(j, "stranger", r->stranger);
    if (did)
        sk_json_key_string(j, "done", did);
    sk_json_close(j);
}

void sk_cli_print_artifact(const sk_artifact_row *r, const char *did)
{
    char size[SK_TEXT_UNIT], shape[48] = "";
    const sk_artifact_key *k = &r->record.key;
    if (r->state != SK_ARTIFACT_USER && k->dynamic_size)
        snprintf(shape, sizeof shape, "any size %s", k->precision);
    else if (r->state != SK_ARTIFACT_USER)
        snprintf(shape, sizeof shape, "%dx%dx%d %s", k->batch, k->height, k->width, k->precision);
    printf("%-10s %-18s %9s  %s%s%s\n",
           did                                                   ? did
           : r->orphan                                           ? "orphan"
           : r->unread                                           ? "unread"
           : r->state == SK_ARTIFACT_FRESH && r->record.exported ? "exported"
                                                                 : sk_artifact_state_name(r->state),
           shape, sk_text_bytes((double)r->bytes, size, sizeof size), r->path, r->why[0] ? ": " : "", r->why);
}
