"""One point of a continuous tanh network with SciPy, the way the public notebooks do it.

q* by iterating the variance map and c* by iterating the correlation map, every expectation by scipy.integrate.quad or dblquad
with their default tolerances. Reads lines `sigma_w2 sigma_b2` from standard input and answers each with
`seconds q_star chi_1 c_star chi`, so that the benchmark can interleave it with its own.
"""

import sys
import time

import numpy as np
from scipy.integrate import dblquad, quad


def gauss(z):
    return np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


def expectation(f, q):
    return quad(lambda z: gauss(z) * f(np.sqrt(q) * z), -8, 8)[0]


def pair_expectation(f, q, c):
    s = np.sqrt(1 - c * c)

    def integrand(z2, z1):
        return gauss(z1) * gauss(z2) * f(np.sqrt(q) * z1) * f(np.sqrt(q) * (c * z1 + s * z2))

    return dblquad(integrand, -8, 8, -8, 8)[0]


def slope(h):
    return 1 / np.cosh(h) ** 2


def point(sigma_w2, sigma_b2, tolerance=1e-8):
    q = 1.0
    while True:
        new = sigma_w2 * expectation(lambda h: np.tanh(h) ** 2, q) + sigma_b2
        if abs(new - q) < tolerance:
            break
        q = new
    chi_1 = sigma_w2 * expectation(lambda h: slope(h) ** 2, q)
    if chi_1 <= 1:
        return q, chi_1, 1.0, chi_1
    c = 0.5
    while True:
        new = (sigma_w2 * pair_expectation(np.tanh, q, c) + sigma_b2) / q
        if abs(new - c) < tolerance:
            break
        c = new
    return q, chi_1, c, sigma_w2 * pair_expectation(slope, q, c)


print("ready", flush=True)
for line in sys.stdin:
    sigma_w2, sigma_b2 = map(float, line.split())
    start = time.perf_counter()
    result = point(sigma_w2, sigma_b2)
    print(time.perf_counter() - start, *map(repr, map(float, result)), flush=True)
