/* SPDX-License-Identifier: Apache-2.0 */
/* The one compute runtime: what is offered for the pipelines in use, who holds it, what is saved. Both workspaces and
 * the header show this one state. */
import {api} from './api.js';
import {store} from './store.js';
import {notice, complain} from './notices.js';
import {t} from './texts.js';

let asked = [];
let under_way = null;

export const runtime_label = (name) => store.get('runtimes')?.runtimes.find((r) => r.name === name)?.label ?? name ?? '';

/* The pipelines that the open workspace uses; the offer is recomputed at once. */
export function use_pipelines(pipelines) {
    asked = pipelines;
    return refresh_runtimes();
}

export const pipelines_in_use = () => asked;

export async function refresh_runtimes() {
    under_way?.abort();
    const mine = under_way = new AbortController();
    try {
        let state = await api.runtimes(asked, mine.signal);
        if (mine.signal.aborted) return;
        if (state.notice && !state.locked_by.length) {
            const old = state.notice;
            state = await api.runtime_reset(asked);
            state.notice = state.announced ?? state.notice ?? old;
        }
        if (mine.signal.aborted) return;
        if (state.notice && state.notice !== store.get('runtime_notice')) notice(state.notice, {kind: 'warn'});
        store.set('runtime_notice', state.notice ?? '');
        store.set('runtimes', state);
    } catch (error) {
        if (error.name !== 'AbortError') store.set('runtimes_error', error);
    }
}

export async function choose_runtime(name) {
    try {
        const state = await api.runtime_set(name, asked);
        store.set('runtime_notice', '');
        store.set('runtimes', state);
        notice(t('runtime.saved', {label: runtime_label(name)}));
    } catch (error) {
        complain(error);
        await refresh_runtimes();
    }
}

store.watch('runtimes_changed', () => refresh_runtimes());
