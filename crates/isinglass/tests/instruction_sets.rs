//! `ISINGLASS_SIMD`, as a user sets it.

mod common;

use common::Scratch;

#[test]
fn unknown_instruction_sets_end_every_command_with_one_sentence() {
    let home = Scratch::new("unknown-isa");
    let known = isinglass_net::instruction_sets().join(", ");
    for command in ["theory point --sigma-m2 0.9", "data list", "train --out a", "predict none.safetensors"] {
        for name in ["sse9", "AVX2", ""] {
            let output = home.command(command).env("ISINGLASS_SIMD", name).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{command}");
            assert!(output.stdout.is_empty(), "{command}");
            let sentence = String::from_utf8(output.stderr).unwrap();
            assert_eq!(sentence, format!("error: ISINGLASS_SIMD = {name}: this machine has {known}\n"), "{command}");
        }
    }
    assert!(!home.path("a").exists());
}

#[test]
fn every_instruction_set_of_the_machine_can_be_chosen() {
    let home = Scratch::new("known-isa");
    for name in isinglass_net::instruction_sets() {
        assert!(home.command("theory point --sigma-m2 0.9").env("ISINGLASS_SIMD", name).output().unwrap().status.success(), "{name}");
    }
}
