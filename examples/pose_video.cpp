// SPDX-License-Identifier: Apache-2.0
// The same as pose_video.c in C++: objects that close themselves, errors as exceptions.  pose_video MODEL VIDEO
// Build: c++ -std=c++17 pose_video.cpp $(pkg-config --cflags --libs skitter)
#include <skitter/skitter.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Calls a function whose last argument is sk_error *, and throws what it says.
template <typename Function, typename... Arguments> void call(Function function, Arguments... arguments)
{
    sk_error err{};
    if (function(arguments..., &err) != SK_OK)
        throw Error(err.message);
}

template <typename T, void (*close)(T **)> struct Closer {
    void operator()(T *object) const { close(&object); }
};
using Source = std::unique_ptr<sk_source, Closer<sk_source, sk_source_close>>;
using Pipeline = std::unique_ptr<sk_pipeline, Closer<sk_pipeline, sk_pipeline_close>>;

Pipeline open_pipeline(const char *model)
{
    sk_pipeline *pipeline = nullptr;
    call(sk_pipeline_open, &model, 1, static_cast<const sk_pipeline_settings *>(nullptr), &pipeline);
    return Pipeline(pipeline);
}

Source open_source(const char *uri, const sk_pipeline_info &about)
{
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.accepts = about.accepts;
    settings.n_accepts = about.n_accepts;
    sk_source *source = nullptr;
    call(sk_source_open, uri, &settings, &source);
    return Source(source);
}

// Everything that is ready; with `all`, everything that is still to come.
void print_results(sk_pipeline *pipeline, bool all)
{
    const sk_result *result = nullptr;
    while (sk_pipeline_take(pipeline, all ? -1 : 0, &result, nullptr) == SK_OK && result) {
        if (result->status != SK_OK) // one broken frame does not end the video
            std::fprintf(stderr, "frame %lld: %s\n", static_cast<long long>(result->index), result->problem);
        sk_instance animal = SK_INSTANCE_INIT;
        for (int32_t i = 0; sk_instances_get(result->instances, i, &animal); i++)
            std::printf("frame %lld: score %.2f\n", static_cast<long long>(result->index),
                        static_cast<double>(animal.score));
        sk_pipeline_give_back(pipeline, result);
    }
}

} // namespace

int main(int argc, char **argv)
try {
    Source source; // outlives the pipeline, which may still hold its frames
    Pipeline pipeline = open_pipeline(argc > 1 ? argv[1] : "model.pt");
    source = open_source(argc > 2 ? argv[2] : "video.mp4", *sk_pipeline_about(pipeline.get()));
    const sk_frame *frame = nullptr;
    while (call(sk_source_next, source.get(), &frame), frame) {
        call(sk_pipeline_submit, pipeline.get(), frame, static_cast<void *>(nullptr), 0u);
        print_results(pipeline.get(), false);
    }
    sk_pipeline_finish(pipeline.get());
    print_results(pipeline.get(), true);
    return 0;
} catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
