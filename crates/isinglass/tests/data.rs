//! `isinglass data`, run as a user runs it.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use common::Scratch;

/// Three 2 × 2 images to train with and one to test with, under MNIST's names; `last` is the test label.
fn small_mnist(home: &Scratch, last: u8) {
    let images = |n: u8| [&[0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 2, 0, 0, 0, 2][..], &vec![100; 4 * usize::from(n)]].concat();
    home.write("data/mnist/train-images-idx3-ubyte", &images(3));
    home.write("data/mnist/train-labels-idx1-ubyte", &[0, 0, 8, 1, 0, 0, 0, 3, 7, 1, 7]);
    home.write("data/mnist/t10k-images-idx3-ubyte", &images(1));
    home.write("data/mnist/t10k-labels-idx1-ubyte", &[0, 0, 8, 1, 0, 0, 0, 1, last]);
}

#[test]
fn list_says_what_is_here_and_where() {
    let home = Scratch::new("list");
    small_mnist(&home, 0);
    let sets = home.json("data list --data-dir data")["datasets"].clone();
    let names: Vec<&str> = sets.as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["digits", "mnist", "fashion-mnist"]);
    assert_eq!([&sets[0]["present"], &sets[1]["present"], &sets[2]["present"]], [true, true, false]);
    assert_eq!([&sets[0]["train"], &sets[0]["test"], &sets[1]["train"], &sets[2]["classes"]], [20_000, 5_000, 60_000, 10]);
    assert_eq!(sets[1]["where"].as_str().unwrap(), Path::new("data").join("mnist").to_str().unwrap());
    let csv = home.succeeds("data list --format csv");
    assert_eq!(csv.lines().next(), Some("name,train,test,classes,height,width,present,where"));
    assert!(csv.contains("mnist,60000,10000,10,28,28,false,") && csv.contains("isinglass"), "{csv}");
    let table = home.succeeds("data list");
    assert!(table.trim_start().starts_with("name") && !table.starts_with('\n') && table.contains("generated"), "{table}");
}

#[test]
fn show_counts_and_measures() {
    let home = Scratch::new("show");
    let digits = home.json("data show digits --split test");
    assert_eq!((&digits["images"], &digits["classes"], &digits["height"]), (&5_000.into(), &10.into(), &28.into()));
    let counts = digits["class_counts"].as_array().unwrap();
    assert!(counts.iter().all(|class| class["images"] == 500) && counts.len() == 10);
    assert!((20.0..60.0).contains(&digits["mean"].as_f64().unwrap()), "{digits}");

    small_mnist(&home, 0);
    let mnist = home.json("data show mnist --data-dir data");
    assert_eq!((mnist["mean"].as_f64(), mnist["standard_deviation"].as_f64()), (Some(100.0), Some(0.0)));
    let csv = home.succeeds("data show mnist --data-dir data --format csv");
    assert_eq!(csv.lines().next(), Some("label,class,images"));
    assert_eq!(csv.lines().nth(8), Some("7,7,2"));
    let table = home.succeeds("data show mnist --data-dir data");
    assert!(table.contains("standard_deviation  0") && table.contains("images"), "{table}");
}

