/* SPDX-License-Identifier: Apache-2.0 */
/* The bar above all views: where to go, which runtime, light or dark, help. */
import {h, say} from './dom.js';
import {store} from './store.js';
import {runtime_label} from './runtimes.js';
import {show_shortcuts} from './shortcuts.js';
import {announce} from './notices.js';
import {t} from './texts.js';

const places = ['track', 'pose', 'runs', 'results', 'doctor', 'troubleshooting'];
const links = new Map();

const themes = ['system', 'light', 'dark'];

function theme_button() {
    const now = () => document.documentElement.dataset.theme ?? 'system';
    const button = h('button', {type: 'button', class: 'icon plain', onclick: () => {
        const next = themes[(themes.indexOf(now()) + 1) % themes.length];
        if (next === 'system') delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = next;
        try {
            localStorage.setItem('skitter.theme', next);
        } catch { /* lasts as long as the page */ }
        show();
        announce(button.title);
        store.set('theme', next);
    }}, '');
    const show = () => {
        button.title = t('theme.now', {theme: t(`theme.${now()}`)});
        button.setAttribute('aria-label', button.title);
        button.textContent = {system: '◐', light: '☀', dark: '☾'}[now()];
    };
    show();
    return button;
}

export function build_header() {
    const running = h('span', {class: 'badge', hidden: true});
    const nav = h('nav', {'aria-label': t('nav')}, places.map((place) => {
        const link = h('a', {href: `#/${place}`}, t(`place.${place}`), place === 'runs' ? [' ', running] : null);
        links.set(place, link);
        return link;
    }));
    const requested = h('b');
    const effective = h('b');
    const line = h('div', {class: 'runtime_line', id: 'runtime_line'},
        h('div', null, t('runtime.requested'), ' ', requested), h('div', null, t('runtime.effective'), ' ', effective));
    const offline = h('span', {class: 'state bad', role: 'status', hidden: true}, t('offline'));
    document.getElementById('skip').textContent = t('skip');
    document.getElementById('skip').addEventListener('click', (event) => {
        event.preventDefault();
        document.getElementById('main').focus();
    });
    document.getElementById('top').append(
        h('a', {class: 'brand', href: '#/track'}, h('img', {src: 'icon.svg', width: 26, height: 26, alt: ''}), t('name')),
        nav, offline, line, theme_button(),
        h('button', {type: 'button', class: 'icon plain', 'aria-label': t('keys.title'), title: t('keys.title'), onclick: show_shortcuts}, '?'));
    store.watch('runtimes', (state) => {
        const on = store.get('runs')?.find((r) => ['running', 'stopping'].includes(r.state) && r.runtime_requested);
        say(requested, runtime_label(on?.runtime_requested ?? state.saved));
        say(effective, on && !on.runtime ? t('runtime.not_yet') : runtime_label(on?.runtime ?? state.effective));
    });
    store.watch('runs', (runs) => {
        const on = runs.filter((r) => ['running', 'queued', 'stopping'].includes(r.state)).length;
        running.hidden = !on;
        running.textContent = on;
        running.setAttribute('aria-label', t('runs.on', {n: on}));
        if (store.get('runtimes')) store.set('runtimes', store.get('runtimes'));
    });
    store.watch('connected', (yes) => {
        offline.hidden = yes === true;
        say(offline, yes === 'stranger' ? t('stranger') : t('offline'));
    });
}

export function mark_place(place) {
    for (const [name, link] of links)
        if (name === place) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
}
