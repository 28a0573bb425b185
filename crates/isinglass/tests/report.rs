//! `isinglass report`: one page from a sweep, a run and figures, read as text and in a browser.

mod common;

use std::collections::HashSet;
use std::fs;

use common::Scratch;
use common::browser::{browser, console, document, visit};
use serde_json::{Value, json};

const GRID: &str = "[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nepochs = 1\ninit = \"two-point\"\n\
                    [grid]\ndepth = [1, 2, 4]\nsigma-m2 = [0.5, 0.9]\nseed = [1, 2]\n";
const HOSTILE: &str = "<script>document.title = 'bad'</script> & \"<b>\"";

/// A directory with a sweep, a run and two figures.
fn results() -> Scratch {
    let home = Scratch::new("report");
    home.small_images();
    home.write("grid.toml", GRID.as_bytes());
    home.succeeds("sweep run grid.toml --out sweeps/a --quiet");
    home.succeeds("sweep collect sweeps/a --plot map.svg");
    home.succeeds("train --data mnist --data-dir data --width 9 --depth 2 --epochs 2 --out runs/a --quiet");
    home.succeeds("theory map --neuron sign --sigma-m2 0.9 --sigma-b2 0.001 --plot theory.svg");
    for (name, picture) in [("fig1", "theory.svg"), ("fig2", "map.svg")] {
        home.write(&format!("figures/{name}/picture.svg"), &home.read(picture));
    }
    let claims = [
        json!({ "claim": "Signals become one.", "verdict": "holds", "evidence": "They do." }),
        json!({ "claim": HOSTILE, "verdict": "does not hold" }),
        json!({ "claim": "Something else.", "verdict": "not decided", "evidence": "" }),
    ];
    let first = json!({
        "figure": "fig1", "title": HOSTILE, "scale": "quick", "caption": format!("First.\n\n{HOSTILE}"),
        "pictures": [{ "file": "picture.svg", "caption": "The map." }],
        "tables": [{ "title": "Numbers", "columns": ["a", "b"], "rows": [["text", 1.5], [HOSTILE, null]] }],
        "claims": claims, "settings": { "width": 1000 }, "seeds": [1, 7], "version": "0.1.0", "command": "isinglass reproduce fig1",
    });
    home.write("figures/fig1/figure.json", first.to_string().as_bytes());
    let second = json!({ "figure": "fig2", "title": "Plain", "pictures": [{ "file": "picture.svg" }], "sweeps": ["inner", "../sweeps/shared"], "later": 1 });
    home.write("figures/fig2/figure.json", second.to_string().as_bytes());
    home.write("inner.toml", GRID.replace("depth = [1, 2, 4]", "depth = [1]").as_bytes());
    for place in ["fig2/inner", "sweeps/shared"] {
        home.succeeds(&format!("sweep run inner.toml --out figures/{place} --quiet"));
    }
    home
}

fn report(home: &Scratch) -> (Value, String) {
    let facts = home.json("report figures sweeps/a runs/a -o report.html --title Test");
    (facts, String::from_utf8(home.read("report.html")).unwrap())
}

#[test]
fn a_report_has_everything_in_it() {
    let home = results();
    let (facts, page) = report(&home);
    assert_eq!((&facts["path"], &facts["sections"]), (&json!("report.html"), &json!(4)));
    assert_eq!(facts["bytes"], page.len());
    // Two of the figures, two of the sweep (surrogate; binary and stochastic), two of the run.
    assert_eq!((facts["figures"].as_u64().unwrap(), page.matches("<svg ").count()), (6, 6));
    for text in [
        "Of 3 claims: 1 holds, 1 does not hold, 1 is not decided.",
        "<td>They do.</td>",
        "12 of 12 cells done",
        "isinglass reproduce fig1",
        "sigma-m2 = [0.5, 0.9]",
        "Sweep inner: 4 of 4 cells done",
        "Sweep ../sweeps/shared: 4 of 4 cells done",
        "All 12 cells",
        "binary, sign(M)",
        "epochs = 2",
        "<dt>seeds</dt><dd>1, 7</dd>",
        "sigma-m2 = 0.9, depth = 4\n",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Nothing is loaded, nothing of a text is markup, and ids are those of one element each.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url(\""));
    assert_eq!((page.matches("<script").count(), page.matches("<b>").count()), (1, 0));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    for link in page.split("href=\"#").skip(1).chain(page.split("url(#").skip(1)).map(|rest| rest.split(['"', ')']).next().unwrap()) {
        assert!(ids.contains(&link), "{link}");
    }

    // The same directories, the same bytes; and the path alone without a format.
    assert_eq!(home.succeeds("report figures sweeps/a runs/a -o again.html --title Test"), "again.html\n");
    assert_eq!(home.read("again.html"), page.as_bytes());
    assert!(!fs::read_dir(home.path(".")).unwrap().any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".tmp")));
    // One of its figures, and twice the same.
    assert_eq!(home.json("report figures/fig1 figures/fig1/ -o one.html")["sections"], 1);
}

