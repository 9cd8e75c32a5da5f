/* SPDX-License-Identifier: Apache-2.0 */
/* Troubleshooting: the three questions, answered by looking at this machine now. */
import {h} from './dom.js';
import {api} from './api.js';
import {checkup} from './checkup.js';
import {pipelines_in_use} from './runtimes.js';
import {t} from './texts.js';

function finding(f) {
    return h('li', {class: 'finding'}, h('span', {class: `state ${f.ok ? 'good' : 'warn'}`}, f.ok ? t('trouble.fine') : t('trouble.look')),
        h('div', null, h('div', null, f.text), f.remedy && h('pre', {class: 'remedy mono'}, f.remedy)));
}

function question(q, open) {
    return h('details', {class: 'card', open, data: {question: q.id}}, h('summary', null, h('h2', {class: 'inline'}, q.question)),
        h('p', null, q.answer), h('ul', {class: 'plain stack tight'}, (q.findings ?? []).map(finding)));
}

export function open_troubleshooting(main) {
    return checkup(main, {title: t('trouble.title'), why: t('trouble.why'), kind: 'stack',
        look: async (fresh) => (await api.troubleshooting(pipelines_in_use(), fresh)).questions.map((q) => question(q, true)),
        more: h('p', {class: 'dim small'}, t('trouble.more'), ' ', h('a', {href: '#/doctor'}, t('place.doctor')))});
}
