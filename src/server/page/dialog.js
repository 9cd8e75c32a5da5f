/* SPDX-License-Identifier: Apache-2.0 */
/* A modal dialog: focus stays in it, Escape closes it, and returns to where it was. */
import {h, fresh_id} from './dom.js';
import {t} from './texts.js';

export function show_dialog(title, content, buttons = [], onclose = null) {
    const id = fresh_id('dialog');
    const back = document.activeElement;
    const dialog = h('dialog', {'aria-labelledby': id},
        h('div', {class: 'inside'}, h('h2', {id}, title), content,
            h('div', {class: 'ends'},
                h('button', {type: 'button', onclick: () => dialog.close()}, buttons.length ? t('cancel') : t('close')),
                buttons.map(({text, run, main}) => h('button', {type: 'button', class: main === false ? '' : 'main', onclick: async () => {
                    if (await run() !== false) dialog.close();
                }}, text)))));
    dialog.addEventListener('close', () => {
        dialog.remove();
        onclose?.();
        if (back?.isConnected) back.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
