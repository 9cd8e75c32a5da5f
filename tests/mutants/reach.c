/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks of the rooms a process ran. With SKITTER_REACH=folder every shared library that is compiled with
 * -fsanitize-coverage has a file <library>.seen there, a byte a block, shared by all processes of a test and kept when one is
 * killed, and a file <library>.blocks with the blocks' places, 64-bit offsets in the library. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

#define PAGE 4096u
#define MOST (8u << 20)
static unsigned char seen[MOST] __attribute__((aligned(4096)));
static uint32_t used;

/* The file of a library in the folder that is asked for; false where none is. */
static int file_of(const void *address, const char *kind, char *path, size_t room, Dl_info *info)
{
    const char *folder = getenv("SKITTER_REACH");
    if (!folder || !*folder || !dladdr(address, info) || !info->dli_fname)
        return 0;
    const char *slash = strrchr(info->dli_fname, '/');
    int n = snprintf(path, room, "%s/%s.%s", folder, slash ? slash + 1 : info->dli_fname, kind);
    return n > 0 && (size_t)n < room;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    char path[4096];
    Dl_info info;
    uint32_t count = (uint32_t)(stop - start);
    if (start == stop || *start || count > MOST - used || !file_of(start, "seen", path, sizeof path, &info))
        return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (ftruncate(file, count) == 0 &&
        mmap(seen + used, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) {
        for (uint32_t i = 0; i < count; i++)
            start[i] = used + i + 1;
        used += (count + PAGE - 1) / PAGE * PAGE;
    }
    close(file);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    if (*guard)
        seen[*guard - 1] = 1;
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
{
    char path[4096];
    Dl_info info;
    if (start == stop || !file_of(start, "blocks", path, sizeof path, &info) || access(path, F_OK) == 0)
        return;
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    for (const uintptr_t *p = start; p < stop; p += 2) { /* address, flags */
        uint64_t offset = (uint64_t)(p[0] - (uintptr_t)info.dli_fbase);
        fwrite(&offset, sizeof offset, 1, file);
    }
    fclose(file);
}
