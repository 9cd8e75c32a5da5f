# SPDX-License-Identifier: Apache-2.0
"""Losses for the two YOLO-shaped models, from the papers: task-aligned assignment (TOOD), distribution focal loss (GFL),
complete IoU, Gaussian overlap of rotated boxes (ProbIoU), keypoint similarity (COCO's OKS). Shapes are fixed and nothing
waits for the device: B pictures, M animals (padded), A anchors."""
import math

import torch
import torch.nn.functional as F

import yolo

TOP, ALPHA, BETA = 10, 0.5, 6.0


def ciou(a, b):
    """Corners [...,4] each."""
    x1, y1 = torch.maximum(a[..., 0], b[..., 0]), torch.maximum(a[..., 1], b[..., 1])
    x2, y2 = torch.minimum(a[..., 2], b[..., 2]), torch.minimum(a[..., 3], b[..., 3])
    inter = (x2 - x1).clamp(min=0) * (y2 - y1).clamp(min=0)
    aw, ah, bw, bh = a[..., 2] - a[..., 0], a[..., 3] - a[..., 1], b[..., 2] - b[..., 0], b[..., 3] - b[..., 1]
    iou = inter / (aw * ah + bw * bh - inter + 1e-7)
    cw = torch.maximum(a[..., 2], b[..., 2]) - torch.minimum(a[..., 0], b[..., 0])
    ch = torch.maximum(a[..., 3], b[..., 3]) - torch.minimum(a[..., 1], b[..., 1])
    centre = ((a[..., 0] + a[..., 2] - b[..., 0] - b[..., 2]) ** 2 +
              (a[..., 1] + a[..., 3] - b[..., 1] - b[..., 3]) ** 2) / 4
    v = (torch.atan(bw / (bh + 1e-7)) - torch.atan(aw / (ah + 1e-7))) ** 2 * (4 / math.pi ** 2)
    with torch.no_grad():
        weight = v / (v - iou + 1 + 1e-7)
    return iou - centre / (cw ** 2 + ch ** 2 + 1e-7) - weight * v


def _covariance(box):
    w, h, t = box[..., 2] ** 2 / 12, box[..., 3] ** 2 / 12, box[..., 4]
    c, s = t.cos(), t.sin()
    return w * c * c + h * s * s, w * s * s + h * c * c, (w - h) * c * s


def probiou(p, q):
    """One minus the Hellinger distance of the boxes' Gaussians; (cx, cy, w, h, angle) [...,5] each."""
    a1, b1, c1 = _covariance(p)
    a2, b2, c2 = _covariance(q)
    a, b, c = a1 + a2, b1 + b2, c1 + c2
    dx, dy = p[..., 0] - q[..., 0], p[..., 1] - q[..., 1]
    det = (a * b - c * c).clamp(min=1e-6)
    far = 0.25 * (a * dy * dy + b * dx * dx - 2 * c * dx * dy) / det
    d1, d2 = (a1 * b1 - c1 * c1).clamp(min=1e-6), (a2 * b2 - c2 * c2).clamp(min=1e-6)
    shape = 0.5 * torch.log(det / (4 * (d1 * d2).sqrt()) + 1e-7)
    bd = (far + shape).clamp(1e-6, 100)
    return 1 - (1 - torch.exp(-bd) + 1e-7).sqrt()


@torch.no_grad()
def assign(scores, overlap, inside, classes, real):
    """scores [B,A,nc] after the sigmoid, overlap and inside [B,M,A], classes [B,M], real [B,M].
    Gives for every anchor its animal [B,A], whether it has one, and the score it should reach."""
    b, m, a = overlap.shape
    picked = scores.transpose(1, 2).gather(1, classes.clamp(min=0).unsqueeze(-1).expand(b, m, a))
    overlap = overlap.clamp(min=0) * inside
    align = picked.clamp(min=1e-6) ** ALPHA * overlap ** BETA * real.unsqueeze(-1)
    best = align.topk(TOP, dim=-1)
    chosen = torch.zeros_like(align).scatter_(-1, best.indices, (best.values > 1e-9).to(align.dtype))
    # an anchor chosen by several goes to the one it overlaps most
    rival = torch.where(chosen > 0, overlap, torch.full_like(overlap, -1))
    owner = rival.argmax(1)
    chosen = chosen * F.one_hot(owner, m).transpose(1, 2)
    positive = chosen.sum(1) > 0
    align = align * chosen
    top_align, top_overlap = align.amax(-1, keepdim=True), (overlap * chosen).amax(-1, keepdim=True)
    wanted = (align * top_overlap / (top_align + 1e-9)).sum(1)
    return owner, positive, wanted


def _distance_loss(box, target):
    """box [B,64,A] logits, target [B,A,4] in cells."""
    b, _, a = box.shape
    target = target.clamp(0, yolo.REG_MAX - 1 - 0.01)
    left = target.floor().long()
    right_weight = target - left
    logits = box.view(b, 4, yolo.REG_MAX, a).permute(0, 3, 1, 2).float().log_softmax(-1)
    low = logits.gather(-1, left.unsqueeze(-1)).squeeze(-1)
    high = logits.gather(-1, (left + 1).unsqueeze(-1)).squeeze(-1)
    return -(low * (1 - right_weight) + high * right_weight).mean(-1)


