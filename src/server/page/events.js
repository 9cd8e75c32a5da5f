/* SPDX-License-Identifier: Apache-2.0 */
/* What the server tells by itself. After a reload, a lost connection or a closed laptop everything is asked anew. */
import {api} from './api.js';
import {store} from './store.js';

let source = null;

export function put_run(run) {
    const runs = [...(store.get('runs') ?? [])];
    const at = runs.findIndex((r) => r.id === run.id);
    if (at < 0) runs.push(run);
    else runs[at] = {...runs[at], ...run, log: run.log ?? runs[at].log};
    store.set('runs', runs);
}

export async function refresh_runs() {
    const {runs} = await api.runs();
    const old = new Map((store.get('runs') ?? []).map((r) => [r.id, r]));
    store.set('runs', runs.map((r) => ({...r, log: r.log ?? old.get(r.id)?.log})));
}

export async function refresh_run(id) {
    put_run(await api.run(id));
}

function put_line({id, line}) {
    const run = (store.get('runs') ?? []).find((r) => r.id === id);
    if (run) put_run({id, log: [...(run.log ?? []), line].slice(-300)});
}

function hear(name, tell) {
    source.addEventListener(name, (event) => {
        store.set('connected', true);
        tell(event.data ? JSON.parse(event.data) : {});
    });
}

/* Events were missed, or may have been. */
function all_anew() {
    refresh_runs().catch(() => {});
    store.set('runtimes_changed', {});
}

export function listen() {
    source?.close();
    source = api.events();
    source.onopen = () => {
        store.set('connected', true);
        all_anew();
    };
    source.onerror = () => {
        store.set('connected', false);
        if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
    hear('run', put_run);
    hear('log', put_line);
    hear('removed', ({id}) => store.set('runs', (store.get('runs') ?? []).filter((r) => r.id !== id)));
    hear('reload', all_anew);
    hear('runtimes', (change) => store.set('runtimes_changed', change));
}

/* A laptop that was closed may hold a connection that is none any more. */
document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && source?.readyState !== EventSource.OPEN) listen();
});
window.addEventListener('pagehide', () => source?.close());
window.addEventListener('pageshow', (event) => { if (event.persisted) listen(); });
