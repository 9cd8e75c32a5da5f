/* SPDX-License-Identifier: Apache-2.0 */
/* The keypoints of a model and how they hang together: a drawing, and the same as a list. */
import {h, fill} from './dom.js';
import {colour_of} from './palette.js';
import {t} from './texts.js';

/* Places on a circle, neighbours of the skeleton near each other, as far as a walk along the edges goes. */
function order(n, edges) {
    const near = Array.from({length: n}, () => []);
    for (const [a, b] of edges) if (near[a] && near[b]) near[a].push(b), near[b].push(a);
    const seen = [];
    const visit = (i) => { if (!seen.includes(i)) seen.push(i), near[i].forEach(visit); };
    for (let i = 0; i < n; i++) visit(i);
    return seen;
}

function svg(tag, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
}

export function skeleton_panel() {
    const inside = h('div', {class: 'skeleton'});
    const show = (names, edges) => {
        if (!names?.length) return fill(inside, h('p', {class: 'dim small'}, t('skeleton.none')));
        const at = new Map(order(names.length, edges).map((k, i) => {
            const a = 2 * Math.PI * i / names.length - Math.PI / 2;
            return [k, [70 + 52 * Math.cos(a), 70 + 52 * Math.sin(a)]];
        }));
        const picture = svg('svg', {viewBox: '0 0 140 140', role: 'img', 'aria-label': t('skeleton.label', {n: names.length, m: edges.length})});
        for (const [a, b] of edges) {
            if (!at.has(a) || !at.has(b)) continue;
            picture.append(svg('line', {x1: at.get(a)[0], y1: at.get(a)[1], x2: at.get(b)[0], y2: at.get(b)[1], class: 'bone'}));
        }
        names.forEach((_, k) => {
            const [x, y] = at.get(k);
            picture.append(svg('circle', {cx: x, cy: y, r: 6, fill: colour_of(k), class: 'joint'}));
            const text = svg('text', {x, y: y + 3, 'text-anchor': 'middle', class: 'joint_number'});
            text.textContent = k;
            picture.append(text);
        });
        return fill(inside, picture, h('ol', {start: 0, class: 'small joints'}, names.map((name, k) => h('li', {value: k}, name))));
    };
    show([], []);
    return {element: inside, show};
}
