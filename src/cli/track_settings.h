/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_TRACK_SETTINGS_H
#define SK_CLI_TRACK_SETTINGS_H

#include "app/track.h"
#include "app/track_config_run.h"
#include "base/text.h"
#include "cli/args.h"

/* How animals are followed, as the command line has it. */

#define SK_CLI_OPTIONS_TRACK                                                                                 \
    {.name = "animals",                                                                                      \
     .also = "max-animals",                                                                                  \
     .kind = SK_OPTION_INT,                                                                                  \
     .argument = "N",                                                                                        \
     .min = 1,                                                                                               \
     .max = 65536,                                                                                           \
     .help = "there are N animals: always N identities, never more; without it they may come and go"},       \
        {.name = "tracker",                                                                                  \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "WHICH",                                                                                \
         .choices = "skitter|bytetrack|ocsort",                                                              \
         .fallback = "skitter",                                                                              \
         .help = "how detections become tracks"},                                                            \
        {.name = "fps",                                                                                      \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "F",                                                                                    \
         .min = 0.001,                                                                                       \
         .max = 1000000,                                                                                     \
         .help = "frames a second, where neither the video nor the file of --detections says it right"},     \
        {.name = "looks",                                                                                    \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "HOW",                                                                                  \
         .choices = "on|off",                                                                                \
         .fallback = "off",                                                                                  \
         .help = "what animals look like, colour and texture, counts too: for those that differ; "           \
                 "docs/track.md says where it helps"},                                                       \
        {.name = "online",                                                                                   \
         .kind = SK_OPTION_FLAG,                                                                             \
         .help =                                                                                             \
             "tracks as they come, without the steps that look at the whole video afterwards; live sources " \
             "always are"},                                                                                  \
        {.name = "offline-steps",                                                                            \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "WHOSE",                                                                                \
         .choices = "skitter|upstream",                                                                      \
         .fallback = "skitter",                                                                              \
         .help = "how the passes forward and back become tracks: by one decision over the whole video, or "  \
                 "cleaned and merged as hydra-suite does"},                                                  \
        {.name = "no-report",                                                                                \
         .kind = SK_OPTION_FLAG,                                                                             \
         .help = "without report.html and plots/: trajectories, speeds, headings, doubtful moments"},        \
        {.name = "tell-covered",                                                                             \
         .kind = SK_OPTION_FLAG,                                                                             \
         .help = "also where animals should be while nothing is found of them: state covered"},              \
        {.name = "roi",                                                                                      \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "REGION",                                                                               \
         .repeat = 1,                                                                                        \
         .help =                                                                                             \
             "only animals whose centre is in x1,y1,x2,y2,x3,y3,… (a polygon), x1,y1,x2,y2 (a rectangle) " \
             "or circle:x,y,radius; ! in front: not there; may be given again"},                             \
        {.name = "roi-exclude",                                                                              \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "REGION",                                                                               \
         .repeat = 1,                                                                                        \
         .help = "as --roi with !"},                                                                         \
        {.name = "roi-mask",                                                                                 \
         .kind = SK_OPTION_FILE,                                                                             \
         .argument = "PICTURE",                                                                              \
         .help = "only where this picture of the frame's size is not black"},                                \
        {.name = "config",                                                                                   \
         .kind = SK_OPTION_FILE,                                                                             \
         .argument = "FILE",                                                                                 \
         .help =                                                                                             \
             "settings of the tracker from a JSON file, hydra-suite's or our own (docs/track.md); what is "  \
             "given on the command line counts more"},                                                       \
        {.name = "video-list",                                                                               \
         .kind = SK_OPTION_FILE,                                                                             \
         .argument = "FILE",                                                                                 \
         .help = "a text file with a video a line, as if it stood among the sources"},                       \
        {.name = "detector",                                                                                 \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "WHAT",                                                                                 \
         .choices = "model|background",                                                                      \
         .fallback = "model",                                                                                \
         .help = "what finds the animals: models, or, on a still background, what differs from it "          \
                 "(docs/background.md); a model then looks at crops of them"},                               \
        {.name = "pose",                                                                                     \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "on|off",                                                                               \
         .choices = "on|off",                                                                                \
         .fallback = "on",                                                                                   \
         .help = "off: a second model is left out, and only what is found is followed; the runtime is then " \
                 "chosen by the first alone"},                                                               \
        {.name = "crop-batch",                                                                               \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .min = 0,                                                                                           \
         .max = 64,                                                                                          \
         .fallback = "0",                                                                                    \
         .help = "crops, also of several frames, in one run of a second network; 0 means 8 on a GPU and 1 "  \
                 "on the processor"},                                                                        \
        {.name = "crop-turned",                                                                              \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "HOW",                                                                                  \
         .choices = "auto|on|off",                                                                           \
         .fallback = "auto",                                                                                 \
         .help = "crops for a second model lie along the animal where boxes are oriented; auto: but for "    \
                 "SLEAP's centered-instance models"},                                                        \
        {.name = "mask-neighbours",                                                                          \
         .also = "mask-neighbors",                                                                           \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "HOW",                                                                                  \
         .choices = "auto|on|off",                                                                           \
         .fallback = "auto",                                                                                 \
         .help = "other animals' boxes are black in those crops; auto: where boxes are oriented"},           \
        {.name = "detections",                                                                               \
         .kind = SK_OPTION_FILE,                                                                             \
         .argument = "FILE",                                                                                 \
         .help =                                                                                             \
             "follow what this file holds, in place of a model: results of skitter or of anybody, in every " \
             "format that 'skitter eval' reads; the video is needed for an overlay, and for a model that "   \
             "looks at crops of them"},                                                                      \
        {.name = "set",                                                                                      \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "KEY=VALUE",                                                                            \
         .repeat = 1,                                                                                        \
         .help = "a setting of the tracker, such as gate=3; docs/track.md lists them"},                      \
        {.name = "cache",                                                                                    \
         .kind = SK_OPTION_FOLDER,                                                                           \
         .argument = "DIR",                                                                                  \
         .help =                                                                                             \
             "where what was found is kept for another tracking; without it skitter's own cache folder"},    \
    {                                                                                                        \
        .name = "no-cache", .kind = SK_OPTION_FLAG, .help = "keep nothing, and compute anew"                 \
    }

typedef struct sk_track_door {
    sk_track_wish wish;
    const char *base; /* a configuration that --config is put over; null: none */
    /* What it points into: */
    sk_region *region;
    sk_text region_text;
} sk_track_door;

/* The arguments with what --config says about the run itself (app/track_config_run.h) where the person says nothing. `config` begins
 * as {0}, is what *out points into, and the caller's to free; *out stays null where there is no configuration. */
sk_status sk_cli_track_config_args(const sk_args *args, sk_track_config_run *config, sk_args **out,
                                   sk_error *err) SK_MUST_CHECK;
/* Begins as {0}; ended by sk_cli_track_close, after a failure, too. */
sk_status sk_cli_track_settings(const sk_args *args, sk_track_door *door, sk_error *err) SK_MUST_CHECK;
void sk_cli_track_close(sk_track_door *door);

#endif
