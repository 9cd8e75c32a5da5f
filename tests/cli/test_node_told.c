/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings a node is started with, and what is told of its end: the node is played. */
#include "said.h"

#include "base/file.h"
#include "ros/node.h"

#include <sys/wait.h>

static said s;
static sk_error err;

/* --- the play: in place of ros/node.c --- */

static struct play {
    int started;
    sk_ros_names names;
    uint32_t domain;
    bool humble, track;
    char messages[64], weights[64], second[64], topic[64];
    sk_status status;
    sk_ros_node_report report;
    bool talks;
} play;

sk_status sk_ros_node_run(const sk_ros_node_settings *settings, sk_ros_node_report *report, sk_error *problem)
{
    play.started++;
    play.names = *settings->names;
    play.domain = settings->domain;
    play.humble = settings->humble;
    play.track = settings->track;
    snprintf(play.messages, sizeof play.messages, "%s", settings->messages ? settings->messages : "-");
    snprintf(play.weights, sizeof play.weights, "%s", sk_params_text(settings->params, "weights_path"));
    snprintf(play.second, sizeof play.second, "%s", sk_params_text(settings->params, "second_weights_path"));
    snprintf(play.topic, sizeof play.topic, "%s", sk_params_text(settings->params, "input_topic"));
    if (play.talks) {
        settings->say(settings->context, SK_ROS_NODE_INFO, "a word");
        settings->say(settings->context, SK_ROS_NODE_WARNING, "a warning");
    }
    assert_false(settings->interrupted(settings->context));
    *report = play.report;
    return play.status == SK_OK ? SK_OK : sk_fail(problem, play.status, "no node");
}

static void start(const char *words)
{
    play = (struct play){.report = {.received = 5, .published = 4, .failed = 1}, .talks = play.talks};
    SAID_OK(&s, "node %s", words);
    assert_int_equal(play.started, 1);
}

static void settings(void **state)
{
    (void)state;
    start("m.pt");
    assert_string_equal(play.names.node, "skitter");
    assert_string_equal(play.names.name_space, "/");
    assert_true(play.domain == 0 && !play.humble && !play.track);
    assert_string_equal(play.messages, "-");
    assert_string_equal(play.weights, "m.pt");
    assert_string_equal(play.second, "");
    assert_string_equal(s.err, "5 images came, 4 results were published, 1 failed\n");
    start("m.pt n.pt --track --messages my_msgs -d 232");
    assert_true(play.domain == 232 && play.track);
    assert_string_equal(play.messages, "my_msgs");
    assert_string_equal(play.second, "n.pt");
    start("-p weights_path:=k.pt -p input_topic:=/left/image");
    assert_string_equal(play.weights, "k.pt");
    assert_string_equal(play.topic, "/left/image");
    setenv("ROS_DOMAIN_ID", "42", 1);
    start("m.pt");
    assert_int_equal(play.domain, 42);
    start("m.pt -d 7"); /* what is written is stronger */
    assert_int_equal(play.domain, 7);
    start("m.pt -d 0");
    assert_int_equal(play.domain, 0);
    unsetenv("ROS_DOMAIN_ID");
}

/* Older ones name types otherwise on the wire. */
static void distributions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool humble;
    } distros[] = {{"foxy", true},   {"galactic", true}, {"humble", true},  {"iron", false},
                   {"jazzy", false}, {"kilted", false},  {"rolling", false}};
    for (size_t i = 0; i < sizeof distros / sizeof *distros; i++) {
        char words[64];
        snprintf(words, sizeof words, "m.pt --ros-distro %s", distros[i].name);
        setenv("ROS_DISTRO", distros[i].humble ? "jazzy" : "humble", 1); /* the option is stronger */
        start(words);
        assert_int_equal(play.humble, distros[i].humble);
        setenv("ROS_DISTRO", distros[i].name, 1);
        start("m.pt");
        assert_int_equal(play.humble, distros[i].humble);
    }
    unsetenv("ROS_DISTRO");
}

