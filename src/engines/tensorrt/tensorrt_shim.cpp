// SPDX-License-Identifier: Apache-2.0
// TensorRT's C++ interface behind the C functions of tensorrt_shim.h. No exception leaves this file, and nothing of C++'s
// library is used that could throw: memory comes from sk_malloc and TensorRT's own objects.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/library.h"
#include "engines/tensorrt/tensorrt_shim.h"
}

#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <cuda_runtime_api.h>

// Built for one major version: the interface's classes change between them.
#if NV_TENSORRT_MAJOR == 10
#define MAJOR "10"
#elif NV_TENSORRT_MAJOR == 11
#define MAJOR "11"
#else
#error "skitter's TensorRT plugin is written for TensorRT 10 and 11"
#endif

#define TRY(expression)                                                                                      \
    do {                                                                                                     \
        sk_status try_ = (expression);                                                                       \
        if (try_ != SK_OK)                                                                                   \
            return try_;                                                                                     \
    } while (0)
#define fail(err, code, ...) sk_error_set((err), (code), __FILE__, __LINE__, __VA_ARGS__)

namespace
{

// --- what TensorRT says: its last error is kept for our own message, warnings go to the log ---

class Listener : public nvinfer1::ILogger
{
  public:
    char last[384] = "";
    void log(Severity severity, const char *message) noexcept override
    {
        if (severity <= Severity::kERROR)
            snprintf(last, sizeof last, "%s", message);
        else if (severity == Severity::kWARNING)
            sk_log(SK_LOG_DEBUG, "TensorRT: %s", message);
    }
};

Listener listener;

const char *said()
{
    return listener.last[0] ? listener.last : "no reason given";
}

sk_status cuda_check(cudaError_t code, const char *what, sk_error *err)
{
    return code == cudaSuccess ? SK_OK : fail(err, SK_ERR_RUNTIME, "%s: %s", what, cudaGetErrorString(code));
}

// --- the libraries ---

typedef void *(*create_function)(void *logger, int32_t version);
typedef void *(*create_parser_function)(void *network, void *logger, int version);
typedef int32_t (*version_function)();

struct Library {
    create_function create_builder, create_runtime;
    char version[64];
    char path[4096];
};

const char *const sonames[] = {"libnvinfer.so." MAJOR, nullptr};
const char *const folders[] = {"/usr/lib/*-linux-gnu", "/usr/local/tensorrt/lib", "/opt/tensorrt/lib",
                               "/usr/local/lib", nullptr};
const sk_library_wish wish = {
    "TensorRT",
    "SKITTER_TENSORRT",
    "libnvinfer.so." MAJOR,
    sonames,
    "tensorrt_libs",
    folders,
    "python3 -m venv ~/.skitter-tensorrt && ~/.skitter-tensorrt/bin/pip install 'tensorrt==" MAJOR
    ".*' && export SKITTER_TENSORRT=~/.skitter-tensorrt (or apt-get install libnvinfer" MAJOR
    " libnvonnxparsers" MAJOR " from NVIDIA's repository)",
};

sk_status take(void *handle, void *context, sk_error *err)
{
    Library *l = static_cast<Library *>(context);
    void *symbol = dlsym(handle, "createInferBuilder_INTERNAL");
    memcpy(&l->create_builder, &symbol, sizeof symbol);
    symbol = dlsym(handle, "createInferRuntime_INTERNAL");
    memcpy(&l->create_runtime, &symbol, sizeof symbol);
    version_function version = nullptr;
    symbol = dlsym(handle, "getInferLibVersion");
    memcpy(&version, &symbol, sizeof symbol);
    if (!l->create_builder || !l->create_runtime || !version)
        return fail(err, SK_ERR_UNSUPPORTED, "%s: not TensorRT " MAJOR ". To get it: %s", l->path,
                    wish.remedy);
    int32_t v = version(); // 10: major * 10000 + minor * 100 + patch
    snprintf(l->version, sizeof l->version, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    return SK_OK;
}

Library library;
sk_library_once once = {PTHREAD_MUTEX_INITIALIZER, 0};

sk_status load(sk_error *err)
{
    return sk_library_load(&wish, &once, &library, sizeof library, library.path, take, err);
}

// The parser lies beside libnvinfer, or where the loader looks.
sk_status load_parser(create_parser_function *out, sk_error *err)
{
    char beside[4200];
    char *folder = library.path[0] == '/' ? sk_path_folder(library.path) : nullptr; // never the current folder
    snprintf(beside, sizeof beside, "%s/libnvonnxparser.so." MAJOR, folder ? folder : "");
    void *handle = folder ? dlopen(beside, RTLD_NOW | RTLD_LOCAL) : nullptr;
    sk_free(folder);
    if (!handle)
        handle = dlopen("libnvonnxparser.so." MAJOR, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "createNvOnnxParser_INTERNAL") : nullptr;
    if (!symbol)
        return fail(err, SK_ERR_UNSUPPORTED,
                    "TensorRT's ONNX parser (libnvonnxparser.so." MAJOR ") is not beside %s. To get it: %s",
                    library.path, wish.remedy);
    memcpy(out, &symbol, sizeof symbol); // stays loaded
    return SK_OK;
}

// --- building ---

class Progress : public nvinfer1::IProgressMonitor
{
  public:
    void (*tell)(void *context, double part) = nullptr;
    void *context = nullptr;
    void phaseStart(const char *name, const char *parent, int32_t steps) noexcept override
    {
        (void)name;
        if (!parent) { // the outermost phase is what a person waits for
            whole_ = steps > 0 ? steps : 1;
            done_ = 0;
        }
        depth_++;
    }
    bool stepComplete(const char *name, int32_t step) noexcept override
    {
        (void)name;
        (void)step;
        if (depth_ == 1 && tell && whole_ > 0)
            tell(context, static_cast<double>(++done_) / whole_);
        return true;
    }
    void phaseFinish(const char *name) noexcept override
    {
        (void)name;
        depth_--;
    }

  private:
    int32_t whole_ = 1, done_ = 0, depth_ = 0;
};

#if NV_TENSORRT_MAJOR < 11
// Feeds pictures one by one; each is what the network's input takes.
class Calibrator : public nvinfer1::IInt8EntropyCalibrator2
{
  public:
    Calibrator(const float *pictures, int64_t count, size_t floats)
        : pictures_(pictures), count_(count), floats_(floats)
    {
        if (cudaMalloc(&device_, floats * sizeof(float)) != cudaSuccess)
            device_ = nullptr;
    }
    ~Calibrator() noexcept override
    {
        cudaFree(device_);
    }
    int32_t getBatchSize() const noexcept override
    {
        return 1;
    }
    bool getBatch(void *bindings[], const char *names[], int32_t count) noexcept override
    {
        (void)names;
        if (at_ >= count_ || count != 1 || !device_ ||
            cudaMemcpy(device_, pictures_ + static_cast<size_t>(at_) * floats_, floats_ * sizeof(float),
                       cudaMemcpyHostToDevice) != cudaSuccess)
            return false;
        at_++;
        bindings[0] = device_;
        return true;
    }
    const void *readCalibrationCache(size_t &length) noexcept override
    {
        length = 0;
        return nullptr;
    }
    void writeCalibrationCache(const void *cache, size_t length) noexcept override
    {
        (void)cache;
        (void)length;
    }

  private:
    const float *pictures_;
    int64_t count_, at_ = 0;
    size_t floats_;
    void *device_ = nullptr;
};
#endif

// Everything a build holds; ended in the order TensorRT wants.
struct Build {
    nvinfer1::IBuilder *builder = nullptr;
    nvinfer1::INetworkDefinition *network = nullptr;
    nvonnxparser::IParser *parser = nullptr;
    nvinfer1::IBuilderConfig *config = nullptr;
    nvinfer1::ITimingCache *timings = nullptr;
    nvinfer1::IHostMemory *plan = nullptr;
#if NV_TENSORRT_MAJOR < 11
    Calibrator *calibrator = nullptr;
#endif
    ~Build()
    {
        delete plan;
        delete timings;
        delete config;
        delete parser;
        delete network;
        delete builder;
#if NV_TENSORRT_MAJOR < 11
        delete calibrator;
#endif
    }
};

sk_status parse(Build &b, const void *onnx, size_t length, bool int8, sk_error *err)
{
    create_parser_function create_parser = nullptr;
    TRY(load_parser(&create_parser, err));
    b.builder = static_cast<nvinfer1::IBuilder *>(library.create_builder(&listener, NV_TENSORRT_VERSION));
    if (!b.builder)
        return fail(err, SK_ERR_RUNTIME, "TensorRT %s gives no builder: %s", library.version, said());
        // Strongly typed: the file's types are what is computed, f16 where it says f16. int8 by calibration is the one way that
        // needs TensorRT's own choice.
#if NV_TENSORRT_MAJOR < 11
    uint32_t flags =
        int8 ? 0u : 1u << static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
#else
    (void)int8;
    uint32_t flags = 0;
#endif
    b.network = b.builder->createNetworkV2(flags);
    if (!b.network)
        return fail(err, SK_ERR_RUNTIME, "TensorRT %s gives no network: %s", library.version, said());
    b.parser =
        static_cast<nvonnxparser::IParser *>(create_parser(b.network, &listener, NV_ONNX_PARSER_VERSION));
    if (!b.parser)
        return fail(err, SK_ERR_RUNTIME, "TensorRT %s gives no parser: %s", library.version, said());
    if (!b.parser->parse(onnx, length)) {
        const nvonnxparser::IParserError *first =
            b.parser->getNbErrors() > 0 ? b.parser->getError(0) : nullptr;
        return fail(err, SK_ERR_UNSUPPORTED, "TensorRT %s cannot read the model: %s (node %d)",
                    library.version, first ? first->desc() : said(), first ? first->node() : -1);
    }
    return SK_OK;
}

// An open batch runs from one picture to the largest batch, best at the largest.
sk_status add_profile(Build &b, int32_t batch, sk_error *err)
{
    bool open = false;
    nvinfer1::IOptimizationProfile *profile = b.builder->createOptimizationProfile(); // the builder's
    for (int32_t i = 0; profile && i < b.network->getNbInputs(); i++) {
        nvinfer1::ITensor *input = b.network->getInput(i);
        nvinfer1::Dims least = input->getDimensions(), most = least;
        for (int32_t d = 0; d < least.nbDims; d++) {
            if (least.d[d] >= 0)
                continue;
            if (d > 0)
                return fail(err, SK_ERR_UNSUPPORTED,
                            "TensorRT: only the batch may be left open, not dimension %d", d);
            least.d[d] = 1;
            most.d[d] = batch;
            open = true;
        }
        if (open && !(profile->setDimensions(input->getName(), nvinfer1::OptProfileSelector::kMIN, least) &&
                      profile->setDimensions(input->getName(), nvinfer1::OptProfileSelector::kOPT, most) &&
                      profile->setDimensions(input->getName(), nvinfer1::OptProfileSelector::kMAX, most)))
            return fail(err, SK_ERR_RUNTIME, "TensorRT refuses batches of 1 to %d: %s", batch, said());
    }
    if (open && b.config->addOptimizationProfile(profile) < 0)
        return fail(err, SK_ERR_RUNTIME, "TensorRT refuses batches of 1 to %d: %s", batch, said());
    return SK_OK;
}

// Timings of earlier builds; a file that is absent or of another device is as if there was none.
void use_timings(Build &b, const char *path)
{
    char *bytes = nullptr;
    size_t length = 0;
    if (!path)
        return;
    if (sk_file_read_own(path, static_cast<size_t>(1) << 30, &bytes, &length, nullptr) != SK_OK)
        length = 0;
    b.timings = b.config->createTimingCache(bytes, length);
    if (!b.timings)
        b.timings = b.config->createTimingCache(nullptr, 0);
    if (b.timings)
        b.config->setTimingCache(*b.timings, false);
    sk_free(bytes);
}

void keep_timings(const Build &b, const char *path)
{
    if (!path || !b.timings)
        return;
    nvinfer1::IHostMemory *bytes = b.timings->serialize();
    if (bytes)
        (void)!sk_file_replace(path, bytes->data(), bytes->size(), nullptr);
    delete bytes;
}

sk_status set_int8(Build &b, const trt_build_settings *s, sk_error *err)
{
#if NV_TENSORRT_MAJOR < 11
    nvinfer1::Dims dims = b.network->getInput(0)->getDimensions();
    size_t floats = 1;
    for (int32_t d = 1; d < dims.nbDims; d++)
        floats *= static_cast<size_t>(dims.d[d]);
    if (!s->calibration || s->calibration_pictures < 1)
        return fail(err, SK_ERR_ARG,
                    "int8 needs pictures to calibrate with; SKITTER_TENSORRT_CALIBRATION names a .npy "
                    "file of them, float32 [pictures][channels][height][width]");
    b.calibrator = new (std::nothrow) Calibrator(s->calibration, s->calibration_pictures, floats);
    if (!b.calibrator)
        return sk_fail_memory(err, sizeof(Calibrator));
    b.config->setFlag(nvinfer1::BuilderFlag::kINT8);
    b.config->setFlag(nvinfer1::BuilderFlag::kFP16); // for layers that int8 does not suit
    b.config->setInt8Calibrator(b.calibrator);
    return SK_OK;
#else
    (void)b;
    (void)s;
    return fail(err, SK_ERR_UNSUPPORTED,
                "TensorRT %s calibrates no more: int8 needs a model that is quantised already",
                library.version);
#endif
}

} // namespace

extern "C" sk_status trt_load(char version[64], char path[4096], sk_error *err)
{
    TRY(load(err));
    snprintf(version, 64, "%s", library.version);
    snprintf(path, 4096, "%s", library.path);
    return SK_OK;
}

extern "C" sk_status trt_device(int32_t device, char *architecture, size_t capacity, char *name,
                                size_t name_capacity, uint64_t *memory, sk_error *err)
{
    int count = 0;
    cudaDeviceProp about;
    TRY(cuda_check(cudaGetDeviceCount(&count), "no NVIDIA device", err));
    if (device < 0 || device >= count)
        return fail(err, SK_ERR_NOT_FOUND, "device %d: there are %d NVIDIA devices", device, count);
    TRY(cuda_check(cudaGetDeviceProperties(&about, device), "the device tells nothing of itself", err));
    snprintf(architecture, capacity, "sm_%d%d", about.major, about.minor);
    snprintf(name, name_capacity, "%s", about.name);
    *memory = about.totalGlobalMem;
    return SK_OK;
}

extern "C" sk_status trt_build(const void *onnx, size_t length, const trt_build_settings *s, uint8_t **plan,
                               size_t *plan_length, sk_error *err)
{
    Build b;
    Progress progress;
    *plan = nullptr;
    listener.last[0] = '\0';
    TRY(load(err));
    TRY(cuda_check(cudaSetDevice(s->device), "the device cannot be used", err));
    TRY(parse(b, onnx, length, s->int8, err));
    b.config = b.builder->createBuilderConfig();
    if (!b.config)
        return fail(err, SK_ERR_RUNTIME, "TensorRT %s gives no configuration: %s", library.version, said());
    b.config->setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE, static_cast<size_t>(4) << 30);
    if (!s->tf32)
        b.config->clearFlag(nvinfer1::BuilderFlag::kTF32); // on unless said otherwise
    if (s->int8)
        TRY(set_int8(b, s, err));
    TRY(add_profile(b, s->batch, err));
    use_timings(b, s->timing_cache);
    progress.tell = s->progress;
    progress.context = s->context;
    b.config->setProgressMonitor(&progress);
    b.plan = b.builder->buildSerializedNetwork(*b.network, *b.config);
    b.config->setProgressMonitor(nullptr);
    if (!b.plan)
        return fail(err, SK_ERR_RUNTIME,
                    "TensorRT %s could not build the engine: %s. Where memory is short, a smaller "
                    "--batch helps",
                    library.version, said());
    keep_timings(b, s->timing_cache);
    *plan_length = b.plan->size();
    *plan = static_cast<uint8_t *>(sk_malloc(*plan_length));
    if (!*plan)
        return sk_fail_memory(err, *plan_length);
    memcpy(*plan, b.plan->data(), *plan_length);
    return SK_OK;
}

