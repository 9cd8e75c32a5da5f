/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"
#include "base/instances.h"

#include <stdio.h>
#include <string.h>

/* Frames in flight: their lists, and what becomes of them. Everything here is called under the runner's lock. */

sk_status sk_items_open(sk_runner *r, sk_error *err)
{
    /* One more for the reader to hold while all others are on their way. */
    for (int32_t i = 0; i <= r->depth; i++)
        SK_TRY(sk_items_grow(r, err));
    return SK_OK;
}

static sk_status add_lent(sk_runner *r, sk_error *err)
{
    sk_lent *lent = sk_calloc(1, sizeof *lent);
    if (!lent)
        return sk_fail_memory(err, sizeof *lent);
    lent->next = r->free_lent;
    r->free_lent = lent;
    return SK_OK;
}

static void dispose(sk_item *item)
{
    sk_instances_free(&item->instances);
    sk_instances_free(&item->found);
    sk_free_all(item->staging, item->output_data, item);
}

sk_status sk_items_grow(sk_runner *r, sk_error *err)
{
    for (int i = 0; i < 2; i++) /* one in use, one being given back */
        SK_TRY(add_lent(r, err));
    sk_item *item = sk_calloc(1, sizeof *item);
    if (!item)
        return sk_fail_memory(err, sizeof *item);
    memset(item, 0, sizeof *item); /* touched now rather than by its first frame */
    sk_status status = sk_instances_alloc(r->capacity, r->n_keypoints, &item->instances, err);
    if (status == SK_OK && r->n_models > 1)
        status = sk_instances_alloc(r->found_capacity, r->found_keypoints, &item->found, err);
    if (status != SK_OK) {
        dispose(item);
        return status;
    }
    memset(item->instances.items, 0, (size_t)r->capacity * sizeof *item->instances.items);
    memset(item->instances.keypoints, 0,
           (size_t)r->capacity * (size_t)r->n_keypoints * sizeof *item->instances.keypoints);
    item->sibling = r->items;
    item->next = r->free_items;
    r->items = r->free_items = item;
    return SK_OK;
}

static void free_lent(sk_lent **list)
{
    for (sk_lent *lent = *list, *next; lent; lent = next) {
        next = lent->next;
        sk_free(lent);
    }
    *list = NULL;
}

void sk_items_close(sk_runner *r, bool taken)
{
    sk_item *going = NULL, *next;
    if (r->held)
        r->held->state = SK_ITEM_FREE;
    for (sk_item **at = &r->items; *at;) {
        sk_item *item = *at;
        if (item->state == SK_ITEM_HELD && !taken) {
            at = &item->sibling;
            continue;
        }
        *at = item->sibling;
        item->sibling = going;
        going = item;
        sk_item_give_back(r, item);
    }
    r->free_items = r->oldest = r->newest = r->pending = r->held = NULL;
    r->in_flight = r->reserved = r->abandoned = 0;
    sk_runner_tell(r);
    for (; going; going = next) {
        next = going->sibling;
        dispose(going);
    }
    free_lent(&r->free_lent);
}

void sk_item_end(sk_runner *r, sk_item *item)
{
    if (r->state == SK_RUNNER_RUNNING) {
        sk_item_free(r, item);
        return;
    }
    for (sk_item **at = &r->items; *at; at = &(*at)->sibling)
        if (*at == item) {
            *at = item->sibling;
            sk_item_give_back(r, item);
            dispose(item);
            return;
        }
}

sk_status sk_item_lend(sk_runner *r, sk_item *item, const sk_frame *frame, const sk_runner_call *call,
                       sk_error *err)
{
    if (!r->free_lent) /* the caller takes its time to have frames back */
        SK_TRY(add_lent(r, err));
    sk_lent *lent = r->free_lent;
    r->free_lent = lent->next;
    frame = call && call->given ? call->given : frame;
    *lent = call && call->frame_done
                ? (sk_lent){.frame = frame, .done = call->frame_done, .context = call->frame_context}
                : (sk_lent){.frame = frame, .done = r->settings.frame_done, .context = r->settings.context};
    item->lent = lent;
    return SK_OK;
}

void sk_item_give_back(sk_runner *r, sk_item *item)
{
    sk_lent *lent = item->lent;
    item->lent = NULL;
    if (!lent)
        return;
    sk_lent **at = &r->back; /* in the order they are given back */
    while (*at)
        at = &(*at)->next;
    lent->next = NULL;
    *at = lent;
}

