use super::*;
use crate::reproduce::record::Verdict::{self, DoesNotHold, Holds, HoldsInPart, NotDecided};

/// Accuracies that differ by so much from seed to seed.
fn seeds(mean: f64, spread: f64) -> PerSeed<f64> {
    Ok(vec![mean - spread, mean, mean + spread])
}

fn curve<const N: usize>(points: [(usize, f64); N]) -> Vec<Point> {
    points.map(|(depth, accuracy)| (depth, seeds(accuracy, 0.0))).into()
}

fn verdict(ruling: Ruling) -> Verdict {
    ruling.map_or(NotDecided, |judgement| judgement.verdict)
}

#[test]
fn accuracy_is_kept_if_the_worst_depth_keeps_it() {
    let rule = |[a, b, c]: [f64; 3]| verdict(keeps_accuracy(&curve([(3, a), (20, b), (100, c)])));
    assert_eq!(rule([0.98, 0.979, 0.976]), Holds);
    assert_eq!(rule([0.98, 0.985, 0.99]), Holds);
    assert_eq!(rule([0.98, 0.965, 0.98]), HoldsInPart);
    assert_eq!(rule([0.98, 0.98, 0.9]), DoesNotHold);
    assert_eq!(rule([0.3, 0.3, 0.3]), NotDecided);
    assert!(keeps_accuracy(&curve([(3, 0.98)])).is_err());
    let evidence = keeps_accuracy(&curve([(3, 0.98), (20, 0.976)])).unwrap().evidence;
    assert!(evidence.contains("at depth 3; against it, in percentage points: −0.40 (−0.40 to −0.40) at depth 20."), "{evidence}");
    // A loss of 0.4 points on average, and of 1.4 in one seed.
    let scattered = [(3, seeds(0.98, 0.0)), (20, seeds(0.976, 0.01))];
    assert_eq!(verdict(keeps_accuracy(&scattered)), NotDecided);
    assert_eq!(verdict(keeps_accuracy(&[(3, Ok(vec![0.98; 2])), (20, Ok(vec![0.98; 2]))])), NotDecided);
}

#[test]
fn losses_are_judged_at_the_greatest_depth() {
    let rule = |last: f64| verdict(loses_accuracy(&curve([(3, 0.97), (10, 0.5), (50, last)])));
    assert_eq!([0.1, 0.94, 0.96].map(rule), [Holds, HoldsInPart, DoesNotHold]);
    assert_eq!(verdict(loses_accuracy(&curve([(3, 0.2), (50, 0.1)]))), NotDecided);
    assert!(loses_accuracy(&curve([(3, 0.97), (10, 0.4), (50, 0.1)])).unwrap().evidence.contains("below 50 % from depth 10"));
    // Some seeds lose everything, others nothing.
    assert_eq!(verdict(loses_accuracy(&[(3, seeds(0.97, 0.0)), (50, Ok(vec![0.1, 0.97, 0.97]))])), NotDecided);
}

#[test]
fn carrying_must_help_every_kind() {
    let rule = |kinds: &[(f64, f64)]| {
        let seeds: Vec<_> = kinds.iter().map(|&(plain, carried)| (seeds(plain, 0.0), seeds(carried, 0.0))).collect();
        let kinds: Vec<_> = seeds.iter().map(|(plain, carried)| Kind { name: "a", plain, carried }).collect();
        verdict(carrying_helps(50, &kinds))
    };
    assert_eq!(rule(&[(0.1, 0.9), (0.3, 0.8)]), Holds);
    assert_eq!(rule(&[(0.1, 0.9), (0.8, 0.8)]), HoldsInPart);
    assert_eq!(rule(&[(0.9, 0.9), (0.8, 0.8)]), DoesNotHold);
    assert_eq!([rule(&[(0.1, 0.2)]), rule(&[])], [NotDecided; 2]);
    let missing = Err(Undecided("a cell failed".into()));
    assert_eq!(verdict(carrying_helps(50, &[Kind { name: "a", plain: &missing, carried: &seeds(0.9, 0.0) }])), NotDecided);
}

#[test]
fn a_curve_is_ahead_only_by_a_margin() {
    let rule = |[a, b]: [f64; 2], [c, d]: [f64; 2]| verdict(is_ahead(&curve([(3, a), (50, b)]), &curve([(3, c), (50, d)])));
    assert_eq!(rule([0.98, 0.97], [0.97, 0.9]), Holds);
    assert_eq!(rule([0.98, 0.97], [0.9795, 0.9]), HoldsInPart);
    assert_eq!(rule([0.97, 0.9], [0.97, 0.9]), DoesNotHold);
    assert_eq!(rule([0.1, 0.1], [0.1, 0.2]), NotDecided);
    assert_eq!(verdict(is_ahead(&curve([(3, 0.9)]), &curve([(7, 0.5)]))), NotDecided);
    // Half a point ahead, give or take a whole one.
    assert_eq!(verdict(is_ahead(&[(3, seeds(0.98, 0.005))], &curve([(3, 0.975)]))), NotDecided);
}

#[test]
fn every_layer_counts_or_most_do() {
    let network = |intact: f64, replaced: &[f64]| Layers { intact, replaced: replaced.to_vec() };
    let rule = |intact: f64, replaced: &[f64]| verdict(every_layer_is_used(&Ok(vec![network(intact, replaced); 3])));
    assert_eq!(rule(0.97, &[0.5, 0.96, 0.9]), Holds);
    assert_eq!(rule(0.97, &[0.5, 0.9695, 0.9]), HoldsInPart);
    assert_eq!(rule(0.97, &[0.5, 0.97, 0.971]), DoesNotHold);
    assert_eq!([rule(0.1, &[0.1, 0.1]), rule(0.97, &[])], [NotDecided; 2]);
    assert_eq!(verdict(every_layer_is_used(&Err(Undecided("its training failed".into())))), NotDecided);
    // The second of three layers matters in some networks only.
    let torn = [0.97, 0.95, 0.97].map(|second| network(0.97, &[0.5, second, 0.9]));
    assert_eq!(verdict(every_layer_is_used(&Ok(torn.into()))), HoldsInPart);
}
