# SPDX-License-Identifier: Apache-2.0
"""What bench/gpu/run is asked to show, beside what it left in a folder: must_show.py FOLDER. A line whose part did not run says so."""
import glob
import json
import os
import re
import sys

folder = sys.argv[1]


def text(pattern):
    return '\n'.join(open(p, errors='replace').read() for p in sorted(glob.glob(os.path.join(folder, pattern))))


def network(name, batch):
    try:
        result = json.load(open(os.path.join(folder, 'bench_%s_%d.json' % (name, batch))))['results'][0]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return result['layers'][-1]['min_us'] / 1e3


def first(pattern, where, which=0):
    found = re.findall(pattern, where)
    return float(found[which]) if found else None


rows = []


def at_most(what, limit, figure, unit='ms'):
    seen = '-' if figure is None else '%.3f %s' % (figure, unit)
    rows.append((what, 'at most %g %s' % (limit, unit), seen, figure is not None and figure <= limit))


def at_least(what, limit, figure, unit):
    seen = '-' if figure is None else '%.0f %s' % (figure, unit)
    rows.append((what, 'at least %g %s' % (limit, unit), seen, figure is not None and figure >= limit))


def holds(what, limit, seen, good):
    rows.append((what, limit, seen or '-', bool(seen) and good))


doctor = text('doctor.txt')
onnx = re.search(r'^onnx_cuda +(\w+)', doctor, re.M)
holds('onnx_cuda by doctor', 'yes, right', onnx and onnx.group(1), bool(onnx) and onnx.group(1) == 'yes')
for precision, least in (('f32', 0.99999), ('f16', 0.999)):
    line = text('onnx_%s.txt.sum' % precision).strip()
    worst = first(r'worst correlation ([\d.]+)', line)
    holds('onnx_cuda %s, the models' % precision, 'correlation at least %g' % least, line.split(': ')[-1],
          worst is not None and worst >= least and ' 0 broken' in line)
lines = [line for line in text('onnx_rows.txt').splitlines() if 'rows' in line]
differences = [float(re.search(r'difference ([\d.e+-]+)', line).group(1)) for line in lines]
holds('predict on cpu and onnx_cuda, f32', 'rows within 0.01', '; '.join(' '.join(line.split()) for line in lines),
      all(d <= 0.01 for d in differences) and all(re.search(r'(\d+) and \1 rows', line) for line in lines))
at_most('yolo11n-pose, batch 1', 0.22, network('yolo11n-pose', 1))
at_most('yolo11n-pose, batch 64', 2.7, network('yolo11n-pose', 64))
at_most('yolo11s-pose, batch 64', 5.6, network('yolo11s-pose', 64))
at_most('SLEAP bottom-up 384, batch 64', 2.7, network('sleap-bottomup', 64))
at_most('yolo12n-pose, batch 1', 0.38, network('yolo12n-pose', 1))
eight = text('eight_bits.txt')
at_most('yolo11n-pose in fp8, batch 64', 2.1, first(r'batch 64: .*fp8 ([\d.]+) ms', eight))
plain, narrow = (first(r'batch 1: .*\b%s ([\d.]+) ms' % p, eight) for p in ('f16', 'fp8'))
holds('… batch 1', 'no slower than f16', narrow and '%.3f ms, f16 %.3f' % (narrow, plain), bool(narrow) and narrow <= plain)
for model in ('pose', 'obb', 'bottomup'):
    lost = re.search(r'demo-%s fp8: AP ([\d.]+), f32 ([\d.]+), ([-+][\d.]+) points' % model, eight)
    holds('demo-%s in fp8' % model, 'AP within 0.5 points of f32', lost and '%s, f32 %s' % lost.groups()[:2],
          bool(lost) and float(lost.group(3)) >= -0.5)
line = text('pcc_f16.txt.sum').strip()
holds('cuda f16, the models', 'correlation at least 0.9995', line.split(': ')[-1], ' 0 below 0.9995, 0 broken' in line)
frames = text('frames_*.txt')
at_most('1080p in ordinary memory to keypoints', 0.36, first(r'ordinary memory, RGB +\d+ instances: median ([\d.]+)', frames))
crops = [part for part in re.split(r'(?m)^(?=\S.*: \d+ frames)', text('sleap.txt')) if ' + ' in part.split('\n')[0]]
at_most('top-down, about 8 animals, one frame at a time', 0.25, first(r'crops +median ([\d.]+)', crops[0]) if crops else None)
at_most('… many in flight', 0.25, first(r'cut by the GPU: ([\d.]+)', crops[0]) if crops else None)
video = text('video.txt')
parts = re.split(r'(?m)^== one video', video)
hd = parts[1] if len(parts) > 1 else ''
rates = [float(r) for r in re.findall(r'([\d.]+) frames/s, decoded on cuda', hd)]
at_least('one 1080p video decoded on the GPU', 718.5, max(rates) if rates else None, 'frames/s')
holds('… rows of both decoders, all videos', 'the same', '%d of %d videos' % (video.count('same to the last digit'), len(parts) - 1),
      len(parts) > 1 and video.count('same to the last digit') == len(parts) - 1)
kernels = text('kernels.txt')
line = re.findall(r'checked \d+, bad \d+.*', kernels)
holds('kernels against the reference executor', 'none bad', line and line[-1], bool(line) and ', bad 0,' in line[-1])
for tool in ('memcheck', 'racecheck', 'initcheck'):
    lines = [l for l in text('sanitize.txt').splitlines() if l.startswith(tool + ' ')]
    clean = [l for l in lines if re.search(r' 0 (errors|hazards)', l) and 'not finished' not in l]
    holds('compute-sanitizer %s' % tool, 'clean', '%d of %d runs clean' % (len(clean), len(lines)) if lines else None,
          len(clean) == len(lines))
cycles = text('cycles.txt').strip()
holds('open, run, close', '10 000 times, flat', cycles, ' +0 bytes, host' in cycles and cycles.startswith('cycles: 10000'))
print('| what | asked | seen | |')
print('|---|---|---|---|')
for what, asked, seen, good in rows:
    print('| %s | %s | %s | %s |' % (what, asked, seen, 'yes' if good else 'NO' if seen != '-' else 'did not run'))
