//! Carried fields in words.

use isinglass_theory::{CarriedAdvice, CarriedPoint, CarryVerdict, MeanField, Model, RandomNetwork, VarianceFixedPoint};

use super::{correlation, digits, near_one};

/// Where carried fields tend, and as which powers of the depth.
pub fn of_carried_point(field: &MeanField, point: &CarriedPoint) -> String {
    let mut words = Vec::new();
    let power = |exponent: Option<f64>| exponent.map_or("a power of the depth".to_owned(), |exponent| format!("ℓ^{}", digits(exponent)));
    match point.q_star {
        VarianceFixedPoint::Zero if point.q_exponent().is_some_and(|exponent| exponent.abs() < 1e-12) => {
            words.push("Carried fields: the signal falls only as 1/ln ℓ, and its correlation freezes.".to_owned());
        }
        VarianceFixedPoint::Zero => {
            words.push(format!("Carried fields: the signal fades as q ~ {}, and its correlation freezes.", power(point.q_exponent())));
        }
        VarianceFixedPoint::Diverges => {
            let growth = digits(point.growth.unwrap_or_default());
            words.push(format!("Carried fields: their variance grows by {growth} per layer and neurons saturate."));
        }
        VarianceFixedPoint::Positive(_) | VarianceFixedPoint::Every => {
            let q_star = point.q_star.finite().map_or(String::new(), |q| format!(" = {}", digits(q)));
            words.push(format!(
                "Carried fields: the variance tends to q*{q_star}, its distance from it falling as {}.",
                power(point.q_exponent())
            ));
        }
    }
    if let Some(limit) = point.c_star {
        words.push(format!(
            "Correlations tend to {}, their distance from it falling as {}.",
            correlation(limit),
            power(point.c_exponent())
        ));
    }
    match (point.gradient_exponents(), point.root_rate) {
        (Some((depth, layer)), _) => {
            words.push(format!(
                "Gradients from the output to layer ℓ of L have a mean square of about L^{} ℓ^{}.",
                digits(depth),
                digits(layer)
            ));
        }
        (None, Some(rate)) => words.push(format!("Gradients grow as exp({} √L) over L layers, faster than any power.", digits(rate))),
        (None, None) => words.push("No gradient goes through a step.".to_owned()),
    }
    if field.sigma_b2() > 0.0 {
        words.push("Biases fade against what is carried: the limit is that without them.".to_owned());
    }
    words.join(" ")
}

/// Whether to carry, where, and what is left at the end.
pub fn of_carried_advice(network: &RandomNetwork, advice: &CarriedAdvice) -> String {
    let symbol = network.model().weight_variance().symbol();
    let at = |sigma2: Option<f64>| match (symbol, sigma2) {
        (Some(symbol), Some(sigma2)) => format!("{symbol} = {}", near_one(sigma2)),
        _ => "no variance to choose".to_owned(),
    };
    let (here, depth) = (at(advice.carried.sigma2), advice.depth);
    let layers = |reached: Option<f64>| reached.map_or("any depth".to_owned(), |reached| format!("{} layers", digits(reached)));
    let left = |fraction: Option<f64>| fraction.map_or("–".to_owned(), digits);
    let remains = &advice.carried.left;
    let mut words = vec![match advice.carry {
        CarryVerdict::Needed => {
            format!("Depth {depth}: carry; {here}; signal left {}, gradient left {}.", left(remains.signal), left(remains.gradient))
        }
        CarryVerdict::Helpful => format!(
            "Depth {depth}: carry, or use larger means: the plain network needs {}. Carried: {here}; signal left {}, gradient left {}.",
            at(advice.plain.smallest.as_ref().and_then(|smallest| smallest.sigma2)),
            left(remains.signal),
            left(remains.gradient)
        ),
        CarryVerdict::Unneeded => format!(
            "Depth {depth}: no need to carry: the plain network reaches it. Carried: {here}; signal left {}, gradient left {}.",
            left(remains.signal),
            left(remains.gradient)
        ),
    }];
    if advice.carry == CarryVerdict::Needed && symbol.is_some() {
        words.push(format!(
            "The plain network reaches {} there, and at best {}.",
            layers(advice.plain_depth),
            layers(advice.plain.max_depth)
        ));
    } else if advice.carry == CarryVerdict::Needed {
        words.push(format!("The plain network reaches {}.", layers(advice.plain_depth)));
    }
    if !advice.reaches {
        words.push(format!("That is less than e^−{}, which the plain network has left where its reach ends.", digits(advice.reach)));
    }
    if remains.gradient.is_some_and(|gradient| gradient > 10.0) {
        words.push("Gradients grow on their way back: use a small learning rate or clip them.".to_owned());
    }
    if network.model() == Model::Deterministic && advice.carried.sigma2 == Some(1.0 / 3.0) {
        words.push("Means uniform over [-1, 1] have this variance.".to_owned());
    }
    words.join(" ")
}
