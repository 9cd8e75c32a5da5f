/* SPDX-License-Identifier: Apache-2.0 */
/* What the channels of a sleap-nn model are called: sleap-nn goes by the skeleton's nodes, in their order, and uses a head's
 * part_names only to find the ends of edges. */
#include "support/test.h"

#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    const size_t n = fread(text, 1, 65535, file);
    assert_true(n > 0);
    fclose(file);
    return text;
}

static void copy_file(const char *from, const char *to)
{
    char *bytes = malloc(1 << 22);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(bytes && in && out);
    const size_t n = fread(bytes, 1, 1 << 22, in);
    assert_true(n > 0 && n < 1 << 22 && fwrite(bytes, 1, n, out) == n);
    fclose(in);
    fclose(out);
    free(bytes);
}

/* The fixture with its head's parts called head_a … instead of a …. */
static sk_model *open_renamed(const char *fixture, const char *after, const char *node)
{
    char path[4096], folder[4096], from[4096];
    static int count;
    snprintf(folder, sizeof folder, "%s/renamed%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(from, sizeof from, "tests/fixtures/sleap_nn/%s/training_config.yaml", fixture);
    char *text = read_text(test_source(from)), *heads = strstr(text, after);
    assert_non_null(heads);
    snprintf(path, sizeof path, "%.4000s/training_config.yaml", folder);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        char *dash = memchr(line, '-', (size_t)(end - line));
        const bool part =
            line > heads && dash && dash[1] == ' ' && dash[2] >= 'a' && dash[2] <= 'c' && dash[3] == '\n';
        if (part)
            fprintf(out, "%.*s- %s%c\n", (int)(dash - line), line, node, dash[2]);
        else
            fwrite(line, 1, (size_t)(end - line), out);
    }
    fclose(out);
    free(text);
    snprintf(from, sizeof from, "tests/fixtures/sleap_nn/%s/best.ckpt", fixture);
    snprintf(path, sizeof path, "%.4000s/best.ckpt", folder);
    copy_file(test_source(from), path);
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(folder, &model, &err), &err);
    return model;
}

static void names_are_the_skeletons(void **state)
{
    (void)state;
    static const char *const fixtures[][2] = {{"unet_class_maps", "multi_class_bottomup:"},
                                              {"unet_class_vectors", "multi_class_topdown:"},
                                              {"unet_bottomup_transposed", "bottomup:"}};
    for (int i = 0; i < 3; i++) {
        sk_model *plain = open_renamed(fixtures[i][0], fixtures[i][1], ""),
                 *renamed = open_renamed(fixtures[i][0], fixtures[i][1], "head_");
        assert_true(plain->n_keypoints > 1 && plain->n_keypoints == renamed->n_keypoints);
        for (int k = 0; k < plain->n_keypoints; k++) {
            assert_int_equal(strlen(renamed->keypoint_names[k]), 1);
            assert_string_equal(renamed->keypoint_names[k], plain->keypoint_names[k]);
        }
        assert_int_equal(renamed->n_edges, plain->n_edges);
        assert_int_equal(renamed->sleap.n_edges, plain->sleap.n_edges);
        for (int k = 0; k < plain->sleap.n_edges; k++)
            assert_memory_equal(renamed->sleap.edges[k], plain->sleap.edges[k], sizeof plain->sleap.edges[k]);
        sk_model_close(&plain);
        sk_model_close(&renamed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_the_skeletons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
