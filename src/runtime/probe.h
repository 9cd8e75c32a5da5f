/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_PROBE_H
#define SK_RUNTIME_PROBE_H

#include "engines/engine.h"
#include "runtime/gate.h"

/* What works on this machine, found by doing: each engine is asked, and then made to compute a small convolution, in
 * a process of its own with a time limit. A driver that crashes or hangs costs its row, never the program. */

typedef struct sk_probe_row {
    sk_runtime runtime;
    bool available;
    bool cached;                 /* taken from the user's cache: the library has not changed since */
    char reason[SK_RUNTIME_WHY]; /* what was found, or why it cannot be used */
    char remedy[512];            /* what would help; "" = nothing to suggest */
    char library[512];           /* "" = part of skitter, or none */
    char version[64];
    int32_t n_devices;
    char devices[SK_ENGINE_MAX_DEVICES][96];
    uint32_t precisions; /* bit 1 << sk_precision: what the first device computes in; 0 = not told */
} sk_probe_row;

#define SK_PROBE_LIMIT_MS 20000

/* Asks one engine, by its name. Never fails: what goes wrong is the row's reason. row->runtime is left to the caller. */
void sk_probe_engine(const char *name, int64_t limit_ms, sk_probe_row *row);
/* The child's part (base/child.h, role "probe"); `find` gives the engine of a name. */
void sk_probe_serve(int fd, const sk_engine *(*find)(const char *name));

/* One row a runtime, in the canonical order; all are probed at once but for those of one GPU. `fresh`: do not use (but do renew) what the cache remembers. A cache that
 * cannot be read or written is as if there was none. */
void sk_probe_all(bool fresh, sk_probe_row rows[SK_RUNTIME_COUNT]);
void sk_probe_one(sk_runtime runtime, bool fresh, sk_probe_row *row);

/* The facts the gate decides on. `graph_importable` is set: skitter reads SLEAP models itself. */
void sk_probe_facts(const sk_probe_row rows[SK_RUNTIME_COUNT], sk_runtime_facts *out);

/* Does the machine have what the runtime needs besides its library: driver and device? If not, the row's reason and
 * remedy say so (host.c). Only looks at files. */
bool sk_probe_machine(sk_runtime runtime, sk_probe_row *row);
/* A device file and a driver's library (the beginning of its name): what of the two is missing, in words. True when both are
 * there. */
bool sk_probe_has_driver(const char *vendor, const char *device, const char *library, const char *remedy,
                         sk_probe_row *row);
/* The runtimes (bits) that are probed one after another with this one: those of one GPU take turns, as it may be set to let one
 * process in at a time. Without a driver nobody gets that far. */
uint32_t sk_probe_turns(sk_runtime runtime, bool nvidia_driver, bool amd_driver);
/* Why a runtime that this build has no engine for is not there (host.c). */
void sk_probe_absent(sk_runtime runtime, sk_probe_row *row);

/* The cache (probe_cache.c): one small file a runtime, good while library, environment and skitter are the same. */
bool sk_probe_cache_read(sk_runtime runtime, sk_probe_row *row);
void sk_probe_cache_write(const sk_probe_row *row);

#endif
