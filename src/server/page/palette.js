/* SPDX-License-Identifier: Apache-2.0 */
/* The identities' colours of the overlays that skitter writes (media/draw.c): told apart by colour-blind people. */
const identities = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7', '#ffffff', '#882255',
    '#9933ff', '#ddcc77', '#332288'];

export const colour_of = (i) => identities[((i % identities.length) + identities.length) % identities.length];

/* Black or white, whichever is read more easily on the colour. */
export function ink_on(colour) {
    const n = parseInt(colour.slice(1), 16);
    return (((n >> 16) & 255) * 299 + ((n >> 8) & 255) * 587 + (n & 255) * 114) / 1000 > 128 ? '#101010' : '#ffffff';
}
