/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hydra_config.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>

#define MOST_BYTES ((size_t)4 << 20)
#define MOST_NAMED ((size_t)16 << 10) /* bytes of a sentence that names keys */

typedef enum kind { NUMBER, TRUTH, TEXT, LIST } kind;

/* What is used, and what its value may be. */
typedef struct used {
    const char *key;
    kind is;
    double least, most; /* of a number */
} used;
static const used used_keys[] = {
    {"fps", NUMBER, 0.001, 1e+06},
    {"reference_body_size", NUMBER, 0.01, 100000},
    {"reference_aspect_ratio", NUMBER, 0.01, 1000},
    {"start_frame", NUMBER, 0, 1e+12},
    {"end_frame", NUMBER, -1, 1e+12},
    {"min_object_size_multiplier", NUMBER, 0, 1e+06},
    {"max_object_size_multiplier", NUMBER, 0, 1e+06},
    {"min_aspect_ratio_multiplier", NUMBER, 0, 1e+06},
    {"max_aspect_ratio_multiplier", NUMBER, 0, 1e+06},
    {"yolo_confidence_threshold", NUMBER, 0, 1},
    {"yolo_iou_threshold", NUMBER, 0, 1},
    {"max_targets", NUMBER, 1, 65536},
    {"animals_per_arena", NUMBER, 1, 65536},
    {"max_assignment_distance_multiplier", NUMBER, 0.001, 1e+06},
    {"association_high_confidence_threshold", NUMBER, 0, 1},
    {"kalman_velocity_damping", NUMBER, 0, 1},
    {"kalman_maturity_age_seconds", NUMBER, 0, 1e+06},
    {"kalman_maturity_age", NUMBER, 0, 1e+09},
    {"kalman_initial_velocity_retention", NUMBER, 0, 1},
    {"kalman_max_velocity_multiplier", NUMBER, 0.001, 1e+06},
    {"kalman_longitudinal_noise_multiplier", NUMBER, 0, 1e+06},
    {"kalman_lateral_noise_multiplier", NUMBER, 0, 1e+06},
    {"lost_threshold_seconds", NUMBER, 0, 1e+06},
    {"lost_threshold_frames", NUMBER, 0, 1e+09},
    {"min_respawn_distance_multiplier", NUMBER, 0, 1e+06},
    {"min_detections_to_start_seconds", NUMBER, 0, 1e+06},
    {"min_trajectory_length_seconds", NUMBER, 0, 1e+06},
    {"min_trajectory_length", NUMBER, 0, 1e+09},
    {"max_velocity_break", NUMBER, 0, 1e+09},
    {"stitch_max_gap_seconds", NUMBER, 0, 1e+06},
    {"interpolation_max_gap_seconds", NUMBER, 0, 1e+06},
    {"heading_flip_max_burst", NUMBER, 0, 1e+06},
    {"subtraction_threshold", NUMBER, 0, 255},
    {"threshold_value", NUMBER, 0, 255},
    {"morph_kernel_size", NUMBER, 0, 1001},
    {"min_contour_area", NUMBER, 0, 1e+09},
    {"dilation_kernel_size", NUMBER, 0, 1001},
    {"dilation_iterations", NUMBER, 0, 1000},
    {"brightness", NUMBER, -255, 255},
    {"contrast", NUMBER, 0, 100},
    {"gamma", NUMBER, 0.01, 100},
    {"enable_size_filtering", TRUTH, 0, 0},
    {"enable_aspect_ratio_filtering", TRUTH, 0, 0},
    {"enable_backward_tracking", TRUTH, 0, 0},
    {"enable_postprocessing", TRUTH, 0, 0},
    {"dark_on_light_background", TRUTH, 0, 0},
    {"enable_adaptive_background", TRUTH, 0, 0},
    {"adaptive_background", TRUTH, 0, 0},
    {"enable_lighting_stabilization", TRUTH, 0, 0},
    {"enable_conservative_split", TRUTH, 0, 0},
    {"enable_additional_dilation", TRUTH, 0, 0},
    {"enable_pose_extractor", TRUTH, 0, 0},
    {"suppress_foreign_obb_regions", TRUTH, 0, 0},
    {"detection_method", TEXT, 0, 0},
    {"interpolation_method", TEXT, 0, 0},
    {"compute_runtime", TEXT, 0, 0},
    {"runtime_tier", TEXT, 0, 0},
    {"yolo_model_path", TEXT, 0, 0},
    {"yolo_obb_direct_model_path", TEXT, 0, 0},
    {"yolo_obb_mode", TEXT, 0, 0},
    {"pose_model_type", TEXT, 0, 0},
    {"pose_model_dir", TEXT, 0, 0},
    {"pose_yolo_model_dir", TEXT, 0, 0},
    {"pose_sleap_model_dir", TEXT, 0, 0},
    {"file_path", TEXT, 0, 0},
    {"roi_shapes", LIST, 0, 0},
    {"yolo_target_classes", LIST, 0, 0},
    {"pose_direction_anterior_keypoints", LIST, 0, 0},
    {"pose_direction_posterior_keypoints", LIST, 0, 0},
};
#define N_USED (sizeof used_keys / sizeof used_keys[0])

