/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/command.h"
#include "ros/node.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sk_operand operands[] = {
    {.name = "model",
     .kind = SK_OPTION_FILE,
     .optional = 1,
     .repeat = 1,
     .help =
         "an Ultralytics .pt, a SLEAP model folder (or its .zip), an .onnx; two where the second looks at "
         "crops of what the first finds. Without any: the parameters weights_path and "
         "second_weights_path"},
    {0}};

static const sk_option options[] = {
    {SK_TEXT("param", "NAME:=VALUE"), .letter = 'p', .repeat = 1,
     .help = "a parameter of the node, as 'ros2 run … --ros-args -p' has it"},
    {SK_FILE("params-file", "FILE"), .repeat = 1, .help = "parameters from YAML, as ROS 2 writes it"},
    {SK_TEXT("remap", "FROM:=TO"), .letter = 'r', .repeat = 1,
     .help = "another name for a topic; __node:=NAME and __ns:=/SPACE name the node itself"},
    {SK_FLAG("ros-args"), .help = "taken and not needed: what stands behind it is understood anyway"},
    {SK_INT("domain", "N", 0, 232), .letter = 'd', .help = "DDS domain; without it ROS_DOMAIN_ID, or 0"},
    {SK_FLAG("track"), .help = "follow animals from image to image: ~/tracks"},
    {SK_CHOICE("ros-distro", "NAME", "foxy|galactic|humble|iron|jazzy|kilted|rolling"),
     .help = "whose announcements to speak; without it ROS_DISTRO, or as since Iron"},
    {SK_TEXT("messages", "PACKAGE"),
     .help = "a generated package that defines the messages of ~/keypoints and ~/tracks, where this is built "
             "in the workspace of whoever listens; without it skitter_msgs"},
    {SK_FLAG("list-params"), .help = "print every parameter with its value, and end"},
    {0}};

static const sk_example examples[] = {
    {"skitter node yolo11n-pose.pt", "/camera/image_raw -> /skitter/detections, /skitter/keypoints"},
    {"skitter node model.pt -p input_topic:=/usb_cam/image_raw -p confidence_threshold:=0.4",
     "another camera, another threshold"},
    {"skitter node --params-file params.yaml --ros-args -r __node:=detector -r __ns:=/left",
     "as a launch file starts it"},
    {"skitter node model.pt -p qos_reliability:=reliable -p qos_depth:=10", "every image, none left out"},
    {0}};

static bool interrupted(void *context)
{
    (void)context;
    return sk_cli_interrupted();
}

static void say(void *context, sk_ros_node_level level, const char *text)
{
    (void)context;
    if (level >= SK_ROS_NODE_WARNING)
        sk_cli_warn("%s", text);
    else
        sk_cli_say("%s", text);
}

static sk_status read_names(const sk_args *args, sk_ros_names *names, sk_error *err)
{
    SK_TRY(sk_ros_names_init(names, "skitter", "/", err));
    for (int of_node = 1; of_node >= 0; of_node--)
        for (size_t i = 0; i < sk_args_count(args, "remap"); i++) {
            const char *rule = sk_args_at(args, "remap", i);
            if ((strstr(rule, "__n") != NULL) == of_node)
                SK_TRY(sk_ros_names_remap(names, rule, err));
        }
    return SK_OK;
}

/* Files first, then single ones: as ROS 2 has it. */
static sk_status read_given(const sk_args *args, const sk_ros_names *names, sk_params *params,
                            sk_problems *problems, sk_error *err)
{
    for (size_t i = 0; i < sk_args_count(args, "params-file"); i++)
        SK_TRY(sk_params_read_file(params, sk_args_at(args, "params-file", i), names, problems, err));
    for (size_t i = 0; i < sk_args_count(args, "param"); i++) {
        sk_error problem = {0};
        if (sk_params_put_rule(params, sk_args_at(args, "param", i), &problem) != SK_OK)
            sk_problems_add(problems, "%s", problem.message);
    }
    static const char *const paths[] = {"weights_path", "second_weights_path"};
    if (sk_args_count(args, "model") > 2)
        return sk_fail(err, SK_ERR_ARG, "at most two models");
    for (size_t i = 0; i < sk_args_count(args, "model"); i++) {
        const sk_param_value path = {.type = SK_NODE_TEXT, .text = sk_args_at(args, "model", i)};
        SK_TRY(sk_params_put(params, paths[i], &path, err));
    }
    return SK_OK;
}

static void print_problem(void *context, const char *line)
{
    (void)context;
    sk_cli_print_to(stderr, "skitter: error: %s\n", line);
}

