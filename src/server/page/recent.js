/* SPDX-License-Identifier: Apache-2.0 */
/* What was used last: the server's list. */
import {api} from './api.js';

let lists = {};

export async function refresh_recent() {
    try {
        lists = await api.recent();
    } catch {
        /* the fields work without it */
    }
}

/* Somebody chose this. */
export async function remember(path) {
    try {
        lists = await api.recent_add(path);
    } catch {
        /* no harm */
    }
}

export const recent_of = (kind) => lists[kind] ?? [];
