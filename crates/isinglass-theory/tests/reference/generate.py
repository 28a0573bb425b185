#!/usr/bin/env python3
"""High-precision reference values for Gaussian expectations of erf, tanh and sign.

What this is
------------
An independent check of the library's Gaussian expectations and layer maps.  Every number is
obtained by plain composite Gauss-Legendre quadrature, in multiple precision (MPFR through
gmpy2), of the integral that defines it.  No closed form for a Gaussian expectation is used: no
arcsine law, no smoothing identity for erf, no mixture representation, no series, no trapezoidal
rule.  The only special functions are phi itself (erf, tanh) and exp.

How to run
----------
    pip install gmpy2 mpmath            (mpmath is only needed for --cross)
    python3 generate.py                 rewrite single.csv, pair.csv and maps.csv (about 12
                                        minutes on one core)
    python3 generate.py --only pair     rewrite one table
    python3 generate.py --quick         recompute a small subset, compare with the committed
                                        files, print the largest relative difference, and exit
                                        with status 1 if it exceeds 1e-14 (about a minute)
    python3 generate.py --cross         recompute some rows with mpmath's tanh-sinh rule,
                                        sharing none of the quadrature code below, and compare
                                        (about 5 minutes)

Inputs are IEEE doubles, taken at their exact binary value and written with repr(); outputs have
20 significant digits.

Tables
------
phi(h) is erf(a h) ("erf", param a), tanh(k h) ("tanh", param k) or sign(h) ("sign", param 0).

single.csv   phi,param,q,A,one_minus_A,B,A_prime,qB_minus_A
    h ~ N(0,q).  A = E phi^2, one_minus_A = E[1 - phi^2], B = E phi'^2,
    A_prime = E[phi'^2 + phi phi''], qB_minus_A = E[q phi'^2 - phi^2].
pair.csv     phi,param,q_a,q_b,delta,C,one_minus_C,D,V,one_minus_c0
    (h_a,h_b) Gaussian with variances q_a, q_b and correlation 1 - delta.
    C = E phi_a phi_b, one_minus_C = E[1 - phi_a phi_b], D = E phi'_a phi'_b (empty for sign),
    V = E (phi_a - phi_b)^2, one_minus_c0 = 1 - C/sqrt(A_a A_b), which is integrated as
    E (phi_a/sqrt(A_a) - phi_b/sqrt(A_b))^2 / 2 (the same number without the cancellation).
maps.csv     model,neuron,sigma2,sigma_b2,q_a,q_b,delta,q_a_out,q_b_out,one_minus_c_out,chi
    One layer of each model, phi being the mean function of the neuron: sign: sign(h),
    probit:alpha: erf(h/(alpha sqrt 2)), logistic:alpha: tanh(h/alpha), erf:a, tanh:k.  In the
    deterministic model sign and probit use erf(h/sqrt 2) and logistic tanh(h), over
    d = n2 + s (1 - sigma2 A) with (n2,s) = (0,1) for sign, erf:a and tanh:k, (alpha^2,1) for
    probit, (alpha^2,pi/2) for logistic.

    model                variance q'              covariance k'                 slope chi
    continuous           sigma2 A + sigma_b2      sigma2 C + sigma_b2           sigma2 D
    deterministic        (sigma2 A + sigma_b2)/d  (sigma2 C + sigma_b2)         sigma2 D/d
                                                  / sqrt(d_a d_b)
    lrt-binary           1 + sigma_b2             sigma2 C + sigma_b2           sigma2 D
    lrt-continuous       A + sigma_b2             sigma2 C + sigma_b2           sigma2 D
    binary               1 + sigma_b2             C(sign) + sigma_b2            D(sign) at
                                                                                q = 1 + sigma_b2
    stochastic-binary    1 + sigma_b2             C + sigma_b2                  D
    stochastic-weights   A + sigma_b2             C + sigma_b2                  D
    stochastic-neurons   sigma2 + sigma_b2        sigma2 C + sigma_b2           sigma2 D

    (stochastic-weights: stochastic binary weights, continuous neurons; stochastic-neurons:
    continuous weights, stochastic binary neurons.)  sigma2 is empty for models without one.
    one_minus_c_out = 1 - k'/sqrt(q_a' q_b').  chi uses D at this delta and q = q_a and is given
    only where q_a = q_b.  For phi = sign, phi' = 2 delta_0(h), so D is 4 times the joint density
    of (h_a,h_b) at the origin.  Rows of binary with a chi have q = 1 + sigma_b2.

What is checked while generating (an error is raised if a check fails)
-----------------------------------------------------------------------
* Every integral is computed twice and the two results must agree to CHECK_TOL = 1e-18 relative:
  - one-dimensional: other panels, more nodes, further cut-offs, more bits;
  - two-dimensional: in two different coordinate systems, (X,Y) = half sum and half difference
    of the standardised fields, and (z1,z2) with h_a = sqrt(q_a) z1,
    h_b = sqrt(q_b) (c z1 + sqrt(1-c^2) z2), with other panels, nodes, cut-offs and precision.
* C + one_minus_C = 1, A + one_minus_A = 1 (normalisation of the whole rule), to 1e-18.
* A_a + A_b - 2 C = V, q B - A = qB_minus_A, and 1 - C/sqrt(A_a A_b) = one_minus_c0 as far as the
  cancellation in the left-hand sides allows (error below 1e-18 of the largest term).
* delta = 1: C = 0 by oddness, set exactly after checking that the quadrature gives < 1e-18 of E|phi phi|.
* Each derived column of maps.csv is computed from both sets of two-dimensional integrals and
  compared alike; 1 - k'/sqrt(q_a' q_b') is also formed directly (error below 1e-18 of 1).
"""

