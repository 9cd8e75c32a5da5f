/* SPDX-License-Identifier: Apache-2.0 */
#include "media/colours_ffmpeg.h"

/* Planar formats whose name, not only whose tag, says that their range is full: FFmpeg's converter knows it by itself. */
static bool is_full_by_name(int format)
{
    return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
           format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

/* OpenCV up to 4.11 told the converter nothing: BT.601, and full range only where the format's name says so. A device's
 * formats have no such names; there the tag stands in for the name that the same video would have on the processor. */
void sk_colours_read_as(AVFrame *frame, sk_source_colours colours)
{
    if (colours != SK_COLOURS_BT601)
        return;
    const AVPixFmtDescriptor *format = sk_ff.av_pix_fmt_desc_get(frame->format);
    const bool planar =
        format && (format->flags & AV_PIX_FMT_FLAG_PLANAR) && frame->format != AV_PIX_FMT_NV12;
    frame->colorspace = AVCOL_SPC_UNSPECIFIED;
    if (planar && !is_full_by_name(frame->format))
        frame->color_range = AVCOL_RANGE_UNSPECIFIED;
}

void sk_colours_set(struct SwsContext *scaler, const AVFrame *frame)
{
    const AVPixFmtDescriptor *format = sk_ff.av_pix_fmt_desc_get(frame->format);
    if (!format || format->nb_components < 3 || (format->flags & AV_PIX_FMT_FLAG_RGB))
        return;
    const int unity = 1 << 16;
    const int *matrix = sk_ff.sws_getCoefficients((int)frame->colorspace);
    sk_ff.sws_setColorspaceDetails(scaler, matrix, frame->color_range == AVCOL_RANGE_JPEG,
                                   sk_ff.sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, unity, unity);
}

sk_colour_matrix sk_colour_matrix_of(int colourspace)
{
    switch (colourspace) {
    case AVCOL_SPC_RGB:
    case AVCOL_SPC_BT709: return SK_COLOUR_BT709;
    case AVCOL_SPC_FCC: return SK_COLOUR_FCC;
    case AVCOL_SPC_SMPTE240M: return SK_COLOUR_SMPTE240M;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return SK_COLOUR_BT2020;
    default: return SK_COLOUR_BT601;
    }
}
