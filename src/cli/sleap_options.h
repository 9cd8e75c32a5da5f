/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SLEAP_OPTIONS_H
#define SK_CLI_SLEAP_OPTIONS_H

#include "cli/command.h"
#include "tasks/detector_settings.h"

/* SLEAP's settings of inference, by sleap-nn's names: rows for a command's table, and how they are read. */

#define SK_CLI_OPTIONS_SLEAP                                                                                 \
    {SK_REAL("centroid-peak-threshold", "X", 0, 1), .needs = SK_NEEDS_SLEAP | SK_NEEDS_CENTROIDS,            \
     .help = "SLEAP: smallest confidence of a centroid; without it --peak-threshold"},                       \
        {SK_CHOICE("refinement", "HOW", "integral|local|none"), .also = "integral-refinement",               \
         .fallback = "integral", .needs = SK_NEEDS_SLEAP,                                                    \
         .help = "SLEAP: peaks to fractions of a pixel; offsets that a legacy model learnt come first"},     \
        {SK_INT("integral-patch-size", "N", 3, 15), .fallback = "5", .needs = SK_NEEDS_SLEAP,                \
         .help = "SLEAP: side of the patch that integral refinement looks at, odd"},                         \
        {SK_REAL("max-edge-length-ratio", "X", 0, 1000), .fallback = "0.25",                                 \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: edges longer than this part of the picture are penalised"},               \
        {SK_REAL("dist-penalty-weight", "X", 0, 1000), .fallback = "1",                                      \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS, .help = "SLEAP bottom-up: how strictly"},                  \
        {SK_INT("n-points", "N", 2, 1000), .fallback = "10", .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,        \
         .help = "SLEAP bottom-up: samples along an edge"},                                                  \
        {SK_REAL("min-line-scores", "X", -1, 1), .fallback = "0.25",                                         \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: edges that score less are dropped"},                                      \
        {SK_REAL("min-instance-peaks", "X", 0, 1024), .fallback = "0",                                       \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help =                                                                                             \
             "SLEAP bottom-up: animals with fewer peaks are dropped; up to 1 it is a part of the nodes"},    \
        {SK_FLAG("filter-overlapping"), .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                      \
         .help = "SLEAP: of two poses in one place keep the better"},                                        \
        {SK_CHOICE("filter-overlapping-method", "M", "iou|oks"), .fallback = "iou",                          \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "… by the boxes around them, or by their nodes"},                                           \
        {SK_REAL("filter-overlapping-threshold", "X", 0, 1), .fallback = "0.8",                              \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES, .help = "… that overlap by more than this"},        \
        {SK_INT("filter-min-visible-nodes", "N", 0, 1024), .fallback = "0",                                  \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: drop poses with fewer nodes found"},                                                \
        {SK_REAL("filter-min-visible-node-fraction", "X", 0, 1), .fallback = "0",                            \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: … with a smaller part of their nodes found"},                                       \
        {SK_REAL("filter-min-mean-node-score", "X", 0, 1000), .fallback = "0",                               \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: … with a lower mean score of the nodes found"},                                     \
        {SK_REAL("filter-min-instance-score", "X", 0, 1000), .fallback = "0", .needs = SK_NEEDS_SLEAP,       \
         .help = "SLEAP: … with a lower score"},                                                             \
    {                                                                                                        \
        SK_REAL("filter-min-centroid-distance", "PX", 0, 1e6),                                               \
            .fallback = "0", .needs = SK_NEEDS_SLEAP | SK_NEEDS_CENTROIDS_ONLY,                              \
            .help = "SLEAP centroids alone: drop one this close to a better one"                             \
    }

/* Reads them; SK_ERR_ARG where two contradict each other. */
sk_status sk_cli_read_sleap(const sk_args *args, sk_sleap_options *out, sk_error *err) SK_MUST_CHECK;

#endif
