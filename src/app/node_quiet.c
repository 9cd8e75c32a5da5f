/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"

#include "base/sized.h"

#include <stdio.h>
#include <string.h>

/* No picture comes: when that is worth a word, and what may be the cause. Said once here, for every door. */

#define SECOND        ((int64_t)1000000000)
#define GAPS          4 /* a camera that is slower than that: so many times its longest pause */
#define MOST_SIMILAR  4
#define RAW_TYPE      "sensor_msgs/msg/Image"
#define PACKED_TYPE   "sensor_msgs/msg/CompressedImage"
#define PACKED_ENDING "/compressed"

void sk_node_core_listen(sk_node_core *c)
{
    pthread_mutex_lock(&c->lock);
    c->quiet.from_ns = sk_node_now_ns();
    c->quiet.times_told = 0;
    pthread_mutex_unlock(&c->lock);
}

/* Told after 5 s, then after half a minute, two minutes, and every ten minutes. */
static int64_t patience(const sk_node_quiet *q)
{
    static const int64_t seconds[] = {5, 30, 120, 600};
    const int32_t last = (int32_t)(sizeof seconds / sizeof *seconds) - 1;
    const int32_t n = q->times_told;
    const int64_t least = n <= last ? seconds[n] * SECOND : seconds[last] * (n - last + 1) * SECOND;
    const int64_t usual = GAPS * q->longest_gap_ns;
    return n == 0 && usual > least ? usual : least;
}

bool sk_node_core_is_quiet(sk_node_core *c, double *seconds)
{
    const int64_t now = sk_node_now_ns(), last = atomic_load(&c->last_came_ns);
    sk_node_quiet *q = &c->quiet;
    pthread_mutex_lock(&c->lock);
    if (q->from_ns == 0)
        q->from_ns = now;
    if (last != 0 && last > q->from_ns) { /* 0: none ever came; a new machine's clock is near it */
        if (q->seen_ns != 0 && q->seen_ns >= q->from_ns && last - q->seen_ns > q->longest_gap_ns)
            q->longest_gap_ns = last - q->seen_ns;
        q->seen_ns = q->from_ns = last;
        q->times_told = 0;
    }
    const bool tell = now - q->from_ns >= patience(q);
    q->times_told += tell;
    if (seconds)
        *seconds = (double)(now - q->from_ns) * 1e-9;
    pthread_mutex_unlock(&c->lock);
    return tell;
}

/* --- the cause --- */

typedef struct seen {
    const char *wanted; /* the type */
    int32_t there, other_type,
        refused; /* publishers of the topic; of another type; with another quality of service */
    const char *its_type, *what;       /* of the last of those */
    const char *similar[MOST_SIMILAR]; /* topics with such images */
    const char *other_form;            /* a topic with images in the other form */
    int32_t n_similar, more_similar;
} seen;

/* How alike names are: parts of the path in common, from the end; and letters from the front. */
static int32_t likeness(const char *a, const char *b)
{
    size_t front = 0, back = 0;
    const size_t length_a = strlen(a), length_b = strlen(b);
    while (front < length_a && front < length_b && a[front] == b[front])
        front++;
    while (back < length_a - front && back < length_b - front &&
           a[length_a - 1 - back] == b[length_b - 1 - back])
        back++;
    return (int32_t)(front + back);
}

static void add_similar(seen *s, const char *topic, const char *than)
{
    int32_t at = s->n_similar;
    for (int32_t i = 0; i < s->n_similar; i++)
        if (strcmp(s->similar[i], topic) == 0)
            return;
    while (at > 0 && likeness(s->similar[at - 1], than) < likeness(topic, than))
        at--;
    if (s->n_similar == MOST_SIMILAR)
        s->more_similar++;
    else
        s->n_similar++;
    for (int32_t i = s->n_similar - 1; i > at; i--)
        s->similar[i] = s->similar[i - 1];
    if (at < MOST_SIMILAR)
        s->similar[at] = topic;
}

