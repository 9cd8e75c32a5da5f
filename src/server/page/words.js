/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and facts as people read them. */
import {t} from './texts.js';

export function bytes_text(n) {
    if (!Number.isFinite(n)) return '';
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let i = 0;
    while (n >= 1000 && i < units.length - 1) n /= 1000, i += 1;
    return `${n < 10 && i ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

export function seconds_text(s) {
    if (!Number.isFinite(s)) return '–';
    if (s < 59.5) return t('time.s', {s: s < 10 ? s.toFixed(1) : Math.round(s)});
    const whole = Math.round(s);
    const m = Math.floor(whole / 60);
    return m < 60 ? t('time.m', {m, s: whole % 60}) : t('time.h', {h: Math.floor(m / 60), m: m % 60});
}

export const number_text = (v, digits = 1) => Number.isFinite(v) ? v.toFixed(digits) : '–';

export const name_of = (path) => path ? path.replace(/\/+$/, '').split('/').pop() : '';

export function facts_text(found) {
    if (found.video) {
        const v = found.video;
        return t('facts.video', {width: v.width, height: v.height, frames: v.frames > 0 ? v.frames : '?', fps: number_text(v.fps, 1), time: seconds_text(v.seconds)});
    }
    if (found.model) {
        const m = found.model;
        return t('facts.model', {family: m.family === 'sleap' ? t('backend.sleap') : t('backend.yolo'), task: m.task,
            more: m.keypoints?.length ? t('facts.keypoints', {n: m.keypoints.length}) : m.classes?.length ? t('facts.classes', {n: m.classes.length}) : ''});
    }
    return t(`kind.${found.kind}`);
}
