/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_format.h"

#include <string.h>

#define MAX_BLOCKS     256   /* of one object header */
#define MAX_MESSAGES   65536 /* in one object header */
#define MAX_NODES      65536 /* of one group's tree */
#define MAX_TREE_DEPTH 16
#define MAX_PATH_PARTS 64

/* --- bytes --- */

sk_hdf5_cursor sk_hdf5_view(sk_hdf5_file *file, uint64_t address, uint64_t count)
{
    uint64_t room = file->length - file->base;
    if (address > room || count > room - address)
        return (sk_hdf5_cursor){file->bytes, file->bytes, true};
    const uint8_t *at = file->bytes + file->base + address;
    return (sk_hdf5_cursor){at, at + count, false};
}

const uint8_t *sk_hdf5_take(sk_hdf5_cursor *c, uint64_t count)
{
    if (c->bad || count > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *at = c->at;
    c->at += count;
    return at;
}

uint64_t sk_hdf5_number(sk_hdf5_cursor *c, int bytes)
{
    const uint8_t *at = sk_hdf5_take(c, (uint64_t)bytes);
    uint64_t value = 0;
    for (int i = bytes - 1; at && i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static bool take_signature(sk_hdf5_cursor *c, const char *signature)
{
    const uint8_t *at = sk_hdf5_take(c, 4);
    return at && memcmp(at, signature, 4) == 0;
}

/* From an address to the end of the file. */
static sk_hdf5_cursor view_rest(sk_hdf5_file *file, uint64_t address)
{
    uint64_t room = file->length - file->base;
    return sk_hdf5_view(file, address, address <= room ? room - address : 0);
}

static sk_status damaged(sk_hdf5_file *file, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: the HDF5 file is damaged: %s; copy the original file again",
                   file->what, what);
}

/* --- object headers --- */

typedef struct {
    uint64_t address, length;
} block;

typedef struct {
    sk_hdf5_file *file;
    int version; /* 1 or 2 */
    bool creation_order;
    block blocks[MAX_BLOCKS];
    int n_blocks;
    int n_messages;
    sk_hdf5_visit visit;
    void *context;
    bool stopped;
} header;

static sk_status add_block(header *h, sk_hdf5_cursor *c, sk_error *err)
{
    block next = {sk_hdf5_number(c, 8), sk_hdf5_number(c, 8)};
    if (c->bad || h->n_blocks >= MAX_BLOCKS)
        return damaged(h->file, "an object header continues without end", err);
    h->blocks[h->n_blocks++] = next;
    return SK_OK;
}

static sk_status read_block(header *h, sk_hdf5_cursor c, sk_error *err)
{
    uint64_t prefix = h->version == 1 ? 8 : h->creation_order ? 6 : 4;
    while (!h->stopped && sk_hdf5_left(&c) >= prefix) {
        int type = (int)sk_hdf5_number(&c, h->version == 1 ? 2 : 1);
        uint64_t size = sk_hdf5_number(&c, 2);
        int flags = (int)sk_hdf5_number(&c, 1);
        sk_hdf5_take(&c, h->version == 1 ? 3 : h->creation_order ? 2 : 0);
        const uint8_t *data = sk_hdf5_take(&c, size);
        if (!data || ++h->n_messages > MAX_MESSAGES || !sk_hdf5_work(h->file, 1))
            return damaged(h->file, "an object header's message is cut short", err);
        sk_hdf5_cursor message = {data, data + size, false};
        if (type == SK_HDF5_MSG_CONTINUE)
            SK_TRY(add_block(h, &message, err));
        else if (!h->visit(h->context, type, flags, message))
            h->stopped = true;
    }
    return SK_OK;
}

static sk_status open_version1(header *h, uint64_t address, sk_error *err)
{
    sk_hdf5_cursor c = sk_hdf5_view(h->file, address, 16);
    sk_hdf5_take(&c, 8); /* version, count, references: what counts is the size */
    uint64_t size = sk_hdf5_number(&c, 4);
    if (c.bad)
        return damaged(h->file, "an object header lies outside", err);
    h->version = 1;
    h->blocks[h->n_blocks++] = (block){address + 16, size};
    return SK_OK;
}

static sk_status open_version2(header *h, uint64_t address, sk_error *err)
{
    sk_hdf5_cursor c = view_rest(h->file, address + 4);
    int version = (int)sk_hdf5_number(&c, 1), flags = (int)sk_hdf5_number(&c, 1);
    if (version != 2)
        return damaged(h->file, "an object header of unknown version", err);
    sk_hdf5_take(&c, (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u));
    int width = 1 << (flags & 3);
    uint64_t size = sk_hdf5_number(&c, width);
    if (c.bad)
        return damaged(h->file, "an object header lies outside", err);
    h->version = 2;
    h->creation_order = flags & 4;
    h->blocks[h->n_blocks++] = (block){(uint64_t)(c.at - h->file->bytes) - h->file->base, size};
    return SK_OK;
}

sk_status sk_hdf5_messages(sk_hdf5_file *file, uint64_t address, sk_hdf5_visit visit, void *context,
                           sk_error *err)
{
    header h = {.file = file, .visit = visit, .context = context};
    sk_hdf5_cursor c = sk_hdf5_view(file, address, 4);
    if (c.bad)
        return damaged(file, "an object lies outside the file", err);
    int first = *c.at;
    if (take_signature(&c, "OHDR"))
        SK_TRY(open_version2(&h, address, err));
    else if (first == 1)
        SK_TRY(open_version1(&h, address, err));
    else
        return damaged(file, "an object header of unknown version", err);
    for (int i = 0; i < h.n_blocks && !h.stopped; i++) {
        c = sk_hdf5_view(file, h.blocks[i].address, h.blocks[i].length);
        if (c.bad)
            return damaged(file, "a part of an object header lies outside", err);
        if (h.version == 2 && i > 0) { /* continuations carry a signature and a checksum */
            if (!take_signature(&c, "OCHK") || sk_hdf5_left(&c) < 4)
                return damaged(file, "an object header's continuation", err);
            c.end -= 4;
        }
        SK_TRY(read_block(&h, c, err));
    }
    return SK_OK;
}

/* --- groups --- */

typedef struct {
    sk_hdf5_file *file;
    sk_hdf5_cursor names; /* the local heap's data */
    sk_hdf5_link_visit visit;
    void *context;
    int n_nodes;
    bool stopped;
} group_walk;

static sk_status open_local_heap(group_walk *g, uint64_t address, sk_error *err)
{
    sk_hdf5_cursor c = sk_hdf5_view(g->file, address, 32);
    bool known = take_signature(&c, "HEAP");
    sk_hdf5_take(&c, 4);
    uint64_t size = sk_hdf5_number(&c, 8);
    sk_hdf5_take(&c, 8);
    g->names = sk_hdf5_view(g->file, sk_hdf5_number(&c, 8), size);
    if (!known || c.bad || g->names.bad)
        return damaged(g->file, "a group's names", err);
    return SK_OK;
}

/* A leaf of symbols: names and object headers. */
static sk_status read_symbols(group_walk *g, uint64_t address, sk_error *err)
{
    sk_hdf5_cursor c = view_rest(g->file, address);
    bool known = take_signature(&c, "SNOD");
    sk_hdf5_take(&c, 2);
    int count = (int)sk_hdf5_number(&c, 2);
    for (int i = 0; known && i < count && !g->stopped; i++) {
        uint64_t name_at = sk_hdf5_number(&c, 8), object = sk_hdf5_number(&c, 8);
        uint64_t cache_type = sk_hdf5_number(&c, 4);
        sk_hdf5_take(&c, 20);
        uint64_t room = sk_hdf5_left(&g->names);
        if (c.bad || name_at >= room || !sk_hdf5_work(g->file, 1))
            return damaged(g->file, "a group's entry", err);
        const char *name = (const char *)g->names.at + name_at;
        size_t length = strnlen(name, (size_t)(room - name_at));
        if (cache_type == 2 || object == SK_HDF5_UNDEFINED)
            continue; /* a symbolic link: it may lead anywhere and is not followed */
        g->stopped = !g->visit(g->context, name, length, object);
    }
    return known && !c.bad ? SK_OK : damaged(g->file, "a group's leaf", err);
}

static sk_status walk_tree(group_walk *g, uint64_t address, int depth, sk_error *err)
{
    sk_hdf5_cursor c = view_rest(g->file, address);
    bool known = take_signature(&c, "TREE");
    int type = (int)sk_hdf5_number(&c, 1), level = (int)sk_hdf5_number(&c, 1);
    int count = (int)sk_hdf5_number(&c, 2);
    sk_hdf5_take(&c, 16);
    if (!known || c.bad || type != 0 || depth > MAX_TREE_DEPTH || ++g->n_nodes > MAX_NODES)
        return damaged(g->file, "a group's tree", err);
    for (int i = 0; i < count && !g->stopped; i++) {
        sk_hdf5_take(&c, 8);
        uint64_t child = sk_hdf5_number(&c, 8);
        if (c.bad || ++g->n_nodes > MAX_NODES)
            return damaged(g->file, "a group's tree", err);
        if (level > 0)
            SK_TRY(walk_tree(g, child, depth + 1, err));
        else
            SK_TRY(read_symbols(g, child, err));
    }
    return SK_OK;
}

/* A link message of a newer group; other kinds than hard links are passed over. */
static void read_link(group_walk *g, sk_hdf5_cursor c)
{
    sk_hdf5_take(&c, 1);
    int flags = (int)sk_hdf5_number(&c, 1);
    int kind = flags & 8 ? (int)sk_hdf5_number(&c, 1) : 0;
    sk_hdf5_take(&c, (flags & 4 ? 8u : 0u) + (flags & 0x10 ? 1u : 0u));
    uint64_t length = sk_hdf5_number(&c, 1 << (flags & 3));
    const uint8_t *name = sk_hdf5_take(&c, length);
    uint64_t object = sk_hdf5_number(&c, 8);
    if (!c.bad && kind == 0 && !memchr(name, '\0', (size_t)length))
        g->stopped = !g->visit(g->context, (const char *)name, (size_t)length, object);
}

typedef struct {
    group_walk walk;
    bool symbols, is_group, dense;
    uint64_t tree, heap;
} group_messages;

static bool see_group_message(void *context, int type, int flags, sk_hdf5_cursor data)
{
    group_messages *m = context;
    (void)flags;
    if (type == SK_HDF5_MSG_SYMBOLS) {
        m->tree = sk_hdf5_number(&data, 8);
        m->heap = sk_hdf5_number(&data, 8);
        m->symbols = m->is_group = !data.bad;
    } else if (type == SK_HDF5_MSG_LINK_INFO) {
        sk_hdf5_take(&data, 1);
        int info = (int)sk_hdf5_number(&data, 1);
        sk_hdf5_take(&data, info & 1 ? 8 : 0);
        m->dense = sk_hdf5_number(&data, 8) != SK_HDF5_UNDEFINED;
        m->is_group = true;
    } else if (type == SK_HDF5_MSG_LINK) {
        m->is_group = true;
        read_link(&m->walk, data);
    }
    return !m->walk.stopped;
}

sk_status sk_hdf5_links(sk_hdf5_file *file, uint64_t address, sk_hdf5_link_visit visit, void *context,
                        bool *is_group, sk_error *err)
{
    group_messages m = {.walk = {.file = file, .visit = visit, .context = context}};
    SK_TRY(sk_hdf5_messages(file, address, see_group_message, &m, err));
    *is_group = m.is_group;
    if (m.symbols) {
        SK_TRY(open_local_heap(&m.walk, m.heap, err));
        SK_TRY(walk_tree(&m.walk, m.tree, 0, err));
    }
    if (m.dense && !m.walk.stopped)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: a group is stored in HDF5's newest way (fractal heap); rewrite the file with `h5repack "
            "--high=0 OLD NEW`",
            file->what);
    return SK_OK;
}

typedef struct {
    const char *name;
    size_t length;
    uint64_t address;
    bool found;
} wanted_link;

static bool match_link(void *context, const char *name, size_t length, uint64_t address)
{
    wanted_link *w = context;
    if (length != w->length || memcmp(name, w->name, length) != 0)
        return true;
    w->address = address;
    w->found = true;
    return false;
}

sk_status sk_hdf5_locate(sk_hdf5_file *file, const char *path, uint64_t *address, sk_error *err)
{
    *address = file->root;
    int parts = 0;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        if (length > 0) {
            wanted_link wanted = {at, length, 0, false};
            bool is_group;
            if (++parts > MAX_PATH_PARTS)
                return sk_fail(err, SK_ERR_LIMIT, "%s: an over-long path", file->what);
            SK_TRY(sk_hdf5_links(file, *address, match_link, &wanted, &is_group, err));
            if (!wanted.found)
                return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no /%.200s in this file", file->what,
                               *path == '/' ? path + 1 : path);
            *address = wanted.address;
        }
        at += length + (at[length] == '/');
    }
    return SK_OK;
}
