/* SPDX-License-Identifier: Apache-2.0 */
/* Probes against engines that crash, hang, leave and lie; and the cache of what was found. */
#include "support/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "runtime/probe.h"
#include "runtime/trial.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *own_words[8]; /* how this program is started */
static size_t n_own_words;

static sk_status crash(sk_engine_probe *out, sk_error *err)
{
    (void)out;
    (void)err;
    (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would make another end of it */
    raise(SIGSEGV);
    return SK_OK;
}

static sk_status hang(sk_engine_probe *out, sk_error *err)
{
    (void)out;
    (void)err;
    for (int64_t begin = sk_clock_ns(); sk_clock_ns() - begin < 600000000000;)
        pause();
    return SK_OK;
}

static sk_status leave(sk_engine_probe *out, sk_error *err)
{
    (void)out;
    (void)err;
    _exit(7);
}

static sk_status refuse(sk_engine_probe *out, sk_error *err)
{
    (void)out;
    return sk_fail(err, SK_ERR_RUNTIME, "the driver is older than the library");
}

static sk_status lack(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    *out = (sk_engine_probe){0};
    snprintf(out->detail, sizeof out->detail, "the library is not here. To get it: apt-get install it");
    return SK_OK;
}

/* Says it is there, in texts without an end and with more devices than there can be. */
static sk_status boast(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    memset(out, 'x', sizeof *out);
    out->available = 1;
    out->n_devices = 100000;
    return SK_OK;
}

/* Texts with what would spoil a terminal or a table, and a library that it names by its path. */
static sk_status dirty(sk_engine_probe *out, sk_error *err)
{
    SK_TRY(sk_engine_reference.probe(out, err));
    snprintf(out->version, sizeof out->version, "1.\x01\x7f~2");
    snprintf(out->detail, sizeof out->detail, "/lib/of\nits own.so");
    out->n_devices = 2;
    snprintf(out->devices[0].name, sizeof out->devices[0].name, "one\tdevice");
    snprintf(out->devices[1].name, sizeof out->devices[1].name, "another \xc3\xa4");
    return SK_OK;
}

static sk_status refuse_badly(sk_engine_probe *out, sk_error *err)
{
    (void)out;
    return sk_fail(err, SK_ERR_RUNTIME, "bad\x1b[31m news\r");
}

static sk_status wait_and_spoil(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(sk_engine_reference.wait(session, slot, outputs, err));
    ((float *)outputs[0])[17] += 0.25f; /* one number in 192 */
    return SK_OK;
}

static sk_status noisy(sk_engine_probe *out, sk_error *err)
{
    printf("loading plugins\n");
    fflush(stdout);
    return sk_engine_reference.probe(out, err);
}

/* Comes back only when the other of two is being probed as well; in turn each would wait in vain. */
static const char *own_name;
static sk_status meet(sk_engine_probe *out, sk_error *err)
{
    const char *folder = getenv("TEST_PROBE_MEET");
    char path[600];
    snprintf(path, sizeof path, "%s/here-%s", folder, own_name);
    SK_TRY(sk_file_replace(path, "", 0, err));
    snprintf(path, sizeof path, "%s/here-%s", folder,
             strcmp(own_name, "openvino") == 0 ? "onnx_cpu" : "openvino");
    for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++)
        sk_clock_sleep_ns(10000000);
    if (access(path, F_OK) != 0)
        return sk_fail(err, SK_ERR_TIMEOUT, "nobody else came");
    return sk_engine_reference.probe(out, err);
}

