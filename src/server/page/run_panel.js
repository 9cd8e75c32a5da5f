/* SPDX-License-Identifier: Apache-2.0 */
/* One run as it goes: picture, frames per second by stage, queues, time left, memory, log. */
import {h, fill, say} from './dom.js';
import {api} from './api.js';
import {about_run, refresh_run, refresh_runs} from './events.js';
import {store} from './store.js';
import {complain} from './notices.js';
import {runtime_label} from './runtimes.js';
import {kind_of} from './runs_view.js';
import {t} from './texts.js';
import {bytes_text, number_text, seconds_text} from './words.js';

function tile(label) {
    const value = h('b', null, '–');
    return {element: h('div', {class: 'tile'}, value, h('span', {class: 'dim small'}, label)), say: (text) => say(value, text)};
}

function stages_table() {
    const body = h('tbody');
    const empty = h('p', {class: 'dim small'}, t('run.no_stages'));
    const table = h('table', null, h('thead', null, h('tr', null, h('th', null, t('run.stage')), h('th', {class: 'number'}, t('run.stage_fps')))), body);
    return {element: h('div', {class: 'reserve'}, empty, table), show(stages) {
        empty.hidden = stages.length > 0;
        table.hidden = !stages.length;
        while (body.children.length > stages.length) body.lastChild.remove();
        stages.forEach((s, i) => {
            if (!body.children[i]) body.append(h('tr', null, h('td'), h('td', {class: 'number'})));
            say(body.children[i].children[0], s.name);
            say(body.children[i].children[1], number_text(s.fps ?? (s.ms > 0 ? 1000 / s.ms : NaN)));
        });
    }};
}

function queues_list() {
    const element = h('div', {class: 'stack tight reserve'});
    const rows = [];
    return {element, show(queues) {
        if (!queues.length && !rows.length) fill(element, h('p', {class: 'dim small'}, t('run.no_queues')));
        else if (queues.length !== rows.length) {
            rows.length = 0;
            for (const q of queues) {
                const meter = h('meter', {min: 0, 'aria-label': q.name});
                const text = h('span', {class: 'small'});
                rows.push({meter, text});
            }
            fill(element, rows.map(({meter, text}, i) => h('div', {class: 'queue'}, h('span', {class: 'small'}, queues[i].name), meter, text)));
        }
        queues.forEach((q, i) => {
            rows[i].meter.max = q.capacity;
            rows[i].meter.value = q.fill;
            say(rows[i].text, t('run.fill', {fill: q.fill, capacity: q.capacity}));
        });
    }};
}