#[test]
fn what_is_not_finished_or_has_failed_is_said() {
    let home = Scratch::new("report-failed");
    home.small_images();
    home.write("grid.toml", GRID.replace("[0.5, 0.9]", "[0.9]").as_bytes());
    home.succeeds("sweep run grid.toml --out a --quiet");
    let mut cells: Vec<_> = fs::read_dir(home.path("a/cells")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cells.sort();
    fs::remove_file(&cells[0]).unwrap();
    common::sweeps::fail(&cells[1], HOSTILE);
    home.succeeds("report a -o a.html");
    let page = String::from_utf8(home.read("a.html")).unwrap();
    assert!(page.contains("This sweep is not finished: 4 of 6 cells done, 1 failed, 1 waiting."), "{page}");
    assert!(page.contains("Failed cells") && page.contains("&lt;script&gt;document.title") && page.matches("<script").count() == 1);
    assert!(page.contains("Bands are one standard deviation"), "one axis besides the seed makes lines");

    home.succeeds("train --data mnist --data-dir data --width 9 --depth 2 --epochs 2 --out b --quiet");
    fs::remove_file(home.path("b/summary.json")).unwrap();
    home.succeeds("report b -o b.html");
    assert!(String::from_utf8(home.read("b.html")).unwrap().contains("This run is not finished: 2 of 2 epochs."));
}

#[test]
fn what_cannot_be_reported_is_said() {
    let home = Scratch::new("report-errors");
    assert!(home.fails("report nowhere -o a.html", 2).contains("nowhere: there is no such directory"));
    home.write("empty/readme", b"");
    let message = home.fails("report empty -o a.html", 2);
    assert!(message.contains("empty holds nothing to report") && message.contains("sweep.toml"), "{message}");
    home.write("figures/bad/figure.json", b"{\"figure\": \"bad\"}");
    assert!(home.fails("report figures/bad -o a.html", 2).contains("missing field `title`"));
    assert!(home.fails("report figures -o a.html", 2).contains("nothing is left to report"));
    assert!(home.fails("report figures -o a.txt", 2).contains("must end in .html"));
    assert!(home.fails("report figures -o empty", 2).contains("must end in .html"));
    assert!(home.fails("report figures", 2).contains("--output"));
    assert!(!home.path("a.html").exists());

    // Beside something good, what is bad is said and left out; pictures from elsewhere are not taken.
    home.write("secret.svg", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><text>secret</text></svg>");
    let outside = home.path("secret.svg").display().to_string();
    let pictures = ["../../secret.svg", &outside, "gone.svg", "figure.json", ""].map(|file| json!({ "file": file, "caption": "c" }));
    let record = json!({ "figure": "good", "title": "t", "pictures": pictures, "sweeps": ["../.."] });
    home.write("figures/good/figure.json", record.to_string().as_bytes());
    assert!(home.fails("report figures/good -o none/a.html", 2).contains("no such directory: none"));
    let output = home.run("report figures -o a.html");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(0), 7), "{said}");
    assert!(said.lines().all(|line| line.starts_with("warning: ")) && said.contains("not inside the figure's directory"), "{said}");
    assert!(said.contains("neither inside the figure's directory nor beside it"), "{said}");
    assert!(said.contains("the picture figure.json cannot be shown: no SVG"), "{said}");
    let page = String::from_utf8(home.read("a.html")).unwrap();
    assert!(page.contains("Not everything could be read") && !page.contains("secret</text>"));
}

/// Pictures that no chart is: said in a sentence each, and the rest is shown.
#[test]
fn pictures_cannot_break_a_report() {
    let home = Scratch::new("report-pictures");
    let svg = |inside: &str| format!("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{inside}</svg>");
    home.write("fig/good.svg", svg("<text>kept</text>").as_bytes());
    home.write("fig/deep.svg", svg(&format!("{}{}", "<g>".repeat(20_000), "</g>".repeat(20_000))).as_bytes());
    home.write("fig/open.svg", format!("<svg>{}", "<g>".repeat(1_000_000)).as_bytes());
    home.write("fig/cut.svg", &svg("<text>kept</text>").as_bytes()[..40]);
    home.write("fig/bytes.svg", b"<svg width='9' height='9'>\xff\xfe</svg>");
    fs::create_dir(home.path("fig/folder.svg")).unwrap();
    let mut names = vec!["good.svg", "deep.svg", "open.svg", "cut.svg", "bytes.svg", "folder.svg"];
    if cfg!(unix) {
        assert!(std::process::Command::new("mkfifo").arg(home.path("fig/pipe.svg")).status().unwrap().success());
        names.push("pipe.svg");
    }
    let pictures: Vec<Value> = names.iter().map(|file| json!({ "file": file })).collect();
    home.write("fig/figure.json", json!({ "figure": "fig", "title": "t", "pictures": pictures }).to_string().as_bytes());
    let output = home.run("report fig -o a.html");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(0), names.len() - 1), "{said}");
    for (name, reason) in [
        ("deep", "nested more than 100 deep"),
        ("open", "no SVG"),
        ("cut", "no SVG"),
        ("bytes", "UTF-8"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("picture {name}.svg cannot be shown")));
        assert!(line.map_or(name == "pipe" && !cfg!(unix), |line| line.contains(reason)), "{name}: {said}");
    }
    let page = String::from_utf8(home.read("a.html")).unwrap();
    assert!(page.contains("<text>kept</text>") && page.matches("<svg ").count() == 1);
}

