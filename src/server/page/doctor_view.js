/* SPDX-License-Identifier: Apache-2.0 */
/* Doctor: every runtime tried by using it, with what would bring back those that do not work. */
import {h, fill} from './dom.js';
import {api} from './api.js';
import {store} from './store.js';
import {announce, problem} from './notices.js';
import {t} from './texts.js';

function card(r) {
    return h('section', {class: 'card doctor', data: {runtime: r.name}},
        h('div', {class: 'row'}, h('h2', {class: 'grow'}, r.label), h('span', {class: `state ${r.available ? 'good' : 'warn'}`}, r.available ? t('doctor.works') : t('doctor.not'))),
        h('p', {class: 'small'}, r.available ? r.meaning : r.because ?? r.probe),
        r.remedy && h('div', {class: 'note'}, h('b', null, t('doctor.remedy')), h('pre', {class: 'remedy mono'}, r.remedy)),
        h('p', {class: 'dim small'}, [r.version, ...(r.devices ?? [])].filter(Boolean).join(' · ')),
        r.library && h('p', {class: 'dim small mono'}, r.library));
}

export function open_doctor(main) {
    const list = h('div', {class: 'doctor_list', 'aria-live': 'polite'});
    const again = h('button', {type: 'button', class: 'main', onclick: () => look(true)}, t('doctor.again'));
    let gone = false;
    async function look(fresh) {
        again.disabled = true;
        list.setAttribute('aria-busy', 'true');
        if (!list.children.length) fill(list, h('p', {class: 'dim'}, t('doctor.testing')));
        try {
            const {runtimes} = await api.doctor(fresh);
            if (gone) return;
            fill(list, [...runtimes].sort((a, b) => Number(b.available) - Number(a.available)).map(card));
            if (fresh) announce(t('doctor.done', {n: runtimes.filter((r) => r.available).length, of: runtimes.length}));
            store.set('runtimes_changed', {});
        } catch (error) {
            fill(list, problem(error));
        }
        again.disabled = false;
        list.removeAttribute('aria-busy');
    }
    main.append(h('div', {class: 'page'}, h('div', {class: 'head'}, h('div', {class: 'grow'}, h('h1', null, t('doctor.title')), h('p', {class: 'dim'}, t('doctor.why'))), again), list));
    look(false);
    return () => { gone = true; };
}
