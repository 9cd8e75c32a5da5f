/* SPDX-License-Identifier: Apache-2.0 */
/* The Pose workspace: Inference (backend, models, thresholds, Runtime), Settings; predict this frame, predict all. */
import {h, fill, field, segments} from './dom.js';
import {kept} from './store.js';
import {workspace} from './workspace.js';
import {video_field, model_field, results_card, lay_out} from './work_fields.js';
import {runtime_chooser} from './runtime_chooser.js';
import {settings_panel} from './settings_panel.js';
import {skeleton_panel} from './skeleton.js';
import {use_pipelines} from './runtimes.js';
import {keys_of_view} from './shortcuts.js';
import {refresh_recent} from './recent.js';
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
    const video = video_field(s, work, (found) => {
        facts.video = found;
        changed();
    });
    const model = (key, label, why) => model_field(label, why, s[key], (found, path) => {
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
    });
    const yolo = model('yolo', t('pose.yolo_model'), t('pose.yolo_why'));
    const sleap = model('sleap', t('pose.sleap_model'), t('pose.sleap_why'));
    const second = model('second', t('track.centroid'), t('track.centroid_why'));
    const backend = segments('backend', t('pose.backend'), [['yolo', t('backend.yolo')], ['sleap', t('backend.sleap')]], s.backend, (v) => set_backend(v));
    const cuts = h('div', {class: 'row top_aligned'});

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

    const form = settings_panel('predict', s.values, {}, (o) => !(o.needs ?? []).includes(s.backend === 'sleap' ? 'yolo' : 'sleap'), () => changed());

    function changed() {
        keeper.save();
        work.changed();
    }

    function repipe() {
        yolo.element.hidden = s.backend !== 'yolo';
        sleap.element.hidden = second.element.hidden = s.backend !== 'sleap';
        fill(cuts, thresholds[s.backend].map(cut));
        const facts_now = facts[s.backend]?.model;
        skeleton.show(facts_now?.keypoints ?? [], facts_now?.edges ?? []);
        form.show();
        use_pipelines(pipelines());
        changed();
    }

    const page = h('div', {class: 'stack'},
        h('section', {class: 'card'}, h('h2', null, t('pose.inference')), video.element, backend, yolo.element, sleap.element, second.element, cuts),
        h('section', {class: 'card', id: 'performance'}, chooser),
        h('section', {class: 'card'}, h('h2', null, t('pose.skeleton')), skeleton.element), results_card(s, () => changed()));
    lay_out(main, t('pose.title'), [['inference', t('pose.inference'), page], ['settings', t('track.settings_tab'), form.element]], keeper, work);
    const end = keys_of_view([{key: 't', text: t('pose.this_frame'), run: work.test}, {key: 's', text: t('pose.all'), run: work.start}]);
    refresh_recent();
    repipe();
    return () => {
        end();
        chooser.close();
        work.close();
    };
}
