"""How signals travel through a random network, before any training.

The functions ask the questions of ``isinglass theory`` and give the same numbers. Models are continuous, deterministic, lrt-binary, lrt-continuous, binary,
stochastic-binary, stochastic-weights and stochastic-neurons; neurons are sign, probit:α, logistic:α, erf:a and tanh:k, and for the continuous model relu and linear.

>>> import isinglass as ig
>>> point = ig.theory.point("deterministic", neuron="sign", sigma_m2=0.9, sigma_b2=0.001)
>>> point.phase, round(point.chi_1, 6)
('ordered', 0.572387)
>>> ig.theory.advise("deterministic", neuron="sign", depth=40).critical_exists
False

Impossible values raise a ``ValueError`` that says why:

>>> ig.theory.point("deterministic", sigma_m2=1.2)
Traceback (most recent call last):
ValueError: σ_m² = 1.2: the variance of means in [-1, 1] cannot exceed 1
"""

from ._advice import Advice, CarriedAdvice, CarriedRecommendation, Recommendation, advise
from ._plane import CarriedPhaseDiagram, CriticalLine, PhaseDiagram, critical_line, phase_diagram
from ._point import CarriedPoint, Point, point
from ._signals import CarriedTrajectory, CorrelationMap, Trajectory, correlation_map, trajectory

__all__ = [
    "Advice",
    "CarriedAdvice",
    "CarriedPhaseDiagram",
    "CarriedPoint",
    "CarriedRecommendation",
    "CarriedTrajectory",
    "CorrelationMap",
    "CriticalLine",
    "PhaseDiagram",
    "Point",
    "Recommendation",
    "Trajectory",
    "advise",
    "correlation_map",
    "critical_line",
    "phase_diagram",
    "point",
    "trajectory",
]
