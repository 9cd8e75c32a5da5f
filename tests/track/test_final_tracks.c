/* SPDX-License-Identifier: Apache-2.0 */
/* Which stitched tracks are told, at the bounds of each rule; who stays of two in a frame; whose class it is. */
#include "support/test.h"

#include "base/memory.h"
#include "track/final_tracks.h"

enum { MOST = 16 };

static sk_seen_store *store_of(int frames, const int *n, const double *scores, const int32_t *classes)
{
    sk_error err;
    sk_seen_store *store;
    int at = 0;
    assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
    for (int f = 0; f < frames; f++) {
        sk_detection d[MOST] = {{0}};
        for (int i = 0; i < n[f]; i++, at++) {
            d[i] = (sk_detection){.x = 10 * i, .score = scores ? scores[at] : 1, .identity = -1};
            d[i].class_id = classes ? classes[at] : -1;
            sk_detection_set_oriented(&d[i], 20, 8, 0);
        }
        assert_ok(sk_seen_store_add(store, 10 + f, f, d, n[f], &err), &err);
    }
    return store;
}

typedef struct piece {
    int32_t track, n;
    int64_t first;
    double score;
    bool sure;
} piece;

/* Each detection is of the piece of its number; the last one of none. */
static void settle(const piece *of, int n_pieces, int n, double shortest, int animals, const int32_t *want)
{
    sk_error err;
    sk_piece items[MOST] = {{0}};
    int32_t track[MOST], tracks = -1, most = 0;
    const int in_frame[] = {n_pieces, 1};
    for (int i = 0; i < n_pieces; i++) {
        items[i] = (sk_piece){.track = of[i].track,
                              .n = of[i].n,
                              .first = of[i].first,
                              .score = of[i].score,
                              .sure = of[i].sure};
        track[i] = i;
        most = want[i] >= most ? want[i] + 1 : most;
    }
    track[n_pieces] = -1;
    const sk_pieces pieces = {.items = items, .count = (size_t)n_pieces};
    sk_seen_store *store = store_of(2, in_frame, NULL, NULL);
    assert_ok(sk_final_tracks_settle(store, &pieces, n, shortest, animals, track, &tracks, &err), &err);
    assert_int_equal(tracks, most);
    for (int i = 0; i < n_pieces; i++)
        assert_int_equal(track[i], want[i]);
    assert_int_equal(track[n_pieces], -1);
    sk_seen_store_close(&store);
}

static void who_lasts_is_told(void **state)
{
    (void)state;
    /* length and score at their bounds: 4 sightings, and 0.75 of each of 4 */
    settle((const piece[]){{0, 4, 9, 3, 0}, {1, 3, 5, 3, 0}, {2, 4, 3, 2.99, 0}, {3, 5, 3, 3.01, 0}}, 4, 4, 4,
           0, (const int32_t[]){1, -1, -1, 0});
    /* a track's pieces count together, by the first of them; nobody's piece is nobody's */
    settle((const piece[]){{1, 2, 9, 1.5, 0}, {0, 4, 5, 3, 0}, {1, 2, 4, 1.5, 0}, {-1, 9, 1, 9, 0}}, 4, 2, 4,
           0, (const int32_t[]){0, 1, 0, -1});
    /* one that is sure stays, however short; so does all of its track */
    settle((const piece[]){{0, 1, 9, 0.1, 1}, {1, 1, 5, 0.1, 0}, {0, 1, 2, 0.1, 0}}, 3, 2, 4, 0,
           (const int32_t[]){0, -1, 0});
    /* of more than there are animals the longest; of equals the first; numbered by their beginnings, then by number */
    const piece three[] = {{0, 5, 8, 5, 0}, {1, 6, 8, 6, 0}, {2, 5, 1, 5, 0}};
    settle(three, 3, 3, 4, 0, (const int32_t[]){1, 2, 0});
    settle(three, 3, 3, 4, 3, (const int32_t[]){1, 2, 0});
    settle(three, 3, 3, 4, 2, (const int32_t[]){0, 1, -1});
    settle(three, 3, 3, 4, 1, (const int32_t[]){-1, 0, -1});
    /* what does not last takes no animal's place */
    settle((const piece[]){{0, 9, 8, 1, 0}, {1, 4, 8, 4, 0}}, 2, 2, 4, 1, (const int32_t[]){-1, 0});
}

static void the_better_of_two_stays(void **state)
{
    (void)state;
    sk_error err;
    const int n[] = {3, 4, 2, 1};
    /*                        frame 10          11                 12        13 */
    const double scores[] = {0.5, 0.6, 0.9, 0.7, 0.7, 0.1, 0.8, 0.3, 0.2, 0.1};
    int32_t track[] = {0, 0, 1, 0, 0, -1, 1, 1, 1, 0};
    const int32_t want[] = {-1, 0, 1, 0, -1, -1, 1, 1, -1, 0};
    sk_seen_store *store = store_of(4, n, scores, NULL);
    assert_ok(sk_final_tracks_drop_doubles(store, track, 2, &err), &err);
    assert_memory_equal(track, want, sizeof want);
    /* three at once: only the best is left, whichever comes first */
    int32_t again[] = {0, 0, 0, 1, 1, 1, 1, -1, -1, -1};
    const int32_t left[] = {-1, -1, 0, -1, -1, -1, 1, -1, -1, -1};
    assert_ok(sk_final_tracks_drop_doubles(store, again, 2, &err), &err);
    assert_memory_equal(again, left, sizeof left);
    sk_seen_store_close(&store);
}

static void most_say_which_class(void **state)
{
    (void)state;
    sk_error err;
    const int n[] = {4, 4};
    const double scores[] = {0.8, 0.4, 0.9, 0.9, 0.3, 0.2, 0.9, 0.9};
    const int32_t classes[] = {2, 5, 7, -1, 5, 5, 7, 3};
    const int32_t track[] = {0, 0, -1, 1, 0, 2, -1, 3};
    int32_t *class_of = NULL;
    sk_seen_store *store = store_of(2, n, scores, classes);
    assert_ok(sk_final_tracks_classes(store, track, 5, &class_of, &err), &err);
    const int32_t want[] = {2, -1, 5, 3, -1};
    assert_memory_equal(class_of, want, sizeof want);
    sk_free(class_of);
    sk_seen_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_lasts_is_told),
                                       cmocka_unit_test(the_better_of_two_stays),
                                       cmocka_unit_test(most_say_which_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
