/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of a video with a scrubber under it. Picture and drawing change together: a frame is shown once both are
 * there. Only the newest wish is followed, however fast somebody drags; a frame that takes long to decode is shown by earlier ones
 * on the way to it, with what belongs to those drawn in. */
import {h, say} from './dom.js';
import {api} from './api.js';
import {t} from './texts.js';

const most_kept = 48;
const within = 200; /* ms that a picture may take … */
const most_early = 25; /* … so often for one frame: two pages that jump about in one video could hinder each other for ever */

export function player() {
    const canvas = h('canvas', {role: 'img', 'aria-label': t('stage.empty')});
    const hint = h('div', {class: 'stage_hint'}, t('stage.empty'));
    const stage = h('div', {class: 'stage'}, canvas, hint);
    const range = h('input', {type: 'range', min: 0, max: 0, value: 0, step: 1, disabled: true, 'aria-label': t('stage.frame')});
    const number = h('input', {type: 'number', min: 0, value: 0, disabled: true, 'aria-label': t('stage.frame_number')});
    const time = h('span', {class: 'dim small time'}, '');
    const play = h('button', {type: 'button', class: 'icon', disabled: true, 'aria-label': t('stage.play'), 'aria-pressed': 'false'}, '▶');
    const marks = h('canvas', {class: 'marks', 'aria-hidden': 'true'});
    const element = h('div', {class: 'player'}, stage,
        h('div', {class: 'scrubber'}, play, h('div', {class: 'slide'}, range, marks), number, time));

    let video = null;
    let shown = -1;
    let wanted = -1;
    let busy = null;
    let playing = false;
    let picture = null;
    const pictures = new Map();
    const life = new AbortController();

    const unit = () => video.width / Math.max(1, canvas.clientWidth);

    function paint() {
        if (!video) return;
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const wide = Math.max(1, Math.round(canvas.clientWidth * ratio));
        const high = Math.max(1, Math.round(canvas.clientHeight * ratio));
        if (canvas.width !== wide || canvas.height !== high) {
            canvas.width = wide;
            canvas.height = high;
        }
        const c = canvas.getContext('2d');
        c.setTransform(1, 0, 0, 1, 0, 0);
        c.fillStyle = '#0d1014';
        c.fillRect(0, 0, wide, high);
        if (picture) c.drawImage(picture, 0, 0, wide, high);
        c.setTransform(wide / video.width, 0, 0, high / video.height, 0, 0);
        video.draw?.(c, shown, unit());
        canvas.dataset.frame = shown;
    }

    /* The frame's picture, or that of an earlier one on the way to it. */
    async function picture_of(n, patient) {
        if (!video.url) return {image: null, frame: n};
        const key = video.url(n);
        if (pictures.has(key)) {
            const image = pictures.get(key);
            pictures.delete(key);
            pictures.set(key, image);
            return {image, frame: n};
        }
        const {image, frame} = await api.picture(patient ? key : video.url(n, within), life.signal);
        if (frame !== null && frame !== n) return {image, frame};
        pictures.set(key, image);
        if (pictures.size > most_kept) pictures.delete(pictures.keys().next().value);
        return {image, frame: n};
    }

    async function follow() {
        if (busy) return;
        busy = true;
        let early = 0;
        while (video && wanted !== shown && !life.signal.aborted) {
            const n = wanted;
            const mine = video;
            const prepare = (frame) => Promise.resolve(mine.prepare?.(frame)).catch(() => {});
            const [{image, frame}] = await Promise.all([
                picture_of(n, early > most_early).catch(() => {
                    if (!life.signal.aborted) mine.onmissing?.(n);
                    return {image: null, frame: n};
                }),
                prepare(n),
            ]);
            if (frame !== n) await prepare(frame);
            if (life.signal.aborted || video !== mine) break;
            early = frame === n ? 0 : early + 1;
            picture = image;
            shown = frame;
            say(hint, mine.url && !image ? t('stage.no_picture', {n}) : t('stage.empty'));
            hint.hidden = !mine.url || !!image;
            paint();
            show_numbers();
            mine.onframe?.(frame);
        }
        busy = false;
        if (playing && video && shown === wanted) next_of_play();
    }

    function show_numbers() {
        if (document.activeElement !== number) number.value = shown;
        range.value = wanted;
        const seconds = video.fps ? shown / video.fps : null;
        say(time, seconds === null ? t('stage.of', {n: video.frames}) : t('stage.at', {seconds: seconds.toFixed(2), n: video.frames}));
        range.setAttribute('aria-valuetext', t('stage.value', {n: shown, seconds: seconds === null ? '' : seconds.toFixed(2)}));
    }

    function go(n) {
        if (!video) return;
        wanted = Math.max(0, Math.min(video.frames - 1, Math.round(n) || 0));
        range.value = wanted;
        follow();
    }

    let due = 0;
    function next_of_play() {
        const now = performance.now();
        const step = 1000 / (video.fps || 25);
        due = Math.max(due + step, now);
        setTimeout(() => {
            if (!playing) return;
            if (wanted >= video.frames - 1) set_play(false);
            else go(wanted + 1);
        }, due - now);
    }

    function set_play(on) {
        playing = on && !!video;
        play.textContent = playing ? '❚❚' : '▶';
        play.setAttribute('aria-label', playing ? t('stage.pause') : t('stage.play'));
        play.setAttribute('aria-pressed', String(playing));
        due = performance.now();
        if (playing) go(wanted >= video.frames - 1 ? 0 : wanted + 1);
    }

    function draw_marks() {
        const list = video?.marks ?? [];
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        marks.width = Math.max(1, Math.round(marks.clientWidth * ratio));
        marks.height = Math.max(1, Math.round(marks.clientHeight * ratio));
        const c = marks.getContext('2d');
        c.fillStyle = getComputedStyle(marks).color;
        for (const n of list) c.fillRect(n / Math.max(1, video.frames - 1) * (marks.width - 2 * ratio), 0, 2 * ratio, marks.height);
    }

    range.addEventListener('input', () => go(Number(range.value)));
    range.addEventListener('keydown', (event) => {
        if (!event.shiftKey || !video) return;
        const second = Math.max(1, Math.round(video.fps || 25));
        const step = {ArrowLeft: -second, ArrowDown: -second, ArrowRight: second, ArrowUp: second}[event.key];
        if (!step) return;
        event.preventDefault();
        go(wanted + step);
    });
    number.addEventListener('change', () => go(Number(number.value)));
    play.addEventListener('click', () => set_play(!playing));
    const watcher = new ResizeObserver(() => { paint(); draw_marks(); });
    watcher.observe(stage);

    function enable(on) {
        for (const control of [range, number, play]) control.disabled = !on;
    }

    return {
        element, stage, canvas, hint,
        /* {frames, width, height, fps, url(n), prepare(n), draw(context, n, unit), onframe(n), onmissing(n), marks, label} */
        open(of, at = 0) {
            set_play(false);
            video = of;
            shown = wanted = -1;
            picture = null;
            enable(!!of && of.frames > 1);
            hint.hidden = !!of;
            say(hint, t('stage.empty'));
            if (!of) {
                canvas.width = canvas.width;
                canvas.setAttribute('aria-label', t('stage.empty'));
                return;
            }
            stage.style.setProperty('--ratio', of.width / of.height);
            canvas.setAttribute('aria-label', of.label ?? t('stage.label'));
            range.max = number.max = of.frames - 1;
            draw_marks();
            go(Math.min(at, of.frames - 1));
        },
        video: () => video,
        frame: () => Math.max(0, shown),
        wanted: () => wanted,
        go, redraw: paint, play: () => set_play(!playing),
        marks(list) { if (video) video.marks = list; draw_marks(); },
        /* A point of the screen in the frame's pixels. */
        point(event) {
            const box = canvas.getBoundingClientRect();
            const within = (v, most) => Math.max(0, Math.min(most, v));
            return [within((event.clientX - box.left) / box.width, 1) * video.width, within((event.clientY - box.top) / box.height, 1) * video.height];
        },
        close() {
            playing = false;
            life.abort();
            watcher.disconnect();
            pictures.clear();
            video = null;
        },
    };
}
