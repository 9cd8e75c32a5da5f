/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames are looked at, as two numbers that the player's frame can be taken for. Held as --frames has it. */
import {h, fresh_id} from './dom.js';
import {t} from './texts.js';

const plain = /^(\d*):(\d*)$/;

/* values.frames is changed in place */
export function frame_range(player, values, changed) {
    const number = () => h('input', {type: 'number', min: 0, step: 1, id: fresh_id('frame'), onchange: put});
    const first = number();
    const last = number();
    const other = h('p', {class: 'dim small'});

    function put() {
        for (const input of [first, last]) input.setAttribute('aria-invalid', String(!input.checkValidity()));
        if (!first.checkValidity() || !last.checkValidity()) return;
        const end = last.value === '' ? '' : Number(last.value) + 1;
        if (first.value === '' && end === '') delete values.frames;
        else values.frames = `${first.value}:${end}`;
        show();
        changed();
    }

    function show() {
        const said = String(values.frames ?? '');
        const found = said === '' ? ['', '', ''] : plain.exec(said);
        first.value = found?.[1] ?? '';
        last.value = found?.[2] ? Number(found[2]) - 1 : '';
        other.textContent = found ? '' : t('range.other', {frames: said});
        other.hidden = !!found;
    }

    const here = (input, what) => h('button', {type: 'button', class: 'small', 'aria-label': t('range.here_of', {what}), onclick: () => { input.value = Math.max(0, player.wanted()); put(); }}, t('range.here'));
    const side = (what, input) => h('div', {class: 'grow field'}, h('label', {htmlFor: input.id}, what), h('div', {class: 'row tight'}, h('div', {class: 'grow'}, input), here(input, what)));
    show();
    return {
        element: h('div', {class: 'stack tight'}, h('div', {class: 'row top_aligned', role: 'group', 'aria-label': t('range.title')}, side(t('range.first'), first), side(t('range.last'), last)), other),
        again: show,
    };
}
