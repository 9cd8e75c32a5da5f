/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_api.h"
#include "engines/ort/ort_explain.h"
#include "support/recorded.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* What is said when a provider of ONNX Runtime does not come up: to the letter, by what the loader says. */

#define MISSING "%s: cannot open shared object file: No such file or directory"
#define WHEEL                                                                                                \
    "pip install 'onnxruntime-gpu[cuda,cudnn]' into that Python environment (the right libraries come "      \
    "along)"

static void libraries_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *library, *title;
        int wanted; /* CUDA's version, 0: the number is another's */
    } cases[] = {{"libcudnn.so.9", "cuDNN 9", 0},
                 {"libcudnn_graph.so.9.1", "cuDNN 9", 0},
                 {"libcublas.so.12", "cuBLAS of CUDA 12", 12},
                 {"libcublasLt.so.13", "cuBLAS of CUDA 13", 13},
                 {"libcudart.so.11.0", "CUDA's runtime of CUDA 11", 11},
                 {"libcufft.so.11", "cuFFT 11", 0},
                 {"libcurand.so.10", "cuRAND 10", 0},
                 {"libnvrtc.so.12", "CUDA's compiler of CUDA 12", 12},
                 {"libnvinfer.so.10", "TensorRT 10", 0},
                 {"libnvonnxparser.so.10", "TensorRT's ONNX parser 10", 0},
                 {"libcudart.so", "CUDA's runtime of CUDA ", 0},
                 {"libzebra.so.7", "a library", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int here = 0; here <= 13; here += here ? 1 : 10) {
            char text[256], want[1024], got[1024], other[96] = "";
            snprintf(text, sizeof text, "Failed to load: " MISSING, cases[i].library);
            if (cases[i].wanted && here && here != cases[i].wanted)
                snprintf(other, sizeof other, " This machine has CUDA %d: the wheel is CUDA %d's.", here,
                         cases[i].wanted);
            snprintf(
                want, sizeof want,
                "the provider was built for %s: %s is not on this machine, or not the version it wants.%s "
                "To get it: " WHEEL ", or install it for the whole system and run ldconfig",
                cases[i].title, cases[i].library, other);
            assert_true(ort_explain(text, here, got, sizeof got));
            assert_string_equal(got, want);
        }
}

static void other_versions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *shown; /* `what` null: nothing is known of it */
    } cases[] = {
        {"x.so: undefined symbol: cudnnGetVersion, version libcudnn.so.9", "cuDNN",
         "undefined symbol: cudnnGetVersion, version libcudnn.so.9"},
        {"x.so: undefined symbol: cublasCreate_v2", "cuBLAS", "undefined symbol: cublasCreate_v2"},
        {"x.so: undefined symbol: cudaMallocAsync", "CUDA", "undefined symbol: cudaMallocAsync"},
        {"x.so: undefined symbol: cuInit", "CUDA", "undefined symbol: cuInit"},
        {"x.so: undefined symbol: zebra", NULL, NULL},
        {"y.so: version `libcudnn.so.9' not found", "cuDNN 9", "version `libcudnn.so.9' not found"},
        {"y.so: version `libcublas.so.13.2' not found", "cuBLAS of CUDA 13",
         "version `libcublas.so.13.2' not found"},
        {"y.so: version `libzebra.so.1' not found", "a library", "version `libzebra.so.1' not found"},
        {"y.so: version `ZEBRA_1' not found", NULL, NULL},
        {"y.so: version `GLIBC_2.38' not found", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[1024] = "", want[1024];
        const bool known = ort_explain(cases[i].text, 12, got, sizeof got);
        assert_int_equal(known, cases[i].what != NULL);
        if (!known)
            continue;
        if (cases[i].shown)
            snprintf(want, sizeof want,
                     "the %s that was found is another version than the provider was built for (%s). To get "
                     "it: " WHEEL ", and take folders of other versions out of LD_LIBRARY_PATH",
                     cases[i].what, cases[i].shown);
        else
            snprintf(
                want, sizeof want,
                "this ONNX Runtime was built for a newer system: it wants GLIBC_2.38. To get it: an older "
                "onnxruntime-gpu, or a newer system");
        assert_string_equal(got, want);
    }
}

