# SPDX-License-Identifier: Apache-2.0
"""Trains the models of share/models on skitter's own scenes. Needs Python 3.10, PyTorch 2.4, NumPy, a C compiler; a GPU
makes it minutes. See training/README.md.

    python3 training/train.py all --seconds 400 --out share/models
    python3 training/train.py obb --seconds 60 --device cpu --batch 4 --slots 64 --out /tmp/try
"""
import argparse
import copy
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

import augment
import checkpoint
import evaluate
import pool as pool_file
import scenes
import unet
import yolo
import yolo_loss

TASKS = ("obb", "pose", "bottomup")


class Average:
    """Running mean of the weights; its window grows with the steps."""

    def __init__(self, model, decay=0.9995):
        self.model, self.decay, self.steps = copy.deepcopy(model).eval(), decay, 0
        for p in self.model.parameters():
            p.requires_grad_(False)
        self.mine = [v for v in self.model.state_dict().values() if v.dtype.is_floating_point]
        self.new = [v for v in model.state_dict().values() if v.dtype.is_floating_point]

    @torch.no_grad()
    def update(self):
        self.steps += 1
        torch._foreach_lerp_(self.mine, self.new, 1 - self.decay * (1 - math.exp(-self.steps / 500)))


def optimizer_for(model, rate):
    decay, plain = [], []
    for p in model.parameters():
        if p.requires_grad:
            (decay if p.dim() > 1 else plain).append(p)
    groups = [{"params": decay, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.99), fused=torch.cuda.is_available())


def rate_at(progress, peak):
    """Up in the first 4 %, then down along a cosine to 1 %."""
    if progress < 0.04:
        return peak * (0.02 + 0.98 * progress / 0.04)
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (progress - 0.04) / 0.96)))


def make(task):
    return {"obb": yolo.OBBModel, "pose": yolo.PoseModel, "bottomup": unet.UNet}[task]()


def resume(task, model, folder):
    state = checkpoint.load_unet(folder / "demo-bottomup") if task == "bottomup" else \
        checkpoint.load_yolo(folder / f"demo-{task}.pt")
    model.load_state_dict(state)


