/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "formats/skeleton_json.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_counted_in_order),
        cmocka_unit_test(slp_metadata_numbers_its_nodes),
        cmocka_unit_test(other_forms_of_state_are_read),
        cmocka_unit_test(broken_skeletons_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
