/* SPDX-License-Identifier: Apache-2.0 */
/* Moments where two animals may have been mixed up; a click goes there. */
import {h, fill} from './dom.js';
import {swatch} from './tracks_table.js';
import {t} from './texts.js';

export function suspects_list(go) {
    const list = h('ul', {class: 'plain stack tight', 'aria-label': t('suspects.title')});
    return {element: h('div', {class: 'stack'}, h('p', {class: 'dim small'}, t('suspects.why')), h('div', {class: 'scroll tall'}, list)), show(suspects) {
        fill(list, suspects.map((s) => h('li', null, h('button', {type: 'button', class: 'suspect', data: {frame: s.frame}, onclick: () => go(s)},
            h('b', null, t('suspects.at', {frame: s.frame})), h('span', {class: 'row tight'}, (s.tracks ?? []).map((id) => [swatch(id), String(id)])),
            h('span', {class: 'dim small'}, s.text)))), !suspects.length && h('li', {class: 'dim'}, t('suspects.none')));
    }};
}
