//! Labels that are words, from CSV files to the names that `predict` prints.

mod common;

use common::Scratch;

/// Rows of two columns around a centre for each name, and a header.
fn table(names: &[(&str, f64)], rows: usize) -> String {
    let mut text = String::from("animal,height,weight\n");
    for row in 0..rows {
        let (name, centre) = names[row % names.len()];
        let shift = 0.01 * (row % 7) as f64;
        text += &format!("{name},{},{}\n", centre + shift, 1000.0 * (centre - shift));
    }
    text
}

#[test]
fn names_go_from_the_csv_file_to_the_prediction() {
    let home = Scratch::new("names");
    let all = [("horse", 1.6), ("cat", 0.2), ("dog", 0.6)];
    home.write("train.csv", table(&all, 90).as_bytes());
    home.write("test.csv", table(&all, 30).as_bytes());
    home.write("some.csv", table(&all[1..], 20).as_bytes());
    home.write("others.csv", table(&[("cow", 1.0)], 5).as_bytes());
    home.write("new.csv", b"0.2,200\n1.6,1600\n0.61,605\n");
    let train = "train --train-images train.csv --test-images test.csv --width 33 --epochs 30 --lr 3e-2 --samples 1 --quiet";
    home.succeeds(&format!("{train} --out a"));
    assert!(home.succeeds("pack a -o m.safetensors").contains("test accuracy 100.00 %"));

    let predicted = home.json("predict m.safetensors --input new.csv");
    let names: Vec<&str> = predicted["predictions"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cat", "horse", "dog"]);
    assert_eq!(home.json("inspect m.safetensors")["class_names"], serde_json::json!(["cat", "dog", "horse"]));

    // Files that hold only some of the classes are counted in the network's classes.
    assert_eq!(home.json("predict m.safetensors --test-images some.csv")["accuracy"], 1.0);
    // Standard error says that these are not the training examples.
    let output = home.command("evaluate a --train-images some.csv --test-images some.csv --format json").output().unwrap();
    let evaluated: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(evaluated["test"]["binary"]["accuracy"], 1.0);
    assert!(home.fails("predict m.safetensors --test-images others.csv", 2).contains("cow"));
    assert!(home.fails("evaluate a --train-images others.csv --test-images others.csv", 2).contains("cow"));
}