// --- running ---

enum { MOST_ENDS = 40, MOST_SLOTS = 8 };

struct end {
    char name[256];
    bool output;
    size_t bytes;
    void *device[MOST_SLOTS], *host[MOST_SLOTS];
};

struct trt_session {
    nvinfer1::IRuntime *runtime;
    nvinfer1::ICudaEngine *engine;
    int32_t device, slots, n_ends;
    nvinfer1::IExecutionContext *context[MOST_SLOTS];
    cudaStream_t stream[MOST_SLOTS];
    struct end ends[MOST_ENDS];
};

extern "C" void trt_close(trt_session **session)
{
    trt_session *s = session ? *session : nullptr;
    if (!s)
        return;
    *session = nullptr;
    for (int32_t k = 0; k < MOST_SLOTS; k++) {
        if (s->stream[k])
            cudaStreamSynchronize(s->stream[k]);
        delete s->context[k];
        if (s->stream[k])
            cudaStreamDestroy(s->stream[k]);
        for (int32_t i = 0; i < s->n_ends; i++) {
            cudaFree(s->ends[i].device[k]);
            cudaFreeHost(s->ends[i].host[k]);
        }
    }
    delete s->engine;
    delete s->runtime;
    sk_free(s);
}

static sk_status open_slots(trt_session *s, sk_error *err)
{
    for (int32_t k = 0; k < s->slots; k++) {
        s->context[k] = s->engine->createExecutionContext();
        if (!s->context[k])
            return fail(err, SK_ERR_RUNTIME, "TensorRT %s: no room for another run in flight: %s",
                        library.version, said());
        TRY(cuda_check(cudaStreamCreateWithFlags(&s->stream[k], cudaStreamNonBlocking), "no stream", err));
        if (s->engine->getNbOptimizationProfiles() > 1)
            s->context[k]->setOptimizationProfileAsync(0, s->stream[k]);
    }
    return SK_OK;
}