/* What stands behind these names in the child: the reference executor with one function changed. */
static const sk_engine *find(const char *name)
{
    static sk_engine engine;
    engine = sk_engine_reference;
    if (getenv("TEST_PROBE_MEET")) {
        char log[600];
        snprintf(log, sizeof log, "%s/asked-%s", getenv("TEST_PROBE_MEET"), name);
        FILE *file = fopen(log, "a");
        if (file) {
            fputc('x', file);
            fclose(file);
        }
        own_name = name;
        engine.probe = strcmp(name, "openvino") == 0 || strcmp(name, "onnx_cpu") == 0 ? meet : lack;
        return &engine;
    }
    if (strcmp(name, "liar") == 0) {
        engine.wait = wait_and_spoil;
        return &engine;
    }
    static const struct {
        const char *name;
        sk_status (*probe)(sk_engine_probe *, sk_error *);
    } fakes[] = {{"crash", crash},   {"hang", hang},   {"leave", leave},
                 {"refuse", refuse}, {"lack", lack},   {"boast", boast},
                 {"noisy", noisy},   {"dirty", dirty}, {"refuse badly", refuse_badly}};
    for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++)
        if (strcmp(name, fakes[i].name) == 0) {
            engine.probe = fakes[i].probe;
            return &engine;
        }
    return sk_engine_find(name);
}

static sk_probe_row probe_with(const char *name, int64_t limit_ms)
{
    sk_probe_row row = {.runtime = SK_RUNTIME_CUDA};
    sk_probe_engine(name, limit_ms, &row);
    assert_int_equal(row.runtime, SK_RUNTIME_CUDA);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left behind */
    return row;
}

static void test_crash(void **state)
{
    (void)state;
    sk_probe_row row = probe_with("crash", 60000);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "the probe crashed with signal 11"));
    assert_true(row.remedy[0] != '\0');
}

static void test_hang(void **state)
{
    (void)state;
    int64_t begin = sk_clock_ns();
    sk_probe_row row = probe_with("hang", 300);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "hung and was ended after 0.3 s"));
    assert_true(sk_clock_ns() - begin < 30000000000); /* far from for ever, on the busiest machine */
}

static void test_leave(void **state)
{
    (void)state;
    sk_probe_row row = probe_with("leave", 60000);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "left without an answer, exit code 7"));
}

static void test_refuse_and_lack(void **state)
{
    (void)state;
    sk_probe_row row = probe_with("refuse", 60000);
    assert_false(row.available);
    assert_string_equal(row.reason, "the driver is older than the library");
    row = probe_with("lack", 60000);
    assert_false(row.available);
    assert_string_equal(row.reason, "the library is not here");
    assert_string_equal(row.remedy, "apt-get install it");
}

static void test_boast_is_cut_to_size(void **state)
{
    (void)state;
    sk_probe_row row = probe_with("boast", 60000);
    assert_true(row.available); /* it does compute: it is the reference executor underneath */
    assert_int_equal(row.n_devices, SK_ENGINE_MAX_DEVICES);
    assert_true(strlen(row.version) < sizeof row.version);
    assert_true(strlen(row.devices[SK_ENGINE_MAX_DEVICES - 1]) < sizeof row.devices[0]);
}

static void test_texts_are_made_clean(void **state)
{
    (void)state;
    sk_probe_row row = probe_with("dirty", 60000);
    assert_true(row.available);
    assert_string_equal(row.version, "1.  ~2");
    assert_string_equal(row.library, "/lib/of its own.so");
    assert_int_equal(row.n_devices, 2);
    assert_string_equal(row.devices[0], "one device");
    assert_string_equal(row.devices[1], "another \xc3\xa4");
    assert_string_equal(row.reason, "a test convolution ran and was right");
    assert_string_equal(row.remedy, "");
    row = probe_with("refuse badly", 60000);
    assert_string_equal(row.reason, "bad [31m news ");
    assert_string_equal(row.library, "");
    row = probe_with("reference", 60000); /* its detail is no path */
    assert_true(row.available);
    assert_string_equal(row.library, "");
    row = probe_with("nobody", 60000);
    assert_false(row.available);
    assert_string_equal(row.reason, "there is no engine 'nobody' in this program");
}

