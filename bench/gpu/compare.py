# SPDX-License-Identifier: Apache-2.0
"""Pearson correlation of skitter outputs with a reference: compare.py REFERENCE GOT (stems of .npy files)."""
import sys, numpy as np, glob, os
ref, got = sys.argv[1], sys.argv[2]
def files(stem):
    f = sorted(glob.glob(stem + '.*.npy')) or [stem + '.npy']
    return f
worst = 1.0; msg = []
for a, b in zip(files(ref), files(got)):
    x, y = np.load(a).astype(np.float64).ravel(), np.load(b).astype(np.float64).ravel()
    if x.shape != y.shape: print('SHAPE', a, x.shape, y.shape); worst = 0; continue
    bad = np.count_nonzero(~np.isfinite(y))
    r = np.corrcoef(x, y)[0, 1] if x.std() > 0 else 1.0
    msg.append('%.6f (max|d| %.3g of %.3g%s)' % (r, np.abs(x - y).max(), np.abs(x).max(), ', %d not finite' % bad if bad else ''))
    worst = min(worst, r) if r == r else -1
print('PCC %-58s %.6f  %s' % (os.path.basename(ref), worst, '; '.join(msg)))
