/* SPDX-License-Identifier: Apache-2.0 */
/* Every request to the server is made here. An error has the server's text, which is the command line's. */

export class Refusal extends Error {
    constructor(status, message, hint) {
        super(message);
        this.status = status;
        this.hint = hint ?? '';
    }
}

const base = '/api/v1/';

function address(path, query) {
    const url = new URL(base + path, location.origin);
    for (const [name, value] of Object.entries(query ?? {}))
        if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, Array.isArray(value) ? value.join(',') : value);
    return url.pathname + url.search;
}

async function ask(method, path, query, body, signal) {
    const options = {method, signal, headers: {Accept: 'application/json'}, cache: 'no-store'};
    if (method !== 'GET') {
        options.headers['X-Skitter'] = '1';
        options.headers['Content-Type'] = 'application/json';
        options.body = JSON.stringify(body ?? {});
    }
    const answer = await fetch(address(path, query), options);
    const text = await answer.text();
    let data = null;
    try {
        data = text ? JSON.parse(text) : {};
    } catch {
        throw new Refusal(answer.status, text.slice(0, 300) || answer.statusText);
    }
    if (!answer.ok) throw new Refusal(answer.status, data.error?.message ?? answer.statusText, data.error?.hint);
    return data;
}

/* A picture and the frame that it shows, which may be an earlier one than was asked for. */
async function picture(url, signal) {
    const answer = await fetch(url, {signal});
    if (!answer.ok) throw new Refusal(answer.status, url);
    const frame = answer.headers.get('X-Skitter-Frame');
    const image = new Image();
    const place = URL.createObjectURL(await answer.blob());
    image.src = place;
    await image.decode().finally(() => URL.revokeObjectURL(place));
    return {image, frame: frame === null ? null : Number(frame)};
}

const get = (path, query, signal) => ask('GET', path, query, null, signal);
const post = (path, body, signal) => ask('POST', path, null, body, signal);

export const api = {
    about: () => get('about'),
    demo: () => post('demo'),
    runtimes: (pipelines, signal) => get('runtimes', {pipelines}, signal),
    runtime_set: (value, pipelines) => ask('PUT', 'runtime', null, {value, pipelines}),
    runtime_reset: (pipelines) => post('runtime/reset', {pipelines}),
    files: (path) => get('files', {path}),
    recent: () => get('recent'),
    recent_add: (path) => post('recent', {path}),
    probe: (path, signal, topic) => get('probe', {path, topic}, signal),
    picture,
    frame_url: (source, n, width, within, topic) => address('frame', {source, n, width, within, topic}),
    settings: (command) => get('settings', {command}),
    config: (path) => get('config', {path}),
    config_save: (path, wish, replace) => post('config', {path, replace, ...wish}),
    test_frame: (wish, signal) => post('test-frame', wish, signal),
    command: (wish, signal) => post('command', wish, signal),
    runs: () => get('runs'),
    run: (id) => get(`runs/${encodeURIComponent(id)}`),
    run_start: (wish) => post('runs', wish),
    run_stop: (id) => post(`runs/${encodeURIComponent(id)}/stop`),
    run_continue: (id) => post(`runs/${encodeURIComponent(id)}/continue`),
    run_remove: (id) => ask('DELETE', `runs/${encodeURIComponent(id)}`),
    preview_url: (id, tick) => address(`runs/${encodeURIComponent(id)}/preview.jpg`, {tick}),
    events: () => new EventSource(`${base}events`),
    view: (folder) => get('view', {folder}),
    view_frames: (folder, from, to, signal) => get('view/frames', {folder, from, to}, signal),
    view_tracks: (folder) => get('view/tracks', {folder}),
    view_series: (folder, kind, tracks, signal) => get('view/series', {folder, kind, tracks, points: 800}, signal),
    view_suspects: (folder) => get('view/suspects', {folder}),
    view_picture_url: (folder, n, width, within) => address('view/frame.jpg', {folder, n, width, within}),
    view_correct: (folder, correction) => post('view/corrections', {folder, ...correction}),
    view_undo: (folder) => post('view/undo', {folder}),
    view_redo: (folder) => post('view/redo', {folder}),
    view_save: (folder, to) => post('view/save', {folder, to}),
    download_url: (folder, format) => address('view/download', {folder, format}),
    doctor: (again) => get('doctor', {fresh: again ? 1 : null}),
    troubleshooting: (pipelines, again) => get('troubleshooting', {pipelines, fresh: again ? 1 : null}),
};
