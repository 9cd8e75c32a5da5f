/* SPDX-License-Identifier: Apache-2.0 */
/* The runs: those that are on, wait or are over, and one of them closely. */
import {h, fill, say} from './dom.js';
import {store} from './store.js';
import {refresh_runs} from './events.js';
import {complain} from './notices.js';
import {run_panel} from './run_panel.js';
import {keys_of_view} from './shortcuts.js';
import {t} from './texts.js';
import {name_of, number_text} from './words.js';

const weight = {running: 0, stopping: 0, queued: 1, stopped: 2, failed: 2, done: 3};
export const kind_of = {running: 'busy', stopping: 'busy', queued: '', stopped: 'warn', failed: 'bad', done: 'good'};

function percent(run) {
    const p = run.progress;
    return p?.total > 0 ? Math.min(100, 100 * p.frame / p.total) : run.state === 'done' ? 100 : 0;
}

export function open_runs(main, {rest}) {
    let chosen = rest[0] ?? null;
    const list = h('ul', {class: 'plain runs', 'aria-label': t('runs.list')});
    const right = h('div', {class: 'stack'});
    const rows = new Map();
    let panel = null;

    function row(run) {
        const title = h('span', {class: 'grow title'});
        const state = h('span', {class: 'state'});
        const bar = h('progress', {max: 100, 'aria-label': t('runs.progress')});
        const line = h('span', {class: 'dim small line'});
        const link = h('a', {href: `#/runs/${encodeURIComponent(run.id)}`, class: 'run_row'}, h('span', {class: 'row'}, title, state), bar, line);
        const element = h('li', null, link);
        return {element, show(r) {
            say(title, r.title);
            say(state, t(`state.${r.state}`));
            state.className = `state ${kind_of[r.state] ?? ''}`;
            bar.value = percent(r);
            const p = r.progress;
            const where = r.folder ? name_of(r.folder) : t(`command.${r.command}`);
            say(line, r.own === false ? t('runs.terminal', {pid: r.pid}) : p?.total ? t('runs.line', {where, frame: p.frame, total: p.total, fps: number_text(p.fps)}) : where);
            if (r.id === chosen) link.setAttribute('aria-current', 'true');
            else link.removeAttribute('aria-current');
        }};
    }

    function draw(runs) {
        const sorted = [...runs].sort((a, b) => weight[a.state] - weight[b.state] || (weight[a.state] === 1 ? 1 : -1) * String(a.started ?? a.id).localeCompare(String(b.started ?? b.id), undefined, {numeric: true}));
        chosen ??= sorted[0]?.id ?? null;
        for (const [id, r] of rows) if (!runs.some((run) => run.id === id)) r.element.remove(), rows.delete(id);
        for (const run of sorted) {
            if (!rows.has(run.id)) rows.set(run.id, row(run));
            rows.get(run.id).show(run);
        }
        const wanted = sorted.map((run) => rows.get(run.id).element);
        if (wanted.some((e, i) => list.children[i] !== e) || !wanted.length) fill(list, wanted, !wanted.length && h('li', {class: 'dim'}, t('runs.none')));
        const run = runs.find((r) => r.id === chosen);
        if (!run) {
            panel?.close();
            panel = null;
            fill(right, h('div', {class: 'card'}, h('p', {class: 'dim'}, t('runs.choose')), h('div', null, h('a', {class: 'button', href: '#/track'}, t('runs.begin')))));
        } else if (panel) {
            panel.show(run);
        } else {
            panel = run_panel(run);
            fill(right, panel.element);
        }
    }

    main.append(h('div', {class: 'split narrow'}, h('div', {class: 'side stack'}, h('h1', null, t('runs.title')), h('p', {class: 'dim small'}, t('runs.why')), list), right));
    refresh_runs().catch(complain);
    const ends = [store.watch('runs', draw), store.watch('runtimes', () => draw(store.get('runs') ?? [])), keys_of_view([{key: 'x', text: t('work.stop'), run: () => panel?.stop()}])];
    return () => {
        ends.forEach((end) => end());
        panel?.close();
    };
}
