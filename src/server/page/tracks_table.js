/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of a run: who is shown, who is chosen, where each begins. */
import {h, fill} from './dom.js';
import {colour_of} from './palette.js';
import {t} from './texts.js';
import {number_text} from './words.js';

export const track_name = (track) => track.name ? `${track.id} ${track.name}` : String(track.id);

export function swatch(id) {
    const dot = h('span', {class: 'swatch', 'aria-hidden': 'true'});
    dot.style.backgroundColor = colour_of(id);
    return dot;
}

/* hidden: Set of ids; choose(track) is called when one is picked, changed() when one is shown or hidden */
export function tracks_table({hidden, choose, changed}) {
    const body = h('tbody');
    const empty = h('p', {class: 'dim small'}, t('tracks.none'));
    const heads = ['show', 'id', 'first', 'last', 'seen', 'distance', 'speed'];
    const table = h('table', {'aria-label': t('tracks.title')}, h('thead', null, h('tr', null, heads.map((k) =>
        h('th', {scope: 'col', class: ['show', 'id'].includes(k) ? '' : 'number'}, t(`tracks.${k}`))))), body);
    let chosen = null;

    function row(track) {
        const box = h('input', {type: 'checkbox', checked: !hidden.has(track.id), 'aria-label': t('tracks.show_one', {id: track.id}), onchange: () => {
            if (box.checked) hidden.delete(track.id);
            else hidden.add(track.id);
            changed();
        }});
        const pick = h('button', {type: 'button', class: 'small plain', onclick: () => choose(track)}, swatch(track.id), track_name(track));
        const life = track.last - track.first + 1;
        return h('tr', {'aria-selected': String(track.id === chosen), data: {track: track.id}}, h('td', null, box), h('td', null, pick),
            h('td', {class: 'number'}, track.first), h('td', {class: 'number'}, track.last),
            h('td', {class: 'number'}, t('tracks.share', {share: number_text(100 * track.seen / Math.max(1, life), 0)})),
            h('td', {class: 'number'}, number_text(track.distance, 0)), h('td', {class: 'number'}, number_text(track.speed)));
    }

    return {
        element: h('div', {class: 'scroll tall'}, empty, table),
        show(tracks, pick) {
            chosen = pick;
            empty.hidden = tracks.length > 0;
            table.hidden = !tracks.length;
            const focused = document.activeElement?.closest?.('tr')?.dataset.track;
            const part = document.activeElement?.tagName;
            fill(body, tracks.slice(0, 500).map(row));
            if (focused && !document.activeElement?.closest?.('tr')) body.querySelector(`tr[data-track="${focused}"] ${part === 'INPUT' ? 'input' : 'button'}`)?.focus();
        },
    };
}
