"""The neural net of an InfoSpiders agent, and the choice of a link by its outputs (menczer2001 section 6.3).

Rules
- A perceptron: one input for each keyword, one sigmoid output, and a bias that is learnt like the weights. Without
  the bias a link that has no keyword near it has the output 1/2, whatever was learnt; and because similarities to a
  topic are far below 1/2, a net would learn from every page that links near keywords are worse than those.
- It learns by back-propagation of the squared error. The last change, which momentum repeats a share of, is carried on
  from one page to the next.
- Arrays are replaced, never changed, so that a net and its copy may share them.
"""

import math
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from scenthound.model import FloatArray, LongArray

#: Added to what is drawn, so that a draw of exactly 0 has a logarithm.
_LEAST_DRAWN = 1e-300


@dataclass(slots=True, eq=False)
class Perceptron:
    """The weight of each keyword, the bias, and by how much each was changed last."""

    weights: FloatArray
    last_change: FloatArray
    bias: float = 0.0
    last_change_of_bias: float = 0.0

    @classmethod
    def random(cls, n_inputs: int, largest_weight: float, rng: Random) -> "Perceptron":
        """A net that has learnt nothing: weights uniform in +-`largest_weight`, no bias yet."""
        weights = [rng.uniform(-largest_weight, largest_weight) for _ in range(n_inputs)]
        return cls(np.array(weights, np.float64), np.zeros(n_inputs))

    def output(self, inputs: FloatArray) -> float:
        """What the net makes of the inputs of one link: `1 / (1 + exp(-inputs . weights - bias))`."""
        # The same function written with tanh, which overflows for no input.
        return 0.5 * (1.0 + math.tanh(0.5 * (float(inputs @ self.weights) + self.bias)))

    def outputs(self, inputs: FloatArray) -> FloatArray:
        """What the net makes of many links, one in each row."""
        outputs: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * (inputs @ self.weights + self.bias)))
        return outputs

    def copy(self) -> "Perceptron":
        return replace(self)

    def reordered(self, order: LongArray) -> "Perceptron":
        return replace(self, weights=self.weights[order], last_change=self.last_change[order])


@dataclass(frozen=True, slots=True)
class BackPropagation:
    """How nets learn (menczer2001 footnote 4: 5 epochs at rate 0.5 with momentum 0.9)."""

    epochs: int
    rate: float
    momentum: float
    with_bias: bool = True

    def teach(self, net: Perceptron, inputs: FloatArray, target: float) -> None:
        """Bring the output of a net for these inputs nearer to the target."""
        for _ in range(self.epochs):
            output = net.output(inputs)
            # Minus the slope of the error (target - output)^2 / 2 in the net's activation.
            error = (target - output) * output * (1.0 - output)
            net.last_change = (self.rate * error) * inputs + self.momentum * net.last_change
            net.weights = net.weights + net.last_change
            if self.with_bias:
                net.last_change_of_bias = self.rate * error + self.momentum * net.last_change_of_bias
                net.bias += net.last_change_of_bias


def boltzmann_order(outputs: FloatArray, temperature: float, rng: Random) -> LongArray:
    """The places of the links in the order in which they are chosen, if each choice is made among those left by
    the Boltzmann distribution, `exp(output / temperature)` over its sum (menczer2001 footnote 3).

    Of exponential waiting times with rates `exp(output / temperature)` the least belongs to each link with just that
    probability, and when it is taken away the same holds for those left: so one draw for each link is enough, and in
    logarithms nothing overflows.
    """
    drawn = np.array([rng.random() for _ in range(len(outputs))], np.float64)
    log_waiting_times = np.log(_LEAST_DRAWN - np.log1p(-drawn)) - outputs / temperature
    return np.argsort(log_waiting_times, kind="stable")
