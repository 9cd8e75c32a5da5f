/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_many.h"

#include "app/run_pictures.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDERS_MOST 1000000

sk_status sk_predict_fresh_folder(const char *command, char **out, sk_error *err)
{
    char name[64];
    *out = NULL;
    SK_TRY(sk_folder_make("runs", err));
    for (int i = 1; i < FOLDERS_MOST; i++) {
        snprintf(name, sizeof name, "runs/%s%d", command, i);
        if (mkdir(name, 0777) == 0) {
            *out = sk_strdup(name);
            return *out ? SK_OK : sk_fail_memory(err, sizeof name);
        }
        if (errno != EEXIST)
            break;
    }
    return sk_fail(err, SK_ERR_IO, "%s: the folder for the results cannot be made: %s. Name one with --out",
                   name, strerror(errno));
}

/* A model that cannot be opened fails once, not with every source. */
static sk_status check_models(const sk_predict_settings *s, sk_error *err)
{
    for (int32_t i = 0; i < s->n_models; i++) {
        sk_model *model = NULL;
        SK_TRY(sk_model_open(s->models[i], &model, err));
        sk_model_close(&model);
    }
    return SK_OK;
}

typedef struct many {
    const sk_predict_settings *settings;
    const sk_source_list *list;
    const sk_predict_many_watch *watch;
    sk_predict_many_report *report;
    sk_predict_item *item; /* large; one for all */
} many;

static void count_item(many *m)
{
    const sk_predict_item *item = m->item;
    sk_predict_many_report *r = m->report;
    r->failed += item->status != SK_OK;
    r->incomplete += item->status == SK_OK && item->report.missing > 0;
    r->done += item->status == SK_OK && !item->report.stopped && item->report.missing == 0;
    r->stopped |= item->report.stopped || item->status == SK_ERR_CANCELLED;
    r->frames += item->report.total_frames;
    r->instances += item->report.instances;
    r->seconds += item->report.seconds;
}

/* A source's folder is not one that somebody named: a link in its place would lead elsewhere. */
static sk_status check_place(const char *folder, sk_error *err)
{
    struct stat info;
    if (lstat(folder, &info) != 0 || S_ISDIR(info.st_mode))
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s: is no folder, where the source's results belong; remove it", folder);
}

static sk_status run_item(many *m, size_t number, sk_error *err)
{
    const sk_source_item *source = &m->list->items[number];
    sk_predict_item *item = m->item;
    sk_predict_settings s = *m->settings;
    char *folder = NULL, *pictures = NULL;
    sk_status status = SK_OK;
    memset(item, 0, sizeof *item);
    if (s.out && m->list->many) {
        folder = sk_path_join(s.out, source->name);
        if (!folder)
            return sk_fail_memory(err, strlen(source->name));
        s.out = folder;
    }
    const sk_run_pictures list = {m->list->n_pictures, m->list->pictures, s.out, s.restart, s.overwrite};
    if (!source->source)
        SK_TRY_GOTO(sk_run_pictures_write(&list, &pictures, err));
    s.source = source->source ? source->source : pictures;
    s.goes_on = !s.out && number > 0;
    item->source = s.source;
    item->out = s.out;
    item->number = number;
    item->count = m->list->count;
    if (m->watch->begin)
        m->watch->begin(m->watch->context, item);
    item->status = folder ? check_place(folder, &item->error) : SK_OK;
    if (item->status == SK_OK)
        item->status = sk_predict_run(&s, m->watch->frame, m->watch->context, &item->report, &item->error);
    count_item(m);
    if (m->watch->end)
        m->watch->end(m->watch->context, item);
done:
    if (pictures && !m->settings->out)
        (void)remove(pictures);
    sk_free(pictures);
    sk_free(folder);
    return status;
}

sk_status sk_predict_many(const sk_predict_settings *settings, const sk_source_list *list,
                          const sk_predict_many_watch *watch, sk_predict_many_report *report, sk_error *err)
{
    *report = (sk_predict_many_report){.sources = list->count};
    if (list->count > 1)
        SK_TRY(check_models(settings, err));
    many m = {settings, list, watch, report, sk_calloc(1, sizeof(sk_predict_item))};
    if (!m.item)
        return sk_fail_memory(err, sizeof *m.item);
    sk_status status = SK_OK;
    for (size_t i = 0; i < list->count && status == SK_OK && !report->stopped; i++)
        status = run_item(&m, i, err);
    sk_free(m.item);
    return status;
}
