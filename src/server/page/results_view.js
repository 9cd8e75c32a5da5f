/* SPDX-License-Identifier: Apache-2.0 */
/* The Results view: scrub through a run with its animals drawn in, tracks, plots, suspicious moments, corrections,
 * downloads. Any run folder, also one of predict, also one that still grows. */
import {h, fill, say, check, tabs} from './dom.js';
import {api} from './api.js';
import {kept, store} from './store.js';
import {player} from './player.js';
import {path_field} from './path_field.js';
import {result_data} from './result_data.js';
import {draw_animal, draw_trails} from './draw.js';
import {plots} from './plots.js';
import {tracks_table} from './tracks_table.js';
import {suspects_list} from './suspects.js';
import {corrections} from './corrections.js';
import {runtime_label} from './runtimes.js';
import {keys_of_view} from './shortcuts.js';
import {announce, complain, problem} from './notices.js';
import {recent_of, refresh_recent} from './recent.js';
import {t} from './texts.js';
import {bytes_text, name_of} from './words.js';

export function open_results(main, {query}) {
    const keeper = kept('results', {folder: '', trails: true, labels: true, boxes: true, trail: 60, tab: 'tracks'});
    const s = keeper.value;
    const folder = query.get('folder') || s.folder;
    let view = null;
    let data = null;
    let tracks = [];
    let suspects = [];
    let chosen = null;
    let partner = null; /* the other animal of a moment */
    let gone = false;
    const hidden = new Set();
    const shows = (one) => !Number.isInteger(one.track) || !hidden.has(one.track);

    const stage = player();
    const plot = plots({go: stage.go, frame: stage.wanted});
    const table = tracks_table({hidden, choose: pick, changed: () => stage.redraw()});
    const moments = suspects_list((suspect) => { [chosen = null, partner = null] = suspect.tracks ?? []; stage.go(suspect.frame); refill(); announce(suspect.text); });
    const fixes = corrections({frame: stage.frame, changed: reload});
    const files = h('ul', {class: 'plain stack tight'});
    const about = h('div', {class: 'small dim reserve_line', role: 'status'});
    const opener = path_field({label: t('results.folder'), why: t('results.folder_why'), title: t('results.choose'), wants: ['run'], recent: () => recent_of('runs'), value: '',
        onfacts(found, path) { if (found && path !== folder) location.hash = `#/results?folder=${encodeURIComponent(path)}`; }});

    function draw(c, n, unit) {
        if (!data) return;
        if (s.trails) draw_trails(c, data.trails(n, s.trail, (id) => !hidden.has(id)), unit);
        data.at(n).forEach((one, i) => { if (shows(one)) draw_animal(c, s.boxes ? one : {...one, box: null}, i, {unit, skeleton: view.skeleton, labels: s.labels, chosen}); });
    }

    function pick(track) {
        chosen = track.id;
        partner = null;
        stage.go(track.first);
        refill();
    }

    function refill() {
        table.show(tracks, chosen);
        fixes.show(folder, view.corrections, tracks, chosen, partner);
        stage.redraw();
    }

    function show_files() {
        const formats = (view.formats ?? []).filter((f) => !view.files.some((x) => x.format === f));
        fill(files, view.files.map((f) => h('li', {class: 'row'}, h('a', {href: api.download_url(folder, f.format ?? f.name), download: f.name}, f.name),
            h('span', {class: 'dim small'}, `${f.format ?? ''} ${bytes_text(f.bytes)}`))),
        formats.map((f) => h('li', {class: 'row'}, h('a', {href: api.download_url(folder, f), download: ''}, t('results.as', {format: f})), h('span', {class: 'dim small'}, t('results.made')))));
    }

    async function lists() {
        const [a, b] = await Promise.all([api.view_tracks(folder), api.view_suspects(folder)]);
        tracks = a.tracks;
        suspects = b.suspects;
        moments.show(suspects);
        stage.marks(suspects.map((x) => x.frame));
        refill();
        plot.open(folder, view.source, tracks.slice(0, 12).map((x) => x.id));
        say(about, t('results.about', {title: name_of(folder), frames: view.source.frames, tracks: tracks.length, moments: suspects.length,
            requested: runtime_label(view.runtime_requested), effective: runtime_label(view.runtime)}) + (view.complete ? '' : ` ${t('results.grows')}`));
    }

    /* After a correction: the same frame with other identities. */
    async function reload() {
        view = await api.view(folder);
        data.forget();
        await data.prepare(stage.frame(), s.trail);
        await lists();
        stage.redraw();
    }

    async function open() {
        view = await api.view(folder);
        if (gone) return;
        data = result_data(folder);
        keeper.value.folder = folder;
        keeper.save();
        const v = view.source;
        stage.open({frames: Math.max(1, v.frames), width: v.width || 640, height: v.height || 480, fps: v.fps, label: t('results.label'),
            url: v.readable ? (n, within) => api.view_picture_url(folder, n, 1280, within) : null,
            prepare: (n) => data.prepare(n, s.trail), draw, onframe: () => plot.cursor()}, Number(query.get('frame')) || view.first || 0);
        missing.hidden = v.readable;
        say(missing, t('results.no_video', {path: v.path ?? ''}));
        if (!v.readable) announce(missing.textContent);
        show_files();
        await lists();
    }

    const missing = h('p', {class: 'note warn', hidden: true});
    const option = (key, text) => check(text, s[key], (v) => { s[key] = v; keeper.save(); stage.redraw(); });
    const trail = h('input', {type: 'number', min: 1, max: 600, value: s.trail, 'aria-label': t('results.trail'), onchange: () => {
        s.trail = Math.max(1, Math.min(600, Number(trail.value) || 60));
        keeper.save();
        data?.prepare(stage.frame(), s.trail).then(stage.redraw).catch(complain);
    }});
    const pages = [['tracks', t('tracks.title'), h('div', {class: 'card'}, table.element)], ['moments', t('suspects.title'), h('div', {class: 'card'}, moments.element)],
        ['fix', t('fix.title'), h('div', {class: 'card'}, fixes.element)], ['files', t('results.files'), h('div', {class: 'card'}, h('p', {class: 'dim small'}, t('results.files_why')), files)]];
    const bar = tabs(t('results.title'), pages, s.tab, (v) => { s.tab = v; keeper.save(); });
    const body = h('div', {class: 'results'},
        h('div', {class: 'stack'}, missing, stage.element,
            h('div', {class: 'row'}, option('boxes', t('results.boxes')), option('labels', t('results.labels')), option('trails', t('results.trails')), h('div', {class: 'short'}, trail), h('span', {class: 'dim small'}, t('results.trail_unit'))),
            h('section', {class: 'card'}, h('h2', null, t('plots.title')), plot.element)),
        h('div', {class: 'stack aside'}, bar, pages.map(([, , page]) => page)));
    const place = h('div', {class: 'stack'});
    main.append(h('div', {class: 'page'}, h('div', {class: 'head'}, h('h1', null, t('results.title')), h('div', {class: 'grow'}, opener.element)), about, place));
    refresh_recent();
    opener.show(folder);
    if (folder) {
        fill(place, body);
        open().catch((error) => { if (!gone) fill(place, problem(error)); });
    } else {
        fill(place, h('div', {class: 'card'}, h('p', {class: 'dim'}, t('results.none'))));
    }

    /* A run that still goes on. */
    const timer = setInterval(() => {
        if (!view || view.complete || document.hidden) return;
        api.view(folder).then((now) => {
            if (now.complete !== view.complete || now.tracks !== view.tracks) return reload();
            view = now;
            return null;
        }).catch(() => {});
    }, 3000);
    const step = (n) => () => stage.go(stage.wanted() + n);
    const jump = (way) => () => {
        const list = suspects.map((x) => x.frame).sort((a, b) => a - b);
        const next = way > 0 ? list.find((f) => f > stage.wanted()) : list.filter((f) => f < stage.wanted()).at(-1);
        if (next !== undefined) stage.go(next);
    };
    const second = () => Math.max(1, Math.round(view?.source.fps || 25));
    const ends = [store.watch('theme', () => plot.redraw()), keys_of_view([
        {key: ' ', shown: t('keys.space'), text: t('stage.play'), run: stage.play},
        {key: 'ArrowRight', shown: '→', text: t('keys.next'), run: step(1)},
        {key: 'ArrowLeft', shown: '←', text: t('keys.previous'), run: step(-1)},
        {key: 'ArrowRight', shift: true, shown: t('keys.shift_right'), text: t('keys.second_on'), run: () => stage.go(stage.wanted() + second())},
        {key: 'ArrowLeft', shift: true, shown: t('keys.shift_left'), text: t('keys.second_back'), run: () => stage.go(stage.wanted() - second())},
        {key: 'Home', text: t('keys.first'), run: () => stage.go(0)},
        {key: 'End', text: t('keys.last'), run: () => stage.go(Infinity)},
        {key: 'n', text: t('keys.next_moment'), run: jump(1)},
        {key: 'p', text: t('keys.previous_moment'), run: jump(-1)},
        {key: 'x', text: t('fix.swap'), run: fixes.swap},
        {key: 'u', text: t('fix.undo'), run: fixes.undo},
    ])];
    return () => {
        gone = true;
        ends.forEach((end) => end());
        clearInterval(timer);
        data?.forget();
        stage.close();
        plot.close();
    };
}
