/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/text.h"
#include "formats/skeleton_json.h"

#include <stdio.h>
#include <string.h>

#define NODE(name)                                                                                           \
    "{\"py/object\": \"sleap.skeleton.Node\", \"py/state\": {\"py/tuple\": [\"" name "\", 1.0]}}"
#define TYPE(n) "{\"py/reduce\": [{\"py/type\": \"sleap.skeleton.EdgeType\"}, {\"py/tuple\": [" #n "]}]}"
#define LINK(i, source, target, type)                                                                        \
    "{\"edge_insert_idx\": " #i ", \"key\": 0, \"source\": " source ", \"target\": " target                  \
    ", \"type\": " type "}"
#define ID(n) "{\"py/id\": " #n "}"

static sk_status read_text(const char *text, const char *nodes, sk_arena *arena, sk_skeleton *out,
                           sk_error *err)
{
    sk_config *config = NULL, *list = NULL;
    assert_ok(sk_config_open_json(text, strlen(text), "test", &config, err), err);
    if (nodes)
        assert_ok(sk_config_open_json(nodes, strlen(nodes), "test", &list, err), err);
    sk_status status =
        sk_skeleton_read(sk_config_root(config), sk_config_root(list), arena, "fly.json", out, err);
    sk_config_close(&config);
    sk_config_close(&list);
    return status;
}

/* The text is laid out like the JSON it is. */
/* clang-format off */
/* Numbered as jsonpickle does: neck 1, head 2, the edge type 3, thorax 4, … */
static void references_are_counted_in_order(void **state)
{
    (void)state;
    static const char text[] =
        "{\"directed\": true, \"graph\": {\"name\": \"fly\", \"num_edges_inserted\": 4}, \"links\": ["
        LINK(1, NODE("neck"), NODE("head"), TYPE(1)) ","
        LINK(0, NODE("thorax"), ID(1), ID(3)) ","
        LINK(2, ID(4), NODE("wingL"), ID(3)) ","
        LINK(3, ID(4), NODE("wingR"), ID(3)) ","
        LINK(4, ID(5), ID(6), TYPE(2)) ","
        LINK(5, ID(6), ID(5), ID(7))
        "], \"multigraph\": true, \"nodes\": ["
        "{\"id\": " ID(2) "}, {\"id\": " ID(1) "}, {\"id\": " ID(4) "}, {\"id\": " ID(5) "},"
        "{\"id\": " ID(6) "}, {\"id\": " NODE("alone") "}]}";
    /* clang-format on */
    sk_error err = {0};
    sk_arena *arena;
    sk_skeleton skeleton;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    assert_ok(read_text(text, NULL, arena, &skeleton, &err), &err);
    assert_string_equal(skeleton.name, "fly");
    assert_int_equal(skeleton.n_nodes, 6);
    const char *names[] = {"head", "neck", "thorax", "wingL", "wingR", "alone"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(skeleton.node_names[i], names[i]);
    assert_int_equal(skeleton.n_edges, 4);
    const int32_t edges[4][2] = {{2, 1}, {1, 0}, {2, 3}, {2, 4}};
    assert_memory_equal(skeleton.edges, edges, sizeof edges);
    assert_int_equal(skeleton.n_symmetries, 1);
    assert_int_equal(skeleton.symmetries[0][0], 3);
    assert_int_equal(skeleton.symmetries[0][1], 4);
    sk_arena_close(&arena);
}

static void slp_metadata_numbers_its_nodes(void **state)
{
    (void)state;
    static const char text[] =
        "{\"graph\": {\"name\": \"s\"}, \"links\": [" LINK(0, "0", "1", TYPE(1)) "," LINK(
            1, "0", "2", ID(1)) "], \"nodes\": [{\"id\": 1}, {\"id\": 0}, {\"id\": 2}]}";
    sk_error err = {0};
    sk_arena *arena;
    sk_skeleton skeleton;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    assert_ok(read_text(text, "[{\"name\": \"thorax\"}, {\"name\": \"head\"}, {\"name\": \"tail\"}]", arena,
                        &skeleton, &err),
              &err);
    assert_string_equal(skeleton.node_names[0], "head");
    assert_int_equal(skeleton.n_edges, 2);
    assert_int_equal(skeleton.edges[0][0], 1);
    assert_int_equal(skeleton.edges[1][1], 2);
    sk_arena_close(&arena);
}

static void other_forms_of_state_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\"nx_graph\": {\"graph\": {}, \"links\": [{\"source\": {\"py/object\": \"sleap.skeleton.Node\", "
        "\"py/state\":"
        " {\"name\": \"a\", \"weight\": 1.0}}, \"target\": " NODE("b") "}], \"nodes\": [{\"id\": " ID(
            1) "}, {\"id\": " ID(2) "}]}, \"description\": \"x\"}";
    sk_error err = {0};
    sk_arena *arena;
    sk_skeleton skeleton;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    assert_ok(read_text(text, NULL, arena, &skeleton, &err), &err);
    assert_int_equal(skeleton.n_nodes, 2);
    assert_int_equal(skeleton.n_edges, 1);
    sk_arena_close(&arena);
}

