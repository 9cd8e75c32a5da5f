/* SPDX-License-Identifier: Apache-2.0 */
/* Seals of records: RFC 2104 by another program's answer, and whose keys count. */
#include "artifact_fixture.h"

#include "runtime/artifact_internal.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
static const char blank[] = "{\"a\": 1, \"seal\": \"" ZEROS "\"}";
/* Python: hmac.new(bytes(range(32)), blank, hashlib.sha256).hexdigest() */
static const char sealed[] =
    "{\"a\": 1, \"seal\": \"5cbaea4e3bb8074caeb4425207203997e858609b861e2030e33d683d2293862a\"}";

static char key_path[700];

static void put_key(uint8_t first, size_t length, mode_t mode)
{
    sk_error err = {0};
    char *cache = NULL;
    uint8_t key[64];
    assert_ok(sk_artifact_cache_folder(&cache, &err), &err);
    assert_ok(sk_folder_make(cache, &err), &err);
    snprintf(key_path, sizeof key_path, "%s/.seal", cache);
    sk_free(cache);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(first + i);
    unlink(key_path);
    int file = open(key_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, key, length), length);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static void a_seal_is_an_hmac(void **state)
{
    (void)state;
    char text[sizeof blank];
    put_key(0, 32, 0600);
    memcpy(text, blank, sizeof text);
    sk_artifact_seal(text, sizeof text - 1);
    assert_string_equal(text, sealed);
    assert_true(sk_artifact_is_sealed(text, sizeof text - 1));
    assert_string_equal(text, sealed);             /* as it was */
    for (size_t i = 0; i + 1 < sizeof text; i++) { /* every byte counts */
        text[i] ^= 1;
        if (sk_artifact_is_sealed(text, sizeof text - 1))
            fail_msg("byte %zu may be another", i);
        text[i] ^= 1;
    }
    put_key(1, 32, 0600); /* somebody else's */
    assert_false(sk_artifact_is_sealed(text, sizeof text - 1));
    sk_artifact_seal(text, sizeof text - 1);
    assert_string_not_equal(text, sealed);
    assert_true(sk_artifact_is_sealed(text, sizeof text - 1));
}

static void keys_of_others_are_no_keys(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        mode_t mode;
    } bad[] = {{32, 0640}, {32, 0604}, {32, 0620}, {31, 0600}, {33, 0600}, {0, 0600}};
    char text[sizeof blank];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_key(0, bad[i].length, bad[i].mode);
        memcpy(text, sealed, sizeof text);
        assert_false(sk_artifact_is_sealed(text, sizeof text - 1));
        sk_artifact_seal(text, sizeof text - 1); /* by a key of its own, which now lies there */
        assert_string_not_equal(text, sealed);
        assert_true(sk_artifact_is_sealed(text, sizeof text - 1));
        struct stat info;
        assert_int_equal(lstat(key_path, &info), 0);
        assert_true(info.st_size == 32 && (info.st_mode & 0777) == 0600);
    }
    char elsewhere[600];
    put_key(0, 32, 0600);
    path_in(elsewhere, sizeof elsewhere, "key");
    assert_int_equal(rename(key_path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, key_path), 0);
    memcpy(text, sealed, sizeof text);
    assert_false(sk_artifact_is_sealed(text, sizeof text - 1));
    assert_int_equal(unlink(key_path), 0);
    assert_false(sk_artifact_is_sealed(text, sizeof text - 1)); /* asking makes none */
    assert_false(sk_file_exists(key_path));
}

static void texts_without_a_place_for_it_stay(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", "{\"seal\": \"\"}", "{\"seal\": \"" ZEROS "0\"}",
                                        "{\"seal\": \"" ZEROS, "{\"seal\": \"X" ZEROS "\"}"};
    put_key(0, 32, 0600);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s", texts[i]);
        sk_artifact_seal(text, strlen(text));
        assert_string_equal(text, texts[i]);
        assert_false(sk_artifact_is_sealed(text, strlen(text)));
    }
    /* what stands behind a text's end is not looked at: with its last mark of quotation the seal is whole, without it not */
    for (size_t cut = 1; cut < 80; cut++) {
        char text[sizeof blank];
        memcpy(text, sealed, sizeof text);
        sk_artifact_seal(text, sizeof text - 1 - cut);
        assert_int_equal(strcmp(text, sealed) != 0, cut == 1);
    }
}

