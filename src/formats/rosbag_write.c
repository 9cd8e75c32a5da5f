/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rosbag.h"

#include "base/file.h"
#include "base/object.h"
#include "base/text.h"
#include "formats/db3.h"
#include "formats/mcap.h"

#include <string.h>
#include <unistd.h>

#define MOST_TOPICS 64
#define VERSION     8 /* of metadata.yaml: the last one that ROS 2 Humble reads, too */

struct sk_bag_writer {
    sk_bag_kind kind;
    char *path, *file; /* the folder, or the file; the file */
    sk_mcap_writer *mcap;
    sk_db3_writer *db3;
    struct {
        char *name;
        const sk_msg_type *type;
        uint16_t channel;
        int64_t messages;
    } topics[MOST_TOPICS];
    size_t n_topics;
    int64_t messages, first_ns, last_ns;
};

static sk_status name_files(sk_bag_writer *w, const char *path, sk_error *err)
{
    sk_text file = {0};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    w->path = sk_strndup(path, length);
    if (!w->path)
        return sk_fail_memory(err, length);
    if (w->kind == SK_BAG_FOLDER) {
        SK_TRY(sk_folder_make_own(w->path, err));
        char *metadata = sk_path_join(w->path, "metadata.yaml"); /* of a bag that is not there any more */
        if (metadata)
            (void)unlink(metadata);
        sk_free(metadata);
        sk_text_appendf(&file, "%s/%s_0.mcap", w->path, sk_path_name(w->path));
    } else {
        sk_text_append(&file, w->path);
    }
    return sk_text_take(&file, &w->file, err);
}

sk_status sk_bag_writer_open(const char *path, sk_bag_kind kind, sk_bag_writer **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_bag_writer *w = sk_calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return sk_fail_memory(err, sizeof *w);
    w->kind = kind;
    SK_TRY_GOTO(name_files(w, path, err));
    status = kind == SK_BAG_DB3 ? sk_db3_writer_open(w->file, &w->db3, err)
                                : sk_mcap_writer_open(w->file, SK_PACKING_NONE, &w->mcap, err);
done:
    return SK_HAND_OVER(status, w, out, sk_bag_writer_close);
}

sk_status sk_bag_writer_topic(sk_bag_writer *w, const char *name, const sk_msg_type *type, size_t *number,
                              sk_error *err)
{
    uint16_t channel = 0;
    if (w->n_topics == MOST_TOPICS)
        return sk_fail(err, SK_ERR_LIMIT, "%s: more than %d topics", w->path, MOST_TOPICS);
    SK_TRY(w->db3 ? sk_db3_writer_topic(w->db3, name, type, "", &channel, err)
                  : sk_mcap_writer_topic(w->mcap, name, type, "", &channel, err));
    char *copy = sk_strdup(name);
    if (!copy)
        return sk_fail_memory(err, strlen(name));
    *number = w->n_topics++;
    w->topics[*number].name = copy;
    w->topics[*number].type = type;
    w->topics[*number].channel = channel;
    return SK_OK;
}

sk_status sk_bag_writer_write(sk_bag_writer *w, size_t topic, int64_t log_ns, const void *bytes, size_t count,
                              sk_error *err)
{
    const uint16_t channel = w->topics[topic].channel;
    SK_TRY(w->db3 ? sk_db3_writer_write(w->db3, channel, log_ns, bytes, count, err)
                  : sk_mcap_writer_write(w->mcap, channel, log_ns, bytes, count, err));
    w->first_ns = w->messages == 0 || log_ns < w->first_ns ? log_ns : w->first_ns;
    w->last_ns = w->messages == 0 || log_ns > w->last_ns ? log_ns : w->last_ns;
    w->messages++;
    w->topics[topic].messages++;
    return SK_OK;
}

sk_status sk_bag_writer_flush(sk_bag_writer *w, sk_error *err)
{
    return w->db3 ? sk_db3_writer_flush(w->db3, err) : sk_mcap_writer_flush(w->mcap, err);
}

/* Topics are named by us; names of files stand in quotation marks, with what YAML escapes. */
static void quoted(sk_text *out, const char *text)
{
    sk_text_append(out, "\"");
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20)
            sk_text_appendf(out, "\\x%02x", *text);
        else
            sk_text_appendf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    sk_text_append(out, "\"");
}