/* All that is wrong is told together. One problem alone is the error itself. */
static sk_status read_params(const sk_args *args, const sk_ros_names *names, sk_params *params, sk_error *err)
{
    sk_problems problems = {0};
    sk_status status = read_given(args, names, params, &problems, err);
    if (status == SK_OK)
        status = sk_text_status(&problems.lines, err);
    if (status == SK_OK && problems.count == 1) {
        const char *line = sk_text_get(&problems.lines);
        status = sk_fail(err, SK_ERR_ARG, "%.*s", (int)strcspn(line, "\n"), line);
    } else if (status == SK_OK && problems.count) {
        sk_problems_each(&problems, print_problem, NULL);
        status =
            sk_fail(err, SK_ERR_ARG,
                    "%zu parameters are wrong, and no node was started\nskitter node --list-params prints "
                    "every parameter with its value",
                    problems.count);
    }
    sk_problems_free(&problems);
    return status;
}

static sk_status read_domain(const sk_args *args, uint32_t *out, sk_error *err)
{
    const char *text = getenv("ROS_DOMAIN_ID");
    *out = (uint32_t)sk_args_int(args, "domain");
    if (sk_args_given(args, "domain") || !text || !text[0])
        return SK_OK;
    char *end = NULL;
    const long number = strtol(text, &end, 10);
    if (*end || number < 0 || number > 232)
        return sk_fail(err, SK_ERR_ARG, "ROS_DOMAIN_ID=%s: a domain is a number from 0 to 232", text);
    *out = (uint32_t)number;
    return SK_OK;
}

static bool is_humble(const sk_args *args)
{
    const char *distro = sk_args_text(args, "ros-distro");
    distro = distro ? distro : getenv("ROS_DISTRO");
    return distro &&
           (strcmp(distro, "humble") == 0 || strcmp(distro, "galactic") == 0 || strcmp(distro, "foxy") == 0);
}

static void print_params(sk_params *params)
{
    sk_param_about p;
    for (int32_t i = 0; sk_params_at(params, i, &p); i++) {
        printf("%s: ", p.row.name);
        switch (p.value.type) {
        case SK_NODE_BOOL: printf("%s", p.value.truth ? "true" : "false"); break;
        case SK_NODE_INT: printf("%lld", (long long)p.value.number); break;
        case SK_NODE_DOUBLE: printf("%g", p.value.real); break;
        case SK_NODE_TEXT: printf("\"%s\"", p.value.text); break;
        case SK_NODE_INTS:
            printf("[");
            for (size_t k = 0; k < p.value.count; k++)
                printf("%s%lld", k ? ", " : "", (long long)p.value.list[k]);
            printf("]");
            break;
        }
        printf("  # %s\n", p.row.help);
    }
}

static sk_status run_node(const sk_args *args, const sk_ros_names *names, sk_params *params, sk_error *err)
{
    sk_ros_node_report report;
    sk_ros_node_settings s = {.names = names,
                              .params = params,
                              .humble = is_humble(args),
                              .track = sk_args_flag(args, "track") > 0,
                              .messages = sk_args_text(args, "messages"),
                              .interrupted = interrupted,
                              .say = say};
    SK_TRY(read_domain(args, &s.domain, err));
    if (s.messages && !sk_ros_names_is_part(s.messages))
        return sk_fail(err, SK_ERR_ARG, "--messages %s: no name of a package", s.messages);
    (void)sk_cli_interrupted(); /* Ctrl-C ends it in order from here on */
    const sk_status status = sk_ros_node_run(&s, &report, err);
    if (status == SK_OK)
        sk_cli_say("%lld images came, %lld results were published, %lld failed", (long long)report.received,
                   (long long)report.published, (long long)report.failed);
    if (report.left_behind) { /* what is done there cannot be stopped, and must not be waited for */
        sk_cli_say("interrupted while the model was made ready");
        fflush(NULL);
        _exit(status == SK_OK ? 0 : 130);
    }
    return status;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_ros_names names;
    sk_params *params = NULL;
    sk_status status = SK_OK;
    SK_TRY_GOTO(read_names(args, &names, err));
    SK_TRY_GOTO(sk_params_open(&params, err));
    SK_TRY_GOTO(read_params(args, &names, params, err));
    if (sk_args_flag(args, "list-params"))
        print_params(params);
    else if (!sk_params_text(params, "weights_path")[0])
        status =
            sk_fail(err, SK_ERR_ARG, "the node needs a model\nskitter node MODEL, or -p weights_path:=MODEL");
    else
        status = run_node(args, &names, params, err);
done:
    sk_params_close(&params);
    return status;
}

const sk_command sk_command_node = {
    .name = "node",
    .summary = "a ROS 2 node without a ROS installation: images in, detections out",
    .description =
        "Speaks ROS 2's wire protocol through Cyclone DDS (loaded at run time), so that an unchanged ROS 2 "
        "system sees it as a node: 'ros2 node list', 'ros2 topic echo', 'ros2 param set' and rviz work with "
        "it.\n\n"
        "It subscribes to input_topic (sensor_msgs/Image, or CompressedImage with "
        "input_transport:=compressed) "
        "and publishes ~/detections (vision_msgs/Detection2DArray), ~/keypoints, ~/tracks, ~/annotated while "
        "somebody subscribes, and /diagnostics. Ctrl-C ends it.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
