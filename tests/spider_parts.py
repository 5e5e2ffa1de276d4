"""Short ways to write the arrays, nets and agents of InfoSpiders."""

import numpy as np

from scenthound.strategies.spider import Spider
from scenthound.strategies.spider_net import Perceptron


def ints(*numbers):
    return np.array(numbers, np.int32)


def floats(*numbers):
    return np.array(numbers, np.float64)


def net(*weights):
    return Perceptron(floats(*weights), np.zeros(len(weights)))


def agent(page=0, energy=1.0, keywords=(), weights=(), path=()):
    return Spider(page, energy, ints(*keywords), net(*weights), [], path)
