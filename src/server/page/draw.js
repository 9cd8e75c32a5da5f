/* SPDX-License-Identifier: Apache-2.0 */
/* Animals on a canvas, from their numbers: boxes, headings, skeletons, trails. Lines have a dark rim, so that every
 * colour is seen on every picture. */
import {colour_of, ink_on} from './palette.js';

const rim = 'rgba(8, 10, 12, 0.75)';

function rimmed(c, colour, width, path) {
    c.lineJoin = c.lineCap = 'round';
    for (const [style, w] of [[rim, width * 2], [colour, width]]) {
        c.strokeStyle = style;
        c.lineWidth = w;
        c.beginPath();
        path();
        c.stroke();
    }
}

function disc(c, x, y, r, colour) {
    for (const [style, radius] of [[rim, r * 1.45], [colour, r]]) {
        c.fillStyle = style;
        c.beginPath();
        c.arc(x, y, radius, 0, 7);
        c.fill();
    }
}

export function corners([cx, cy, w, h, angle = 0]) {
    const u = [Math.cos(angle) * w / 2, Math.sin(angle) * w / 2];
    const v = [-Math.sin(angle) * h / 2, Math.cos(angle) * h / 2];
    return [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([a, b]) => [cx + a * u[0] + b * v[0], cy + a * u[1] + b * v[1]]);
}

export function along(c, points, closed) {
    let pen = false;
    for (const p of points) {
        if (p === null) pen = false;
        else if (pen) c.lineTo(p[0], p[1]);
        else c.moveTo(p[0], p[1]), pen = true;
    }
    if (closed) c.closePath();
}

function draw_label(c, text, x, y, unit, colour) {
    c.font = `600 ${12 * unit}px system-ui, sans-serif`;
    const wide = c.measureText(text).width + 8 * unit;
    c.fillStyle = colour;
    c.fillRect(x, y - 16 * unit, wide, 16 * unit);
    c.fillStyle = ink_on(colour);
    c.fillText(text, x + 4 * unit, y - 4 * unit);
}

export const place_of = (one) => Number.isFinite(one.x) && one.x !== null ? [one.x, one.y] : one.box ? [one.box[0], one.box[1]] : null;

/* unit: how many pixels of the frame one of the screen is. */
export function draw_animal(c, one, index, {unit, skeleton, labels = true, chosen = null}) {
    const colour = colour_of(one.track ?? index);
    const width = (one.track !== null && one.track === chosen ? 3.5 : 2) * unit;
    if (one.box) {
        c.setLineDash(one.state === 'covered' ? [6 * unit, 5 * unit] : []);
        rimmed(c, colour, width, () => along(c, corners(one.box), true));
        c.setLineDash([]);
    }
    const points = one.keypoints ?? [];
    for (const [a, b] of skeleton?.edges ?? [])
        if (points[a] && points[b]) rimmed(c, colour, width * 0.8, () => along(c, [points[a], points[b]]));
    points.forEach((p) => { if (p) disc(c, p[0], p[1], 2.6 * unit, colour); });
    const at = place_of(one);
    if (!at) return;
    if (Number.isFinite(one.heading) && one.heading !== null) {
        const long = one.box ? Math.max(one.box[2], one.box[3]) / 2 : 18 * unit;
        const tip = [at[0] + Math.cos(one.heading) * long, at[1] + Math.sin(one.heading) * long];
        rimmed(c, colour, width, () => along(c, [at, tip]));
        disc(c, tip[0], tip[1], 3 * unit, colour);
    } else if (!one.box && !points.length) {
        disc(c, at[0], at[1], 4 * unit, colour);
    }
    if (!labels) return;
    const text = one.track !== null && one.track !== undefined ? String(one.name ?? one.track)
        : [one.label, Number.isFinite(one.score) ? one.score.toFixed(2) : ''].filter(Boolean).join(' ');
    const top = one.box ? corners(one.box).reduce((m, p) => p[1] < m[1] - 0.5 || p[1] < m[1] + 0.5 && p[0] < m[0] ? p : m) : [at[0], at[1] - 8 * unit];
    if (text) draw_label(c, text, top[0], Math.max(16 * unit, top[1] - 3 * unit), unit, colour);
}

/* trails: Map of track → [[x, y] | null], oldest first */
export function draw_trails(c, trails, unit) {
    for (const [track, points] of trails) rimmed(c, colour_of(track), 1.5 * unit, () => along(c, points));
}