extern "C" sk_status trt_open(const void *plan, size_t length, int32_t device, int32_t slots,
                              trt_session **out, sk_error *err)
{
    *out = nullptr;
    listener.last[0] = '\0';
    if (slots > MOST_SLOTS)
        return fail(err, SK_ERR_ARG, "%d slots; TensorRT sessions have at most %d", slots,
                    static_cast<int>(MOST_SLOTS));
    TRY(load(err));
    TRY(cuda_check(cudaSetDevice(device), "the device cannot be used", err));
    trt_session *s = static_cast<trt_session *>(sk_calloc(1, sizeof *s));
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->device = device;
    s->slots = slots;
    sk_status status = SK_OK;
    s->runtime = static_cast<nvinfer1::IRuntime *>(library.create_runtime(&listener, NV_TENSORRT_VERSION));
    if (!s->runtime)
        status = fail(err, SK_ERR_RUNTIME, "TensorRT %s gives no runtime: %s", library.version, said());
    if (status == SK_OK) {
        s->engine = s->runtime->deserializeCudaEngine(plan, length);
        if (!s->engine)
            status = fail(err, SK_ERR_UNSUPPORTED,
                          "TensorRT %s cannot use this engine file: %s. It is bound to the GPU and the "
                          "TensorRT it was built "
                          "with; build it again",
                          library.version, said());
    }
    if (status == SK_OK)
        status = open_slots(s, err);
    if (status != SK_OK)
        trt_close(&s);
    *out = s;
    return status;
}

