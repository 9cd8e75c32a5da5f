# SPDX-License-Identifier: Apache-2.0
"""A network of YOLO11's shape, written for these models: blocks named as the checkpoint layout names them, forwards as
docs/ultralytics.md and the papers describe them. Widths are free; skitter reads them from the checkpoint."""
import math

import torch
from torch import nn

STRIDES = (8, 16, 32)
REG_MAX = 16


class Conv(nn.Module):
    """Convolution, batch norm, activation."""

    def __init__(self, c1, c2, k=1, s=1, g=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, k // 2, groups=g, bias=False)
        self.bn = nn.BatchNorm2d(c2, eps=1e-3, momentum=0.03)
        self.act = nn.SiLU(inplace=True) if act else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class DWConv(Conv):
    def __init__(self, c1, c2, k=1, s=1, act=True):
        super().__init__(c1, c2, k, s, g=math.gcd(c1, c2), act=act)


class Concat(nn.Module):
    def __init__(self, dimension=1):
        super().__init__()
        self.d = dimension

    def forward(self, x):
        return torch.cat(x, self.d)


class Bottleneck(nn.Module):
    def __init__(self, c1, c2, shortcut=True, e=0.5):
        super().__init__()
        self.cv1 = Conv(c1, int(c2 * e), 3)
        self.cv2 = Conv(int(c2 * e), c2, 3)
        self.add = shortcut and c1 == c2

    def forward(self, x):
        y = self.cv2(self.cv1(x))
        return x + y if self.add else y


class C3k(nn.Module):
    def __init__(self, c1, c2, n=2):
        super().__init__()
        c = c2 // 2
        self.cv1 = Conv(c1, c)
        self.cv2 = Conv(c1, c)
        self.cv3 = Conv(2 * c, c2)
        self.m = nn.Sequential(*(Bottleneck(c, c, e=1.0) for _ in range(n)))

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class C3k2(nn.Module):
    def __init__(self, c1, c2, n=1, c3k=False, e=0.5):
        super().__init__()
        self.c = int(c2 * e)
        self.cv1 = Conv(c1, 2 * self.c)
        self.cv2 = Conv((2 + n) * self.c, c2)
        self.m = nn.ModuleList(C3k(self.c, self.c) if c3k else Bottleneck(self.c, self.c) for _ in range(n))

    def forward(self, x):
        parts = list(self.cv1(x).chunk(2, 1))
        for block in self.m:
            parts.append(block(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class SPPF(nn.Module):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        self.cv1 = Conv(c1, c1 // 2)
        self.cv2 = Conv(c1 // 2 * 4, c2)
        self.m = nn.MaxPool2d(k, 1, k // 2)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.m(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.key_dim = self.head_dim // 2
        self.scale = self.key_dim ** -0.5
        self.qkv = Conv(dim, dim + 2 * self.key_dim * num_heads, act=False)
        self.proj = Conv(dim, dim, act=False)
        self.pe = Conv(dim, dim, 3, g=dim, act=False)

    def forward(self, x):
        b, c, h, w = x.shape
        qkv = self.qkv(x).view(b, self.num_heads, 2 * self.key_dim + self.head_dim, h * w)
        q, k, v = qkv.split((self.key_dim, self.key_dim, self.head_dim), 2)
        weights = ((q.transpose(-2, -1) @ k) * self.scale).softmax(-1)
        out = (v @ weights.transpose(-2, -1)).view(b, c, h, w)
        return self.proj(out + self.pe(v.reshape(b, c, h, w)))


class PSABlock(nn.Module):
    def __init__(self, c, num_heads):
        super().__init__()
        self.attn = Attention(c, num_heads)
        self.ffn = nn.Sequential(Conv(c, 2 * c), Conv(2 * c, c, act=False))
        self.add = True

    def forward(self, x):
        x = x + self.attn(x)
        return x + self.ffn(x)


class C2PSA(nn.Module):
    def __init__(self, c1, n=1):
        super().__init__()
        self.c = c1 // 2
        self.cv1 = Conv(c1, 2 * self.c)
        self.cv2 = Conv(2 * self.c, c1)
        self.m = nn.Sequential(*(PSABlock(self.c, max(self.c // 64, 1)) for _ in range(n)))

    def forward(self, x):
        a, b = self.cv1(x).split((self.c, self.c), 1)
        return self.cv2(torch.cat((a, self.m(b)), 1))


class DFL(nn.Module):
    """Holds 0 … bins-1 as a convolution: the expected distance under a softmax."""

    def __init__(self, bins=REG_MAX):
        super().__init__()
        self.conv = nn.Conv2d(bins, 1, 1, bias=False).requires_grad_(False)
        self.conv.weight.data[:] = torch.arange(bins, dtype=torch.float).view(1, bins, 1, 1)
        self.c1 = bins


def _branch(layers, x):
    """The last convolution always in float32: places must not be rounded to bfloat16 while training."""
    *first, last = layers
    for layer in first:
        x = layer(x)
    with torch.autocast(x.device.type, enabled=False):
        return last(x.to(last.weight.dtype))


class Detect(nn.Module):
    """Per level: 4 * REG_MAX distance bins and nc class scores; subclasses add a third map."""

    extra = 0

    def __init__(self, nc, ch, width=64, class_width=32):
        super().__init__()
        self.nc, self.nl, self.reg_max, self.no = nc, len(ch), REG_MAX, nc + 4 * REG_MAX
        self.stride = torch.tensor([float(s) for s in STRIDES])
        self.cv2 = nn.ModuleList(nn.Sequential(Conv(c, width, 3), Conv(width, width, 3),
                                               nn.Conv2d(width, 4 * REG_MAX, 1)) for c in ch)
        self.cv3 = nn.ModuleList(nn.Sequential(
            nn.Sequential(DWConv(c, c, 3), Conv(c, class_width)),
            nn.Sequential(DWConv(class_width, class_width, 3), Conv(class_width, class_width)),
            nn.Conv2d(class_width, nc, 1)) for c in ch)
        self.dfl = DFL()
        for box, score in zip(self.cv2, self.cv3):
            box[-1].bias.data[:] = 1.0
            score[-1].bias.data[:] = math.log(0.01)

    def add_extra(self, ch, width, count):
        self.cv4 = nn.ModuleList(nn.Sequential(Conv(c, width, 3), Conv(width, width, 3), nn.Conv2d(width, count, 1))
                                 for c in ch)

    def forward(self, x):
        """Raw maps, all levels flattened: distances [B,4*16,A], scores [B,nc,A], extra [B,k,A]."""
        return tuple(torch.cat([_branch(part[i], f).flatten(2) for i, f in enumerate(x)], 2)
                     for part in (self.cv2, self.cv3, self.cv4))


class OBB(Detect):
    def __init__(self, nc, ch, extra_width=32):
        super().__init__(nc, ch)
        self.ne = 1
        self.add_extra(ch, extra_width, 1)


class Pose(Detect):
    def __init__(self, nc, ch, kpt_shape=(5, 3), extra_width=48):
        super().__init__(nc, ch)
        self.kpt_shape = list(kpt_shape)
        self.nk = kpt_shape[0] * kpt_shape[1]
        self.add_extra(ch, extra_width, self.nk)


class _Model(nn.Module):
    """YOLO11's graph. c: widths at strides 2, 4, 8, 16, 32."""

    def __init__(self, head, nc, c=(16, 24, 32, 64, 128), **more):
        super().__init__()
        c1, c2, c3, c4, c5 = c
        layers = [
            (-1, Conv(3, c1, 3, 2)),                      # 0  stride 2
            (-1, Conv(c1, c2, 3, 2)),                     # 1  stride 4
            (-1, C3k2(c2, c3, 1, False, 0.25)),           # 2
            (-1, Conv(c3, c3, 3, 2)),                     # 3  stride 8
            (-1, C3k2(c3, c4, 1, False, 0.25)),           # 4
            (-1, Conv(c4, c4, 3, 2)),                     # 5  stride 16
            (-1, C3k2(c4, c4, 1, True)),                  # 6
            (-1, Conv(c4, c5, 3, 2)),                     # 7  stride 32
            (-1, C3k2(c5, c5, 1, True)),                  # 8
            (-1, SPPF(c5, c5)),                           # 9
            (-1, C2PSA(c5)),                              # 10
            (-1, nn.Upsample(scale_factor=2, mode="nearest")),
            ([-1, 6], Concat()),
            (-1, C3k2(c5 + c4, c4, 1, False)),            # 13
            (-1, nn.Upsample(scale_factor=2, mode="nearest")),
            ([-1, 4], Concat()),
            (-1, C3k2(c4 + c4, c3, 1, False)),            # 16 P3
            (-1, Conv(c3, c3, 3, 2)),
            ([-1, 13], Concat()),
            (-1, C3k2(c3 + c4, c4, 1, False)),            # 19 P4
            (-1, Conv(c4, c4, 3, 2)),
            ([-1, 10], Concat()),
            (-1, C3k2(c4 + c5, c5, 1, True)),             # 22 P5
            ([16, 19, 22], head(nc, (c3, c4, c5), **more)),
        ]
        self.model = nn.Sequential(*(module for _, module in layers))
        for i, (f, module) in enumerate(layers):
            module.i, module.f = i, f
        self.save = sorted({j for f, _ in layers if isinstance(f, list) for j in f if j >= 0})

    def forward(self, x):
        kept = []
        for module in self.model:
            if isinstance(module.f, list):
                x = [x if j == -1 else kept[j] for j in module.f]
            x = module(x)
            kept.append(x if module.i in self.save else None)
        return x


class OBBModel(_Model):
    def __init__(self, nc=3, **more):
        super().__init__(OBB, nc, **more)


class PoseModel(_Model):
    def __init__(self, nc=3, kpt_shape=(5, 3), **more):
        super().__init__(Pose, nc, kpt_shape=kpt_shape, **more)


def anchors(height, width, device):
    """Centres of all cells in pixels [A,2] and their strides [A], level after level, row by row."""
    points, strides = [], []
    for s in STRIDES:
        y, x = torch.meshgrid(torch.arange(height // s, device=device), torch.arange(width // s, device=device),
                              indexing="ij")
        points.append((torch.stack((x, y), -1).view(-1, 2).float() + 0.5) * s)
        strides.append(torch.full((points[-1].shape[0],), float(s), device=device))
    return torch.cat(points), torch.cat(strides)


def distances(box):
    """[B,4*16,A] bins to expected distances [B,A,4] in cells: left, top, right, bottom."""
    b, _, a = box.shape
    bins = torch.arange(REG_MAX, device=box.device, dtype=torch.float32)
    return (box.view(b, 4, REG_MAX, a).float().softmax(2) * bins.view(1, 1, -1, 1)).sum(2).transpose(1, 2)


def decode_boxes(box, points, strides):
    """Corners [B,A,4] in pixels."""
    d = distances(box) * strides.view(1, -1, 1)
    return torch.cat((points - d[..., :2], points + d[..., 2:]), -1)


def decode_angle(extra):
    return (extra[:, 0].float().sigmoid() - 0.25) * math.pi


def decode_rotated(box, angle, points, strides):
    """(cx, cy, w, h, angle) [B,A,5] in pixels."""
    d = distances(box) * strides.view(1, -1, 1)
    half = (d[..., 2:] - d[..., :2]) / 2
    cos, sin = angle.cos(), angle.sin()
    x = half[..., 0] * cos - half[..., 1] * sin + points[:, 0]
    y = half[..., 0] * sin + half[..., 1] * cos + points[:, 1]
    size = d[..., :2] + d[..., 2:]
    return torch.cat((x.unsqueeze(-1), y.unsqueeze(-1), size, angle.unsqueeze(-1)), -1)


def decode_keypoints(extra, points, strides):
    """[B,A,K,3]: x, y in pixels, visibility as a logit."""
    b, n, a = extra.shape
    k = extra.float().view(b, n // 3, 3, a).permute(0, 3, 1, 2)
    s = strides.view(1, -1, 1, 1)
    xy = (k[..., :2] * 2.0 - 0.5) * s + points.view(1, -1, 1, 2)
    return torch.cat((xy, k[..., 2:]), -1)
