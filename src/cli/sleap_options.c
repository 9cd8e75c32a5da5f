/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sleap_options.h"

#include <string.h>

static float real(const sk_args *args, const char *name)
{
    return (float)sk_args_real(args, name);
}

sk_status sk_cli_read_sleap(const sk_args *args, sk_sleap_options *o, sk_error *err)
{
    const char *how = sk_args_text(args, "refinement");
    if (sk_args_given(args, "centroid-peak-threshold"))
        o->centroid_peak_threshold = real(args, "centroid-peak-threshold");
    o->refinement = strcmp(how, "none") == 0    ? SK_SLEAP_REFINE_NONE
                    : strcmp(how, "local") == 0 ? SK_SLEAP_REFINE_LOCAL
                                                : SK_SLEAP_REFINE_INTEGRAL;
    o->integral_patch_size = (int32_t)sk_args_int(args, "integral-patch-size");
    if (o->integral_patch_size % 2 == 0)
        return sk_fail(err, SK_ERR_ARG,
                       "--integral-patch-size %d: a patch has a peak in its middle; give an odd number",
                       (int)o->integral_patch_size);
    if (o->refinement != SK_SLEAP_REFINE_INTEGRAL && sk_args_given(args, "integral-patch-size"))
        return sk_fail(err, SK_ERR_ARG, "--integral-patch-size is for --refinement integral, not %s", how);
    o->max_edge_length_ratio = real(args, "max-edge-length-ratio");
    o->dist_penalty_weight = real(args, "dist-penalty-weight");
    o->n_points = (int32_t)sk_args_int(args, "n-points");
    o->min_line_scores = real(args, "min-line-scores");
    o->min_instance_peaks = real(args, "min-instance-peaks");
    const bool overlapping = sk_args_flag(args, "filter-overlapping");
    static const char *const with[] = {"filter-overlapping-method", "filter-overlapping-threshold"};
    for (int i = 0; i < 2; i++)
        if (!overlapping && sk_args_given(args, with[i]))
            return sk_fail(err, SK_ERR_ARG, "--%s does nothing without --filter-overlapping", with[i]);
    const bool oks = strcmp(sk_args_text(args, "filter-overlapping-method"), "oks") == 0;
    o->overlap = !overlapping ? SK_OVERLAP_KEEP : oks ? SK_OVERLAP_OKS : SK_OVERLAP_IOU;
    o->overlap_threshold = real(args, "filter-overlapping-threshold");
    o->min_visible_nodes = (int32_t)sk_args_int(args, "filter-min-visible-nodes");
    o->min_visible_node_fraction = real(args, "filter-min-visible-node-fraction");
    o->min_mean_node_score = real(args, "filter-min-mean-node-score");
    o->min_instance_score = real(args, "filter-min-instance-score");
    o->min_centroid_distance = real(args, "filter-min-centroid-distance");
    return SK_OK;
}
