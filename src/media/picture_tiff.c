/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/tiff_samples.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

/* One page of a TIFF through libtiff, which knows all its packings. What has 8 bits or fewer a sample is turned into colours
 * by libtiff, as OpenCV has it do; 16 bits keep the upper 8, as in OpenCV and Ultralytics; other samples are scaled by the
 * range of the file's first page (tiff_samples.h). */

typedef struct tiff_reader {
    const sk_picture_task *task;
    uint64_t at; /* in task->data */
    char problem[256];
    TIFF *tiff;
} tiff_reader;

static int on_problem(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    tiff_reader *r = context;
    (void)tiff;
    (void)module;
    if (!r->problem[0])
        vsnprintf(r->problem, sizeof r->problem, format, args);
    return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    (void)tiff;
    (void)context;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

/* --- from memory --- */

static tmsize_t memory_read(thandle_t handle, void *out, tmsize_t count)
{
    tiff_reader *r = handle;
    uint64_t left = r->at < r->task->length ? r->task->length - r->at : 0;
    uint64_t n = count < 0 ? 0 : (uint64_t)count < left ? (uint64_t)count : left;
    if (n)
        memcpy(out, r->task->data + r->at, n);
    r->at += n;
    return (tmsize_t)n;
}

static tmsize_t memory_write(thandle_t handle, void *data, tmsize_t count)
{
    (void)handle;
    (void)data;
    (void)count;
    return -1;
}

static toff_t memory_seek(thandle_t handle, toff_t offset, int whence)
{
    tiff_reader *r = handle;
    r->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? r->at + offset : r->task->length + offset;
    return r->at;
}

static int memory_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t memory_size(thandle_t handle)
{
    return ((tiff_reader *)handle)->task->length;
}

/* --- opening --- */

static sk_status failed(const tiff_reader *r, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: %s%s%s", r->task->path, what, r->problem[0] ? ": " : "",
                   r->problem);
}

/* 'h': no page yet; 'm': no mapping, since a file that is cut meanwhile would end the program. */
static sk_status open_tiff(tiff_reader *r, sk_error *err)
{
    int file = -1;
    int64_t size;
    if (!r->task->data)
        SK_TRY(sk_file_open(r->task->path, &file, &size, err));
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        if (file >= 0)
            close(file);
        return sk_fail_memory(err, 64);
    }
    int64_t room = 8 * sk_picture_most(r->task); /* a tile, or a strip as it is packed */
    room = room < (int64_t)r->task->length ? (int64_t)r->task->length : room;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)room + (1 << 20));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_problem, r);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, r);
    r->tiff = r->task->data ? TIFFClientOpenExt(r->task->path, "rmh", r, memory_read, memory_write,
                                                memory_seek, memory_close, memory_size, NULL, NULL, options)
                            : TIFFFdOpenExt(file, r->task->path, "rmh", options);
    TIFFOpenOptionsFree(options);
    if (!r->tiff && file >= 0)
        close(file);
    return r->tiff ? SK_OK : failed(r, "not a readable TIFF", err);
}

/* --- what a page says of itself --- */

#define MOST_BYTES 24.0 /* of a tile, for every pixel a picture may have: three samples of 64 bits */

static double packing_of(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE: return 1;
    case COMPRESSION_PACKBITS: return 128;
    case COMPRESSION_LZW: return 4096;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE: return 1040;
    default: return 0; /* may be anything */
    }
}