/* What is known and has no counterpart: keys, a space between. */
typedef struct subject {
    const char *name, *keys;
} subject;
static const subject subjects[] = {
    {"detection in two steps or slices",
     "slice_enabled slice_geometry_mode use_custom_obb_iou_filtering yolo_crop_obb_model_path "
     "yolo_detect_model_path yolo_fixed_angle_deg yolo_obb_direct_task yolo_seq_crop_pad_ratio "
     "yolo_seq_detect_conf_threshold yolo_seq_enforce_square_crop "
     "yolo_seq_individual_batch_size yolo_seq_min_crop_size_px yolo_seq_stage2_imgsz "
     "yolo_seq_stage2_pow2_pad"},
    {"poses (a model knows its own skeleton; poses are used as they are)",
     "pose_ignore_keypoints pose_min_kpt_conf_valid pose_skeleton_file"},
    {"where and how files are written (here --out and --save-overlay)",
     "csv_path video_output_enabled video_output_path video_trail_duration"},
    {"frames made smaller (here they are looked at as they are)", "resize_factor"},
    {"background subtraction",
     "background_learning_rate background_prime_frames background_prime_seconds bg_prime_frames "
     "conservative_erode_iter conservative_erode_iterations conservative_kernel_size "
     "lighting_median_window lighting_smooth_factor max_contour_multiplier"},
    {"head and tail", "directed_orient_flip_confidence directed_orient_flip_persistence "
                      "directed_orient_smoothing enable_headtail_orientation enable_instant_flip "
                      "headtail_batch_size headtail_runtime max_orientation_delta_stopped "
                      "pose_overrides_headtail velocity_threshold yolo_headtail_conf_threshold "
                      "yolo_headtail_detect_conf_threshold yolo_headtail_model_path"},
    {"weights of the cost (skitter weighs by likelihood)",
     "association_stage1_max_area_ratio association_stage1_max_aspect_diff "
     "association_stage1_motion_gate_multiplier enable_greedy_assignment enable_pose_rejection "
     "enable_spatial_optimization pose_rejection_min_visibility pose_rejection_threshold "
     "pose_valid_orientation_scale track_feature_ema_alpha use_mahalanobis_distance "
     "weight_area weight_aspect_ratio weight_orientation weight_pose_direction "
     "weight_pose_length weight_position"},
    {"noise of the filter (skitter measures it in body lengths)",
     "kalman_measurement_noise kalman_process_noise"},
    {"births", "min_detect_seconds min_detection_counts min_track_seconds"},
    {"rules of joining (skitter decides over the whole video)",
     "enable_tracklet_relinking max_occlusion_gap max_occlusion_gap_seconds "
     "max_velocity_zscore merge_agreement_distance_multiplier min_overlap_frames "
     "pose_postproc_max_gap pose_temporal_outlier_zscore relink_min_pose_quality "
     "relink_pose_max_distance stitch_density_tighten_factor stitch_heading_gate_deg "
     "stitch_single_option_margin velocity_zscore_min_velocity velocity_zscore_window "
     "velocity_zscore_window_seconds"},
    {"telling individuals apart",
     "apriltag_crop_padding apriltag_decimate apriltag_family assignment_margin_threshold "
     "changepoint_penalty cnn_classifier_batch_size cnn_classifier_confidence "
     "cnn_classifier_label cnn_classifier_model_path cnn_classifier_window cnn_classifiers "
     "cnn_runtime color_tag_confidence color_tag_model_path enable_fragment_scoring "
     "enable_identity_analysis enable_identity_in_tracking enable_identity_online_decoder "
     "enable_identity_smoothing enable_identity_swap_correction enable_pelt_splitting "
     "fragment_cnn_weight fragment_length_weight fragment_spatial_veto_threshold "
     "fragment_tag_weight identity_calibration_override identity_commit_threshold "
     "identity_disagree_min_run identity_display_threshold identity_gates_trajectory_structure "
     "identity_method identity_postprocess_mode identity_rejoin_threshold "
     "identity_swap_min_frames identity_transition_epsilon identity_unknown_prior "
     "identity_weight max_bridge_gap_frames min_fragment_frames non_identifying_classes "
     "online_prior_weight pelt_model use_apriltags"},
    {"maps of crowded places",
     "density_binarize_threshold density_conservative_factor density_downsample_factor "
     "density_gaussian_sigma_scale density_min_area_bodies density_min_frame_duration "
     "density_temporal_sigma enable_confidence_density_map"},
    {"drawing", "prompt_open_refinekit_on_tracking_complete show_background_model show_foreground_mask "
                "show_id_labels show_kalman_uncertainty show_orientation_lines show_state_text "
                "show_track_markers show_trajectory_trails show_yolo_obb trajectory_history_seconds "
                "video_arrow_length video_marker_size video_pose_color video_pose_color_mode "
                "video_pose_line_thickness video_pose_point_radius video_pose_point_thickness "
                "video_show_labels video_show_orientation video_show_pose video_show_trails "
                "video_text_scale visualization_free_mode zoom_factor"},
    {"pictures and data sets",
     "dataset_al_preset dataset_class_name dataset_class_names dataset_confidence_threshold "
     "dataset_dedup_method dataset_dedup_threshold dataset_diversity_window "
     "dataset_export_levels dataset_include_context dataset_max_frames "
     "dataset_min_selection_score dataset_name dataset_probabilistic_sampling "
     "enable_dataset_generation enable_individual_dataset enable_individual_image_save "
     "enable_individual_pipeline export_confidence_density_video export_final_canonical_images "
     "final_media_export_enable_affine_stabilization final_media_export_fix_direction_flips "
     "final_media_export_heading_flip_burst final_media_export_stabilization_window "
     "final_media_export_videos_enabled generate_oriented_track_videos "
     "individual_background_color individual_crop_padding individual_dataset_name "
     "individual_interpolate_occlusions individual_output_format individual_save_interval "
     "metric_count_mismatch metric_crowding metric_fragmented_detections "
     "metric_high_assignment_cost metric_high_uncertainty metric_low_confidence "
     "metric_track_loss pose_export_min_valid_fraction pose_export_min_valid_keypoints "
     "suppress_foreign_obb_individual_dataset suppress_foreign_obb_oriented_videos"},
    {"machine, batches and caches",
     "canonical_margin cleanup_temp_files debug_logging debug_mode detection_batch_size "
     "enable_profiling enable_tensorrt enable_yolo_batching pose_batch_size "
     "pose_exported_model_path pose_precompute_batch_size pose_runtime_flavor pose_sleap_batch "
     "pose_sleap_device pose_sleap_env pose_sleap_max_instances pose_vitpose_model_dir "
     "pose_yolo_batch realtime_tracking_mode save_confidence_metrics tensorrt_build_batch_size "
     "tensorrt_build_workspace_gb tensorrt_max_batch_size tracking_workflow_mode "
     "use_cached_detections yolo_batch_size_mode yolo_device yolo_manual_batch_size"},
    {"notes about models",
     "description preset_name yolo_headtail_model_added_at yolo_headtail_model_info "
     "yolo_headtail_model_size yolo_headtail_model_species yolo_headtail_task_family "
     "yolo_headtail_usage_role yolo_model_added_at yolo_model_info yolo_model_size "
     "yolo_model_species yolo_obb_direct_model_added_at yolo_obb_direct_model_info "
     "yolo_obb_direct_model_size yolo_obb_direct_model_species yolo_obb_direct_task_family "
     "yolo_obb_direct_usage_role yolo_seq_crop_obb_model_added_at yolo_seq_crop_obb_model_info "
     "yolo_seq_crop_obb_model_size yolo_seq_crop_obb_model_species "
     "yolo_seq_crop_obb_task_family yolo_seq_crop_obb_usage_role "
     "yolo_seq_detect_model_added_at yolo_seq_detect_model_info yolo_seq_detect_model_size "
     "yolo_seq_detect_model_species yolo_seq_detect_task_family yolo_seq_detect_usage_role"},
};
#define N_SUBJECTS (sizeof subjects / sizeof subjects[0])