export function run_panel(first) {
    let run = first;
    const title = h('h2');
    const state = h('span', {class: 'state', role: 'status'});
    const picture = h('img', {alt: t('run.preview'), hidden: true});
    const no_picture = h('div', {class: 'stage_hint'}, t('run.no_preview'));
    const bar = h('progress', {max: 1, 'aria-label': t('runs.progress')});
    const tiles = {frames: tile(t('run.frames')), fps: tile(t('run.fps')), left: tile(t('run.left')), memory: tile(t('run.memory'))};
    const runtime = h('p', {class: 'small'});
    const message = h('div', {class: 'reserve_line'});
    const stages = stages_table();
    const queues = queues_list();
    const log = h('pre', {class: 'log mono', tabindex: 0, role: 'log', 'aria-label': t('run.log')});
    const command = h('pre', {class: 'mono command', tabindex: 0, 'aria-label': t('work.command')});
    const button = (text, does, kind = '') => h('button', {type: 'button', class: kind, onclick: () => does().catch(complain)}, text);
    const stop = button(t('work.stop'), () => about_run(() => api.run_stop(run.id)));
    const go_on = button(t('work.continue'), () => about_run(() => api.run_continue(run.id)), 'main');
    const remove = button(t('runs.remove'), async () => {
        const here = `#/runs/${encodeURIComponent(run.id)}`;
        await api.run_remove(run.id);
        await refresh_runs();
        if (location.hash === here) location.hash = '#/runs'; /* unless somebody went on meanwhile */
    });
    const results = h('a', {class: 'button'}, t('work.results'));
    const folder = h('p', {class: 'mono small dim'});

    const element = h('div', {class: 'stack run'},
        h('div', {class: 'row'}, h('div', {class: 'grow'}, title), state),
        h('div', {class: 'row actions'}, stop, go_on, results, remove), bar,
        h('div', {class: 'tiles'}, Object.values(tiles).map((x) => x.element)), message,
        h('div', {class: 'run_grid'},
            h('section', {class: 'card'}, h('h3', null, t('run.preview')), h('div', {class: 'stage'}, picture, no_picture)),
            h('section', {class: 'card'}, h('h3', null, t('run.stages')), stages.element, h('h3', null, t('run.queues')), queues.element)),
        h('section', {class: 'card'}, h('h3', null, t('run.log')), log),
        h('details', null, h('summary', null, t('work.command')), command, folder), runtime);

    function show_message(r) {
        const lines = [];
        if (r.export) lines.push(h('div', {class: 'note export'}, h('div', null, t('run.export', {runtime: runtime_label(r.export.runtime), text: r.export.text ?? ''})),
            h('div', {class: 'small', data: {step: r.export.step}}, t(`export.${r.export.step}`)),
            h('progress', {max: 1, value: Number.isFinite(r.export.share) ? r.export.share : null, 'aria-label': t('run.export_progress')})));
        if (r.message) lines.push(h('div', {class: `note ${r.state === 'failed' ? 'bad' : r.state === 'stopped' ? 'warn' : ''}`}, r.message, r.hint && h('div', {class: 'remedy'}, r.hint)));
        const key = JSON.stringify([r.export, runtime_label(r.export?.runtime), r.message, r.hint, r.state]);
        if (message.dataset.key !== key) fill(message, lines), message.dataset.key = key;
    }

    function show(r) {
        const other = r.id !== run.id;
        run = r;
        if (other) picture.hidden = true, no_picture.hidden = false, refresh_run(r.id).catch(complain);
        const p = r.progress ?? {};
        const on = ['running', 'stopping'].includes(r.state);
        say(title, r.title);
        say(state, t(`state.${r.state}`));
        state.className = `state ${kind_of[r.state] ?? ''}`;
        bar.max = p.total > 0 ? p.total : 1;
        bar.value = p.total > 0 ? p.frame : r.state === 'done' ? 1 : 0;
        tiles.frames.say(p.total > 0 ? t('run.of', {frame: p.frame, total: p.total}) : String(p.frame ?? '–'));
        tiles.fps.say(number_text(p.fps));
        tiles.left.say(on ? seconds_text(p.seconds_left) : '–');
        tiles.memory.say(p.memory ? bytes_text(p.memory) : '–');
        say(runtime, r.runtime || r.runtime_requested ? t('runtime.both', {requested: runtime_label(r.runtime_requested ?? r.runtime), effective: r.runtime ? runtime_label(r.runtime) : on ? t('runtime.not_yet') : '–'}) : '');
        show_message(r);
        stages.show(p.stages ?? []);
        queues.show(p.queues ?? []);
        const at_end = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
        say(log, (r.log ?? []).join('\n') || t('run.no_log'));
        if (at_end) log.scrollTop = log.scrollHeight;
        say(command, r.command_line ?? '');
        say(folder, r.folder ?? '');
        stop.disabled = !['running', 'queued'].includes(r.state) || r.own === false;
        go_on.disabled = !['stopped', 'failed'].includes(r.state) || r.own === false;
        remove.disabled = on || r.own === false;
        results.hidden = !r.folder;
        results.href = `#/results?folder=${encodeURIComponent(r.folder ?? '')}`;
    }

    /* The newest picture, never more than one on its way. */
    let shown = null;
    let busy = false;
    const timer = setInterval(() => {
        const now = store.get('runs')?.find((r) => r.id === run.id);
        if (busy || document.hidden || now?.preview === null || now?.preview === undefined || `${now.id}/${now.preview}` === shown) return;
        busy = true;
        const next = new Image();
        const key = `${now.id}/${now.preview}`;
        next.onload = () => {
            busy = false;
            shown = key;
            if (now.id !== run.id) return;
            picture.src = next.src;
            picture.hidden = false;
            no_picture.hidden = true;
        };
        next.onerror = () => { busy = false; shown = key; };
        next.src = api.preview_url(now.id, now.preview);
    }, 400);

    show(first);
    refresh_run(first.id).catch(complain);
    return {element, show, stop: () => { if (!stop.disabled) stop.click(); }, close: () => clearInterval(timer)};
}
