/* SPDX-License-Identifier: Apache-2.0 */
/* Every setting of every Keras layer that is read: what reaches the graph when it is given, left out, at its bounds and beyond them.
 * Compared with tests/models/whole/keras_layers.txt and keras_chains.txt. */
#include "keras_words.h"

static const struct {
    const char *class_name, *settings;
} cases[] = {
    /* windows */
    {"Conv2D", "filters: 3, kernel_size: 3"},
    {"Convolution2D",
     "filters: 3, kernel_size: [3, 5], strides: [2, 1], dilation_rate: [1, 2], padding: same"},
    {"Conv2D", "kernel_size: [3, 5], strides: 4, padding: SAME, use_bias: false, activation: relu"},
    {"Conv2D", "filters: 3, kernel_size: 1, padding: VALID, data_format: channels_last, strides: null"},
    {"Conv2D", "filters: 3, kernel_size: [1, 4096], strides: [4096, 1], dilation_rate: [1, 4096]"},
    {"Conv2D", "filters: 3, kernel_size: [4096, 1], strides: [1, 4096], dilation_rate: [4096, 1]"},
    {"Conv2D", "filters: 3, kernel_size: [1, 4097]"},
    {"Conv2D", "filters: 3, kernel_size: [4097, 1]"},
    {"Conv2D", "filters: 3, kernel_size: [0, 1]"},
    {"Conv2D", "filters: 3, kernel_size: [1, 0]"},
    {"Conv2D", "filters: 3, kernel_size: [1]"},
    {"Conv2D", "filters: 3, kernel_size: three"},
    {"Conv2D", "filters: 3"},
    {"Conv2D", "filters: 3, kernel_size: null"},
    {"Conv2D", "filters: 3, kernel_size: 1, strides: 0"},
    {"Conv2D", "filters: 3, kernel_size: 1, strides: [1, 4097]"},
    {"Conv2D", "filters: 3, kernel_size: 1, strides: two"},
    {"Conv2D", "filters: 3, kernel_size: 1, dilation_rate: [0, 1]"},
    {"Conv2D", "filters: 3, kernel_size: 1, dilation_rate: [1, 4097]"},
    {"Conv2D", "filters: 3, kernel_size: 1, padding: causal"},
    {"Conv2D", "filters: 3, kernel_size: 1, data_format: channels_first"},
    {"Conv2D", "filters: 4, kernel_size: 1, groups: 2"},
    {"Conv2D", "filters: 3, kernel_size: 1, groups: 3"},
    {"Conv2D", "filters: 3, kernel_size: 1, groups: 0"},
    {"Conv2D", "filters: 3, kernel_size: 1, groups: 65537"},
    {"Conv2D", "filters: 3, kernel_size: 1, activation: softsign"},
    {"DepthwiseConv2D", "kernel_size: 3, padding: same, strides: 2, activation: relu"},
    {"DepthwiseConv2D", "kernel_size: [1, 2], depth_multiplier: 3, use_bias: false"},
    {"DepthwiseConv2D", "kernel_size: 1, depth_multiplier: 0"},
    {"DepthwiseConv2D", "kernel_size: 1, depth_multiplier: 4096"},
    {"DepthwiseConv2D", "kernel_size: 1, depth_multiplier: 4097"},
    {"DepthwiseConv2D", "kernel_size: 0"},
    {"SeparableConv2D", "filters: 5, kernel_size: 3, strides: 2, padding: same, activation: tanh"},
    {"SeparableConv2D", "kernel_size: [1, 3], use_bias: false"},
    {"SeparableConv2D", "filters: 5"},
    {"Conv2DTranspose", "filters: 3, kernel_size: 3, strides: 2, padding: same, activation: sigmoid"},
    {"Conv2DTranspose", "filters: 3, kernel_size: [4, 5], strides: [2, 2], padding: same, use_bias: false"},
    {"Conv2DTranspose", "kernel_size: 2, strides: 2"},
    {"Conv2DTranspose", "filters: 3, kernel_size: [1, 2], strides: [4, 3], padding: valid"},
    {"Conv2DTranspose", "filters: 3, kernel_size: [1, 2], strides: [4, 3], padding: same"},
    {"Conv2DTranspose", "filters: 3, kernel_size: [2, 3], dilation_rate: [3, 2], padding: same"},
    {"Conv2DTranspose", "filters: 3, kernel_size: 3, padding: valid"},
    {"Conv2DTranspose", "filters: 3, kernel_size: 3, output_padding: [1, 1]"},
    {"Conv2DTranspose", "filters: 3, kernel_size: 3, output_padding: null, groups: 1"},
    {"Conv2DTranspose", "filters: 3, kernel_size: 3, groups: 2"},
    {"Conv2DTranspose", "filters: 3"},
    {"Dense", "units: 5, activation: relu"},
    {"Dense", "use_bias: false"},
    /* pools */
    {"MaxPooling2D", ""},
    {"MaxPooling2D", "pool_size: [3, 5]"},
    {"AveragePooling2D", "pool_size: [3, 5], strides: [2, 4], padding: same"},
    {"AveragePooling2D", "pool_size: 3, strides: null"},
    {"AveragePooling2D", "pool_size: 3, strides: 1"},
    {"MaxPooling2D", "pool_size: 0"},
    {"MaxPooling2D", "pool_size: 3, padding: reflect"},
    {"GlobalMaxPooling2D", ""},
    {"GlobalMaxPooling2D", "keepdims: true"},
    {"GlobalAveragePooling2D", "keepdims: false"},
    {"GlobalAveragePooling2D", "keepdims: true"},
    /* sizes */
    {"UpSampling2D", ""},
    {"UpSampling2D", "size: [4, 3], interpolation: bilinear"},
    {"UpSampling2D", "size: 3, interpolation: nearest"},
    {"UpSampling2D", "size: 4096"},
    {"UpSampling2D", "size: [1, 4097]"},
    {"UpSampling2D", "interpolation: area"},
    {"ZeroPadding2D", "padding: [[1, 2], [3, 4]]"},
    {"ZeroPadding2D", "padding: [1, 2]"},
    {"ZeroPadding2D", "padding: 3"},
    {"ZeroPadding2D", "padding: [[0, 4096], [4096, 0]]"},
    {"ZeroPadding2D", "padding: [[0, 0], [0, 4097]]"},
    {"ZeroPadding2D", "padding: [[0, 0], [0, -1]]"},
    {"ZeroPadding2D", "padding: [[1, 2]]"},
    {"ZeroPadding2D", ""},
    {"Cropping2D", "cropping: [[1, 2], [0, 1]]"},
    {"Cropping2D", "cropping: [[0, 0], [3, 0]]"},
    {"Cropping2D", "cropping: 1"},
    {"Cropping2D", "cropping: [[1, 4097], [0, 0]]"},
    {"Cropping2D", "padding: 1"},
    {"Flatten", ""},
    {"Reshape", "target_shape: [96]"},
    {"Reshape", "target_shape: [-1, 2]"},
    {"Reshape", "target_shape: [4, 12, 2]"},
    {"Reshape", "target_shape: [4, 3, 2, 4]"},
    {"Reshape", "target_shape: []"},
    {"Reshape", "target_shape: 96"},
    {"Reshape", "target_shape: [0, 2]"},
    {"Reshape", "target_shape: [-2, 2]"},
    {"Reshape", "target_shape: [a, 2]"},
    {"Reshape", ""},
    /* one layer, one input */
    {"Concatenate", ""},
    {"Concatenate", "axis: 3"},
    {"Concatenate", "axis: 1"},
    {"Concatenate", "axis: -2"},
    {"Concatenate", "axis: 0"},
    {"Concatenate", "axis: 4"},
    {"Concatenate", "axis: -4"},
    {"Add", ""},
    {"Average", ""},
    {"BatchNormalization", ""},
    {"BatchNormalization", "axis: 3, epsilon: 0.25"},
    {"BatchNormalization", "axis: [-1], scale: false"},
    {"BatchNormalization", "center: false"},
    {"BatchNormalization", "axis: [1]"},
    {"BatchNormalization", "axis: [3, 1]"},
    {"BatchNormalization", "axis: 2"},
    {"BatchNormalization", "axis: 0"},
    {"Activation", "activation: relu6"},
    {"Activation", "activation: silu"},
    {"Activation", "activation: gelu"},
    {"Activation", "activation: softplus"},
    {"Activation", "activation: exponential"},
    {"Activation", "activation: softmax"},
    {"Activation", "activation: {class_name: Thing}"},
    {"Activation", "activation: null"},
    {"ReLU", "max_value: 6, threshold: 0, negative_slope: 0"},
    {"ReLU", "max_value: null, negative_slope: 0.25"},
    {"ReLU", "threshold: -1"},
    {"LeakyReLU", "alpha: 0.25, negative_slope: 0.5"},
    {"Softmax", ""},
    {"Softmax", "axis: 3"},
    {"Softmax", "axis: 2"},
    {"Rescaling", "scale: 2, offset: -0.5"},
    {"Rescaling", "offset: 1"},
    {"Lambda", "function: tile_channels, function_type: function"},
    {"Lambda", "function: imagenet_preproc_v1, function_type: function"},
    {"Lambda", "function: something, function_type: function"},
    {"Lambda", "function: tile_channels, function_type: lambda"},
    {"Mystery", ""},
};

