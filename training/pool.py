# SPDX-License-Identifier: Apache-2.0
"""Rendered pictures in shared memory: worker processes draw new scenes over old ones for as long as training runs, and any
number of trainers copy them."""
import multiprocessing
import os
import pathlib
import time

import numpy as np

import scenes

SIDE = 512       # a slot's width and height
ANIMALS = 12     # most in one picture
BORDER = 114     # around pictures that are not square
FRAMES = 2       # of every scene, a second or so apart
KEPT_BACK = 1 << 41  # seeds below are for measuring: the demo, the tests and evaluate.py use these, training never

# width, height and how often: what cameras give, fitted into the square
SHAPES = ((512, 384), (512, 288), (512, 512), (384, 512), (448, 448), (512, 320))
SHARES = (0.40, 0.15, 0.15, 0.10, 0.10, 0.10)


class Pool:
    """slots pictures with their truth, in files of one folder (best /dev/shm)."""

    def __init__(self, folder, slots, create=False):
        self.folder, self.slots = pathlib.Path(folder), slots
        mode = "w+" if create else "r+"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.images = np.memmap(self.folder / "images", np.uint8, mode, shape=(slots, SIDE, SIDE, 3))
        self.truth = np.memmap(self.folder / "truth", scenes.ANIMAL, mode, shape=(slots, ANIMALS))
        self.count = np.memmap(self.folder / "count", np.int32, mode, shape=(slots,))
        # odd while a slot is being written; 0 never written
        self.version = np.memmap(self.folder / "version", np.int64, mode, shape=(slots,))

    def filled(self):
        return int((self.version >= 2).sum())


def draw(renderer, rng, pool, slot):
    """Fills slots slot … slot + FRAMES - 1 with frames of one new scene."""
    width, height = SHAPES[rng.choice(len(SHAPES), p=SHARES)]
    animals = int(rng.integers(1, 7)) if rng.random() < 0.75 else int(rng.integers(7, ANIMALS + 1))
    species = int(rng.integers(0, 3)) if rng.random() < 0.8 else 3
    seed = int(rng.integers(0, 1 << 62))
    if seed < KEPT_BACK:
        seed += KEPT_BACK
    images, truth = renderer.frames(species, animals, width, height, seed, FRAMES,
                                    skip=int(rng.integers(10, 40)))
    x, y = (SIDE - width) // 2, (SIDE - height) // 2
    for i in range(FRAMES):
        at = slot + i
        pool.version[at] |= 1
        pool.images[at] = BORDER
        pool.images[at, y:y + height, x:x + width] = images[i]
        shifted = truth[i]
        shifted["box"] += np.float32([x, y, x, y])
        shifted["obb"][:, :2] += np.float32([x, y])
        shifted["points"] += np.float32([x, y])
        pool.truth[at, :animals] = shifted
        pool.count[at] = animals
        pool.version[at] += 1


def work(folder, slots, library, seed, worker, workers, stop):
    os.nice(5)
    pool, renderer = Pool(folder, slots), scenes.Renderer(library)
    rng = np.random.default_rng((seed, worker))
    mine = range(worker * FRAMES, slots - FRAMES + 1, workers * FRAMES)
    while not stop.is_set():
        for slot in mine:
            if stop.is_set():
                return
            draw(renderer, rng, pool, slot)


def start(folder, slots, workers, seed, library):
    """Begins drawing; returns (pool, stop, processes)."""
    pool = Pool(folder, slots, create=True)
    stop = multiprocessing.Event()
    processes = [multiprocessing.Process(target=work, args=(folder, slots, library, seed, i, workers, stop), daemon=True)
                 for i in range(workers)]
    for p in processes:
        p.start()
    return pool, stop, processes


def wait(pool, wanted, timeout=120):
    begin = time.time()
    while pool.filled() < wanted:
        if time.time() - begin > timeout:
            raise RuntimeError(f"only {pool.filled()} of {wanted} pictures were drawn in {timeout} s")
        time.sleep(0.1)
