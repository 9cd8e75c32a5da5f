/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/packing.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is used of both libraries, declared here: their interfaces are stable, and the build needs no headers. */
#define LZ4F_VERSION_USED 100

static struct {
    unsigned (*LZ4F_isError)(size_t code);
    const char *(*LZ4F_getErrorName)(size_t code);
    size_t (*LZ4F_createDecompressionContext)(void **context, unsigned version);
    size_t (*LZ4F_freeDecompressionContext)(void *context);
    size_t (*LZ4F_decompress)(void *context, void *to, size_t *to_bytes, const void *from, size_t *from_bytes,
                              const void *options);
    size_t (*LZ4F_compressFrameBound)(size_t bytes, const void *preferences);
    size_t (*LZ4F_compressFrame)(void *to, size_t capacity, const void *from, size_t bytes,
                                 const void *preferences);
} lz4;
static struct {
    unsigned (*ZSTD_isError)(size_t code);
    const char *(*ZSTD_getErrorName)(size_t code);
    size_t (*ZSTD_decompress)(void *to, size_t capacity, const void *from, size_t bytes);
    unsigned long long (*ZSTD_getFrameContentSize)(const void *from, size_t bytes);
    size_t (*ZSTD_compressBound)(size_t bytes);
    size_t (*ZSTD_compress)(void *to, size_t capacity, const void *from, size_t bytes, int level);
} zstd;
static char lz4_problem[256], zstd_problem[256]; /* why it could not be loaded; "" when it was */

static void find(void *library, const char *name, void *function, char problem[256])
{
    void *symbol = dlsym(library, name);
    if (!symbol && !problem[0])
        snprintf(problem, 256, "%s is missing in it", name);
    memcpy(function, &symbol, sizeof symbol);
}

static void *load(const char *name, char problem[256])
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        snprintf(problem, 256, "%.250s", dlerror());
    return library;
}

static void load_lz4(void)
{
    void *library = load("liblz4.so.1", lz4_problem);
#define FIND(name)                                                                                           \
    if (library)                                                                                             \
    find(library, #name, &lz4.name, lz4_problem)
    FIND(LZ4F_isError);
    FIND(LZ4F_getErrorName);
    FIND(LZ4F_createDecompressionContext);
    FIND(LZ4F_freeDecompressionContext);
    FIND(LZ4F_decompress);
    FIND(LZ4F_compressFrameBound);
    FIND(LZ4F_compressFrame);
#undef FIND
}

static void load_zstd(void)
{
    void *library = load("libzstd.so.1", zstd_problem);
#define FIND(name)                                                                                           \
    if (library)                                                                                             \
    find(library, #name, &zstd.name, zstd_problem)
    FIND(ZSTD_isError);
    FIND(ZSTD_getErrorName);
    FIND(ZSTD_decompress);
    FIND(ZSTD_getFrameContentSize);
    FIND(ZSTD_compressBound);
    FIND(ZSTD_compress);
#undef FIND
}

static sk_status have(sk_packing packing, sk_error *err)
{
    static pthread_once_t lz4_once = PTHREAD_ONCE_INIT, zstd_once = PTHREAD_ONCE_INIT;
    const bool is_lz4 = packing == SK_PACKING_LZ4;
    pthread_once(is_lz4 ? &lz4_once : &zstd_once, is_lz4 ? load_lz4 : load_zstd);
    const char *problem = is_lz4 ? lz4_problem : zstd_problem;
    if (!problem[0])
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "bytes packed by %s need %s, which cannot be loaded: %s\nDebian: apt-get install %s",
                   sk_packing_name(packing), is_lz4 ? "liblz4.so.1" : "libzstd.so.1", problem,
                   is_lz4 ? "liblz4-1" : "libzstd1");
}

const char *sk_packing_name(sk_packing packing)
{
    return packing == SK_PACKING_LZ4 ? "lz4" : packing == SK_PACKING_ZSTD ? "zstd" : "";
}

sk_status sk_packing_find(const char *name, size_t length, sk_packing *out, sk_error *err)
{
    for (int i = SK_PACKING_NONE; i <= SK_PACKING_ZSTD; i++) {
        const char *known = sk_packing_name((sk_packing)i);
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            *out = (sk_packing)i;
            return SK_OK;
        }
    }
    return sk_fail(err, SK_ERR_UNSUPPORTED, "packed by '%.*s'; lz4 and zstd are read",
                   (int)(length > 32 ? 32 : length), name);
}

