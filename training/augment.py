# SPDX-License-Identifier: Apache-2.0
"""Makes batches from the pool on the training device: compressed, scaled, shifted and recoloured. Scenes come in all
directions already, so nothing is turned or mirrored."""
import math
import queue
import threading
import time

import numpy as np
import torch
import torch.nn.functional as F

import pool as pool_file


def _dct(device):
    n = torch.arange(8, device=device, dtype=torch.float32)
    m = torch.cos((2 * n.view(1, 8) + 1) * n.view(8, 1) * math.pi / 16) * 0.5
    m[0] *= math.sqrt(0.5)
    return m


_LUMA = (16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
         87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
         72, 92, 95, 98, 112, 100, 103, 99)  # the JPEG standard's example table (ITU T.81, K.1)


def compress(x, quality):
    """What block transforms with coarse steps do to a picture. x [B,3,H,W] 0…255; quality [B] 1…100."""
    r, g, b = x[:, 0:1], x[:, 1:2], x[:, 2:3]
    y = 0.299 * r + 0.587 * g + 0.114 * b
    chroma = F.avg_pool2d(torch.cat(((b - y) * 0.564334, (r - y) * 0.713267), 1), 2)
    step = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality) / 100
    table = (x.new_tensor(_LUMA).view(1, 1, 8, 8) * step.view(-1, 1, 1, 1)).clamp(min=1)
    d = torch.kron(_dct(x.device), _dct(x.device))  # both directions of a block of 64 at once

    def coarse(plane, table):
        n, c, ph, pw = plane.shape
        blocks = plane.view(n, c, ph // 8, 8, pw // 8, 8).transpose(3, 4).reshape(n, -1, 64)
        q = table.view(n, 1, 64)
        t = torch.round((blocks @ d.T) / q) * q
        return (t @ d).view(n, c, ph // 8, pw // 8, 8, 8).transpose(3, 4).reshape(n, c, ph, pw)

    y = coarse(y - 128, table) + 128
    chroma = F.interpolate(coarse(chroma, table * 1.3), scale_factor=2, mode="nearest")
    b, r = y + chroma[:, 0:1] * 1.772, y + chroma[:, 1:2] * 1.402
    return torch.cat((r, (y - 0.299 * r - 0.114 * b) / 0.587, b), 1).clamp(0, 255)


# one animal's numbers, as they lie on the device: name, how many
FIELDS = (("classes", 1), ("box", 4), ("obb", 5), ("points", 10), ("seen", 5), ("visible", 1), ("length", 1))


class Batches:
    """A copy of the pool on the device that keeps up with the drawing: a thread reads, the trainer's own stream copies."""

    def __init__(self, pool, device, seed, scale=(0.6, 1.1), chunk=64):
        self.pool, self.device, self.scale, self.chunk = pool, device, scale, chunk
        self.random = torch.Generator(device=device).manual_seed(seed)
        side = pool_file.SIDE
        self.images = torch.empty(pool.slots, side, side, 3, dtype=torch.uint8, device=device)
        self.truth = torch.zeros(pool.slots, pool_file.ANIMALS, sum(n for _, n in FIELDS), device=device)
        cuda = device.type == "cuda"
        self.buffers = [(torch.empty(chunk, side, side, 3, dtype=torch.uint8, pin_memory=cuda),
                         torch.zeros(chunk, pool_file.ANIMALS, self.truth.shape[-1], pin_memory=cuda)) for _ in range(3)]
        self.free, self.ready = queue.Queue(), queue.Queue()
        for b in range(len(self.buffers)):
            self.free.put((b, None))
        threading.Thread(target=self._read, daemon=True).start()
        for _ in range(0, pool.slots, chunk):
            self.refresh(block=True)

    def _read(self):
        first = 0
        while True:
            b, copied = self.free.get()
            if copied is not None:
                copied.synchronize()
            images, truth = self.buffers[b]
            n = min(self.chunk, self.pool.slots - first)
            for i in range(n):
                self._read_slot(first + i, images[i], truth[i])
            self.ready.put((b, first, n))
            first = (first + n) % self.pool.slots

    def _read_slot(self, slot, image, truth):
        pool = self.pool
        while True:
            version = int(pool.version[slot])
            if version >= 2 and version % 2 == 0:
                image.copy_(torch.from_numpy(pool.images[slot]))
                record, count = pool.truth[slot].copy(), int(pool.count[slot])
                if int(pool.version[slot]) == version:
                    break
            time.sleep(0.001)  # being drawn just now
        rows = np.concatenate((record["species"].astype(np.float32)[:, None], record["box"], record["obb"],
                               record["points"].reshape(-1, 10), record["seen"].astype(np.float32),
                               record["visible"][:, None], record["length"][:, None]), 1)
        rows[count:] = 0
        rows[count:, -2] = -1  # visible: there is no such animal
        truth.copy_(torch.from_numpy(rows))

    def refresh(self, block=False):
        """Takes one chunk of new pictures, if one is ready."""
        try:
            b, first, n = self.ready.get(block=block)
        except queue.Empty:
            return
        images, truth = self.buffers[b]
        self.images[first:first + n].copy_(self._compressed(images[:n].to(self.device, non_blocking=True)))
        self.truth[first:first + n].copy_(truth[:n], non_blocking=True)
        copied = None
        if self.device.type == "cuda":
            copied = torch.cuda.Event()
            copied.record()
        self.free.put((b, copied))

    def _compressed(self, images):
        """As a video or picture file would bring them: [n,S,S,3] u8."""
        n = len(images)
        quality = torch.where(self._uniform(n, 0, 1) < 0.75, self._uniform(n, 12, 80), self._uniform(n, 90, 100))
        return compress(images.permute(0, 3, 1, 2).float(), quality).round().to(torch.uint8).permute(0, 2, 3, 1)

    def _fields(self, index):
        parts = dict(zip((name for name, _ in FIELDS), self.truth[index].split([n for _, n in FIELDS], -1)))
        parts["classes"] = parts["classes"].squeeze(-1).long()
        parts["seen"] = parts["seen"].long()
        parts["points"] = parts["points"].unflatten(-1, (5, 2))
        parts["visible"], parts["length"] = parts["visible"].squeeze(-1), parts["length"].squeeze(-1)
        return parts

    def _uniform(self, n, low, high):
        return torch.rand(n, generator=self.random, device=self.device) * (high - low) + low

    def get(self, n):
        """n pictures [n,3,S,S] 0…255 float and their labels in pixels; 'real' marks the animals that count."""
        index = torch.randint(self.pool.slots, (n,), generator=self.random, device=self.device)
        x = self.images[index].permute(0, 3, 1, 2).float()
        f = self._fields(index)
        side = pool_file.SIDE
        zoom = torch.exp(self._uniform(n, math.log(self.scale[0]), math.log(self.scale[1])))
        zoom = torch.where(self._uniform(n, 0, 1) < 0.3, torch.ones_like(zoom), zoom)
        room = (zoom - 1).abs() * side / 2
        shift = torch.stack((self._uniform(n, -1, 1) * room, self._uniform(n, -1, 1) * room), -1)
        # output places in the input's coordinates, both -1 … 1
        theta = torch.zeros(n, 2, 3, device=self.device)
        theta[:, 0, 0] = theta[:, 1, 1] = 1 / zoom
        theta[:, :, 2] = -shift / zoom.view(n, 1) / (side / 2)
        grid = F.affine_grid(theta, (n, 3, side, side), align_corners=False)
        x = F.grid_sample(x - pool_file.BORDER, grid, mode="bilinear", align_corners=False)
        # light
        gain, offset = self._uniform(n, 0.75, 1.25).view(n, 1, 1, 1), self._uniform(n, -20, 20).view(n, 1, 1, 1)
        tint = (torch.rand(n, 3, 1, 1, generator=self.random, device=self.device) - 0.5) * 0.16 + 1
        x = (x * (gain * tint) + (offset + pool_file.BORDER)).clamp(0, 255)
        return x, self._labels(f, zoom, shift, side)

    def _labels(self, f, zoom, shift, side):
        n, half = len(zoom), side / 2

        def move(p):  # [n,M,...,2]
            ones = [1] * (p.dim() - 2)
            return (p - half) * zoom.view(n, *ones, 1) + shift.view(n, *ones, 2) + half

        low, high = move(f["box"][..., :2]), move(f["box"][..., 2:])
        whole = (high - low).prod(-1).clamp(min=1e-3)
        low, high = low.clamp(0, side), high.clamp(0, side)
        kept = (high - low).clamp(min=0).prod(-1) / whole
        points = move(f["points"])
        outside = (points < 0).any(-1) | (points >= side).any(-1)
        seen = torch.where(outside, torch.zeros_like(f["seen"]), f["seen"])
        centre = move(f["obb"][..., :2])
        angle = torch.remainder(f["obb"][..., 4] + math.pi / 4, math.pi) - math.pi / 4  # [-pi/4, 3pi/4)
        size = f["obb"][..., 2:4] * zoom.view(n, 1, 1)
        return {"classes": f["classes"], "real": ((f["visible"] >= 0.15) & (kept > 0.35)).float(),
                "box": torch.cat((low, high), -1), "obb": torch.cat((centre, size, angle.unsqueeze(-1)), -1),
                "keypoints": points, "seen": seen, "length": f["length"] * zoom.view(n, 1), "visible": f["visible"]}
