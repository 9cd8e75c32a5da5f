# SPDX-License-Identifier: Apache-2.0
"""Rows of two results.csv of predict, pair by pair: rows.py NAME ONE.csv OTHER.csv. Rows whose scores are equal in the file may stand in
either order."""
import csv
import sys


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def apart(p, q):
    worst, words = 0.0, 0
    for key in p:
        a, b = number(p[key]), number(q[key])
        if a is None or b is None:
            words += p[key] != q[key]
        else:
            worst = max(worst, abs(a - b))
    return worst, words


name, *files = sys.argv[1:]
one, other = ([r for r in csv.DictReader(open(f))] for f in files)
worst, words, left = 0.0, 0, list(other)
for row in one:
    near = left[:4]
    if not near:
        break
    best = min(range(len(near)), key=lambda i: (near[i].get('name') != row.get('name'), apart(row, near[i])[::-1]))
    d, w = apart(row, left.pop(best))
    worst, words = max(worst, d), words + w
print('%-24s %d and %d rows, largest difference %.3g, %d texts differ' % (name, len(one), len(other), worst, words))
