"""How hard the generated digits are: a linear classifier against a small network.

    cargo run --release -p isinglass-data --example digits_to_idx -- DIR
    pip install numpy scikit-learn
    python3 crates/isinglass-data/examples/digits_hardness.py DIR

Prints the accuracies of multinomial logistic regression at several penalties and of a perceptron with one hidden layer of 256
ReLU, on pixels divided by 255. Any directory of four raw IDX files under MNIST's names will do.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

warnings.simplefilter("ignore", ConvergenceWarning)


def read(directory, name):
    images = np.fromfile(directory / f"{name}-images-idx3-ubyte", np.uint8, offset=16).reshape(-1, 784)
    labels = np.fromfile(directory / f"{name}-labels-idx1-ubyte", np.uint8, offset=8)
    return images.astype(np.float32) / 255, labels


def main():
    directory = Path(sys.argv[1])
    (x, y), (x_test, y_test) = read(directory, "train"), read(directory, "t10k")

    def report(name, model):
        model.fit(x, y)
        print(f"{name:38} train {100 * model.score(x, y):5.1f} %  test {100 * model.score(x_test, y_test):5.1f} %", flush=True)

    for c in (0.01, 0.1, 1.0):
        report(f"logistic regression, C = {c}", LogisticRegression(C=c, max_iter=200))
    report("784-256-10 ReLU, Adam 1e-3, 20 epochs", MLPClassifier((256,), max_iter=20, batch_size=100, random_state=0))


if __name__ == "__main__":
    main()
