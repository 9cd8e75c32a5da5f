/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that files of other programs say, show or hide: rows of boxes that are guessed, crops and strides of sleap-nn's exports, heads in a
 * description, windows and groups of convolutions. */
#include "onnx_model_fixture.h"

#include "base/memory.h"
#include "support/yolo_writer.h"

static sk_error err;

static sk_status write_and_open(const sk_model *model, bool open_size, const char *folder, const char *json,
                                sk_model **out)
{
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    char path[4200];
    s.dynamic_batch = s.dynamic_size = open_size;
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    onnx->n_metadata = 0;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    sk_onnx_close(&onnx);
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    sk_free(bytes);
    if (!json)
        return sk_model_open(path, out, &err);
    snprintf(path, sizeof path, "%s/export_metadata.json", folder);
    assert_ok(sk_file_replace(path, json, strlen(json), &err), &err);
    return sk_model_open(folder, out, &err);
}

/* --- rows --- */

static int64_t rows[2];

static void build_rows(sk_builder *b)
{
    const sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    const sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &fixed);
    const sk_value flat = sk_b_reshape(b, x, (const int64_t[]){1, -1}, 2);
    const sk_value in[5] = {flat, sk_b_i64s(b, (const int64_t[]){0}, 1),
                            sk_b_i64s(b, (const int64_t[]){rows[0] * (rows[1] ? rows[1] : 1)}, 1),
                            sk_b_i64s(b, (const int64_t[]){1}, 1), sk_b_i64s(b, (const int64_t[]){1}, 1)};
    const sk_value some = sk_b_node(b, SK_OP_SLICE, NULL, in, 5, "some");
    sk_b_output(b, sk_b_reshape(b, some, (const int64_t[]){1, rows[0], rows[1]}, rows[1] ? 3 : 2), "output0");
}

/* Six numbers a row, and few of them, are boxes that are chosen already; more of them are nothing that is known. */
static void rows_that_are_guessed(void **state)
{
    (void)state;
    static const struct {
        int64_t rows[2]; /* the second 0: one row of so many numbers */
        sk_output_kind kind;
        int32_t classes;
    } cases[] = {{{300, 6}, SK_OUTPUT_YOLO_END2END, 80}, {{1000, 6}, SK_OUTPUT_YOLO_END2END, 80},
                 {{1001, 6}, SK_OUTPUT_OTHER, 0},        {{300, 7}, SK_OUTPUT_OTHER, 0},
                 {{5, 126}, SK_OUTPUT_YOLO, 1},          {{4, 126}, SK_OUTPUT_OTHER, 0},
                 {{6, 126}, SK_OUTPUT_YOLO, 2},          {{126, 126}, SK_OUTPUT_OTHER, 0},
                 {{5, 510}, SK_OUTPUT_YOLO, 1},          {{1000, 0}, SK_OUTPUT_CLASS_SCORES, 1000},
                 {{2, 0}, SK_OUTPUT_CLASS_SCORES, 2},    {{1, 0}, SK_OUTPUT_OTHER, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *again = NULL;
        memcpy(rows, cases[i].rows, sizeof rows);
        sk_model *model = make_model(build_rows);
        model->n_outputs = 1;
        model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "output0", 0};
        assert_ok(write_and_open(model, false, in_folder("rows"), NULL, &again), &err);
        if (again->outputs[0].kind != cases[i].kind || again->n_classes != cases[i].classes)
            fail_msg("case %zu: kind %d, %d classes", i, again->outputs[0].kind, again->n_classes);
        assert_int_equal(again->task, cases[i].kind == SK_OUTPUT_OTHER          ? SK_TASK_UNKNOWN
                                      : cases[i].kind == SK_OUTPUT_CLASS_SCORES ? SK_TASK_CLASSIFY
                                                                                : SK_TASK_DETECT);
        assert_int_equal(again->yolo.end2end, cases[i].kind == SK_OUTPUT_YOLO_END2END);
        if (cases[i].kind == SK_OUTPUT_YOLO_END2END)
            assert_int_equal(again->yolo.max_det, cases[i].rows[0]);
        if (cases[i].kind ==
            SK_OUTPUT_YOLO) { /* 8 x 12, 4 x 6 and 2 x 3 places are 126; with 16 x 24 they are 510 */
            const bool finer = cases[i].rows[1] == 510;
            assert_int_equal(again->yolo.n_levels, finer ? 4 : 3);
            for (int k = 0; k < again->yolo.n_levels; k++)
                assert_true(again->yolo.stride[k] == (float)((finer ? 4 : 8) << k));
        }
        sk_model_close(&again);
        sk_model_close(&model);
    }
}

