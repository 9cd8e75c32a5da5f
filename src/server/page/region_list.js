/* SPDX-License-Identifier: Apache-2.0 */
/* The regions of interest as a list that can be typed, beside the pen that draws them. */
import {h, fill, segments} from './dom.js';
import {read_region, write_region, region_pen, draw_regions} from './regions.js';
import {t} from './texts.js';

/* regions: array of texts, changed in place */
export function region_list(player, regions, onchange) {
    let shape = '';
    const list = h('ul', {class: 'plain stack tight'});
    const shapes = segments('shape', t('roi.draw'), [['', t('roi.none')], ['rectangle', t('roi.rectangle')], ['circle', t('roi.circle')], ['polygon', t('roi.polygon')]], '', (v) => {
        shape = v;
        player.canvas.classList.toggle('drawing', !!v);
    });
    const pen = region_pen(player, () => shape, (region) => { regions.push(write_region(region)); changed(); }, () => player.redraw());

    function changed() {
        draw();
        player.redraw();
        onchange();
    }

    function row(text, i) {
        const input = h('input', {type: 'text', class: 'mono', value: text, 'aria-label': t('roi.region', {n: i + 1}), onchange: () => {
            const region = read_region(input.value);
            input.setAttribute('aria-invalid', String(!region));
            if (!region) return;
            regions[i] = write_region(region);
            changed();
        }});
        const out = h('input', {type: 'checkbox', checked: text.startsWith('!'), onchange: () => {
            regions[i] = out.checked ? `!${text.replace(/^!/, '')}` : text.replace(/^!/, '');
            changed();
        }});
        return h('li', {class: 'row tight'}, h('div', {class: 'grow'}, input), h('label', {class: 'check small'}, out, t('roi.leave_out')),
            h('button', {type: 'button', class: 'icon small', 'aria-label': t('roi.remove', {n: i + 1}), onclick: () => { regions.splice(i, 1); changed(); }}, '×'));
    }

    function add() {
        const v = player.video();
        const [w, high] = v ? [v.width, v.height] : [640, 480];
        regions.push(write_region({kind: 'rectangle', out: false, numbers: [w * 0.1, high * 0.1, w * 0.9, high * 0.9]}));
        changed();
        list.querySelector('li:last-child input').focus();
    }

    function draw() {
        fill(list, regions.map(row), !regions.length && h('li', {class: 'dim small'}, t('roi.whole')));
    }

    draw();
    return {
        element: h('div', {class: 'stack'}, h('p', {class: 'dim small'}, t('roi.why')), shapes, list,
            h('div', null, h('button', {type: 'button', onclick: add}, t('roi.add'))), h('p', {class: 'dim small'}, t('roi.words'))),
        giveup: pen.giveup,
        /* The list was changed elsewhere. */
        again() {
            draw();
            player.redraw();
        },
        draw(c, unit) {
            const v = player.video();
            draw_regions(c, regions.map(read_region).filter(Boolean), v.width, v.height, unit);
            pen.draw(c, unit);
        },
    };
}