/* What a process of the same number left while it made a key hinders nobody, and a link there leads nowhere. */
static void halves_of_keys_are_replaced(void **state)
{
    (void)state;
    for (int link = 0; link < 2; link++) {
        char text[sizeof blank], half[800], victim[600];
        put_key(0, 32, 0600);
        assert_int_equal(unlink(key_path), 0);
        snprintf(half, sizeof half, "%s.%ld", key_path, (long)getpid());
        path_in(victim, sizeof victim, "victim");
        put(victim, "precious");
        if (link)
            assert_int_equal(symlink(victim, half), 0);
        else
            put(half, "half");
        memcpy(text, blank, sizeof text);
        sk_artifact_seal(text, sizeof text - 1);
        assert_string_not_equal(text, blank);
        assert_true(sk_artifact_is_sealed(text, sizeof text - 1));
        assert_false(sk_file_exists(half));
        assert_int_equal(sk_file_size(victim), 8);
    }
}

/* Whoever writes a check down holds the place's lock, or takes it; where another has it, the check is made again next time. */
static void checks_are_written_under_the_lock(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_error err = {0};
    char lock_path[SK_ARTIFACT_PATH];
    assert_int_equal(obtain(&w, artifact), 1);
    assert_ok(sk_artifact_lock_place(artifact, lock_path, &err), &err);
    for (int locked = 1; locked >= 0; locked--) {
        script s = {0};
        const sk_artifact_maker maker = {&s, fake_make, fake_fits, fake_check, fake_tell};
        sk_artifact out = {0};
        sk_artifact_request r = {.wish = &w, .maker = &maker, .out = &out};
        sk_artifact_verdict what;
        sk_artifact_finding f;
        sk_artifact_record now;
        sk_lock *held = NULL;
        w.library = locked ? "2.0" : "3.0";
        assert_ok(sk_lock_open(lock_path, 0, &held, NULL, &err), &err);
        assert_ok(sk_artifact_look(&r, artifact, artifact, locked, &what, &f, &err), &err);
        assert_int_equal(what, SK_ARTIFACT_USE);
        assert_int_equal(s.checks, 1);
        assert_string_equal(out.check.library, w.library);
        assert_ok(sk_artifact_record_read(artifact, &now, &err), &err);
        assert_int_equal(now.n_checks, 2);
        assert_string_equal(now.checks[1].library, "2.0");
        sk_artifact_release(&out);
        sk_lock_remove(&held);
    }
    assert_tidy();
}

/* Without memory for a key a text stays without a seal; it has none that nobody could check. */
static void without_memory_there_is_no_seal(void **state)
{
    (void)state;
    char text[sizeof blank];
    bool reached = true;
    int n = 0;
    while (reached && n < 100) {
        set_up(NULL); /* where no key lies yet */
        memcpy(text, blank, sizeof text);
        sk_memory_fail_nth((uint64_t)++n);
        sk_artifact_seal(text, sizeof text - 1);
        reached = sk_memory_fail_left() == 0;
        sk_memory_fail_nth(0);
        if (strcmp(text, blank) != 0 && !sk_artifact_is_sealed(text, sizeof text - 1))
            fail_msg("allocation %d failing: a seal by no key", n);
    }
    assert_true(n > 2 && n < 100);
    assert_string_not_equal(text, blank);
}