import argparse
import csv
import math
import os
import sys
import time

import gmpy2
from gmpy2 import mpfr

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK_TOL = 1e-18
QUICK_TOL = 1e-14
DIGITS = 20


class CheckError(RuntimeError):
    """A self-check of the quadrature failed."""


# --------------------------------------------------------------------------------------------
# Quadrature
# --------------------------------------------------------------------------------------------

class Rule:
    """How finely to integrate.

    bits: working precision.  n: Gauss-Legendre nodes per panel.  cut: half range of a Gaussian
    in standard deviations.  gauss, erf, tanh: longest panel (in units of the feature's width)
    that n nodes resolve.  edge: distance, in widths, beyond which erf and tanh are flat.
    """

    def __init__(self, bits, n, cut, gauss, erf, tanh, edge):
        self.bits, self.n, self.cut, self.gauss = bits, n, cut, gauss
        self.alpha = {"erf": erf, "tanh": tanh}
        self.edge = edge
        self._nodes = None

    def nodes(self):
        if self._nodes is None:
            self._nodes = gauss_legendre(self.n)
        return self._nodes


#                bits   n   cut  gauss  erf  tanh   edge
RULE_1D = (Rule(420, 80, 16.0, 4.0, 2.5, 1.5, {"erf": 12.5, "tanh": 72.0}),
           Rule(520, 104, 17.3, 3.7, 2.2, 1.3, {"erf": 13.6, "tanh": 80.0}))
RULE_2D = (Rule(150, 40, 10.8, 11.0, 5.0, 3.4, {"erf": 7.7, "tanh": 30.0}),
           Rule(170, 46, 11.3, 9.3, 4.6, 3.1, {"erf": 8.1, "tanh": 33.0}))


def gauss_legendre(n):
    """Nodes and weights on [-1,1], by Newton's method on P_n."""
    out = []
    for i in range(n):
        x = mpfr(math.cos(math.pi * (i + 0.75) / (n + 0.5)))
        for _ in range(100):
            p0, p1 = mpfr(1), x
            for k in range(2, n + 1):
                p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
            dp = n * (x * p1 - p0) / (x * x - 1)
            step = p1 / dp
            x -= step
            if abs(step) < mpfr(2) ** (12 - gmpy2.get_context().precision):
                break
        else:
            raise CheckError("Gauss-Legendre nodes did not converge")
        out.append((x, 2 / ((1 - x * x) * dp * dp)))
    return out


def panels(lo, hi, features):
    """Break [lo,hi] so that no panel is too long for any feature it meets.

    A feature (centre, width, edge, alpha, beta) allows panels of alpha widths at its centre,
    growing by beta times the distance from it, and no restriction beyond edge widths.
    """
    cuts, left = [lo], lo
    while left < hi:
        right = hi
        for centre, width, edge, alpha, beta in features:
            far = edge * width
            if left >= centre + far:
                continue
            if left < centre - far:
                limit = centre - far
            elif left < centre:
                limit = left + (alpha * width + beta * (centre - left)) / (1 + beta)
            else:
                limit = left + alpha * width + beta * (left - centre)
            right = min(right, limit)
        if not right > left:
            raise CheckError("empty panel")
        cuts.append(right)
        left = right
    return cuts


def points(cuts, rule):
    """Nodes and weights of the composite rule on the panels."""
    out = []
    for lo, hi in zip(cuts, cuts[1:]):
        half, mid = (mpfr(hi) - mpfr(lo)) / 2, (mpfr(hi) + mpfr(lo)) / 2
        out += [(mid + half * t, half * w) for t, w in rule.nodes()]
    return out


def gauss_feature(sigma, rule):
    return (0.0, sigma, rule.cut, rule.gauss, 0.0)


def step_feature(centre, width, kind, rule):
    return (centre, width, rule.edge[kind], rule.alpha[kind], 0.5 if kind == "erf" else 1.5)


def density(var):
    """Density of N(0,var)."""
    norm, rate = 1 / gmpy2.sqrt(2 * gmpy2.const_pi() * var), -1 / (2 * var)
    exp = gmpy2.exp
    return lambda x: norm * exp(rate * x * x)


class precision:
    """Context manager: working precision in bits."""

    def __init__(self, bits):
        self.bits = bits

    def __enter__(self):
        self.old = gmpy2.get_context().precision
        gmpy2.get_context().precision = self.bits

    def __exit__(self, *exc):
        gmpy2.get_context().precision = self.old


# --------------------------------------------------------------------------------------------
# phi
# --------------------------------------------------------------------------------------------