/* The layer, called a, on a picture of 6 x 8 with two channels. */
static void settings_of_layers(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[300];
        snprintf(words, sizeof words, "a=%s{%s} in", cases[i].class_name, cases[i].settings);
        say_layers(words, "6, 8, 2", "[[a, 0, 0]]", &all);
    }
    words_check(&all, "tests/models/whole/keras_layers.txt");
}

/* --- what comes before decides --- */

#define FLAT    "v=GlobalAveragePooling2D{} in; "
#define LINE    "v=Reshape{target_shape: [-1, 2]} in; "     /* three dimensions */
#define UNKNOWN "v=Flatten{} in; "                          /* a vector of nobody knows how many */
#define BLIND   "v=Reshape{target_shape: [4, 12, -1]} in; " /* the same of channels */

static const struct {
    const char *shape, *words;
} chains[] = {
    {"6, 8, 2", FLAT "a=Dense{units: 4} v"},
    {"6, 8, 2", FLAT "a=Dense{units: 4, use_bias: false} v"},
    {"6, 8, 2", UNKNOWN "a=Dense{units: 4, activation: softmax} v"},
    {"6, 8, 2", FLAT "a=Conv2D{filters: 1, kernel_size: 1} v"},
    {"6, 8, 2", FLAT "a=DepthwiseConv2D{kernel_size: 1} v"},
    {"6, 8, 2", FLAT "a=SeparableConv2D{kernel_size: 1} v"},
    {"6, 8, 2", FLAT "a=Conv2DTranspose{kernel_size: 1} v"},
    {"6, 8, 2", FLAT "a=MaxPooling2D{} v"},
    {"6, 8, 2", FLAT "a=GlobalMaxPooling2D{} v"},
    {"6, 8, 2", FLAT "a=UpSampling2D{} v"},
    {"6, 8, 2", FLAT "a=ZeroPadding2D{padding: 1} v"},
    {"6, 8, 2", FLAT "a=Cropping2D{cropping: 1} v"},
    {"6, 8, 2", FLAT "a=Flatten{} v"},
    {"6, 8, 2", FLAT "a=Softmax{} v"},
    {"6, 8, 2", FLAT "a=Softmax{axis: 1} v"},
    {"6, 8, 2", FLAT "a=Softmax{axis: 3} v"},
    {"6, 8, 2", FLAT "a=BatchNormalization{axis: 1} v"},
    {"6, 8, 2", FLAT "a=BatchNormalization{axis: 3} v"},
    {"6, 8, 2", UNKNOWN "a=BatchNormalization{} v"},
    {"6, 8, 2", FLAT "a=Reshape{target_shape: [1, 1, 2]} v"},
    {"6, 8, 2", FLAT "a=Concatenate{} v v"},
    {"6, 8, 2", FLAT "a=Concatenate{axis: -3} v v"},
    {"6, 8, 2", FLAT "a=Lambda{function: ensure_rgb} v"},
    /* of three dimensions */
    {"6, 8, 2", LINE "a=Dense{units: 4} v"},
    {"6, 8, 2", LINE "a=Flatten{} v"},
    {"6, 8, 2", LINE "a=Softmax{} v"},
    {"6, 8, 2", LINE "a=BatchNormalization{} v"},
    {"6, 8, 2", LINE "a=Activation{activation: softmax} v"},
    {"6, 8, 2", LINE "a=Concatenate{axis: 1} v v"},
    {"6, 8, 2", LINE "a=Concatenate{axis: 2} v v"},
    {"6, 8, 2", LINE "a=Reshape{target_shape: [4, 12, 2]} v"},
    /* of channels that nobody knows */
    {"6, 8, 2", BLIND "a=Conv2D{filters: 65536, kernel_size: 1, groups: 65536, use_bias: false} v"},
    {"6, 8, 2", BLIND "a=Conv2D{filters: 1, kernel_size: 1, groups: 65537} v"},
    {"6, 8, 2", BLIND "a=Conv2D{filters: 1, kernel_size: 1} v"},
    {"6, 8, 2", BLIND "a=DepthwiseConv2D{kernel_size: 1} v"},
    {"6, 8, 2", BLIND "a=SeparableConv2D{kernel_size: 1} v"},
    {"6, 8, 2", BLIND "a=Conv2DTranspose{kernel_size: 1} v"},
    {"6, 8, 2", BLIND "a=Dense{units: 2} v"},
    {"6, 8, 2", BLIND "a=Concatenate{} in v"},
    {"6, 8, 2", BLIND "a=Add{} v in"},
    {"6, 8, 2", BLIND "a=Lambda{function: ensure_rgb} v"},
    {"6, 8, 2", BLIND "a=BatchNormalization{} v"},
    /* of several */
    {"6, 8, 2", "b=Dense{units: 5} in; a=Concatenate{} in b in"},
    {"6, 8, 2", "a=Concatenate{axis: 2} in in"},
    {"6, 8, 2", FLAT "a=Concatenate{} in v"},
    {"6, 8, 2", UNKNOWN "a=Concatenate{} v v"},
    {"6, 8, 2", FLAT "a=Add{} in v"},
    {"6, 8, 2", "b=Dense{units: 1} in; a=Multiply{} b in"},
    {"6, 8, 2", "b=Dense{units: 1} in; a=Multiply{} in b"},
    {"6, 8, 2", "a=Average{} in in in"},
    {"6, 8, 2", "a=Subtract{} in in in"},
    {"6, 8, 2", "a=Subtract{} in"},
    {"6, 8, 2", "a=Maximum{} in in in"},
    {"6, 8, 2", "a=ReLU{} in in"},
    /* weights that are not there or are others */
    {"6, 8, 2", "gone=Conv2D{filters: 1, kernel_size: 1} in"},
    {"6, 8, 2", "wide=Conv2D{filters: 1, kernel_size: 1} in"},
    {"6, 8, 2", "nan=Conv2D{filters: 2, kernel_size: 1} in"},
    {"6, 8, 2", "inf=Dense{units: 2} in"},
    {"6, 8, 2", "gone=BatchNormalization{} in"},
    {"6, 8, 2", "wide=BatchNormalization{} in"},
    {"6, 8, 2", "gone=DepthwiseConv2D{kernel_size: 1} in"},
    {"6, 8, 2", "wide=DepthwiseConv2D{kernel_size: 1} in"},
    {"6, 8, 2", "gone=SeparableConv2D{kernel_size: 1} in"},
    {"6, 8, 2", "gone=Conv2DTranspose{kernel_size: 1} in"},
    {"6, 8, 2", "gone=Dense{units: 2} in"},
    /* channels of depthwise convolutions */
    {"1, 1, 256", "a=DepthwiseConv2D{kernel_size: 1, depth_multiplier: 4096, use_bias: false} in"},
    {"1, 1, 257", "a=DepthwiseConv2D{kernel_size: 1, depth_multiplier: 4096, use_bias: false} in"},
    {"1, 1, 1",
     "b=Dense{units: 65536, use_bias: false} in; a=DepthwiseConv2D{kernel_size: 1, use_bias: false} b"},
    {"1, 1, 1",
     "b=Dense{units: 65537, use_bias: false} in; a=DepthwiseConv2D{kernel_size: 1, use_bias: false} b"},
    /* colours */
    {"6, 8, 1", "a=Lambda{function: ensure_rgb} in"},
    {"6, 8, 3", "a=Lambda{function: ensure_rgb} in"},
    {"6, 8, 3", "a=Lambda{function: imagenet_preproc_v1} in"},
    {"6, 8, 1",
     "tile_channels=Lambda{function: [x], function_type: lambda} in; a=Lambda{function: imagenet_preproc_v1} "
     "tile_channels"},
};

static void layers_behind_others(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        say_layers(chains[i].words, chains[i].shape, "[[a, 0, 0]]", &all);
    words_check(&all, "tests/models/whole/keras_chains.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_of_layers),
                                       cmocka_unit_test(layers_behind_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
