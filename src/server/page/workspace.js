/* SPDX-License-Identifier: Apache-2.0 */
/* What both workspaces have: the frame to look at, a test on it, Start, Stop and Continue, and the command they amount to. */
import {h, fill, say} from './dom.js';
import {api} from './api.js';
import {store} from './store.js';
import {player} from './player.js';
import {draw_animal} from './draw.js';
import {about_run} from './events.js';
import {complain, problem, announce} from './notices.js';
import {runtime_label} from './runtimes.js';
import {t} from './texts.js';
import {number_text} from './words.js';

const on = (run) => ['queued', 'running', 'stopping'].includes(run.state);
const can_go_on = (run) => ['stopped', 'failed'].includes(run.state) && run.own !== false;

/* A button that does not move when its state changes. */
function action(text, run, main) {
    const button = h('button', {type: 'button', class: main ? 'main' : '', onclick: async () => {
        button.disabled = true;
        try {
            await run();
        } catch (error) {
            complain(error);
        }
        button.free?.();
    }}, text);
    return button;
}

/* command: track | predict; wish(): {command, settings} or null while something is missing; missing(): what; wishes(): all that Start
 * begins, where that is more than one */
export function workspace({command, words, wish, wishes, missing, extra_draw, onframe}) {
    const stage = player();
    const answer = h('div', {class: 'answer small', role: 'status'}, words.idle);
    const line = h('pre', {class: 'mono command', tabindex: 0, 'aria-label': t('work.command')});
    const trouble = h('p', {class: 'note bad', role: 'alert', hidden: true});
    const words_now = h('span', {role: 'status'});
    const watch = h('a', {href: '#/runs', hidden: true}, t('work.watch'));
    const results = h('a', {href: '#/results', hidden: true}, t('work.results'));
    const status = h('div', {class: 'run_line small row'}, words_now, watch, results);
    let found = null;
    let latest = null;

    const test = action(words.test, async () => {
        const body = wish();
        say(answer, t('work.testing'));
        try {
            const frame = stage.wanted();
            found = await api.test_frame({...body, frame});
            const bodies = found.instances.filter((one) => one.box).map((one) => Math.max(one.box[2], one.box[3])).sort((a, b) => a - b);
            const numbers = {outside: found.outside, n: found.instances.length, frame: found.frame, ms: number_text(found.ms, 0), runtime: runtime_label(found.runtime)};
            say(answer, (found.outside ? t('work.found_within', numbers) : t('work.found', numbers))
                + (bodies.length ? t('work.bodies', {px: number_text(bodies[bodies.length >> 1], 0)}) : ''));
            stage.redraw();
        } catch (error) {
            found = null;
            fill(answer, problem(error));
        }
    });
    const start = action(words.start, async () => {
        const all = wishes?.() ?? [wish()];
        let run = null;
        for (const one of all) run = await about_run(() => api.run_start(one));
        announce(all.length > 1 ? t('work.started_many', {n: all.length}) : t('work.started', {title: run.title}));
    }, true);
    const stop = action(t('work.stop'), () => about_run(() => api.run_stop(latest.id)));
    const go_on = action(t('work.continue'), () => about_run(() => api.run_continue(latest.id)));

    function judge() {
        const lack = missing();
        const busy = latest && on(latest);
        test.disabled = !!lack || !stage.video();
        start.disabled = !!lack;
        start.title = lack ?? '';
        stop.disabled = !busy || latest.state === 'stopping';
        go_on.disabled = !latest || !can_go_on(latest);
        const failed = !lack && latest?.state === 'failed' ? latest.message : '';
        say(trouble, failed ? `${failed} ${latest.hint ?? ''}` : '');
        trouble.hidden = !failed;
        say(words_now, lack && !busy ? lack : latest ? t('work.latest', {title: latest.title, state: t(`state.${latest.state}`)}) : t('work.ready'));
        watch.hidden = !latest || !!lack && !busy;
        results.hidden = watch.hidden || latest.state !== 'done';
        watch.href = `#/runs/${encodeURIComponent(latest?.id ?? '')}`;
        results.href = `#/results?folder=${encodeURIComponent(latest?.folder ?? '')}`;
    }
    for (const button of [test, start, stop, go_on]) button.free = judge;

    let asking = null;
    let due = 0;
    function tell_command() {
        clearTimeout(due);
        due = setTimeout(async () => {
            asking?.abort();
            asking = new AbortController();
            const lack = missing();
            if (lack) return say(line, lack);
            try {
                say(line, (await api.command(wish(), asking.signal)).command_line);
            } catch (error) {
                if (error.name !== 'AbortError') say(line, error.message);
            }
        }, 150);
    }

    const end = store.watch('runs', (runs) => {
        latest = runs.filter((r) => r.command === command && r.own !== false).at(-1) ?? null;
        judge();
    });
    const copy = h('button', {type: 'button', class: 'small', onclick: async () => {
        await navigator.clipboard.writeText(line.textContent);
        announce(t('work.copied'));
    }}, t('work.copy'));

    return {
        player: stage,
        element: h('div', {class: 'stack work'}, stage.element, answer,
            h('div', {class: 'row actions'}, test, words.between, start, stop, go_on), status, trouble,
            h('details', {class: 'as_command'}, h('summary', null, t('work.command')), h('p', {class: 'dim small'}, t('work.command_why')), line, copy)),
        test: () => { if (!test.disabled) test.click(); },
        start: () => { if (!start.disabled) start.click(); },
        /* The settings changed. */
        changed() {
            if (!test.disabled || found) say(answer, words.idle); /* unless it is just being tested */
            found = null;
            judge();
            tell_command();
            stage.redraw();
        },
        show_video(facts, path) {
            found = null;
            const v = facts?.video;
            stage.open(v ? {frames: Math.max(1, v.frames), width: v.width, height: v.height, fps: v.fps, label: t('stage.label'),
                url: (n, within) => api.frame_url(path, n, 1280, within, v.topic),
                draw(c, n, unit) {
                    extra_draw?.(c, unit);
                    if (found && found.frame === n) found.instances.forEach((one, i) => draw_animal(c, one, i, {unit, skeleton: found.skeleton}));
                },
                onframe} : null);
            judge();
        },
        close() {
            end();
            clearTimeout(due);
            stage.close();
        },
    };
}