class Phi:
    """kind 'erf', 'tanh' or 'sign'; gain: callable giving the gain at the working precision."""

    def __init__(self, kind, gain):
        self.kind, self.gain = kind, gain
        self.key = (kind, float(gain())) if kind != "sign" else ("sign", 0.0)

    def functions(self):
        """h -> (phi, phi') and (h, phi, phi') -> phi''."""
        g = self.gain()
        if self.kind == "erf":
            c, g2 = 2 * g / gmpy2.sqrt(gmpy2.const_pi()), g * g
            erf, exp = gmpy2.erf, gmpy2.exp
            return (lambda h: (erf(g * h), c * exp(-g2 * h * h)),
                    lambda h, f, d: -2 * g2 * h * d)
        tanh, exp = gmpy2.tanh, gmpy2.exp

        def both(h):
            e = exp(-2 * g * abs(h))  # 1 - tanh^2 = 4 e/(1+e)^2 keeps its relative accuracy
            return tanh(g * h), 4 * g * e / ((1 + e) * (1 + e))
        return both, lambda h, f, d: -2 * g * f * d


def with_param(kind, param):
    param = float(param)
    return Phi(kind, lambda: mpfr(param))


# --------------------------------------------------------------------------------------------
# One field
# --------------------------------------------------------------------------------------------

def single_once(phi, q, rule):
    """A, 1-A, B, A', qB-A by quadrature over h = sqrt(q) z, z > 0."""
    with precision(rule.bits):
        qm = mpfr(q)
        root, dens = gmpy2.sqrt(qm), density(mpfr(1))
        fun, second = phi.functions()
        width = 1 / (float(phi.gain()) * math.sqrt(q))
        cuts = panels(0.0, rule.cut, [gauss_feature(1.0, rule),
                                      step_feature(0.0, width, phi.kind, rule)])
        s = [mpfr(0)] * 5
        for z, w in points(cuts, rule):
            h = root * z
            f, d = fun(h)
            w = 2 * w * dens(z)
            f2, d2 = f * f, d * d
            s[0] += w * f2
            s[1] += w * (1 - f2)
            s[2] += w * d2
            s[3] += w * (d2 + f * second(h, f, d))
            s[4] += w * (qm * d2 - f2)
        return dict(zip(("A", "one_minus_A", "B", "A_prime", "qB_minus_A"), s))


def relative(x, y):
    """Relative difference as a float; 0 if both vanish."""
    with precision(RULE_1D[1].bits):
        scale = max(abs(mpfr(x)), abs(mpfr(y)))
        return float(abs(mpfr(x) - mpfr(y)) / scale) if scale else 0.0


WORST = {"value": 0.0}


def agree(what, x, y):
    err = relative(x, y)
    WORST["value"] = max(WORST["value"], err)
    if not err <= CHECK_TOL:
        raise CheckError("%s: %s and %s differ by %.2e" % (what, x, y, err))


def near(what, err, scale):
    with precision(RULE_1D[1].bits):
        if not abs(err) <= CHECK_TOL * abs(scale):
            raise CheckError("%s: off by %.2e of %.2e" % (what, err, scale))


SINGLE_CACHE = {}


def single(phi, q):
    """Checked one-field expectations (the finer of the two evaluations)."""
    key = phi.key + (q,)
    if key not in SINGLE_CACHE:
        if phi.kind == "sign":
            SINGLE_CACHE[key] = {"A": mpfr(1)}
            return SINGLE_CACHE[key]
        one, two = (single_once(phi, q, rule) for rule in RULE_1D)
        for name in two:
            agree("single %s %s" % (key, name), one[name], two[name])
        with precision(RULE_1D[1].bits):
            near("A + (1-A)", two["A"] + two["one_minus_A"] - 1, 1)
            qb = mpfr(q) * two["B"]
            near("qB - A", qb - two["A"] - two["qB_minus_A"], qb + two["A"])
        SINGLE_CACHE[key] = two
    return SINGLE_CACHE[key]


# --------------------------------------------------------------------------------------------
# Two fields
# --------------------------------------------------------------------------------------------

PAIR_NAMES = ("C", "one_minus_C", "D", "V", "one_minus_c0")


def pair_sums(nodes, fun, ratio):
    """Sums of the five integrands over (weight, h_a, h_b)."""
    c = m = d = v = u = mpfr(0)
    one = mpfr(1)
    for w, ha, hb in nodes:
        fa, da = fun(ha)
        fb, db = fun(hb)
        p, t = fa * fb, fa - fb
        c += w * p
        m += w * (one - p)
        d += w * (da * db)
        v += w * (t * t)
        if ratio is not None:
            t = fa - ratio * fb
            u += w * (t * t)
    return c, m, d, v, u


