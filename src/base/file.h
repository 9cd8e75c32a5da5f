/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_FILE_H
#define SK_BASE_FILE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Files and paths. Every error's text names the path. */

/* --- reading --- */

/* The whole file in memory (ended by sk_free), with a zero behind the last byte that *bytes does not count. A
 * file longer than `limit` bytes is SK_ERR_LIMIT; a missing one SK_ERR_NOT_FOUND; folders and devices are
 * SK_ERR_IO. */
sk_status sk_file_read(const char *path, size_t limit, char **data, size_t *bytes,
                       sk_error *err) SK_MUST_CHECK;

/* The file's bytes, mapped read-only, private, page-aligned; unmapped when the last reference to the blob
 * goes. The file must not be shortened meanwhile by anybody. An empty file gives a blob of no bytes. */
sk_status sk_file_map(const char *path, sk_blob **out, sk_error *err) SK_MUST_CHECK;

/* --- writing --- */

/* Puts these bytes in place of the file: whoever opens the path sees the old contents or the new, never a
 * part, also after a crash. Keeps an existing file's permissions. */
sk_status sk_file_replace(const char *path, const void *data, size_t bytes, sk_error *err) SK_MUST_CHECK;

/* The same for contents that are made piece by piece: write to sk_file_writer_stream, then commit; closing
 * without a commit removes the temporary file and leaves the old contents. */
typedef struct sk_file_writer sk_file_writer;
sk_status sk_file_writer_open(const char *path, sk_file_writer **out, sk_error *err) SK_MUST_CHECK;
FILE *sk_file_writer_stream(sk_file_writer *writer);
/* Where the bytes are until then; for libraries that want a path. Do not mix with the stream. */
const char *sk_file_writer_path(const sk_file_writer *writer);
/* Flushes to disk and renames. The writer is ended either way. */
sk_status sk_file_writer_commit(sk_file_writer **writer, sk_error *err) SK_MUST_CHECK;
void sk_file_writer_close(sk_file_writer **writer);

/* --- asking --- */
bool sk_file_exists(const char *path); /* of any kind */
bool sk_file_is_regular(const char *path);
bool sk_file_is_directory(const char *path);
int64_t sk_file_size(const char *path); /* -1 when it is no regular file */

/* --- paths; texts that must be freed by sk_free, null when memory is out --- */
char *sk_path_join(const char *folder, const char *name); /* an absolute name stands alone; "" is no folder */
char *sk_path_folder(const char *path);                   /* "a/b.pt" -> "a", "b.pt" -> ".", "/b" -> "/" */
char *sk_path_stem(const char *path);                     /* "a/b.tar.gz" -> "b.tar", "a/.x" -> ".x" */
char *sk_path_with_extension(const char *path, const char *extension); /* "a/b.mp4", ".csv" -> "a/b.csv" */
/* Borrowed from `path`. */
const char *sk_path_name(const char *path);                          /* "a/b.pt" -> "b.pt" */
const char *sk_path_extension(const char *path);                     /* "a/b.pt" -> ".pt", "" for none */
bool sk_path_has_extension(const char *path, const char *extension); /* ".PT" is ".pt" */

/* --- folders --- */

/* Makes the folder and its parents, as mkdir -p does. */
sk_status sk_folder_make(const char *path, sk_error *err) SK_MUST_CHECK;
/* skitter's own folders for this user, made if absent: SKITTER_CACHE_DIR, else $XDG_CACHE_HOME/skitter, else
 * ~/.cache/skitter; and SKITTER_CONFIG_DIR, $XDG_CONFIG_HOME/skitter, ~/.config/skitter. *out is ended by
 * sk_free. */
sk_status sk_folder_cache(char **out, sk_error *err) SK_MUST_CHECK;
sk_status sk_folder_config(char **out, sk_error *err) SK_MUST_CHECK;

#endif
