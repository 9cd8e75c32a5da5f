/* SPDX-License-Identifier: Apache-2.0 */
/* One path: typed, dropped, taken from the recent ones or from the browser, and looked at as soon as it is there. */
import {h, fill, fresh_id} from './dom.js';
import {api} from './api.js';
import {browse} from './file_browser.js';
import {remember} from './recent.js';
import {t} from './texts.js';
import {facts_text} from './words.js';

/* What a drop says: a path where the desktop tells one, else the file's name. */
export function dropped(event) {
    const text = event.dataTransfer.getData('text/uri-list') || event.dataTransfer.getData('text/plain');
    const line = text.split(/\r?\n/).find((l) => l && !l.startsWith('#'))?.trim();
    const path = cleaned(line ?? '');
    if (path.startsWith('/')) return {path};
    return {name: event.dataTransfer.files[0]?.name ?? ''};
}

/* What people paste: a path in quotes, as file managers copy it, or as an address. */
export function cleaned(text) {
    const bare = text.trim().replace(/^(["'])(.*)\1$/s, '$2').trim();
    if (!/^file:\/\//i.test(bare)) return bare;
    try {
        return decodeURIComponent(new URL(bare).pathname);
    } catch {
        return bare;
    }
}

/* wants: kinds of files; unfit(facts): why it cannot be this one after all, or null; recent(): paths; topic(): which images of the bag that is there from the beginning; onfacts(facts | null, path) */
export function path_field({label, why, title, wants, unfit, recent, value, topic, onfacts}) {
    const id = fresh_id('path');
    const names = h('datalist', {id: `${id}_list`});
    const input = h('input', {type: 'text', id, value, list: names.id, spellcheck: 'false', autocomplete: 'off', 'aria-describedby': `${id}_facts`, placeholder: t('path.placeholder')});
    const facts = h('div', {class: 'facts small dim', id: `${id}_facts`, role: 'status'}, why);
    const button = h('button', {type: 'button', onclick: () => open_browser('')}, t('path.browse'));
    const element = h('div', {class: 'field path'}, h('label', {htmlFor: id}, label),
        h('div', {class: 'row tight'}, h('div', {class: 'grow'}, input), button), names, facts);
    let looking = null;
    let known = null;

    async function look(chosen = true) {
        looking?.abort();
        const mine = looking = new AbortController();
        const path = cleaned(input.value);
        if (path !== input.value.trim()) input.value = path;
        known = null;
        facts.classList.remove('wrong');
        input.removeAttribute('aria-invalid');
        if (!path) {
            fill(facts, why);
            onfacts(null, '');
            return;
        }
        fill(facts, t('path.looking'));
        try {
            const found = await api.probe(path, mine.signal, path === value ? topic?.() : undefined);
            if (mine.signal.aborted) return;
            if (!wants.includes(found.kind)) throw new Error(t('path.other', {wanted: wants.map((w) => t(`kind.${w}`)).join(', '), kind: t(`kind.${found.kind}`)}));
            const lack = unfit?.(found);
            if (lack) throw new Error(lack);
            known = found;
            fill(facts, facts_text(found));
            onfacts(found, path);
            if (chosen) remember(path);
        } catch (error) {
            if (error.name === 'AbortError') return;
            facts.classList.add('wrong');
            input.setAttribute('aria-invalid', 'true');
            fill(facts, error.message, error.hint && h('div', {class: 'remedy dim'}, error.hint));
            onfacts(null, path);
        }
    }

    /* Of a long path the end says more. */
    function show(path) {
        input.value = path;
        requestAnimationFrame(() => { if (document.activeElement !== input) input.scrollLeft = input.scrollWidth; });
    }

    function set(path) {
        show(path);
        return look();
    }

    function open_browser(name) {
        const folder = input.value.includes('/') ? input.value.replace(/\/[^/]*$/, '') : '';
        browse({title, wants, recent: recent(), start: folder, name, then: (path) => { set(path); input.focus(); }});
    }

    input.addEventListener('change', () => look());
    input.addEventListener('focus', () => fill(names, recent().map((path) => h('option', {value: path}))));
    element.addEventListener('dragover', (event) => { event.preventDefault(); element.classList.add('over'); });
    element.addEventListener('dragleave', () => element.classList.remove('over'));
    element.addEventListener('drop', (event) => {
        event.preventDefault();
        event.stopPropagation();
        element.classList.remove('over');
        const {path, name} = dropped(event);
        if (path) set(path);
        else open_browser(name);
    });
    input.addEventListener('blur', () => { input.scrollLeft = input.scrollWidth; });
    if (value) {
        show(value);
        look(false);
    }
    return {element, set, look, open_browser, show, value: () => input.value.trim(), facts: () => known,
        disable(on) { input.disabled = button.disabled = on; }};
}
