//! What is misspelt is answered with what was probably meant: flags, commands, values, and keys of files (`train.rs` has more of these).

mod common;

use common::Scratch;

#[test]
fn misspelt_words_are_answered_with_the_nearest() {
    let home = Scratch::new("suggestions");
    home.write("grid.toml", b"[train]\nepochs = 1\n[grid]\ndetph = [1, 2]\n");
    home.write("tables.toml", b"[train]\nepochs = 1\n[gird]\ndepth = [1, 2]\n");
    for (args, part) in [
        ("train --dept 3", "unexpected argument '--dept' found; tip: a similar argument exists: '--depth'"),
        ("trian", "tip: a similar subcommand exists: 'train'"),
        ("theory pont --sigma-m2 0.9", "'point'"),
        ("theory point --sigma-m2 0.9 --format jsno", "[possible values: table, json, csv]; tip: a similar value exists: 'json'"),
        ("train --surrogate determinstic", "a similar value exists: 'deterministic'"),
        ("train --optimizer adan", "a similar value exists: 'adam'"),
        ("train --neuron sgin", "did you mean sign?"),
        ("train --neuron tnah:2", "did you mean tanh:2?"),
        ("train --data mnsit", "(did you mean mnist?)"),
        ("train --data Digits", "(did you mean digits?)"),
        ("train --recipe mnist-510", "(did you mean mnist-501?)"),
        ("data show fashion_mnist", "(did you mean fashion-mnist?)"),
        ("theory point --model detreministic --sigma-m2 0.9", "did you mean deterministic?"),
        ("theory point --neuron probt:1 --sigma-m2 0.9", "did you mean probit:1?"),
        ("sweep run grid.toml --out s", "unknown key `detph`; did you mean `depth`?"),
        ("sweep run tables.toml --out s", "gird (did you mean grid?)"),
        ("reproduce fig22", "'fig2'"),
    ] {
        let message = home.fails(args, 2);
        assert!(message.contains(part), "{args}: {message}");
    }
    // Nothing is suggested where nothing is near.
    for args in ["train --surrogate magic", "train --data imagenet", "theory point --model quantum --sigma-m2 0.9"] {
        let message = home.fails(args, 2);
        assert!(!message.contains("did you mean") && !message.contains("similar"), "{args}: {message}");
    }
}