void sk_runner_tell(sk_runner *r)
{
    sk_lent *back = r->back, *last = NULL;
    int32_t news = r->news;
    r->back = NULL;
    r->news = 0;
    if (!back && (!news || !r->settings.result_ready))
        return;
    pthread_mutex_unlock(&r->lock);
    for (sk_lent *lent = back; lent; last = lent, lent = lent->next)
        if (lent->done)
            lent->done(lent->context, lent->frame);
    for (int32_t i = 0; i < news && r->settings.result_ready; i++)
        r->settings.result_ready(r->settings.context);
    pthread_mutex_lock(&r->lock);
    if (last) {
        last->next = r->free_lent;
        r->free_lent = back;
    }
}

/* Results that can be taken now and could not before, beginning with this one; those older than it are announced. */
static void announce(sk_runner *r, sk_item *from)
{
    if (from && from->older && !from->older->announced)
        return;
    for (sk_item *item = from; item && item->state == SK_ITEM_DONE && !item->announced; item = item->newer) {
        item->announced = true;
        r->news++;
    }
}

void sk_item_unlink(sk_runner *r, sk_item *item)
{
    *(item->older ? &item->older->newer : &r->oldest) = item->newer;
    *(item->newer ? &item->newer->older : &r->newest) = item->older;
    if (item->newer && !item->announced)
        announce(r, item->newer);
    item->older = item->newer = NULL;
    r->in_flight--;
}

static void unpend(sk_runner *r, const sk_item *item)
{
    for (sk_item **at = &r->pending; *at; at = &(*at)->next)
        if (*at == item) {
            *at = item->next;
            return;
        }
}

void sk_item_free(sk_runner *r, sk_item *item)
{
    if (item->state == SK_ITEM_PENDING)
        unpend(r, item);
    if (item->state != SK_ITEM_HELD && item->state != SK_ITEM_FREE && !item->abandoned)
        sk_item_unlink(r, item);
    sk_item_give_back(r, item);
    item->state = SK_ITEM_FREE;
    if (item->abandoned && --r->abandoned == 0)
        pthread_cond_broadcast(&r->ready); /* who drains waits for it */
    item->abandoned = false;
    item->next = r->free_items;
    r->free_items = item;
    pthread_cond_signal(&r->room);
}

void sk_item_link(sk_runner *r, sk_item *item)
{
    item->older = r->newest;
    item->newer = NULL;
    *(r->newest ? &r->newest->newer : &r->oldest) = item;
    r->newest = item;
    r->in_flight++;
}

void sk_item_pend(sk_runner *r, sk_item *item)
{
    sk_item **at = &r->pending;
    while (*at && (*at)->ticket < item->ticket)
        at = &(*at)->next;
    item->next = *at;
    *at = item;
    item->state = SK_ITEM_PENDING;
}

static void add_times(sk_runner *r, const sk_item *item)
{
    const int64_t *at = item->at;
    sk_histogram *h = r->stages;
    if (item->upload > 0)
        sk_histogram_add(&h[SK_STAGE_UPLOAD], (int64_t)(item->upload * 1e9));
    if (item->download + item->copying > 0)
        sk_histogram_add(&h[SK_STAGE_DOWNLOAD], (int64_t)((item->download + item->copying) * 1e9));
    if (item->checking > 0)
        sk_histogram_add(&h[SK_STAGE_CHECK], (int64_t)(item->checking * 1e9));
    sk_histogram_add(&h[SK_STAGE_QUEUE], at[SK_AT_PRE] - at[SK_AT_QUEUED]);
    sk_histogram_add(&h[SK_STAGE_PRE], (at[SK_AT_READY] - at[SK_AT_PRE]) / item->share);
    sk_histogram_add(&h[SK_STAGE_WAIT_NETWORK], at[SK_AT_NETWORK] - at[SK_AT_READY]);
    sk_histogram_add(&h[SK_STAGE_NETWORK], (at[SK_AT_COMPUTED] - at[SK_AT_NETWORK]) / item->share);
    sk_histogram_add(&h[SK_STAGE_WAIT_POST], at[SK_AT_POST] - at[SK_AT_COMPUTED]);
    sk_histogram_add(&h[SK_STAGE_POST], item->post);
    if (r->n_models > 1) {
        sk_histogram_add(&h[SK_STAGE_CROPS], item->crops);
        sk_histogram_add(&h[SK_STAGE_WAIT_SECOND], at[SK_AT_SECOND] - at[SK_AT_POSTED]);
        sk_histogram_add(&h[SK_STAGE_SECOND], item->second);
        sk_histogram_add(&h[SK_STAGE_SECOND_POST], item->second_post);
    }
    sk_histogram_add(&h[SK_STAGE_TOTAL], at[SK_AT_DONE] - at[SK_AT_SUBMIT]);
}

