/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_COMMAND_H
#define SK_CLI_COMMAND_H

#include "cli/args.h"

/* One sub-command is one constant table in its own file, src/cli/cmd_<name>.c:
 *
 *     static const sk_operand operands[] = {{.name = "model", .kind = SK_OPTION_FILE, .help = "…"}, {0}};
 *     static const sk_option options[] = {
 *         {SK_FLAG("json"), .help = "one JSON object on standard output"},
 *         {SK_REAL("conf", "X", 0, 1), .letter = 'c', .fallback = "0.25", .help = "smallest confidence that is kept"},
 *         {0}};
 *     static const sk_example examples[] = {{"skitter info model.pt", "what the file holds"}, {0}};
 *     const sk_command sk_command_info = {.name = "info", …};
 *
 * and a line in commands.c. Parsing, --help, completion and the man page are all made from the table. */

/* What a value is: how it is checked, and what the shell completes. */
typedef enum sk_option_kind {
    SK_OPTION_FLAG = 1, /* no value; given or not */
    SK_OPTION_TEXT,
    SK_OPTION_INT,    /* decimal, within [min, max] */
    SK_OPTION_REAL,   /* decimal with '.', within [min, max]; never NaN or infinite */
    SK_OPTION_CHOICE, /* one of `choices` */
    SK_OPTION_FILE,   /* a path; existence is for the command to judge */
    SK_OPTION_FOLDER
} sk_option_kind;

/* What must be there for an option to mean anything (cli/applies.h). */
enum {
    SK_NEEDS_YOLO = 1,
    SK_NEEDS_SLEAP = 2,
    SK_NEEDS_OBB = 4,       /* a model of oriented boxes */
    SK_NEEDS_CPU = 8,       /* the cpu runtime */
    SK_NEEDS_OPENVINO = 16, /* OpenVINO, by itself or behind ONNX Runtime */
    SK_NEEDS_LIVE = 32,     /* a camera or stream */
    SK_NEEDS_VIDEO = 64,    /* something FFmpeg decodes: no pictures */
    SK_NEEDS_FILE = 128,    /* a source with an end */
    /* SLEAP models: */
    SK_NEEDS_PAFS = 256,            /* a bottom-up one */
    SK_NEEDS_SLEAP_POSES = 512,     /* one that finds more than centroids */
    SK_NEEDS_CENTROIDS = 1024,      /* a centroid model */
    SK_NEEDS_CENTROIDS_ONLY = 2048, /* … and nothing after it */
    SK_NEEDS_BAG = 4096             /* a bag of ROS 2 */
};
#define SK_NEEDS_OF_MODELS                                                                                   \
    (SK_NEEDS_YOLO | SK_NEEDS_SLEAP | SK_NEEDS_OBB | SK_NEEDS_PAFS | SK_NEEDS_SLEAP_POSES |                  \
     SK_NEEDS_CENTROIDS | SK_NEEDS_CENTROIDS_ONLY)
#define SK_NEEDS_OF_RUNTIMES (SK_NEEDS_CPU | SK_NEEDS_OPENVINO)
#define SK_NEEDS_OF_SOURCES  (SK_NEEDS_LIVE | SK_NEEDS_VIDEO | SK_NEEDS_FILE | SK_NEEDS_BAG)

typedef struct sk_option {
    const char *name; /* long name without dashes; a null name ends the table */
    const char *also; /* another spelling that is taken for it ("color"); not shown; may be null */
    char letter;      /* short name, or 0 */
    sk_option_kind kind;
    const char *argument; /* what help calls the value: "FILE"; not for flags */
    const char *fallback; /* the default as a person would type it; null = not given */
    const char *choices;  /* SK_OPTION_CHOICE: "cpu|cuda|onnx_cpu" */
    const char *alone;    /* SK_OPTION_CHOICE: the value where none of the choices follows; null = one must */
    const char *otherwise; /* a hint where the value is none that is taken; may be null */
    double min, max;       /* numbers: inclusive; both 0 = any */
    int repeat;            /* 1: may be given several times (sk_args_count, sk_args_at) */
    uint32_t needs;        /* SK_NEEDS_…; given without them it is refused */
    const char *instead;   /* the option that does this where the needs are not met; may be null */
    const char *help;      /* lower case, no full stop; the default is added by skitter */
} sk_option;

/* How a row of each kind begins: {SK_INT("rounds", "N", 0, 64), .fallback = "0", .help = "…"}. */
#define SK_FLAG(its_name)          .name = (its_name), .kind = SK_OPTION_FLAG
#define SK_TEXT(its_name, value)   .name = (its_name), .kind = SK_OPTION_TEXT, .argument = (value)
#define SK_FILE(its_name, value)   .name = (its_name), .kind = SK_OPTION_FILE, .argument = (value)
#define SK_FOLDER(its_name, value) .name = (its_name), .kind = SK_OPTION_FOLDER, .argument = (value)
#define SK_CHOICE(its_name, value, of)                                                                       \
    .name = (its_name), .kind = SK_OPTION_CHOICE, .argument = (value), .choices = (of)
#define SK_INT(its_name, value, least, most)                                                                 \
    .name = (its_name), .kind = SK_OPTION_INT, .argument = (value), .min = (least), .max = (most)
#define SK_REAL(its_name, value, least, most)                                                                \
    .name = (its_name), .kind = SK_OPTION_REAL, .argument = (value), .min = (least), .max = (most)

/* A positional argument, in order. At most one of them may be repeated; the others are taken around it. */
typedef struct sk_operand {
    const char *name; /* lower case; shown in capitals; read like an option: sk_args_text(args, "model") */
    sk_option_kind kind;
    const char *choices;
    int optional;
    int repeat; /* 1: one or more (with `optional`: none or more) */
    const char *help;
} sk_operand;

typedef struct sk_example {
    const char *command;
    const char *what; /* lower case, no full stop; may be null */
} sk_example;

typedef struct sk_command {
    const char *name;
    const char *summary;     /* one line, lower case, no full stop */
    const char *description; /* paragraphs parted by "\n\n", wrapped by skitter; may be null */
    const sk_operand *operands;
    const sk_option *options;
    const sk_example *examples; /* at least one */
    /* Prints its results on stdout (plain stdio; main reports write errors). A failure is the returned status with
     * err's text; a part of the text after '\n' is shown as a hint. Exit codes: see cli/cli.h. */
    sk_status (*run)(const sk_args *args, sk_error *err);
} sk_command;

/* Every command, ended by null (commands.c). */
extern const sk_command *const sk_commands[];

/* The options every command has: --help, --quiet, --verbose. */
extern const sk_option sk_common_options[];

const sk_command *sk_command_find(const char *name); /* null when there is none */
/* The heading that stands before this command in the overview; null where its group has begun before. */
const char *sk_command_heading(const sk_command *command);

/* The command's option, or the common one, of this long name; null when there is none. */
const sk_option *sk_command_option(const sk_command *command, const char *name, size_t length);

#endif
