/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_parameters.h"

#include <string.h>

#define RUNTIMES "|cpu|cuda|rocm|openvino|tensorrt|onnx_cpu|onnx_cuda|onnx_rocm|mps"
#define PROVIDERS                                                                                            \
    "|CPUExecutionProvider|CUDAExecutionProvider|TensorrtExecutionProvider|ROCMExecutionProvider|"           \
    "OpenVINOExecutionProvider"
#define PRECISIONS "|f32|tf32|f16|bf16|i8|fp8|fp32|fp16|half|int8"

const sk_ros_parameter sk_ros_parameters[] = {
    /* the model */
    {"weights_path", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0,
     "checkpoint or SLEAP folder to run; a name without a folder is looked for in the package"},
    {"second_weights_path", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0,
     "a second model that looks at crops of what the first found: SLEAP's centered instance, or a pose "
     "model"},
    {"variant", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0, "the model's variant, as the manifest calls it"},
    /* where it runs */
    {"compute_runtime", SK_ROS_TEXT, SK_ROS_EVERY, "", RUNTIMES, 0, 0,
     "what computes; empty: what execution_provider or the package's backend says"},
    {"execution_provider", SK_ROS_TEXT, SK_ROS_EVERY, "", PROVIDERS, 0, 0,
     "ONNX Runtime's provider, by its own name; must agree with compute_runtime where both are given"},
    {"device", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0,
     "which of the runtime's devices: 0, cuda:1, GPU, NPU; empty: the first"},
    {"precision", SK_ROS_TEXT, SK_ROS_EVERY, "", PRECISIONS, 0, 0,
     "what to compute in; empty: what the runtime usually does"},
    {"use_compile", SK_ROS_BOOL, SK_ROS_EVERY, "true", NULL, 0, 0,
     "warm up, tune and trace the network before the node says it is active"},
    {"use_torch_compile", SK_ROS_BOOL, SK_ROS_EVERY, "true", NULL, 0, 0,
     "another name of use_compile; false in either means no"},
    {"engine_cache_dir", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0,
     "folder for engines and other files made from the model; empty: the user's cache folder"},
    {"onnx_cache_dir", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0,
     "the same for ONNX files; empty: engine_cache_dir"},
    /* what comes in */
    {"input_topic", SK_ROS_TEXT, SK_ROS_EVERY, "/camera/image_raw", NULL, 0, 0,
     "topic of the camera's images"},
    {"input_transport", SK_ROS_TEXT, SK_ROS_EVERY, "raw", "raw|compressed", 0, 0,
     "sensor_msgs/Image, or CompressedImage on input_topic/compressed"},
    {"image_width", SK_ROS_INT, SK_ROS_EVERY, "0", NULL, 0, 65535,
     "width of the images to get ready for before the node is active; 0: not known"},
    {"image_height", SK_ROS_INT, SK_ROS_EVERY, "0", NULL, 0, 65535, "their height"},
    {"frame_skip", SK_ROS_INT, SK_ROS_EVERY, "0", NULL, 0, 100000,
     "frames left out between two that are looked at"},
    {"frame_id", SK_ROS_TEXT, SK_ROS_EVERY, "", NULL, 0, 0, "of what is published; empty: the image's own"},
    {"qos_reliability", SK_ROS_TEXT, SK_ROS_EVERY, "best_effort", "best_effort|reliable", 0, 0,
     "of the images: the newest frame, or every frame"},
    {"qos_durability", SK_ROS_TEXT, SK_ROS_EVERY, "volatile", "volatile|transient_local", 0, 0,
     "of the images"},
    {"qos_depth", SK_ROS_INT, SK_ROS_EVERY, "1", NULL, 1, 10000, "images that may wait"},
    /* the network's input and what counts as found */
    {"imgsz", SK_ROS_INT, SK_ROS_YOLO, "0", NULL, 0, 16384,
     "side of the network's input; 0: the model's own"},
    {"confidence_threshold", SK_ROS_REAL, SK_ROS_YOLO, "0.25", NULL, 0, 1,
     "smallest confidence of a detection"},
    {"iou_threshold", SK_ROS_REAL, SK_ROS_YOLO, "0.7", NULL, 0, 1,
     "boxes that overlap a better one by more are dropped"},
    {"classes", SK_ROS_INTS, SK_ROS_YOLO, "[]", NULL, 0, 100000, "only these classes, by number; empty: all"},
    {"max_detections", SK_ROS_INT, SK_ROS_YOLO, "300", NULL, 1, 30000, "most detections a frame"},
    {"peak_threshold", SK_ROS_REAL, SK_ROS_SLEAP, "0.2", NULL, 0, 1, "smallest confidence of a keypoint"},
    {"max_instances", SK_ROS_INT, SK_ROS_SLEAP, "0", NULL, 0, 10000, "most animals a frame; 0: no limit"},
    /* tracks */
    {"tracker", SK_ROS_TEXT, SK_ROS_TRACKING, "skitter", "skitter|bytetrack|ocsort", 0, 0,
     "how detections become tracks"},
    {"animals", SK_ROS_INT, SK_ROS_TRACKING, "0", NULL, 0, 65536,
     "always so many identities; 0: they may come and go"},
    /* what goes out */
    {"publish_annotated", SK_ROS_BOOL, SK_ROS_EVERY, "true", NULL, 0, 0,
     "draw results into the image while somebody subscribes to it"},
    {"diagnostics_period", SK_ROS_REAL, SK_ROS_EVERY, "1.0", NULL, 0, 3600,
     "seconds between two diagnoses; 0: none"},
    {0},
};

const sk_ros_parameter *sk_ros_parameter_find(const char *name)
{
    for (const sk_ros_parameter *p = sk_ros_parameters; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}