/* A record keeps what the last eight libraries said; those before are asked again. */
static void only_so_many_checks_are_kept(void **state)
{
    (void)state;
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    char library[16];
    w.library = library;
    for (int i = 0; i < SK_ARTIFACT_CHECKS + 3; i++) {
        snprintf(library, sizeof library, "1.%d", i);
        assert_int_equal(obtain(&w, artifact), i == 0);
        assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
        assert_int_equal(r.n_checks, i < SK_ARTIFACT_CHECKS ? i + 1 : SK_ARTIFACT_CHECKS);
        assert_string_equal(r.checks[r.n_checks - 1].library, library);
    }
    for (int i = 0; i < SK_ARTIFACT_CHECKS; i++) { /* the last ones, in their order */
        snprintf(library, sizeof library, "1.%d", i + 3);
        assert_string_equal(r.checks[i].library, library);
    }
    for (int i = 4; i >= 2; i -= 2) { /* the fifth is known, the third is not any more */
        script s = {0};
        sk_artifact a = {0};
        snprintf(library, sizeof library, "1.%d", i);
        assert_ok(obtain_with(&w, &s, &a, &err), &err);
        assert_int_equal(s.checks, i == 2);
        sk_artifact_release(&a);
    }
    assert_tidy();
}

/* What somebody else's record says of other libraries does not become ours with our own check: those are asked again. */
static void others_words_are_not_sealed(void **state)
{
    (void)state;
    char key[600];
    sk_artifact_wish w = wish_for(model);
    sk_artifact_record r;
    sk_error err = {0};
    assert_int_equal(obtain(&w, artifact), 1);
    w.library = "1.31.0";
    assert_int_equal(obtain(&w, artifact), 0);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_true(r.sealed && r.n_checks == 2);
    path_in(key, sizeof key, "cache/artifacts/.seal");
    assert_int_equal(unlink(key), 0);
    w.library = "1.32.0";
    assert_int_equal(obtain(&w, artifact), 0);
    assert_ok(sk_artifact_record_read(artifact, &r, &err), &err);
    assert_true(r.sealed && r.n_checks == 1);
    assert_string_equal(r.checks[0].library, "1.32.0");
}

/* What was moved to the cache for another size: one that is not what its record says is made again where nobody vouches for the
 * record, and is an error where this user's own skitter does. */
static void a_variant_is_believed_by_its_seal(void **state)
{
    (void)state;
    for (int believed = 0; believed < 2; believed++) {
        set_up(NULL);
        sk_artifact_wish small = wish_for(model), large = small;
        sk_error err = {0};
        large.key.height = large.key.width = 960;
        assert_int_equal(obtain(&small, artifact), 1);
        assert_int_equal(obtain(&large, artifact), 1); /* the small one lies in the cache now */
        assert_int_equal(obtain(&small, NULL), 0);
        if (!believed) { /* another key: no seal is this user's */
            char key[600];
            path_in(key, sizeof key, "cache/artifacts/.seal");
            assert_int_equal(unlink(key), 0);
        }
        script s = {.bad = true, .remake = true};
        sk_artifact a = {0};
        small.library = "1.31.0"; /* which has not compared it yet */
        const sk_status status = obtain_with(&small, &s, &a, &err);
        if (believed) {
            assert_int_equal(status, SK_ERR_MISMATCH);
            assert_non_null(strstr(err.message, "its answers differ"));
            assert_null(a.bytes);
            assert_false(s.making);
        } else {
            assert_ok(status, &err);
            assert_true(s.making && s.checks == 2);
            assert_string_equal(a.path, artifact);
        }
        sk_artifact_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_seal_is_an_hmac, set_up),
        cmocka_unit_test_setup(keys_of_others_are_no_keys, set_up),
        cmocka_unit_test_setup(texts_without_a_place_for_it_stay, set_up),
        cmocka_unit_test_setup(halves_of_keys_are_replaced, set_up),
        cmocka_unit_test_setup(checks_are_written_under_the_lock, set_up),
        cmocka_unit_test_setup(without_memory_there_is_no_seal, set_up),
        cmocka_unit_test_setup(only_so_many_checks_are_kept, set_up),
        cmocka_unit_test_setup(others_words_are_not_sealed, set_up),
        cmocka_unit_test_setup(a_variant_is_believed_by_its_seal, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
