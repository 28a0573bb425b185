"""The estimator: scikit-learn's rules, the command line's bits, and interruption."""

from __future__ import annotations

import copy
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isinglass as ig

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_wine  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from support import Example, run_command  # noqa: E402


def small(**settings: Any) -> ig.BinaryMLPClassifier:
    return ig.BinaryMLPClassifier(**{"hidden": (33, 17), "epochs": 4, "batch": 16, "random_state": 3, "progress": False, **settings})


@parametrize_with_checks([ig.BinaryMLPClassifier(hidden=(64,), epochs=30, batch=16, progress=False)])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def test_any_labels_are_given_back(bars: Example) -> None:
    x, y = bars
    for labels in (np.where(y == 1, "column", "row"), y.astype(bool), np.where(y == 1, 7, -2), y.astype(float), np.where(y == 1, "a", "b").astype(object)):
        clf = small(epochs=40).fit(x, labels)
        assert set(clf.predict(x)) == set(labels)
        assert clf.predict(x).dtype == clf.classes_.dtype
        assert clf.score(x, labels) > 0.8


def test_the_command_line_trains_the_same_bits(bars: Example, tmp_path: Path) -> None:
    x, y = bars
    for name, array in (("x", x.reshape(-1, 8, 8)), ("y", y)):
        np.save(tmp_path / f"{name}.npy", array)
    files = [word for part in ("train", "test") for word in (f"--{part}-images", str(tmp_path / "x.npy"), f"--{part}-labels", str(tmp_path / "y.npy"))]
    for flags, settings in [
        ([], {}),
        (["--surrogate", "lrt-binary", "--dropout", "0.1"], {"surrogate": "lrt-binary", "dropout": 0.1}),
        (["--features", "table", "--optimizer", "sgd"], {"features": "table", "optimizer": "sgd"}),
        (["--adversarial", "0.1"], {"adversarial": 0.1}),
        (["--bias-correction"], {"bias_correction": True}),
        (["--augment", "1", "--sigma-m2", "0.5", "--carry", "on"], {"augment": 1, "sigma_m2": 0.5, "carry": True, "hidden": (33, 33, 33, 17)}),
    ]:
        out = tmp_path / f"run-{len(flags)}-{flags[0] if flags else 'plain'}"
        hidden = ",".join(map(str, settings.get("hidden", (33, 17))))
        words = ["train", *files, "--hidden", hidden, "--epochs", "4", "--batch", "16", "--seed", "3", "--out", str(out), *flags]
        result = run_command(*words)
        assert result.returncode == 0, result.stderr
        clf = small(**settings).fit(x.reshape(-1, 8, 8), y)
        clf.save(tmp_path / "own.safetensors")
        assert (tmp_path / "own.safetensors").read_bytes() == (out / "last.safetensors").read_bytes(), flags
        run = ig.read_run(out)
        assert [epoch["train"] for epoch in run.history] == [epoch["train"] for epoch in clf.history_]
        assert run.network.score(x, y) == clf.score(x, y)


def test_pictures_of_real_numbers_are_images(bars: Example, tmp_path: Path) -> None:
    x, y = bars
    pictures = (x / np.float32(255)).reshape(-1, 8, 8).astype(np.float32)
    np.save(tmp_path / "x.npy", pictures)
    np.save(tmp_path / "y.npy", y)
    files = [word for part in ("train", "test") for word in (f"--{part}-images", str(tmp_path / "x.npy"), f"--{part}-labels", str(tmp_path / "y.npy"))]
    result = run_command("train", *files, "--hidden", "33,17", "--epochs", "4", "--batch", "16", "--seed", "3", "--out", str(tmp_path / "run"))
    assert result.returncode == 0, result.stderr
    clf = small().fit(pictures, y)
    assert clf.settings_["features"] == "image"
    assert clf.network_.to_bytes() == (tmp_path / "run/last.safetensors").read_bytes()


def test_floats_are_tables_and_the_same_bits_too(tmp_path: Path) -> None:
    x, y = load_wine(return_X_y=True)
    rows = x.astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    np.save(tmp_path / "y.npy", y.astype(np.uint8))
    files = [word for part in ("train", "test") for word in (f"--{part}-images", str(tmp_path / "x.npy"), f"--{part}-labels", str(tmp_path / "y.npy"))]
    result = run_command("train", *files, "--hidden", "33,17", "--epochs", "4", "--batch", "16", "--seed", "3", "--out", str(tmp_path / "run"))
    assert result.returncode == 0, result.stderr
    clf = small().fit(x, y)
    assert clf.settings_["features"] == "table"
    assert clf.network_.to_bytes() == (tmp_path / "run/last.safetensors").read_bytes()