struct sk_hydra_config {
    sk_config *tree;
    sk_text without, brief, unknown;
};

const char *sk_hydra_used_key(size_t index)
{
    return index < N_USED ? used_keys[index].key : NULL;
}

static const used *find_used(const char *key)
{
    for (size_t i = 0; i < N_USED; i++)
        if (!strcmp(used_keys[i].key, key))
            return &used_keys[i];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    /* A key may be empty: it is found everywhere, and the search would stand still. */
    for (const char *at = words; length && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const subject *find_subject(const char *key)
{
    for (size_t i = 0; i < N_SUBJECTS; i++)
        if (has_word(subjects[i].keys, key))
            return &subjects[i];
    return NULL;
}

/* Null, false, an empty text or list, frames made smaller by 1: nobody asked for anything. */
static bool says_nothing(const char *key, const sk_config_value *value)
{
    bool truth = true;
    double number = 0;
    if (!strcmp(key, "resize_factor") && sk_config_to_real(value, &number) && number == 1)
        return true;
    if (sk_config_is_null(value))
        return true;
    if (sk_config_is(value, SK_CONFIG_BOOL))
        return sk_config_to_bool(value, &truth) && !truth;
    return (sk_config_is(value, SK_CONFIG_STRING) || sk_config_is(value, SK_CONFIG_LIST) ||
            sk_config_is(value, SK_CONFIG_MAP)) &&
           !value->length;
}

static const char *kind_name(const sk_config_value *value)
{
    switch (value->kind) {
    case SK_CONFIG_NULL: return "null";
    case SK_CONFIG_BOOL: return "true or false";
    case SK_CONFIG_INT:
    case SK_CONFIG_REAL: return "a number";
    case SK_CONFIG_STRING: return "a text";
    case SK_CONFIG_LIST: return "a list";
    case SK_CONFIG_MAP: return "an object";
    }
    return "something else";
}

static sk_status check(const used *u, const sk_config_value *value, const char *what, sk_error *err)
{
    static const char *const wanted[] = {"a number", "true or false", "a text", "a list"};
    double number = 0;
    bool truth = false, fits = false;
    if (sk_config_is_null(value))
        return SK_OK;
    switch (u->is) {
    case NUMBER: fits = !sk_config_is(value, SK_CONFIG_BOOL) && sk_config_to_real(value, &number); break;
    case TRUTH: fits = sk_config_to_bool(value, &truth); break;
    case TEXT: fits = sk_config_text(value) != NULL; break;
    case LIST: fits = sk_config_is(value, SK_CONFIG_LIST); break;
    }
    if (!fits)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s must be %s, but is %s", what, u->key, wanted[u->is],
                       kind_name(value));
    if (u->is == NUMBER && !(number >= u->least && number <= u->most))
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s is %g; it can be %g to %g", what, u->key, number, u->least,
                       u->most);
    return SK_OK;
}

