/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SLEAP_OPTIONS_H
#define SK_CLI_SLEAP_OPTIONS_H

#include "cli/command.h"
#include "tasks/detector_settings.h"

/* SLEAP's settings of inference, by sleap-nn's names: rows for a command's table, and how they are read. */

#define SK_CLI_OPTIONS_SLEAP                                                                                 \
    {.name = "centroid-peak-threshold",                                                                      \
     .kind = SK_OPTION_REAL,                                                                                 \
     .argument = "X",                                                                                        \
     .max = 1,                                                                                               \
     .needs = SK_NEEDS_SLEAP | SK_NEEDS_CENTROIDS,                                                           \
     .help = "SLEAP: smallest confidence of a centroid; without it --peak-threshold"},                       \
        {.name = "refinement",                                                                               \
         .also = "integral-refinement",                                                                      \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "HOW",                                                                                  \
         .choices = "integral|local|none",                                                                   \
         .fallback = "integral",                                                                             \
         .needs = SK_NEEDS_SLEAP,                                                                            \
         .help = "SLEAP: peaks to fractions of a pixel; offsets that a legacy model learnt come first"},     \
        {.name = "integral-patch-size",                                                                      \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "5",                                                                                    \
         .min = 3,                                                                                           \
         .max = 15,                                                                                          \
         .needs = SK_NEEDS_SLEAP,                                                                            \
         .help = "SLEAP: side of the patch that integral refinement looks at, odd"},                         \
        {.name = "max-edge-length-ratio",                                                                    \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0.25",                                                                                 \
         .max = 1000,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: edges longer than this part of the picture are penalised"},               \
        {.name = "dist-penalty-weight",                                                                      \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "1",                                                                                    \
         .max = 1000,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: how strictly"},                                                           \
        {.name = "n-points",                                                                                 \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "10",                                                                                   \
         .min = 2,                                                                                           \
         .max = 1000,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: samples along an edge"},                                                  \
        {.name = "min-line-scores",                                                                          \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0.25",                                                                                 \
         .min = -1,                                                                                          \
         .max = 1,                                                                                           \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help = "SLEAP bottom-up: edges that score less are dropped"},                                      \
        {.name = "min-instance-peaks",                                                                       \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 1024,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_PAFS,                                                            \
         .help =                                                                                             \
             "SLEAP bottom-up: animals with fewer peaks are dropped; up to 1 it is a part of the nodes"},    \
        {.name = "filter-overlapping",                                                                       \
         .kind = SK_OPTION_FLAG,                                                                             \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: of two poses in one place keep the better"},                                        \
        {.name = "filter-overlapping-method",                                                                \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "M",                                                                                    \
         .choices = "iou|oks",                                                                               \
         .fallback = "iou",                                                                                  \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "… by the boxes around them, or by their nodes"},                                           \
        {.name = "filter-overlapping-threshold",                                                             \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0.8",                                                                                  \
         .max = 1,                                                                                           \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "… that overlap by more than this"},                                                        \
        {.name = "filter-min-visible-nodes",                                                                 \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 1024,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: drop poses with fewer nodes found"},                                                \
        {.name = "filter-min-visible-node-fraction",                                                         \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 1,                                                                                           \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: … with a smaller part of their nodes found"},                                       \
        {.name = "filter-min-mean-node-score",                                                               \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 1000,                                                                                        \
         .needs = SK_NEEDS_SLEAP | SK_NEEDS_SLEAP_POSES,                                                     \
         .help = "SLEAP: … with a lower mean score of the nodes found"},                                     \
        {.name = "filter-min-instance-score",                                                                \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 1000,                                                                                        \
         .needs = SK_NEEDS_SLEAP,                                                                            \
         .help = "SLEAP: … with a lower score"},                                                             \
    {                                                                                                        \
        .name = "filter-min-centroid-distance", .kind = SK_OPTION_REAL, .argument = "PX", .fallback = "0",   \
        .max = 1e6, .needs = SK_NEEDS_SLEAP | SK_NEEDS_CENTROIDS_ONLY,                                       \
        .help = "SLEAP centroids alone: drop one this close to a better one"                                 \
    }

/* Reads them; SK_ERR_ARG where two contradict each other. */
sk_status sk_cli_read_sleap(const sk_args *args, sk_sleap_options *out, sk_error *err) SK_MUST_CHECK;

#endif
