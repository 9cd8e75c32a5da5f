#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of the installed sleap-nn with random weights, saved as Lightning saves them, with their answers.

    python tests/parity/sleap_nn_models.py tests/fixtures/sleap_nn     # the small cases kept in the repository
    python tests/parity/sleap_nn_models.py --large /tmp/cases          # real sizes: ConvNeXt tiny, U-Nets
    SKITTER_SLEAP_NN_CASES=/tmp/cases build/tests/test_models_sleap_nn # compares a folder of cases

Each case is a model folder (training_config.yaml, best.ckpt) with input.npy (NCHW, 0..1) and one
output_<head>.npy a head. Needs sleap-nn and torch; skitter itself needs neither.
"""
import argparse
import os

import numpy as np
import torch
import yaml
from omegaconf import OmegaConf
from sleap_nn.architectures.model import Model

PARTS = ["a", "b", "c"]
EDGES = [["a", "b"], ["b", "c"]]
CLASSES = ["x", "y"]


def confmaps(stride, **more):
    return {"part_names": PARTS, "sigma": 1.5, "output_stride": stride, "loss_weight": 1.0, **more}


HEADS = {
    "single_instance": lambda s: {"confmaps": {k: v for k, v in confmaps(s).items() if k != "loss_weight"}},
    "centroid": lambda s: {"confmaps": {"anchor_part": None, "sigma": 1.5, "output_stride": s}},
    "centered_instance": lambda s: {"confmaps": confmaps(s, anchor_part="b")},
    "bottomup": lambda s: {
        "confmaps": confmaps(s),
        "pafs": {"edges": EDGES, "sigma": 15.0, "output_stride": 2 * s, "loss_weight": 1.0},
    },
    "multi_class_bottomup": lambda s: {
        "confmaps": confmaps(s),
        "class_maps": {"classes": CLASSES, "sigma": 4.0, "output_stride": 2 * s, "loss_weight": 1.0},
    },
    "multi_class_topdown": lambda s: {
        "confmaps": confmaps(s, anchor_part="a"),
        "class_vectors": {"classes": CLASSES, "num_fc_layers": 2, "num_fc_units": 12, "global_pool": True,
                          "output_stride": 16, "loss_weight": 1.0},
    },
}


def unet(**changes):
    base = dict(in_channels=1, kernel_size=3, filters=4, filters_rate=1.5, max_stride=8, stem_stride=None,
                middle_block=True, up_interpolate=True, stacks=1, convs_per_block=2, output_stride=2)
    return "unet", {**base, **changes}


def convnext(**changes):
    base = dict(pre_trained_weights=None, model_type="custom", arch={"depths": [1, 1, 2, 1], "channels": [2, 4, 5, 6]},
                stem_patch_kernel=4, stem_patch_stride=2, in_channels=1, kernel_size=3, filters_rate=1.5,
                convs_per_block=2, up_interpolate=True, output_stride=2, max_stride=32)
    return "convnext", {**base, **changes}


# name: (backbone, head, stride, input height, width)
SMALL = {
    "unet_bottomup_transposed": (unet(up_interpolate=False), "bottomup", 2, 32, 40),
    "unet_single_kernel5_convs3": (unet(kernel_size=5, convs_per_block=3, in_channels=3, max_stride=4), "single_instance", 2, 20, 24),
    "unet_class_maps": (unet(), "multi_class_bottomup", 2, 24, 32),
    "unet_class_vectors": (unet(up_interpolate=False), "multi_class_topdown", 2, 32, 32),
    "unet_no_decoder": (unet(output_stride=8), "centroid", 8, 32, 24),
    # padded to max_stride 8, but 16 times coarser inside: 24 and 40 do not divide
    "unet_stem": (unet(stem_stride=2, up_interpolate=False), "centered_instance", 2, 24, 40),
    "unet_stem_interpolated": (unet(stem_stride=2), "bottomup", 2, 40, 32),
    "convnext_bottomup": (convnext(), "bottomup", 2, 64, 32),
    "convnext_transposed": (convnext(up_interpolate=False, output_stride=1, in_channels=3), "single_instance", 1, 32, 64),
    "convnext_class_vectors": (convnext(output_stride=4), "multi_class_topdown", 4, 64, 64),
}
LARGE = {
    "convnext_tiny": (convnext(model_type="tiny", arch=None, filters_rate=2), "bottomup", 2, 128, 160),
    "convnext_small_transposed": (convnext(model_type="small", arch=None, filters_rate=2, up_interpolate=False, output_stride=4),
                                  "single_instance", 4, 96, 64),
    "unet_medium": (unet(filters=32, filters_rate=2, max_stride=16, output_stride=2), "bottomup", 2, 128, 160),
    "unet_large_rf": (unet(filters=24, max_stride=32, output_stride=4, up_interpolate=False), "centroid", 4, 128, 96),
}


def randomise(model, seed):
    """Weights that make every layer matter: PyTorch's own begin with a layer_scale of 1e-6."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "layer_scale" in name or (p.ndim == 1 and name.endswith("weight")):
                p.copy_(1 + 0.3 * torch.randn(p.shape, generator=generator))
            elif p.ndim == 1:
                p.copy_(0.1 * torch.randn(p.shape, generator=generator))
            else:
                fan_in = p[0].numel()
                p.copy_(torch.randn(p.shape, generator=generator) * (1.6 / fan_in) ** 0.5)


