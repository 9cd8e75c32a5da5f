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

/* A reset is said once, and stands where the runtime is chosen until somebody chooses. */
function tell_reset(text) {
    if (!text || text === store.get('runtime_notice')) return;
    store.set('runtime_notice', text);
    notice(text, {kind: 'warn'});
}

export async function refresh_runtimes() {
    under_way?.abort();
    const mine = under_way = new AbortController();
    try {
        let state = await api.runtimes(asked, mine.signal);
        if (mine.signal.aborted) return;
        tell_reset(state.notice);
        if (state.notice && !state.locked_by.length) state = await api.runtime_reset(asked);
        if (mine.signal.aborted) return;
        store.set('runtimes', state);
    } catch (error) {
        if (error.name !== 'AbortError') complain(error);
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

store.watch('runtimes_changed', (change) => {
    tell_reset(change.notice); /* another tab, or a run, may have done it */
    refresh_runtimes();
});