/* Without the vendor's driver no library helps: that is the reason that is told. */
static void test_the_machine_comes_first(void **state)
{
    (void)state;
    static const sk_runtime both[] = {SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ONNX_ROCM};
    for (int i = 0; i < 2; i++) {
        sk_probe_row row = {0}, machine = {0};
        const bool there = sk_probe_machine(both[i], &machine);
        sk_probe_one(both[i], true, &row);
        assert_int_equal(row.runtime, both[i]);
        if (there)
            continue; /* a machine with a GPU says what its library is like */
        assert_false(row.available);
        assert_string_equal(row.reason, machine.reason);
        assert_string_equal(row.remedy, machine.remedy);
    }
}

static void test_lie_is_found_out(void **state)
{
    (void)state;
    sk_probe_row row = {.runtime = SK_RUNTIME_OPENVINO};
    sk_probe_engine("liar", 60000, &row);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "it is there, but its test run failed"));
    assert_non_null(strstr(row.reason, "wrong numbers"));
}

static void test_honest_engines(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_runtime_trial(&sk_engine_cpu, &err), &err);
    assert_ok(sk_runtime_trial(&sk_engine_reference, &err), &err);
    sk_probe_row row = probe_with("noisy", 60000);
    assert_true(row.available);
    sk_probe_one(SK_RUNTIME_CPU, true, &row);
    assert_true(row.available);
    assert_true(row.n_devices >= 1 && row.devices[0][0]);
    assert_false(row.cached);
}

static void test_all_at_once(void **state)
{
    (void)state;
    static sk_probe_row rows[SK_RUNTIME_COUNT];
    setenv("TEST_PROBE_MEET", test_folder(), 1);
    sk_probe_all(true, rows);
    unsetenv("TEST_PROBE_MEET");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        assert_int_equal(rows[i].runtime, i);
        if (rows[i].available != (i == SK_RUNTIME_OPENVINO || i == SK_RUNTIME_ONNX_CPU))
            fail_msg("%s: %s", sk_runtime_name((sk_runtime)i), rows[i].reason);
        char log[600]; /* each engine was asked once */
        snprintf(log, sizeof log, "%s/asked-%s", test_folder(), sk_runtime_name((sk_runtime)i));
        if (sk_engine_find(sk_runtime_name((sk_runtime)i)))
            assert_int_equal(sk_file_size(log), 1);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_absent_engines_say_why(void **state)
{
    (void)state;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        sk_probe_row row = {.runtime = (sk_runtime)i, .available = true};
        sk_probe_absent((sk_runtime)i, &row);
        assert_false(row.available);
        assert_true(strlen(row.reason) > 10);
    }
}

static void test_facts(void **state)
{
    (void)state;
    static sk_probe_row rows[SK_RUNTIME_COUNT];
    sk_runtime_facts facts;
    sk_runtime_gate gate;
    rows[SK_RUNTIME_CPU].available = rows[SK_RUNTIME_ONNX_CUDA].available = true;
    snprintf(rows[SK_RUNTIME_TENSORRT].reason, sizeof rows[0].reason, "no libnvinfer");
    sk_probe_facts(rows, &facts);
    assert_true(facts.cuda && facts.ort && facts.ort_cuda && facts.graph_importable);
    assert_false(facts.rocm || facts.mps || facts.tensorrt || facts.openvino || facts.ort_cpu);
    sk_runtime_gate_make(1u << SK_WORK_SLEAP_POSE, &facts, &gate);
    assert_int_equal(gate.n_allowed, 2);
    assert_int_equal(gate.allowed[1], SK_RUNTIME_ONNX_CUDA);
    assert_string_equal(gate.because[SK_RUNTIME_TENSORRT], "SLEAP: no libnvinfer");
}

