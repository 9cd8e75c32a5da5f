/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a batch: batch.json and the list of pieces byte for byte, what is taken where a line is not there, and memory that runs
 * out while they are read or copied. */
#include "support/fault.h"
#include "support/test.h"

#include "app/batch_again.h"
#include "app/batch_internal.h"
#include "app/batch_state.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void file_is(const char *path, const char *wanted)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    assert_string_equal(text, wanted);
    sk_free(text);
}

static char texts[14][20] = {"out",  "skitter", "track", "/f", "0:9",    "cuda:0", "gpu",
                             "1:00", "a100",    "8G",    "4",  "module", "--nice", "--conf=1"};
static char *modules[] = {texts[11], NULL}, *sbatch[] = {texts[12], texts[11], NULL},
            *words[] = {texts[13], NULL}, *stamps[] = {texts[4], NULL}, *no_words[] = {NULL};

static sk_batch full(void)
{
    return (sk_batch){.out = texts[0],
                      .program = texts[1],
                      .id = "0123456789abcdef",
                      .command = texts[2],
                      .words = words,
                      .stamps = stamps,
                      .folder = texts[3],
                      .frames = texts[4],
                      .split = 11,
                      .pieces = 2,
                      .videos = 13,
                      .round = 14,
                      .how = {.workers = 15,
                              .retries = 16,
                              .losses = 17,
                              .devices = texts[5],
                              .slurm = true,
                              .partition = texts[6],
                              .time = texts[7],
                              .gpus = texts[8],
                              .memory = texts[9],
                              .cpus = texts[10],
                              .modules = modules,
                              .sbatch = sbatch,
                              .pieces_per_task = 18}};
}

static void the_description(void **state)
{
    (void)state;
    sk_batch b = full();
    assert_ok(sk_folder_make("out/.batch", &err), &err);
    assert_ok(batch_write(&b, &err), &err);
    file_is("out/.batch/batch.json",
            "{\n  \"skitter_batch\": 1,\n  \"id\": \"0123456789abcdef\",\n  \"program\": \"skitter\",\n"
            "  \"command\": \"track\",\n  \"folder\": \"/f\",\n  \"frames\": \"0:9\",\n  \"words\": [\n"
            "    \"--conf=1\"\n  ],\n  \"stamps\": [\n    \"0:9\"\n  ],\n  \"split\": 11,\n  \"pieces\": 2,\n"
            "  \"videos\": 13,\n  \"round\": 14,\n  \"workers\": 15,\n  \"retries\": 16,\n  \"losses\": 17,\n"
            "  \"pieces_per_task\": 18,\n  \"slurm\": true,\n  \"devices\": \"cuda:0\",\n"
            "  \"partition\": \"gpu\",\n  \"time\": \"1:00\",\n  \"gpus\": \"a100\",\n  \"memory\": \"8G\",\n"
            "  \"cpus\": \"4\",\n  \"modules\": [\n    \"module\"\n  ],\n  \"sbatch\": [\n    \"--nice\",\n"
            "    \"module\"\n  ]\n}\n");
    sk_batch *read = NULL;
    assert_ok(sk_batch_open("out", &read, &err), &err);
    assert_true(read->split == 11 && read->pieces == 2 && read->videos == 13 && read->round == 14);
    assert_string_equal(read->frames, "0:9");
    assert_string_equal(read->stamps[0], "0:9");
    assert_null(read->stamps[1]);
    assert_true(!read->how.modules[1] && !read->how.sbatch[2]);
    assert_ok(sk_folder_make("copy/.batch", &err), &err);
    sk_free(read->out); /* what was read is written again: the same bytes */
    read->out = sk_strdup("copy");
    assert_ok(batch_write(read, &err), &err);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("out/.batch/batch.json", 1 << 20, &text, &length, &err), &err);
    file_is("copy/.batch/batch.json", text);
    sk_free(text);
    sk_batch_close(&read);
    b.out = texts[12]; /* no such folder */
    assert_int_not_equal(batch_write(&b, &err), SK_OK);
}

