/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_ARGS_H
#define SK_CLI_ARGS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The arguments of one command, checked against its table. Values are borrowed from argv and the table. */
typedef struct sk_args sk_args;
struct sk_command;

/* Understands --opt value, --opt=value, -o value, -ovalue, clustered flags (-qv), `--`, and operands anywhere.
 * A mistake is SK_ERR_ARG, its text naming the argument, with a hint after '\n'. */
sk_status sk_args_parse(const struct sk_command *command, int argc, const char *const *argv, sk_args **out,
                        sk_error *err) SK_MUST_CHECK;
void sk_args_close(sk_args **args);
/* A copy with more values, as if the person had written them. They are borrowed, and not checked again. */
typedef struct sk_args_more {
    const char *name, *text;
} sk_args_more;
sk_status sk_args_with(const sk_args *args, const sk_args_more *more, size_t count, sk_args **out,
                       sk_error *err) SK_MUST_CHECK;

/* Access by the name of an option or operand in the command's table (or of a common option). Asking for a name that
 * is not in the table is a bug in the command and ends the program. Where an option was given several times, the
 * last value counts, except through count/at. */
const char *sk_args_text(const sk_args *args, const char *name); /* null: not given and no default */
int64_t sk_args_int(const sk_args *args, const char *name);      /* 0: not given and no default */
double sk_args_real(const sk_args *args, const char *name);      /* likewise */
int sk_args_flag(const sk_args *args, const char *name);         /* how often it was given */
int sk_args_given(const sk_args *args, const char *name); /* 1: the person wrote it; defaults do not count */
size_t sk_args_count(const sk_args *args, const char *name); /* values written by the person */
const char *sk_args_at(const sk_args *args, const char *name, size_t index);

const struct sk_command *sk_args_command(const sk_args *args);

#endif
