/* SPDX-License-Identifier: Apache-2.0 */
/* Further videos that the same settings are for, a path a line: each is a run of its own. */
import {h, field, say} from './dom.js';
import {browse} from './file_browser.js';
import {recent_of} from './recent.js';
import {t} from './texts.js';

/* list: paths, changed in place; place(): a folder to begin in */
export function more_videos(list, place, changed) {
    const text = h('textarea', {rows: 3, class: 'mono', spellcheck: 'false', onchange: () => put(text.value.split('\n'))});
    const title = h('summary');

    function put(paths) {
        list.splice(0, list.length, ...new Set(paths.map((path) => path.trim()).filter(Boolean)));
        show();
        changed();
    }

    function show() {
        text.value = list.join('\n');
        say(title, t('more.title', {n: list.length}));
    }

    show();
    return {
        element: h('details', {open: list.length > 0, class: 'more_videos'}, title, h('div', {class: 'stack tight'}, field(t('more.label'), text, t('more.why')),
            h('div', null, h('button', {type: 'button', class: 'small', onclick: () => browse({title: t('track.choose_video'), wants: ['video', 'images'],
                recent: recent_of('videos'), start: place(), then: (path) => put([...list, path])})}, t('more.add'))))),
        again: show,
    };
}
