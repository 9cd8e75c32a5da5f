/* SPDX-License-Identifier: Apache-2.0 */
/* What the server tells by itself. After a reload, a lost connection or a closed laptop everything is asked anew. */
import {api} from './api.js';
import {store} from './store.js';

let source = null;

/* An answer may be older than events that overtook it: what was told of a run since the question counts more. */
const told = new Map(); /* id → number of the last event about it */
let count = 0;

function merge(run, asked) {
    const runs = [...(store.get('runs') ?? [])];
    const at = runs.findIndex((r) => r.id === run.id);
    const newer = (told.get(run.id) ?? 0) <= asked;
    if (at < 0) runs.push(run);
    else runs[at] = {...runs[at], ...(newer ? run : {}), log: run.log ?? runs[at].log};
    store.set('runs', runs);
}

function hear_run(run) {
    count += 1;
    told.set(run.id, count);
    merge(run, count);
}

/* Asks something that is answered by a run. */
export async function about_run(question) {
    const asked = count;
    const run = await question();
    merge(run, asked);
    return run;
}

export async function refresh_runs() {
    const asked = count;
    const {runs} = await api.runs();
    const old = new Map((store.get('runs') ?? []).map((r) => [r.id, r]));
    store.set('runs', runs.map((r) => ({...((told.get(r.id) ?? 0) <= asked ? r : old.get(r.id) ?? r), log: r.log ?? old.get(r.id)?.log})));
}

export const refresh_run = (id) => about_run(() => api.run(id));

function put_line({id, line}) {
    const run = (store.get('runs') ?? []).find((r) => r.id === id);
    if (run) merge({...run, log: [...(run.log ?? []), line].slice(-300)}, count);
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

/* A server that was started anew does not know this page; one that is gone answers nothing. */
async function why_not() {
    try {
        await api.about();
    } catch (error) {
        if (error.status === 401) store.set('connected', 'stranger');
    }
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
        if (source.readyState !== EventSource.CLOSED) return;
        why_not();
        setTimeout(listen, 2000);
    };
    hear('run', hear_run);
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
