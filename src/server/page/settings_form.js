/* SPDX-License-Identifier: Apache-2.0 */
/* Every setting of a command, made from the command's own table: what it does, its default, its range. Only what was
 * changed is sent. */
import {h, fill, fresh_id} from './dom.js';
import {t} from './texts.js';

/* Those with a place of their own in the workspaces. */
const elsewhere = new Set(['source', 'model', 'out', 'roi', 'roi-exclude', 'runtime', 'detector', 'set', 'json', 'events', 'help', 'quiet', 'verbose', 'resume', 'restart']);
/* In the order, and under the names, of the original's tabs; the tracker's own settings stand among the command's. */
const groups = [
    ['found', ['animals', 'conf', 'iou', 'classes', 'max-det', 'agnostic', 'detections', 'body', 'min_score', 'min_area', 'max_area', 'min_aspect', 'max_aspect',
        'max_overlap', 'max_detections']],
    ['individuals', ['pose', 'peak-threshold', 'max-instances', 'centroid-peak-threshold', 'crop-batch', 'crop-turned', 'mask-neighbours', 'looks']],
    ['tracking', ['tracker', 'fps', 'tell-covered', 'config']],
    ['clean', ['online', 'offline-steps', 'steady', 'stitch_gap', 'interpolate_gap', 'flip_burst', 'shortest', 'velocity_limit', 'smoothing']],
    ['source', ['frames', 'roi-mask', 'colour', 'hwaccel', 'max-pixels', 'loop', 'video-list']],
    ['results', ['format', 'save-overlay', 'draw', 'line-width', 'no-empty', 'no-report']],
    ['speed', ['batch', 'threads', 'precision', 'imgsz', 'rect', 'nms', 'devices', 'allow-failover', 'allow-fallback', 'cache', 'no-cache']],
];

function group_of(name, otherwise) {
    if (name.startsWith('background_')) return 'found';
    return groups.find(([, names]) => names.includes(name))?.[0] ?? otherwise;
}

function control_of(option, value, change) {
    if (option.kind === 'flag') {
        const input = h('input', {type: 'checkbox', checked: value === true, onchange: () => change(input.checked || undefined)});
        return input;
    }
    if (option.kind === 'choice') {
        const input = h('select', {onchange: () => change(input.value || undefined)},
            h('option', {value: ''}, option.default ? t('settings.usual', {value: option.default}) : t('settings.none')),
            option.choices.map((c) => h('option', {value: c, selected: c === value}, c)));
        return input;
    }
    const number = option.kind === 'int' || option.kind === 'real';
    const input = h('input', {type: number ? 'number' : 'text', value: value ?? '', placeholder: option.default ?? '',
        min: number && option.min !== undefined && option.min !== null ? option.min : null,
        max: number && option.max !== undefined && option.max !== null ? option.max : null,
        step: option.kind === 'int' ? 1 : number ? 'any' : null, onchange: () => {
            const good = input.checkValidity();
            input.setAttribute('aria-invalid', String(!good));
            if (good) change(input.value === '' ? undefined : number ? Number(input.value) : input.value);
        }});
    return input;
}

function range_text(option) {
    const parts = [];
    if (option.default !== undefined && option.default !== null && option.default !== '') parts.push(t('settings.default', {value: option.default}));
    if (Number.isFinite(option.min) && Number.isFinite(option.max)) parts.push(t('settings.range', {min: option.min, max: option.max}));
    if (option.unit) parts.push(option.unit);
    return parts.join(' · ');
}

function row(option, shown_name, values, changed) {
    const id = fresh_id('setting');
    const undo = h('button', {type: 'button', class: 'small plain', 'aria-label': t('settings.undo', {name: shown_name})}, t('settings.undo_short'));
    const put = (value) => {
        if (value === undefined) delete values[option.name];
        else values[option.name] = value;
        undo.disabled = !(option.name in values);
        changed();
    };
    let control = null;
    const holder = h('div', {class: 'grow'});
    const make = () => {
        control = control_of(option, values[option.name], put);
        control.id = id;
        control.setAttribute('aria-describedby', `${id}_why`);
        fill(holder, control);
    };
    make();
    undo.disabled = !(option.name in values);
    undo.addEventListener('click', () => { put(undefined); make(); control.focus(); });
    const element = h('div', {class: 'setting', data: {name: option.name}},
        h('label', {htmlFor: id, class: 'mono'}, shown_name), h('div', {class: 'row tight'}, holder, undo),
        h('div', {class: 'why dim small', id: `${id}_why`}, option.help, ' ', h('span', {class: 'range'}, range_text(option))));
    element.again = () => { make(); undo.disabled = !(option.name in values); };
    return element;
}

/* table: the server's; values and sets: what was changed, by name; fits(option): does it mean anything now? */
export function settings_form(table, values, sets, fits, changed) {
    const search = h('input', {type: 'search', class: 'settings_search', placeholder: t('settings.search'), 'aria-label': t('settings.search')});
    const rows = new Map();
    const boxes = [];
    const sections = new Map([...groups.map(([g]) => g), 'more'].map((g) => [g, []]));
    for (const option of table.options)
        if (!elsewhere.has(option.name)) sections.get(group_of(option.name, 'more')).push([option, row(option, `--${option.name}`, values, changed)]);
    const options = new Set(table.options.map((o) => o.name));
    for (const option of table.set ?? []) /* what is an option, too, is one row */
        if (!options.has(option.name)) sections.get(group_of(option.name, 'tracking')).push([option, row({kind: 'real', ...option}, option.name, sets, changed)]);
    for (const [name, list] of sections) {
        if (!list.length) continue;
        const box = h('details', {open: name === 'found'}, h('summary', null, t(`settings.group.${name}`)),
            h('div', {class: 'stack settings'}, list.map(([, element]) => element)));
        boxes.push(box);
        for (const [option, element] of list) rows.set(element, {option, box});
    }
    function show() {
        const word = search.value.trim().toLowerCase();
        for (const [element, {option}] of rows)
            element.hidden = !fits(option) || !!word && !`${option.name} ${option.help}`.toLowerCase().includes(word);
        for (const box of boxes) {
            const any = [...rows].some(([element, r]) => r.box === box && !element.hidden);
            box.hidden = !any;
            if (word) box.open = any;
        }
    }
    search.addEventListener('input', show);
    search.addEventListener('change', show);
    show();
    return {element: h('div', {class: 'stack'}, h('p', {class: 'dim small'}, t('settings.why')), search, boxes), show,
        /* Values were changed elsewhere. */
        again: () => rows.forEach((_, element) => element.again())};
}