static sk_status wrong_length(sk_packing packing, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT,
                   "damaged: what %s unpacks to is not as long as the file says, or cut short",
                   sk_packing_name(packing));
}

static sk_status unpack_lz4(const uint8_t *packed, size_t count, uint8_t *out, size_t bytes, sk_error *err)
{
    void *context = NULL;
    size_t code = lz4.LZ4F_createDecompressionContext(&context, LZ4F_VERSION_USED);
    if (lz4.LZ4F_isError(code))
        return sk_fail_memory(err, bytes);
    size_t from = 0, to = 0;
    bool moved = true;
    code = 1;
    while (code && moved && from < count) {
        size_t got = count - from, given = bytes - to;
        uint8_t nothing;
        code = lz4.LZ4F_decompress(context, out ? out + to : &nothing, &given, packed + from, &got, NULL);
        if (lz4.LZ4F_isError(code))
            break;
        from += got;
        to += given;
        moved = got > 0 || given > 0;
    }
    lz4.LZ4F_freeDecompressionContext(context);
    if (lz4.LZ4F_isError(code))
        return sk_fail(err, SK_ERR_FORMAT, "damaged: lz4 says %s", lz4.LZ4F_getErrorName(code));
    return code || to != bytes || from != count ? wrong_length(SK_PACKING_LZ4, err) : SK_OK;
}

sk_status sk_unpack(sk_packing packing, const void *packed, size_t count, void *out, size_t bytes,
                    sk_error *err)
{
    if (packing == SK_PACKING_NONE) {
        if (count != bytes)
            return sk_fail(err, SK_ERR_FORMAT, "damaged: %zu bytes where it says %zu", count, bytes);
        if (bytes)
            memcpy(out, packed, bytes);
        return SK_OK;
    }
    SK_TRY(have(packing, err));
    if (count == 0)
        return bytes ? wrong_length(packing, err) : SK_OK;
    if (packing == SK_PACKING_LZ4)
        return unpack_lz4(packed, count, out, bytes, err);
    const size_t code = zstd.ZSTD_decompress(out, bytes, packed, count);
    if (zstd.ZSTD_isError(code))
        return sk_fail(err, SK_ERR_FORMAT, "damaged: zstd says %s", zstd.ZSTD_getErrorName(code));
    return code == bytes ? SK_OK : wrong_length(packing, err);
}

sk_status sk_unpacked_bytes(const void *packed, size_t count, uint64_t *bytes, sk_error *err)
{
    SK_TRY(have(SK_PACKING_ZSTD, err));
    const unsigned long long size = zstd.ZSTD_getFrameContentSize(packed, count);
    if (size >= (unsigned long long)-2) /* "unknown" and "error" */
        return sk_fail(err, SK_ERR_FORMAT, "damaged, or packed by zstd without saying how long it is");
    *bytes = size;
    return SK_OK;
}

sk_status sk_pack(sk_packing packing, const void *bytes, size_t count, uint8_t **out, size_t *out_count,
                  sk_error *err)
{
    *out = NULL;
    if (packing != SK_PACKING_NONE)
        SK_TRY(have(packing, err));
    const size_t capacity = packing == SK_PACKING_LZ4    ? lz4.LZ4F_compressFrameBound(count, NULL)
                            : packing == SK_PACKING_ZSTD ? zstd.ZSTD_compressBound(count)
                                                         : count;
    uint8_t *packed = sk_malloc(capacity);
    if (!packed)
        return sk_fail_memory(err, capacity);
    size_t code = count;
    if (packing == SK_PACKING_LZ4)
        code = lz4.LZ4F_compressFrame(packed, capacity, bytes, count, NULL);
    else if (packing == SK_PACKING_ZSTD)
        code = zstd.ZSTD_compress(packed, capacity, bytes, count, 3);
    else if (count)
        memcpy(packed, bytes, count);
    if ((packing == SK_PACKING_LZ4 && lz4.LZ4F_isError(code)) ||
        (packing == SK_PACKING_ZSTD && zstd.ZSTD_isError(code))) {
        sk_free(packed);
        return sk_fail(err, SK_ERR_INTERNAL, "%s could not pack %zu bytes", sk_packing_name(packing), count);
    }
    *out = packed;
    *out_count = code;
    return SK_OK;
}
