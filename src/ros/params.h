/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_PARAMS_H
#define SK_ROS_PARAMS_H

#include "ros/names.h"
#include "base/problems.h"
#include "skitter/node_core.h"

/* A node's parameters (skitter/node_core.h has them as text) as ROS 2 writes them: typed values, rules of the command line, files
 * of YAML. One thread. */
typedef struct sk_params sk_params;

typedef struct sk_param_value {
    sk_node_type type;
    bool truth;
    int64_t number;
    double real;
    const char *text;    /* never null in what we hand out */
    const int64_t *list; /* of integers … */
    size_t count;        /* … so many */
} sk_param_value;

typedef struct sk_param_about {
    sk_node_param row;
    sk_param_value value; /* borrowed until the next call of any function here */
} sk_param_about;

sk_status sk_params_open(sk_params **out, sk_error *err) SK_MUST_CHECK; /* all at their defaults */
void sk_params_close(sk_params **params);
sk_node_settings *sk_params_settings(const sk_params *params);

/* All of the table, and use_sim_time, which every node of ROS has. False past the end. */
bool sk_params_at(sk_params *params, int32_t index, sk_param_about *out);
int32_t sk_params_find(const sk_params *params, const char *name); /* -1: none */

/* An integer is taken for a real number. SK_ERR_NOT_FOUND: no such parameter, and the one that was meant perhaps; SK_ERR_ARG: what
 * it may be. */
sk_status sk_params_put(sk_params *params, const char *name, const sk_param_value *value,
                        sk_error *err) SK_MUST_CHECK;
/* "name:=value", the value as YAML: after -p. */
sk_status sk_params_put_rule(sk_params *params, const char *rule, sk_error *err) SK_MUST_CHECK;
/* A file of parameters, all that is wrong with them told together: those below the names that mean this node (a wildcard, "node", "/space/node"). Below its own name unknown
 * ones are refused; below a wildcard they are some other node's. */
sk_status sk_params_read_file(sk_params *params, const char *path, const sk_ros_names *names,
                              sk_problems *problems, sk_error *err) SK_MUST_CHECK;

/* A copy of all values, for the case that what comes is not taken; `restore` puts it in their place. Ended by
 * sk_params_kept_free. */
typedef struct sk_params_kept {
    sk_node_settings *settings;
    bool sim_time;
} sk_params_kept;
sk_status sk_params_keep(const sk_params *params, sk_params_kept *kept, sk_error *err) SK_MUST_CHECK;
void sk_params_restore(sk_params *params, sk_params_kept *kept);
void sk_params_kept_free(sk_params_kept *kept);

/* By names that are in the table; another is a mistake of the program, and gives "", 0 or false. */
const char *sk_params_text(const sk_params *params, const char *name);
int64_t sk_params_number(const sk_params *params, const char *name);
bool sk_params_truth(const sk_params *params, const char *name);
double sk_params_real(const sk_params *params, const char *name);

#endif
