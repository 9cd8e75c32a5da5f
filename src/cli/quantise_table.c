/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/quantise_table.h"

#include "base/text.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static void print_layers(const sk_quantize_report *r)
{
    printf("%-40s %-5s %9s %9s %11s\n", "layer", "in", "error", "weights", "hurts");
    for (int32_t i = 0; i < r->n_rows; i++) {
        const sk_quantize_row *row = &r->rows[i];
        printf("%-40.40s %-5s %8.3f%% %8.3f%%", row->name,
               row->kept                                ? "f32"
               : strcmp(r->about.precision, "fp8") == 0 ? "fp8"
                                                        : "i8",
               row->error * 100, row->weight_error * 100);
        if (row->sensitivity > 0)
            printf(" %10.4f%%", row->sensitivity * 100);
        printf("\n");
    }
}

sk_status sk_cli_print_quantised_json(const sk_quantize_report *r, sk_error *err)
{
    sk_json j = sk_json_to_file(stdout, 2);
    sk_quantize_report_json(r, &j);
    return sk_json_end(&j, err);
}

/* Rows are of those that could be in eight bits; the others have none. */
static void print_convolutions(const sk_quantize_report *r)
{
    int32_t hurt = 0;
    for (int32_t i = 0; i < r->n_rows; i++)
        hurt += r->rows[i].kept;
    printf("%d convolutions in eight bits, %d in f32", r->about.layers, r->about.kept);
    if (hurt > 0 && r->about.kept > hurt)
        printf(" (%d that hurt most, %d that cannot be, as the first and each head's last)", hurt,
               r->about.kept - hurt);
    else if (hurt > 0)
        printf(" (those that hurt most)");
    else if (r->about.kept > 0)
        printf(" (that cannot be, as the first and each head's last)");
}

void sk_cli_print_quantised(const char *output, const sk_quantize_report *r, bool layers)
{
    char size[32], text[SK_QUANTISED_TEXT];
    int32_t worst = 0;
    for (int32_t i = 1; i < r->n_rows; i++)
        if (r->rows[i].error > r->rows[worst].error)
            worst = i;
    if (layers)
        print_layers(r);
    printf("%s: %s, %s, ", output, sk_text_bytes((double)r->bytes, size, sizeof size), r->about.precision);
    print_convolutions(r);
    if (r->about.frames < r->asked)
        printf(", %d of the %d frames asked for, %.1f s\n", r->about.frames, r->asked, r->seconds);
    else
        printf(", %d frames, %.1f s\n", r->about.frames, r->seconds);
    printf("on other frames (%s): %s\n", r->about.measured_by, sk_quantised_text(&r->about, text));
    if (r->truth_of[0])
        printf("against the truth, %s: AP %.4f in f32, %.4f in eight bits; AP50 %.4f, %.4f\n", r->truth_of,
               r->truth[0].ap, r->truth[1].ap, r->truth[0].ap50, r->truth[1].ap50);
    if (r->truth_of[0] && r->truth[0].median_px >= 0)
        printf("keypoints' median distance %.2f px in f32, %.2f px in eight bits\n", r->truth[0].median_px,
               r->truth[1].median_px);
    printf("lowest correlation of a head with f32 %.6f; the layer farthest off is %s, by %.2f %%\n",
           r->correlation, r->n_rows ? r->rows[worst].name : "none",
           r->n_rows ? r->rows[worst].error * 100 : 0);
}