def pair_xy(phi, qa, qb, delta, rule):
    """h_a = sqrt(q_a)(X+Y), h_b = sqrt(q_b)(X-Y), var X = 1-delta/2, var Y = delta/2.

    Y > 0 by the symmetry h -> -h; X > 0 as well when q_a = q_b (exchange of a and b).
    """
    with precision(rule.bits):
        fun, _ = phi.functions()
        dm, equal = mpfr(delta), qa == qb
        ra, rb = gmpy2.sqrt(mpfr(qa)), gmpy2.sqrt(mpfr(qb))
        sx, sy = math.sqrt(1 - delta / 2), math.sqrt(delta / 2)
        wa, wb = (1 / (float(phi.gain()) * math.sqrt(q)) for q in (qa, qb))
        if sy > 0:
            feats = [gauss_feature(sy, rule)]
            feats += [step_feature(0.0, w, phi.kind, rule) for w in {wa, wb}]
            if sx > min(wa, wb) / 4:
                feats.append(step_feature(0.0, math.sqrt(2) * sx, "erf", rule))
            dy = density(dm / 2)
            outer = [(y, 2 * w * dy(y)) for y, w in points(panels(0.0, rule.cut * sy, feats), rule)]
        else:
            outer = [(mpfr(0), mpfr(1))]
        dx = density(1 - dm / 2) if sx > 0 else None
        top = rule.cut * sx

        def nodes():
            for y, wy in outer:
                if dx is None:
                    yield wy, ra * y, -rb * y
                    continue
                yf = float(y)
                feats = [gauss_feature(sx, rule), step_feature(-yf, wa, phi.kind, rule),
                         step_feature(yf, wb, phi.kind, rule)]
                cuts = panels(0.0 if equal else -top, top, feats)
                scale = 2 * wy if equal else wy
                for x, wx in points(cuts, rule):
                    yield scale * wx * dx(x), ra * (x + y), rb * (x - y)

        return finish(phi, qa, qb, nodes(), fun)


def pair_z(phi, qa, qb, delta, rule):
    """h_a = sqrt(q_a) z1, h_b = sqrt(q_b)(c z1 + s z2), z1 > 0 by symmetry."""
    with precision(rule.bits):
        fun, _ = phi.functions()
        dm = mpfr(delta)
        c, s = 1 - dm, gmpy2.sqrt(dm * (2 - dm))
        ra, rb = gmpy2.sqrt(mpfr(qa)), gmpy2.sqrt(mpfr(qb))
        cf, sf = float(c), float(s)
        wa, wb = (1 / (float(phi.gain()) * math.sqrt(q)) for q in (qa, qb))
        feats = [gauss_feature(1.0, rule), step_feature(0.0, wa, phi.kind, rule)]
        if cf:
            feats.append(step_feature(0.0, wb / abs(cf), phi.kind, rule))
            if sf > wb / 4:
                feats.append(step_feature(0.0, math.sqrt(2) * sf / abs(cf), "erf", rule))
        dens = density(mpfr(1))
        outer = points(panels(0.0, rule.cut, feats), rule)

        def nodes():
            for z1, w1 in outer:
                w1 = 2 * w1 * dens(z1)
                ha, shift = ra * z1, c * z1
                if sf == 0:
                    yield w1, ha, rb * shift
                    continue
                cuts = panels(-rule.cut, rule.cut, [
                    gauss_feature(1.0, rule),
                    step_feature(-float(shift) / sf, wb / sf, phi.kind, rule)])
                for z2, w2 in points(cuts, rule):
                    yield w1 * w2 * dens(z2), ha, rb * (shift + s * z2)

        return finish(phi, qa, qb, nodes(), fun)


def finish(phi, qa, qb, nodes, fun):
    """Sums over the nodes, with one_minus_c0 from E(phi_a - r phi_b)^2/(2 A_a), r^2 = A_a/A_b."""
    a_a, a_b = +single(phi, qa)["A"], +single(phi, qb)["A"]
    ratio = None if qa == qb else gmpy2.sqrt(a_a / a_b)
    c, m, d, v, u = pair_sums(nodes, fun, ratio)
    return dict(zip(PAIR_NAMES, (c, m, d, v, (v if ratio is None else u) / (2 * a_a))))


def sign_xy(delta, rule):
    """Probabilities of opposite and of equal signs: |X| < |Y| and |X| > |Y|."""
    with precision(rule.bits):
        dm = mpfr(delta)
        vx, vy = 1 - dm / 2, dm / 2
        sx, sy = math.sqrt(1 - delta / 2), math.sqrt(delta / 2)
        opposite = same = mpfr(0)
        if sy == 0 or sx == 0:
            return (mpfr(0), mpfr(1)) if sy == 0 else (mpfr(1), mpfr(0))
        dx, dy = density(vx), density(vy)
        cuts = panels(0.0, rule.cut * sy, [gauss_feature(sy, rule),
                                           step_feature(0.0, math.sqrt(2) * sx, "erf", rule)])
        for y, w in points(cuts, rule):
            w, top = 4 * w * dy(y), mpfr(rule.cut * sx)
            feats = [gauss_feature(sx, rule)]
            inner = panels(0.0, min(float(y), float(top)), feats)
            inner[-1] = min(y, top)
            opposite += w * sum(v * dx(x) for x, v in points(inner, rule))
            if y < top:
                inner = panels(float(y), float(top), feats)
                inner[0] = y
                same += w * sum(v * dx(x) for x, v in points(inner, rule))
        return opposite, same


def sign_z(delta, rule):
    """The same probabilities from z1 > 0 and z2 against -c z1/s."""
    with precision(rule.bits):
        dm = mpfr(delta)
        c, s = 1 - dm, gmpy2.sqrt(dm * (2 - dm))
        if s == 0:
            return (mpfr(0), mpfr(1)) if c > 0 else (mpfr(1), mpfr(0))
        dens, cut = density(mpfr(1)), rule.cut
        feats = [gauss_feature(1.0, rule)]
        outer = feats + ([step_feature(0.0, math.sqrt(2) * float(s / abs(c)), "erf", rule)] if c else [])
        opposite = same = mpfr(0)
        for z, w in points(panels(0.0, cut, outer), rule):
            w, at = 2 * w * dens(z), -c * z / s
            at = max(min(at, mpfr(cut)), mpfr(-cut))
            if at > -cut:
                inner = panels(-cut, float(at), feats)
                inner[-1] = at
                opposite += w * sum(v * dens(x) for x, v in points(inner, rule))
            if at < cut:
                inner = panels(float(at), cut, feats)
                inner[0] = at
                same += w * sum(v * dens(x) for x, v in points(inner, rule))
        return opposite, same


