# SPDX-License-Identifier: Apache-2.0
"""The table of bench/gpu/run from what it left in a folder."""
import glob
import json
import os
import re
import sys

folder = sys.argv[1]
torch = {}
if os.path.exists(os.path.join(folder, 'torch.txt')):
    for line in open(os.path.join(folder, 'torch.txt')):
        if line.startswith('TORCH '):
            row = json.loads(line[6:])
            torch[row['model'], row['batch']] = row
rows = []
for path in glob.glob(os.path.join(folder, 'bench_*.json')):
    name, batch = re.match(r'bench_(.*)_(\d+)\.json', os.path.basename(path)).groups()
    try:
        result = json.load(open(path))['results'][0]
    except (ValueError, KeyError, IndexError):
        continue
    try:
        other = json.load(open(os.path.join(folder, 'onnx_%s_%s.json' % (name, batch))))['results'][0].get('median_ms')
    except (OSError, ValueError, KeyError, IndexError):
        other = None
    rows.append((name, int(batch), result['layers'][-1]['min_us'] / 1e3, result['open_ms'], other))
print('| network | batch | cuda | onnx_cuda | PyTorch graph | PyTorch eager | onnx_cuda / cuda | graph / cuda | frames/s | open ms |')
print('|---|---|---|---|---|---|---|---|---|---|')
for name, batch, ms, opened, other in sorted(rows):
    t = torch.get((name, batch), {})
    graph, eager = t.get('graph_ms'), t.get('eager_ms')
    print('| %s | %d | **%.3f** | %s | %s | %s | %s | %s | %.0f | %.0f |' % (
        name, batch, ms, '%.2f' % other if other else '-', '%.2f' % graph if graph else '-', '%.2f' % eager if eager else '-',
        '%.1fx' % (other / ms) if other else '-', '%.1fx' % (graph / ms) if graph else '-', 1000 * batch / ms, opened))
