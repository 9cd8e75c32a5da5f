/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_settings.h"
#include "base/memory.h"
#include "ros/node_inside.h"

#include <time.h>

/* Getting a model ready may take minutes (an engine is built), and nothing in there can be told to stop: a thread does it, and whoever
 * is interrupted meanwhile leaves it behind. */

#define TURN_NS 50000000

typedef struct opening {
    pthread_mutex_t lock;
    pthread_cond_t change;
    sk_node_settings *settings;
    sk_node_core *core;
    sk_error err;
    bool done, left_behind;
} opening;

static void end(opening *o)
{
    sk_node_core_close(&o->core);
    sk_node_settings_close(&o->settings);
    pthread_cond_destroy(&o->change);
    pthread_mutex_destroy(&o->lock);
    sk_free(o);
}

static void *open_core(void *context)
{
    opening *o = context;
    sk_node_core *core = NULL;
    sk_error err = {0};
    err.code = sk_node_core_open(o->settings, &core, &err);
    pthread_mutex_lock(&o->lock);
    o->core = core;
    o->err = err;
    o->done = true;
    const bool alone = o->left_behind;
    pthread_cond_signal(&o->change);
    pthread_mutex_unlock(&o->lock);
    if (alone)
        end(o);
    return NULL;
}

static sk_status begin(const sk_ros_node *node, opening **out, sk_error *err)
{
    pthread_t thread;
    opening *o = sk_calloc(1, sizeof *o);
    if (!o)
        return sk_fail_memory(err, sizeof *o);
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->change, NULL);
    o->settings = sk_node_settings_copy(sk_params_settings(node->settings->params));
    sk_status status = o->settings ? SK_OK : sk_fail_memory(err, sizeof *o);
    if (status == SK_OK && pthread_create(&thread, NULL, open_core, o) != 0)
        status = sk_fail(err, SK_ERR_RUNTIME, "no thread could be started");
    if (status != SK_OK) {
        end(o);
        return status;
    }
    pthread_detach(thread);
    *out = o;
    return SK_OK;
}

static bool is_interrupted(const sk_ros_node *node)
{
    return node->settings->interrupted && node->settings->interrupted(node->settings->context);
}

sk_status node_open_core(sk_ros_node *node, sk_node_core **out, sk_error *err)
{
    opening *o = NULL;
    *out = NULL;
    SK_TRY(begin(node, &o, err));
    pthread_mutex_lock(&o->lock);
    while (!o->done && !is_interrupted(node)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TURN_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&o->change, &o->lock, &until);
    }
    o->left_behind = !o->done;
    const bool left = o->left_behind;
    pthread_mutex_unlock(&o->lock);
    if (left) { /* the thread ends it */
        node->left_behind = true;
        return sk_fail(err, SK_ERR_CANCELLED, "interrupted while the model was made ready");
    }
    *out = o->core;
    o->core = NULL;
    const sk_status status = o->err.code;
    if (status != SK_OK && err)
        *err = o->err;
    end(o);
    return status;
}