def sign_pair(fun, delta, rule):
    opposite, same = fun(delta, rule)
    with precision(rule.bits):
        return {"C": same - opposite, "one_minus_C": 2 * opposite, "D": None,
                "V": 4 * opposite, "one_minus_c0": 2 * opposite}


PAIR_CACHE = {}


def pair(phi, qa, qb, delta):
    """Checked two-field expectations: (first, second) evaluation."""
    key = phi.key + ((delta,) if phi.kind == "sign" else (qa, qb, delta))
    if key in PAIR_CACHE:
        return PAIR_CACHE[key]
    if phi.kind == "sign":
        one = sign_pair(sign_z, delta, RULE_2D[0])
        two = sign_pair(sign_xy, delta, RULE_2D[1])
        size = mpfr(1)
    else:
        one = pair_xy(phi, qa, qb, delta, RULE_2D[0])
        two = pair_z(phi, qa, qb, delta, RULE_2D[1])
        with precision(RULE_2D[1].bits):
            size = gmpy2.sqrt(single(phi, qa)["A"] * single(phi, qb)["A"])
    for name in PAIR_NAMES:
        what = "pair %s %s" % (key, name)
        if name == "C" and delta == 1:  # zero by oddness
            near(what, one["C"], size)
            near(what, two["C"], size)
            one["C"] = two["C"] = mpfr(0)
        elif two[name] is not None:
            agree(what, one[name], two[name])
    with precision(RULE_2D[1].bits):
        a_a, a_b = single(phi, qa)["A"], single(phi, qb)["A"]
        near("C + (1-C)", two["C"] + two["one_minus_C"] - 1, 1)
        near("A_a + A_b - 2C", a_a + a_b - 2 * two["C"] - two["V"], a_a + a_b)
        near("1 - c0", 1 - two["C"] / size - two["one_minus_c0"], 1)
    PAIR_CACHE[key] = (one, two)
    return PAIR_CACHE[key]


# --------------------------------------------------------------------------------------------
# Layer maps
# --------------------------------------------------------------------------------------------

def mean_function(model, neuron):
    """phi of the neuron in the model, and the deterministic model's (n2, s)."""
    name, _, text = neuron.partition(":")
    value = float(text) if text else 0.0
    inv_sqrt2 = Phi("erf", lambda: 1 / gmpy2.sqrt(mpfr(2)))
    zero, one = (lambda: mpfr(0)), (lambda: mpfr(1))
    square = lambda: mpfr(value) * mpfr(value)
    if name in ("erf", "tanh"):
        return with_param(name, value), zero, one
    if model == "deterministic":
        return {"sign": (inv_sqrt2, zero, one),
                "probit": (inv_sqrt2, square, one),
                "logistic": (with_param("tanh", 1.0), square,
                             lambda: gmpy2.const_pi() / 2)}[name]
    return {"sign": Phi("sign", zero),
            "probit": Phi("erf", lambda: 1 / (mpfr(value) * gmpy2.sqrt(mpfr(2)))),
            "logistic": Phi("tanh", lambda: 1 / mpfr(value))}[name], None, None


def map_once(model, neuron, sigma2, sigma_b2, qa, qb, delta, which):
    """One layer from evaluation `which` (0 or 1) of the integrals."""
    phi, n2, s = mean_function(model, neuron)
    values = pair(phi, qa, qb, delta)[which]
    with precision(RULE_2D[1].bits):
        a_a, a_b = +single(phi, qa)["A"], +single(phi, qb)["A"]
        sg, sb = mpfr(sigma2 if sigma2 is not None else 1), mpfr(sigma_b2)
        cov, comp, v = values["C"], values["one_minus_C"], values["V"]
        # v_a, v_b: variances, k: covariance, before any division by d; gap = (v_a+v_b)/2 - k
        # without cancellation.  q_a', q_b' are v_a/d_a, v_b/d_b and d drops out of c'.
        d_a = d_b = mpfr(1)
        if model in ("continuous", "deterministic"):
            v_a, v_b, gap = sg * a_a + sb, sg * a_b + sb, sg * v / 2
            if model == "deterministic":
                d_a, d_b = (n2() + s() * (1 - sg * a) for a in (a_a, a_b))
        elif model in ("lrt-binary", "binary", "stochastic-binary"):
            v_a = v_b = 1 + sb
            gap = (1 - sg) + sg * comp
        elif model in ("lrt-continuous", "stochastic-weights"):
            v_a, v_b, gap = a_a + sb, a_b + sb, (1 - sg) * (a_a + a_b) / 2 + sg * v / 2
        elif model == "stochastic-neurons":
            v_a = v_b = sg + sb
            gap = sg * comp
        else:
            raise ValueError(model)
        k = sg * cov + sb
        root = gmpy2.sqrt(v_a * v_b)
        diff = gmpy2.sqrt(v_a) - gmpy2.sqrt(v_b)
        out = {"q_a_out": v_a / d_a, "q_b_out": v_b / d_b,
               "one_minus_c_out": (gap - diff * diff / 2) / root, "chi": None}
        near("1 - c'", 1 - k / root - out["one_minus_c_out"], 1)
        if qa == qb:
            dm = mpfr(delta)
            if model == "binary" or phi.kind == "sign":
                q = 1 + sb if model == "binary" else mpfr(qa)
                if delta > 0:  # 4 times the joint density of (h_a,h_b) at the origin
                    out["chi"] = sg * 4 / (2 * gmpy2.const_pi() * q * gmpy2.sqrt(dm * (2 - dm)))
            else:
                out["chi"] = sg * values["D"] / d_a
        return out


