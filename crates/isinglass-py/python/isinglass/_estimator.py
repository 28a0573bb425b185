"""A classifier of ±1 weights and neurons for scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import whole
from ._extras import require
from ._figure import Figure
from ._labels import Labels
from ._network import Network
from ._packed import PackedModel
from ._training import Diagnosis, History, Trained, run

require("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]  # noqa: E402
from sklearn.utils import check_random_state  # type: ignore[import-untyped]  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # type: ignore[import-untyped]  # noqa: E402

__all__ = ["BinaryMLPClassifier"]

# Parameters that are not settings of the training.
_OWN = frozenset({"random_state", "threads", "progress", "callback"})


class BinaryMLPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A multi-layer network whose weights and neurons are ±1, trained through a differentiable surrogate.

    Parameters are the flags of ``isinglass train``, with the same defaults and the same result, bit for bit. After training, `predict` and `score` are those of the deterministic binary
    network sign(M): what is deployed.

    Parameters
    ----------
    hidden : neurons of every hidden layer, from the inputs up.
    surrogate : deterministic, lrt-binary, lrt-continuous, continuous or ste.
    neuron : sign, probit:α, logistic:α, erf:a or tanh:k; None takes the surrogate's own.
    carry : "auto", "on" or "off" (or true, false): whether each layer adds its field to the one before. auto: where plain layers cannot reach the depth with means that can change sign.
    init : auto, critical, two-point, hadamard, aligned (or aligned:K), clipped-gaussian, uniform, glorot or he; None is auto, and two-point where `sigma_m2` is given.
    sigma_m2, sigma_b2 : variances of means and biases; None leaves them to `init`.
    tau : the scale of the logits.
    goal : "binary" polarises the means, "surrogate" trains as the paper does; None is binary where there are binary weights.
    means, beta, anneal_order : how means stay in [−1, 1] and become ±1.
    anneal_from : the fraction of the run before they do; None is 0.6, and 0.2 for plain layers that are aligned.
    bias_correction : whether biases make up for what setting the means to ±1 does to the mean fields; None is true with `adversarial`
        where surrogate deterministic is polarised and its neurons have no noise of their own.
    variance_gradient : whether gradients flow through the variance of the fields.
    optimizer : adam, sgd, momentum or rmsprop.
    lr : the learning rate; None is 0.03 where surrogate deterministic is polarised with adam, else 0.01.
    schedule : constant, cosine or step:EPOCHS:FACTOR.
    batch, epochs : examples per step, and passes over the examples.
    train_fraction, validation : fraction of the examples to use, and of these to hold out for validation.
    input_dropout, dropout, weight_decay, label_smoothing, adversarial, average, augment : regularisation.
    features : "image" (one scale for all columns) or "table" (each column has its own); None takes bytes for images and floats for tables.
    random_state : the seed, a generator, or None for a new seed each time.
    threads : number of threads; None is one per core. The result does not depend on it.
    progress : whether to show a progress bar; None shows it in terminals and notebooks.
    callback : called with the line of every epoch.

    Attributes
    ----------
    classes_ : the labels.
    network_ : the trained :class:`~isinglass.Network`.
    history_ : the epochs (:class:`~isinglass.History`): a sequence of dictionaries, `to_pandas()`, `plot()`.
    diagnosis_ : the inside of the network (:class:`~isinglass.Diagnosis`).
    settings_ : all settings, with nothing left open.
    notices_ : what to know about these settings.
    n_features_in_, feature_names_in_ : as in every estimator.

    Examples
    --------
    >>> import isinglass as ig
    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True)
    >>> clf = ig.BinaryMLPClassifier(hidden=(64,), epochs=60, random_state=1, progress=False).fit(x, y)
    >>> clf.score(x, y) > 0.9
    True
    >>> clf.pack().shape
    '4-64-3'
    """

    def __init__(
        self,
        hidden: Sequence[int] = (512, 512),
        *,
        surrogate: str = "deterministic",
        neuron: str | None = None,
        carry: str | bool = "auto",
        init: str | None = None,
        sigma_m2: float | None = None,
        sigma_b2: float | None = None,
        tau: float = 1.0,
        goal: str | None = None,
        means: str = "tanh",
        anneal_from: float | None = None,
        beta: float = 30.0,
        anneal_order: str = "together",
        bias_correction: bool | None = None,
        variance_gradient: bool = True,
        optimizer: str = "adam",
        lr: float | None = None,
        schedule: str = "cosine",
        batch: int = 64,
        epochs: int = 30,
        train_fraction: float = 1.0,
        validation: float = 0.1,
        input_dropout: float = 0.0,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        label_smoothing: float = 0.0,
        adversarial: float = 0.0,
        average: int = 0,
        augment: int = 0,
        features: Literal["image", "table"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        threads: int | None = None,
        progress: bool | None = None,
        callback: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.hidden = hidden
        self.surrogate = surrogate
        self.neuron = neuron
        self.carry = carry
        self.init = init
        self.sigma_m2 = sigma_m2
        self.sigma_b2 = sigma_b2
        self.tau = tau
        self.goal = goal
        self.means = means
        self.anneal_from = anneal_from
        self.beta = beta
        self.anneal_order = anneal_order
        self.bias_correction = bias_correction
        self.variance_gradient = variance_gradient
        self.optimizer = optimizer
        self.lr = lr
        self.schedule = schedule
        self.batch = batch
        self.epochs = epochs
        self.train_fraction = train_fraction
        self.validation = validation
        self.input_dropout = input_dropout
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.label_smoothing = label_smoothing
        self.adversarial = adversarial
        self.average = average
        self.augment = augment
        self.features = features
        self.random_state = random_state
        self.threads = threads
        self.progress = progress
        self.callback = callback

    def fit(self, X: ArrayLike, y: ArrayLike) -> BinaryMLPClassifier:
        """Trains. Ctrl-C stops after the next step and raises KeyboardInterrupt; the estimator then has the network of that step, and `resume` continues.

        Parameters
        ----------
        X : examples as rows: uint8 (images), or floats (a table). Images may also be an array of (examples, height, width).
            They are not copied where they need not be: do not change them while `fit` runs.
        y : labels of any kind.
        """
        image = _image(X)
        rows, y = validate_data(self, _flat(X), y, dtype=[np.float32, np.uint8], order="C")
        check_classification_targets(y)
        labels = Labels.of(y)
        settings = {**self._settings(), "seed": self._seed()}
        trained = run(
            settings,
            rows,
            labels.numbers,
            len(labels.classes),
            labels.names,
            image=image,
            threads=self.threads,
            progress=self.progress,
            callback=self.callback,
        )
        self.classes_ = labels.classes
        # Settings that are off are left out of the configuration; this one is None where it was open.
        resolved = {"bias_correction": False, **{key.replace("-", "_"): value for key, value in trained.facts["config"].items()}}
        self.settings_: dict[str, Any] = {key: resolved.get(key, value) for key, value in settings.items()}
        self.notices_: list[str] = trained.facts["notices"]
        self._take(trained, trained.history, rows, labels.numbers)
        return self

    def resume(self, X: ArrayLike, y: ArrayLike) -> BinaryMLPClassifier:
        """Continues a training that was stopped, with the examples it began with, to the very network that it would have ended with."""
        check_is_fitted(self)
        rows, y = validate_data(self, _flat(X), y, dtype=[np.float32, np.uint8], order="C", reset=False)
        labels = Labels.of(y)
        trained = run(
            {},
            rows,
            labels.numbers,
            len(labels.classes),
            None,
            start=self.network_,
            threads=self.threads,
            progress=self.progress,
            callback=self.callback,
        )
        self._take(trained, self.history_ + trained.history, rows, labels.numbers)
        return self

    def _take(self, trained: Trained, history: History, rows: NDArray[Any], numbers: NDArray[np.uint8]) -> None:
        self.network_ = trained.network
        self.history_ = history
        self.diagnosis_ = Diagnosis(trained.network.inspect(rows, numbers, threads=self.threads))
        if trained.stopped is not None:
            raise trained.stopped

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The labels that the binary network gives."""
        numbers = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[numbers]
        return labels

    def predict_proba(self, X: ArrayLike, *, draws: int | None = None, seed: int | None = None) -> NDArray[np.float64]:
        """The probabilities of the classes: of the binary network, or with `draws` averaged over sampled binary networks.

        After training with ``goal="binary"`` all means are ±1 and every draw is the same network, unless its neurons have noise of their own.
        """
        rows = self._rows(X)
        if draws is None:
            return self.network_.predict_proba(rows, threads=self.threads)
        return self.network_.predict_proba(rows, network="sampled", draws=draws, seed=seed, threads=self.threads)

    def pack(self, X: ArrayLike | None = None, *, draws: int | None = None, seed: int | None = None) -> PackedModel:
        """The binary network as packed bits, or with `draws` an ensemble of sampled ones; checked sum by sum against the float network, on `X` too if it is given."""
        check_is_fitted(self)
        return self.network_.pack(None if X is None else self._rows(X), draws=draws, seed=seed, threads=self.threads)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the checkpoint that ``isinglass train`` would write, for ``isinglass evaluate``, ``inspect`` and ``pack``."""
        check_is_fitted(self)
        self.network_.save(path)

    def plot(self, kind: Literal["curves", "insides"] = "curves") -> Figure:
        """The learning curves, or what the network looks like inside."""
        check_is_fitted(self)
        if kind not in ("curves", "insides"):
            raise ValueError(f"unknown picture {kind!r}: use curves or insides")
        return self.diagnosis_.plot() if kind == "insides" else self.history_.plot()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def _rows(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        rows: NDArray[Any] = validate_data(self, _flat(X), dtype=[np.float32, np.uint8], order="C", reset=False)
        return rows

    def _settings(self) -> dict[str, Any]:
        settings = {key: value for key, value in self.get_params(deep=False).items() if key not in _OWN}
        hidden = settings["hidden"]
        settings["hidden"] = [whole("hidden", width) for width in ([hidden] if isinstance(hidden, Integral) else hidden)]
        return settings

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return whole("random_state", self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))



def _flat(X: Any) -> Any:
    """Images as rows."""
    return X.reshape(len(X), -1) if getattr(X, "ndim", 2) == 3 else X


def _image(X: Any) -> tuple[int, int] | None:
    return (int(X.shape[1]), int(X.shape[2])) if getattr(X, "ndim", 2) == 3 else None
