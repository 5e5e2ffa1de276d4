"""A neural network with one hidden layer as a judge: the "classical three-layer feed-forward network" of wang2009.

Rules
- Four hidden units, a learning rate of 0.3 and at most 500 epochs, as in the study; units are logistic, and training
  uses mini-batches. Vectors are those of Eq. 4, on the words with the highest chi-square.
- 30 % of the pages of each class are the validation set. Training stops after 20 epochs without improvement on it (the
  default of Weka; the study gives no number), and the best weights are used.
- If a class has fewer than 4 pages there is no validation set, and training stops after 20 epochs without a lower loss.
- Initial weights and the order of pages come from a fixed seed.
"""

import warnings
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.errors import MissingExtra
from scenthound.model import FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.classifiers.base import Judge, JudgeKind, Labelled
from scenthound.relevance.classifiers.support_vectors import WANG2009_WORDS
from scenthound.relevance.features import Features
from scenthound.text.vectors import TermRows

TRAINING_SEED = 0
#: Of each class; with fewer pages, 30 % of a class may be none.
LEAST_TO_VALIDATE = 4
#: The smallest improvement that counts.
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class NeuralNet(JudgeKind):
    """`words` with the highest chi-square, `hidden` units, `group` pages in a mini-batch, and when to stop."""

    name: ClassVar[str] = "neural_net"
    summary: ClassVar[str] = "neural network with four hidden units and early stopping on a validation set"

    words: Annotated[int, Bounds(1)] = WANG2009_WORDS
    normalize: bool = False
    hidden: Annotated[int, Bounds(1, 1000)] = 4
    rate: Annotated[float, Bounds(0, 10, above=True)] = 0.3
    epochs: Annotated[int, Bounds(1)] = 500
    validation: Annotated[float, Bounds(0.1, 0.5)] = 0.3
    patience: Annotated[int, Bounds(1)] = 20
    group: Annotated[int, Bounds(1)] = 16

    def trained(self, labelled: Labelled) -> "NetJudge":
        features = labelled.strongest(self.words, normalize=self.normalize)
        net = self._learnt(features, labelled)
        (into, out), (bias_into, bias_out) = net.coefs_, net.intercepts_
        return NetJudge(features, into, bias_into, out[:, 0], float(bias_out[0]))

    def _learnt(self, features: Features, labelled: Labelled) -> Any:
        try:
            from scipy.sparse import csr_matrix
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.neural_network import MLPClassifier
        except ImportError:
            raise MissingExtra.named("learn", "The judge neural_net") from None
        rows, values = features.row_vectors(labelled.rows)
        pages = csr_matrix((values, rows.term, rows.offset), shape=(len(rows), len(features.idf)))
        n_positives, n_pages = int(labelled.is_positive.sum()), len(rows)
        validates = min(n_positives, n_pages - n_positives) >= LEAST_TO_VALIDATE
        n_learnt = n_pages - int(np.ceil(self.validation * n_pages)) if validates else n_pages
        net = MLPClassifier(
            hidden_layer_sizes=(self.hidden,),
            activation="logistic",
            solver="sgd",
            alpha=0.0,
            batch_size=min(self.group, n_learnt),
            learning_rate_init=self.rate,
            max_iter=self.epochs,
            momentum=0.0,
            early_stopping=validates,
            validation_fraction=self.validation,
            n_iter_no_change=self.patience,
            tol=TOLERANCE,
            random_state=TRAINING_SEED,
        )
        with warnings.catch_warnings():
            # The study stops after the last epoch, too.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return net.fit(pages, labelled.is_positive)


@dataclass(frozen=True, slots=True)
class NetJudge(Judge):
    """A trained network: the weights from features to hidden units, and from these to the output unit."""

    features: Features
    into: FloatArray
    bias_into: FloatArray
    out: FloatArray
    bias_out: float

    def scores(self, pages: TermRows) -> FloatArray:
        """The input of the output unit: the log odds of its output, which is above 1/2 for accepted pages."""
        rows, values = self.features.row_vectors(pages)
        sums = [rows.row_sums(values * unit[rows.term]) for unit in self.into.T]
        # The logistic function; `logaddexp` does not overflow.
        hidden = np.exp(-np.logaddexp(0.0, -(np.stack(sums, axis=1) + self.bias_into)))
        return hidden @ self.out + self.bias_out
