//! An unknown instruction set in `ISINGLASS_SIMD`. The only test of its program, since it changes the environment.

use isinglass_net::{Error, Examples, NetworkConfig, TrainConfig, Trainer, Values, instruction_sets, lrt_noise};

#[test]
fn unknown_instruction_sets_are_refused() {
    // SAFETY: no other thread reads or changes the environment.
    unsafe { std::env::set_var("ISINGLASS_SIMD", "sse9") };
    let network = NetworkConfig { inputs: 2, hidden: vec![3], classes: 2, ..NetworkConfig::default() }.init(1).unwrap();
    let (values, labels) = ([0.0, 1.0, 1.0, 0.0].repeat(10), [0, 1].repeat(10));
    let examples = Examples::new(Values::Floats(&values), 2, &labels, 2).unwrap();
    let sentence = format!("ISINGLASS_SIMD = sse9: this machine has {}", instruction_sets().join(", "));
    // These run on bits.
    for refused in [network.binary().predict(&[0u8; 2]).unwrap_err(), network.binary().sums(&[0u8; 2]).unwrap_err()] {
        assert_eq!(refused.to_string(), sentence);
    }
    let noise = lrt_noise(1, 0, 0, 1, 1).unwrap_err();
    let trainer = Trainer::new(network, TrainConfig::default(), &examples).err().expect("an error");
    for refused in [noise, trainer] {
        assert!(matches!(refused, Error::InstructionSet(_)));
        assert_eq!(refused.to_string(), sentence);
    }
}
