/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that both workspaces have, and how a workspace is laid out. */
import {h, field, fill, tabs} from './dom.js';
import {api} from './api.js';
import {complain} from './notices.js';
import {path_field, dropped} from './path_field.js';
import {recent_of} from './recent.js';
import {t} from './texts.js';

/* The video, typed, browsed, or dropped on the stage. then(facts): it was looked at. */
export function video_field(s, work, then) {
    const topic = topic_choice(s, (found, path) => { work.show_video(found, path); then(found); });
    const video = path_field({topic: () => s.values.topic, label: t('track.video'), why: t('track.video_why'), title: t('track.choose_video'), wants: ['video', 'images', 'image'],
        recent: () => recent_of('videos'), value: s.video, onfacts(found, path) {
            if (path !== s.video) delete s.values.topic; /* another video has others */
            s.video = path;
            topic.offer(found, path);
            work.show_video(found, path);
            then(found);
        }});
    work.player.stage.addEventListener('dragover', (event) => event.preventDefault());
    work.player.stage.addEventListener('drop', (event) => {
        event.preventDefault();
        const {path, name} = dropped(event);
        if (path) video.set(path);
        else video.open_browser(name);
    });
    video.element.append(topic.element);
    return video;
}

/* Which images of a bag, where several topics have some: the run's --topic. */
function topic_choice(s, then) {
    const list = h('select', {data: {front: 'topic'}});
    const element = field(t('track.topic'), list, t('track.topic_why'));
    let path = '';
    element.hidden = true;
    list.addEventListener('change', async () => {
        s.values.topic = list.value;
        try {
            then(await api.probe(path, undefined, list.value), path);
        } catch (error) {
            complain(error);
        }
    });
    return {element, offer(found, at) {
        const topics = found?.video?.topics ?? [];
        path = at;
        element.hidden = topics.length < 2;
        if (topics.length < 2) delete s.values.topic;
        else s.values.topic = found.video.topic;
        fill(list, topics.map((one) => h('option', {value: one.name}, t('track.topic_of', {name: one.name, images: one.images, type: one.type.replace(/^.*\//, '')}))));
        list.value = s.values.topic ?? '';
    }};
}

export function model_field(label, why, value, onfacts, unfit) {
    return path_field({label, why, title: t('track.choose_model'), wants: ['model'], recent: () => recent_of('models'), value, onfacts, unfit});
}

/* A whole number of the settings that people change first. */
export function number_field(name, label, why, values, changed) {
    const input = h('input', {type: 'number', min: 1, step: 1, data: {front: name}, onchange: () => {
        input.setAttribute('aria-invalid', String(!input.checkValidity()));
        if (!input.checkValidity()) return;
        if (input.value === '') delete values[name];
        else values[name] = Number(input.value);
        changed();
    }});
    const again = () => { input.value = values[name] ?? ''; };
    again();
    return {element: field(label, input, why), again};
}

export function results_card(s, changed) {
    const out = h('input', {type: 'text', value: s.out, placeholder: t('track.out_usual'), onchange: () => { s.out = out.value.trim(); changed(); }});
    return h('section', {class: 'card'}, h('h2', null, t('track.results')), field(t('track.out'), out, t('track.out_why')));
}

/* pages: [[id, title, element]], of which the one that was open last is. */
export function lay_out(main, title, pages, keeper, work) {
    const bar = tabs(title, pages, keeper.value.tab, (id) => { keeper.value.tab = id; keeper.save(); });
    main.append(h('div', {class: 'split'}, h('div', {class: 'side stack'}, h('h1', null, title), bar, pages.map(([, , page]) => page)), work.element));
}
