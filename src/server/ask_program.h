/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_ASK_PROGRAM_H
#define SK_SERVER_ASK_PROGRAM_H

#include "base/text.h"

#include <stdatomic.h>

/* Starts a program and takes what it says: for answers that come within a request, in a process of their own. */
typedef struct sk_program_answer {
    sk_text out, err, events; /* standard output, standard error, descriptor 3 */
    int status;               /* what waitpid said */
} sk_program_answer;

/* `words` is ended by null and begins with the program's name. *pid (may be null) is the process while it lives, else 0. An
 * answer that is longer than `most` bytes, or takes longer than `limit_ms`, is an error; *answer begins as {0} and is ended by
 * sk_program_answer_free. */
sk_status sk_program_ask(const char *program, char *const *words, int32_t limit_ms, size_t most,
                         _Atomic int64_t *pid, sk_program_answer *answer, sk_error *err) SK_MUST_CHECK;
void sk_program_answer_free(sk_program_answer *answer);

#endif
