# SPDX-License-Identifier: Apache-2.0
"""Can colour-blind people tell the animals apart? The identities' colours as they see them: deutan, protan and tritan vision simulated
(Machado, Oliveira and Fernandes 2009, complete), differences in CIE Lab. Also: the page's colours are those of overlays, and the
scale of occupancy gets lighter all the way, for everybody."""
import itertools
import os
import re
import sys

SOURCE = os.environ.get("SKITTER_TEST_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LEAST = {8: 12, 12: 6}  # of the first so many: the smallest difference between two (2.3 is just seen)
EYES = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def linear(colour):
    return [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]


def seen(colour, eyes):
    light = linear(colour)
    return [min(1, max(0, sum(m * v for m, v in zip(row, light)))) for row in EYES[eyes]]


def lab(light):
    r, g, b = light
    xyz = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.0721750 * b, \
        (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(a, b):
    return sum((p - q) ** 2 for p, q in zip(a, b)) ** 0.5


def problems(palette):
    found = []
    for eyes in EYES:
        for count, least in LEAST.items():
            labs = [lab(seen(c, eyes)) for c in palette[:count]]
            difference, pair = min((apart(labs[i], labs[j]), (i, j)) for i, j in itertools.combinations(range(len(labs)), 2))
            print(f"{eyes:<7} first {count:>2}: at least {difference:5.1f} apart (colours {pair[0]} and {pair[1]})")
            if difference < least:
                found.append(f"{eyes}: colours {pair[0]} and {pair[1]} are {difference:.1f} apart, and {least} are wanted")
    return found


def main():
    page = re.findall(r"'#([0-9a-f]{6})'", re.search(r"identities = \[(.*?)\]", read("src/server/page/palette.js"), re.S).group(1))
    palette = [tuple(int(c[i:i + 2], 16) for i in (0, 2, 4)) for c in page]
    overlay = re.search(r"uint32_t sk_draw_identity\(int i\)\s*\{(.*?)\n\}", read("src/media/draw.c"), re.S).group(1)
    found = problems(palette)
    if [c.lower() for c in re.findall(r"0x([0-9a-fA-F]{6})\b", overlay)] != page:
        found.append("the page's colours are not those of overlays (media/draw.c)")
    if not problems([(255, 0, 0), (128, 102, 0)] + palette[:6]):
        found.append("red and olive, which many cannot tell apart, were not found: the test is blind itself")
    scale = [tuple(map(int, c.split(", "))) for c in
             re.findall(r"\[(\d+, \d+, \d+)\]", re.search(r"const scale = \[(.*)\];", read("src/server/page/plots.js")).group(1))]
    for eyes in EYES:
        light = [lab(seen(c, eyes))[0] for c in scale]
        if light != sorted(light) or len(light) < 4:
            found.append(f"{eyes}: the scale of occupancy does not get lighter all the way: {light}")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
