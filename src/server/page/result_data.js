/* SPDX-License-Identifier: Apache-2.0 */
/* The animals of a run's frames, fetched in pieces around where somebody looks; old pieces go. */
import {api} from './api.js';
import {place_of} from './draw.js';

const piece = 64;
const most = 40;

export function result_data(folder) {
    let pieces = new Map();
    let life = new AbortController();

    function ask(index) {
        if (index < 0) return null;
        const old = pieces.get(index);
        if (old) {
            pieces.delete(index);
            pieces.set(index, old);
            return old;
        }
        const wait = api.view_frames(folder, index * piece, (index + 1) * piece - 1, life.signal)
            .then(({frames}) => { made.frames = new Map(frames.map((f) => [f.frame, f.instances])); })
            .catch((error) => { pieces.delete(index); throw error; });
        const made = {wait, frames: null};
        pieces.set(index, made);
        if (pieces.size > most) pieces.delete(pieces.keys().next().value);
        return made;
    }

    const at = (n) => pieces.get(Math.floor(n / piece))?.frames?.get(n) ?? null;

    return {
        /* Frame n and the `before` frames that its trails need. */
        async prepare(n, before) {
            const last = Math.floor(n / piece);
            const wanted = [];
            for (let i = Math.max(0, Math.floor((n - before) / piece)); i <= last; i++) wanted.push(ask(i).wait);
            ask(last + 1)?.wait.catch(() => {});
            await Promise.all(wanted);
        },
        at: (n) => at(n) ?? [],
        trails(n, before, shows) {
            const trails = new Map();
            const here = at(n) ?? [];
            for (const one of here) if (Number.isInteger(one.track) && shows(one.track)) trails.set(one.track, []);
            for (let i = Math.max(0, n - before); i <= n; i++) {
                const there = at(i);
                for (const [track, points] of trails) {
                    const one = there?.find((x) => x.track === track);
                    points.push(one ? place_of(one) : null);
                }
            }
            return trails;
        },
        forget() {
            life.abort();
            life = new AbortController();
            pieces = new Map();
        },
    };
}
