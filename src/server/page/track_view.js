/* SPDX-License-Identifier: Apache-2.0 */
/* The Track workspace: Get Started (files, what to run, Performance → Compute runtime), Region, Settings. */
import {h, check, segments} from './dom.js';
import {api} from './api.js';
import {kept, store} from './store.js';
import {workspace} from './workspace.js';
import {video_field, model_field, number_field, results_card, lay_out} from './work_fields.js';
import {region_list} from './region_list.js';
import {runtime_chooser} from './runtime_chooser.js';
import {settings_panel} from './settings_panel.js';
import {config_files} from './config_files.js';
import {frame_range} from './frame_range.js';
import {more_videos} from './more_videos.js';
import {choose_runtime, use_pipelines} from './runtimes.js';
import {keys_of_view} from './shortcuts.js';
import {complain, notice} from './notices.js';
import {refresh_recent} from './recent.js';
import {t} from './texts.js';

const usual = {tab: 'start', video: '', detection: true, method: 'model', detector: '', pose: false, backend: 'yolo', pose_model: '', centroid: '',
    regions: [], out: '', values: {}, sets: {}, more: []};

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

    /* One run for each video; a folder that is named has one in it for each. */
    function wishes() {
        const mine = wish();
        const stem = (path) => path.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
        return [s.video, ...s.more.filter((path) => path !== s.video)].map((path, _, all) => ({...mine,
            settings: {...mine.settings, source: [path], ...(s.out && all.length > 1 ? {out: `${s.out}/${stem(path)}`} : {})}}));
    }

    const work = workspace({command: 'track', wish, wishes, missing, extra_draw: (c, unit) => regions.draw(c, unit),
        words: {test: t('track.test'), start: t('track.start'), idle: t('track.idle')}});
    const regions = region_list(work.player, s.regions, () => changed());
    const chooser = runtime_chooser(t('track.runtime'));
    const elsewhere = () => { form.again(); changed(); };
    const place = () => s.video.replace(/\/[^/]*$/, '');
    const more = more_videos(s.more, place, () => changed());
    const range = frame_range(work.player, s.values, elsewhere);
    const animals = number_field('animals', t('track.animals'), t('track.animals_why'), s.values, elsewhere);
    const files = config_files({wish: () => ({...wish(), settings: {...wish().settings, source: [s.video, ...s.more], out: undefined}}), missing, apply, place});

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

    /* The models of a run: alone they find or pose; SLEAP's first of two is the centroid; else the second poses. */
    async function put_models(list, still) {
        const facts_of = await Promise.all(list.map((path) => api.probe(path).then((f) => f.model).catch(() => null)));
        const poses = (m) => m?.pipeline?.endsWith('_pose');
        const last = facts_of.at(-1);
        const both = list.length > 1 && !poses(facts_of[0]);
        s.method = still ? 'background' : 'model';
        s.detection = still || both || !poses(last);
        s.pose = list.length > 0 && (still || list.length > 1 || poses(last));
        detection_on.input.checked = s.detection;
        pose_switch.input.checked = s.pose;
        method.choose(s.method);
        if (s.pose && last) set_backend(last.family);
        if (s.detection && !still && list.length) await detector.set(list[0]);
        if (!s.detection && list.length > 1) await centroid.set(list[0]);
        if (s.pose) await pose_model.set(list.at(-1));
    }

    /* A file's settings into the fields. What follows animals stays in a file that says nothing else, and counts from there. */
    async function apply({path, whole, settings, tracker, runtime}) {
        const {source = [], model = [], detector: by, roi = [], set, out: place, ...rest} = settings;
        for (const key of Object.keys(s.values)) delete s.values[key];
        for (const key of Object.keys(s.sets)) delete s.sets[key];
        Object.assign(s.values, rest);
        if (!whole) s.values.config = path;
        else for (const [name, value] of Object.entries(tracker)) s.sets[name] = value;
        if (!whole && tracker.animals) s.values.animals = tracker.animals;
        s.regions.splice(0, s.regions.length, ...roi);
        if (model.length || by === 'background') await put_models(model, by === 'background');
        s.more.splice(0, s.more.length, ...source.slice(1));
        if (source.length) await video.set(source[0]);
        more.again();
        form.again();
        range.again();
        animals.again();
        regions.again();
        repipe();
        if (runtime && runtime !== store.get('runtimes')?.saved) await choose_runtime(runtime);
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
            animals.again();
            repipe();
            notice(t('demo.ready'));
        } catch (error) {
            complain(error);
        }
    }

    const start_page = h('div', {class: 'stack'},
        h('section', {class: 'card'}, h('h2', null, t('track.files')), video.element, more.element,
            h('div', {class: 'row'}, h('button', {type: 'button', class: 'small', id: 'demo', onclick: demo}, t('demo.try')), h('span', {class: 'dim small'}, t('demo.why'))),
            h('div', {class: 'row top_aligned'}, h('div', {class: 'grow'}, animals.element)), range.element),
        h('section', {class: 'card'}, h('h2', null, t('track.pipelines')), detection_on, method, detector.element,
            pose_switch, backend, pose_model.element, centroid.element),
        h('section', {class: 'card', id: 'performance'}, h('h2', null, t('track.performance')), chooser), results_card(s, () => changed()),
        h('section', {class: 'card'}, h('h2', null, t('config.title')), files));
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
