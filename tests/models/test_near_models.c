/* SPDX-License-Identifier: Apache-2.0 */
/* Models near those that are read: one number, word or line of a checkpoint or configuration is another. What becomes of each, the model or
 * the words that it is refused with, is compared with what became of it before, as a hash a file. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "models/model.h"
#include "models/model_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

/* What a model says and is, or why it is none; paths are left out. */
static void tell(sk_model **model, sk_status status, const char *path, sk_text *log)
{
    char *text = NULL, *graph = NULL;
    if (status == SK_OK && *model) {
        assert_ok(sk_model_to_json(*model, &text, &err), &err);
        if ((*model)->graph)
            assert_ok(sk_graph_print((*model)->graph, &graph, &err), &err);
        sk_text_appendf(log, "%016llx %016llx\n", (unsigned long long)sk_hash_xxh3(text, strlen(text), 0),
                        (unsigned long long)(graph ? sk_hash_xxh3(graph, strlen(graph), 0) : 0));
    } else {
        const size_t n = strlen(path);
        sk_text_appendf(log, "%d ", status);
        for (const char *c = err.message; *c;) {
            const bool here = n && strncmp(c, path, n) == 0;
            if (!here)
                sk_text_append_bytes(log, c, 1);
            c += here ? n : 1;
        }
        sk_text_append(log, "\n");
    }
    sk_free_all(text, graph);
    sk_model_close(model);
    err = (sk_error){0};
}

static void put(sk_text *told, const char *name, sk_text *log)
{
    int lines = 0;
    for (const char *c = sk_text_get(log); *c; c++)
        lines += *c == '\n';
    sk_text_appendf(told, "%016llx %5d %s\n",
                    (unsigned long long)sk_hash_xxh3(sk_text_get(log), log->length, 0), lines, name);
    if (getenv("SKITTER_TEST_SHOW") && strcmp(getenv("SKITTER_TEST_SHOW"), name) == 0)
        fprintf(stderr, "%s", sk_text_get(log));
    sk_text_free(log);
}

/* --- checkpoints --- */

typedef struct change {
    int64_t seen_numbers, seen_texts, number, text; /* which one is another; -1: none */
} change;

static int64_t other_number(void *context, int64_t value)
{
    change *c = context;
    if (c->seen_numbers++ != c->number)
        return value;
    return c->number % 3 == 0 ? value + 1 : c->number % 3 == 1 ? value - 1 : 0;
}

static const char *other_text(void *context, const char *text)
{
    change *c = context;
    return c->seen_texts++ == c->text ? "nonsense" : text;
}

static void tell_checkpoint(const yolo_fixture *fixture, change *c, sk_text *log)
{
    tw_pickle p = {.hook = other_number, .text_hook = other_text, .context = c};
    tw_zip zip = {.no_crc = true};
    sk_model *model = NULL;
    yolo_write(fixture, &p);
    tw_checkpoint(&zip, "best", &p);
    assert_ok(sk_model_create(&model, &err), &err);
    const sk_status status =
        sk_model_read_ultralytics_memory(zip.out.bytes, zip.out.length, "best.pt", model, &err);
    tell(&model, status, "best.pt", log);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
}

static void near_checkpoints(void **state)
{
    (void)state;
    static const yolo_fixture heads[] = {{.head = "Pose", .f32 = true},
                                         {.head = "OBB", .fused = true, .f32 = true},
                                         {.head = "Segment", .f32 = true, .plain_dicts = true},
                                         {.head = "v10Detect", .f32 = true, .in_ema = true},
                                         {.head = "Classify", .f32 = true, .flat_paths = true},
                                         {.head = "Pose26", .f32 = true}};
    sk_text told = {0};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        sk_text log = {0};
        change c = {.number = -1, .text = -1};
        tell_checkpoint(&heads[i], &c, &log);
        const int64_t numbers = c.seen_numbers, texts = c.seen_texts;
        for (int64_t k = (int64_t)i % 4; k < numbers; k += 4) {
            c = (change){.number = k, .text = -1};
            tell_checkpoint(&heads[i], &c, &log);
        }
        for (int64_t k = (int64_t)i % 2; k < texts; k += 2) {
            c = (change){.number = -1, .text = k};
            tell_checkpoint(&heads[i], &c, &log);
        }
        put(&told, heads[i].head, &log);
    }
    test_text_is("tests/models/whole/near_checkpoints.txt", sk_text_get(&told));
    sk_text_free(&told);
}

/* --- configurations --- */

static void tell_folder(const char *folder, sk_text *log)
{
    sk_model *model = NULL;
    const sk_status status = sk_model_open(folder, &model, &err);
    tell(&model, status, folder, log);
}

