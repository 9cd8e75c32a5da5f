# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints in the layouts skitter (and the original programs) read. Nothing of those programs is imported:
while a file is written, our own classes answer to the names the layout uses."""
import contextlib
import copy
import datetime
import pathlib
import sys
import types

import torch

import scenes
import yolo

_HOMES = {
    "ultralytics.nn.modules.conv": ("Conv", "DWConv", "Concat"),
    "ultralytics.nn.modules.block": ("Bottleneck", "C3k", "C3k2", "SPPF", "Attention", "PSABlock", "C2PSA", "DFL"),
    "ultralytics.nn.modules.head": ("OBB", "Pose"),
    "ultralytics.nn.tasks": ("OBBModel", "PoseModel"),
}


@contextlib.contextmanager
def _named_as_in_the_layout():
    before = {name: sys.modules.get(name) for name in list(_HOMES) + ["ultralytics", "ultralytics.nn",
                                                                      "ultralytics.nn.modules"]}
    homes = {}
    try:
        for name in before:
            sys.modules[name] = types.ModuleType(name)
        for module, classes in _HOMES.items():
            for name in classes:
                cls = getattr(yolo, name)
                homes[cls] = cls.__module__
                cls.__module__ = module
                setattr(sys.modules[module], name, cls)
        yield
    finally:
        for cls, home in homes.items():
            cls.__module__ = home
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def save_yolo(model, path, task, imgsz, about):
    """float16 weights, as finished checkpoints have; classes, keypoints and sizes as attributes of the model."""
    model = copy.deepcopy(model).cpu().eval().float()
    for p in model.parameters():
        p.requires_grad = False
    head = model.model[-1]
    for module in model.model:
        module.type = f"{next((m for m, c in _HOMES.items() if type(module).__name__ in c), 'torch.nn.modules.upsampling')}." \
                      f"{type(module).__name__}"
        module.np = sum(p.numel() for p in module.parameters())
    model.names = dict(enumerate(scenes.SPECIES))
    model.nc = len(scenes.SPECIES)
    model.stride = head.stride.clone()
    model.task = task
    model.inplace = True
    model.yaml = {"nc": model.nc, "scale": "", "yaml_file": f"yolo11-{task}.yaml", "ch": 3}
    model.args = {"imgsz": imgsz, "task": task}
    if task == "pose":
        model.kpt_shape = list(head.kpt_shape)
        model.yaml["kpt_shape"] = list(head.kpt_shape)
        model.kpt_names = {i: list(scenes.KEYPOINTS) for i in range(model.nc)}
        model.skeleton = [list(edge) for edge in scenes.EDGES]
    model = model.half()
    checkpoint = {
        "date": about["date"],
        "version": "skitter training 1",
        "license": "Apache-2.0",
        "docs": "share/models/README.md",
        "epoch": -1, "best_fitness": None, "model": model, "ema": None, "updates": None, "optimizer": None,
        "train_args": {"task": task, "model": f"demo-{task}", "data": "skitter scene", "imgsz": imgsz, **about},
    }
    with _named_as_in_the_layout():
        torch.save(checkpoint, path)


def load_yolo(path):
    """The weights of a checkpoint that save_yolo wrote, to go on training. Only for files of one's own: it unpickles."""
    with _named_as_in_the_layout():
        return torch.load(path, map_location="cpu", weights_only=False)["model"].float().state_dict()


def load_unet(folder):
    state = torch.load(pathlib.Path(folder) / "best.ckpt", map_location="cpu")["state_dict"]
    return {k.removeprefix("model."): v.float() for k, v in state.items()}


_YAML = """\
# SPDX-License-Identifier: Apache-2.0
# A bottom-up pose model of skitter's own, in the layout of sleap-nn. share/models/README.md says how it was made.
description: skitter demo, fish flies and mice, Apache-2.0
data_config:
  preprocessing:
    ensure_rgb: false
    ensure_grayscale: true
    max_height: null
    max_width: null
    scale: {scale}
    crop_size: null
  skeletons:
  - name: skitter
    nodes:
{nodes}
    edges:
{edges}
    symmetries: []
model_config:
  init_weights: default
  backbone_config:
    unet:
      in_channels: 1
      kernel_size: 3
      filters: {filters}
      filters_rate: {rate}
      max_stride: {max_stride}
      stem_stride: null
      middle_block: true
      up_interpolate: true
      stacks: 1
      convs_per_block: 2
      output_stride: 2
    convnext: null
    swint: null
  head_configs:
    single_instance: null
    centroid: null
    centered_instance: null
    bottomup:
      confmaps:
        part_names: [{parts}]
        sigma: {sigma}
        output_stride: 2
        loss_weight: 1.0
      pafs:
        edges:
{paf_edges}
        sigma: {paf_sigma}
        output_stride: 4
        loss_weight: 1.0
    multi_class_bottomup: null
    multi_class_topdown: null
trainer_config:
  run_name: demo-bottomup
  optimizer_name: AdamW
"""


def save_unet(model, folder, about):
    import unet
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = scenes.KEYPOINTS
    (folder / "training_config.yaml").write_text(_YAML.format(
        scale=unet.SCALE, filters=model.filters, rate=model.rate, max_stride=model.max_stride, sigma=unet.SIGMA,
        paf_sigma=unet.PAF_SIGMA, parts=", ".join(names),
        nodes="\n".join(f"    - name: {n}" for n in names),
        edges="\n".join(f"    - source:\n        name: {names[a]}\n      destination:\n        name: {names[b]}"
                        for a, b in scenes.EDGES),
        paf_edges="\n".join(f"        - - {names[a]}\n          - {names[b]}" for a, b in scenes.EDGES)))
    state = {"model." + k: v.detach().cpu().half() for k, v in model.state_dict().items()}
    torch.save({"epoch": 0, "global_step": about.get("steps", 0), "pytorch-lightning_version": "2.0.0",
                "state_dict": state, "license": "Apache-2.0", "date": about["date"]}, folder / "best.ckpt")


def about(**more):
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), **more}
