/* SPDX-License-Identifier: Apache-2.0 */
/* Elements without markup in strings: h('button', {class: 'main', onclick: f}, text). */

const properties = new Set(['value', 'checked', 'disabled', 'hidden', 'open', 'selected', 'indeterminate', 'htmlFor']);

export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false && !properties.has(name)) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (properties.has(name)) element[name] = value;
        else if (name === 'data') Object.assign(element.dataset, value);
        else element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...flat(children));
    return element;
}

function flat(children) {
    return children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);
}

export function fill(element, ...children) {
    element.replaceChildren(...flat(children));
    return element;
}

/* Changes text only where it differs: a screen reader is not told twice. */
export function say(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

let made = 0;
export function fresh_id(stem) {
    made += 1;
    return `${stem}_${made}`;
}

/* A label above its control; `why` explains below. */
export function field(label, control, why) {
    control.id ||= fresh_id('field');
    const note = why ? h('div', {class: 'why', id: `${control.id}_why`}, why) : null;
    if (note) control.setAttribute('aria-describedby', note.id);
    return h('div', {class: 'field'}, h('label', {htmlFor: control.id}, label), control, note);
}

/* A choice of few, shown side by side. options: [[value, text]]. */
export function segments(name, legend, options, value, onchange) {
    const id = fresh_id(name);
    const inputs = options.map(([v]) =>
        h('input', {type: 'radio', name: id, value: v, checked: v === value, onchange: () => onchange(v)}));
    const set = h('fieldset', {class: 'stack tight'}, h('legend', {class: legend.unseen ? 'unseen' : null}, legend.text ?? legend),
        h('div', {class: 'segments'}, options.map(([, text], i) => h('label', null, inputs[i], text))));
    set.choose = (v) => inputs.forEach((input) => { input.checked = input.value === v; });
    set.value = () => inputs.find((input) => input.checked)?.value;
    return set;
}

export function check(label, checked, onchange) {
    const input = h('input', {type: 'checkbox', checked, onchange: () => onchange(input.checked)});
    const whole = h('label', {class: 'check'}, input, h('span', null, label));
    whole.input = input;
    return whole;
}

/* Tabs with arrow keys; pages: [[id, title, element]]. */
export function tabs(label, pages, chosen, onchoose) {
    const buttons = pages.map(([id, title, page]) => {
        page.id ||= fresh_id('tab_page');
        page.setAttribute('role', 'tabpanel');
        const button = h('button', {type: 'button', role: 'tab', id: fresh_id('tab'), 'aria-controls': page.id, data: {tab: id}}, title);
        page.setAttribute('aria-labelledby', button.id);
        return button;
    });
    const choose = (index, focus) => {
        buttons.forEach((b, i) => {
            b.setAttribute('aria-selected', String(i === index));
            b.tabIndex = i === index ? 0 : -1;
            pages[i][2].hidden = i !== index;
        });
        if (focus) buttons[index].focus();
        onchoose?.(pages[index][0]);
    };
    buttons.forEach((b, i) => {
        b.addEventListener('click', () => choose(i));
        b.addEventListener('keydown', (e) => {
            const to = {ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: buttons.length - 1}[e.key];
            if (to === undefined) return;
            e.preventDefault();
            choose((to + buttons.length) % buttons.length, true);
        });
    });
    const list = h('div', {class: 'tabs', role: 'tablist', 'aria-label': label}, buttons);
    choose(Math.max(0, pages.findIndex(([id]) => id === chosen)));
    return list;
}