static void test_cache(void **state)
{
    (void)state;
    sk_error err = {0};
    char library[512];
    snprintf(library, sizeof library, "%s/libfake.so", test_folder());
    assert_ok(sk_file_replace(library, "one", 3, &err), &err);
    sk_probe_row row = {.runtime = SK_RUNTIME_OPENVINO, .available = true, .n_devices = 2}, got;
    snprintf(row.library, sizeof row.library, "%.200s", library);
    snprintf(row.version, sizeof row.version, "2026.4");
    snprintf(row.devices[1], sizeof row.devices[1], "GPU \"0\"");
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    sk_probe_cache_write(&row);
    assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    assert_true(got.available && got.cached);
    assert_int_equal(got.n_devices, 2);
    assert_string_equal(got.devices[1], "GPU \"0\"");
    assert_string_equal(got.version, "2026.4");
    assert_false(sk_probe_cache_read(SK_RUNTIME_CUDA, &got)); /* another runtime's row */
    setenv("SKITTER_RUNTIME_DIR", "/elsewhere", 1);           /* the search may now end elsewhere */
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    unsetenv("SKITTER_RUNTIME_DIR");
    assert_true(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    assert_ok(sk_file_replace(library, "two!", 4, &err), &err); /* the library changed */
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    assert_int_equal(unlink(library), 0);
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
    char path[512];
    snprintf(path, sizeof path, "%s/cache/probe-openvino.json", test_folder());
    assert_ok(sk_file_replace(path, "{\"key\": [", 9, &err), &err); /* a damaged cache is no cache */
    assert_false(sk_probe_cache_read(SK_RUNTIME_OPENVINO, &got));
}

/* A probe that cannot be made, because the program is not there or is another one, costs its row and says what helps. */
static void test_without_a_program(void **state)
{
    (void)state;
    static const char *const absent[] = {"/nowhere/skitter"}, *const other[] = {"/bin/true"};
    sk_child_set_program(absent, 1);
    sk_probe_row row = probe_with("noisy", 60000);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "/nowhere/skitter could not be started"));
    sk_child_set_program(other, 1);
    row = probe_with("noisy", 60000);
    assert_false(row.available);
    assert_non_null(strstr(row.reason, "is not skitter "));
    sk_child_set_program(own_words, n_own_words);
}

/* A thread that holds a lock for ever, as any thread of a larger program might: a copy of this process could never take
 * it, a process of its own does not know of it. */
static void *allocate_on(void *stop)
{
    while (!atomic_load((atomic_bool *)stop))
        free(malloc(100));
    return NULL;
}

static void test_beside_threads(void **state)
{
    (void)state;
    atomic_bool stop = false;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_on, &stop), 0);
    for (int i = 0; i < 5; i++)
        assert_true(probe_with("noisy", 60000).available);
    atomic_store(&stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void serve_probe(int fd)
{
    sk_probe_serve(fd, find);
}

int main(int argc, char **argv)
{
    static const sk_child_role roles[] = {{"probe", serve_probe}};
    if (sk_child_serve(argc, argv, roles, 1))
        return 0;
    /* This program plays the child; under an emulator, which starts it. */
    static char emulator[1024];
    const char *words = getenv("SKITTER_TEST_EMULATOR");
    snprintf(emulator, sizeof emulator, "%s", words ? words : "");
    for (char *rest = emulator, *word; (word = strtok_r(rest, " ", &rest)) && n_own_words < 7;)
        own_words[n_own_words++] = word;
    own_words[n_own_words++] = argv[0];
    sk_child_set_program(own_words, n_own_words);
    char cache[512];
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", cache, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_leave),
        cmocka_unit_test(test_refuse_and_lack),
        cmocka_unit_test(test_boast_is_cut_to_size),
        cmocka_unit_test(test_texts_are_made_clean),
        cmocka_unit_test(test_the_machine_comes_first),
        cmocka_unit_test(test_lie_is_found_out),
        cmocka_unit_test(test_honest_engines),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_absent_engines_say_why),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_without_a_program),
        cmocka_unit_test(test_beside_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
