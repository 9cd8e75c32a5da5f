/* SPDX-License-Identifier: Apache-2.0 */
/* A view that looks at this machine when it is opened, and again when asked. */
import {h, fill} from './dom.js';
import {problem} from './notices.js';
import {t} from './texts.js';

/* look(fresh): asks, and answers what to show; more: below the list. */
export function checkup(main, {title, why, kind, look, more}) {
    const list = h('div', {class: kind, 'aria-live': 'polite'});
    const again = h('button', {type: 'button', class: 'main', onclick: () => go(true)}, t('doctor.again'));
    let gone = false;
    async function go(fresh) {
        again.disabled = true;
        list.setAttribute('aria-busy', 'true');
        if (!list.children.length) fill(list, h('p', {class: 'dim'}, t('doctor.testing')));
        try {
            const found = await look(fresh);
            if (!gone) fill(list, found);
        } catch (error) {
            fill(list, problem(error));
        }
        again.disabled = false;
        list.removeAttribute('aria-busy');
    }
    main.append(h('div', {class: 'page'}, h('div', {class: 'head'}, h('div', {class: 'grow'}, h('h1', null, title), h('p', {class: 'dim'}, why)), again), list, more));
    go(false);
    return () => { gone = true; };
}
