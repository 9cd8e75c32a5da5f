/* SPDX-License-Identifier: Apache-2.0 */
/* Plots on a canvas, from the server's series: trajectory, speed, heading, occupancy, distance. Clicking into a plot
 * over time goes to that frame. */
import {h, say, segments} from './dom.js';
import {api} from './api.js';
import {colour_of} from './palette.js';
import {t} from './texts.js';

const kinds = ['trajectory', 'speed', 'heading', 'occupancy', 'distance'];
/* from dark to light, even for the eye and for colour-blind people */
const scale = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function shade(v) {
    const x = Math.max(0, Math.min(1, v)) * (scale.length - 1);
    const i = Math.min(scale.length - 2, Math.floor(x));
    return `rgb(${scale[i].map((a, k) => Math.round(a + (scale[i + 1][k] - a) * (x - i))).join(' ')})`;
}

function nice(most) {
    const step = 10 ** Math.floor(Math.log10(Math.max(1e-9, most)));
    return [1, 2, 5, 10].map((f) => f * step).find((v) => v >= most) ?? most;
}

const finite = (v) => v !== null && Number.isFinite(v);

/* A line that is seen on any ground. points: [x, y, whether the pen is lifted before it], or null for a gap. */
function rimmed_line(c, points, rim, colour) {
    for (const [style, width] of [[rim, 3], [colour, 1.6]]) {
        c.strokeStyle = style;
        c.lineWidth = width;
        c.lineJoin = 'round';
        c.beginPath();
        points.forEach((p, k) => {
            if (p && k && points[k - 1] && !p[2]) c.lineTo(p[0], p[1]);
            else if (p) c.moveTo(p[0], p[1]);
        });
        c.stroke();
    }
}

function bounds(series, kind) {
    if (kind === 'heading') return [-180, 180];
    let most = 0;
    for (const s of series) for (const v of s.value) if (finite(v) && v > most) most = v;
    return [0, nice(most || 1)];
}