def layer_map(*row):
    one, two = (map_once(*row, which) for which in (0, 1))
    for name, value in two.items():
        if value is not None:
            agree("map %s %s" % (row, name), one[name], value)
    return two


# --------------------------------------------------------------------------------------------
# Rows
# --------------------------------------------------------------------------------------------

R2 = 0.7071067811865476


def single_rows():
    for a in (0.25, 0.5, R2, 1.0, 2.0):
        for q in (1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1e3, 1e6, 1e9, 1e12):
            yield "erf", a, q
    for k in (0.5, 1.0, 1.5, 3.0):
        for q in (1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 1e6):
            yield "tanh", k, q


def pair_rows():
    for delta in (1e-15, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.25, 0.5, 0.75,
                  0.9, 0.999, 1.0, 1.001, 1.5, 1.9, 1.999, 1.999999, 2.0):
        yield "sign", 0.0, 1.0, 1.0, delta
    # Equal variances.
    for k in (1.0, 1.5):
        for q in (1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e3, 1e6):
            for delta in (1e-12, 1e-8, 1e-4, 0.1, 0.5, 1.0):
                yield "tanh", k, q, q, delta
        for q in (1e-12, 1.0, 1e6):
            for delta in (1.5, 1.999):
                yield "tanh", k, q, q, delta
    for a in (0.5, R2, 2.0):
        for q in (1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e3, 1e6, 1e12):
            for delta in (1e-15, 1e-10, 1e-5, 0.1, 0.5, 1.0):
                yield "erf", a, q, q, delta
        for q in (1e-12, 1.0, 1e12):
            for delta in (1.5, 1.999):
                yield "erf", a, q, q, delta
    # Unequal variances.
    for kind, param, tiny in (("tanh", 1.0, 1e-12), ("tanh", 1.5, 1e-12),
                              ("erf", R2, 1e-15), ("erf", 2.0, 1e-15)):
        for qa, qb in ((1.0, 2.0), (1.0, 1.001), (1.0, 1.000001), (1e-12, 2e-12), (1e-6, 1e-4),
                       (1e3, 10.0)):
            for delta in (0.0, tiny, 0.1):
                yield kind, param, qa, qb, delta
        for qa, qb, delta in ((1.0, 100.0, 0.5), (0.01, 0.02, 1e-6), (2.0, 1.0, 1.0),
                              (1e3, 1e3 * 1.001, 1e-6), (1e-12, 1.0, 0.3), (0.5, 1e3, 1.5)):
            yield kind, param, qa, qb, delta


