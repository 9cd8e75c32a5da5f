/* SPDX-License-Identifier: Apache-2.0 */
/* The Pose workspace: Inference (backend, models, thresholds, Runtime), Settings; predict this frame, predict all. */
import {h, fill, field, segments, tabs} from './dom.js';
import {api} from './api.js';
import {kept} from './store.js';
import {workspace} from './workspace.js';
import {path_field, dropped} from './path_field.js';
import {runtime_chooser} from './runtime_chooser.js';
import {settings_form} from './settings_form.js';
import {skeleton_panel} from './skeleton.js';
import {use_pipelines} from './runtimes.js';
import {keys_of_view} from './shortcuts.js';
import {problem, waiting} from './notices.js';
import {recent_of, refresh_recent} from './recent.js';
import {t} from './texts.js';

const usual = {tab: 'inference', video: '', backend: 'yolo', yolo: '', sleap: '', second: '', out: '', values: {}};

/* The two thresholds that people change, in front; the rest is under Settings. */
const thresholds = {yolo: [['conf', 0.25], ['iou', 0.7]], sleap: [['peak-threshold', 0.2]]};

export function open_pose(main) {
    const keeper = kept('pose', usual);
    const s = keeper.value;
    const facts = {yolo: null, sleap: null, second: null, video: null};
    const skeleton = skeleton_panel();

    const pipelines = () => [s.backend === 'sleap' ? 'sleap_pose' : facts.yolo?.model?.pipeline ?? 'yolo_pose'];
    const models = () => s.backend === 'sleap' ? [s.second, s.sleap].filter(Boolean) : [s.yolo];

    function missing() {
        if (!s.video || !facts.video) return t('track.need_video');
        return facts[s.backend] ? null : t('pose.need_model');
    }

    function wish() {
        const mine = new Set(thresholds[s.backend].map(([name]) => name));
        const other = new Set(Object.values(thresholds).flat().map(([name]) => name).filter((name) => !mine.has(name)));
        const settings = {source: [s.video], model: models()};
        for (const [name, value] of Object.entries(s.values)) if (!other.has(name)) settings[name] = value;
        if (s.out) settings.out = s.out;
        return {command: 'predict', settings};
    }

    const work = workspace({command: 'predict', wish, missing, words: {test: t('pose.this_frame'), start: t('pose.all'), idle: t('pose.idle')}});
    const chooser = runtime_chooser(t('pose.runtime'));
    const video = path_field({label: t('track.video'), why: t('track.video_why'), title: t('track.choose_video'), wants: ['video', 'images', 'image'],
        recent: () => recent_of('videos'), value: s.video, onfacts(found, path) {
            s.video = path;
            facts.video = found;
            work.show_video(found, path);
            changed();
        }});
    const model_field = (key, label, why) => path_field({label, why, title: t('track.choose_model'), wants: ['model'], recent: () => recent_of('models'), value: s[key],
        onfacts(found, path) {
            s[key] = path;
            facts[key] = found;
            if (found?.model && key !== 'second' && found.model.family !== key) {
                s[found.model.family] = path;
                facts[found.model.family] = found;
                (found.model.family === 'sleap' ? sleap : yolo).set(path);
                set_backend(found.model.family);
                return;
            }
            repipe();
        }});
    const yolo = model_field('yolo', t('pose.yolo_model'), t('pose.yolo_why'));
    const sleap = model_field('sleap', t('pose.sleap_model'), t('pose.sleap_why'));
    const second = model_field('second', t('track.centroid'), t('track.centroid_why'));
    const backend = segments('backend', t('pose.backend'), [['yolo', t('backend.yolo')], ['sleap', t('backend.sleap')]], s.backend, (v) => set_backend(v));
    const cuts = h('div', {class: 'row top_aligned'});
    const out = h('input', {type: 'text', value: s.out, placeholder: t('track.out_usual'), onchange: () => { s.out = out.value.trim(); changed(); }});

    function cut([name, fallback]) {
        const input = h('input', {type: 'number', min: 0, max: 1, step: 0.05, value: s.values[name] ?? '', placeholder: fallback, onchange: () => {
            const good = input.checkValidity();
            input.setAttribute('aria-invalid', String(!good));
            if (!good) return;
            if (input.value === '') delete s.values[name];
            else s.values[name] = Number(input.value);
            changed();
        }});
        return h('div', {class: 'grow'}, field(t(`pose.${name}`), input, t(`pose.${name}_why`)));
    }

    function set_backend(v) {
        s.backend = v;
        backend.choose(v);
        repipe();
    }

    const holder = h('div');
    let form = null;
    waiting(holder);
    api.settings('predict').then((table) => {
        form = settings_form(table, s.values, {}, (o) => !(o.needs ?? []).includes(s.backend === 'sleap' ? 'yolo' : 'sleap'), () => changed());
        fill(holder, form.element);
    }).catch((error) => fill(holder, problem(error)));

    function changed() {
        keeper.save();
        work.changed();
    }

    function repipe() {
        yolo.element.hidden = s.backend !== 'yolo';
        sleap.element.hidden = second.element.hidden = s.backend !== 'sleap';
        fill(cuts, thresholds[s.backend].map(cut));
        const model = facts[s.backend]?.model;
        skeleton.show(model?.keypoints ?? [], model?.edges ?? []);
        form?.show();
        use_pipelines(pipelines());
        changed();
    }

    const page = h('div', {class: 'stack'},
        h('section', {class: 'card'}, h('h2', null, t('pose.inference')), video.element, backend, yolo.element, sleap.element, second.element, cuts),
        h('section', {class: 'card', id: 'performance'}, chooser),
        h('section', {class: 'card'}, h('h2', null, t('pose.skeleton')), skeleton.element),
        h('section', {class: 'card'}, h('h2', null, t('track.results')), field(t('track.out'), out, t('track.out_why'))));
    const settings_page = h('div', {class: 'card'}, holder);
    const bar = tabs(t('pose.title'), [['inference', t('pose.inference'), page], ['settings', t('track.settings_tab'), settings_page]], s.tab, (v) => { s.tab = v; keeper.save(); });
    main.append(h('div', {class: 'split'}, h('div', {class: 'side stack'}, h('h1', null, t('pose.title')), bar, page, settings_page), work.element));
    work.player.stage.addEventListener('dragover', (event) => event.preventDefault());
    work.player.stage.addEventListener('drop', (event) => {
        event.preventDefault();
        const {path, name} = dropped(event);
        if (path) video.set(path);
        else video.open_browser(name);
    });
    const end = keys_of_view([{key: 't', text: t('pose.this_frame'), run: work.test}, {key: 's', text: t('pose.all'), run: work.start}]);
    refresh_recent();
    repipe();
    return () => {
        end();
        chooser.close();
        work.close();
    };
}
