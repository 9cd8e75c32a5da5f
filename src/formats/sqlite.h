/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_SQLITE_H
#define SK_FORMATS_SQLITE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Inside formats/: SQLite 3, loaded when the first such file is opened; what is used of it is declared here, so that the build
 * needs no headers of it. Its interface has been the same since 2009. */

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

#define SK_SQLITE_FUNCTIONS(F)                                                                               \
    F(int, open_v2, (const char *name, sqlite3 **out, int flags, const char *vfs))                           \
    F(int, close_v2, (sqlite3 * database))                                                                   \
    F(const char *, errmsg, (sqlite3 * database))                                                            \
    F(int, exec, (sqlite3 * database, const char *sql, void *callback, void *context, char **message))       \
    F(int, limit, (sqlite3 * database, int which, int value))                                                \
    F(void, progress_handler, (sqlite3 * database, int every, int (*call)(void *), void *context))           \
    F(int, prepare_v2, (sqlite3 * database, const char *sql, int bytes, sqlite3_stmt **out, const char **))  \
    F(int, step, (sqlite3_stmt * statement))                                                                 \
    F(int, reset, (sqlite3_stmt * statement))                                                                \
    F(int, finalize, (sqlite3_stmt * statement))                                                             \
    F(int, bind_int64, (sqlite3_stmt * statement, int index, int64_t value))                                 \
    F(int, bind_text, (sqlite3_stmt * statement, int index, const char *text, int bytes, void (*)(void *)))  \
    F(int, bind_blob, (sqlite3_stmt * statement, int index, const void *data, int bytes, void (*)(void *)))  \
    F(int64_t, column_int64, (sqlite3_stmt * statement, int column))                                         \
    F(const unsigned char *, column_text, (sqlite3_stmt * statement, int column))                            \
    F(const void *, column_blob, (sqlite3_stmt * statement, int column))                                     \
    F(int, column_bytes, (sqlite3_stmt * statement, int column))

typedef struct sk_sqlite_functions {
#define SK_SQLITE_MEMBER(result, name, arguments) result(*name) arguments;
    SK_SQLITE_FUNCTIONS(SK_SQLITE_MEMBER)
#undef SK_SQLITE_MEMBER
} sk_sqlite_functions;
extern sk_sqlite_functions sk_sqlite;

#define SK_SQLITE_OK        0
#define SK_SQLITE_ROW       100
#define SK_SQLITE_DONE      101
#define SK_SQLITE_READONLY  0x01
#define SK_SQLITE_READWRITE 0x02
#define SK_SQLITE_CREATE    0x04
#define SK_SQLITE_URI       0x40
#define SK_SQLITE_NOMUTEX   0x8000
#define SK_SQLITE_LENGTH    0 /* a limit: bytes of a text, a blob or a row */

/* SK_ERR_UNSUPPORTED with the Debian package's name where it is absent. */
sk_status sk_sqlite_load(sk_error *err) SK_MUST_CHECK;

#endif
