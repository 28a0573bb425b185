//! Training in memory is the training of a run, bit for bit, wherever it is stopped.

use std::sync::atomic::AtomicBool;

use isinglass_data::{Dataset, Pixels, Split};
use isinglass_runs::run::{Event, Fit, Halt, Options, Run, RunConfig, epochs, examples, read_checkpoint, read_metrics};

/// A bright left or right half; every image another one.
fn halves() -> Dataset {
    let pixel = |image: usize, place: usize| {
        (if (place % 4 < 2) == image.is_multiple_of(2) { 180 } else { 20 }) + ((image * 7 + place * 13) % 40) as u8
    };
    let split = |from: usize, count: usize| {
        let pixels = (from..from + count).flat_map(|image| (0..16).map(move |place| pixel(image, place))).collect();
        Split::new(4, 4, Pixels::Bytes(pixels), (from..from + count).map(|image| (image % 2) as u8).collect()).unwrap()
    };
    Dataset::new("halves", split(0, 200), split(200, 50)).unwrap()
}

fn config(text: &str) -> RunConfig {
    RunConfig::from_toml(&format!("hidden = [33, 17]\nepochs = 3\nbatch = 16\nseed = 7\nsamples = 1\n{text}")).unwrap()
}

#[test]
fn a_fit_is_a_run_without_its_directory() {
    let data = halves();
    for (index, text) in
        ["", "surrogate = \"lrt-binary\"\n", "means = \"clip\"\ndropout = 0.1\nfeatures = \"table\"\n", "augment = 1\naverage = 2\n"]
            .into_iter()
            .enumerate()
    {
        let directory = std::env::temp_dir().join(format!("isinglass-fit-{}-{index}", std::process::id()));
        let mut run = Run::create(&directory, config(text)).unwrap();
        run.train(&data, &Options::default(), &AtomicBool::new(false), &mut |_| {}).unwrap();
        let expected = read_checkpoint(&directory, "last.safetensors").unwrap().to_bytes();
        assert_eq!(expected, std::fs::read(directory.join("last.safetensors")).unwrap());
        let lines = read_metrics(&directory).unwrap();
        let epochs: Vec<_> = epochs(&lines).collect();
        std::fs::remove_dir_all(&directory).unwrap();

        let train = examples(&data.train, data.classes).unwrap();
        let fitted = Fit::new(config(text), (&data).into(), None).unwrap().run(&train, 1, &mut |_| Ok(())).unwrap();
        assert_eq!(fitted.checkpoint.to_bytes(), expected, "{text}");
        assert_eq!(fitted.history.len(), epochs.len());
        assert!(fitted.history.iter().zip(&epochs).all(|(own, of_run)| own.train == of_run.train), "{text}");
    }
}

#[test]
fn a_fit_that_was_stopped_resumes_to_the_same_bits() {
    let data = halves();
    let train = examples(&data.train, data.classes).unwrap();
    let fit = || Fit::new(config(""), (&data).into(), None).unwrap();
    let straight = fit().run(&train, 2, &mut |_| Ok(())).unwrap();
    let mut steps = 0;
    let mut stop_after_five = |event: Event<'_>| {
        steps += usize::from(matches!(event, Event::Step { .. }));
        if steps < 5 { Ok(()) } else { Err(Halt) }
    };
    let stopped = fit().run(&train, 1, &mut stop_after_five).unwrap();
    assert_eq!((stopped.halt, stopped.checkpoint.progress().step), (Some(Halt), 5));
    let resumed = Fit::resume(stopped.checkpoint, &train, 1, &mut |_| Ok(())).unwrap();
    assert_eq!(resumed.checkpoint.to_bytes(), straight.checkpoint.to_bytes());
    assert_eq!(resumed.halt, None);

    // Asked for after the last step, it changes nothing.
    let late = fit()
        .run(&train, 1, &mut |event| if matches!(event, Event::Epoch(epoch) if epoch.epoch == 3) { Err(Halt) } else { Ok(()) })
        .unwrap();
    assert_eq!(late.halt, None);
}
