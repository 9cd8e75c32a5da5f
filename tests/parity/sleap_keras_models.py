#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keras 2 models with random weights in SLEAP <= 1.4's folder layout, with Keras' own answers.

    python tests/parity/sleap_keras_models.py tests/fixtures/sleap_keras     # the small cases in the repository
    python tests/parity/sleap_keras_models.py --large /tmp/cases             # real encoders of Keras' collection
    SKITTER_SLEAP_KERAS_CASES=/tmp/cases build/tests/test_models_sleap_keras # compares a folder of cases

Each case is a model folder (training_config.json, best_model.h5) with input.npy (NHWC, 0..1) and one
output_<head>.npy a head, NHWC. Needs tensorflow < 2.16 (Keras 2); skitter itself needs neither.
"""
import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

L = tf.keras.layers
PARTS = ["a", "b", "c"]


def head(x, name, channels=3, **more):
    return L.Conv2D(channels, 1, padding="same", name=name, **more)(x)


def convolutions():
    """Strides, even kernels, dilation, valid padding, depthwise, separable, grouped."""
    x0 = L.Input((None, None, 1), name="input")
    x = L.Conv2D(4, 4, strides=2, padding="same", activation="relu", name="even_strided")(x0)
    x = L.Conv2D(6, 3, dilation_rate=2, padding="same", use_bias=False, name="dilated")(x)
    x = L.BatchNormalization(epsilon=1.001e-5, name="bn_full")(x)
    x = L.ZeroPadding2D(((1, 2), (0, 1)), name="pad")(x)
    x = L.Conv2D(6, (4, 2), padding="valid", activation="tanh", name="valid")(x)
    x = L.DepthwiseConv2D(3, depth_multiplier=2, padding="same", name="depthwise")(x)
    x = L.BatchNormalization(scale=False, name="bn_no_gamma")(x)
    x = L.SeparableConv2D(5, 3, strides=2, depth_multiplier=2, padding="same", activation="sigmoid", name="separable")(x)
    x = L.BatchNormalization(center=False, scale=False, name="bn_bare")(x)
    x = L.Conv2D(6, 3, padding="same", name="plain")(x)
    x = L.LeakyReLU(0.2, name="leaky")(x)
    x = L.Conv2D(6, 3, groups=2, padding="same", name="grouped")(x)
    return x0, [head(x, "SingleInstanceConfmapsHead")], {"single_instance": single(4)}, (37, 30, 1)


def transposed():
    """Every way a transposed convolution lies: kernels 2 to 5 at stride 2, 3 at stride 3 and 1, kernel < stride."""
    x0 = L.Input((20, 24, 3), name="input")
    x = L.Conv2D(4, 3, strides=2, padding="same", name="down1")(x0)
    x = L.Conv2D(4, 3, strides=2, padding="same", activation="relu", name="down2")(x)
    a = L.Conv2DTranspose(3, 3, strides=2, padding="same", name="t3")(x)
    b = L.Conv2DTranspose(2, 4, strides=2, padding="same", activation="relu", name="t4")(x)
    c = L.Conv2DTranspose(2, 5, strides=2, padding="same", use_bias=False, name="t5")(x)
    d = L.Conv2DTranspose(2, 2, strides=2, padding="valid", name="t2")(x)
    e = L.Conv2DTranspose(2, 1, strides=2, padding="same", name="t1")(x)
    y = L.Concatenate(name="together")([a, b, c, d, e])
    f = L.Conv2DTranspose(3, 3, strides=1, padding="same", name="t3s1")(y)
    g = L.Conv2DTranspose(2, (2, 4), strides=(2, 2), padding="same", name="t24")(f)
    outputs = [head(f, "MultiInstanceConfmapsHead_0"), head(g, "PartAffinityFieldsHead_0", 4),
               head(f, "OffsetRefinementHead_0", 6)]
    heads = {"multi_instance": {"confmaps": {**single(2), "offset_refinement": True},
                                "pafs": {"edges": [["b", "a"], ["c", "b"]], "sigma": 15, "output_stride": 1}}}
    return x0, outputs, heads, (20, 24, 3)


def pooling_and_merging():
    """Pools and averages at odd sizes, both kinds of upsampling, merges, squeeze and excitation, activations."""
    x0 = L.Input((None, None, 1), name="input")
    x = L.Conv2D(6, 3, padding="same", activation="elu", name="first")(x0)
    p = L.MaxPooling2D(3, strides=2, padding="same", name="max")(x)
    q = L.AveragePooling2D(3, strides=2, padding="same", name="average")(x)
    r = L.MaxPooling2D(2, padding="same", name="default_strides")(x)
    y = L.Add(name="add")([p, q, r])
    y = L.ReLU(6.0, name="relu6")(y)
    s = L.GlobalAveragePooling2D(name="squeeze")(y)
    s = L.Dense(3, activation="swish", name="fc1")(s)
    s = L.Dense(6, activation="hard_sigmoid", name="fc2")(s)
    s = L.Reshape((1, 1, 6), name="unsqueeze")(s)
    y = L.Multiply(name="excite")([y, s])
    z = L.Average(name="mean")([y, L.Dense(6, name="dense_on_image")(y)])
    z = L.Maximum(name="larger")([z, L.Activation("softplus", name="softplus")(y)])
    z = L.Subtract(name="less")([z, L.Activation("gelu", name="gelu")(y)])
    z = L.SpatialDropout2D(0.5, name="dropped")(z)
    m = head(z, "ClassMapsHead", 2, activation="sigmoid")
    u = L.UpSampling2D(2, interpolation="bilinear", name="bilinear")(z)
    v = L.UpSampling2D(2, interpolation="nearest", name="nearest")(z)
    w = L.Concatenate(axis=-1, name="skip_concat")([u, v])
    w = L.Softmax(name="softmax")(L.Conv2D(4, 3, padding="same", name="refine")(w))
    heads = {"multi_class_bottomup": {"confmaps": single(1), "class_maps": {"classes": ["x", "y"], "output_stride": 2}}}
    return x0, [head(w, "MultiInstanceConfmapsHead"), m], heads, (26, 34, 1)


def vectors():
    """Class vectors without global pooling: the flatten order shows. A layer used twice; a crop."""
    x0 = L.Input((16, 20, 1), name="input")
    shared = L.Conv2D(3, 3, padding="same", activation="relu", name="shared")
    x = L.Conv2D(3, 3, strides=2, padding="same", name="down")(x0)
    x = shared(x)
    x = shared(x)
    f = L.Flatten(name="pre_classification_flatten")(L.Cropping2D(((1, 2), (0, 3)), name="crop")(x))
    f = L.Dense(5, name="pre_classification0_fc")(f)
    f = L.Activation("relu", name="pre_classification0_relu")(f)
    outputs = [head(x, "CenteredInstanceConfmapsHead"), L.Dense(2, activation="softmax", name="ClassVectorsHead")(f)]
    heads = {"multi_class_topdown": {"confmaps": {**single(2), "anchor_part": "b"},
                                     "class_vectors": {"classes": ["x", "y"], "global_pool": False, "output_stride": 2}}}
    return x0, outputs, heads, (16, 20, 1)


def tile_channels(x):
    return tf.tile(x, [1, 1, 1, 3])


def imagenet_preproc_v1(x):
    x = (x * 255)[..., ::-1]
    return x - tf.constant([[[[103.939, 116.779, 123.68]]]], dtype=tf.float32)


def encoder():
    """A model within the model, as pretrained encoders are kept, behind Lambdas of both kinds."""
    i = L.Input((None, None, 3), name="encoder_input")
    a = L.Conv2D(4, 3, padding="same", use_bias=False, name="conv1")(i)
    a = L.BatchNormalization(name="conv1/bn")(a)
    a = L.Activation("relu", name="relu1")(a)
    b = L.MaxPooling2D(name="pool1")(a)
    b = L.Conv2D(5, 3, padding="same", activation="relu", name="conv2")(b)
    b = L.BatchNormalization(name="bn")(b)  # not conv1/bn
    features = tf.keras.Model(i, [b, a], name="features")
    x0 = L.Input((None, None, 1), name="input")
    x = L.Lambda(lambda t: tf.tile(t, [1, 1, 1, 3]), name="ensure_rgb")(x0)
    low, high = features(x)
    y = L.Lambda(tile_channels, name="tile_channels")(x0)
    y = L.Lambda(imagenet_preproc_v1, name="imagenet_preproc_v1")(y)
    y = L.Conv2D(3, 3, padding="same", name="other_way")(y)
    u = L.UpSampling2D(name="up")(low)
    z = L.Concatenate(name="join")([high, u, y])
    return x0, [head(z, "CentroidConfmapsHead", 1)], {"centroid": {"anchor_part": None, "sigma": 1.5, "output_stride": 1,
                                                                   "offset_refinement": False}}, (18, 22, 1)


def single(stride):
    return {"part_names": PARTS, "sigma": 2.5, "output_stride": stride, "loss_weight": 1.0, "offset_refinement": False}


def pretrained(make):
    """A real encoder, kept as a model within the model, with a small decoder on its last map."""
    def build():
        base = make(include_top=False, weights=None, input_shape=(96, 128, 3))
        x0 = L.Input((96, 128, 1), name="input")
        x = base(L.Lambda(lambda t: tf.tile(t, [1, 1, 1, 3]), name="ensure_rgb")(x0))
        x = L.UpSampling2D(4, interpolation="bilinear", name="up")(L.Conv2D(8, 1, name="narrow")(x))
        return x0, [head(x, "SingleInstanceConfmapsHead")], {"single_instance": single(8)}, (96, 128, 1)
    build.__name__ = make.__name__
    return build


A = tf.keras.applications
LARGE = [pretrained(m) for m in (A.VGG16, A.ResNet50, A.ResNet50V2, A.MobileNet, A.MobileNetV2, A.DenseNet121,
                                 A.InceptionV3, A.Xception)]
CASES = [convolutions, transposed, pooling_and_merging, vectors, encoder]


def randomise(model, generator):
    for w in model.weights:
        shape = w.shape.as_list()
        if "variance" in w.name:
            w.assign(generator.uniform(0.5, 1.5, shape))
        elif len(shape) == 1:
            w.assign(generator.normal(0.2, 0.3, shape))
        else:
            w.assign(generator.normal(0, 1.2 / np.sqrt(max(1, np.prod(shape[:-1]))), shape))


def write_case(folder, make, seed):
    x0, outputs, heads, shape = make()
    generator = np.random.default_rng(seed)
    model = tf.keras.Model(x0, outputs)
    randomise(model, generator)
    where = os.path.join(folder, make.__name__)
    os.makedirs(where, exist_ok=True)
    model.save(os.path.join(where, "best_model.h5"), include_optimizer=False)
    image = (generator.integers(0, 256, (1, *shape)) / np.float32(255)).astype(np.float32)
    answers = model(image, training=False)
    answers = answers if isinstance(answers, list) else [answers]
    np.save(os.path.join(where, "input.npy"), image)
    for name, value in zip(model.output_names, answers):
        np.save(os.path.join(where, f"output_{name}.npy"), value.numpy())
    names = ["single_instance", "centroid", "centered_instance", "multi_instance", "multi_class_bottomup",
             "multi_class_topdown"]
    config = {"data": {"labels": {"skeletons": []},
                       "preprocessing": {"ensure_rgb": False, "ensure_grayscale": False, "imagenet_mode": None,
                                         "input_scaling": 1.0, "pad_to_stride": 1, "target_height": None,
                                         "target_width": None},
                       "instance_cropping": {"center_on_part": None, "crop_size": None}},
              "model": {"heads": {n: heads.get(n) for n in names}, "backbone": {"unet": {"max_stride": 2}}},
              "outputs": {"run_name": make.__name__}, "sleap_version": "1.4.1"}
    with open(os.path.join(where, "training_config.json"), "w") as f:
        json.dump(config, f, indent=1)
    print(make.__name__, model.count_params(), {n: v.shape for n, v in zip(model.output_names, answers)})


if __name__ == "__main__":
    for number, case in enumerate(LARGE if sys.argv[1] == "--large" else CASES):
        write_case(sys.argv[-1], case, number)