export function plots({go, frame}) {
    let folder = '';
    let video = null;
    let tracks = [];
    let kind = 'trajectory';
    let data = null;
    let asking = null;
    const canvas = h('canvas', {role: 'img', class: 'plot'});
    const note = h('p', {class: 'dim small reserve_line', role: 'status'});
    const choice = segments('plot', {text: t('plots.title'), unseen: true}, kinds.map((k) => [k, t(`plots.${k}`)]), kind, (v) => { kind = v; ask(); });
    const element = h('div', {class: 'stack tight'}, choice, h('div', {class: 'plot_box'}, canvas), note);
    const colours = () => {
        const style = getComputedStyle(canvas);
        return {text: style.color, line: style.borderTopColor, back: style.backgroundColor};
    };

    function axes(c, box, low, high, unit, ink) {
        c.strokeStyle = ink.line;
        c.fillStyle = ink.text;
        c.lineWidth = 1;
        c.font = '12px system-ui, sans-serif';
        for (let i = 0; i <= 4; i++) {
            const y = box.y + box.h - box.h * i / 4;
            c.beginPath();
            c.moveTo(box.x, y + 0.5);
            c.lineTo(box.x + box.w, y + 0.5);
            c.stroke();
            c.textAlign = 'right';
            c.fillText(String(Number((low + (high - low) * i / 4).toPrecision(3))), box.x - 6, y + 4);
        }
        c.textAlign = 'left';
        c.fillText(unit, 4, 12);
        for (let i = 0; i <= 4; i++) {
            const n = Math.round((video.frames - 1) * i / 4);
            c.textAlign = i === 4 ? 'right' : i ? 'center' : 'left';
            c.fillText(String(n), box.x + box.w * i / 4, box.y + box.h + 16);
        }
    }

    const across = (n, box) => box.x + box.w * n / Math.max(1, video.frames - 1);
    const time_box = () => ({x: 52, y: 20, w: canvas.clientWidth - 64, h: canvas.clientHeight - 46});

    function draw_time(c, ink) {
        const box = time_box();
        const [low, high] = bounds(data.series, kind);
        axes(c, box, low, high, data.unit ?? '', ink);
        data.series.forEach((s, i) => {
            const colour = colour_of(s.id ?? i);
            let before = 0;
            rimmed_line(c, s.value.map((v, k) => {
                const turned = kind === 'heading' && Math.abs(v - before) > 180;
                before = v;
                return finite(v) ? [across(s.frame[k], box), box.y + box.h * (1 - (v - low) / (high - low)), turned] : null;
            }), ink.rim, colour);
        });
        c.strokeStyle = ink.text;
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(across(frame(), box), box.y);
        c.lineTo(across(frame(), box), box.y + box.h);
        c.stroke();
    }

    function picture_box() {
        const k = Math.min((canvas.clientWidth - 2) / video.width, (canvas.clientHeight - 2) / video.height);
        return {k, x: (canvas.clientWidth - video.width * k) / 2, y: (canvas.clientHeight - video.height * k) / 2};
    }

    function draw_paths(c, ink) {
        const {k, x, y} = picture_box();
        c.strokeStyle = ink.line;
        c.strokeRect(x, y, video.width * k, video.height * k);
        data.series.forEach((s, i) => {
            rimmed_line(c, s.x.map((v, n) => finite(v) ? [x + v * k, y + s.y[n] * k] : null), ink.rim, colour_of(s.id ?? i));
        });
    }

    function draw_cells(c, ink) {
        const {k, x, y} = picture_box();
        const most = Math.max(1, ...data.counts);
        const w = video.width * k / data.columns;
        const high = video.height * k / data.rows;
        for (let r = 0; r < data.rows; r++)
            for (let q = 0; q < data.columns; q++) {
                c.fillStyle = shade(Math.sqrt(data.counts[r * data.columns + q] / most));
                c.fillRect(x + q * w, y + r * high, w + 0.6, high + 0.6);
            }
        c.strokeStyle = ink.line;
        c.strokeRect(x, y, video.width * k, video.height * k);
    }

    function draw() {
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
        canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
        const c = canvas.getContext('2d');
        c.scale(ratio, ratio);
        if (!data || !video) return;
        const ink = {...colours(), rim: 'rgba(8, 10, 12, 0.55)'};
        if (kind === 'trajectory') draw_paths(c, ink);
        else if (kind === 'occupancy') draw_cells(c, ink);
        else draw_time(c, ink);
    }

    function summary() {
        if (kind === 'occupancy') return t('plots.occupancy_says', {columns: data.columns, rows: data.rows});
        const n = data.series.length;
        if (!n) return t('plots.empty');
        if (kind === 'trajectory') return t('plots.trajectory_says', {n});
        const values = data.series.flatMap((s) => s.value.filter(finite));
        const mean = values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
        return kind === 'heading' ? t('plots.heading_says', {n}) : t(`plots.${kind}_says`, {n, mean: mean.toFixed(1), unit: data.unit ?? ''});
    }

    async function ask() {
        asking?.abort();
        const mine = asking = new AbortController();
        if (!folder) return;
        try {
            const got = await api.view_series(folder, kind, tracks, mine.signal);
            if (mine.signal.aborted) return;
            data = got;
            draw();
            const text = summary();
            canvas.setAttribute('aria-label', `${t(`plots.${kind}`)}: ${text}`);
            canvas.classList.toggle('goes', ['speed', 'heading', 'distance'].includes(kind));
            say(note, text);
        } catch (error) {
            if (error.name === 'AbortError') return;
            data = null;
            draw();
            say(note, error.message);
        }
    }

    canvas.addEventListener('click', (event) => {
        if (!video || !['speed', 'heading', 'distance'].includes(kind)) return;
        const box = time_box();
        go((event.clientX - canvas.getBoundingClientRect().left - box.x) / box.w * (video.frames - 1));
    });
    canvas.setAttribute('aria-label', t('plots.title'));
    const watcher = new ResizeObserver(draw);
    watcher.observe(canvas);
    return {element,
        open(of_folder, of_video, of_tracks) {
            folder = of_folder;
            video = of_video;
            tracks = of_tracks;
            ask();
        },
        cursor() { if (['speed', 'heading', 'distance'].includes(kind)) draw(); },
        redraw: draw,
        close: () => { asking?.abort(); watcher.disconnect(); }};
}
