/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "server/routes.h"

#include <stdio.h>
#include <string.h>

/* docs/troubleshooting.md's three questions about runtimes, answered by what the probes see now. */

#define TEXT 1024

static void put_finding(sk_json *j, bool fine, const char *remedy, const char *text)
{
    sk_json_object(j);
    sk_json_key_bool(j, "ok", fine);
    sk_json_key_strings(j, {"text", text}, {"remedy", remedy && remedy[0] ? remedy : NULL});
    sk_json_close(j);
}

static void begin(sk_json *j, const char *id, const char *question, const char *answer)
{
    sk_json_object(j);
    sk_json_key_strings(j, {"id", id}, {"question", question}, {"answer", answer});
    sk_json_key_array(j, "findings");
}

static void finish(sk_json *j)
{
    sk_json_close(j);
    sk_json_close(j);
}

/* One runtime under the gate: offered, or why not. */
static void put_gated(sk_json *j, const sk_runtimes_view *view, int i)
{
    char text[TEXT];
    const bool offered = view->gate.is_allowed[i];
    snprintf(text, sizeof text, "%s is %s: %s", sk_runtime_label((sk_runtime)i),
             offered ? "offered" : "not offered", offered ? view->rows[i].reason : view->gate.because[i]);
    put_finding(j, offered, offered ? NULL : view->rows[i].remedy, text);
}

static void vanished(sk_json *j, const sk_runtimes_view *view)
{
    sk_runtime_settings settings;
    begin(
        j, "vanished", "A runtime disappeared",
        "A model that is in use cannot run on it, or its library or device is gone. Only what every enabled "
        "pipeline can use is offered; for the others this is who excluded them:");
    if (sk_runtime_settings_read(NULL, &settings, NULL) == SK_OK) {
        const sk_runtime_setting *s = &settings.level[settings.effective];
        char notice[SK_RUNTIME_NOTICE] = "";
        sk_runtime effective;
        const bool reset = sk_runtime_reset(s->value, &view->gate, &view->facts, &effective, notice);
        if (!reset)
            snprintf(notice, sizeof notice, "what is saved, %s, can be used", s->value);
        put_finding(j, !reset, NULL, notice);
    }
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        put_gated(j, view, i);
    finish(j);
}

static bool is_onnx(int i)
{
    return i == SK_RUNTIME_ONNX_CPU || i == SK_RUNTIME_ONNX_CUDA || i == SK_RUNTIME_ONNX_ROCM;
}

static void onnx_fails(sk_json *j, const sk_runtimes_view *view)
{
    begin(j, "onnx_fails", "ONNX is offered, but fails",
          "Two causes: the provider does not work, or the model's file does not fit. A provider is offered "
          "only "
          "after it has computed something whose answer is known; the file is made, run and compared with "
          "skitter's own engine by the commands below.");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        char text[TEXT];
        if (!is_onnx(i))
            continue;
        snprintf(text, sizeof text, "%s: %s", sk_runtime_label((sk_runtime)i), view->rows[i].reason);
        put_finding(j, view->rows[i].available, view->rows[i].available ? NULL : view->rows[i].remedy, text);
    }
    put_finding(
        j, true,
        "skitter export MODEL --runtime onnx_cpu\nskitter artifacts verify MODEL\nskitter predict … "
        "--runtime cpu",
        "is it the file? it is made anew and compared; or looked at where it lies; the processor always "
        "works meanwhile");
    finish(j);
}

static void sleap_missing(sk_json *j, const sk_runtimes_view *view)
{
    begin(
        j, "sleap_missing", "SLEAP: ONNX or TensorRT is not offered",
        "There is no SLEAP environment to choose, and nothing of SLEAP's to install: skitter reads the model "
        "folder, builds its graph and exports that. What is needed is the runtime's library, and a model "
        "whose graph can be built.");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        if (is_onnx(i) || (sk_runtime)i == SK_RUNTIME_TENSORRT)
            put_gated(j, view, i);
    put_finding(
        j, true,
        "skitter runtimes models/sleap_dir\nskitter info models/sleap_dir\nskitter export "
        "models/sleap_dir --runtime tensorrt",
        "is it the model? these say what excluded it, whether it can be read, and what is in the way");
    finish(j);
}

sk_status sk_serve_troubleshooting(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    uint32_t pipelines = 0;
    const char *fresh = sk_request_query(r, "fresh");
    SK_TRY(sk_works_parse(sk_request_query(r, "pipelines"), &pipelines, err));
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    if (!view)
        return sk_fail_memory(err, sizeof *view);
    sk_probes_look(&server->probes, pipelines, fresh && strcmp(fresh, "1") == 0, view, NULL);
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_array(&j, "questions");
    vanished(&j, view);
    onnx_fails(&j, view);
    sk_probes_look(&server->probes, 1u << SK_WORK_SLEAP_POSE, false, view, NULL);
    sleap_missing(&j, view);
    sk_json_close(&j);
    sk_json_close(&j);
    sk_free(view);
    return sk_json_end(&j, err);
}
