/* SPDX-License-Identifier: Apache-2.0 */
/* What several components show, and who is told when it changes. What a person typed survives a reload. */

const values = new Map();
const listeners = new Map();

export const store = {
    get: (name) => values.get(name),
    set(name, value) {
        values.set(name, value);
        for (const tell of [...(listeners.get(name) ?? [])]) tell(value);
    },
    /* Calls `tell` now, if there is a value, and at every change; the answer ends it. */
    watch(name, tell) {
        if (!listeners.has(name)) listeners.set(name, new Set());
        listeners.get(name).add(tell);
        if (values.has(name)) tell(values.get(name));
        return () => listeners.get(name).delete(tell);
    },
};

/* An object kept in the browser under a name. */
export function kept(name, usual) {
    const key = `skitter.${name}`;
    const value = structuredClone(usual);
    try {
        const old = JSON.parse(localStorage.getItem(key) ?? '{}');
        for (const k of Object.keys(usual))
            if (k in old && typeof old[k] === typeof usual[k]) value[k] = old[k];
    } catch {
        /* nothing kept, or not ours */
    }
    return {
        value,
        save() {
            try {
                localStorage.setItem(key, JSON.stringify(value));
            } catch {
                /* no storage: it lasts as long as the page */
            }
        },
    };
}
