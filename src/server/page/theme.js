/* SPDX-License-Identifier: Apache-2.0 */
/* Light or dark before the first paint; a plain script, so that it runs before the page is drawn. */
(() => {
    try {
        const theme = localStorage.getItem('skitter.theme');
        if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    } catch {
        /* no storage: as the system has it */
    }
})();
