# SPDX-License-Identifier: Apache-2.0
"""Is the page readable and operable? Contrast of every text as it is drawn (WCAG 2: 4.5, large text 3), an accessible
name for every control by Chromium's own accessibility tree, one h1, no id twice, focus that is seen."""

CONTRAST = r"""
const luminance = ([r, g, b]) => {
    const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
};
const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = '#000';
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
};
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
        const c = colour(getComputedStyle(e).backgroundColor);
        if (c[3] > 0) layers.push(c);
        if (c[3] >= 1) break;
    }
    let result = [255, 255, 255];
    if (!layers.length || layers.at(-1)[3] < 1) result = colour(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    for (const layer of layers.reverse()) result = over(layer, result);
    return result;
};
const bad = [];
const judge = (element, text, style) => {
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    if (opacity === 0) return;
    const back = ground(element);
    const front = colour(style.color);
    const seen = over([front[0], front[1], front[2], front[3] * opacity], back);
    const [a, b] = [luminance(seen), luminance(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const need = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700 ? 3 : 4.5;
    if (ratio < need) bad.push(`${ratio.toFixed(2)} < ${need}: "${text.trim().slice(0, 40)}" ${style.color} on ${back.map(Math.round)} <${element.tagName.toLowerCase()} class="${element.className}">`);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility({opacityProperty: false, visibilityProperty: true})) continue;
    if (element.closest('svg') || element.matches('.unseen, .unseen *, option, .skip')) continue;
    seen += 1;
    judge(element, walker.currentNode.textContent, getComputedStyle(element));
}
for (const input of document.querySelectorAll('input, select')) {
    if (!input.checkVisibility() || !['text', 'search', 'number', 'select-one'].includes(input.type)) continue;
    seen += 1;
    judge(input, input.value || 'value', getComputedStyle(input));
    if (input.placeholder) judge(input, input.placeholder, getComputedStyle(input, '::placeholder'));
}
return {seen, bad};
"""

STRUCTURE = r"""
const bad = [];
const ids = new Map();
for (const e of document.querySelectorAll('[id]')) ids.set(e.id, (ids.get(e.id) ?? 0) + 1);
for (const [id, n] of ids) if (n > 1) bad.push(`id ${id} ${n} times`);
if (document.querySelectorAll('h1').length !== 1) bad.push(`${document.querySelectorAll('h1').length} h1`);
for (const e of document.querySelectorAll('[aria-describedby], [aria-controls], [aria-labelledby]'))
    for (const name of ['aria-describedby', 'aria-controls', 'aria-labelledby'])
        for (const id of (e.getAttribute(name) ?? '').split(' ').filter(Boolean)) if (!document.getElementById(id)) bad.push(`${name} names no element: ${id}`);
for (const e of document.querySelectorAll('[style]')) if (e.style.cssText && !e.style.length) bad.push('style attribute');
for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) bad.push('tabindex above 0');
for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) bad.push('img without alt');
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) bad.push(`page is wider than the window: ${document.documentElement.scrollWidth} > ${document.documentElement.clientWidth}`);
return bad;
"""

CONTROLS = {"button", "checkbox", "combobox", "link", "listbox", "menuitem", "radio", "searchbox", "slider", "spinbutton",
            "switch", "tab", "textbox", "meter", "progressbar", "image", "dialog", "group", "tabpanel", "tablist"}
NAMELESS_IS_FINE = {"group"}


def names(browser):
    """Controls without a name, by the accessibility tree."""
    tree = browser.cdp("Accessibility.getFullAXTree")["nodes"]
    bad, seen = [], 0
    for node in tree:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in CONTROLS:
            continue
        seen += 1
        if not node.get("name", {}).get("value", "").strip() and role not in NAMELESS_IS_FINE:
            bad.append(f"{role} without a name ({node.get('backendDOMNodeId')})")
    return seen, bad


def check(browser, where):
    """Every complaint about what is shown now."""
    drawn = browser.script(CONTRAST)
    controls, nameless = names(browser)
    complaints = drawn["bad"] + nameless + browser.script(STRUCTURE)
    if drawn["seen"] < 5 or controls < 5:
        complaints.append(f"only {drawn['seen']} texts and {controls} controls were seen: is the page there?")
    return [f"{where}: {c}" for c in complaints]