def test_nothing_is_copied_that_need_not_be(bars: Example) -> None:
    from isinglass._arrays import bytes_of, bytes_or_floats

    x, _ = bars
    assert bytes_or_floats(x) is x or np.shares_memory(bytes_or_floats(x), x)
    floats = x.astype(np.float32)
    assert np.shares_memory(bytes_or_floats(floats), floats)
    assert bytes_of(floats).dtype == np.uint8
    with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
        bytes_of(floats + 0.5)


def test_it_fits_into_pipelines_and_searches(bars: Example) -> None:
    x, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(MinMaxScaler(), small(epochs=30, batch=16))
    assert cross_val_score(pipeline, x, y, cv=3).mean() > 0.85
    search = GridSearchCV(small(), {"epochs": [1, 40], "hidden": [(9,), (33,)]}, cv=2, n_jobs=2).fit(*bars)
    assert search.best_score_ > 0.7


def test_copies_and_pickles_predict_the_same(bars: Example) -> None:
    x, y = bars
    clf = small().fit(x, y)
    for other in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf), copy.copy(clf)):
        assert (other.predict_proba(x) == clf.predict_proba(x)).all()
        assert other.network_.to_bytes() == clf.network_.to_bytes()
        assert len(other.history_) == 4
    assert not hasattr(clone(clf), "network_")
    assert clone(clf).fit(x, y).network_ == clf.network_


def test_sampled_networks_are_averaged(bars: Example) -> None:
    x, y = bars
    clf = small(goal="surrogate", epochs=6).fit(x, y)
    few, many = clf.predict_proba(x, draws=2, seed=1), clf.predict_proba(x, draws=50, seed=1)
    assert few.shape == many.shape == (400, 2) and (few != many).any()
    assert np.allclose(many.sum(axis=1), 1)
    assert (clf.predict_proba(x, draws=2, seed=1) == few).all()
    with pytest.raises(ValueError, match="draws = 0"):
        clf.predict_proba(x, draws=0)


def test_what_training_shows_is_kept(bars: Example) -> None:
    pandas = pytest.importorskip("pandas")
    clf = small().fit(*bars)
    frame = clf.history_.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == [1, 2, 3, 4]
    assert {"train_accuracy", "validation_binary_accuracy", "lr", "beta"} <= set(frame.columns)
    assert [layer["layer"] for layer in clf.diagnosis_.layers] == [1, 2, 3]
    assert {"flip_ratio", "field_variance"} <= set(clf.diagnosis_.to_pandas().columns)
    assert clf.plot().svg.startswith("<svg") and clf.plot("insides").svg.startswith("<svg")
    assert "<table" in clf.diagnosis_._repr_html_() and "epoch" in repr(clf.history_)


def test_errors_are_those_of_the_command_line(bars: Example) -> None:
    x, y = bars
    for settings, sentence in [
        ({"epochs": 0}, "epochs = 0: nothing would be trained"),
        ({"lr": -1.0}, "lr = -1: must be above 0"),
        ({"sigma_m2": 1.5}, "σ_m² = 1.5: the variance of means"),
        ({"surrogate": "determinist"}, "unknown surrogate"),
        ({"hidden": ()}, "hidden is empty"),
        ({"hidden": (3.5,)}, "hidden = 3.5: must be a whole number"),
        ({"hidden": (-3,)}, "hidden = -3"),
        ({"epochs": 2.5}, "epochs: invalid type: floating point `2.5`, expected a whole number"),
        ({"lr": float("nan")}, "lr = nan: must be a finite number"),
        ({"lr": "fast"}, "lr: .*expected a number"),
        ({"random_state": -1}, "random_state = -1"),
        ({"threads": -1}, "threads = -1"),
        ({"neuron": "relu"}, "is not the mean of a ±1 neuron"),
        ({"carry": "perhaps"}, "auto"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            small(**settings).fit(x, y)
    with pytest.raises(ValueError, match="at least two classes"):
        small().fit(x, np.zeros(len(x)))
    with pytest.raises(ValueError, match="at most 256"):
        small().fit(x, np.arange(len(x)))
    diverging = small(optimizer="sgd", lr=1e30, surrogate="continuous", goal="surrogate")
    with pytest.raises(FloatingPointError, match="loss"):
        diverging.fit(x, y)
    with pytest.raises(NotFittedError):
        diverging.predict(x)
    with pytest.raises(ValueError, match="real numbers"):
        small(surrogate="continuous").fit(x, y).pack()
    bytes_only = small().fit(x, y)
    with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
        bytes_only.predict(x + np.float32(0.5))


def test_an_interruption_keeps_the_network_and_can_be_resumed(bars: Example) -> None:
    x, y = bars
    straight = small(epochs=3000, hidden=(64,)).fit(x, y)
    clf = small(epochs=3000, hidden=(64,))
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])

    def begin(epoch: dict[str, Any]) -> None:
        if epoch["epoch"] == 2:
            timer.start()

    clf.callback = begin
    with pytest.raises(KeyboardInterrupt):
        clf.fit(x, y)
    timer.join()
    clf.callback = None
    stopped = clf.network_.progress
    assert 0 < stopped["step"] < stopped["steps"]
    assert clf.predict(x).shape == y.shape and len(clf.history_) >= 2
    restored = pickle.loads(pickle.dumps(clf))
    assert restored.resume(x, y).network_ == straight.network_
    assert len(restored.history_) == 3000
    with pytest.raises(ValueError, match="not the training examples"):
        clf.resume(x[::-1].copy(), y)


