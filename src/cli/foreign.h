/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_FOREIGN_H
#define SK_CLI_FOREIGN_H

#include "base/text.h"
#include "cli/command.h"

/* Words of Ultralytics (yolo, YOLOv5's scripts), SLEAP (sleap-track) and sleap-nn, and what is written here instead.
 * Every command's parser asks this table before it says that it does not know a word. */
typedef struct sk_foreign {
    const char *word; /* theirs: lower case, dashes for underscores, without dashes before it */
    /* What is written here; "%s" stands for the value. "" for what needs no word here; null: there is nothing like it. */
    const char *write;
    const char
        *say; /* a sentence for the person, lower case, no full stop; may be null where `write` says it all */
} sk_foreign;

extern const sk_foreign sk_foreign_options[];  /* ended by a null word */
extern const sk_foreign sk_foreign_commands[]; /* `write` is our command */

/* The row for a word in any spelling (--Peak_Threshold=0.3 and peak-threshold find the same); null: none. */
const sk_foreign *sk_foreign_find(const sk_foreign *table, const char *word, size_t length);

/* SK_ERR_ARG for an option that `command` does not have, with the right word as the hint; SK_OK when the table does not know
 * it either. `value` is what seems to be its value; null: none. */
sk_status sk_foreign_refuse(const sk_command *command, const char *word, size_t length, const char *value,
                            sk_error *err) SK_MUST_CHECK;

/* Is this an argument as Ultralytics writes them, key=value, with a key that somebody knows? Paths that exist are not. */
bool sk_foreign_is_pair(const sk_command *command, const char *word);
/* SK_ERR_ARG that shows the whole command as it is written here. */
sk_status sk_foreign_refuse_pairs(const sk_command *command, int argc, const char *const *argv,
                                  sk_error *err);

#endif