static void broken_skeletons_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"nodes\": [{\"id\": " ID(1) "}]}",
        "{\"nodes\": [{\"id\": 5}]}",
        "{\"links\": [{}], \"nodes\": []}",
        "{\"links\": [" LINK(0, NODE("a"), NODE("b"), ID(1)) "], \"nodes\": []}",
        "{\"links\": [" LINK(0, NODE("a"), NODE("b"), TYPE(1)) "], \"nodes\": [{\"id\": " ID(3) "}]}",
        "{\"links\": [" LINK(0, NODE("a"), NODE("b"), TYPE(1)) "], \"nodes\": [{\"id\": " ID(1) "}]}",
        "{\"links\": [" LINK(0, NODE("a"), NODE("b"), "{\"py/reduce\": []}") "], \"nodes\": []}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sk_error err = {0};
        sk_arena *arena;
        sk_skeleton skeleton;
        assert_ok(sk_arena_open(0, &arena, &err), &err);
        if (read_text(texts[i], NULL, arena, &skeleton, &err) != SK_ERR_FORMAT ||
            !strstr(err.message, "fly.json"))
            fail_msg("case %zu was not refused: %s", i, err.message);
        sk_arena_close(&arena);
    }
}

/* A whole one of these links and nodes: its edges as "source-target " by number, then its symmetries behind a bar. */
static const char *edges_of(const char *links, const char *nodes, const char *numbered)
{
    static char said[1100];
    char text[3000];
    sk_error err = {0};
    sk_arena *arena;
    sk_skeleton s;
    size_t n = 0;
    snprintf(text, sizeof text, "{\"links\": [%s], \"nodes\": [%s]}", links, nodes);
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    if (read_text(text, numbered, arena, &s, &err) == SK_OK) {
        assert_string_equal(s.name, "");
        said[0] = '\0';
        for (int i = 0; i < s.n_edges; i++)
            n += (size_t)snprintf(said + n, sizeof said - n, "%d-%d ", s.edges[i][0], s.edges[i][1]);
        n += (size_t)snprintf(said + n, sizeof said - n, "|");
        for (int i = 0; i < s.n_symmetries; i++)
            n +=
                (size_t)snprintf(said + n, sizeof said - n, " %d-%d", s.symmetries[i][0], s.symmetries[i][1]);
    } else {
        snprintf(said, sizeof said, "%s", err.message);
    }
    sk_arena_close(&arena);
    return said;
}

#define EDGE(source, target, rest) "{\"source\": " source ", \"target\": " target rest "}"

