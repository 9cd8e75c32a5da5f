/* SPDX-License-Identifier: Apache-2.0 */
/* Troubleshooting: the three questions, answered by looking at this machine now. */
import {h, fill} from './dom.js';
import {api} from './api.js';
import {pipelines_in_use} from './runtimes.js';
import {problem} from './notices.js';
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
    const list = h('div', {class: 'stack', 'aria-live': 'polite'});
    const again = h('button', {type: 'button', class: 'main', onclick: () => look(true)}, t('doctor.again'));
    let gone = false;
    async function look(fresh) {
        again.disabled = true;
        if (!list.children.length) fill(list, h('p', {class: 'dim'}, t('doctor.testing')));
        try {
            const {questions} = await api.troubleshooting(pipelines_in_use(), fresh);
            if (!gone) fill(list, questions.map((q) => question(q, true)));
        } catch (error) {
            fill(list, problem(error));
        }
        again.disabled = false;
    }
    main.append(h('div', {class: 'page'}, h('div', {class: 'head'}, h('div', {class: 'grow'}, h('h1', null, t('trouble.title')), h('p', {class: 'dim'}, t('trouble.why'))), again), list,
        h('p', {class: 'dim small'}, t('trouble.more'), ' ', h('a', {href: '#/doctor'}, t('place.doctor')))));
    look(false);
    return () => { gone = true; };
}
