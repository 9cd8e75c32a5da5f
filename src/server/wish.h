/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_WISH_H
#define SK_SERVER_WISH_H

#include "server/inside.h"

/* A run as the page asks for it, {"command": "track", "settings": {"source": […], "model": […], "conf": 0.3, …}}, made into the
 * words of the command line that does the same. Every path is what it really is, and in a folder that may be used. */
typedef struct sk_wish {
    char *command; /* "track", "predict" */
    char **words;  /* behind the command; options as --name=value */
    int32_t n_words, capacity;
    char *source; /* the first */
    char *folder; /* the run's; null: not made yet */
    char *line;   /* as a person would type it */
} sk_wish;

/* *wish begins as {0} and is ended by sk_wish_free, also after a failure. `folder`: one is chosen where none is named, and made;
 * without, a run that names none has none. */
sk_status sk_wish_read(sk_server *server, const sk_config_value *root, bool folder, sk_wish *wish,
                       sk_error *err) SK_MUST_CHECK;
void sk_wish_free(sk_wish *wish);
/* Is there such an option, and may the page use it? */
bool sk_wish_takes(const sk_server *server, const char *command, const char *name);

sk_status sk_wish_add(sk_wish *wish, sk_error *err, const char *format, ...) SK_MUST_CHECK SK_PRINTF(3, 4);
/* The whole line, with the words quoted as a shell wants them. */
sk_status sk_wish_write_line(sk_wish *wish, sk_error *err) SK_MUST_CHECK;

#endif