static void what_one_word_says(void **state)
{
    (void)state;
    static const struct {
        const char *text, *begins;
    } cases[] = {
        {"libonnxruntime_providers_tensorrt.so: cannot open shared object file",
         "this ONNX Runtime has no TensorRT provider. To get it: " WHEEL},
        {"a CUDNN_STATUS_VERSION_MISMATCH b",
         "this cuDNN is another version than the provider was built for"},
        {"a CUDNN_STATUS_NOT_INITIALIZED b", "cuDNN could not begin: the GPU's memory is full"},
        {"a CUBLAS_STATUS_NOT_INITIALIZED b", "cuBLAS could not begin: the GPU's memory is full"},
        {"CUDA failure 100: no CUDA-capable device is detected", "the driver shows no GPU. nvidia-smi says"},
    };
    char got[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(ort_explain(cases[i].text, 0, got, sizeof got));
        assert_ptr_equal(strstr(got, cases[i].begins), got);
    }
    char small[8]; /* as much as there is room for */
    assert_true(ort_explain("libcuda.so.1: cannot open shared object file", 0, small, sizeof small));
    assert_string_equal(small, "NVIDIA'");
}

/* The name is what stands before the colon, of the letters that names have; it begins with lib, and there must be room. */
static void names_in_messages(void **state)
{
    (void)state;
    static const struct {
        const char *message, *name; /* null: none */
        size_t room;
    } cases[] = {{"libx.so: cannot open shared object file", "libx.so", 64},
                 {"a/b/libx-y_z+1.so.2: cannot open shared object file", "libx-y_z+1.so.2", 64},
                 {"error libx.so: cannot open shared object file", "libx.so", 8},
                 {"error libx.so: cannot open shared object file", NULL, 7},
                 {"error x.so: cannot open shared object file", NULL, 64},
                 {"error lib: cannot open shared object file", "lib", 64},
                 {"libx.so: cannot open", NULL, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64] = "-";
        assert_int_equal(ort_missing_library(cases[i].message, name, cases[i].room), cases[i].name != NULL);
        assert_string_equal(name, cases[i].name ? cases[i].name : "-");
    }
}

/* The library's own words in ours. */

static const char *said;
static int ended;

static const char *words_of(const ort_status *status)
{
    assert_non_null(status);
    return said;
}

static void end_it(ort_status *status)
{
    assert_non_null(status);
    ended++;
}

static void its_words(void **state)
{
    (void)state;
    static char lengthy[700] = "CUDNN failure 7: ";
    memset(lengthy + strlen(lengthy), 'x', 600);
    static const char *const all[] = {
        "just so",
        "a.cc:12 f() CUDA failure 2: out of memory ; GPU=0 ; hostname=h ; expr=cudaMalloc(p); more",
        "a.cc CUBLAS failure 13: bad thing",
        "CUFFT failure 5: x; expr=a",
        "CUDA failure 209: no kernel image is available ; GPU=0 ; expr=launch();",
        lengthy,
        NULL,
    };
    ort_api api = {.get_error_message = words_of, .release_status = end_it};
    snprintf(api.version, sizeof api.version, "1.2");
    int status = 0;
    sk_error err = {0};
    assert_int_equal(ort_check(&api, NULL, "running", &err), SK_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        said = all[i];
        assert_int_equal(ort_check(&api, (ort_status *)(void *)&status, "running", &err), SK_ERR_RUNTIME);
        recorded_say("%s", err.message);
        assert_int_equal(ended, i + 1);
    }
    recorded_check("tests/fixtures/engines/ort_words.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_by_their_names), cmocka_unit_test(other_versions),
        cmocka_unit_test(what_one_word_says),       cmocka_unit_test(its_words),
        cmocka_unit_test(names_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
