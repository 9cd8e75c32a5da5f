/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "engines/engine.h"
#include "graph/builder.h"

#include <math.h>
#include <string.h>

/* What is the same for every engine, on one that offers everything and does nothing: which wishes are refused, at their bounds and
 * not before; slots in turn; what a session says of itself. */

typedef struct toy_session {
    sk_session base;
    int32_t slots[64], n_submits, n_waits;
    bool captured;
    float outputs[4][8];
} toy_session;

static int opened;

static sk_status toy_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph, (void)settings, (void)err;
    return SK_OK;
}

static sk_status toy_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                          sk_error *err)
{
    (void)graph, (void)settings;
    toy_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    opened++;
    *out = &s->base;
    return SK_OK;
}

static sk_status toy_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    toy_session *s = (toy_session *)session;
    (void)err, (void)inputs;
    s->slots[s->n_submits++] = slot;
    return SK_OK;
}

static sk_status toy_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    toy_session *s = (toy_session *)session;
    (void)err;
    assert_int_equal(slot, s->slots[s->n_waits]);
    s->n_waits++;
    for (int i = 0; i < session->info.n_outputs; i++)
        outputs[i] = s->outputs[i];
    return SK_OK;
}

static void toy_close(sk_session *session)
{
    toy_session *s = (toy_session *)session;
    assert_int_equal(s->n_waits, s->n_submits); /* what was in flight was waited for */
    opened--;
    sk_free(s);
}

static sk_status toy_capture(sk_session *session, sk_error *err)
{
    (void)err;
    ((toy_session *)session)->captured = true;
    return SK_OK;
}

static sk_status toy_resident(sk_session *session, int32_t slot, int32_t image, sk_frame *out, sk_error *err)
{
    (void)session, (void)slot, (void)err;
    out->index = image;
    return SK_OK;
}

static sk_engine toy = {
    .name = "toy",
    .title = "the toy",
    .can = {.offers = 31, .precisions = 1u << SK_PRECISION_F32, .usual = SK_PRECISION_F32, .reads = 15},
    .supports = toy_supports,
    .open = toy_open,
    .submit = toy_submit,
    .wait = toy_wait,
    .close = toy_close,
    .capture = toy_capture,
    .resident = toy_resident};

static sk_graph *graph;
static const sk_shape shape = {.rank = 4, .dim = {2, 3, 8, 8}};

/* Maps, offsets, classes and fields: 3, 6, 2 and 6 channels. */
static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_builder b;
    const sk_shape any = sk_shape_of(4, -1, 3, -1, -1);
    if (sk_graph_open(&graph, &err) != SK_OK)
        return 1;
    sk_builder_init(&b, graph);
    const sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &any), twice[] = {x, x};
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_SIGMOID, x), "maps");
    sk_b_output(&b, sk_b_concat(&b, twice, 2, 1), "offsets");
    sk_b_output(&b, sk_b_slice(&b, x, 1, 0, 2), "classes");
    const sk_value both[] = {sk_b_max_pool(&b, x, 2, 2, 0, "p"), sk_b_max_pool(&b, x, 2, 2, 0, "q")};
    sk_b_output(&b, sk_b_concat(&b, both, 2, 1), "fields");
    return b.status != SK_OK;
}

static int end(void **state)
{
    (void)state;
    sk_graph_close(&graph);
    return opened != 0;
}

typedef struct wish {
    sk_session_settings s;
    sk_frame_fit fit;
    sk_crop_wish crops;
    sk_found_outputs found;
    sk_peak_wish peaks;
    sk_sparse_outputs sparse;
    bool has_fit, has_crops, has_found, has_peaks, has_sparse;
} wish;

