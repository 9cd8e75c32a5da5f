/* SPDX-License-Identifier: Apache-2.0 */
/* Whose word a record is. A record says that a file was compared with its model and computes the same; a seal shows that it
 * was this user's skitter that wrote so. The key lies in the user's cache folder and is readable by this user only. A record
 * without a seal of ours (another user's, an older skitter's, a lie) is no harm: the file is compared again. */
#include "base/file.h"
#include "base/hash.h"
#include "runtime/artifact_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES 32
#define BLOCK     64 /* of SHA-256 */
#define MARK      "\"seal\": \""

static bool read_key(const char *path, uint8_t key[KEY_BYTES])
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    bool good = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                !(info.st_mode & (S_IRWXG | S_IRWXO)) && info.st_size == KEY_BYTES &&
                read(file, key, KEY_BYTES) == KEY_BYTES;
    close(file);
    return good;
}

/* Beside and renamed: whoever reads it sees a whole key or none. Of two who make one at once, the second's stays and the
 * first's seals count for nothing. */
static bool make_key(const char *folder, const char *path, uint8_t key[KEY_BYTES])
{
    char name[48];
    snprintf(name, sizeof name, ".seal.%ld", (long)getpid());
    char *temporary = sk_path_join(folder, name);
    if (!temporary || getrandom(key, KEY_BYTES, 0) != KEY_BYTES) {
        sk_free(temporary);
        return false;
    }
    unlink(temporary);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = file >= 0 && write(file, key, KEY_BYTES) == KEY_BYTES;
    if (file >= 0)
        close(file);
    good = good && rename(temporary, path) == 0;
    if (!good && file >= 0)
        unlink(temporary);
    sk_free(temporary);
    return good;
}

static bool find_key(uint8_t key[KEY_BYTES], bool make)
{
    char *folder = NULL;
    if (sk_artifact_cache_folder(&folder, NULL) != SK_OK)
        return false;
    char *path = sk_path_join(folder, ".seal");
    bool good = path && (read_key(path, key) || (make && make_key(folder, path, key)));
    sk_free(path);
    sk_free(folder);
    return good;
}

/* HMAC-SHA-256 (RFC 2104). */
static void sign(const uint8_t key[KEY_BYTES], const char *text, size_t length, char out[SK_SHA256_TEXT])
{
    uint8_t inner[BLOCK], outer[BLOCK + sizeof(sk_sha256)];
    sk_sha256 hash;
    memset(inner, 0x36, sizeof inner);
    memset(outer, 0x5c, BLOCK);
    for (size_t i = 0; i < KEY_BYTES; i++) {
        inner[i] ^= key[i];
        outer[i] ^= key[i];
    }
    sk_sha256_state state;
    sk_sha256_begin(&state);
    sk_sha256_add(&state, inner, sizeof inner);
    sk_sha256_add(&state, text, length);
    sk_sha256_end(&state, &hash);
    memcpy(outer + BLOCK, &hash, sizeof hash);
    sk_hash_sha256(outer, sizeof outer, &hash);
    sk_sha256_text(&hash, out);
}

/* The 64 characters of the seal in a record's text. */
static char *find_seal(char *text, size_t length)
{
    char *at = strstr(text, MARK);
    if (!at || (size_t)(at - text) + strlen(MARK) + 65 > length)
        return NULL;
    at += strlen(MARK);
    return strspn(at, "0123456789abcdef") == 64 && at[64] == '"' ? at : NULL;
}

void sk_artifact_seal(char *text, size_t length)
{
    uint8_t key[KEY_BYTES];
    char seal[SK_SHA256_TEXT], *at = find_seal(text, length);
    if (!at)
        return;
    memset(at, '0', 64);
    if (!find_key(key, true))
        return;
    sign(key, text, length, seal);
    memcpy(at, seal, 64);
}

bool sk_artifact_is_sealed(char *text, size_t length)
{
    uint8_t key[KEY_BYTES];
    char seal[SK_SHA256_TEXT], said[SK_SHA256_TEXT], *at = find_seal(text, length);
    if (!at || !find_key(key, false))
        return false;
    memcpy(said, at, 64);
    said[64] = '\0';
    memset(at, '0', 64);
    sign(key, text, length, seal);
    memcpy(at, said, 64);
    return strcmp(seal, said) == 0;
}
