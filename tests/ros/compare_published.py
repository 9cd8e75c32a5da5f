#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_published.py PUBLISHED PREDICTED [TRACKED]: what the node published is what `skitter predict` and `skitter track` say."""
import json
import sys


def near(a, b):
    return abs(a - b) <= 2e-6 * max(1, abs(a), abs(b))  # files have seven digits


def lines(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]


def expect(what, *about):
    if not what:
        sys.exit('differs: ' + ' '.join(str(a) for a in about))


def box_of(told):
    if told.get('obb'):
        return told['obb']
    x1, y1, x2, y2 = told['box']
    return [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0]


def compare_points(frame, got, wanted):
    expect(len(got) == len(wanted), frame, got, wanted)
    for point, told in zip(got, wanted):
        expect((point is None) == (told is None or told[0] is None), frame, point, told)
        expect(point is None or all(near(p, t) for p, t in zip(point, told)), frame, point, told)


def compare_box(frame, got, wanted):
    expect(all(abs(g - w) < 2e-4 for g, w in zip(got, box_of(wanted))), frame, got, box_of(wanted))


def compare_one(frame, got, wanted):
    expect(near(got['score'], wanted['score']), frame, got, wanted)
    compare_box(frame, got['box'], wanted)


def compare_detected(frame, got, predicted):
    expect(len(got['detections']) == len(predicted), frame, got['detections'], predicted)
    for detection, wanted in zip(got['detections'], predicted):
        expect(detection['class'] == wanted['name'], frame, detection)
        compare_one(frame, detection, wanted)


def compare_followed(frame, got, predicted, tracked):
    """The instances and tracks of a frame."""
    told = [t for t in tracked if t['state'] == 'active']
    states = {t['id']: t for t in got['tracks']}
    expect(len(got['instances']) == len(predicted), frame, got['instances'], predicted)
    for instance, detection, wanted in zip(got['instances'], got['detections'], predicted):
        expect(instance['name'] == wanted['name'] and instance['class'] == wanted['class'], frame, instance)
        compare_one(frame, instance, wanted)
        compare_points(frame, instance['keypoints'], wanted['keypoints'])
        track = [t['track'] for t in told if near(t['score'], instance['score'])] or [-1]
        expect(instance['track'] == track[0], frame, instance, track)
        expect(detection['id'] == (str(track[0]) if track[0] >= 0 else ''), frame, detection)
    for wanted in told:
        track = states[wanted['track']]
        expect(track['state'] == 'active', frame, track)
        expect(all(near(track[k], wanted[k]) for k in ('x', 'y', 'heading')), frame, track, wanted)
        compare_box(frame, track['box'], wanted)


published, predicted, *tracked = (lines(path) for path in sys.argv[1:])
expect(len(published) == len(predicted), 'numbers of frames', len(published), len(predicted))
compared = turned = 0
for i, (got, wanted) in enumerate(zip(published, predicted)):
    if tracked:
        compare_followed(got['frame'], got, wanted['instances'], tracked[0][i]['instances'])
    compare_detected(got['frame'], got, wanted['instances'])
    compared += len(got['detections'])
    turned += sum(d['box'][4] != 0 for d in got['detections'])
expect(compared >= 10, 'too few to mean anything', compared)
print(f'{len(published)} frames, {compared} detections ({turned} turned): published as predicted')
