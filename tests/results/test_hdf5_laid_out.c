/* SPDX-License-Identifier: Apache-2.0 */
/* Result files that are HDF5, with every table, type, size and value in them. */
#include "base/memory.h"
#include "results/sink.h"
#include "support/fault.h"
#include "support/h5_said.h"
#include "support/h5_writer.h"
#include "support/recorded.h"
#include "support/test.h"

#include "runs.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const formats[] = {"slp", "analysis"};

static const char *path_of(const char *format)
{
    static char path[4300];
    snprintf(path, sizeof path, "%s/laid_out.%s", test_folder(), format);
    return path;
}

static void every_run(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        for (int f = 0; f < 2; f++) {
            const long long before = h5_open_things();
            sk_error err = {0};
            sk_sink *sink = NULL;
            sk_run_header h = header_of(&runs[r]);
            if (!runs[r].has)
                continue;
            assert_ok(sk_sink_find(formats[f])->open(path_of(formats[f]), &h, &sink, &err), &err);
            for (int i = 0; i < FRAMES; i++)
                assert_ok(sink->write(sink, frame_of(&runs[r], i), &err), &err);
            assert_ok(sink->close(sink, &err), &err);
            assert_int_equal(h5_open_things(), before);
            recorded_say("%s as %s", runs[r].name, formats[f]);
            h5_say(path_of(formats[f]));
        }
    recorded_check("tests/fixtures/results/recorded/laid_out.txt");
}

/* More frames than are held in memory, one more or less; tracks that come late, and several at once. */
static void many_frames(void **state)
{
    (void)state;
    static const int counts[2][4] = {{511, 512, 513, 1100}, {255, 256, 257, 600}};
    for (int f = 0; f < 2; f++)
        for (size_t c = 0; c < 4; c++) {
            const run *r = &runs[4]; /* tracks with everything */
            sk_error err = {0};
            sk_sink *sink = NULL;
            sk_run_header h = header_of(r);
            assert_ok(sk_sink_find(formats[f])->open(path_of(formats[f]), &h, &sink, &err), &err);
            for (int i = 0; i < counts[f][c]; i++) {
                sk_result_frame frame = *frame_of(r, i % 3 ? 1 : i % 5);
                frame.index = 2 * i + 1;
                for (int32_t k = 0; k < frame.instances->count; k++) {
                    frame.instances->items[k].track_id = i / 100 + 2 * k;
                    frame.instances->items[k].score = (float)i;
                }
                assert_ok(sink->write(sink, &frame, &err), &err);
                if (i % 300 == 299)
                    assert_ok(sink->flush(sink, &err), &err);
            }
            assert_ok(sink->close(sink, &err), &err);
            recorded_say("%d frames as %s", counts[f][c], formats[f]);
            h5_say(path_of(formats[f]));
        }
    recorded_check("tests/fixtures/results/recorded/laid_out_many.txt");
}

/* What was flushed is in the file while it is written. */
static void what_is_flushed_can_be_read(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        sk_error err = {0};
        sk_sink *sink = NULL;
        sk_run_header h = header_of(&runs[4]);
        char copy[4400], command[9000];
        assert_ok(sk_sink_find(formats[f])->open(path_of(formats[f]), &h, &sink, &err), &err);
        for (int i = 0; i < 4; i++)
            assert_ok(sink->write(sink, frame_of(&runs[4], i), &err), &err);
        assert_ok(sink->flush(sink, &err), &err);
        snprintf(copy, sizeof copy, "%s/copy.h5", test_folder());
        snprintf(command, sizeof command, "cp '%s' '%s'", path_of(formats[f]), copy);
        assert_int_equal(system(command), 0);
        recorded_say("four frames as %s", formats[f]);
        h5_say(copy);
        assert_ok(sink->close(sink, &err), &err);
    }
    recorded_check("tests/fixtures/results/recorded/laid_out_flushed.txt");
}

/* Individuals that a tracker follows: a track is called as the one it was last taken for, a second of the same has its number. */
static void tracks_of_individuals(void **state)
{
    (void)state;
    static const char *const names[] = {"Ann", "", "Bob"};
    static const int32_t sides[][2] = {{1, 0}, {0, 1}, {1, 5}};
    for (int f = 0; f < 2; f++) {
        sk_error err = {0};
        sk_sink *sink = NULL;
        run r = runs[4];
        r.classes = 3;
        r.identities = true;
        sk_run_header h = header_of(&r);
        h.class_names = names;
        h.edges = sides;
        h.n_edges = 3;
        h.source_frames = f ? -1 : 0;
        h.n_models = 0;
        assert_ok(sk_sink_find(formats[f])->open(path_of(formats[f]), &h, &sink, &err), &err);
        for (int i = 0; i < 3; i++) {
            static const int32_t who[3][3] = {{0, 1, 2}, {0, 2, 2}, {2, 1, -1}}, tracks[] = {1, 4, 0};
            const sk_result_frame *frame = frame_of(&r, 3);
            for (int k = 0; k < 3; k++) {
                frame->instances->items[k].class_id = who[i][k];
                frame->instances->items[k].track_id = tracks[k] + (i == 2);
            }
            assert_ok(sink->write(sink, frame, &err), &err);
        }
        assert_ok(sink->close(sink, &err), &err);
        recorded_say("individuals as %s", formats[f]);
        h5_say(path_of(formats[f]));
    }
    recorded_check("tests/fixtures/results/recorded/laid_out_individuals.txt");
}

static sk_status write_short(void *context, sk_error *err)
{
    const int which = *(const int *)context;
    sk_sink *sink = NULL;
    run r = runs[which / 2 ? 2 : 4]; /* pictures, or individuals with tracks or without */
    r.identities = true;
    r.tracked = which < 4;
    const sk_run_header h = header_of(&r);
    const char *format = formats[which % 2];
    SK_TRY(sk_sink_find(format)->open(path_of(format), &h, &sink, err));
    sk_status status = SK_OK;
    for (int i = 0; i < 3 && status == SK_OK; i++)
        status = sink->write(sink, frame_of(&r, i), err);
    const sk_status closed = sink->close(sink, status == SK_OK ? err : NULL);
    return status == SK_OK ? closed : status;
}

/* Whatever memory is missing, the file is not called complete, nothing stays open or allocated, and the next one is as ever. */
static void without_memory(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++) {
        sk_error err = {0};
        assert_ok(write_short(&which, &err), &err);
        const long long open = h5_open_things();
        const int64_t live = sk_memory_live_bytes();
        int failed = 0;
        for (uint64_t n = 1, reached = 1; reached; n++) {
            sk_memory_fail_nth(n);
            failed += write_short(&which, &err) != SK_OK;
            reached = sk_memory_fail_left() == 0;
            sk_memory_fail_nth(0);
            assert_int_equal(h5_open_things(), open);
            assert_int_equal(sk_memory_live_bytes(), live);
        }
        assert_true(failed > 5);
        test_leaves_nothing(write_short, &which);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run),
        cmocka_unit_test(many_frames),
        cmocka_unit_test(what_is_flushed_can_be_read),
        cmocka_unit_test(tracks_of_individuals),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