static wish plain(void)
{
    wish w = {.s = sk_session_defaults()};
    w.fit = (sk_frame_fit){
        .frame_width = 16, .frame_height = 12, .channels = 3, .resized_width = 8, .resized_height = 6};
    w.crops = (sk_crop_wish){
        .channels = 3,
        .form = {.rule = SK_CROP_LETTERBOX, .width = 8, .height = 8, .frame_width = 16, .frame_height = 12}};
    w.found = (sk_found_outputs){.n_levels = 1, .reg_max = 1, .most = 10, .max_det = 5};
    w.peaks = (sk_peak_wish){.local = 1,
                             .maps = 0,
                             .offsets = 1,
                             .classes = 2,
                             .fields = 3,
                             .maps_stride = 1,
                             .classes_stride = 1,
                             .fields_stride = 2,
                             .capacity = 4,
                             .pairs = 5,
                             .n_channels = 3,
                             .n_classes = 2,
                             .n_edges = 3,
                             .edges = {{0, 1}, {1, 2}, {2, 0}},
                             .n_points = 10};
    return w;
}

static sk_status open_with(wish *w, sk_session **out, sk_error *err)
{
    w->s.stages = (sk_session_stages){.fit = w->has_fit ? &w->fit : NULL,
                                      .crops = w->has_crops ? &w->crops : NULL,
                                      .found = w->has_found ? &w->found : NULL,
                                      .peaks = w->has_peaks ? &w->peaks : NULL,
                                      .sparse = w->has_sparse ? &w->sparse : NULL};
    return sk_session_open(&toy, graph, &shape, 1, &w->s, out, err);
}