def losses(task, model, x, labels, points, strides):
    if task == "bottomup":
        grey = (x * x.new_tensor([0.2989, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True)
        grey = F.interpolate(grey, scale_factor=unet.SCALE, mode="bilinear", antialias=True).round() / 255
        side = grey.shape[-1]
        valid = ((labels["seen"] > 0) & (labels["visible"] >= 0.15).unsqueeze(-1)).float()
        # places with pixel centres at whole numbers, times the scale: sleap-nn's rule, whose reverse is / scale
        want = unet.targets((labels["keypoints"] - 0.5) * unet.SCALE, valid, side, side)
        with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cuda"):
            out = model(grey)
        c, f = unet.loss(*out, *want)
        return {"confmaps": c, "fields": f}
    with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cuda"):
        out = model(x / 255)
    loss = yolo_loss.obb_loss if task == "obb" else yolo_loss.pose_loss
    return loss(out, labels, points, strides)


def save(task, model, out, about):
    if task == "bottomup":
        checkpoint.save_unet(model, out / "demo-bottomup", about)
    else:
        checkpoint.save_yolo(model, out / f"demo-{task}.pt", task, pool_file.SIDE, about)


def train(task, args, pool):
    device = torch.device(args.device)
    torch.set_num_threads(2)
    torch.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.benchmark_limit = 3
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    model = make(task)
    if args.resume:
        resume(task, model, args.resume)
    model = model.to(device).train()
    if device.type == "cuda":
        model = model.to(memory_format=torch.channels_last)
    average = Average(model)
    rate = args.rate * (0.5 if task == "bottomup" else 1.0)  # without batch norm smaller steps
    optimizer = optimizer_for(model, rate)
    scale = (0.85, 1.8) if task == "bottomup" else (0.7, 1.3)
    batches = augment.Batches(pool, device, args.seed + TASKS.index(task), scale=scale, chunk=min(64, pool.slots))
    points, strides = yolo.anchors(pool_file.SIDE, pool_file.SIDE, device)
    begin, step, shown = time.time(), 0, 0.0
    while True:
        progress = (time.time() - begin) / args.seconds
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate_at(progress, rate)
        x, labels = batches.get(args.batch)
        if device.type == "cuda":
            x = x.contiguous(memory_format=torch.channels_last)
        parts = losses(task, model, x, labels, points, strides)
        total = sum(parts.values())
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        average.update()
        step += 1
        if step % 4 == 0:
            batches.refresh()
        if time.time() - shown > args.report:
            shown = time.time()
            values = " ".join(f"{k} {v.item():.4f}" for k, v in parts.items())
            print(f"{task} {shown - begin:6.1f} s step {step} rate {optimizer.param_groups[0]['lr']:.5f} {values}", flush=True)
    seconds = time.time() - begin
    print(f"{task}: {step} steps of {args.batch} in {seconds:.0f} s, {step * args.batch / seconds:.0f} pictures/s", flush=True)
    about = checkpoint.about(seed=args.seed, steps=step, batch=args.batch, optimizer="AdamW", seconds=round(seconds))
    args.out.mkdir(parents=True, exist_ok=True)
    save(task, average.model, args.out, about)
    return average.model, about


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tasks", nargs="+", choices=(*TASKS, "all"), metavar="obb|pose|bottomup|all")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder for the checkpoints")
    p.add_argument("--seconds", type=float, default=400, help="of training, for each model; all train side by side")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--rate", type=float, default=2e-3)
    p.add_argument("--resume", type=pathlib.Path, help="folder with checkpoints to begin from")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--slots", type=int, default=12288, help="pictures kept at a time (0.8 MB each)")
    p.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 3), help="processes that draw")
    p.add_argument("--report", type=float, default=10)
    p.add_argument("--check", type=int, default=10, help="unseen scenes a species to measure on at the end; 0 none")
    p.add_argument("--pool", type=pathlib.Path, help=argparse.SUPPRESS)  # of the parent process
    return p.parse_args()


def main():
    args = arguments()
    if args.pool:  # one of several trainers on a pool that is drawn elsewhere
        pool = pool_file.Pool(args.pool, args.slots)
        task = args.tasks[0]
        model, about = train(task, args, pool)
        if args.check:
            figures = evaluate.measure(task, model, args.check, torch.device(args.device),
                                       scenes.build(args.pool / "build"))
            (args.out / f"demo-{task}.json").write_text(json.dumps({"about": about, "accuracy": figures}, indent=1))
        return 0
    shared = pathlib.Path("/dev/shm")
    needed = args.slots * pool_file.SIDE ** 2 * 3 * 1.1
    if not os.access(shared, os.W_OK) or shutil.disk_usage(shared).free < needed:
        shared = None  # the usual folder for temporary files; slower to begin with
    with tempfile.TemporaryDirectory(dir=shared, prefix="skitter-train-") as folder:
        folder = pathlib.Path(folder)
        library = scenes.build(folder / "build")
        begin = time.time()
        pool, stop, processes = pool_file.start(folder, args.slots, args.workers, args.seed, library)
        pool_file.wait(pool, args.slots * 98 // 100, 600)
        print(f"{pool.filled()} pictures drawn in {time.time() - begin:.1f} s by {args.workers} processes", flush=True)
        tasks = TASKS if "all" in args.tasks else args.tasks
        given = [a for a in sys.argv[1:] if a not in (*TASKS, "all")]
        trainers = [subprocess.Popen([sys.executable, __file__, t, *given, "--pool", str(folder), "--slots", str(args.slots)])
                    for t in tasks]
        codes = [t.wait() for t in trainers]
        stop.set()
        for p in processes:
            p.join(10)
            if p.is_alive():
                p.terminate()
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