static void edges_of_every_form(void **state)
{
    (void)state;
    static const char abc[] = "\"a\", {\"name\": \"b\"}, {\"id\": \"c\"}";
    static const struct {
        const char *links, *wanted;
    } cases[] = {
        {"", "|"},
        {EDGE("\"a\"", "\"c\"", ""), "0-2 |"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": 1"), "0-2 |"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": null"), "0-2 |"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": 2"), "| 0-2"},
        {EDGE("\"c\"", "\"a\"", ", \"type\": 2"), "|"}, /* the other direction says it */
        {EDGE("\"a\"", "\"a\"", ", \"type\": 2"), "|"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": 3"), "|"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": 0"), "|"},
        {EDGE("\"a\"", "\"c\"", ", \"type\": {\"py/reduce\": [0, [2]]}"), "| 0-2"},
        {EDGE("\"a\"", "\"b\"", ", \"type\": " TYPE(2)) "," EDGE("\"b\"", "\"c\"", ", \"type\": " ID(1)),
         "| 0-1 1-2"},
        {EDGE("\"a\"", "\"b\"", "") "," EDGE("\"b\"", "\"c\"", ""), "0-1 1-2 |"},
        {EDGE("\"a\"", "\"b\"", ", \"edge_insert_idx\": 5") "," EDGE("\"b\"", "\"c\"", ""), "1-2 0-1 |"},
        {EDGE("\"a\"", "\"b\"", "") "," EDGE("\"b\"", "\"c\"", ", \"edge_insert_idx\": -1"), "1-2 0-1 |"},
        {EDGE("{\"name\": \"a\"}", "{\"py/object\": \"x\", \"name\": \"b\"}", ""), "0-1 |"},
        {EDGE("\"a\"", "\"x\"", ""),
         "fly.json: its skeleton cannot be read: an edge to a node it does not list"},
        {EDGE("\"x\"", "\"a\"", ""),
         "fly.json: its skeleton cannot be read: an edge to a node it does not list"},
        {"{\"source\": \"a\"}", "fly.json: its skeleton cannot be read: an edge without ends"},
        {"{\"target\": \"a\"}", "fly.json: its skeleton cannot be read: an edge without ends"},
        {"[1, 2]", "fly.json: its skeleton cannot be read: an edge without ends"},
        {EDGE("\"a\"", "-1", ""), "fly.json: its skeleton cannot be read: a node without a name"},
        {EDGE("\"a\"", "null", ""), "fly.json: its skeleton cannot be read: a node without a name"},
        {EDGE(NODE("a"), ID(0), ""), "fly.json: its skeleton cannot be read: a node without a name"},
        {EDGE(NODE("a"), ID(2), ""), "fly.json: its skeleton cannot be read: a node without a name"},
        {EDGE(NODE("a"), ID(1), ""), "0-0 |"},
        {EDGE(NODE("a"), "\"b\"", ", \"type\": " ID(1)),
         "fly.json: its skeleton cannot be read: an edge's type refers to something else"},
        {EDGE(NODE("a"), "\"b\"", ", \"type\": " ID(2)),
         "fly.json: its skeleton cannot be read: an edge's type refers to something else"},
        {EDGE("\"a\"", "\"b\"", ", \"type\": \"x\""),
         "fly.json: its skeleton cannot be read: an edge of unknown type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(edges_of(cases[i].links, abc, NULL), cases[i].wanted);
    static const char numbered[] = "[{\"name\": \"a\"}, {\"name\": \"b\"}]";
    assert_string_equal(edges_of(EDGE("1", "0", ""), "0, 1", numbered), "1-0 |");
    assert_string_equal(edges_of("", "0, 2", numbered),
                        "fly.json: its skeleton cannot be read: a node without a name");
}

/* 4096 nodes, 16384 edges, and no more. */
static void how_many(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++)
        for (int of_edges = 0; of_edges < 2; of_edges++) {
            sk_error err = {0};
            sk_arena *arena;
            sk_skeleton s;
            sk_text text = {0};
            const int nodes = of_edges ? 2 : SK_SKELETON_MAX_NODES + more;
            const int edges = of_edges ? SK_SKELETON_MAX_EDGES + more : 0;
            sk_text_append(&text, "{\"links\": [");
            for (int i = 0; i < edges; i++)
                sk_text_append(&text, i ? ",{\"source\":\"n0\",\"target\":\"n1\"}"
                                        : "{\"source\":\"n0\",\"target\":\"n1\"}");
            sk_text_append(&text, "], \"nodes\": [");
            for (int i = 0; i < nodes; i++)
                sk_text_appendf(&text, "%s\"n%d\"", i ? "," : "", i);
            sk_text_append(&text, "]}");
            assert_ok(sk_arena_open(0, &arena, &err), &err);
            assert_int_equal(read_text(sk_text_get(&text), NULL, arena, &s, &err),
                             more ? SK_ERR_FORMAT : SK_OK);
            if (more)
                assert_non_null(strstr(err.message, of_edges ? "too many edges" : "too many nodes"));
            else
                assert_true(s.n_nodes == nodes && s.n_edges == edges);
            sk_arena_close(&arena);
            sk_text_free(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_counted_in_order),
        cmocka_unit_test(slp_metadata_numbers_its_nodes),
        cmocka_unit_test(other_forms_of_state_are_read),
        cmocka_unit_test(broken_skeletons_are_refused),
        cmocka_unit_test(edges_of_every_form),
        cmocka_unit_test(how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