static void look_at(const sk_node_settings *settings, const char *topic, const sk_node_speaker *p, seen *s)
{
    const bool right = strcmp(p->type, s->wanted) == 0;
    const bool reliable = strcmp(sk_node_settings_get(settings, "qos_reliability"), "reliable") == 0;
    const bool kept = strcmp(sk_node_settings_get(settings, "qos_durability"), "transient_local") == 0;
    if (strcmp(p->topic, topic) != 0) {
        if (right)
            add_similar(s, p->topic, topic);
        else if (strcmp(p->type, RAW_TYPE) == 0 || strcmp(p->type, PACKED_TYPE) == 0)
            s->other_form = s->other_form ? s->other_form : p->topic;
        return;
    }
    s->there++;
    if (!right) {
        s->other_type++;
        s->its_type = p->type;
    } else if ((reliable && !p->reliable) || (kept && !p->transient_local)) {
        s->refused++;
        s->what = reliable && !p->reliable ? "best effort, and qos_reliability:=reliable asks for more; "
                                             "qos_reliability:=best_effort takes what anybody offers"
                                           : "volatile, and qos_durability:=transient_local asks for more; "
                                             "qos_durability:=volatile takes what anybody offers";
    }
}

static void append_similar(const seen *s, char *text, size_t capacity)
{
    size_t at = strlen(text);
    for (int32_t i = 0; i < s->n_similar; i++) {
        snprintf(text + at, capacity - at, "%s%s", i == 0 ? "; such images come on " : ", ", s->similar[i]);
        at = strlen(text);
    }
    if (s->more_similar) {
        snprintf(text + at, capacity - at, " and %d more", s->more_similar);
        at = strlen(text);
    }
    if (s->n_similar)
        snprintf(text + at, capacity - at, ": input_topic:=%s", s->similar[0]);
    else if (s->other_form && strcmp(s->wanted, RAW_TYPE) == 0)
        snprintf(
            text + at, capacity - at,
            "; compressed ones come on %s: input_transport:=compressed input_topic:=%.*s", s->other_form,
            (int)(strlen(s->other_form) - (strstr(s->other_form, PACKED_ENDING) ? strlen(PACKED_ENDING) : 0)),
            s->other_form);
    else if (s->other_form)
        snprintf(text + at, capacity - at,
                 "; images that are not compressed come on %s: input_transport:=raw input_topic:=%s",
                 s->other_form, s->other_form);
    else if (s->there == 0)
        snprintf(
            text + at, capacity - at,
            ", nor images on any topic: is the camera's driver running, and on this domain (ROS_DOMAIN_ID)?");
}

void sk_node_core_explain_quiet(sk_node_core *c, const char *topic, double seconds,
                                const sk_node_speaker *speakers, int32_t n, char *text, size_t capacity)
{
    const bool packed = strcmp(sk_node_settings_get(c->settings, "input_transport"), "compressed") == 0;
    seen s = {.wanted = packed ? PACKED_TYPE : RAW_TYPE};
    const uint32_t step =
        n > 0 ? speakers[0].size : 0; /* of whoever calls: theirs may be another version's */
    for (int32_t i = 0; i < n; i++) {
        sk_node_speaker one = SK_NODE_SPEAKER_INIT;
        if (sk_sized_read((const char *)speakers + (size_t)i * step, &one, sizeof one, "sk_node_speaker",
                          NULL) == SK_OK &&
            one.topic && one.type)
            look_at(c->settings, topic, &one, &s);
    }
    snprintf(text, capacity, "no image on %s for %.0f s: ", topic, seconds);
    size_t at = strlen(text);
    if (s.there == 0)
        snprintf(text + at, capacity - at, "nobody publishes on it");
    else if (s.other_type == s.there)
        snprintf(text + at, capacity - at, "%d publisher%s there, of type %s, where %s is asked for%s",
                 s.there, s.there > 1 ? "s" : "", s.its_type, s.wanted,
                 strcmp(s.its_type, PACKED_TYPE) == 0 ? " (input_transport:=compressed takes it)"
                 : strcmp(s.its_type, RAW_TYPE) == 0  ? " (input_transport:=raw takes it)"
                                                      : "");
    else if (s.other_type + s.refused == s.there)
        snprintf(text + at, capacity - at,
                 "%d publisher%s there, and what comes is not let through: it is offered %s", s.there,
                 s.there > 1 ? "s" : "", s.what);
    else
        snprintf(text + at, capacity - at,
                 "%d publisher%s there, of the right type and quality of service, and nothing is sent",
                 s.there, s.there > 1 ? "s" : "");
    if (s.other_type + s.refused == s.there)
        append_similar(&s, text, capacity);
}
