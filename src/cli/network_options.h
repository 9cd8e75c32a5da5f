/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_NETWORK_OPTIONS_H
#define SK_CLI_NETWORK_OPTIONS_H

#include "cli/args.h"
#include "engines/options.h"
#include "tasks/detector_settings.h"

/* What SK_CLI_OPTION_NMS and SK_CLI_OPTION_RECT (shared_options.h) were given as. */
sk_heads sk_cli_heads(const sk_args *args);
sk_rect sk_cli_rect(const sk_args *args);

/* What --openvino-hint of SK_CLI_OPTION_OPENVINO asks for: many answers at once, and not one soon. */
bool sk_cli_openvino_throughput(const sk_args *args);

/* All of SK_CLI_OPTION_ENGINE joined in `text`; *out is that, or null where none was given. */
sk_status sk_cli_engine_options(const sk_args *args, char text[SK_OPTIONS_TEXT], const char **out,
                                sk_error *err) SK_MUST_CHECK;

/* Tells what models in eight bits lost, on stderr, and refuses those that lost more than SK_CLI_OPTION_MAX_LOSS allows. */
sk_status sk_cli_judge_loss(const sk_args *args, const char *const *models, int32_t n_models,
                            sk_error *err) SK_MUST_CHECK;

#endif
