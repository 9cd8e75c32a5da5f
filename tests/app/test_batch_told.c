/* SPDX-License-Identifier: Apache-2.0 */
/* A batch from its wish to its summary, without a process: pieces, what is written of them, what is told. */
#include "support/test.h"

#include "app/batch.h"
#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"
#include "app/batch_status.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[2048];
static sk_error err;

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    return text;
}

/* A copy with every `from` as `to`. */
static void replace(sk_text *out, const char *text, const char *from, const char *to)
{
    sk_text_clear(out);
    for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
        sk_text_append_bytes(out, text, (size_t)(at - text));
        sk_text_append(out, to);
    }
    sk_text_append(out, text);
}

static void tell(void *context, const char *note)
{
    sk_text_appendf(context, "%s\n", note);
}

typedef struct made {
    sk_source_list videos;
    sk_source_settings media;
    sk_batch_how how;
    sk_batch_wish wish;
    sk_text told;
} made;

static char *const no_words[] = {NULL};
static const char *const names[] = {"a.mp4", "b, \"c\".mp4"};

static void make_wish(made *m, const char *out, int64_t split)
{
    *m = (made){.media = {.size = sizeof m->media}};
    sk_source_defaults(&m->media);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_file_replace(names[i], "no video", 8, &err), &err);
    assert_ok(sk_source_list_make(names, 2, &m->videos, &err), &err);
    m->how = (sk_batch_how){.retries = 2, .losses = 20};
    m->wish = (sk_batch_wish){.out = out,
                              .command = "track",
                              .words = no_words,
                              .videos = &m->videos,
                              .split = split,
                              .media = &m->media,
                              .how = &m->how,
                              .tell = tell,
                              .context = &m->told};
}

static void end_wish(made *m)
{
    sk_source_list_free(&m->videos);
    sk_text_free(&m->told);
}

static void put_pieces(sk_batch *b, sk_text *out)
{
    static const char *const kinds[] = {"video", "part", "merge"};
    for (int64_t i = 0; i < b->pieces; i++) {
        const sk_batch_piece *p = sk_batch_piece_of(b, i, &err);
        assert_non_null(p);
        assert_int_equal(p->number, i);
        sk_text_appendf(out, "%s %s '%s' parts %lld, %lld frames\n", kinds[p->kind], p->name, p->frames,
                        (long long)p->parts, (long long)p->frames_expected);
    }
}

/* --- pieces --- */

