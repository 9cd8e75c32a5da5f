/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of interest, in the words of --roi: "x1,y1,x2,y2" a rectangle, more points a polygon, "circle:x,y,r"; "!" in
 * front leaves one out. Read, written and drawn here. */
import {along} from './draw.js';

export function read_region(text) {
    let rest = text.trim();
    const out = rest.startsWith('!');
    if (out) rest = rest.slice(1).trim();
    const circle = rest.startsWith('circle:');
    const numbers = (circle ? rest.slice(7) : rest).split(',').map((s) => s.trim() === '' ? NaN : Number(s));
    if (numbers.some((v) => !Number.isFinite(v))) return null;
    if (circle) return numbers.length === 3 && numbers[2] > 0 ? {kind: 'circle', out, numbers} : null;
    if (numbers.length === 4) return numbers[0] !== numbers[2] && numbers[1] !== numbers[3] ? {kind: 'rectangle', out, numbers} : null;
    return numbers.length >= 6 && numbers.length % 2 === 0 ? {kind: 'polygon', out, numbers} : null;
}

export function write_region({kind, out, numbers}) {
    return `${out ? '!' : ''}${kind === 'circle' ? 'circle:' : ''}${numbers.map((v) => Math.round(v)).join(',')}`;
}

const pairs = (numbers) => numbers.reduce((list, v, i) => (i % 2 ? list.at(-1).push(v) : list.push([v]), list), []);

function trace(c, {kind, numbers}) {
    if (kind === 'circle') c.arc(numbers[0], numbers[1], numbers[2], 0, 7), c.closePath();
    else if (kind === 'rectangle') c.rect(numbers[0], numbers[1], numbers[2] - numbers[0], numbers[3] - numbers[1]);
    else along(c, pairs(numbers), true);
}

/* What does not count is darkened. */
export function draw_regions(c, regions, width, height, unit) {
    const inside = regions.filter((r) => !r.out);
    c.fillStyle = 'rgba(8, 10, 12, 0.55)';
    if (inside.length) {
        c.beginPath();
        c.rect(0, 0, width, height);
        for (const region of inside) trace(c, region);
        c.fill('evenodd');
    }
    for (const region of regions) {
        c.beginPath();
        trace(c, region);
        if (region.out) c.fill();
        for (const [style, w] of [['rgba(8, 10, 12, 0.8)', 4], [region.out ? '#d55e00' : '#56b4e9', 2]]) {
            c.setLineDash(region.out ? [7 * unit, 5 * unit] : []);
            c.strokeStyle = style;
            c.lineWidth = w * unit;
            c.stroke();
        }
        c.setLineDash([]);
    }
}

/* Draws with a pointer on a player's canvas. shape(): 'rectangle' | 'circle' | 'polygon' | ''. A polygon is ended by a
 * double click or at its first point, Escape gives up. */
export function region_pen(player, shape, done, changed) {
    let from = null;
    let points = [];
    let now = null;
    const canvas = player.canvas;

    function made(at) {
        if (shape() === 'rectangle') {
            const numbers = [Math.min(from[0], at[0]), Math.min(from[1], at[1]), Math.max(from[0], at[0]), Math.max(from[1], at[1])];
            return {kind: 'rectangle', out: false, numbers};
        }
        return {kind: 'circle', out: false, numbers: [...from, Math.hypot(at[0] - from[0], at[1] - from[1])]};
    }

    function finish(region) {
        from = now = null;
        points = [];
        if (region && read_region(write_region(region))) done(region);
        else changed();
    }

    canvas.addEventListener('pointerdown', (event) => {
        if (!shape() || !player.video() || event.button) return;
        event.preventDefault();
        const at = player.point(event);
        if (shape() === 'polygon') {
            const close = points.length > 2 && Math.hypot(at[0] - points[0][0], at[1] - points[0][1]) < player.video().width / 60;
            if (close) finish({kind: 'polygon', out: false, numbers: points.flat()});
            else points.push(at);
        } else {
            from = at;
            canvas.setPointerCapture(event.pointerId);
        }
        changed();
    });
    canvas.addEventListener('pointermove', (event) => {
        if (!from && !points.length) return;
        now = player.point(event);
        changed();
    });
    canvas.addEventListener('pointerup', (event) => { if (from) finish(made(player.point(event))); });
    canvas.addEventListener('dblclick', () => { if (points.length > 3) finish({kind: 'polygon', out: false, numbers: points.slice(0, -1).flat()}); });

    return {
        giveup: () => finish(null),
        draw(c, unit) {
            if (from && now) draw_regions(c, [made(now)], player.video().width, player.video().height, unit);
            if (!points.length) return;
            c.strokeStyle = '#56b4e9';
            c.lineWidth = 2 * unit;
            c.beginPath();
            along(c, now ? [...points, now] : points);
            c.stroke();
            c.fillStyle = '#ffffff';
            for (const p of points) c.fillRect(p[0] - 3 * unit, p[1] - 3 * unit, 6 * unit, 6 * unit);
        },
    };
}
