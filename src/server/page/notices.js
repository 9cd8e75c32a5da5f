/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that come and go lie over the page, so that nothing moves, and are read aloud. */
import {h, fill} from './dom.js';
import {t} from './texts.js';

const live = () => document.getElementById('live');

export function announce(text) {
    live().textContent = '';
    requestAnimationFrame(() => { live().textContent = text; });
}

/* kind: '' | 'warn' | 'bad'. Warnings and errors stay until they are closed. */
export function notice(text, {kind = '', hint = '', action = null} = {}) {
    const box = document.getElementById('notices');
    const close = () => note.remove();
    const note = h('div', {class: `note ${kind}`},
        h('div', null, h('div', null, text), hint && h('div', {class: 'remedy dim'}, hint),
            action && h('button', {type: 'button', class: 'small', onclick: () => { close(); action.run(); }}, action.text)),
        h('button', {type: 'button', class: 'icon plain small', 'aria-label': t('close'), onclick: close}, '×'));
    for (const old of [...box.children]) if (old.firstChild.firstChild.textContent === text) old.remove();
    while (box.children.length > 3) box.firstChild.remove();
    box.append(note);
    announce(hint ? `${text} ${hint}` : text);
    if (!kind) setTimeout(close, 8000);
    return close;
}

export function complain(error) {
    if (error?.name === 'AbortError') return;
    notice(error?.message ?? String(error), {kind: 'bad', hint: error?.hint});
}

/* An error where it belongs: a block in the page. */
export function problem(error) {
    return h('div', {class: 'note bad', role: 'alert'}, h('div', null, error.message), error.hint && h('pre', {class: 'remedy mono'}, error.hint));
}

export function waiting(element, text = t('waiting')) {
    return fill(element, h('p', {class: 'dim'}, text));
}
