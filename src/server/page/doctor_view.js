/* SPDX-License-Identifier: Apache-2.0 */
/* Doctor: every runtime tried by using it, with what would bring back those that do not work. */
import {h} from './dom.js';
import {api} from './api.js';
import {store} from './store.js';
import {checkup} from './checkup.js';
import {announce} from './notices.js';
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
    return checkup(main, {title: t('doctor.title'), why: t('doctor.why'), kind: 'doctor_list', async look(fresh) {
        const {runtimes} = await api.doctor(fresh);
        if (fresh) announce(t('doctor.done', {n: runtimes.filter((r) => r.available).length, of: runtimes.length}));
        store.set('runtimes_changed', {});
        return [...runtimes].sort((a, b) => Number(b.available) - Number(a.available)).map(card);
    }});
}