static void what_is_not_said(void **state)
{
    (void)state;
    sk_batch *b = NULL;
    assert_ok(sk_folder_make("few/.batch", &err), &err);
    put("few/.batch/batch.json",
        "{\"skitter_batch\":1,\"id\":\"fedcba9876543210\",\"command\":\"predict\",\"pieces\":0}");
    assert_ok(sk_batch_open("few", &b, &err), &err);
    assert_string_equal(b->id, "fedcba9876543210");
    assert_string_equal(b->program, "skitter");
    assert_string_equal(b->folder, "/");
    assert_true(!b->frames && !b->stamps && b->words && !b->words[0]);
    assert_true(b->split == 0 && b->pieces == 0 && b->videos == 0 && b->round == 0);
    const sk_batch_how *h = &b->how;
    assert_true(h->workers == 0 && h->retries == 0 && h->losses == 0 && h->pieces_per_task == 0 && !h->slurm);
    assert_true(!h->devices && !h->partition && !h->time && !h->gpus && !h->memory && !h->cpus);
    assert_true(h->modules && !h->modules[0] && h->sbatch && !h->sbatch[0]);
    assert_null(sk_batch_piece_of(b, 0, &err));
    assert_string_equal(err.message, "piece 0: there are 0, from 0");
    sk_batch_close(&b);
    /* words that are none are empty ones; an id of another length is none */
    put("few/.batch/batch.json",
        "{\"skitter_batch\":1,\"id\":\"fedcba9876543210\",\"command\":\"track\",\"pieces\":1000,"
        "\"words\":[\"a\",7,\"\"],\"stamps\":[]}");
    assert_ok(sk_batch_open("few/.batch", &b, &err), &err);
    assert_string_equal(b->words[0], "a");
    assert_true(b->words[1] && b->words[2] && !b->words[2][0] && !b->words[3]);
    assert_true(b->stamps && !b->stamps[0]);
    assert_string_equal(b->out + strlen(b->out) - 4, "/few");
    sk_batch_close(&b);
    put("few/.batch/batch.json",
        "{\"skitter_batch\":1,\"id\":\"fedcba98765432100\",\"command\":\"track\",\"pieces\":0}");
    assert_int_equal(sk_batch_open("few", &b, &err), SK_ERR_FORMAT);
    assert_null(b);
    assert_int_equal(sk_batch_open("nowhere", &b, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "nowhere: no batch was begun here. Name the folder of its results "
                                     "(--out), or its plan");
}

static void the_list(void **state)
{
    (void)state;
    static sk_batch_piece pieces[SK_BATCH_SHARD] = {{.number = 0,
                                                     .kind = SK_BATCH_PART,
                                                     .parts = 1,
                                                     .frames_expected = 5,
                                                     .source = texts[0],
                                                     .name = texts[1],
                                                     .frames = texts[4]},
                                                    {.number = 1,
                                                     .kind = SK_BATCH_MERGE,
                                                     .parts = 1,
                                                     .frames_expected = -1,
                                                     .source = texts[2],
                                                     .name = texts[6],
                                                     .frames = texts[10]}};
    sk_batch_piece *shards[] = {pieces, pieces};
    sk_batch b = full();
    b.shards = shards;
    assert_ok(batch_write_shard(&b, 0, &err), &err);
    file_is("out/.batch/pieces/0000/list",
            "{\"piece\":0,\"kind\":\"part\",\"source\":\"out\",\"name\":\"skitter\",\"frames\":\"0:9\","
            "\"parts\":1,\"expected\":5}\n"
            "{\"piece\":1,\"kind\":\"merge\",\"source\":\"track\",\"name\":\"gpu\",\"frames\":\"4\","
            "\"parts\":1,\"expected\":-1}\n");
    b.pieces = 1000; /* of a folder behind the last nothing is written */
    assert_ok(batch_write_shard(&b, 1, &err), &err);
    file_is("out/.batch/pieces/0001/list", "");
}

/* --- memory --- */

static sk_status copy_how(void *context, sk_error *e)
{
    sk_batch_how copy;
    const sk_batch *b = context;
    const sk_status status = batch_how_copy(&b->how, &copy, e);
    if (status == SK_OK &&
        (strcmp(copy.devices, "cuda:0") != 0 || strcmp(copy.cpus, "4") != 0 || copy.modules == modules ||
         strcmp(copy.sbatch[1], "module") != 0 || copy.sbatch[2] || copy.workers != 15))
        return SK_ERR_FORMAT;
    batch_how_free(&copy);
    assert_true(!copy.devices && !copy.modules && !copy.sbatch && copy.workers == 0 && !copy.slurm);
    return status;
}

static sk_status open_it(void *context, sk_error *e)
{
    sk_batch *b = NULL;
    const sk_status status = sk_batch_open(context, &b, e);
    assert_int_equal(b != NULL, status == SK_OK);
    sk_batch_close(&b);
    return status;
}

static sk_status open_pieces(void *context, sk_error *e)
{
    sk_batch_piece *shards[1] = {NULL};
    sk_batch b = full();
    (void)context;
    b.shards = shards;
    const sk_batch_piece *p = sk_batch_piece_of(&b, 1, e);
    const sk_status status = p ? SK_OK : sk_batch_piece_lacking(e);
    assert_int_equal(shards[0] != NULL, status == SK_OK);
    batch_shard_free(shards[0]);
    return status;
}

static sk_status write_both(void *context, sk_error *e)
{
    sk_batch *b = context;
    SK_TRY(batch_write(b, e));
    return batch_write_shard(b, 0, e);
}

static sk_status list_again(void *context, sk_error *e)
{
    sk_batch_again again;
    sk_status status = sk_batch_again_read(context, true, &again, e);
    if (status == SK_OK && (again.count != 1 || !sk_batch_again_has(&again, "track") ||
                            sk_batch_again_has(&again, "out") || again.n_removed || again.n_newer))
        status = SK_ERR_FORMAT;
    sk_batch_again_free(&again);
    assert_true(!again.known && again.count == 0 && !sk_batch_again_has(&again, "track"));
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    char path[] = "out";
    sk_batch b = full();
    assert_int_equal(test_every_allocation(copy_how, &b), 11);
    sk_batch none = {.words = no_words};
    sk_batch_how empty;
    assert_ok(batch_how_copy(&none.how, &empty, &err), &err); /* no list is an empty one */
    assert_true(!empty.devices && empty.modules && !empty.modules[0] && !empty.sbatch[0]);
    batch_how_free(&empty);
    assert_true(test_every_allocation(open_it, path) > 20);
    assert_true(test_every_allocation(open_pieces, NULL) > 8);
    sk_batch *read = NULL;
    assert_ok(sk_batch_open("out", &read, &err), &err);
    assert_non_null(sk_batch_piece_of(read, 1, &err));
    assert_true(test_every_allocation(write_both, read) >= 2);
    assert_true(test_every_allocation(list_again, read) >= 1);
    sk_batch_close(&read);
    sk_batch_words_free(NULL);
    batch_shard_free(NULL);
}

/* --- what is said --- */

static char heard[2048];

static void hear(void *context, const char *text)
{
    assert_ptr_equal(context, &err);
    snprintf(heard, sizeof heard, "%s", text);
}

__attribute__((format(printf, 2, 3))) static void say(void (*tell)(void *, const char *), const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    batch_say(tell, &err, format, args);
    va_end(args);
}

static void sentences(void **state)
{
    (void)state;
    char many[1200];
    say(hear, "%d of %s", 3, "them");
    assert_string_equal(heard, "3 of them");
    say(NULL, "%d", 4);
    assert_string_equal(heard, "3 of them");
    memset(many, 'm', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    say(hear, "%s", many);
    assert_int_equal(strlen(heard), 1023);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_description), cmocka_unit_test(what_is_not_said), cmocka_unit_test(the_list),
        cmocka_unit_test(without_memory),  cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
