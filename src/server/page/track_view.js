/* SPDX-License-Identifier: Apache-2.0 */
/* The Track workspace: Get Started (files, what to run, Performance → Compute runtime), Region, Settings. */
import {h, check, segments} from './dom.js';
import {api} from './api.js';
import {kept, store} from './store.js';
import {workspace} from './workspace.js';
import {video_field, model_field, results_card, lay_out} from './work_fields.js';
import {region_list} from './region_list.js';
import {runtime_chooser} from './runtime_chooser.js';
import {settings_panel} from './settings_panel.js';
import {use_pipelines} from './runtimes.js';
import {keys_of_view} from './shortcuts.js';
import {complain, notice} from './notices.js';
import {refresh_recent} from './recent.js';
import {t} from './texts.js';

const usual = {tab: 'start', video: '', detection: true, method: 'model', detector: '', pose: false, backend: 'yolo', pose_model: '', centroid: '',
    regions: [], out: '', values: {}, sets: {}};

export function open_track(main) {
    const keeper = kept('track', usual);
    const s = keeper.value;
    const facts = {detector: null, pose: null, centroid: null, video: null};
    const by_model = () => s.detection && s.method === 'model';
    const background = () => s.detection && s.method === 'background';
    const pose_on = () => s.pose;

    /* Which pipelines this asks for: the models' own where they are known. */
    function pipelines() {
        const list = [];
        if (by_model()) list.push(facts.detector?.model?.pipeline ?? 'yolo_obb_detection');
        if (pose_on()) list.push(s.backend === 'sleap' ? 'sleap_pose' : 'yolo_pose');
        return [...new Set(list)];
    }

    function models() {
        const list = [];
        if (by_model()) list.push(s.detector);
        else if (!s.detection && pose_on() && s.backend === 'sleap' && s.centroid) list.push(s.centroid);
        if (pose_on()) list.push(s.pose_model);
        return list;
    }

    function missing() {
        if (!s.video || !facts.video) return t('track.need_video');
        if (!s.detection && !s.pose) return t('track.need_something');
        if (by_model() && !facts.detector) return t('track.need_detector');
        if (pose_on() && !facts.pose) return t('track.need_pose');
        return null;
    }

    function wish() {
        const settings = {...s.values, source: [s.video]};
        if (models().length) settings.model = models();
        if (background()) settings.detector = 'background';
        if (s.regions.length) settings.roi = [...s.regions];
        if (s.out) settings.out = s.out;
        if (Object.keys(s.sets).length) settings.set = {...s.sets};
        return {command: 'track', settings};
    }

    const work = workspace({command: 'track', wish, missing, extra_draw: (c, unit) => regions.draw(c, unit),
        words: {test: t('track.test'), start: t('track.start'), idle: t('track.idle')}});
    const regions = region_list(work.player, s.regions, () => changed());
    const chooser = runtime_chooser(t('track.runtime'));

    const video = video_field(s, work, (found) => {
        facts.video = found;
        changed();
    });
    const model = (key, slot, label, why, unfit) => model_field(label, why, s[key], (found, path) => {
        s[key] = path;
        facts[slot] = found;
        if (slot === 'pose' && found?.model && found.model.family !== s.backend) set_backend(found.model.family);
        repipe();
    }, unfit);
    const detector = model('detector', 'detector', t('track.detector'), t('track.detector_why'));
    const pose_model = model('pose_model', 'pose', t('track.pose_model'), t('track.pose_model_why'),
        ({model: m}) => m.keypoints?.length && m.task !== 'centroid' ? null : t('track.no_keypoints', {task: m.task}));
    const centroid = model('centroid', 'centroid', t('track.centroid'), t('track.centroid_why'));
    const method = segments('method', {text: t('track.method'), unseen: true}, [['model', t('track.by_model')], ['background', t('track.by_background')]], s.method, (v) => { s.method = v; repipe(); });
    const backend = segments('backend', {text: t('track.backend'), unseen: true}, [['yolo', t('backend.yolo')], ['sleap', t('backend.sleap')]], s.backend, (v) => set_backend(v));
    const detection_on = check(t('track.detection'), s.detection, (v) => { s.detection = v; repipe(); });
    const pose_switch = check(t('track.pose'), s.pose, (v) => { s.pose = v; repipe(); });

    function set_backend(v) {
        s.backend = v;
        backend.choose(v);
        repipe();
    }

    const family_fits = (o) => {
        const needs = o.needs ?? [];
        const sleap = pose_on() && s.backend === 'sleap';
        const yolo = by_model() || pose_on() && s.backend === 'yolo';
        if (o.name?.startsWith('background_')) return background();
        return !(needs.includes('sleap') && !sleap) && !(needs.includes('yolo') && !yolo);
    };
    const form = settings_panel('track', s.values, s.sets, family_fits, () => changed());

    function changed() {
        keeper.save();
        work.changed();
    }

    /* A switch was turned: other fields, other runtimes. */
    function repipe() {
        method.hidden = !s.detection;
        detector.element.hidden = !by_model();
        backend.hidden = pose_model.element.hidden = !pose_on();
        centroid.element.hidden = !(pose_on() && s.backend === 'sleap' && !s.detection);
        form.show();
        use_pipelines(pipelines());
        changed();
    }

    async function demo() {
        try {
            const done = notice(t('demo.making'));
            const made = await api.demo().finally(done);
            s.detection = detection_on.input.checked = true;
            s.method = 'model';
            method.choose('model');
            await Promise.all([video.set(made.video), detector.set(made.detector)]);
            if (made.pose && !s.pose_model) pose_model.set(made.pose);
            s.values.animals ??= made.animals;
            form.again();
            repipe();
            notice(t('demo.ready'));
        } catch (error) {
            complain(error);
        }
    }

    const start_page = h('div', {class: 'stack'},
        h('section', {class: 'card'}, h('h2', null, t('track.files')), video.element,
            h('div', {class: 'row'}, h('button', {type: 'button', class: 'small', id: 'demo', onclick: demo}, t('demo.try')), h('span', {class: 'dim small'}, t('demo.why')))),
        h('section', {class: 'card'}, h('h2', null, t('track.pipelines')), detection_on, method, detector.element,
            pose_switch, backend, pose_model.element, centroid.element),
        h('section', {class: 'card', id: 'performance'}, h('h2', null, t('track.performance')), chooser), results_card(s, () => changed()));
    const region_page = h('div', {class: 'card'}, regions.element);
    lay_out(main, t('track.title'), [['start', t('track.start_tab'), start_page], ['region', t('track.region_tab'), region_page],
        ['settings', t('track.settings_tab'), form.element]], keeper, work);
    const ends = [keys_of_view([
        {key: 't', text: t('track.test'), run: work.test},
        {key: 's', text: t('track.start'), run: work.start},
        {key: 'Escape', shown: 'Esc', text: t('roi.giveup'), run: regions.giveup},
    ]), store.watch('runs', (runs) => { if (runs.length) refresh_recent(); })];
    refresh_recent();
    repipe();
    return () => {
        ends.forEach((end) => end());
        chooser.close();
        work.close();
    };
}
