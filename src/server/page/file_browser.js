/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the machine that skitter runs on, in the folders it may see; recent ones first. */
import {h, fill} from './dom.js';
import {api} from './api.js';
import {show_dialog} from './dialog.js';
import {problem, waiting} from './notices.js';
import {t} from './texts.js';
import {bytes_text} from './words.js';

const signs = {folder: '▸', video: '▶', images: '▦', image: '▦', model: '◆', run: '✓', config: '≡', other: '·'};
let last_folder = '';

function item(entry, choose) {
    return h('button', {type: 'button', class: 'entry', data: {kind: entry.kind}, onclick: () => choose(entry)},
        h('span', {class: 'sign', 'aria-hidden': 'true'}, signs[entry.kind] ?? '·'),
        h('span', {class: 'grow'}, entry.name),
        h('span', {class: 'dim small'}, t(`kind.${entry.kind}`)),
        h('span', {class: 'dim small bytes'}, entry.kind === 'folder' ? '' : bytes_text(entry.bytes)));
}

/* Arrow keys walk through the list. */
function walk(event, list) {
    const all = [...list.querySelectorAll('button')];
    const at = all.indexOf(document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[event.key];
    if (at < 0 || to === undefined || !all[to]) return;
    event.preventDefault();
    all[to].focus();
}

/* wants: kinds that may be chosen; recent: paths; `then` gets the path. */
export function browse({title, wants, recent = [], start = '', name = '', then}) {
    const where = h('input', {type: 'text', 'aria-label': t('files.where'), spellcheck: 'false', autocomplete: 'off'});
    const filter = h('input', {type: 'search', value: name, placeholder: t('files.filter'), 'aria-label': t('files.filter')});
    const list = h('div', {class: 'entries', role: 'group', 'aria-label': t('files.entries'), onkeydown: (e) => walk(e, list)});
    const here = h('button', {type: 'button', onclick: () => finish(where.value)}, t('files.this_folder'));
    const folders_count = wants.some((kind) => ['folder', 'images', 'run', 'model'].includes(kind));
    const all = check_all();
    let entries = [];
    let parent = null;

    function check_all() {
        const input = h('input', {type: 'checkbox', onchange: () => draw()});
        const whole = h('label', {class: 'check'}, input, t('files.all'));
        whole.input = input;
        return whole;
    }

    function finish(path) {
        dialog.close();
        then(path);
    }

    function choose(entry) {
        if (entry.kind !== 'folder' && wants.includes(entry.kind)) finish(entry.path);
        else if (entry.kind === 'folder' || entry.kind === 'run' || entry.kind === 'images') go(entry.path);
        else finish(entry.path);
    }

    function draw() {
        const word = filter.value.trim().toLowerCase();
        const fits = (e) => (all.input.checked || e.kind === 'folder' || wants.includes(e.kind)) && (!word || e.name.toLowerCase().includes(word));
        const shown = entries.filter(fits);
        fill(list, parent !== null && item({name: t('files.up'), path: parent, kind: 'folder'}, choose),
            shown.map((e) => item(e, choose)),
            !shown.length && h('p', {class: 'dim small'}, entries.length ? t('files.none_fit') : t('files.empty')));
    }

    async function go(path) {
        waiting(list);
        try {
            const answer = await api.files(path);
            entries = answer.entries;
            parent = answer.parent ?? null;
            where.value = last_folder = answer.path;
            here.disabled = !answer.path;
            draw();
            if (document.activeElement === document.body) list.querySelector('button')?.focus();
        } catch (error) {
            fill(list, problem(error));
        }
    }

    where.addEventListener('change', () => go(where.value));
    filter.addEventListener('input', draw);
    filter.addEventListener('keydown', (e) => { if (e.key === 'ArrowDown') { e.preventDefault(); list.querySelector('button')?.focus(); } });
    const dialog = show_dialog(title, h('div', {class: 'stack tight'},
        recent.length ? h('div', {class: 'stack tight'}, h('h3', null, t('files.recent')),
            h('div', {class: 'recent'}, recent.slice(0, 4).map((path) => h('button', {type: 'button', class: 'small mono', title: path, onclick: () => finish(path)}, path)))) : null,
        h('div', {class: 'row'}, h('div', {class: 'grow'}, where), h('div', {class: 'grow'}, filter)), list,
        h('div', {class: 'row'}, all, folders_count && here)));
    go(start || last_folder);
    return dialog;
}
