/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "pipeline/internal.h"
#include "runner/devices.h"
#include "runner/offer.h"

/* Which frames are taken, the best first. Nobody else negotiates: a source picks from this list. */

static void add(sk_pipeline *p, sk_frame_kind kind)
{
    if (p->info.n_accepts < SK_MAX_ACCEPTS)
        p->accepts[p->info.n_accepts++] = kind;
}

/* The one device all lanes will be on; -1: there is none, or more than one. */
static int32_t only_device(const sk_pipeline *p)
{
    sk_device devices[SK_RUNNER_MAX_DEVICES];
    int32_t count = 0;
    if (sk_devices_read(p->devices, p->detector.runtime, devices, &count, NULL) != SK_OK)
        return -1;
    for (int32_t i = 1; i < count; i++)
        if (devices[i].index != devices[0].index || devices[i].engine != devices[0].engine)
            return -1;
    return count > 0 ? devices[0].index : -1;
}

/* Before the networks stand: would the engine's first kernel read frames of this model as they come? SLEAP's come as RGB. */
static bool may_read_frames(const sk_pipeline *p)
{
    return p->info.n_models == 1 && !p->settings.allow_failover && p->settings.check_every == 0 &&
           p->description.takes_nv12 && (p->engine->can.reads & SK_READS_DEVICE);
}

/* Planes of video reach a network on the processor quickest where it looks at few of their pixels. */
static bool may_read_planes(const sk_pipeline *p)
{
    const sk_capabilities *can = &p->engine->can;
    return p->info.n_models == 1 && can->device == SK_DEVICE_CPU && can->same_bits && !can->for_checking;
}

void sk_pipeline_list_accepts(sk_pipeline *p)
{
    const sk_runner *r = p->runner;
    const int32_t device = only_device(p);
    const sk_task_settings task = sk_task_settings_of(&p->detector);
    sk_frame_kind planes = {.format = SK_PIXEL_I420};
    p->info.n_accepts = 0;
    p->info.accepts = p->accepts;
    if (device >= 0 && (r ? sk_runner_takes_device_frames(r, device) : may_read_frames(p)))
        add(p, (sk_frame_kind){.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = device, .lent = 1});
    if (r ? sk_runner_takes_nv12(r) : may_read_frames(p))
        add(p, (sk_frame_kind){.format = SK_PIXEL_NV12});
    if ((r ? sk_runner_takes_planes(r) : may_read_planes(p)) &&
        sk_task_i420_above(p->models[0], &task, &planes.above_width, &planes.above_height))
        add(p, planes);
    /* From here on the processor makes them what the network reads. */
    static const sk_pixel_format all[] = {SK_PIXEL_RGB,    SK_PIXEL_BGR,  SK_PIXEL_GRAY,
                                          SK_PIXEL_RGBA,   SK_PIXEL_BGRA, SK_PIXEL_YUYV,
                                          SK_PIXEL_GRAY16, SK_PIXEL_NV12, SK_PIXEL_I420};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        add(p, (sk_frame_kind){.format = all[i]});
}

bool sk_pipeline_likes(const sk_pipeline *p, const sk_frame *like)
{
    const bool there = sk_frame_on_device(like);
    for (int32_t i = 0; i < p->info.n_accepts; i++) {
        const sk_frame_kind *k = &p->accepts[i];
        if (k->format == like->format &&
            (there ? k->place == like->place && k->device == like->device : k->place == SK_PLACE_HOST))
            return true;
        if (k->format == SK_PIXEL_RGB)
            break; /* the others are taken, but not liked */
    }
    return false;
}