def test_an_exception_in_the_callback_stops_the_training(bars: Example) -> None:
    class Enough(Exception):
        pass

    def enough(epoch: dict[str, Any]) -> None:
        if epoch["epoch"] == 2:
            raise Enough

    clf = small(epochs=50, callback=enough)
    with pytest.raises(Enough):
        clf.fit(*bars)
    assert len(clf.history_) == 2 and clf.network_.progress["epoch"] == 2


def test_an_exception_with_the_last_epoch_is_raised_too(bars: Example) -> None:
    def fail(epoch: dict[str, Any]) -> None:
        if epoch["epoch"] == 4:
            raise RuntimeError("late")

    clf = small(callback=fail)
    with pytest.raises(RuntimeError, match="late"):
        clf.fit(*bars)
    assert clf.network_ == small().fit(*bars).network_


def test_other_threads_run_while_a_network_is_trained(bars: Example) -> None:
    clf, ticks = small(epochs=2000, threads=1), 0
    thread = threading.Thread(target=clf.fit, args=bars)
    thread.start()
    while thread.is_alive():
        ticks += 1
    thread.join()
    assert ticks > 10_000 and len(clf.history_) == 2000


def test_progress_is_shown_however_short_the_epochs(bars: Example, capsys: pytest.CaptureFixture[str]) -> None:
    small(epochs=1000, progress=True).fit(*bars)
    assert "of 1000, loss" in capsys.readouterr().err
    small(epochs=300).fit(*bars)
    assert capsys.readouterr().err == ""


def test_networks_too_large_for_the_machine_are_refused(bars: Example) -> None:
    with pytest.raises(MemoryError, match="GiB"):
        small(hidden=(2**20, 2**20)).fit(*bars)
    with pytest.raises(MemoryError, match="GiB"):
        ig.Network.draw(inputs=2**20, hidden=(2**20,), classes=2)


def test_settings_are_those_of_the_training(bars: Example) -> None:
    clf = small(weight_decay=0.01).fit(*bars)
    assert set(clf.settings_) >= {"hidden", "dropout", "sigma_m2", "lr", "features", "neuron"} and "data" not in clf.settings_
    assert (clf.settings_["lr"], clf.settings_["neuron"], clf.settings_["weight_decay"], clf.settings_["seed"]) == (0.03, "sign", 0.01, 3)
    assert clf.settings_["bias_correction"] is False
    assert small(adversarial=0.1).fit(*bars).settings_["bias_correction"] is True
    with pytest.raises(ValueError, match="unknown picture"):
        clf.plot("outsides")  # type: ignore[arg-type]


def test_threads_give_the_same_bits(bars: Example) -> None:
    def fit(seed: int) -> bytes:
        return small(random_state=seed, threads=2).fit(*bars).network_.to_bytes()

    alone = [fit(seed) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fit, (1, 2))) == alone
    assert small(random_state=1, threads=1).fit(*bars).network_.to_bytes() == alone[0]


def test_training_needs_numpy_alone(bars: Example) -> None:
    x, y = bars
    network = ig.train(x, y, hidden=(33, 17), epochs=4, batch=16, seed=3, progress=False)
    assert network == small().fit(x, y).network_
    named = ig.train(x, np.where(y == 1, "column", "row"), hidden=(33,), epochs=8, progress=False)
    assert named.class_names == ["column", "row"] and set(named.predict(x)) == {"column", "row"}
    with pytest.raises(ValueError, match="data is a setting of runs in files"):
        ig.train(x, y, data="mnist")
    with pytest.raises(ValueError, match="one label for each"):
        ig.train(x, y[:-1])
    with pytest.raises(ValueError, match="unknown setting epoch: the settings are train_fraction, validation"):
        ig.train(x, y, epoch=3)
