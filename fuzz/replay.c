/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on files and folders, where libFuzzer is not linked: see fuzz.h. */
#include "fuzz.h"

#include "base/file.h"
#include "base/memory.h"
#include "mutate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST         ((size_t)64 << 20)
#define LARGEST_CHANGED ((size_t)1 << 18)
#define CHANGES         20

static int replayed, failed;

static void feed(const char *name, const uint8_t *data, size_t size)
{
    int64_t before = sk_memory_live_bytes();
    LLVMFuzzerTestOneInput(data, size);
    replayed++;
    if (sk_memory_live_bytes() != before) {
        printf("%s: %lld bytes leaked\n", name, (long long)(sk_memory_live_bytes() - before));
        failed = 1;
    }
}

/* The file with parts of its structure changed, always in the same ways; see mutate.h. */
static void replay_changed(const char *path, const char *bytes, size_t count)
{
    for (unsigned seed = 0; LLVMFuzzerCustomMutator && seed < CHANGES && count <= LARGEST_CHANGED; seed++) {
        size_t room = count + 4096;
        uint8_t *whole = malloc(room);
        if (!whole)
            break;
        memcpy(whole, bytes, count);
        size_t size = LLVMFuzzerCustomMutator(whole, count, room, seed * 2);
        uint8_t *copy = malloc(size ? size : 1);
        if (copy) {
            memcpy(copy, whole, size);
            feed(path, copy, size);
        }
        free(copy);
        free(whole);
    }
}

/* The file as it is, and cut at a few places: most damage is a download that stopped. */
static void replay_file(const char *path)
{
    char *bytes = NULL;
    size_t count = 0;
    sk_error err = {0};
    if (sk_file_read(path, LARGEST, &bytes, &count, &err) != SK_OK) {
        printf("%s\n", err.message);
        failed = 1;
        return;
    }
    for (int part = 0; part <= 4; part++) {
        size_t size = count * (size_t)part / 4;
        uint8_t *copy =
            malloc(size ? size : 1); /* exactly as long as it says, so that a sanitizer sees the end */
        if (!copy)
            break;
        memcpy(copy, bytes, size);
        feed(path, copy, size);
        free(copy);
    }
    replay_changed(path, bytes, count);
    sk_free(bytes);
}

static void replay(const char *path)
{
    if (!sk_file_is_directory(path)) {
        replay_file(path);
        return;
    }
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *inner = sk_path_join(path, entries[i]->d_name);
            if (inner)
                replay(inner);
            sk_free(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    feed("nothing", (const uint8_t *)"", 0); /* also fills what is made once for a process */
    failed = 0;
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d inputs replayed\n", replayed);
    return failed;
}
