# SPDX-License-Identifier: Apache-2.0
"""PyTorch's time for a network that skitter exported as ONNX: its nodes as torch functions, fp16, channels last, eager
and as a CUDA graph. usage: torch_peer.py NAME=model.onnx[:batch,batch] … ; one JSON line a (model, batch)."""
import json
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

torch.backends.cudnn.benchmark = True
torch.set_grad_enabled(False)


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class Network:
    """Weights on the GPU, the rest of the constants on the CPU; one step a node."""

    def __init__(self, path):
        model = onnx.load(path)
        self.graph = model.graph
        self.constants = {}
        for t in self.graph.initializer:
            a = numpy_helper.to_array(t)
            v = torch.from_numpy(np.array(a))
            if a.dtype in (np.float32, np.float16):
                v = v.half().cuda()
                if v.dim() == 4:
                    v = v.contiguous(memory_format=torch.channels_last)
            self.constants[t.name] = v
        for n in self.graph.node:
            if n.op_type == 'Constant':
                a = numpy_helper.to_array(attributes(n)['value'])
                v = torch.from_numpy(np.array(a))
                self.constants[n.output[0]] = v.half().cuda() if a.dtype in (np.float32, np.float16) else v
        self.nodes = [(n, attributes(n)) for n in self.graph.node if n.op_type != 'Constant']
        for n, a in self.nodes:  # read once: a capture allows no look at the GPU's memory
            if n.op_type == 'Resize':
                a['host'] = [self.constants[k].tolist() if k in self.constants else None for k in n.input]
        self.input = self.graph.input[0].name
        self.outputs = [o.name for o in self.graph.output]
        self.shape = [d.dim_value for d in self.graph.input[0].type.tensor_type.shape.dim]

    def __call__(self, x):
        v = dict(self.constants)
        v[self.input] = x
        for n, a in self.nodes:
            i = [v[k] if k else None for k in n.input]
            o = getattr(self, n.op_type)(i, a, len(n.output))
            for name, value in zip(n.output, o if isinstance(o, (list, tuple)) else [o]):
                v[name] = value
        return [v[k] for k in self.outputs]

    def Conv(self, i, a, _):
        p, k = a.get('pads', [0] * 4), a.get('kernel_shape') or list(i[1].shape[2:])
        x, pad = i[0], (p[0], p[1])
        if p[:2] != p[2:]:
            x, pad = F.pad(x, (p[1], p[3], p[0], p[2])), (0, 0)
        return F.conv2d(x, i[1], i[2] if len(i) > 2 else None, a.get('strides', [1, 1]), pad, a.get('dilations', [1, 1]),
                        a.get('group', 1))

    def ConvTranspose(self, i, a, _):
        p = a.get('pads', [0] * 4)
        y = F.conv_transpose2d(i[0], i[1], i[2] if len(i) > 2 else None, a.get('strides', [1, 1]), 0,
                               a.get('output_padding', [0, 0]), a.get('group', 1))
        return y[:, :, p[0]:y.shape[2] - p[2], p[1]:y.shape[3] - p[3]]

    def Sigmoid(self, i, a, _):
        return torch.sigmoid(i[0])

    def Relu(self, i, a, _):
        return F.relu(i[0])

    def Mul(self, i, a, _):
        return i[0] * i[1]

    def Add(self, i, a, _):
        return i[0] + i[1]

    def Sub(self, i, a, _):
        return i[0] - i[1]

    def Div(self, i, a, _):
        return i[0] / i[1]

    def Concat(self, i, a, _):
        return torch.cat(i, a['axis'])

    def Split(self, i, a, n):
        sizes = i[1].tolist() if len(i) > 1 and i[1] is not None else a.get('split')
        return torch.split(i[0], list(sizes) if sizes else i[0].shape[a.get('axis', 0)] // n, a.get('axis', 0))

    def Slice(self, i, a, _):
        x = i[0]
        axes = i[3].tolist() if len(i) > 3 and i[3] is not None else range(len(i[1]))
        for s, e, d in zip(i[1].tolist(), i[2].tolist(), axes):
            x = x.narrow(d, s if s >= 0 else x.shape[d] + s, min(e, x.shape[d]) - s)
        return x

    def MaxPool(self, i, a, _):
        p = a.get('pads', [0] * 4)
        return F.max_pool2d(i[0], a['kernel_shape'], a.get('strides', [1, 1]), p[:2])

    def Resize(self, i, a, _):
        mode = a.get('mode', b'nearest').decode()
        x = i[0]
        if len(i) > 3 and a['host'][3]:
            size = a['host'][3][2:]
        else:
            size = [int(x.shape[2] * a['host'][2][2]), int(x.shape[3] * a['host'][2][3])]
        return F.interpolate(x, size, mode='nearest' if mode == 'nearest' else 'bilinear',
                             **({} if mode == 'nearest' else {'align_corners': False}))

    def Reshape(self, i, a, _):
        d = i[1].tolist()
        return i[0].reshape([i[0].shape[k] if s == 0 else s for k, s in enumerate(d)])

    def Transpose(self, i, a, _):
        return i[0].permute(a['perm'])

    def MatMul(self, i, a, _):
        return i[0] @ i[1]

    def Softmax(self, i, a, _):
        return torch.softmax(i[0], a.get('axis', -1))


def median_ms(function, runs):
    times = []
    for k in range(runs + 5):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        function()
        b.record()
        torch.cuda.synchronize()
        if k >= 5:
            times.append(a.elapsed_time(b))
    times.sort()
    return times[len(times) // 2]


def main():
    for argument in sys.argv[1:]:
        name, path = argument.split('=')
        net = Network(path)
        row = {'model': name, 'batch': net.shape[0]}
        try:
            x = torch.rand(net.shape, device='cuda').half().contiguous(memory_format=torch.channels_last)
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    net(x)
            torch.cuda.current_stream().wait_stream(side)
            torch.cuda.synchronize()
            runs = 60 if net.shape[0] < 16 else 20
            row['eager_ms'] = median_ms(lambda: net(x), runs)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                net(x)
            row['graph_ms'] = median_ms(graph.replay, runs)
            del graph
        except Exception as problem:  # a table with a hole is better than none
            row['problem'] = str(problem)[:200]
        del net
        torch.cuda.empty_cache()
        print('TORCH', json.dumps(row), flush=True)


main()