def write_case(folder, name, case, seed):
    (backbone, backbone_config), head, stride, height, width = case
    head_config = HEADS[head](stride)
    model = Model(backbone, OmegaConf.create(backbone_config), OmegaConf.create(head_config), head)
    randomise(model, seed)
    model.eval()
    image = np.random.default_rng(seed).integers(0, 256, (1, backbone_config["in_channels"], height, width))
    image = (image / np.float32(255)).astype(np.float32)
    with torch.no_grad():
        outputs = model(torch.from_numpy(image))
        # the "same" pools pad on their first call only; a fresh copy is what one frame gets
    where = os.path.join(folder, name)
    os.makedirs(where, exist_ok=True)
    np.save(os.path.join(where, "input.npy"), image)
    for head_name, value in outputs.items():
        np.save(os.path.join(where, f"output_{head_name}.npy"), value.numpy())
    config = {
        "data_config": {
            "preprocessing": {"ensure_rgb": False, "ensure_grayscale": False, "max_height": height,
                              "max_width": width, "scale": 1.0, "crop_size": height if "top" in head or
                              head == "centered_instance" else None, "min_crop_size": 100},
            "skeletons": [{"nodes": [{"name": p} for p in PARTS],
                           "edges": [{"source": {"name": a}, "destination": {"name": b}} for a, b in EDGES],
                           "symmetries": [], "name": "Skeleton-0"}],
        },
        "model_config": {
            "init_weights": "default",
            "backbone_config": {k: (backbone_config if k == backbone else None) for k in ("unet", "convnext", "swint")},
            "head_configs": {k: (head_config if k == head else None) for k in HEADS},
        },
        "trainer_config": {"max_epochs": 1, "run_name": name, "optimizer_name": "Adam", "optimizer": {"lr": 1e-4}},
        "sleap_nn_version": "0.3.5",
    }
    with open(os.path.join(where, "training_config.yaml"), "w") as f:
        yaml.safe_dump(config, f, sort_keys=False)
    state = {f"model.{k}": v for k, v in model.state_dict().items()}
    torch.save({"epoch": 0, "global_step": 1, "pytorch-lightning_version": "2.6.6", "state_dict": state},
               os.path.join(where, "best.ckpt"))
    params = sum(p.numel() for p in model.parameters())
    print(f"{name}: {params} parameters, " + ", ".join(f"{k} {tuple(v.shape)}" for k, v in outputs.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    for seed, (name, case) in enumerate((LARGE if args.large else SMALL).items()):
        write_case(args.folder, name, case, seed)


if __name__ == "__main__":
    main()
