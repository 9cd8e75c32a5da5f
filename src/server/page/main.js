/* SPDX-License-Identifier: Apache-2.0 */
/* Where the page begins: header, events, and the view that the address names. */
import {api} from './api.js';
import {build_header, mark_place} from './header.js';
import {listen} from './events.js';
import {refresh_runtimes} from './runtimes.js';
import {complain, notice} from './notices.js';
import {keys_everywhere, show_shortcuts} from './shortcuts.js';
import {fill} from './dom.js';
import {t} from './texts.js';
import {open_track} from './track_view.js';

/* The others come when they are asked for, or when nothing else is to be done. */
const views = {
    track: async () => open_track,
    pose: async () => (await import('./pose_view.js')).open_pose,
    runs: async () => (await import('./runs_view.js')).open_runs,
    results: async () => (await import('./results_view.js')).open_results,
    doctor: async () => (await import('./doctor_view.js')).open_doctor,
    troubleshooting: async () => (await import('./troubleshooting_view.js')).open_troubleshooting,
};
const main = document.getElementById('main');
let close = null;
let first = true;
let visits = 0;

/* #/results?folder=… → the view's name and what it is asked to show */
function where() {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
    const [name, ...rest] = path.split('/');
    return {name: views[name] ? name : 'track', rest: rest.map(decodeURIComponent), query: new URLSearchParams(query ?? '')};
}

async function go() {
    const {name, rest, query} = where();
    visits += 1;
    const mine = visits;
    const open = await views[name]();
    if (mine !== visits) return; /* somebody went on meanwhile */
    close?.();
    main.dataset.view = name;
    mark_place(name);
    document.title = `${t(`place.${name}`)} – ${t('name')}`;
    fill(main);
    close = open(main, {rest, query});
    if (!first) {
        window.scrollTo(0, 0);
        main.focus({preventScroll: true});
    }
    first = false;
}

const to = (place) => () => { location.hash = `#/${place}`; };
keys_everywhere([
    {key: '1', text: t('place.track'), run: to('track')},
    {key: '2', text: t('place.pose'), run: to('pose')},
    {key: '3', text: t('place.runs'), run: to('runs')},
    {key: '4', text: t('place.results'), run: to('results')},
    {key: '5', text: t('place.doctor'), run: to('doctor')},
    {key: '6', text: t('place.troubleshooting'), run: to('troubleshooting')},
    {key: '?', text: t('keys.title'), run: show_shortcuts},
]);

build_header();
window.addEventListener('hashchange', go);
window.addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    complain(event.reason);
});
go();
api.about().then((about) => { if (about.notice) notice(about.notice, {kind: 'warn'}); }).catch(complain);
refresh_runtimes();
listen();
(window.requestIdleCallback ?? setTimeout)(() => { for (const load of Object.values(views)) load().catch(() => {}); });
