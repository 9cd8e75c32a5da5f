/* SPDX-License-Identifier: Apache-2.0 */
/* "Compute runtime": the offered ones to choose from, the others greyed with reason and remedy, locked while a run is on. */
import {h, fill, fresh_id} from './dom.js';
import {store} from './store.js';
import {choose_runtime, runtime_label} from './runtimes.js';
import {t} from './texts.js';

function holder(lock) {
    const where = lock.run ? t('lock.page') : t('lock.terminal');
    return t('lock.by', {name: lock.name, pid: lock.pid, where});
}

export function lock_text(state) {
    return state.locked_by.length ? `${t('lock.locked')} ${state.locked_by.map(holder).join('; ')}. ${t('lock.until')}` : '';
}

function offered(state, name) {
    const locked = state.locked_by.length > 0;
    return state.runtimes.filter((r) => r.allowed).map((r) => h('label', {class: 'runtime'},
        h('input', {type: 'radio', name, value: r.name, checked: r.name === state.effective, disabled: locked,
            onchange: () => choose_runtime(r.name)}),
        h('span', null, h('b', null, r.label), h('span', {class: 'dim small'}, r.meaning))));
}

function refused(state) {
    return state.runtimes.filter((r) => !r.allowed).map((r) => h('li', {class: 'runtime greyed', data: {runtime: r.name}},
        h('span', {class: 'no', 'aria-hidden': 'true'}, '–'),
        h('span', null, h('b', null, r.label),
            h('span', {class: 'small'}, r.because),
            r.remedy && h('span', {class: 'small remedy'}, `${t('runtime.remedy')} ${r.remedy}`))));
}

/* legend: what the place calls it. */
export function runtime_chooser(legend) {
    const name = fresh_id('runtime');
    const list = h('div', {class: 'runtimes'});
    const others = h('ul', {class: 'runtimes others'});
    const summary = h('summary');
    const line = h('p', {class: 'small effective'});
    const lock = h('p', {class: 'note warn lock', role: 'status', hidden: true});
    const told = h('p', {class: 'note warn reset', hidden: true});
    const set = h('fieldset', {class: 'stack tight chooser'}, h('legend', null, legend),
        h('p', {class: 'dim small'}, t('runtime.one')), line, lock, told, list, h('details', {open: true}, summary, others));
    const draw = (state) => {
        const focused = set.contains(document.activeElement) && document.activeElement.value;
        fill(list, offered(state, name));
        fill(others, refused(state));
        summary.textContent = t('runtime.not_offered', {n: others.children.length});
        others.parentElement.hidden = !others.children.length;
        line.textContent = t('runtime.both', {requested: runtime_label(state.saved), effective: runtime_label(state.effective)});
        lock.textContent = lock_text(state);
        lock.hidden = !lock.textContent;
        if (focused) set.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
    };
    const ends = [store.watch('runtimes', draw), store.watch('runtime_notice', (text) => {
        told.textContent = text;
        told.hidden = !text;
    })];
    set.close = () => ends.forEach((end) => end());
    return set;
}
