#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eight bits by OpenVINO's own tool, for bench/compare_precision.py --nncf: frames of a video, the mixed preset.

    bench/nncf_quantise.py yolo11n-pose.onnx --data clip.mp4 --size 640 -o yolo11n-pose-nncf.xml

Needs python with openvino, nncf and opencv-python. Frames are stretched to the network's size, which is enough to find ranges.
"""
import argparse

import cv2
import nncf
import numpy as np
import openvino as ov


def frames_of(video, count, height, width, channels):
    source = cv2.VideoCapture(video)
    every = int(source.get(cv2.CAP_PROP_FRAME_COUNT))
    for i in range(count):
        source.set(cv2.CAP_PROP_POS_FRAMES, i * every // count)
        read, frame = source.read()
        if not read:
            continue
        frame = cv2.resize(frame, (width, height))
        picture = frame[:, :, ::-1].transpose(2, 0, 1) if channels == 3 else cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)[None]
        yield picture[None].astype(np.float32) / 255


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onnx")
    parser.add_argument("--data", required=True)
    parser.add_argument("--size", type=int, default=640)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    model = ov.Core().read_model(args.onnx)
    shape = [d.get_length() if d.is_static else 1 for d in model.inputs[0].get_partial_shape()]
    shape[2:] = [args.size, args.size]
    model.reshape({model.inputs[0].get_any_name(): shape})
    frames = list(frames_of(args.data, args.frames, *shape[2:], shape[1]))
    done = nncf.quantize(model, nncf.Dataset(frames), preset=nncf.QuantizationPreset.MIXED, subset_size=len(frames))
    ov.save_model(done, args.output)
    print(f"{args.output}: {len(frames)} frames, nncf {nncf.__version__}, openvino {ov.__version__}")


if __name__ == "__main__":
    main()