static void name_unknown(sk_text *text, const char *key)
{
    const char *names[N_USED];
    for (size_t i = 0; i < N_USED; i++)
        names[i] = used_keys[i].key;
    const char *near = sk_text_suggest(key, names, N_USED);
    if (text->length > MOST_NAMED)
        return;
    char *shown = sk_text_printable(key, "");
    char shorter[128];
    sk_text_shorten(shown ? shown : "", shorter, sizeof shorter);
    sk_text_appendf(text, "%s%s", text->length ? ", " : "", key[0] ? shorter : "a key without a name");
    if (near)
        sk_text_appendf(text, " (%s?)", near);
    sk_free(shown);
}

#define FEW 10 /* settings that a warning names */

/* A subject's name without what it says in brackets. */
static int plain_length(const char *name)
{
    const char *bracket = strstr(name, " (");
    return (int)(bracket ? (size_t)(bracket - name) : strlen(name));
}

static sk_status name_without(sk_hydra_config *c, const sk_config_value *root, sk_error *err)
{
    sk_text counts = {0};
    int all = 0;
    for (size_t k = 0; k < N_SUBJECTS; k++) {
        int n = 0;
        for (size_t i = 0; i < root->length; i++) {
            const sk_config_pair *pair = &root->u.pairs[i];
            if (find_used(pair->name) || says_nothing(pair->name, pair->value) ||
                find_subject(pair->name) != &subjects[k])
                continue;
            if (!n)
                sk_text_appendf(&c->without, "%s%s: ", c->without.length ? "\n" : "", subjects[k].name);
            sk_text_appendf(&c->without, "%s%s", n++ ? ", " : "", pair->name);
        }
        if (n)
            sk_text_appendf(&counts, "%s%.*s (%d)", all ? ", " : "", plain_length(subjects[k].name),
                            subjects[k].name, n);
        all += n;
    }
    if (all > FEW)
        sk_text_appendf(&c->brief, "%d settings (-v names them): %s", all, sk_text_get(&counts));
    for (const char *at = sk_text_get(&c->without); all <= FEW && *at; at++)
        sk_text_append(&c->brief, *at == '\n' ? "; " : (char[]){*at, '\0'});
    sk_text_free(&counts);
    SK_TRY(sk_text_status(&c->without, err));
    return sk_text_status(&c->brief, err);
}