/* --- sleap-nn's exports --- */

static int pool_height, pool_width;

/* Halved and doubled again along one side or both, and laid beside the input: that side must be even. */
static void build_halves(sk_builder *b)
{
    const sk_shape open = {.rank = 4, .dim = {-1, 1, -1, -1}};
    const sk_value x = sk_b_input(b, "image", SK_DTYPE_U8, &open);
    const sk_attrs cast = {.cast.to = SK_DTYPE_F32}, arg = {.arg = {.axis = 1}},
                   pool = {.pool = {.window = {.kernel = {pool_height, pool_width},
                                               .stride = {pool_height, pool_width},
                                               .dilation = {1, 1}}}},
                   up = {.resize = {.mode = SK_RESIZE_NEAREST,
                                    .coords = SK_COORDS_ASYMMETRIC,
                                    .round = SK_ROUND_FLOOR,
                                    .scale = {(float)pool_height, (float)pool_width}}};
    const sk_value f = sk_b_node(b, SK_OP_CAST, &cast, &x, 1, "cast"),
                   half = sk_b_node(b, SK_OP_MAX_POOL, &pool, &f, 1, "pool"),
                   twice = sk_b_node(b, SK_OP_RESIZE, &up, &half, 1, "up");
    const sk_value map = sk_b_concat(b, (const sk_value[]){f, twice}, 2, 1);
    const sk_value flat = sk_b_reshape(b, map, (const int64_t[]){0, -1}, 2);
    sk_b_output(b, sk_b_node(b, SK_OP_ARG_MAX, &arg, &flat, 1, "peaks"), "peaks");
}

static void strides_and_crops_of_exports(void **state)
{
    (void)state;
    static const struct {
        int pool[2];
        const char *type, *crop;
        int32_t stride, height, width; /* stride 0: refused; height 0: not the crop's */
    } cases[] = {
        {{2, 2}, "centered_instance", "null", 2, 0, 0},
        {{1, 1}, "centered_instance", "[48, 65]", 1, 48, 65},
        {{2, 2}, "centered_instance", "[48, 65]", 2, 48, 66},
        {{1, 2}, "centered_instance", "[47, 64]", 2, 48, 64},
        {{2, 1}, "centered_instance", "[47, 65]", 2, 48, 66},
        {{4, 4}, "centered_instance", "[50, 50]", 4, 52, 52},
        {{1, 16}, "centered_instance", "[64, 80]", 16, 64, 80},
        {{2, 2}, "topdown", "[48, 64]", 2, 0, 0},
        {{2, 2}, "centered_instance", "[0, 64]", 2, 0, 0},
        {{2, 2}, "centered_instance", "[64, 0]", 2, 0, 0},

        {{2, 2}, "centered_instance", "[-1, 64]", 0, 0, 0},
        {{2, 2}, "centered_instance", "[64, 65537]", 0, 0, 0},
    };
    int32_t usual[2] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[400], folder[600];
        sk_model *again = NULL;
        pool_height = cases[i].pool[0], pool_width = cases[i].pool[1];
        sk_model *model = make_model(build_halves);
        model->input.channels = 1;
        model->input.dtype = SK_DTYPE_U8;
        model->n_outputs = 1;
        model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "peaks", 0};
        snprintf(json, sizeof json,
                 "{\"model_type\": \"%s\", \"n_nodes\": 2, \"node_names\": [\"A\", \"B\"], \"edge_inds\": [],"
                 " \"input_scale\": 1.0, \"crop_size\": %s, \"output_stride\": 2}",
                 cases[i].type, cases[i].crop);
        snprintf(folder, sizeof folder, "%s/crop%zu", test_folder(), i);
        const sk_status status = write_and_open(model, true, folder, json, &again);
        assert_int_equal(status, cases[i].stride ? SK_OK : SK_ERR_FORMAT);
        if (status != SK_OK) {
            assert_non_null(strstr(err.message, "'crop_size' makes no sense"));
        } else {
            if (again->input.stride != cases[i].stride ||
                (cases[i].height &&
                 (again->input.height != cases[i].height || again->input.width != cases[i].width)))
                fail_msg("case %zu: stride %d, %d x %d", i, again->input.stride, again->input.height,
                         again->input.width);
            assert_int_equal(again->sleap.pad_to_stride, cases[i].stride);
            if (i == 0) /* what it has where nothing is said */
                usual[0] = again->input.height, usual[1] = again->input.width;
            if (!cases[i].height)
                assert_true(again->input.height == usual[0] && again->input.width == usual[1]);
        }
        sk_model_close(&again);
        sk_model_close(&model);
    }
}