def _pick(values, owner):
    """values [B,M,...] by animal [B,A]: [B,A,...]."""
    index = owner.view(*owner.shape, *([1] * (values.dim() - 2))).expand(*owner.shape, *values.shape[2:])
    return values.gather(1, index)


def _class_loss(score, owner, positive, wanted, classes, norm):
    target = F.one_hot(_pick(classes, owner).clamp(min=0), score.shape[1]).float() * (wanted * positive).unsqueeze(-1)
    return F.binary_cross_entropy_with_logits(score.float().transpose(1, 2), target, reduction="sum") / norm


def obb_loss(out, labels, points, strides):
    """labels: classes [B,M], real [B,M], obb [B,M,5] in pixels."""
    box, score, extra = out
    angle = yolo.decode_angle(extra)
    pred = yolo.decode_rotated(box, angle, points, strides)
    truth = labels["obb"]
    c, s = truth[..., 4].cos().unsqueeze(-1), truth[..., 4].sin().unsqueeze(-1)
    dx, dy = points[:, 0] - truth[..., 0:1], points[:, 1] - truth[..., 1:2]
    u, v = dx * c + dy * s, dy * c - dx * s
    inside = ((u.abs() < truth[..., 2:3] / 2) & (v.abs() < truth[..., 3:4] / 2)).float()
    with torch.no_grad():
        overlap = probiou(truth.unsqueeze(2), pred.detach().unsqueeze(1))
    owner, positive, wanted = assign(score.detach().float().sigmoid().transpose(1, 2), overlap, inside,
                                     labels["classes"], labels["real"])
    norm = wanted.sum().clamp(min=1)
    mine = _pick(truth, owner)
    weight = wanted * positive
    loss_box = ((1 - probiou(pred, mine)) * weight).sum() / norm
    # the frame of the distances: of the two equal ones that differ by half a turn, the one nearer to the prediction
    turn = angle.detach() - mine[..., 4]
    flip = torch.where(turn.cos() < 0, -1.0, 1.0)
    c, s = mine[..., 4].cos() * flip, mine[..., 4].sin() * flip
    dx, dy = mine[..., 0] - points[:, 0], mine[..., 1] - points[:, 1]
    centre = torch.stack((dx * c + dy * s, dy * c - dx * s), -1)
    half = mine[..., 2:4] / 2
    target = torch.cat((half - centre, half + centre), -1) / strides.view(1, -1, 1)
    loss_dfl = (_distance_loss(box, target) * weight).sum() / norm
    slim = (1 - mine[..., 3] / mine[..., 2].clamp(min=1e-3)).clamp(0, 1)  # a square has no direction
    loss_angle = ((1 - torch.cos(2 * (angle - mine[..., 4]))) * slim * weight).sum() / norm
    loss_class = _class_loss(score, owner, positive, wanted, labels["classes"], norm)
    return {"box": 7.5 * loss_box, "dfl": 1.5 * loss_dfl, "angle": 2.0 * loss_angle, "class": 0.5 * loss_class}


def pose_loss(out, labels, points, strides):
    """labels: classes, real, box [B,M,4] corners, keypoints [B,M,K,2], seen [B,M,K] 0..2, length [B,M]; pixels."""
    box, score, extra = out
    pred = yolo.decode_boxes(box, points, strides)
    truth = labels["box"]
    inside = ((points[:, 0] > truth[..., 0:1]) & (points[:, 0] < truth[..., 2:3]) &
              (points[:, 1] > truth[..., 1:2]) & (points[:, 1] < truth[..., 3:4])).float()
    with torch.no_grad():
        overlap = ciou(truth.unsqueeze(2), pred.detach().unsqueeze(1))
    owner, positive, wanted = assign(score.detach().float().sigmoid().transpose(1, 2), overlap, inside,
                                     labels["classes"], labels["real"])
    norm = wanted.sum().clamp(min=1)
    weight = wanted * positive
    mine = _pick(truth, owner)
    loss_box = ((1 - ciou(pred, mine)) * weight).sum() / norm
    target = torch.cat((points - mine[..., :2], mine[..., 2:] - points), -1) / strides.view(1, -1, 1)
    loss_dfl = (_distance_loss(box, target) * weight).sum() / norm
    k = yolo.decode_keypoints(extra, points, strides)
    want, seen = _pick(labels["keypoints"], owner), _pick(labels["seen"], owner)
    length = _pick(labels["length"].unsqueeze(-1), owner)
    away = ((k[..., :2] - want) ** 2).sum(-1)
    similarity = 1 - torch.exp(-away / (2 * (0.03 * length) ** 2))
    plain = (away + 1e-4).sqrt() / length
    counts = (seen == 2).float() + 0.4 * (seen == 1).float()
    per_anchor = ((similarity + 6.0 * plain) * counts).sum(-1) / counts.sum(-1).clamp(min=1)
    loss_points = (per_anchor * weight).sum() / norm
    visible = F.binary_cross_entropy_with_logits(k[..., 2], (seen == 2).float(), reduction="none").mean(-1)
    loss_visible = (visible * weight).sum() / norm
    loss_class = _class_loss(score, owner, positive, wanted, labels["classes"], norm)
    return {"box": 5.0 * loss_box, "dfl": 1.5 * loss_dfl, "points": 10.0 * loss_points, "seen": 0.5 * loss_visible,
            "class": 1.0 * loss_class}