/* A video of ten frames: where its parts begin and end, whatever frames are wanted. */
static void parts_of_a_video(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg, which counts a video's frames\n");
    skip();
#endif
    char video[4096];
    snprintf(video, sizeof video, "%s", test_source("tests/fixtures/colours/bt709.mp4"));
    const char *given[] = {video};
    static const struct {
        int64_t split, first, last, step;
    } rows[] = {{0, 0, -1, 1}, {100, 0, -1, 1}, {1, 0, -1, 1}, {2, 0, -1, 1},  {2, 1, -1, 1},
                {2, 0, 5, 1},  {1, 0, -1, 2},   {1, 1, 6, 2},  {2, 0, 100, 1}, {2, 100, -1, 1}};
    sk_text all = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        made m;
        sk_batch *b = NULL;
        make_wish(&m, "dry", rows[i].split);
        sk_source_list_free(&m.videos);
        assert_ok(sk_source_list_make(given, 1, &m.videos, &err), &err);
        m.media.first = rows[i].first;
        m.media.last = rows[i].last;
        m.media.step = rows[i].step;
        m.wish.dry = true;
        assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
        sk_text_appendf(&all, "--- split %lld, frames %lld:%lld:%lld, %lld video\n", (long long)rows[i].split,
                        (long long)rows[i].first, (long long)rows[i].last, (long long)rows[i].step,
                        (long long)b->videos);
        put_pieces(b, &all);
        sk_batch_close(&b);
        if (i == 3) { /* the same where a video has to stay whole */
            m.wish.why_whole = "so it is";
            assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
            assert_int_equal(b->pieces, 1);
            assert_string_equal(sk_text_get(&m.told), "videos are not split: so it is\n");
            sk_batch_close(&b);
        }
        end_wish(&m);
    }
    assert_false(sk_file_exists("dry"));
    test_text_is("tests/app/told/batch_pieces.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* --- what is written --- */

static void a_batch_is_read_as_it_was_written(void **state)
{
    (void)state;
    made m;
    sk_batch *b = NULL, *again = NULL;
    char lines[2][16] = {"cuda/12", "source x"}, options[2][24] = {"--account=lab", "#SBATCH --nice"};
    char *modules[] = {lines[0], lines[1], NULL}, *sbatch[] = {options[0], options[1], NULL};
    char texts[6][16] = {"cuda:0", "gpu", "02:00:00", "a100:1", "8G", "4"};
    char word[] = "--conf=0.5", *words[] = {word, NULL};
    make_wish(&m, "written", 0);
    m.wish.words = words;
    m.how = (sk_batch_how){.workers = 3,
                           .retries = 4,
                           .losses = 5,
                           .devices = texts[0],
                           .slurm = true,
                           .partition = texts[1],
                           .time = texts[2],
                           .gpus = texts[3],
                           .memory = texts[4],
                           .cpus = texts[5],
                           .modules = modules,
                           .sbatch = sbatch,
                           .pieces_per_task = 6};
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    assert_ok(sk_batch_open("written/.batch", &again, &err), &err);
    assert_string_equal(again->out, b->out);
    assert_string_equal(again->id, b->id);
    assert_string_equal(again->command, "track");
    assert_string_equal(again->folder, folder);
    assert_string_equal(again->words[0], "--conf=0.5");
    assert_null(again->words[1]);
    assert_true(again->pieces == 2 && again->videos == 2 && again->round == 1 && again->split == 0);
    const sk_batch_how *h = &again->how;
    assert_true(h->workers == 3 && h->retries == 4 && h->losses == 5 && h->slurm && h->pieces_per_task == 6);
    assert_string_equal(h->devices, "cuda:0");
    assert_string_equal(h->partition, "gpu");
    assert_string_equal(h->time, "02:00:00");
    assert_string_equal(h->gpus, "a100:1");
    assert_string_equal(h->memory, "8G");
    assert_string_equal(h->cpus, "4");
    assert_string_equal(h->modules[1], "source x");
    assert_string_equal(h->sbatch[1], "#SBATCH --nice");
    sk_text first = {0}, second = {0};
    put_pieces(b, &first);
    put_pieces(again, &second);
    assert_string_equal(sk_text_get(&first), sk_text_get(&second));
    /* as SLURM is asked, and with fewer wishes */
    char **asked = NULL;
    sk_text line = {0}, shown = {0};
    assert_ok(sk_batch_slurm_words(again, 7, 12, &asked, &err), &err);
    for (size_t i = 0; asked[i]; i++)
        sk_text_appendf(&line, "%s\n", asked[i]);
    sk_batch_words_free(asked);
    again->how.workers = 0;
    assert_ok(sk_batch_slurm_words(again, 7, 12, &asked, &err), &err);
    for (size_t i = 0; asked[i]; i++)
        if (strncmp(asked[i], "--array", 7) == 0)
            sk_text_appendf(&line, "%s\n", asked[i]);
    sk_batch_words_free(asked);
    replace(&shown, sk_text_get(&line), folder, "FOLDER");
    replace(&line, sk_text_get(&shown), b->id, "ID");
    test_text_is("tests/app/told/batch_sbatch.txt", sk_text_get(&line));
    sk_batch_close(&b);
    sk_batch_close(&again);
    /* going on: the same, or more videos; nothing else */
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    assert_true(b->pieces == 2 && b->round == 2);
    sk_batch_close(&b);
    m.wish.words = no_words;
    assert_int_equal(sk_batch_begin(&m.wish, &b, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "holds another batch: it was begun as 'track --conf=0.5'"));
    m.wish.words = words;
    m.wish.split = 5;
    assert_int_equal(sk_batch_begin(&m.wish, &b, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, " with another --split"));
    m.wish.split = 0;
    m.wish.command = "predict";
    assert_int_equal(sk_batch_begin(&m.wish, &b, &err), SK_ERR_MISMATCH);
    m.wish.restart = true;
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    assert_true(b->round == 1 && strcmp(b->command, "predict") == 0);
    sk_batch_close(&b);
    end_wish(&m);
    sk_text_free(&first);
    sk_text_free(&second);
    sk_text_free(&line);
    sk_text_free(&shown);
}

static void what_is_no_batch(void **state)
{
    (void)state;
    sk_batch *b = NULL;
    assert_int_equal(sk_batch_open("nothing", &b, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "no batch was begun here"));
    assert_ok(sk_folder_make("odd/.batch", &err), &err);
    static const char *const texts[] = {
        "{\"skitter_batch\":2,\"id\":\"0123456789abcdef\",\"command\":\"track\",\"pieces\":0}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcde\",\"command\":\"track\",\"pieces\":0}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"rm\",\"pieces\":0}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"track\"}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"track\",\"pieces\":-1}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"track\",\"pieces\":10000001}",
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"track\",\"pieces\":0,\"split\":-1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(sk_file_replace("odd/.batch/batch.json", texts[i], strlen(texts[i]), &err), &err);
        assert_int_equal(sk_batch_open("odd", &b, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "is not what 'skitter batch' wrote"));
        assert_null(b);
    }
    static const char good[] =
        "{\"skitter_batch\":1,\"id\":\"0123456789abcdef\",\"command\":\"predict\",\"pieces\":10000000}";
    assert_ok(sk_file_replace("odd/.batch/batch.json", good, strlen(good), &err), &err);
    assert_ok(sk_batch_open("odd", &b, &err), &err);
    sk_batch_close(&b);
}

/* --- how it stands --- */

static void status_and_summary(void **state)
{
    (void)state;
    made m;
    sk_batch *b = NULL;
    make_wish(&m, "told", 0);
    const char *more[] = {"a.mp4", "b, \"c\".mp4", "d.mp4", "e.mp4", "f.mp4"};
    for (int i = 2; i < 5; i++)
        assert_ok(sk_file_replace(more[i], "no video", 8, &err), &err);
    sk_source_list_free(&m.videos);
    assert_ok(sk_source_list_make(more, 5, &m.videos, &err), &err);
    char word[] = "--x=<&>", *words[] = {word, NULL};
    m.wish.words = words;
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    sk_batch_done e = {.attempt = 1,
                       .outcome = SK_BATCH_FAILED,
                       .round = 1,
                       .tracks = -1,
                       .seconds = 2,
                       .started_ms = 1000,
                       .ended_ms = 3000,
                       .host = "here",
                       .reason = "it fell, <twice>"};
    assert_ok(sk_batch_end_put(b, 0, &e, false, &err), &err);
    e = (sk_batch_done){.attempt = 2,
                        .outcome = SK_BATCH_FINISHED,
                        .round = 1,
                        .frames = 90,
                        .instances = 180,
                        .tracks = 2,
                        .seconds = 4.5,
                        .started_ms = 4000,
                        .ended_ms = 9000,
                        .host = "there"};
    assert_ok(sk_batch_end_put(b, 0, &e, true, &err), &err);
    e = (sk_batch_done){.attempt = 1,
                        .outcome = SK_BATCH_INCOMPLETE,
                        .round = 1,
                        .frames = 10,
                        .instances = 5,
                        .tracks = -1,
                        .seconds = 0,
                        .started_ms = 500,
                        .ended_ms = 600,
                        .host = "there",
                        .slurm = "12_3",
                        .reason = "cut off"};
    assert_ok(sk_batch_end_put(b, 1, &e, true, &err), &err);
    assert_int_equal(sk_batch_end_put(b, 1, &e, true, &err), SK_ERR_BUSY); /* somebody was first */
    e = (sk_batch_done){
        .attempt = 1, .outcome = SK_BATCH_REFUSED, .round = 1, .tracks = -1, .host = "here", .reason = "no"};
    assert_ok(sk_batch_end_put(b, 2, &e, false, &err), &err);
    e = (sk_batch_done){
        .attempt = 1, .outcome = SK_BATCH_LOST, .round = 1, .tracks = -1, .host = "here", .reason = "gone"};
    assert_ok(sk_batch_end_put(b, 3, &e, false, &err), &err);
    /* attempts are counted by their claims */
    for (int piece = 0; piece < 4; piece++)
        for (int attempt = 1; attempt <= (piece == 0 ? 2 : 1); attempt++) {
            char path[SK_BATCH_PATH];
            sk_batch_file(b, piece, attempt, "claim", path);
            assert_ok(sk_file_replace(path, "{}", 2, &err), &err);
        }
    sk_batch_done back;
    assert_true(sk_batch_done_read(b, 0, &back));
    assert_true(back.attempt == 2 && back.outcome == SK_BATCH_FINISHED && back.round == 1 &&
                back.frames == 90);
    assert_true(back.instances == 180 && back.tracks == 2 && back.seconds == 4.5 && back.started_ms == 4000);
    assert_true(back.ended_ms == 9000 && strcmp(back.host, "there") == 0 && back.slurm[0] == '\0');
    assert_true(sk_batch_end_read(b, 3, 1, &back));
    assert_true(back.outcome == SK_BATCH_LOST && strcmp(back.reason, "gone") == 0);
    assert_false(sk_batch_end_read(b, 4, 1, &back));
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    sk_text json = {0}, shown = {0};
    assert_ok(sk_batch_watch_open(b, &watcher, &err), &err);
    for (int round = 0; round < 2;
         round++) { /* what is known to be done is not asked again, and tells the same */
        assert_ok(sk_batch_watch_look(watcher, &s, &err), &err);
        assert_true(s->first_ms == 500 && s->last_ms == 9000);
        assert_int_equal(s->frames_expected, -1);
        sk_text_clear(&json);
        sk_json j = sk_json_to_text(&json, 2);
        sk_batch_status_json(b, s, &j);
        assert_ok(sk_json_end(&j, &err), &err);
        replace(&shown, sk_text_get(&json), folder, "FOLDER");
        replace(&json, sk_text_get(&shown), b->id, "ID");
        if (round == 0)
            test_text_is("tests/app/told/batch_status.txt", sk_text_get(&json));
        else
            assert_true(s->done == 2 && s->videos_done == 2 && s->frames == 100 && s->attempts == 5);
    }
    sk_batch_watch_close(&watcher);
    assert_ok(sk_batch_set_cancelled(b, true, &err), &err);
    assert_true(sk_batch_is_cancelled(b));
    assert_ok(sk_batch_set_cancelled(b, false, &err), &err);
    assert_false(sk_batch_is_cancelled(b));
    assert_ok(sk_batch_summary(b, &err), &err);
    char *csv = read_text("told/summary.csv"), *html = read_text("told/summary.html");
    test_text_is("tests/app/told/batch_summary_csv.txt", csv);
    char *stamp = strstr(html, "As of ");
    assert_non_null(stamp);
    memset(stamp + 6, '#', strcspn(stamp + 6, "<"));
    test_text_is("tests/app/told/batch_summary_html.txt", html);
    sk_free_all(csv, html);
    sk_batch_close(&b);
    end_wish(&m);
    sk_text_free(&json);
    sk_text_free(&shown);
}

/* The words of a piece's process: its device by its slot, frames of a part, what was found for a merge. */
static void words_of_pieces(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg, which counts a video's frames\n");
    skip();
#endif
    char video[4096], word[] = "--conf=0.5", frames[] = "--frames=0:3", devices[] = "cuda:3,cuda:5,rocm:7,9";
    snprintf(video, sizeof video, "%s", test_source("tests/fixtures/colours/bt709.mp4"));
    const char *given[] = {video};
    char *words[] = {word, frames, NULL};
    made m;
    sk_batch *b = NULL;
    sk_text all = {0}, shown = {0};
    make_wish(&m, "words", 1);
    sk_source_list_free(&m.videos);
    assert_ok(sk_source_list_make(given, 1, &m.videos, &err), &err);
    m.wish.words = words;
    m.how.devices = devices;
    m.how.workers = 0;
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    assert_int_equal(b->pieces, 4); /* three parts and a merge */
    sk_batch_done e = {.attempt = 2, .outcome = SK_BATCH_FINISHED, .tracks = -1};
    assert_ok(sk_batch_end_put(b, 1, &e, true, &err), &err);
    for (int32_t slot = -1; slot < 6; slot++)
        for (int64_t i = 0; i < b->pieces; i++) {
            char **made_words = NULL;
            assert_ok(sk_batch_words(b, sk_batch_piece_of(b, i, &err), 3, slot, &made_words, &err), &err);
            sk_text_appendf(&all, "%d: ", slot);
            sk_batch_line(made_words, &all);
            sk_text_append(&all, "\n");
            sk_batch_words_free(made_words);
        }
    replace(&shown, sk_text_get(&all), folder, "FOLDER");
    replace(&all, sk_text_get(&shown), video, "VIDEO");
    test_text_is("tests/app/told/batch_words.txt", sk_text_get(&all));
    sk_batch_close(&b);
    end_wish(&m);
    sk_text_free(&all);
    sk_text_free(&shown);
}

/* One that is at work: whose, how far, since when. */
static void a_piece_at_work(void **state)
{
    (void)state;
    made m;
    sk_batch *b = NULL;
    char path[SK_BATCH_PATH];
    make_wish(&m, "working", 0);
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    sk_claim claim = {.file = -1};
    assert_ok(sk_claim_take(sk_batch_file(b, 1, 1, "claim", path), b->round, &claim, &err), &err);
    claim.holder.frames = 12;
    claim.holder.total = 50;
    sk_claim_beat(&claim);
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    assert_ok(sk_batch_watch_open(b, &watcher, &err), &err);
    assert_ok(sk_batch_watch_look(watcher, &s, &err), &err);
    assert_true(s->running == 1 && s->waiting == 1 && s->done == 0 && s->frames_now == 12 &&
                s->attempts == 1 && s->n_rows == 1);
    assert_true(s->first_ms > 0 && s->first_ms == s->rows[0].look.holder.since_ms && s->last_ms == 0);
    assert_true(s->rows[0].look.state == SK_PIECE_RUNNING && s->rows[0].look.holder.total == 50);
    sk_text text = {.limit = 1 << 16};
    sk_json j = sk_json_to_text(&text, 0);
    sk_batch_status_json(b, s, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_non_null(strstr(sk_text_get(&text), "\"state\":\"running\",\"host\":\""));
    assert_non_null(strstr(sk_text_get(&text), "\"frame\":12,\"total\":50,\"ended\":[]}"));
    sk_text_free(&text);
    sk_claim_close(&claim); /* whoever had it is gone without a word */
    assert_ok(sk_batch_watch_look(watcher, &s, &err), &err);
    sk_batch_watch_close(&watcher);
    sk_batch_close(&b);
    end_wish(&m);
}

/* --- SLURM --- */

/* Programs of SLURM's that say what they were asked, and answer what they are told to. */
static void fake(const char *name, const char *body)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bin/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho \"%s $*\" >>'%s/asked'\n%s\n", name, folder, body);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void put_tasks(sk_text *out, const slurm_job *job)
{
    static const char *const states[] = {"not known", "waits", "runs", "ended"};
    for (int64_t i = 0; i < job->n_tasks; i++)
        sk_text_appendf(out, "%lld: %s '%s' '%s'\n", (long long)i, states[job->tasks[i].state],
                        job->tasks[i].word, job->tasks[i].node);
}

static void slurm(void **state)
{
    (void)state;
    made m;
    sk_batch *b = NULL;
    char path[4096], lines[2][16] = {"cuda/12", "source x"}, *modules[] = {lines[0], lines[1], NULL};
    snprintf(path, sizeof path, "%s/bin", folder);
    assert_ok(sk_folder_make(path, &err), &err);
    char searched[8192];
    snprintf(searched, sizeof searched, "%s:%s", path, getenv("PATH"));
    setenv("PATH", searched, 1);
    make_wish(&m, "slurm", 0);
    m.how.modules = modules;
    assert_ok(sk_batch_begin(&m.wish, &b, &err), &err);
    b->pieces = 7; /* of which only the numbers matter here */
    const int64_t pieces[] = {0, 2, 3, 5, 6};
    slurm_job job = {0}, back = {0};
    bool there = false, reached = false;
    char why[256];
    sk_text all = {0}, shown = {0};
    fake("scontrol", "echo 'MaxArraySize            = 4'");
    fake("sbatch", "echo 4242");
    assert_ok(slurm_submit(b, 1, pieces, 5, &job, &err), &err); /* at most three tasks: two pieces in each */
    assert_true(job.n_tasks == 3 && job.submission == 1 && strcmp(job.id, "4242") == 0);
    assert_ok(slurm_job_read(b, 1, &back, &there, &err), &err);
    assert_true(there && back.n_tasks == 3 && strcmp(back.id, "4242") == 0);
    for (int i = 0; i <= 3; i++)
        assert_true(job.begins[i] == back.begins[i] && job.begins[i] == (i < 3 ? 2 * i : 5));
    for (int i = 0; i < 5; i++)
        assert_true(job.pieces[i] == pieces[i] && back.pieces[i] == pieces[i]);
    slurm_job_free(&back);
    assert_ok(slurm_job_read(b, 2, &back, &there, &err), &err);
    assert_false(there);
    int64_t *mine = NULL, count = 0;
    assert_ok(sk_batch_slurm_task(b, 1, 2, &mine, &count, &err), &err);
    assert_true(count == 1 && mine[0] == 6);
    sk_free(mine);
    assert_ok(sk_batch_slurm_task(b, 1, 0, &mine, &count, &err), &err);
    assert_true(count == 2 && mine[0] == 0 && mine[1] == 2);
    sk_free(mine);
    assert_int_equal(sk_batch_slurm_task(b, 1, 3, &mine, &count, &err), SK_ERR_ARG);
    assert_int_equal(sk_batch_slurm_task(b, 1, -1, &mine, &count, &err), SK_ERR_ARG);
    assert_int_equal(sk_batch_slurm_task(b, 2, 0, &mine, &count, &err), SK_ERR_ARG);
    /* what squeue says */
    fake("squeue",
         "printf '4242_0 RUNNING node1\\n4242_1 PENDING \\n42421_2 RUNNING x\\n4242_9 RUNNING x\\n'");
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_true(reached && why[0] == '\0');
    put_tasks(&all, &job);
    fake("sacct", "printf '4242_0|NODE_FAIL|node1\\n4242_2|CANCELLED by 7|node2\\n'");
    slurm_account(&job);
    put_tasks(&all, &job);
    static const char *const words[] = {"PENDING",   "REQUEUED",  "RUNNING", "COMPLETING",
                                        "SUSPENDED", "COMPLETED", "TIMEOUT"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char body[128];
        snprintf(body, sizeof body, "printf '4242_1 %s+ n\\n'", words[i]);
        fake("squeue", body);
        assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
        put_tasks(&all, &job);
    }
    fake("squeue",
         "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"); /* forgotten: it has ended */
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_true(reached && job.tasks[1].state == SLURM_ENDED);
    fake("squeue", "echo 'the controller is away' >&2; echo more >&2; exit 1");
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_false(reached);
    assert_string_equal(why, "the controller is away");
    /* asked for by name, where the answer of sbatch was lost */
    job.id[0] = '\0';
    fake("squeue", "echo 77");
    assert_ok(slurm_find("skitter-x", &job, &err), &err);
    assert_string_equal(job.id, "77");
    job.id[0] = '\0';
    fake("squeue", ":");
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_true(reached && !job.id[0] && job.tasks[0].state == SLURM_ENDED);
    /* refusals */
    fake("sbatch", "echo 'invalid partition' >&2; exit 1");
    slurm_job other = {0};
    assert_int_equal(slurm_submit(b, 3, pieces, 2, &other, &err), SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "SLURM refused: invalid partition. Does 'sbatch' work by hand here"));
    slurm_job_free(&other);
    fake("sbatch", "echo none");
    assert_int_equal(slurm_submit(b, 3, pieces, 2, &other, &err), SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "sbatch gave no number of a job: none"));
    slurm_job_free(&other);
    b->how.pieces_per_task = 1;
    assert_int_equal(slurm_submit(b, 3, pieces, 5, &other, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "5 pieces by 1 a task are more than the 3 tasks"));
    slurm_job_free(&other);
    fake("sbatch", "echo 4343");
    assert_ok(slurm_submit(b, 4, pieces, 3, &other, &err), &err);
    assert_int_equal(other.n_tasks, 3);
    assert_ok(slurm_submit_close(b, &other, &err), &err);
    slurm_job_free(&other);
    fake("scancel", ":");
    int64_t cancelled = 0;
    assert_ok(sk_batch_slurm_cancel(b, &cancelled, &err), &err);
    assert_int_equal(cancelled, 1); /* number 2 was never handed over */
    fake("scancel", "echo 'scancel: error: Invalid job id 4242' >&2; exit 1");
    assert_ok(sk_batch_slurm_cancel(b, &cancelled, &err), &err);
    assert_int_equal(cancelled, 0);
    fake("scancel", "echo 'no right' >&2; exit 1");
    assert_int_equal(sk_batch_slurm_cancel(b, &cancelled, &err), SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "no right"));
    /* the scripts, and everything that was asked */
    static const char *const files[] = {"slurm/.batch/slurm/0001.sh", "slurm/.batch/slurm/0001.tasks",
                                        "slurm/.batch/slurm/0004.close.sh", "asked"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = read_text(files[i]);
        sk_text_appendf(&all, "--- %s\n%s", files[i], text);
        sk_free(text);
    }
    replace(&shown, sk_text_get(&all), folder, "FOLDER");
    replace(&all, sk_text_get(&shown), b->id, "ID");
    test_text_is("tests/app/told/batch_slurm.txt", sk_text_get(&all));
    b->pieces = 2;
    slurm_job_free(&job);
    sk_batch_close(&b);
    end_wish(&m);
    sk_text_free(&all);
    sk_text_free(&shown);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_video),
        cmocka_unit_test(a_batch_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_batch),
        cmocka_unit_test(status_and_summary),
        cmocka_unit_test(words_of_pieces),
        cmocka_unit_test(a_piece_at_work),
        cmocka_unit_test(slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
