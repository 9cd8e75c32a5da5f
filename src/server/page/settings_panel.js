/* SPDX-License-Identifier: Apache-2.0 */
/* Where a workspace holds its settings: the command's table is asked for, and its form shown once it is there. */
import {h, fill} from './dom.js';
import {api} from './api.js';
import {settings_form} from './settings_form.js';
import {problem, waiting} from './notices.js';

/* values and sets: what was changed, by name; fits(option): does it mean anything now? */
export function settings_panel(command, values, sets, fits, changed) {
    const holder = h('div');
    let form = null;
    waiting(holder);
    api.settings(command).then((table) => {
        form = settings_form(table, values, sets, fits, changed);
        fill(holder, form.element);
    }).catch((error) => fill(holder, problem(error)));
    return {
        element: h('div', {class: 'card'}, holder),
        /* Other settings mean something now. */
        show: () => form?.show(),
        /* Values were changed elsewhere. */
        again: () => form?.again(),
    };
}
