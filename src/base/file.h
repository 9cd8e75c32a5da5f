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

/* Opens a regular file for reading and says how long it is; *file is the caller's to close. Never waits: a named pipe,
 * a device, a socket or a folder is SK_ERR_IO with its kind in the text, a missing file SK_ERR_NOT_FOUND. Whatever
 * reads a file that a person names or that lies in a folder goes through here. */
sk_status sk_file_open(const char *path, int *file, int64_t *bytes, sk_error *err) SK_MUST_CHECK;
/* The same as a stream, ended by fclose. */
sk_status sk_file_open_stream(const char *path, FILE **out, sk_error *err) SK_MUST_CHECK;

/* The whole file in memory (ended by sk_free), with a zero behind the last byte that *bytes does not count. A
 * file longer than `limit` bytes is SK_ERR_LIMIT; other refusals as sk_file_open's. */
sk_status sk_file_read(const char *path, size_t limit, char **data, size_t *bytes,
                       sk_error *err) SK_MUST_CHECK;
/* For files that skitter itself has put into a folder where others may write too (caches, records): a link is not
 * followed, but is SK_ERR_IO. */
sk_status sk_file_read_own(const char *path, size_t limit, char **data, size_t *bytes,
                           sk_error *err) SK_MUST_CHECK;

/* The file's bytes, read into page-aligned memory that goes back to the system with the last reference to the blob.
 * Not mapped: whoever shortened the file meanwhile (a training run that saves again) would end this process. A file
 * that changes while it is read is SK_ERR_IO. An empty file gives a blob of no bytes. */
sk_status sk_file_load(const char *path, sk_blob **out, sk_error *err) SK_MUST_CHECK;

/* --- writing --- */

/* Opens, for writing or both, a file of skitter's own by open(2)'s `flags` (O_CREAT, O_TRUNC, O_APPEND … are added to
 * by O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC): what is planted at its path (a link, a pipe, a device) is refused before
 * a byte of it is changed. O_TRUNC replaces a file that has another name too, and leaves what is there by that name.
 * *file is the caller's to close. */
sk_status sk_file_open_own(const char *path, int flags, int *file, sk_error *err) SK_MUST_CHECK;
/* What helps after this error of writing, to end a message: "" or ". Make room and …". */
const char *sk_file_remedy(int code);
/* A new, empty file in place of what an earlier run left, as a stream for writing; refuses as sk_file_open_own. */
sk_status sk_file_create_stream(const char *path, FILE **out, sk_error *err) SK_MUST_CHECK;

/* Puts these bytes in place of the file: whoever opens the path sees the old contents or the new, never a
 * part, also after a crash. Keeps an existing file's permissions. A link at the path is replaced itself, what it
 * points at is not touched; a pipe, a device or a folder there is refused. */
sk_status sk_file_replace(const char *path, const void *data, size_t bytes, sk_error *err) SK_MUST_CHECK;
/* Whole or not at all as well, but without waiting for the disk: after a crash of the whole machine the file may be empty. For what
 * can be made again. Half of it is called PATH.part; who puts the file again after a kill writes over that. */
sk_status sk_file_put(const char *path, const void *data, size_t bytes, sk_error *err) SK_MUST_CHECK;
/* For files that people keep as links (their settings): the link stays, what it points at is replaced. */
sk_status sk_file_replace_linked(const char *path, const void *data, size_t bytes,
                                 sk_error *err) SK_MUST_CHECK;

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
/* One file, however the two paths are spelt: links are followed, a second name of it counts. Of two that are not there: would
 * they be one? */
bool sk_file_is_same(const char *path, const char *other);
/* Is this a file that is there, in the folder or below it? By where it lies and, of a link, by what it points at. */
bool sk_file_is_within(const char *path, const char *folder);

/* --- paths; texts that must be freed by sk_free, null when memory is out --- */
char *sk_path_join(const char *folder, const char *name); /* an absolute name stands alone; "" is no folder */
/* From the root: "../b.pt" -> "/home/me/b.pt", a link too by its own name; an absolute path is itself; one whose
 * folder is not there yet stands behind the working folder as it is. */
char *sk_path_absolute(const char *path);
char *sk_path_folder(const char *path); /* "a/b.pt" -> "a", "b.pt" -> ".", "/b" -> "/" */
char *sk_path_stem(const char *path);   /* "a/b.tar.gz" -> "b.tar", "a/.x" -> ".x" */
char *sk_path_with_extension(const char *path, const char *extension); /* "a/b.mp4", ".csv" -> "a/b.csv" */
/* Borrowed from `path`. */
const char *sk_path_name(const char *path);                          /* "a/b.pt" -> "b.pt" */
const char *sk_path_extension(const char *path);                     /* "a/b.pt" -> ".pt", "" for none */
bool sk_path_has_extension(const char *path, const char *extension); /* ".PT" is ".pt" */

/* --- folders --- */

/* The running program, and where it lies; null when that cannot be told. Ended by sk_free. */
char *sk_path_program(void);
char *sk_folder_program(void);

/* Makes the folder and its parents, as mkdir -p does. */
sk_status sk_folder_make(const char *path, sk_error *err) SK_MUST_CHECK;
/* One folder inside a folder of skitter's own: a link in its place, which would lead elsewhere, is refused. */
sk_status sk_folder_make_own(const char *path, sk_error *err) SK_MUST_CHECK;
/* Removes the files in such a folder, all or those with this ending (but for hidden ones), and the folder if nothing else is
 * in it. A link in its place is not followed. */
void sk_folder_empty_own(const char *path, const char *ending);
/* skitter's own folders for this user, made if absent: SKITTER_CACHE_DIR, else $XDG_CACHE_HOME/skitter, else
 * ~/.cache/skitter; and SKITTER_CONFIG_DIR, $XDG_CONFIG_HOME/skitter, ~/.config/skitter. A home that is not there is
 * not made, nor the folder an XDG one would lie in: SK_ERR_NOT_FOUND. *out is ended by sk_free. */
sk_status sk_folder_cache(char **out, sk_error *err) SK_MUST_CHECK;
sk_status sk_folder_config(char **out, sk_error *err) SK_MUST_CHECK;
/* Where models that come with skitter may lie beside the program: 0 as built, 1 as installed. Null past the last, or when
 * memory is out; ended by sk_free. */
char *sk_folder_models(int which);
/* Does the file lie in one of them? Nothing of a user's is written there. */
bool sk_path_is_shipped(const char *path);

#endif
