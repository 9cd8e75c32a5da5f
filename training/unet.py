# SPDX-License-Identifier: Apache-2.0
"""A small U-Net with confidence maps and part affinity fields, in the layout of sleap-nn's checkpoints (docs/sleap.md)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import scenes

SCALE = 0.5      # of the picture the network sees
SIGMA = 2.5      # of a confidence map's peak, pixels of the scaled picture
PAF_SIGMA = 6.0  # of a field around its edge, likewise
CONFMAP_STRIDE, PAF_STRIDE = 2, 4


def _convs(prefix, widths, names):
    layers = {}
    for i, name in enumerate(names):
        layers[f"{prefix}_{name}"] = nn.Conv2d(widths[i], widths[i + 1], 3, padding=1)
        layers[f"{prefix}_{name}_act"] = nn.ReLU(inplace=True)
    block = nn.Module()
    block.blocks = nn.Sequential()
    for name, layer in layers.items():
        block.blocks.add_module(name, layer)
    return block


class UNet(nn.Module):
    """1 channel in; out: confidence maps [B,K,H/2,W/2] and fields [B,2E,H/4,W/4] (edge e: x in 2e, y in 2e + 1)."""

    def __init__(self, filters=16, rate=1.5, max_stride=16):
        super().__init__()
        self.filters, self.rate, self.max_stride = filters, rate, max_stride
        down = int(math.log2(max_stride))
        width = [int(filters * rate ** i) for i in range(down + 1)]
        self.backbone = nn.Module()
        encoder = nn.Module()
        encoder.encoder_stack = nn.ModuleList(
            _convs(f"stack0_enc{i}", (1 if i == 0 else width[i - 1], width[i], width[i]), ("conv0", "conv1"))
            for i in range(down))
        self.backbone.encoders = nn.ModuleList([encoder])
        self.backbone.middle_blocks = nn.ModuleList([
            _convs(f"stack0_enc{down + 1}_middle_expand", (width[-2], width[-1]), ("conv0",)),
            _convs(f"stack0_enc{down + 2}_middle_contract", (width[-1], width[-1]), ("conv0",))])
        decoder = nn.Module()
        stages, x = [], width[-1]
        for i in range(down - 1):
            out, stride = width[down - 1 - i], max_stride >> i
            stages.append(_convs(f"stack0_dec{i}_s{stride}_to_s{stride // 2}", (x + out, out, out),
                                 ("refine_conv0", "refine_conv1")))
            x = out
        decoder.decoder_stack = nn.ModuleList(stages)
        self.backbone.decoders = nn.ModuleList([decoder])
        k, e = len(scenes.KEYPOINTS), len(scenes.EDGES)
        confmaps, pafs = nn.Module(), nn.Module()
        confmaps.MultiInstanceConfmapsHead = nn.Sequential(nn.Conv2d(width[1], k, 1))
        pafs.PartAffinityFieldsHead = nn.Sequential(nn.Conv2d(width[2], 2 * e, 1))
        self.head_layers = nn.ModuleList([confmaps, pafs])
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)
        for head in (confmaps.MultiInstanceConfmapsHead, pafs.PartAffinityFieldsHead):
            head[0].weight.data *= 0.1

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.backbone.encoders[0].encoder_stack):
            x = block.blocks(F.max_pool2d(x, 2) if i else x)
            skips.append(x)
        x = F.max_pool2d(x, 2)
        for block in self.backbone.middle_blocks:
            x = block.blocks(x)
        maps = []
        for i, block in enumerate(self.backbone.decoders[0].decoder_stack):
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = block.blocks(torch.cat((skips[-1 - i], x), 1))
            maps.append(x)
        with torch.autocast(x.device.type, enabled=False):  # the heads in float32, whatever the rest trains in
            return (self.head_layers[0].MultiInstanceConfmapsHead(maps[-1].float()),
                    self.head_layers[1].PartAffinityFieldsHead(maps[-2].float()))


def _grid(height, width, stride, device):
    y, x = torch.meshgrid(torch.arange(height, device=device), torch.arange(width, device=device), indexing="ij")
    return x.float() * stride, y.float() * stride


def targets(points, valid, height, width):
    """points [B,M,K,2] in pixels of the scaled picture, centres at whole numbers; valid [B,M,K] 0 or 1."""
    gx, gy = _grid(height // CONFMAP_STRIDE, width // CONFMAP_STRIDE, CONFMAP_STRIDE, points.device)
    ex = torch.exp(-((gx[0] - points[..., :1]) ** 2) / (2 * SIGMA ** 2)) * valid.unsqueeze(-1)
    ey = torch.exp(-((gy[:, 0] - points[..., 1:]) ** 2) / (2 * SIGMA ** 2))
    confmaps = (ey.unsqueeze(-1) * ex.unsqueeze(-2)).amax(1)
    gx, gy = _grid(height // PAF_STRIDE, width // PAF_STRIDE, PAF_STRIDE, points.device)
    fields = []
    for a, b in scenes.EDGES:  # all animals of an edge at once: [B,M,H,W]
        p, d = points[:, :, a], points[:, :, b] - points[:, :, a]
        length = d.norm(dim=-1, keepdim=True).clamp(min=1e-3)
        ux, uy = (d / length).unsqueeze(-1).unsqueeze(-1).unbind(2)
        rx, ry = gx - p[..., 0, None, None], gy - p[..., 1, None, None]
        along = torch.minimum((rx * ux + ry * uy).clamp(min=0), length.unsqueeze(-1))
        away = (rx - along * ux) ** 2 + (ry - along * uy) ** 2
        weight = torch.exp(-away / (2 * PAF_SIGMA ** 2)) * (valid[:, :, a] * valid[:, :, b])[..., None, None]
        fields += [(weight * ux).sum(1), (weight * uy).sum(1)]
    fields = torch.stack(fields, 1)
    return confmaps, fields


def loss(confmaps, fields, want_confmaps, want_fields):
    """Squared errors; peaks are rare, so they weigh more."""
    c = ((confmaps.float() - want_confmaps) ** 2 * (1 + 12 * want_confmaps)).mean()
    weight = 1 + 4 * want_fields.abs()
    f = ((fields.float() - want_fields) ** 2 * weight).mean()
    return c * 100, f * 20
