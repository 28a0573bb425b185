use serde_json::json;

use super::*;
use crate::run::{Behind, Part};
use crate::sweep::{Cell, Grid, Record, Row, Status};
use isinglass_chart::Figure;

/// Cells of a grid, each with the accuracy that a function gives it.
fn table(grid: &str, accuracy: impl Fn(&Cell) -> Option<f64>) -> Results {
    let grid = Grid::from_toml(grid).unwrap();
    let row = |cell: Cell| {
        let status = match accuracy(&cell) {
            Some(accuracy) => Status::Done(Box::new(record(&cell, accuracy))),
            None => Status::Failed(Box::new(Record { result: None, error: Some("gone".into()), ..record(&cell, 0.0) })),
        };
        Row::new(cell, status)
    };
    Results::new(grid.axes().map(str::to_owned).collect(), grid.cells().unwrap().into_iter().map(row).collect())
}

fn record(cell: &Cell, accuracy: f64) -> Record {
    Record::with_accuracies(cell, |_, _| accuracy)
}

fn chosen(grid: &str, x: Option<&str>, y: Option<&str>) -> Result<(String, Option<String>), String> {
    let table = table(grid, |_| Some(0.5));
    View::choose(&table, x, y).map(|view| (view.x, view.y)).map_err(|error| error.to_string())
}

fn svg(results: &Results) -> String {
    let view = View::choose(results, None, None).unwrap();
    Figure::new().panel(view.panel(results, ACCURACY).unwrap()).to_svg().unwrap()
}

const ACCURACY: Column = Column::accuracy(Part::Test, Behind::Surrogate);
const MAP: &str = "[train]\ninit = \"two-point\"\n[grid]\nseed = [1, 2]\ndepth = [2, 4, 8]\nsigma-m2 = [0.5, 0.9, 0.99]\n";

#[test]
fn axes_are_chosen_as_one_would() {
    let axes = |grid, x, y| {
        let (x, y) = chosen(grid, x, y).unwrap();
        format!("{x} {}", y.unwrap_or_default())
    };
    assert_eq!(axes(MAP, None, None), "sigma-m2 depth");
    assert_eq!(axes(MAP, Some("depth"), None), "depth sigma-m2");
    assert_eq!(axes(MAP, None, Some("seed")), "depth seed");
    assert_eq!(axes("[grid]\nseed = [1, 2]\nwidth = [8, 9]\nlr = [0.1, 0.2]\n", None, None), "width lr");
    assert_eq!(axes("[grid]\nsurrogate = [\"ste\", \"deterministic\"]\nwidth = [8, 9]\n", None, None), "width surrogate");
    // One axis, or none but the seed, makes a line.
    assert_eq!(axes("[grid]\nseed = [1, 2]\nwidth = [8, 9]\n", None, None), "width ");
    assert_eq!(axes("[grid]\nseed = [1, 2]\nwidth = [8]\n", None, None), "seed ");
}

#[test]
fn axes_that_cannot_be_drawn_are_said() {
    for (grid, x, y, reason) in [
        (MAP, Some("width"), None, "width is not an axis of this sweep: it has seed, depth, sigma-m2"),
        (MAP, Some("depth"), Some("depth"), "both depth"),
        ("[grid]\nseed = [1, 2]\nwidth = [8]\n", Some("width"), None, "the axis width has one value"),
        ("[grid]\nwidth = [8]\n", None, None, "nothing to draw"),
    ] {
        let message = chosen(grid, x, y).unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
    let table = table(MAP, |_| Some(0.5));
    let view = View { x: "depth".into(), y: None };
    let unknown = Column::accuracy(Part::Test, Behind::Stochastic(7));
    assert!(view.panel(&table, unknown).unwrap_err().to_string().contains("no column test_stochastic_7_accuracy"));
}

#[test]
fn hints_have_the_numbers_of_their_cells() {
    let accuracy = |cell: &Cell| match (cell.config.hidden_layers().len(), cell.config.seed) {
        (2, seed) => Some(0.7 + 0.1 * seed as f64),
        (4, 1) => Some(0.5),
        _ => None,
    };
    let svg = svg(&table(MAP, accuracy));
    assert_eq!(svg.matches("class=\"cell\"").count(), 9);
    for hint in [
        "sigma-m2 = 0.5, depth = 2\n0.8500 ± 0.0707 (2 cells)</title>",
        "sigma-m2 = 0.99, depth = 4\n0.5000 (1 cell), 1 failed</title>",
        "sigma-m2 = 0.9, depth = 8\nno value, 2 failed</title>",
    ] {
        assert!(svg.contains(hint), "{hint}\n{svg}");
    }
    assert!(svg.contains("test accuracy of the surrogate") && svg.contains("depth L") && svg.contains("3ξ"));
}

#[test]
fn words_and_single_axes_are_drawn_too() {
    let words = table("[grid]\nsurrogate = [\"ste\", \"deterministic\"]\noptimizer = [\"adam\", \"sgd\"]\n", |_| Some(0.5));
    let map = svg(&words);
    for word in ["ste", "deterministic", "adam", "sgd"] {
        assert!(map.contains(&format!(">{word}</text>")), "{word}");
    }
    let line = svg(&table("[grid]\nseed = [1, 2]\nlr = [0.001, 0.01, 0.1]\n", |cell| Some(0.1 * cell.config.seed as f64)));
    assert!(line.contains("learning rate") && line.matches("<circle").count() == 3);
}

#[test]
fn places_between_listed_numbers_go_evenly() {
    let table = table(MAP, |_| Some(0.5));
    let depth = SweepAxis::of("depth", &table);
    for (coordinate, number) in [(1.0, 2.0), (1.5, 3.0), (2.0, 4.0), (2.5, 6.0), (3.0, 8.0), (3.5, 10.0), (0.5, 1.0)] {
        assert_eq!(depth.number_at(coordinate), Some(number));
        assert_eq!(depth.coordinate_of(number), Some(coordinate));
    }
}

#[test]
fn values_are_short_and_cells_can_be_picked() {
    assert_eq!(value_text(&json!(0.123_456_789)), "0.1235");
    assert_eq!(value_text(&json!(1.0)), "1");
    assert_eq!(value_text(&json!("ste")), "ste");
    let table = table(MAP, |_| Some(0.5));
    let some = table.only("depth", &json!(4));
    assert_eq!((some.len(), some.varying()), (6, vec!["seed", "sigma-m2"]));
}