static void topic_metadata(const sk_bag_writer *w, size_t i, const char *indent, sk_text *out)
{
    char hash[SK_MSG_HASH] = "";
    if (sk_msg_type_hash(w->topics[i].type, hash, NULL) != SK_OK)
        out->failed = SK_ERR_MEMORY;
    sk_text_appendf(out, "%s  - topic_metadata:\n%s      name: ", indent, indent);
    quoted(out, w->topics[i].name);
    sk_text_appendf(
        out,
        "\n%s      type: %s\n%s      serialization_format: cdr\n%s      offered_qos_profiles: \"\"\n"
        "%s      type_description_hash: %s\n%s    message_count: %lld\n",
        indent, w->topics[i].type->name, indent, indent, indent, hash, indent,
        (long long)w->topics[i].messages);
}

/* What metadata.yaml says below rosbag2_bagfile_information. */
static void metadata(const sk_bag_writer *w, const char *in, sk_text *out)
{
    const long long duration = w->messages ? (long long)(w->last_ns - w->first_ns) : 0;
    const long long first = w->messages ? (long long)w->first_ns : 0;
    sk_text_appendf(out, "%sversion: %d\n%sstorage_identifier: %s\n%sduration:\n%s  nanoseconds: %lld\n", in,
                    VERSION, in, w->kind == SK_BAG_DB3 ? "sqlite3" : "mcap", in, in, duration);
    sk_text_appendf(out, "%sstarting_time:\n%s  nanoseconds_since_epoch: %lld\n%smessage_count: %lld\n", in,
                    in, first, in, (long long)w->messages);
    sk_text_appendf(out, "%stopics_with_message_count:%s\n", in, w->n_topics ? "" : " []");
    for (size_t i = 0; i < w->n_topics; i++)
        topic_metadata(w, i, in, out);
    sk_text_appendf(out,
                    "%scompression_format: \"\"\n%scompression_mode: \"\"\n%srelative_file_paths:\n%s  - ",
                    in, in, in, in);
    quoted(out, sk_path_name(w->file));
    sk_text_appendf(out, "\n%sfiles:\n%s  - path: ", in, in);
    quoted(out, sk_path_name(w->file));
    sk_text_appendf(out,
                    "\n%s    starting_time:\n%s      nanoseconds_since_epoch: %lld\n"
                    "%s    duration:\n%s      nanoseconds: %lld\n%s    message_count: %lld\n"
                    "%scustom_data: ~\n%sros_distro: skitter\n",
                    in, in, first, in, in, duration, in, (long long)w->messages, in, in);
}

static sk_status write_metadata(const sk_bag_writer *w, sk_error *err)
{
    sk_text text = {0};
    char *path = sk_path_join(w->path, "metadata.yaml");
    sk_text_append(&text, "rosbag2_bagfile_information:\n");
    metadata(w, "  ", &text);
    sk_status status = path ? sk_text_status(&text, err) : sk_fail_memory(err, strlen(w->path));
    if (status == SK_OK)
        status = sk_file_replace(path, sk_text_get(&text), text.length, err);
    sk_free(path);
    sk_text_free(&text);
    return status;
}

sk_status sk_bag_writer_finish(sk_bag_writer **writer, sk_error *err)
{
    sk_bag_writer *w = *writer;
    sk_text text = {0};
    if (!w)
        return SK_OK;
    metadata(w, "", &text);
    sk_status status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = w->db3 ? sk_db3_writer_finish(&w->db3, sk_text_get(&text), err)
                        : sk_mcap_writer_finish(&w->mcap, sk_text_get(&text), err);
    sk_text_free(&text);
    if (status == SK_OK && w->kind == SK_BAG_FOLDER)
        status = write_metadata(w, err);
    sk_bag_writer_close(writer);
    return status;
}

void sk_bag_writer_close(sk_bag_writer **pointer)
{
    SK_TAKE_OR_RETURN(w, pointer);
    sk_mcap_writer_close(&w->mcap);
    sk_db3_writer_close(&w->db3);
    for (size_t i = 0; i < w->n_topics; i++)
        sk_free(w->topics[i].name);
    sk_free_all(w->path, w->file, w);
}