#[test]
fn show_draws_the_first_images_of_each_class() {
    let home = Scratch::new("plot");
    for file in ["sheet.svg", "sheet.png"] {
        home.succeeds(&format!("data show digits --plot {file} --count 3"));
    }
    let svg = fs::read_to_string(home.path("sheet.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("digits, training images") && svg.trim_end().ends_with("</svg>"));
    let png = fs::read(home.path("sheet.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    // Classes without images and fewer images than asked for are no error.
    small_mnist(&home, 0);
    home.succeeds("data show mnist --data-dir data --split test --plot few.svg");
}

#[test]
fn bad_input_is_one_sentence_and_exit_code_2() {
    let home = Scratch::new("bad");
    for (args, names) in [
        ("data show cifar", "use digits, mnist or fashion-mnist"),
        ("data show mnist", "run `isinglass data fetch mnist`"),
        ("data show mnist --data-dir nowhere", "nowhere"),
        ("data show digits --split validation", "validation"),
        ("data show digits --count 5", "--plot"),
        ("data show digits --plot a.png --count 0", "0"),
        ("data show digits --plot a.gif", "svg"),
        ("data show digits --plot no/such/a.svg", "no/such"),
        ("data show", "DATASET"),
        ("data fetch digits", "nothing to fetch"),
        ("data fetch cifar", "use mnist or fashion-mnist"),
        ("data fetch mnist --mirror ftp://somewhere", "https://"),
        ("data frobnicate", "frobnicate"),
    ] {
        let message = home.fails(args, 2);
        assert!(message.contains(names), "{args}: {message}");
    }
    assert_eq!(home.entries(), 0, "nothing is left behind");

    small_mnist(&home, 10);
    assert!(home.fails("data show mnist --data-dir data", 2).contains("label 10 of row 0"));
    home.write("data/mnist/train-images-idx3-ubyte", &[0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 0, 28, 0, 0, 0, 28, 1, 2, 3]);
    let message = home.fails("data show mnist --data-dir data --plot a.png", 2);
    assert!(message.contains("train-images-idx3-ubyte: truncated") && message.contains("the file has 3"), "{message}");
    assert!(!home.path("a.png").exists());
    let message = home.fails("data fetch mnist --data-dir data", 2);
    assert!(message.contains("SHA-256 of the contents is") && message.contains("delete the file"), "{message}");
}

#[test]
fn fetch_without_a_network_says_what_to_do() {
    let home = Scratch::new("offline");
    let message = home.fails("data fetch mnist --data-dir data --mirror http://127.0.0.1:9/", 1);
    assert!(message.contains("http://127.0.0.1:9/") && message.contains("copy the four files of mnist"), "{message}");
}

#[cfg(not(feature = "tls"))]
#[test]
fn fetch_without_curl_says_what_to_do() {
    let mut home = Scratch::new("no-curl");
    home.set("PATH", "");
    let message = home.fails("data fetch mnist --data-dir data --mirror http://127.0.0.1:9/", 2);
    assert!(message.contains("cannot run curl") && message.contains("--features tls"), "{message}");
}

#[test]
fn help_has_examples_that_run() {
    let home = Scratch::new("help");
    for command in ["list", "fetch", "show"] {
        let help = home.succeeds(&format!("data {command} --help"));
        let examples: Vec<&str> = help.lines().filter_map(|line| line.trim().strip_prefix("isinglass ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples.iter().filter(|example| !example.contains("fetch")) {
            home.succeeds(example);
        }
    }
}

#[test]
fn fetch_brings_what_show_reads() {
    let Some(directory) = std::env::var_os("ISINGLASS_DATA") else {
        isinglass_fuzz::skip("ISINGLASS_DATA names no directory with mnist/*.gz");
        return;
    };
    let home = Scratch::new("fetch");
    let source = PathBuf::from(directory).join("mnist");
    if !source.join("train-images-idx3-ubyte.gz").is_file() {
        isinglass_fuzz::skip("there is no mnist/train-images-idx3-ubyte.gz in ISINGLASS_DATA");
        return;
    }
    // A mirror that knows nothing but whole files.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let name = lines.next().unwrap().split(' ').nth(1).unwrap().trim_start_matches('/').to_owned();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let body = fs::read(source.join(name)).unwrap();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).unwrap();
        }
    });
    for status in ["downloaded", "present"] {
        let files = home.json(&format!("data fetch mnist --mirror {url}"))["files"].clone();
        assert!(files.as_array().unwrap().iter().all(|file| file["status"] == status), "{files}");
    }
    let mnist = home.json("data show mnist");
    assert_eq!(mnist["images"], 60_000);
    assert!((mnist["mean"].as_f64().unwrap() / 255.0 - 0.1307).abs() < 5e-5);
    assert_eq!(home.json("data list")["datasets"][1]["present"], true);
}

#[test]
fn files_that_are_not_the_published_ones_are_named() {
    let home = Scratch::new("foreign");
    small_mnist(&home, 0);
    let output = home.run("data show mnist --data-dir data --format json");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("note: train-images-idx3-ubyte, ") && said.contains("not the files published as mnist"), "{said}");
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["published"], false);
    assert!(home.json("data show digits")["published"].is_null());

    let Some(data) = std::env::var_os("ISINGLASS_DATA").map(PathBuf::from).filter(|data| data.join("mnist").is_dir()) else {
        eprintln!("skipped: ISINGLASS_DATA names no directory with mnist/");
        return;
    };
    for entry in fs::read_dir(data.join("mnist")).unwrap() {
        let path = entry.unwrap().path();
        home.write(&format!("real/mnist/{}", path.file_name().unwrap().to_str().unwrap()), &fs::read(&path).unwrap());
    }
    let show = "data show mnist --data-dir real --format json";
    let published = |output: std::process::Output| -> bool {
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["published"].as_bool().unwrap()
    };
    let output = home.run(show);
    assert!(output.stderr.is_empty() && published(output));
    // Half of the test labels, altered; their number is right, and every one of them is a label.
    let mut labels = vec![0, 0, 8, 1, 0, 0, 39, 16];
    labels.resize(8 + 10_000, 3);
    fs::remove_file(home.path("real/mnist/t10k-labels-idx1-ubyte.gz")).unwrap();
    home.write("real/mnist/t10k-labels-idx1-ubyte", &labels);
    for _ in 0..2 {
        let output = home.run(show);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with("note: t10k-labels-idx1-ubyte is not the file published as mnist"), "{said}");
        assert!(!published(output));
    }
}

/// A pipe that nobody writes to, and a device that never ends.
#[cfg(unix)]
#[test]
fn what_is_not_a_file_is_refused_at_once() {
    let home = Scratch::new("pipe");
    assert!(std::process::Command::new("mkfifo").arg(home.path("pipe")).status().unwrap().success());
    for place in ["pipe", "/dev/zero", "."] {
        for args in [
            format!("train --train-images {place} --test-images {place} --out a"),
            format!("train --config {place} --out a"),
            format!("sweep run {place} --out a"),
            format!("predict {place} --data digits"),
            format!("evaluate {place} --data digits"),
            format!("inspect {place} --data digits"),
            format!("pack {place} -o m.safetensors"),
        ] {
            home.fails(&args, 2);
        }
    }
    // What was opened for the process may be a pipe.
    let mut child = home.command("train --train-images /dev/stdin --test-images t.csv --width 3 --depth 1 --epochs 1 --quiet --out b");
    let rows: String = (0..40).map(|i| format!("{},{}.5\n", i % 2, i % 2)).collect();
    home.write("t.csv", rows.as_bytes());
    let mut child = child.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