/* --- a description of our own with one thing too many --- */

static void heads_of_a_description(void **state)
{
    (void)state;
    sk_model *model = make_yolo(), *back = NULL;
    const int32_t most = (int32_t)(sizeof model->yolo.heads / sizeof *model->yolo.heads);
    for (int32_t i = 0; i < most; i++)
        model->yolo.heads[i] = model->yolo.heads[i % 9];
    for (int more = 0; more < 2; more++) {
        char *text = NULL;
        model->yolo.n_heads = most;
        assert_ok(sk_model_to_json(model, &text, &err), &err);
        char *begin = strstr(text, "\"heads\""), *list = begin ? strchr(begin, '[') : NULL;
        assert_non_null(list);
        char *first = strchr(list + 1, '['), *behind = first ? strchr(first, ']') : NULL;
        assert_non_null(behind);
        const size_t length = (size_t)(behind + 1 - first);
        char *longer = calloc(1, strlen(text) + length + 2);
        const size_t head = (size_t)(list + 1 - text);
        memcpy(longer, text, head);
        if (more) {
            memcpy(longer + head, first, length);
            longer[head + length] = ',';
        }
        strcat(longer, list + 1);
        assert_ok(sk_model_create(&back, &err), &err);
        const sk_status status = sk_model_from_json(back, longer, "it", &err);
        assert_int_equal(status == SK_OK, !more);
        if (more)
            assert_non_null(strstr(err.message, "heads"));
        else
            assert_int_equal(back->yolo.n_heads, most);
        sk_model_close(&back);
        free(longer);
        sk_free(text);
    }
    sk_model_close(&model);
}

/* --- convolutions of checkpoints --- */

static void windows_and_groups_of_convolutions(void **state)
{
    (void)state;
    static const char window[] = "its kernel size, stride, padding or dilation is missing",
                      weight[] = "the transposed convolution's weight does not fit its sizes";
    static const struct {
        const char *block, *why; /* null: taken */
    } cases[] = {{"Conv2d(8,8,3)", NULL},
                 {"Conv2d(8,8,3){padding='same'}", window},
                 {"Conv2d(8,8,3){padding=(-1,1)}", window},
                 {"Conv2d(8,8,3){stride='2'}", window},
                 {"Conv2d(8,8,3){stride=(1,0)}", window},
                 {"Conv2d(8,8,3){kernel_size='3'}", window},
                 {"Conv2d(8,8,3){dilation=(1,0)}", window},
                 {"Conv2d(8,8,3){dilation='1'}", window},
                 {"Conv2d(8,8,3){dilation=(1025,1)}", window},
                 {"Transposed(8,8,1,1)", NULL},
                 {"Transposed(8,8,1,1){groups=0}", weight},
                 {"Transposed(8,8,1,1){groups=-1}", weight},
                 {"Transposed(8,8,1,1){groups=65537}", weight},
                 {"Transposed(8,8,1,1){groups=3}", weight},
                 {"Transposed(8,8,1,1){out_channels=7}", weight},
                 {"Transposed(8,8,1,1){kernel_size=(2,1)}", weight},
                 {"Transposed(8,8,1,1){kernel_size=(1,2)}", weight},
                 {"Transposed(8,8,1,1){padding='same'}", window}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = NULL;
        const sk_status status =
            sk_model_open(yolo_save(&(yolo_fixture){.block = cases[i].block}, "window.pt"), &model, &err);
        if (cases[i].why ? status == SK_OK || !strstr(err.message, cases[i].why) : status != SK_OK)
            fail_msg("%s: %s", cases[i].block, status == SK_OK ? "taken" : err.message);
        sk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_guessed),
        cmocka_unit_test(strides_and_crops_of_exports),
        cmocka_unit_test(heads_of_a_description),
        cmocka_unit_test(windows_and_groups_of_convolutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