/* The text with line `which` as `line`; null: without it. */
static void write_line(const char *path, const char *text, int which, const char *line)
{
    sk_text out = {0};
    for (int n = 0; *text; n++) {
        const size_t length = strcspn(text, "\n");
        if (n != which)
            sk_text_appendf(&out, "%.*s\n", (int)length, text);
        else if (line)
            sk_text_appendf(&out, "%s\n", line);
        text += length + (text[length] == '\n');
    }
    assert_ok(sk_file_replace(path, sk_text_get(&out), out.length, &err), &err);
    sk_text_free(&out);
}

static void near_configuration(const char *fixture, const char *network, const char *config, sk_text *told)
{
    static const char *const others[] = {"7", "-1", "nonsense"};
    char from[4200], path[4400], folder[4200], *text = NULL;
    size_t length = 0;
    sk_text log = {0};
    snprintf(folder, sizeof folder, "%s/near", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(from, sizeof from, "tests/fixtures/%s/%s", fixture, network);
    snprintf(path, sizeof path, "%s/%s", folder, network);
    assert_ok(sk_file_read(test_source(from), 1 << 24, &text, &length, &err), &err);
    assert_ok(sk_file_replace(path, text, length, &err), &err);
    sk_free(text);
    char network_path[4400];
    snprintf(network_path, sizeof network_path, "%s", path);
    snprintf(from, sizeof from, "tests/fixtures/%s/%s", fixture, config);
    snprintf(path, sizeof path, "%s/%s", folder, config);
    assert_ok(sk_file_read(test_source(from), 1 << 24, &text, &length, &err), &err);
    int lines = 0;
    for (const char *at = text; *at; lines++, at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        char *colon = strchr(line, ':');
        write_line(path, text, lines, NULL);
        tell_folder(folder, &log);
        for (size_t k = 0; colon && k < sizeof others / sizeof *others; k++) {
            char other[600];
            const bool comma = line[strlen(line) - 1] == ',';
            const bool word =
                others[k][0] == 'n' && strcmp(others[k], "null") != 0 && strstr(config, ".json");
            snprintf(other, sizeof other, "%.*s: %s%s%s%s", (int)(colon - line), line, word ? "\"" : "",
                     others[k], word ? "\"" : "", comma ? "," : "");
            write_line(path, text, lines, other);
            tell_folder(folder, &log);
        }
    }
    sk_free(text);
    put(told, fixture, &log);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(network_path), 0);
}

static void near_configurations(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"sleap_nn/convnext_bottomup", "sleap_nn/unet_class_maps",
                                           "sleap_nn/unet_class_vectors", "sleap_nn/unet_stem_interpolated"};
    sk_text told = {0};
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++)
        near_configuration(fixtures[i], "best.ckpt", "training_config.yaml", &told);
    test_text_is("tests/models/whole/near_configurations.txt", sk_text_get(&told));
    sk_text_free(&told);
}

/* --- networks of Keras: their layers are a text in the file, of which a letter or digit is another --- */

static void near_layers(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"sleap_keras/pooling_and_merging", "sleap_keras/transposed",
                                           "sleap_keras/vectors"};
    static const char *const files[] = {"best_model.h5", "training_config.json"};
    sk_text told = {0};
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        char from[300], folder[4200], path[4400], *text = NULL;
        size_t length = 0;
        sk_text log = {0};
        snprintf(folder, sizeof folder, "%s/layers", test_folder());
        assert_ok(sk_folder_make(folder, &err), &err);
        for (int f = 1; f >= 0; f--) { /* the network stays in `text` */
            sk_free(text);
            snprintf(from, sizeof from, "tests/fixtures/%s/%s", fixtures[i], files[f]);
            snprintf(path, sizeof path, "%s/%s", folder, files[f]);
            assert_ok(sk_file_read(test_source(from), 1 << 24, &text, &length, &err), &err);
            assert_ok(sk_file_replace(path, text, length, &err), &err);
        }
        tell_folder(folder, &log);
        char *at = memmem(text, length, "{\"class_name\"", 13);
        assert_non_null(at);
        int n = 0;
        for (; *at; at++) {
            const bool digit = *at >= '0' && *at <= '9', begins = at[-1] == '"' && *at >= 'A' && *at <= 'z';
            if (!(digit || begins) || n++ % 3 != (int)i)
                continue;
            const char kept = *at;
            *at = digit ? (char)('0' + (kept - '0' + 1) % 10) : 'X';
            FILE *file = fopen(path, "w");
            assert_non_null(file);
            assert_int_equal(fwrite(text, 1, length, file), length);
            fclose(file);
            tell_folder(folder, &log);
            *at = kept;
        }
        sk_free(text);
        put(&told, fixtures[i], &log);
    }
    test_text_is("tests/models/whole/near_layers.txt", sk_text_get(&told));
    sk_text_free(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_checkpoints),
                                       cmocka_unit_test(near_configurations), cmocka_unit_test(near_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
