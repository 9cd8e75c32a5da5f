/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the whole page and of the view that is open; "?" lists them. */
import {h} from './dom.js';
import {show_dialog} from './dialog.js';
import {t} from './texts.js';

const everywhere = [];
let of_view = [];

/* keys: [{key: 'g', text: t('…'), run, shown: 'G'}] */
export function keys_everywhere(keys) {
    everywhere.push(...keys);
}

export function keys_of_view(keys) {
    of_view = keys;
    return () => { if (of_view === keys) of_view = []; };
}

function list(keys) {
    return h('table', null, keys.filter((k) => k.text).map((k) =>
        h('tr', null, h('td', null, (k.shown ?? k.key).split(' ').map((part) => [h('kbd', null, part), ' '])), h('td', null, k.text))));
}

export function show_shortcuts() {
    show_dialog(t('keys.title'), h('div', {class: 'stack'},
        h('h3', null, t('keys.everywhere')), list(everywhere),
        of_view.length ? [h('h3', null, t('keys.here')), list(of_view)] : null,
        h('p', {class: 'dim small'}, t('keys.more'))));
}

/* Typing is never taken for a shortcut; a range or a button keeps the keys that it uses itself. */
function takes_keys(element, key) {
    if (element.closest('input:not([type=checkbox], [type=radio], [type=range]), select, textarea, [contenteditable]')) return true;
    if (element.matches('input[type=radio], [role=tab], [role=option]')) return key.startsWith('Arrow') || key === ' ';
    if (element.matches('input[type=range]')) return key.startsWith('Arrow') || ['Home', 'End', 'PageUp', 'PageDown'].includes(key);
    return element.matches('button, a, summary, input') && (key === ' ' || key === 'Enter');
}

document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]') || takes_keys(event.target, event.key)) return;
    const found = [...of_view, ...everywhere].find((k) => k.key === event.key && !k.shift === !(event.shiftKey && event.key.length > 1));
    if (!found) return;
    event.preventDefault();
    found.run(event);
});
