/* SPDX-License-Identifier: Apache-2.0 */
/* Times one network on one of our engines, a few runs at a time, so that another program can run its own in between:
 *     net_loop MODEL HEIGHT WIDTH THREADS [engine=cpu] [precision=f32] [input=tensor|u8] [tail=keep] [winograd=off] [tune=off] [mask=M]
 * Reads numbers from standard input, one a line; runs the network that often; answers with one line of JSON:
 * wall and processor milliseconds of each run. "profile" answers with the time of every step. */
#include "settings_for.h"

#include "base/clock.h"
#include "engines/engine.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int failed(const char *what, const sk_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    return 1;
}

static void print_profile(sk_session *session)
{
    enum { MOST = 2000 };
    static sk_profile_row rows[MOST];
    int32_t count = 0;
    sk_error err;
    if (sk_session_profile(session, rows, MOST, &count, &err) != SK_OK)
        count = 0;
    printf("[");
    for (int32_t i = 0; i < count; i++)
        printf("%s{\"name\": \"%s\", \"kernel\": \"%s\", \"shape\": \"%s\", \"mflop\": %.3f, \"us\": %.1f}",
               i ? ", " : "", rows[i].name, rows[i].kernel, rows[i].shape, rows[i].flops / 1e6,
               rows[i].min_us);
    printf("]\n");
}

static int run_some(sk_session *session, const sk_session_input *in, int count)
{
    sk_error err;
    printf("{\"wall\": [");
    double *cpu = malloc(sizeof *cpu * (size_t)(count + 1));
    for (int i = 0; cpu && i < count; i++) {
        double c = cpu_ms();
        int64_t t = sk_clock_ns();
        if (sk_session_run(session, in, 1, NULL, 0, &err) != SK_OK) {
            free(cpu);
            return failed("run", &err);
        }
        printf("%s%.4f", i ? ", " : "", (double)(sk_clock_ns() - t) / 1e6);
        cpu[i] = cpu_ms() - c;
    }
    printf("], \"cpu\": [");
    for (int i = 0; cpu && i < count; i++)
        printf("%s%.4f", i ? ", " : "", cpu[i]);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("], \"peak_mb\": %.1f}\n", (double)use.ru_maxrss / 1024.0);
    free(cpu);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: net_loop MODEL HEIGHT WIDTH THREADS [option=value …]\n");
        return 2;
    }
    sk_error err;
    sk_model *model = NULL;
    sk_session *session = NULL;
    const char *engine = "cpu";
    char options[SK_OPTIONS_TEXT] = "";
    bool u8 = false, keep_tail = false;
    sk_precision precision = SK_PRECISION_AUTO;
    for (int i = 5; i < argc; i++) {
        if (!strncmp(argv[i], "engine=", 7))
            engine = argv[i] + 7;
        else if (!strcmp(argv[i], "input=u8"))
            u8 = true;
        else if (!strncmp(argv[i], "precision=", 10)) {
            if (sk_precision_read(argv[i] + 10, &precision, &err) != SK_OK)
                return failed(argv[i], &err);
        } else if (!strcmp(argv[i], "tail=keep"))
            keep_tail = true;
        else if (sk_options_add(options, argv[i], &err) != SK_OK) /* the engine's own */
            return failed(argv[i], &err);
    }
    int64_t start = sk_clock_ns();
    if (sk_model_open(argv[1], &model, &err) != SK_OK)
        return failed(argv[1], &err);
    int64_t opened = sk_clock_ns();
    sk_shape shape = sk_shape_of(4, 1, model->input.channels, atoi(argv[2]), atoi(argv[3]));
    const sk_engine *e = sk_engine_find(engine);
    if (!e) {
        fprintf(stderr, "no engine is called '%s'\n", engine);
        return 2;
    }
    sk_session_settings settings = settings_for(e, atoi(argv[4]), precision, options);
    settings.tail = keep_tail ? SK_TAIL_KEEP : SK_TAIL_CUT;
    if (u8)
        settings.input = SK_INPUT_U8_HWC;
    if (sk_session_open(e, model->graph, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_capture(session, &err) != SK_OK)
        return failed(engine, &err);
    sk_model_close(&model);
    int64_t count = sk_shape_count(&shape);
    float *values = malloc((size_t)count * sizeof *values);
    uint8_t *bytes = malloc((size_t)count);
    if (!values || !bytes)
        return 1;
    for (int64_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)((uint64_t)i * 2654435761u >> 24);
        values[i] = (float)bytes[i] / 255.0f;
    }
    sk_session_input in = {.data = settings.input == SK_INPUT_U8_HWC ? (void *)bytes : (void *)values};
    if (sk_session_run(session, &in, 1, NULL, 0, &err) != SK_OK)
        return failed("run", &err);
    const sk_session_info *info = sk_session_about(session);
    printf(
        "{\"read_ms\": %.1f, \"first_ms\": %.1f, \"detail\": \"%s\", \"elsewhere\": \"%s\", \"gflop\": %.3f, "
        "\"activation_mb\": %.1f, \"weight_mb\": %.1f}\n",
        (double)(opened - start) / 1e6, (double)(sk_clock_ns() - start) / 1e6, info->detail, info->elsewhere,
        info->flops / 1e9, (double)info->activation_bytes / 1048576.0,
        (double)info->weight_bytes / 1048576.0);
    fflush(stdout);
    char line[64];
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "profile", 7))
            print_profile(session);
        else if (!strncmp(line, "start", 5))
            status = sk_session_profile_start(session, &err) != SK_OK;
        else
            status = run_some(session, &in, atoi(line));
        fflush(stdout);
    }
    sk_session_close(&session);
    free(values);
    free(bytes);
    return status;
}