static sk_status describe(tiff_reader *r, uint64_t offset, sk_tiff_page *p, sk_error *err)
{
    if (!TIFFSetSubDirectory(r->tiff, offset))
        return failed(r, "damaged TIFF", err);
    *p = (sk_tiff_page){.bits = 1,
                        .samples = 1,
                        .kind = SAMPLEFORMAT_UINT,
                        .colours = PHOTOMETRIC_MINISBLACK,
                        .compression = COMPRESSION_NONE};
    uint32_t width = 0, height = 0;
    uint16_t planar = PLANARCONFIG_CONTIG;
    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLEFORMAT, &p->kind);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &p->compression);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_ORIENTATION, &p->orientation);
    if (!TIFFGetField(r->tiff, TIFFTAG_PHOTOMETRIC, &p->colours))
        p->colours = p->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    p->apart = planar == PLANARCONFIG_SEPARATE;
    SK_TRY(sk_picture_check_size(r->task, width, height, err));
    p->width = (int32_t)width;
    p->height = (int32_t)height;
    if (p->samples < 1 || p->samples > 64 || p->bits < 1 || p->bits > 64)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: a TIFF with %u samples of %u bits a pixel",
                       r->task->path, p->samples, p->bits);
    double packing = packing_of(p->compression);
    return packing > 0 ? sk_picture_check_packing(r->task, width, height,
                                                  packing * 8 / ((double)p->bits * p->samples), err)
                       : SK_OK;
}

/* --- by libtiff's own conversion --- */

static sk_status read_colours(tiff_reader *r, const sk_tiff_page *p, sk_slot *slot, sk_error *err)
{
    char why[1024] = "";
    if (!TIFFRGBAImageOK(r->tiff, why))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: this TIFF cannot be read: %s", r->task->path, why);
    size_t pixels = (size_t)p->width * (size_t)p->height;
    uint32_t *raster = sk_malloc(pixels * sizeof *raster);
    if (!raster)
        return sk_fail_memory(err, pixels * sizeof *raster);
    sk_status status = SK_OK;
    /* Upright is our own affair: libtiff turns only some of the eight. */
    uint16_t as_stored = p->orientation >= 1 && p->orientation <= 8 ? p->orientation : ORIENTATION_TOPLEFT;
    if (!TIFFReadRGBAImageOriented(r->tiff, (uint32_t)p->width, (uint32_t)p->height, raster, as_stored, 1)) {
        status = failed(r, "damaged TIFF, part of the picture is missing", err);
        goto done;
    }
    SK_TRY_GOTO(sk_slot_prepare(slot, r->task->format, p->width, p->height, err));
    for (int32_t y = 0; y < p->height; y++) {
        const uint32_t *from = raster + (size_t)y * (size_t)p->width;
        uint8_t *to = slot->frame.data + y * slot->frame.stride;
        for (int32_t x = 0; x < p->width; x++)
            to = sk_tiff_put(to, r->task->format, (uint8_t)TIFFGetR(from[x]), (uint8_t)TIFFGetG(from[x]),
                             (uint8_t)TIFFGetB(from[x]));
    }
done:
    sk_free(raster);
    return status;
}

/* --- sample by sample --- */

