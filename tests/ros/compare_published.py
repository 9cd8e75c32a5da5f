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


def compare_followed(frame, got, predicted, tracked):
    """The instances and tracks of a frame."""
    told = {t['track']: t for t in tracked if t['state'] == 'active'}
    states = {t['id']: t for t in got['tracks']}
    expect(sorted(i['track'] for i in got['instances']) == sorted(told), frame, got['instances'], told)
    expect([d['id'] for d in got['detections']] == [str(i['track']) for i in got['instances']], frame, 'ids')
    for instance, detection in zip(got['instances'], got['detections']):
        wanted = told[instance['track']]
        track = states[instance['track']]
        expect(instance['name'] == wanted['name'] and instance['class'] == wanted['class'], frame, instance)
        expect(near(instance['score'], wanted['score']), frame, instance, wanted)
        expect(detection['class'] == instance['name'] and detection['box'] == instance['box'], frame, detection)
        compare_box(frame, instance['box'], wanted)
        compare_points(frame, instance['keypoints'], wanted['keypoints'])
        expect(track['state'] == 'active', frame, track)
        expect(all(near(track[k], wanted[k]) for k in ('x', 'y', 'heading')), frame, track, wanted)
        same = [p for p in predicted if near(p['score'], instance['score'])]
        expect(len(same) == 1, frame, 'predict has no such score', instance)
        compare_points(frame, instance['keypoints'], same[0]['keypoints'])


def compare_detected(frame, got, predicted):
    expect(len(got['detections']) == len(predicted), frame, got['detections'], predicted)
    for detection, wanted in zip(got['detections'], predicted):
        expect(detection['class'] == wanted['name'] and detection['id'] == '', frame, detection)
        expect(near(detection['score'], wanted['score']), frame, detection, wanted)
        compare_box(frame, detection['box'], wanted)


published, predicted, *tracked = (lines(path) for path in sys.argv[1:])
expect(len(published) == len(predicted), 'numbers of frames', len(published), len(predicted))
compared = turned = 0
for i, (got, wanted) in enumerate(zip(published, predicted)):
    if tracked:
        compare_followed(got['frame'], got, wanted['instances'], tracked[0][i]['instances'])
    else:
        compare_detected(got['frame'], got, wanted['instances'])
    compared += len(got['detections'])
    turned += sum(d['box'][4] != 0 for d in got['detections'])
expect(compared >= 10, 'too few to mean anything', compared)
print(f'{len(published)} frames, {compared} detections ({turned} turned): published as predicted')