void sk_item_finish(sk_runner *r, sk_item *item)
{
    if (item->abandoned) {
        sk_item_free(r, item);
        return;
    }
    if (item->checked.ran) {
        r->counted.checks++;
        r->counted.checks_failed += !item->checked.passed;
        if (!(item->checked.pcc >= r->counted.worst_pcc))
            r->counted.worst_pcc = item->checked.pcc;
    }
    if (item->status == SK_OK || item->checked.ran)
        add_times(r, item);
    r->counted.whole += item->whole;
    if (item->status != SK_OK)
        r->counted.failed++;
    if (r->settings.frames != SK_RUNNER_HOLD)
        sk_item_give_back(r, item);
    item->state = SK_ITEM_DONE;
    announce(r, item);
    if (item == r->oldest)
        pthread_cond_broadcast(&r->room); /* who submits may be the one who reads it */
    if (item == r->oldest || r->oldest->alone || r->draining)
        pthread_cond_broadcast(&r->ready);
    if (r->settings.when_full == SK_FULL_DROP_OLDEST)
        pthread_cond_broadcast(&r->room); /* a result that nobody has fetched may give way, too */
}

const char *sk_item_state_name(sk_item_state state)
{
    switch (state) {
    case SK_ITEM_PENDING: return sk_stage_name(SK_STAGE_QUEUE);
    case SK_ITEM_PRE: return sk_stage_name(SK_STAGE_PRE);
    case SK_ITEM_WAIT_NETWORK: return sk_stage_name(SK_STAGE_WAIT_NETWORK);
    case SK_ITEM_NETWORK: return sk_stage_name(SK_STAGE_NETWORK);
    case SK_ITEM_WAIT_POST: return sk_stage_name(SK_STAGE_WAIT_POST);
    case SK_ITEM_POST: return sk_stage_name(SK_STAGE_POST);
    case SK_ITEM_WAIT_SECOND: return sk_stage_name(SK_STAGE_WAIT_SECOND);
    case SK_ITEM_SECOND: return sk_stage_name(SK_STAGE_SECOND);
    default: return sk_stage_name(SK_STAGE_WAIT_READER);
    }
}

sk_status sk_item_prepare_outputs(sk_item *item, const sk_trace *trace, sk_error *err)
{
    const sk_session_info *info = sk_session_about(trace->session);
    size_t bytes = 0, offset = 0;
    for (int32_t i = 0; i < info->n_outputs; i++)
        bytes += (size_t)sk_shape_count(&info->outputs[i].shape) * sizeof(float);
    if (bytes > item->output_bytes) {
        sk_free(item->output_data);
        item->output_bytes = 0;
        item->output_data = sk_aligned_calloc(bytes >= SK_LARGE_PAGE ? SK_LARGE_PAGE : 64, bytes);
        if (!item->output_data)
            return sk_fail_memory(err, bytes);
        item->output_bytes = bytes;
    }
    item->n_outputs = info->n_outputs;
    for (int32_t i = 0; i < info->n_outputs; i++) {
        const sk_shape *shape = &info->outputs[i].shape;
        sk_tensor_view *o = &item->outputs[i];
        if (shape->rank < 1 || shape->dim[0] != trace->key.batch || info->outputs[i].dtype != SK_DTYPE_F32)
            return sk_fail(err, SK_ERR_UNSUPPORTED,
                           "output %s is not a batch of float maps, so raw outputs cannot be kept",
                           info->output_names[i]);
        snprintf(item->output_names[i], sizeof item->output_names[i], "%.39s", info->output_names[i]);
        *o = (sk_tensor_view){
            .name = item->output_names[i], .element = SK_ELEMENT_F32, .rank = shape->rank - 1};
        for (int32_t k = 1; k < shape->rank && k <= 8; k++)
            o->dim[k - 1] = shape->dim[k];
        o->data = item->output_data + offset;
        offset += (size_t)(sk_shape_count(shape) / trace->key.batch);
    }
    return SK_OK;
}