/* The node's own name first, whichever is written first; files before single parameters. */
static void names_and_files(void **state)
{
    (void)state;
    start("m.pt -r image:=/camera/image -r __node:=eye -r __ns:=/robot");
    assert_string_equal(play.names.node, "eye");
    assert_string_equal(play.names.name_space, "/robot");
    assert_int_equal(play.names.n_remaps, 1);
    start("m.pt -r eye:a:=b -r skitter:c:=d -r __node:=eye"); /* for this node, by the name it gets */
    assert_int_equal(play.names.n_remaps, 1);
    static const char yaml[] =
        "eye:\n  ros__parameters:\n    input_topic: /from/file\n    weights_path: file.pt\n";
    assert_ok(sk_file_replace("p.yaml", yaml, strlen(yaml), &err), &err);
    start("--params-file p.yaml -r __node:=eye");
    assert_string_equal(play.topic, "/from/file");
    assert_string_equal(play.weights, "file.pt");
    start("-p input_topic:=/single --params-file p.yaml -r __node:=eye m.pt");
    assert_string_equal(play.topic, "/single");
    assert_string_equal(play.weights, "m.pt");
    play.started = 0;
    SAID_REFUSES(&s, SK_ERR_ARG, "the node needs a model\nskitter node MODEL, or -p weights_path:=MODEL",
                 "node --params-file p.yaml"); /* they are for another node */
    SAID_REFUSES(&s, SK_ERR_ARG, "", "node m.pt -r nonsense");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "none.yaml", "node m.pt --params-file none.yaml");
    assert_int_equal(play.started, 0);
}

static void words_and_ends(void **state)
{
    (void)state;
    play.talks = true;
    start("m.pt");
    assert_string_equal(
        s.err, "a word\nskitter: warning: a warning\n5 images came, 4 results were published, 1 failed\n");
    start("m.pt -q");
    assert_string_equal(s.err, "");
    play = (struct play){.status = SK_ERR_CANCELLED};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "no node", "node m.pt");
    assert_string_equal(s.err, "");
    /* a thread that cannot be stopped is not waited for: the process ends at once */
    for (int early = 0; early < 2; early++) {
        play = (struct play){.status = early ? SK_ERR_CANCELLED : SK_OK, .report = {.left_behind = true}};
        int ends[2], code = 0;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            const sk_command *node = sk_command_find("node");
            const char *words[] = {"m.pt"};
            sk_args *args = NULL;
            if (dup2(ends[1], 2) != 2 || sk_args_parse(node, 1, words, &args, &err) != SK_OK)
                _exit(77);
            (void)!node->run(args, &err);
            _exit(78);
        }
        close(ends[1]);
        char text[512];
        size_t length = 0;
        for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
            length += (size_t)n;
        text[length] = '\0';
        close(ends[0]);
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFEXITED(code));
        assert_int_equal(WEXITSTATUS(code), early ? 130 : 0);
        said_has(text, "interrupted while the model was made ready\n");
    }
}

static void parameters_are_listed(void **state)
{
    (void)state;
    SAID_OK(&s, "node --list-params m.pt -p confidence_threshold:=0.75 -p input_topic:=/a");
    said_has(s.out, "weights_path: \"m.pt\"  # ");
    said_has(s.out, "\nconfidence_threshold: 0.75  # ");
    sk_params *params = NULL;
    assert_ok(sk_params_open(&params, &err), &err);
    sk_param_about p;
    int kinds = 0;
    for (int32_t i = 0; sk_params_at(params, i, &p); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s: ", p.row.name);
        said_has(s.out, text);
        kinds |= 1 << p.value.type;
        if (p.value.type == SK_NODE_BOOL)
            snprintf(text, sizeof text, "%s: %s  # %s\n", p.row.name, p.value.truth ? "true" : "false",
                     p.row.help);
        else if (p.value.type == SK_NODE_INT)
            snprintf(text, sizeof text, "%s: %lld  # %s\n", p.row.name, (long long)p.value.number,
                     p.row.help);
        else
            continue;
        said_has(s.out, text);
    }
    assert_int_equal(kinds & 1 << SK_NODE_INTS, 1 << SK_NODE_INTS);
    for (int32_t i = 0; sk_params_at(params, i, &p); i++) {
        if (p.value.type != SK_NODE_INTS)
            continue;
        char text[256];
        SAID_OK(&s, "node --list-params m.pt -p %s:=[0,2,5]", p.row.name);
        snprintf(text, sizeof text, "%s: [0, 2, 5]  # ", p.row.name);
        said_has(s.out, text);
        SAID_OK(&s, "node --list-params m.pt -p %s:=[7]", p.row.name);
        snprintf(text, sizeof text, "%s: [7]  # ", p.row.name);
        said_has(s.out, text);
    }
    sk_params_close(&params);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("ROS_DOMAIN_ID");
    unsetenv("ROS_DISTRO");
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings), cmocka_unit_test(distributions),
                                       cmocka_unit_test(names_and_files), cmocka_unit_test(words_and_ends),
                                       cmocka_unit_test(parameters_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
