/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include <setjmp.h>
#include <stdio.h> /* before jpeglib.h, which forgets it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

/* JPEG through libjpeg-turbo: the slow, exact DCT and smooth chroma, as OpenCV reads it. */

/* A Huffman code takes a bit at least, and every block of 64 pixels needs one. */
#define PIXELS_PER_BYTE 512.0
/* A progressive file may come in any number of passes over the whole picture; encoders make ten or so. */
#define MOST_SCANS 500

typedef struct jpeg_reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    char problem[JMSG_LENGTH_MAX];
    bool damaged; /* something of the picture is missing; `problem` says what */
    bool too_many_scans;
} jpeg_reader;

static void on_error(j_common_ptr common)
{
    jpeg_reader *r = common->client_data;
    common->err->format_message(common, r->problem);
    longjmp(r->failed, 1);
}

/* Bytes between two markers are not missed by anybody; of other warnings the first is kept. */
static void on_message(j_common_ptr common, int level)
{
    jpeg_reader *r = common->client_data;
    int code = common->err->msg_code;
    if (level >= 0 || code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || r->damaged)
        return;
    common->err->format_message(common, r->problem);
    r->damaged = true;
}

static void on_progress(j_common_ptr common)
{
    jpeg_reader *r = common->client_data;
    if (common->is_decompressor && r->jpeg.input_scan_number > MOST_SCANS) {
        r->too_many_scans = true;
        snprintf(r->problem, sizeof r->problem, "it comes in more than %d passes", MOST_SCANS);
        longjmp(r->failed, 1);
    }
}

/* Adobe's programs store ink upside down (255: none), and so do all others that say they are Adobe; as OpenCV does. */
static void ink_to_colours(const unsigned char *ink, unsigned char *out, int32_t width, bool upside_down,
                           sk_pixel_format format)
{
    for (int32_t x = 0; x < width; x++, ink += 4) {
        int k = upside_down ? ink[3] : 255 - ink[3], rgb[3];
        for (int c = 0; c < 3; c++) {
            int light = upside_down ? ink[c] : 255 - ink[c];
            rgb[c] = k - ((255 - light) * k >> 8);
        }
        if (format == SK_PIXEL_GRAY) {
            *out++ = (unsigned char)((rgb[0] * 4899 + rgb[1] * 9617 + rgb[2] * 1868 + (1 << 13)) >> 14);
            continue;
        }
        bool bgr = format == SK_PIXEL_BGR;
        *out++ = (unsigned char)rgb[bgr ? 2 : 0];
        *out++ = (unsigned char)rgb[1];
        *out++ = (unsigned char)rgb[bgr ? 0 : 2];
    }
}

static void choose_colours(struct jpeg_decompress_struct *jpeg, sk_pixel_format format)
{
    bool ink = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = ink                       ? JCS_CMYK
                            : format == SK_PIXEL_GRAY ? JCS_GRAYSCALE
                            : format == SK_PIXEL_BGR  ? JCS_EXT_BGR
                                                      : JCS_EXT_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
}

/* Rows into the slot; ink by way of a row that libjpeg holds. */
static void read_rows(jpeg_reader *r, sk_pixel_format format, sk_slot *slot)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    bool ink = jpeg->out_color_space == JCS_CMYK;
    JSAMPARRAY row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, jpeg->output_width * 4, 1);
    while (jpeg->output_scanline < jpeg->output_height) {
        unsigned char *to = slot->frame.data + (ptrdiff_t)jpeg->output_scanline * slot->frame.stride;
        if (ink) {
            jpeg_read_scanlines(jpeg, row, 1);
            ink_to_colours(row[0], to, slot->frame.width, jpeg->saw_Adobe_marker, format);
        } else {
            jpeg_read_scanlines(jpeg, &to, 1);
        }
    }
}

static sk_status check_size(const sk_picture_task *task, const struct jpeg_decompress_struct *jpeg,
                            sk_error *err)
{
    SK_TRY(sk_picture_check_size(task, jpeg->image_width, jpeg->image_height, err));
    return jpeg->arith_code
               ? SK_OK
               : sk_picture_check_packing(task, jpeg->image_width, jpeg->image_height, PIXELS_PER_BYTE, err);
}

/* The orientation in the first Exif block. */
static int orientation_of(const unsigned char *data, size_t length)
{
    size_t at = 2;
    while (at + 4 <= length && data[at] == 0xFF) {
        unsigned marker = data[at + 1];
        size_t size = (size_t)data[at + 2] << 8 | data[at + 3];
        if (marker == 0xDA || size < 2 || at + 2 + size > length) /* 0xDA: pixels follow */
            break;
        const unsigned char *body = data + at + 4;
        at += 2 + size;
        if (marker == 0xE1 && size >= 16 && memcmp(body, "Exif\0", 6) == 0)
            return sk_exif_orientation(body + 6, size - 8);
    }
    return 1;
}

sk_status sk_picture_decode_jpeg(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    jpeg_reader r = {.problem = ""};
    sk_status volatile status = SK_OK;
    r.jpeg.err = jpeg_std_error(&r.errors);
    r.errors.error_exit = on_error;
    r.errors.emit_message = on_message;
    r.progress.progress_monitor = on_progress;
    r.jpeg.client_data = &r;
    if (setjmp(r.failed)) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: damaged JPEG: %s", task->path, r.problem);
    } else {
        jpeg_create_decompress(&r.jpeg);
        r.jpeg.client_data = &r;
        r.jpeg.progress = &r.progress;
        jpeg_mem_src(&r.jpeg, task->data, (unsigned long)task->length);
        jpeg_read_header(&r.jpeg, TRUE);
        status = check_size(task, &r.jpeg, err);
        if (status == SK_OK)
            status = sk_slot_prepare(slot, task->format, (int32_t)r.jpeg.image_width,
                                     (int32_t)r.jpeg.image_height, err);
        if (status == SK_OK) {
            choose_colours(&r.jpeg, task->format);
            jpeg_start_decompress(&r.jpeg);
            read_rows(&r, task->format, slot);
            if (!r.damaged)
                jpeg_finish_decompress(&r.jpeg);
        }
        if (status == SK_OK && r.damaged)
            status = sk_fail(err, SK_ERR_FORMAT, "%s: damaged JPEG, part of the picture is missing: %s",
                             task->path, r.problem);
    }
    jpeg_destroy_decompress(&r.jpeg);
    return status == SK_OK ? sk_picture_turn(orientation_of(task->data, task->length), slot, err) : status;
}