def map_rows():
    det = "deterministic"
    rows = []
    for neuron in ("sign", "probit:1", "logistic:1", "erf:0.5", "tanh:1.5"):
        rows += [(det, neuron, 0.5, 0.0, 1.0, 1.0, 0.1), (det, neuron, 0.99, 1e-3, 0.01, 0.01, 1e-6),
                 (det, neuron, 1.0, 0.5, 30.0, 30.0, 1e-12), (det, neuron, 1.0, 0.0, 1e4, 1e4, 0.5),
                 (det, neuron, 0.99, 0.5, 1.0, 2.0, 0.1)]
    rows += [(det, "probit:0.5", 0.99, 0.0, 1.0, 1.0, 1.0), (det, "logistic:0.5", 0.99, 0.0, 1.0, 1.0, 0.5),
             (det, "erf:0.8862269254527580", 1.0, 0.0, 0.01, 0.01, 1e-12), (det, "tanh:1", 1.0, 0.0, 0.01, 0.01, 1e-12),
             (det, "tanh:1", 1.0, 0.0, 1e4, 1e4, 1e-6), (det, "sign", 1.0, 0.0, 0.01, 1.0, 1e-6)]
    for neuron in ("erf:0.5", "tanh:1.5", "tanh:1", "logistic:1"):
        rows += [("continuous", neuron, 0.5, 0.5, 1.0, 1.0, 0.5), ("continuous", neuron, 1.0, 0.0, 0.01, 0.01, 1e-12),
                 ("continuous", neuron, 0.99, 1e-3, 30.0, 30.0, 1e-6), ("continuous", neuron, 1.0, 1e-3, 1.0, 30.0, 0.1)]
    rows += [("continuous", "sign", 1.0, 0.5, 1.0, 1.0, 1e-6), ("continuous", "erf:2", 2.5, 0.0, 1.0, 1.0, 1.0)]
    for neuron in ("sign", "probit:1", "logistic:1", "tanh:1.5"):
        rows += [("lrt-binary", neuron, 0.99, 0.5, 1.0, 1.0, 0.1), ("lrt-binary", neuron, 1.0, 0.0, 1.0, 1.0, 1e-12),
                 ("lrt-binary", neuron, 0.5, 1e-3, 30.0, 30.0, 1.0),
                 ("stochastic-binary", neuron, None, 0.5, 1.0, 1.0, 0.5), ("stochastic-binary", neuron, None, 0.0, 1.0, 1.0, 1e-6),
                 ("stochastic-binary", neuron, None, 1e-3, 0.01, 0.01, 1e-12),
                 ("stochastic-neurons", neuron, 0.5, 0.5, 1.0, 1.0, 0.1), ("stochastic-neurons", neuron, 1.0, 0.0, 1.0, 1.0, 1e-6),
                 ("stochastic-neurons", neuron, 0.99, 1e-3, 30.0, 1.0, 0.5)]
    rows += [("lrt-binary", "erf:0.5", 1.0, 0.0, 0.01, 1.0, 0.5), ("stochastic-binary", "erf:0.5", None, 0.5, 30.0, 30.0, 1e-6),
             ("stochastic-neurons", "probit:0.25", 1.0, 0.5, 30.0, 30.0, 1e-12)]
    for neuron in ("tanh:1", "tanh:1.5", "erf:0.5", "erf:2"):
        rows += [("lrt-continuous", neuron, 1.0, 0.0, 0.01, 0.01, 1e-12), ("lrt-continuous", neuron, 0.99, 0.5, 1.0, 1.0, 0.1),
                 ("lrt-continuous", neuron, 0.5, 1e-3, 30.0, 30.0, 0.5), ("lrt-continuous", neuron, 1.0, 1e-3, 1.0, 2.0, 1e-6),
                 ("stochastic-weights", neuron, None, 0.0, 0.01, 0.01, 1e-6), ("stochastic-weights", neuron, None, 0.5, 1.0, 1.0, 1e-12),
                 ("stochastic-weights", neuron, None, 1e-3, 30.0, 30.0, 1.0), ("stochastic-weights", neuron, None, 1e-3, 30.0, 1.0, 0.1)]
    for sb, q in ((0.0, 1.0), (0.5, 1.5)):
        rows += [("binary", "sign", None, sb, q, q, d) for d in (1e-12, 1e-6, 0.1, 0.5, 1.0)]
    rows += [("binary", "sign", None, 1e-3, 1.0, 30.0, 0.1), ("binary", "sign", None, 1e-3, 0.01, 1.0, 1e-6)]
    return rows


# --------------------------------------------------------------------------------------------
# Tables
# --------------------------------------------------------------------------------------------

def number(x):
    """20 significant digits; empty for a missing value, 0 for an exact zero."""
    if x is None:
        return ""
    return "0" if x == 0 else ("{:.%de}" % (DIGITS - 1)).format(x)


SINGLE_OUT = ("A", "one_minus_A", "B", "A_prime", "qB_minus_A")
MAP_OUT = ("q_a_out", "q_b_out", "one_minus_c_out", "chi")


def single_line(row):
    values = single(with_param(*row[:2]), row[2])
    return [row[0], repr(row[1]), repr(row[2])] + [number(values[n]) for n in SINGLE_OUT]


def pair_line(row):
    values = pair(with_param(*row[:2]), *row[2:])[1]
    return [row[0]] + [repr(x) for x in row[1:]] + [number(values[n]) for n in PAIR_NAMES]


def map_line(row):
    values = layer_map(*row)
    return list(row[:2]) + ["" if x is None else repr(x) for x in row[2:]] + [number(values[n]) for n in MAP_OUT]


#         name      header inputs                                              outputs     rows         line
TABLES = {
    "single": (("phi", "param", "q"), SINGLE_OUT, single_rows, single_line),
    "maps": (("model", "neuron", "sigma2", "sigma_b2", "q_a", "q_b", "delta"), MAP_OUT, map_rows, map_line),
    "pair": (("phi", "param", "q_a", "q_b", "delta"), PAIR_NAMES, pair_rows, pair_line),
}


def write_table(name):
    inputs, outputs, rows, line = TABLES[name]
    start, count = time.time(), 0
    WORST["value"] = 0.0
    with open(os.path.join(HERE, name + ".csv"), "w", newline="") as handle:
        out = csv.writer(handle, lineterminator="\n")
        out.writerow(inputs + outputs)
        for row in rows():
            out.writerow(line(row))
            handle.flush()
            count += 1
    print("%s.csv: %d rows, %.0f s, largest disagreement of the two evaluations %.1e"
          % (name, count, time.time() - start, WORST["value"]), flush=True)


def read_table(name):
    """Committed rows, keyed by the input columns."""
    n = len(TABLES[name][0])
    with open(os.path.join(HERE, name + ".csv"), newline="") as handle:
        lines = list(csv.reader(handle))
    if tuple(lines[0]) != TABLES[name][0] + TABLES[name][1]:
        raise CheckError("%s.csv: unexpected header" % name)
    return {tuple(x[:n]): x[n:] for x in lines[1:]}


