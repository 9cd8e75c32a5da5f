/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as files: hydra-suite's configurations and our own are put into the page's fields, and these are saved as a file that
 * `skitter track --config` reads. */
import {h, field, fill} from './dom.js';
import {api} from './api.js';
import {browse} from './file_browser.js';
import {show_dialog} from './dialog.js';
import {announce, complain, notice} from './notices.js';
import {t} from './texts.js';

/* wish(): what is saved; missing(): what it lacks; apply(config): into the fields; place(): a folder to begin in */
export function config_files({wish, missing, apply, place}) {
    const told = h('div', {class: 'small', role: 'status'});
    let last = '';

    async function load(path) {
        try {
            const config = await api.config(path);
            await apply(config);
            last = config.whole ? path : '';
            fill(told, h('p', {class: 'dim'}, t('config.loaded', {path})),
                config.notes.length ? h('ul', {class: 'notes'}, config.notes.map((text) => h('li', null, text))) : null);
            announce(t('config.loaded', {path}));
        } catch (error) {
            complain(error);
        }
    }

    async function write(path, replace) {
        try {
            const made = await api.config_save(path, wish(), replace);
            last = made.path;
            notice(t('config.saved', {path: made.path}));
            fill(told, h('p', {class: 'dim'}, t('config.saved_why', {path: made.path})));
            return true;
        } catch (error) {
            complain(error);
            return false;
        }
    }

    function save() {
        const lack = missing();
        if (lack) return notice(lack, {kind: 'warn'});
        const to = h('input', {type: 'text', class: 'mono', value: last || `${place() || '.'}/skitter_settings.json`, spellcheck: 'false'});
        show_dialog(t('config.save'), h('div', {class: 'stack'}, h('p', {class: 'dim'}, t('config.save_why')), field(t('config.file'), to)),
            [{text: t('config.save_now'), run: () => write(to.value.trim(), to.value.trim() === last)}]);
        return to.select();
    }

    return h('div', {class: 'stack tight'},
        h('div', {class: 'row'},
            h('button', {type: 'button', class: 'small', id: 'config_load', onclick: () => browse({title: t('config.choose'), wants: ['config'], start: place(), then: load})}, t('config.load')),
            h('button', {type: 'button', class: 'small', id: 'config_save', onclick: save}, t('config.save'))),
        h('p', {class: 'dim small'}, t('config.why')), told);
}