static sk_status sort_keys(sk_hydra_config *c, const char *what, sk_error *err)
{
    const sk_config_value *root = sk_config_root(c->tree);
    for (size_t i = 0; i < root->length; i++) {
        const sk_config_pair *pair = &root->u.pairs[i];
        const used *u = find_used(pair->name);
        if (u)
            SK_TRY(check(u, pair->value, what, err));
        else if (!find_subject(pair->name))
            name_unknown(&c->unknown, pair->name);
    }
    SK_TRY(name_without(c, root, err));
    return sk_text_status(&c->unknown, err);
}

bool sk_hydra_config_is(const sk_config_value *root)
{
    int n = 0;
    for (size_t i = 0; sk_config_is(root, SK_CONFIG_MAP) && i < root->length && n < 3; i++)
        n += find_used(root->u.pairs[i].name) || find_subject(root->u.pairs[i].name);
    return n >= 3;
}

sk_status sk_hydra_config_open(const char *text, size_t length, const char *what, sk_hydra_config **out,
                               sk_error *err)
{
    *out = NULL;
    if (length > MOST_BYTES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu bytes are no configuration", what, length);
    sk_hydra_config *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    sk_status status = sk_config_open_json(text, length, what, &c->tree, err);
    if (status == SK_OK && !sk_config_is(sk_config_root(c->tree), SK_CONFIG_MAP))
        status = sk_fail(err, SK_ERR_FORMAT, "%s: a configuration is one JSON object, but this is %s", what,
                         kind_name(sk_config_root(c->tree)));
    /* So many keys nobody has written: looking each up would take long. */
    if (status == SK_OK && sk_config_count(sk_config_root(c->tree)) > 10000)
        status = sk_fail(err, SK_ERR_LIMIT, "%s: has %zu settings; a configuration has some three hundred",
                         what, sk_config_count(sk_config_root(c->tree)));
    if (status == SK_OK)
        status = sort_keys(c, what, err);
    if (status != SK_OK)
        sk_hydra_config_close(&c);
    *out = c;
    return status;
}

sk_status sk_hydra_config_read(const char *path, sk_hydra_config **out, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    SK_TRY(sk_file_read(path, MOST_BYTES, &text, &bytes, err));
    sk_status status = sk_hydra_config_open(text, bytes, path, out, err);
    sk_free(text);
    return status;
}

void sk_hydra_config_close(sk_hydra_config **config)
{
    sk_hydra_config *c = *config;
    *config = NULL;
    if (!c)
        return;
    sk_config_close(&c->tree);
    sk_text_free(&c->without);
    sk_text_free(&c->brief);
    sk_text_free(&c->unknown);
    sk_free(c);
}

static const sk_config_value *value_of(const sk_hydra_config *c, const char *key)
{
    return sk_config_get(sk_config_root(c->tree), key);
}

bool sk_hydra_number(const sk_hydra_config *config, const char *key, double *out)
{
    return sk_config_to_real(value_of(config, key), out);
}

bool sk_hydra_truth(const sk_hydra_config *config, const char *key, bool *out)
{
    return sk_config_to_bool(value_of(config, key), out);
}

const char *sk_hydra_text(const sk_hydra_config *config, const char *key)
{
    const char *text = sk_config_text(value_of(config, key));
    return text && *text ? text : NULL;
}

const sk_config_value *sk_hydra_list(const sk_hydra_config *config, const char *key)
{
    const sk_config_value *value = value_of(config, key);
    return sk_config_is(value, SK_CONFIG_LIST) && value->length ? value : NULL;
}

const char *sk_hydra_without_counterpart(const sk_hydra_config *config)
{
    return sk_text_get(&config->without);
}

const char *sk_hydra_without_brief(const sk_hydra_config *config)
{
    return sk_text_get(&config->brief);
}

const char *sk_hydra_unknown(const sk_hydra_config *config)
{
    return sk_text_get(&config->unknown);
}