/// A pipe where a run or a sweep has a file would make a reader wait for ever.
#[cfg(unix)]
#[test]
fn pipes_among_results_are_not_read() {
    let home = Scratch::new("report-pipes");
    home.small_images();
    home.write("grid.toml", GRID.replace("[1, 2, 4]", "[1]").replace("[0.5, 0.9]", "[0.9]").as_bytes());
    home.succeeds("sweep run grid.toml --out s --quiet");
    home.succeeds("train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --out r --quiet");
    let cell = fs::read_dir(home.path("s/cells")).unwrap().next().unwrap().unwrap().path();
    for (path, directory) in [(cell, "s"), (home.path("r/summary.json"), "r"), (home.path("r/metrics.jsonl"), "r")] {
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(home.fails(&format!("report {directory} -o a.html"), 2).contains("not a regular file"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
    home.succeeds("report s r -o a.html");
}

#[test]
fn a_browser_shows_the_report() {
    let Some(browser) = browser() else { return };
    let home = results();
    let (facts, page) = report(&home);

    // Nothing to complain about, every picture there, the script at work. Complaints would be seen: a page that throws is one.
    let output = visit(&home, &browser, "report.html", &["--dump-dom"]);
    assert_eq!(console(&output), Vec::<String>::new());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.matches("<svg ").count() as u64, facts["figures"].as_u64().unwrap());
    assert!(shown.contains("data-script=\"ran\"") && shown.contains("<title>Test</title>"));
    home.write("throws.html", b"<!doctype html><script>throw new Error('seen')</script>");
    assert!(console(&visit(&home, &browser, "throws.html", &["--dump-dom"])).iter().any(|line| line.contains("seen")));

    // Scripts of others do not run.
    let intruder = "<script>document.documentElement.dataset.intruder = 'ran'</script></body>";
    home.write("intruder.html", page.replace("</body>", intruder).as_bytes());
    assert!(!document(&home, &browser, "intruder.html").contains("data-intruder"));

    // The pointer on a cell: its numbers beside it, and no title of the browser's own.
    let pointer = "<script>
        const cell = document.querySelectorAll('.cell')[5];
        cell.dispatchEvent(new MouseEvent('mouseover', { bubbles: true, clientX: 40, clientY: 40 }));
        const tip = document.getElementById('tip');
        document.body.dataset.seen = `${tip.hidden} ${tip.textContent} ${cell.querySelector('title')} ${tip.style.left}`;
        document.body.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        document.body.dataset.after = tip.hidden;
        </script></body>";
    let policy = page.find("<meta http-equiv").unwrap();
    let end = policy + page[policy..].find('\n').unwrap();
    let free = format!("{}{}", &page[..policy], &page[end..]).replace("</body>", pointer);
    home.write("pointer.html", free.as_bytes());
    let shown = document(&home, &browser, "pointer.html");
    let seen = shown.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    assert!(seen.starts_with("false sigma-m2 = 0.9, depth = 4\n") && seen.ends_with("(2 cells) null 54px"), "{seen}");
    assert!(shown.contains("data-after=\"true\""));

    // On a screen and on paper.
    let picture = home.path("page.png");
    visit(&home, &browser, "report.html", &["--window-size=1280,2000", &format!("--screenshot={}", picture.display())]);
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(&picture).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let size = info.line_size / info.width as usize;
    let colours: HashSet<&[u8]> = pixels[..info.buffer_size()].chunks(size).collect();
    assert!(
        info.width == 1280 && info.height >= 1800 && colours.len() > 100,
        "{} × {}, {} colours",
        info.width,
        info.height,
        colours.len()
    );
    let paper = home.path("page.pdf");
    visit(&home, &browser, "report.html", &["--no-pdf-header-footer", &format!("--print-to-pdf={}", paper.display())]);
    let pdf = fs::read(&paper).unwrap();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 30_000, "{} bytes", pdf.len());
}