/* Strips are tiles as wide as the picture. */
static sk_status read_samples(tiff_reader *r, const sk_tiff_page *p, sk_tiff_canvas *canvas, sk_error *err)
{
    bool tiled = TIFFIsTiled(r->tiff);
    uint32_t width = (uint32_t)p->width, height = (uint32_t)p->height, rows = height;
    if (tiled) {
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(r->tiff, TIFFTAG_TILELENGTH, &rows);
    } else {
        TIFFGetFieldDefaulted(r->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        rows = rows > height ? height : rows;
    }
    tmsize_t bytes = tiled ? TIFFTileSize(r->tiff) : TIFFStripSize(r->tiff);
    size_t pixel = p->bits / 8u * (p->apart ? 1u : p->samples), needed = 0;
    if (width == 0 || rows == 0 || bytes <= 0 || !sk_mul_size((size_t)width * pixel, rows, &needed) ||
        needed > (size_t)bytes)
        return failed(r, "damaged TIFF: its tiles have no plausible size", err);
    double packing = packing_of(p->compression);
    if ((double)bytes > MOST_BYTES * (double)sk_picture_most(r->task) ||
        (packing > 0 && (double)bytes > packing * ((double)r->task->length + 64) + 65536 * (double)pixel))
        return sk_fail(
            err, SK_ERR_LIMIT,
            "%s: a TIFF whose %s take %lld bytes each, in a file of %zu; max_pixels raises what is read",
            r->task->path, tiled ? "tiles" : "strips", (long long)bytes, r->task->length);
    unsigned char *block = sk_calloc(1, (size_t)bytes);
    if (!block)
        return sk_fail_memory(err, (size_t)bytes);
    sk_status status = SK_OK;
    uint32_t across = tiled ? ((uint32_t)p->width + width - 1) / width : 1;
    uint32_t down = (height + rows - 1) / rows, planes = p->apart ? p->samples : 1,
             wanted = sk_tiff_wanted(p);
    for (uint32_t plane = 0; plane < planes && plane < wanted && status == SK_OK; plane++)
        for (uint32_t i = 0; i < across * down && status == SK_OK; i++) {
            uint32_t index = plane * across * down + i, x = i % across * width, y = i / across * rows;
            tmsize_t left = tiled || y + rows <= height ? (tmsize_t)needed
                                                        : (tmsize_t)((size_t)(height - y) * width * pixel);
            tmsize_t got = tiled ? TIFFReadEncodedTile(r->tiff, index, block, bytes)
                                 : TIFFReadEncodedStrip(r->tiff, index, block, left);
            if (got < left)
                status = failed(r, "damaged TIFF, part of the picture is missing", err);
            else
                sk_tiff_paint(canvas, p, block, plane, (int32_t)x, (int32_t)y, (int32_t)width, (int32_t)rows);
        }
    sk_free(block);
    return status;
}

static sk_status measure_first(tiff_reader *r, uint64_t first, sk_tiff_range *range, sk_error *err)
{
    sk_tiff_page p;
    SK_TRY(describe(r, first, &p, err));
    sk_tiff_canvas canvas = SK_TIFF_MEASURE;
    if (sk_tiff_is_scaled(&p) && sk_tiff_readable(&p))
        SK_TRY(read_samples(r, &p, &canvas, err));
    sk_tiff_choose_range(&canvas, range);
    return SK_OK;
}

sk_status sk_picture_decode_tiff(const sk_picture_task *task, uint64_t first, uint64_t offset,
                                 sk_tiff_range *range, sk_slot *slot, sk_error *err)
{
    tiff_reader r = {.task = task};
    sk_status status = SK_OK;
    SK_TRY_GOTO(open_tiff(&r, err));
    sk_tiff_page p;
    SK_TRY_GOTO(describe(&r, offset, &p, err));
    if (p.bits <= 8 && p.kind != SAMPLEFORMAT_INT && p.kind != SAMPLEFORMAT_IEEEFP) {
        SK_TRY_GOTO(read_colours(&r, &p, slot, err));
    } else {
        if (!sk_tiff_readable(&p)) {
            status = sk_fail(
                err, SK_ERR_UNSUPPORTED,
                "%s: a TIFF with samples of %u bits (format %u, colours %u) cannot be read; convert it "
                "to 8 or 16 bits",
                task->path, p.bits, p.kind, p.colours);
            goto done;
        }
        if (sk_tiff_is_scaled(&p) && !range->known) {
            SK_TRY_GOTO(measure_first(&r, first, range, err));
            SK_TRY_GOTO(describe(&r, offset, &p, err));
        }
        SK_TRY_GOTO(sk_slot_prepare(slot, task->format, p.width, p.height, err));
        sk_tiff_canvas canvas = {.slot = slot, .format = task->format, .range = *range};
        SK_TRY_GOTO(read_samples(&r, &p, &canvas, err));
        sk_tiff_finish(&canvas, &p);
    }
    status = sk_picture_turn(p.orientation, slot, err);
done:
    if (r.tiff)
        TIFFClose(r.tiff);
    return status;
}