static bool set_shape(trt_session *s, const char *name, const int64_t *dims, int32_t rank)
{
    nvinfer1::Dims shape = {};
    shape.nbDims = rank;
    for (int32_t d = 0; d < rank; d++)
        shape.d[d] = dims[d];
    for (int32_t k = 0; k < s->slots; k++)
        if (!s->context[k]->setInputShape(name, shape))
            return false;
    return true;
}

extern "C" sk_status trt_bind(trt_session *s, const char *name, bool output, const int64_t *dims,
                              int32_t rank, void **host, sk_error *err)
{
    nvinfer1::TensorIOMode want = output ? nvinfer1::TensorIOMode::kOUTPUT : nvinfer1::TensorIOMode::kINPUT;
    if (s->n_ends == MOST_ENDS || rank > nvinfer1::Dims::MAX_DIMS)
        return fail(err, SK_ERR_LIMIT, "TensorRT: too many inputs, outputs or dimensions");
    if (s->engine->getTensorIOMode(name) != want)
        return fail(err, SK_ERR_MISMATCH, "the engine has no %s '%s'", output ? "output" : "input", name);
    if (s->engine->getTensorDataType(name) != nvinfer1::DataType::kFLOAT)
        return fail(err, SK_ERR_MISMATCH,
                    "the engine's '%s' is not float32; build it without half inputs and outputs", name);
    if (!output && !set_shape(s, name, dims, rank))
        return fail(err, SK_ERR_MISMATCH, "the engine's '%s' does not take this batch and size: %s", name,
                    said());
    nvinfer1::Dims has = s->context[0]->getTensorShape(name);
    bool same = has.nbDims == rank;
    size_t bytes = sizeof(float);
    for (int32_t d = 0; same && d < rank; d++) {
        same = has.d[d] == dims[d];
        bytes *= static_cast<size_t>(dims[d]);
    }
    if (!same)
        return fail(err, SK_ERR_MISMATCH, "the engine's '%s' has another shape than the model's", name);
    struct end *e = &s->ends[s->n_ends++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->output = output;
    e->bytes = bytes;
    for (int32_t k = 0; k < s->slots; k++) {
        TRY(cuda_check(cudaMalloc(&e->device[k], bytes), "no memory on the device", err));
        TRY(cuda_check(cudaMallocHost(&e->host[k], bytes), "no memory for transfers", err));
        if (!s->context[k]->setTensorAddress(name, e->device[k]))
            return fail(err, SK_ERR_RUNTIME, "TensorRT: '%s' cannot be bound: %s", name, said());
        host[k] = e->host[k];
    }
    return SK_OK;
}

extern "C" sk_status trt_submit(trt_session *s, int32_t slot, sk_error *err)
{
    cudaStream_t stream = s->stream[slot];
    TRY(cuda_check(cudaSetDevice(s->device), "the device cannot be used", err)); // this may be another thread
    for (int32_t i = 0; i < s->n_ends; i++)
        if (!s->ends[i].output)
            TRY(cuda_check(cudaMemcpyAsync(s->ends[i].device[slot], s->ends[i].host[slot], s->ends[i].bytes,
                                           cudaMemcpyHostToDevice, stream),
                           "the upload failed", err));
    if (!s->context[slot]->enqueueV3(stream))
        return fail(err, SK_ERR_RUNTIME, "TensorRT %s: the run failed: %s", library.version, said());
    for (int32_t i = 0; i < s->n_ends; i++)
        if (s->ends[i].output)
            TRY(cuda_check(cudaMemcpyAsync(s->ends[i].host[slot], s->ends[i].device[slot], s->ends[i].bytes,
                                           cudaMemcpyDeviceToHost, stream),
                           "the download failed", err));
    return SK_OK;
}

extern "C" sk_status trt_wait(trt_session *s, int32_t slot, sk_error *err)
{
    return cuda_check(cudaStreamSynchronize(s->stream[slot]), "the run failed", err);
}