/* One thing changed in a wish that is fine: taken, or refused with a word. */
#define EXPECT(base, change, status, word)                                                                   \
    do {                                                                                                     \
        wish w = base();                                                                                     \
        sk_session *s_ = NULL;                                                                               \
        sk_error err_ = {0};                                                                                 \
        change;                                                                                              \
        const sk_status got_ = open_with(&w, &s_, &err_);                                                    \
        if (got_ != (status) || !strstr(err_.message, (word)))                                               \
            fail_msg("%s: %s: %s", #change, sk_status_text(got_), err_.message);                             \
        sk_session_close(&s_);                                                                               \
    } while (0)
#define TAKEN(base, change)         EXPECT(base, change, SK_OK, "")
#define REFUSED(base, change, word) EXPECT(base, change, SK_ERR_ARG, word)

static void settings_have_bounds(void **state)
{
    (void)state;
    TAKEN(plain, (void)0);
    REFUSED(plain, w.s.size--, "sk_session_defaults");
    REFUSED(plain, w.s.slots = 0, "slots is 0");
    TAKEN(plain, w.s.slots = SK_SESSION_MAX_SLOTS);
    REFUSED(plain, w.s.slots = SK_SESSION_MAX_SLOTS + 1, "slots is");
    REFUSED(plain, w.s.threads = -1, "threads is -1");
    TAKEN(plain, w.s.threads = 256);
    REFUSED(plain, w.s.threads = 257, "threads is 257");
    REFUSED(plain, w.s.input = (sk_input_form)0, "input form 0");
    REFUSED(plain, w.s.input = (sk_input_form)5, "input form 5");
    TAKEN(plain, w.s.input = SK_INPUT_U8_HWC);
    for (int i = 0; i < 4; i++) {
        TAKEN(plain, w.s.std[i] = 0); /* a tensor is not divided */
        REFUSED(plain, (w.s.input = SK_INPUT_U8_HWC, w.s.std[i] = 0), "is 0; input values are divided");
    }
    REFUSED(plain, w.s.precision = (sk_precision)-1, "precision");
    REFUSED(plain, w.s.precision = (sk_precision)(SK_PRECISION_FP8 + 1), "precision");
    TAKEN(plain, w.s.tail = SK_TAIL_FREE);
    const sk_session_settings d = sk_session_defaults();
    assert_true(d.slots == 1 && d.input == SK_INPUT_TENSOR && d.scale == 1.0f / 255.0f && d.mean[3] == 0 &&
                d.std[0] == 1 && d.std[3] == 1 && d.precision == SK_PRECISION_AUTO && d.threads == 0);
}

static wish framed(void)
{
    wish w = plain();
    w.s.input = SK_INPUT_FRAMES;
    w.has_fit = true;
    return w;
}

static wish sleap_framed(void)
{
    wish w = framed();
    w.fit.rule = SK_FIT_SLEAP;
    w.fit.fitted_width = w.fit.sized_width = 16, w.fit.fitted_height = w.fit.sized_height = 12;
    return w;
}

static void frames_have_bounds(void **state)
{
    (void)state;
    TAKEN(framed, (void)0);
    EXPECT(framed, w.has_fit = false, SK_ERR_UNSUPPORTED, "does not fit frames");
    EXPECT(framed, toy.can.offers = 31 & ~SK_OFFERS_FRAMES, SK_ERR_UNSUPPORTED,
           "the toy does not fit frames");
    toy.can.offers = 31;
    REFUSED(framed, w.fit.frame_width = 0, "frames of 0x12");
    REFUSED(framed, w.fit.frame_height = 0, "frames of 16x0");
    TAKEN(framed, w.fit.frame_width = 65536);
    REFUSED(framed, w.fit.frame_width = 65537, "65537");
    TAKEN(framed, w.fit.frame_height = 65536);
    REFUSED(framed, w.fit.frame_height = 65537, "65537");
    REFUSED(framed, w.fit.resized_width = 0, "cannot be fitted");
    TAKEN(framed, w.fit.resized_width = 1);
    REFUSED(framed, w.fit.resized_height = 0, "cannot be fitted");
    REFUSED(framed, w.fit.left = -1, "cannot be fitted");
    REFUSED(framed, w.fit.top = -1, "cannot be fitted");
    TAKEN(framed, w.fit.left = 1);
    TAKEN(framed, w.fit.channels = 1);
    REFUSED(framed, w.fit.channels = 2, "2 channels");
    REFUSED(framed, w.fit.rule = -1, "by rule -1");
    REFUSED(framed, w.fit.rule = SK_FIT_SLEAP_OLD + 1, "by rule 3");
    TAKEN(sleap_framed, (void)0);
    TAKEN(sleap_framed, w.fit.rule = SK_FIT_SLEAP_OLD);
    REFUSED(sleap_framed, w.fit.left = 1, "by rule 1");
    REFUSED(sleap_framed, w.fit.top = 1, "by rule 1");
    REFUSED(sleap_framed, w.fit.fitted_width = 0, "by rule 1");
    REFUSED(sleap_framed, w.fit.fitted_height = 0, "by rule 1");
    REFUSED(sleap_framed, w.fit.fitted_width = 17, "by rule 1");
    REFUSED(sleap_framed, w.fit.fitted_height = 13, "by rule 1");
    TAKEN(sleap_framed, w.fit.sized_width = 65536);
    REFUSED(sleap_framed, w.fit.sized_width = 65537, "into 65537x12");
    TAKEN(sleap_framed, w.fit.sized_height = 65536);
    REFUSED(sleap_framed, w.fit.sized_height = 65537, "into 16x65537");
    sk_frame_fit fit = {.frame_width = 5, .frame_height = 3, .channels = 3};
    assert_int_equal(sk_frame_fit_row(&fit), 15);
    assert_int_equal(sk_frame_fit_rows(&fit), 3);
    assert_int_equal(sk_frame_fit_bytes(&fit), 45);
    fit.nv12 = 1;
    assert_int_equal(sk_frame_fit_row(&fit), 6);
    assert_int_equal(sk_frame_fit_rows(&fit), 5);
    assert_int_equal(sk_frame_fit_bytes(&fit), 30);
}

static wish cropped(void)
{
    wish w = plain();
    w.s.input = SK_INPUT_CROPS;
    w.has_crops = true;
    return w;
}

static wish sleap_cropped(void)
{
    wish w = cropped();
    sk_crop_form *f = &w.crops.form;
    f->rule = SK_CROP_MIXED;
    f->fitted_width = f->sized_width = 16, f->fitted_height = f->sized_height = 12;
    f->crop_width = f->crop_height = 6, f->scaled_width = f->scaled_height = 8, f->input_scale = 1;
    return w;
}

static void crops_have_bounds(void **state)
{
    (void)state;
    TAKEN(cropped, (void)0);
    TAKEN(sleap_cropped, (void)0);
    EXPECT(cropped, w.has_crops = false, SK_ERR_UNSUPPORTED, "does not cut crops");
    EXPECT(cropped, toy.can.offers = 31 & ~SK_OFFERS_CROPS, SK_ERR_UNSUPPORTED, "the toy does not cut crops");
    toy.can.offers = 31;
    TAKEN(cropped, w.crops.channels = 1);
    REFUSED(cropped, w.crops.channels = 2, "cannot be cut");
    REFUSED(cropped, w.crops.form.rule = (sk_crop_rule)0, "by rule 0");
    REFUSED(sleap_cropped, w.crops.form.rule = (sk_crop_rule)4, "by rule 4");
    TAKEN(sleap_cropped, w.crops.form.rule = SK_CROP_PIXELS);
    TAKEN(cropped, w.crops.form.masks = 100000);
    REFUSED(cropped, w.crops.form.masks = 100001, "cannot be cut");
    REFUSED(cropped, w.crops.form.masks = -1, "cannot be cut");
#define SIDE(base, field, most_ok)                                                                           \
    REFUSED(base, w.crops.form.field = 0, "cannot be cut");                                                  \
    REFUSED(base, w.crops.form.field = 65537, "cannot be cut");                                              \
    most_ok(base, w.crops.form.field = 65536)
#define NOT_LARGER(base, change) REFUSED(base, change, "cannot be cut")
    SIDE(cropped, frame_width, TAKEN);
    SIDE(cropped, frame_height, TAKEN);
    SIDE(cropped, width, TAKEN);
    SIDE(cropped, height, TAKEN);
    SIDE(sleap_cropped, fitted_width, NOT_LARGER);
    SIDE(sleap_cropped, fitted_height, NOT_LARGER);
    SIDE(sleap_cropped, sized_width, TAKEN);
    SIDE(sleap_cropped, sized_height, TAKEN);
    SIDE(sleap_cropped, crop_width, TAKEN);
    SIDE(sleap_cropped, crop_height, TAKEN);
    SIDE(sleap_cropped, scaled_width, NOT_LARGER);
    SIDE(sleap_cropped, scaled_height, NOT_LARGER);
    REFUSED(sleap_cropped, w.crops.form.input_scale = 0, "cannot be cut");
    REFUSED(sleap_cropped, w.crops.form.scaled_width = 9, "cannot be cut");
    REFUSED(sleap_cropped, w.crops.form.fitted_height = 13, "cannot be cut");
}

static wish with_found(void)
{
    wish w = plain();
    w.has_found = true;
    w.s.tail = SK_TAIL_CUT;
    return w;
}

static wish with_keypoints(void)
{
    wish w = with_found();
    w.found.n_keypoints = 5, w.found.keypoint_dims = 3;
    return w;
}

static void detections_have_bounds(void **state)
{
    (void)state;
    TAKEN(with_found, (void)0);
    TAKEN(with_keypoints, (void)0);
    EXPECT(with_found, toy.can.offers = 31 & ~SK_OFFERS_FOUND, SK_ERR_UNSUPPORTED, "does not decode");
    toy.can.offers = 31;
    REFUSED(with_found, w.s.tail = SK_TAIL_KEEP, "cut the tail");
    REFUSED(with_found, w.has_sparse = true, "cut the tail");
    REFUSED(with_found, w.found.n_levels = 0, "of 0 levels");
    TAKEN(with_found, w.found.n_levels = SK_FOUND_MOST_LEVELS);
    REFUSED(with_found, w.found.n_levels = SK_FOUND_MOST_LEVELS + 1, "levels");
    REFUSED(with_found, w.found.max_det = 0, "at most 0");
    TAKEN(with_found, (w.found.max_det = 1, w.found.most = 1));
    TAKEN(with_found, w.found.max_det = SK_FOUND_MOST_DET);
    REFUSED(with_found, w.found.max_det = SK_FOUND_MOST_DET + 1, "at most 30001");
    REFUSED(with_found, w.found.one_to_one = -1, "levels");
    TAKEN(with_found, (w.found.one_to_one = 1024, w.found.max_det = SK_FOUND_MOST_PAIRS / 1024));
    REFUSED(with_found, (w.found.one_to_one = 1024, w.found.max_det = SK_FOUND_MOST_PAIRS / 1024 + 1),
            "levels");
    REFUSED(with_found, w.found.most = 0, "levels");
    REFUSED(with_found, w.found.reg_max = 0, "levels");
    REFUSED(with_found, w.found.n_keypoints = -1, "with -1 keypoints");
    REFUSED(with_keypoints, w.found.oriented = 1, "with 5 keypoints");
    REFUSED(with_keypoints, w.found.keypoint_dims = 1, "with 5 keypoints");
    TAKEN(with_keypoints, w.found.keypoint_dims = 2);
    REFUSED(with_keypoints, w.found.keypoint_dims = 4, "with 5 keypoints");
    EXPECT(plain, (w.has_sparse = true, toy.can.offers = 31 & ~SK_OFFERS_SPARSE), SK_ERR_UNSUPPORTED,
           "no sparse outputs");
    toy.can.offers = 31;
    TAKEN(plain, w.has_sparse = true);
}

static wish with_peaks(void)
{
    wish w = plain();
    w.has_peaks = true;
    return w;
}

static wish with_highest(void)
{
    wish w = with_peaks();
    w.peaks.local = 0, w.peaks.capacity = 1, w.peaks.fields = -1, w.peaks.pairs = 0, w.peaks.n_edges = 0;
    return w;
}

static void peaks_have_bounds(void **state)
{
    (void)state;
    const char *sense = "makes no sense";
    TAKEN(with_peaks, (void)0);
    TAKEN(with_highest, (void)0);
    EXPECT(with_peaks, toy.can.offers = 31 & ~SK_OFFERS_PEAKS, SK_ERR_UNSUPPORTED, "does not look for peaks");
    toy.can.offers = 31;
    REFUSED(with_peaks, w.has_sparse = true, "peaks are SLEAP's");
    REFUSED(with_peaks, (w.has_found = true, w.s.tail = SK_TAIL_CUT), "peaks are SLEAP's");
    REFUSED(with_peaks, w.peaks.maps = -1, sense);
    REFUSED(with_peaks, w.peaks.capacity = 0, sense);
    TAKEN(with_peaks, w.peaks.capacity = 4096);
    REFUSED(with_peaks, w.peaks.capacity = 4097, sense);
    REFUSED(with_peaks, w.peaks.pairs = -1, sense);
    REFUSED(with_peaks, w.peaks.pairs = 0, sense); /* fields, and no room for what they say */
    REFUSED(with_peaks, w.peaks.fields = -1, sense);
    REFUSED(with_peaks, w.peaks.n_classes = 0, sense);
    REFUSED(with_peaks, w.peaks.n_classes = -1, sense);
    REFUSED(with_peaks, w.peaks.classes = -1, sense);
    REFUSED(with_peaks, w.peaks.n_classes = SK_PEAK_MOST_CLASSES + 1, sense);
    EXPECT(with_peaks, w.peaks.n_classes = SK_PEAK_MOST_CLASSES, SK_ERR_UNSUPPORTED, "class maps");
    REFUSED(with_peaks, w.peaks.n_edges = -1, sense);
    REFUSED(with_peaks, w.peaks.n_edges = SK_PEAK_MOST_EDGES + 1, sense);
    EXPECT(with_peaks, w.peaks.n_edges = SK_PEAK_MOST_EDGES, SK_ERR_UNSUPPORTED,
           "output 3 is not the affinity fields");
    REFUSED(with_peaks, w.peaks.n_channels = 0, sense);
    REFUSED(with_peaks, w.peaks.n_channels = SK_PEAK_MOST_NODES + 1, sense);
    EXPECT(with_peaks, w.peaks.n_channels = SK_PEAK_MOST_NODES, SK_ERR_UNSUPPORTED,
           "output 0 is not the confidence maps");
    REFUSED(with_peaks, w.peaks.n_points = 1, sense);
    TAKEN(with_peaks, w.peaks.n_points = 2);
    REFUSED(with_peaks, w.peaks.maps_stride = 0, sense);
    REFUSED(with_peaks, w.peaks.fields_stride = 0, sense);
    REFUSED(with_peaks, w.peaks.classes_stride = 0, sense);
    REFUSED(with_highest, w.peaks.capacity = 2, sense);
    REFUSED(with_highest, (w.peaks.fields = 3, w.peaks.pairs = 5, w.peaks.n_edges = 3), sense);
    REFUSED(with_peaks, w.peaks.edges[1][0] = -1, "edge 1 names map -1 of 3");
    REFUSED(with_peaks, w.peaks.edges[2][1] = 3, "edge 2 names map 3 of 3");
    TAKEN(with_peaks, w.peaks.edges[2][1] = 2);
    EXPECT(with_peaks, w.peaks.offsets = 2, SK_ERR_UNSUPPORTED, "output 2 is not the offsets");
    EXPECT(with_peaks, w.peaks.offsets = 3, SK_ERR_UNSUPPORTED,
           "output 3 is not the offsets"); /* of half the size */
    TAKEN(with_peaks, w.peaks.offsets = -1);
    EXPECT(with_peaks, w.peaks.fields = 4, SK_ERR_UNSUPPORTED, "output 4 is not the affinity fields");
    EXPECT(with_peaks, w.peaks.maps = 4, SK_ERR_UNSUPPORTED, "output 4 is not the confidence maps");
}

static void sessions_tell_of_themselves(void **state)
{
    (void)state;
    wish w = with_peaks();
    sk_session *s = NULL;
    sk_error err = {0};
    w.s.slots = 2;
    assert_ok(open_with(&w, &s, &err), &err);
    const sk_session_info *info = sk_session_about(s);
    assert_ptr_equal(info->engine, &toy);
    assert_int_equal(info->n_inputs, 1);
    assert_int_equal(info->n_outputs, 5);
    assert_string_equal(info->input_names[0], "images");
    static const char *const names[] = {"maps", "offsets", "classes", "fields", "peaks"};
    static const int64_t channels[] = {3, 6, 2, 6};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(info->output_names[i], names[i]);
        assert_int_equal(info->outputs[i].shape.dim[0], 2);
        assert_int_equal(info->outputs[i].dtype, i < 4 ? SK_DTYPE_F32 : SK_DTYPE_I32);
        assert_int_equal(info->outputs[i].shape.rank, i < 4 ? 4 : 2);
        if (i < 4)
            assert_int_equal(info->outputs[i].shape.dim[1], channels[i]);
    }
    assert_int_equal(info->outputs[4].shape.dim[1], sk_peak_layout_of(&w.peaks).words);
    assert_int_equal(info->slots, 2);
    assert_int_equal(info->outputs_form, SK_OUTPUTS_WHOLE);
    assert_null(s->settings.stages.peaks);
    sk_session_close(&s);
    assert_null(s);
    w = with_found();
    w.found.max_det = 50;
    assert_ok(open_with(&w, &s, &err), &err);
    info = sk_session_about(s);
    assert_int_equal(info->n_outputs, 1);
    assert_string_equal(info->output_names[0], "found");
    assert_int_equal(info->outputs_form, SK_OUTPUTS_FOUND);
    assert_int_equal(info->outputs[0].shape.dim[0], 2);
    assert_int_equal(info->outputs[0].shape.dim[1], 50);
    assert_int_equal(info->outputs[0].shape.dim[2], 6);
    assert_int_equal(info->outputs[0].shape.rank, 3);
    assert_int_equal(info->outputs[0].dtype, SK_DTYPE_F32);
    sk_session_close(&s);
    w = with_keypoints();
    w.found.max_det = 65; /* more than there are places */
    assert_ok(open_with(&w, &s, &err), &err);
    assert_int_equal(sk_session_about(s)->outputs[0].shape.dim[1], 64);
    assert_int_equal(sk_session_about(s)->outputs[0].shape.dim[2], 6 + 15);
    sk_session_close(&s);
    assert_int_equal(sk_session_open(&toy, graph, &shape, 2, NULL, &s, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "2 input shapes given, the graph has 1"));
    assert_int_equal(sk_session_open(NULL, graph, &shape, 1, NULL, &s, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_open(&toy, graph, NULL, 1, NULL, &s, &err), SK_ERR_ARG);
}

/* Sizes of maps that peaks are looked for in. */
static void sizes_have_bounds(void **state)
{
    (void)state;
    static const struct {
        int64_t h, w;
        sk_status status;
        const char *says;
    } all[] = {{1 << 15, 2, SK_OK, ""},
               {2, 1 << 15, SK_OK, ""},
               {(1 << 15) + 2, 2, SK_ERR_UNSUPPORTED, "output 0 is not the confidence maps"},
               {2, (1 << 15) + 2, SK_ERR_UNSUPPORTED, "output 0 is not the confidence maps"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wish w = with_peaks();
        sk_session *s = NULL;
        sk_error err = {0};
        const sk_shape size = sk_shape_of(4, 1, 3, all[i].h, all[i].w);
        w.s.stages.peaks = &w.peaks;
        assert_int_equal(sk_session_open(&toy, graph, &size, 1, &w.s, &s, &err), all[i].status);
        assert_non_null(strstr(err.message, all[i].says));
        sk_session_close(&s);
    }
}

/* Slots in turn, however they are waited for; too many are refused, and nothing is waited for that was not handed in. */
static void slots_are_used_in_turn(void **state)
{
    (void)state;
    wish w = plain();
    sk_session *s = NULL;
    sk_error err = {0};
    sk_tensor outputs[4];
    float data[2 * 3 * 8 * 8];
    const sk_session_input in = {.data = data}, none = {0};
    w.s.slots = 3;
    assert_ok(open_with(&w, &s, &err), &err);
    const toy_session *t = (const toy_session *)s;
    assert_int_equal(sk_session_wait(s, NULL, 0, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_submit(s, &none, 1, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_submit(s, &in, 2, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_submit(s, NULL, 1, &err), SK_ERR_ARG);
    for (int i = 0; i < 3; i++)
        assert_ok(sk_session_submit(s, &in, 1, &err), &err);
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_BUSY);
    assert_int_equal(sk_session_capture(s, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_wait(s, outputs, 3, &err), SK_ERR_ARG); /* no room */
    assert_ok(sk_session_wait(s, outputs, 4, &err), &err);
    assert_ptr_equal(outputs[2].data, t->outputs[2]);
    assert_int_equal(outputs[1].shape.dim[1], 6);
    assert_int_equal(s->last_slot, 0);
    assert_ok(sk_session_submit(s, &in, 1, &err), &err);
    while (s->waited != s->submitted)
        assert_ok(sk_session_wait(s, NULL, 0, &err), &err);
    assert_int_equal(s->submitted, 1); /* small again, and the turn kept */
    assert_ok(sk_session_run(s, &in, 1, outputs, 4, &err), &err);
    static const int32_t turn[] = {0, 1, 2, 0, 1};
    assert_int_equal(t->n_submits, 5);
    assert_memory_equal(t->slots, turn, sizeof turn);
    assert_ok(sk_session_capture(s, &err), &err);
    assert_true(t->captured);
    sk_session_times times = {1, 1, 1};
    assert_ok(sk_session_get_times(s, &times, &err), &err);
    assert_true(times.upload == 0 && times.network == 0);
    assert_int_equal(sk_session_profile_start(s, &err), SK_ERR_UNSUPPORTED);
    int32_t count;
    assert_int_equal(sk_session_profile(s, NULL, 0, &count, &err), SK_ERR_UNSUPPORTED);
    assert_int_equal(sk_session_profile(s, NULL, 1, &count, &err), SK_ERR_ARG);
    sk_frame frame = SK_FRAME_INIT;
    assert_int_equal(sk_session_resident(s, 0, &frame, &err), SK_ERR_ARG); /* it takes no frames */
    const sk_frame *const frames[] = {&frame};
    const sk_session_input framed_in = {.frames = frames};
    assert_int_equal(sk_session_submit(s, &framed_in, 1, &err), SK_ERR_UNSUPPORTED);
    assert_ok(sk_session_submit(s, &in, 1, &err), &err); /* close waits for it */
    sk_session_close(&s);
}

static void frames_and_crops_are_handed_in(void **state)
{
    (void)state;
    wish w = framed();
    sk_session *s = NULL;
    sk_error err = {0};
    sk_frame frame = SK_FRAME_INIT;
    const sk_frame *frames[] = {&frame};
    sk_crop crops[3] = {{0}};
    sk_crop_list list = {.items = crops, .count = 2};
    sk_session_input in = {.frames = frames, .crops = &list};
    assert_ok(open_with(&w, &s, &err), &err);
    assert_ok(sk_session_run(s, &in, 1, NULL, 0, &err), &err);
    assert_ok(sk_session_resident(s, 0, &frame, &err), &err);
    assert_ok(sk_session_resident(s, 1, &frame, &err), &err);
    assert_int_equal(frame.index, 1);
    assert_int_equal(sk_session_resident(s, 2, &frame, &err), SK_ERR_ARG);
    assert_int_equal(sk_session_resident(s, -1, &frame, &err), SK_ERR_ARG);
    toy.resident = NULL;
    assert_int_equal(sk_session_resident(s, 0, &frame, &err), SK_ERR_UNSUPPORTED);
    toy.resident = toy_resident;
    toy.can.reads = 1;
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_UNSUPPORTED);
    toy.can.reads = 15;
    sk_session_close(&s);
    w = cropped();
    assert_ok(open_with(&w, &s, &err), &err);
    assert_ok(sk_session_run(s, &in, 1, NULL, 0, &err), &err);
    list.count = 0;
    assert_ok(sk_session_run(s, &in, 1, NULL, 0, &err), &err);
    list.count = 3;
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "at most 2 crops"));
    list.count = -1;
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_ARG);
    list.count = 1;
    in.crops = NULL;
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_ARG);
    in.crops = &list, frames[0] = NULL;
    assert_int_equal(sk_session_submit(s, &in, 1, &err), SK_ERR_ARG);
    sk_session_close(&s);
}

