/* SPDX-License-Identifier: Apache-2.0 */
/* Identities put right by hand: swap from a frame on, delete, merge, rename; undo, redo; a corrected copy. The run
 * itself is never changed. */
import {h, fill, check, field} from './dom.js';
import {api} from './api.js';
import {show_dialog} from './dialog.js';
import {complain, announce, notice} from './notices.js';
import {track_name} from './tracks_table.js';
import {t} from './texts.js';

/* frame(): the frame that is shown; changed(): what was shown is out of date */
export function corrections({frame, changed}) {
    let folder = '';
    let picked = [null, null];
    let state = {list: [], can_undo: false, can_redo: false};
    const first = h('select');
    const second = h('select');
    const name = h('input', {type: 'text', maxlength: 60});
    const list = h('ol', {class: 'small corrections'});
    const buttons = {};
    const both = check(t('fix.prefer'), false, () => {});

    async function apply(call) {
        try {
            state = await call();
            draw();
            announce(state.list.length ? t('fix.done', {text: state.list.at(-1).text}) : t('fix.none'));
            await changed();
        } catch (error) {
            if (error.message.includes('--prefer')) error.hint = t('fix.prefer_hint', {box: t('fix.prefer')});
            complain(error);
        }
    }

    const a = () => Number(first.value);
    const b = () => Number(second.value);
    const button = (key, text, run) => (buttons[key] = h('button', {type: 'button', data: {fix: key}, onclick: run}, text));

    function draw() {
        fill(list, state.notice && h('li', {class: 'note warn'}, state.notice), state.list.map((c) => h('li', null, c.text)), !state.list.length && h('li', {class: 'dim'}, t('fix.none')));
        const two = first.options.length > 1 && a() !== b();
        buttons.swap.disabled = buttons.merge.disabled = !two;
        buttons.delete.disabled = buttons.rename.disabled = !first.options.length;
        buttons.undo.disabled = !state.can_undo;
        buttons.redo.disabled = !state.can_redo;
        buttons.save.disabled = !state.list.length;
    }

    function save() {
        const to = h('input', {type: 'text', value: `${folder.replace(/\/+$/, '')}_corrected`});
        show_dialog(t('fix.save'), h('div', {class: 'stack'}, h('p', {class: 'dim'}, t('fix.save_why')), field(t('fix.to'), to)), [{text: t('fix.save_now'), run: async () => {
            try {
                const made = await api.view_save(folder, to.value.trim());
                notice(t('fix.saved', {folder: made.folder}), {action: {text: t('fix.open'), run: () => { location.hash = `#/results?folder=${encodeURIComponent(made.folder)}`; }}});
                return true;
            } catch (error) {
                complain(error);
                return false;
            }
        }}]);
    }

    first.addEventListener('change', draw);
    second.addEventListener('change', draw);
    const element = h('div', {class: 'stack'}, h('p', {class: 'dim small'}, t('fix.why')),
        h('div', {class: 'row'}, h('div', {class: 'grow'}, field(t('fix.first'), first)), h('div', {class: 'grow'}, field(t('fix.second'), second))),
        h('div', {class: 'row'},
            button('swap', t('fix.swap'), () => apply(() => api.view_correct(folder, {kind: 'swap', a: a(), b: b(), frame: frame()}))),
            button('merge', t('fix.merge'), () => apply(() => api.view_correct(folder, {kind: 'merge', a: a(), b: b(), ...(both.input.checked ? {prefer: a()} : {})}))),
            button('delete', t('fix.delete'), () => apply(() => api.view_correct(folder, {kind: 'delete', a: a()})))),
        both,
        h('div', {class: 'row end'}, h('div', {class: 'grow'}, field(t('fix.name'), name)),
            button('rename', t('fix.rename'), () => apply(() => api.view_correct(folder, {kind: 'rename', a: a(), name: name.value.trim()})))),
        h('h3', null, t('fix.list')), list,
        h('div', {class: 'row'}, button('undo', t('fix.undo'), () => apply(() => api.view_undo(folder))), button('redo', t('fix.redo'), () => apply(() => api.view_redo(folder))),
            button('save', t('fix.save'), save)));
    draw();

    return {element,
        /* chosen, partner: the animals that were picked, or null. Never one twice. */
        show(of_folder, of_state, tracks, chosen, partner = null) {
            const ids = tracks.map((x) => String(x.id));
            const there = (id) => (ids.includes(String(id)) ? String(id) : null);
            const fresh = chosen !== picked[0] || partner !== picked[1]; /* else somebody may have chosen others since */
            picked = [chosen, partner];
            const a_now = (fresh ? there(chosen) : null) ?? there(first.value) ?? ids[0];
            const others = ids.filter((id) => id !== a_now);
            const b_now = [fresh ? there(partner) : null, there(second.value)].find((id) => others.includes(id)) ?? others[0] ?? a_now;
            folder = of_folder;
            state = of_state ?? state;
            for (const [select, id] of [[first, a_now], [second, b_now]]) {
                fill(select, tracks.map((x) => h('option', {value: String(x.id)}, track_name(x))));
                if (ids.length) select.value = id;
            }
            draw();
        },
        undo: () => { if (!buttons.undo.disabled) buttons.undo.click(); },
        swap: () => { if (!buttons.swap.disabled) buttons.swap.click(); }};
}