def difference(new, old):
    """Largest relative difference between two lists of written numbers."""
    worst = 0.0
    for x, y in zip(new, old):
        if (x == "") != (y == ""):
            return math.inf
        if x:
            with precision(RULE_2D[1].bits):
                worst = max(worst, relative(mpfr(x), mpfr(y)))
    return worst if len(new) == len(old) else math.inf


def quick():
    """Recompute every 9th, 12th and 16th row of the tables and compare with the files."""
    worst, count = 0.0, 0
    for name, stride in (("single", 9), ("maps", 12), ("pair", 16)):
        inputs, _, rows, line = TABLES[name]
        committed = read_table(name)
        for row in list(rows())[::stride]:
            new = line(row)
            key = tuple(new[:len(inputs)])
            if key not in committed:
                raise CheckError("%s.csv has no row %s" % (name, ",".join(key)))
            err = difference(new[len(inputs):], committed[key])
            if err > QUICK_TOL:
                print("%s %s: %.2e" % (name, ",".join(key), err))
            worst, count = max(worst, err), count + 1
    print("%d rows recomputed, max relative difference %.2e" % (count, worst))
    return 0 if worst <= QUICK_TOL else 1


def cross():
    """Compare some committed rows with mpmath's tanh-sinh quadrature."""
    from mpmath import mp

    def functions(kind, g):
        if kind == "erf":
            first = lambda h: 2 * g / mp.sqrt(mp.pi) * mp.exp(-(g * h) ** 2)
            return (lambda h: mp.erf(g * h)), first, lambda h: -2 * g * g * h * first(h)
        first = lambda h: g * mp.sech(g * h) ** 2
        return (lambda h: mp.tanh(g * h)), first, lambda h: -2 * g * mp.tanh(g * h) * first(h)

    def gauss(z):
        return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)

    def rel(x, y):
        return float(abs(x - y) / abs(y)) if y else float(abs(x))

    worst, count = 0.0, 0
    mp.dps = 60
    for key, values in list(read_table("single").items())[::3]:
        kind, g, q = key[0], mp.mpf(float(key[1])), mp.mpf(float(key[2]))
        f, d, e = functions(kind, g)
        r, w = mp.sqrt(q), 1 / (g * mp.sqrt(q))
        cuts = sorted({mp.mpf(x) for x in (0, 1, 3, 6, 11, 18)}
                      | {x for x in (w * t for t in (1, 3, 6, 12, 30, 70)) if x < 18})
        forms = (lambda h: f(h) ** 2, lambda h: 1 - f(h) ** 2, lambda h: d(h) ** 2,
                 lambda h: d(h) ** 2 + f(h) * e(h), lambda h: q * d(h) ** 2 - f(h) ** 2)
        for form, text in zip(forms, values):
            x = 2 * mp.quad(lambda z: gauss(z) * form(r * z), cuts)
            err = rel(x, mp.mpf(text))
            if err > 1e-18:
                print("single", key, text, mp.nstr(x, 22), "%.1e" % err)
            worst, count = max(worst, err), count + 1
    print("single: %d numbers, max relative difference %.2e" % (count, worst), flush=True)
    mp.dps = 25
    worst2, count = 0.0, 0
    for row in (("erf", 2.0, 1.0, 1.0, 0.1), ("tanh", 1.0, 1.0, 1.0, 0.5), ("tanh", 1.5, 1e-2, 1e-2, 1e-4),
                ("erf", R2, 1.0, 2.0, 0.1), ("tanh", 1.5, 1.0, 1.001, 0.1)):
        key = (row[0],) + tuple(repr(x) for x in row[1:])
        values = read_table("pair")[key]
        g, qa, qb, delta = (mp.mpf(x) for x in row[1:])
        f, d, _ = functions(row[0], g)
        ra, rb, c, s = mp.sqrt(qa), mp.sqrt(qb), 1 - delta, mp.sqrt(delta * (2 - delta))
        forms = (lambda x, y: f(x) * f(y), None, lambda x, y: d(x) * d(y), lambda x, y: (f(x) - f(y)) ** 2)
        for form, text in zip(forms, values):
            if form is None:
                continue
            x = 2 * mp.quad(lambda z: gauss(z) * mp.quad(
                lambda t: gauss(t) * form(ra * z, rb * (c * z + s * t)), [-10.5, -4, 0, 4, 10.5]), [0, 1, 4, 10.5])
            err = rel(x, mp.mpf(text))
            if err > 1e-17:
                print("pair", key, text, mp.nstr(x, 22), "%.1e" % err)
            worst2, count = max(worst2, err), count + 1
    print("pair: %d numbers, max relative difference %.2e" % (count, worst2))
    return 0 if worst < 1e-18 and worst2 < 1e-17 else 1


def main():
    parser = argparse.ArgumentParser(description="Reference values for Gaussian expectations.")
    parser.add_argument("--quick", action="store_true", help="recompute a subset and compare with the files")
    parser.add_argument("--cross", action="store_true", help="compare some rows with mpmath's tanh-sinh rule")
    parser.add_argument("--only", choices=sorted(TABLES), help="generate one table")
    args = parser.parse_args()
    if args.quick:
        return quick()
    if args.cross:
        return cross()
    for name in [args.only] if args.only else TABLES:
        write_table(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