/* (value * scale - mean) / std, from rows and pictures with gaps, in all or in a part. */
static void bytes_become_numbers(void **state)
{
    (void)state;
    sk_session_settings s = sk_session_defaults();
    const sk_shape small = {.rank = 4, .dim = {2, 3, 2, 4}};
    uint8_t bytes[100];
    float out[48], part[48];
    for (int i = 0; i < 100; i++)
        bytes[i] = (uint8_t)(i * 37);
    for (int k = 0; k < 3; k++)
        s.mean[k] = 0.25f * (float)k, s.std[k] = 0.5f + (float)k;
    for (int gaps = 0; gaps < 2; gaps++) {
        const sk_session_input in = {
            .data = bytes, .row_bytes = gaps ? 14 : 0, .picture_bytes = gaps ? 31 : 0};
        const int row = gaps ? 14 : 12, picture = gaps ? 31 : 24;
        sk_input_unpack_u8(&in, &s, &small, out);
        for (int n = 0; n < 2; n++)
            for (int c = 0; c < 3; c++)
                for (int y = 0; y < 2; y++)
                    for (int x = 0; x < 4; x++) {
                        const float v = (float)bytes[n * picture + y * row + 3 * x + c];
                        assert_true(fabsf(out[((n * 3 + c) * 2 + y) * 4 + x] -
                                          (v / 255 - s.mean[c]) / s.std[c]) < 1e-5f);
                    }
        memset(part, 0, sizeof part);
        sk_input_unpack_u8_rows(&in, &s, &small, 0, 1, part);
        sk_input_unpack_u8_rows(&in, &s, &small, 1, 4, part);
        assert_memory_equal(part, out, sizeof out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_bounds),
        cmocka_unit_test(frames_have_bounds),
        cmocka_unit_test(crops_have_bounds),
        cmocka_unit_test(detections_have_bounds),
        cmocka_unit_test(peaks_have_bounds),
        cmocka_unit_test(sessions_tell_of_themselves),
        cmocka_unit_test(sizes_have_bounds),
        cmocka_unit_test(slots_are_used_in_turn),
        cmocka_unit_test(frames_and_crops_are_handed_in),
        cmocka_unit_test(bytes_become_numbers),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
