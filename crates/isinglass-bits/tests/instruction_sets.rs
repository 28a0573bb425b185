//! `ISINGLASS_SIMD`. The only test of its program, since it changes the environment.

use isinglass_bits::{Error, Isa};

#[test]
fn the_environment_chooses_an_instruction_set_that_the_machine_has() {
    for isa in Isa::available() {
        // SAFETY: no other thread reads or changes the environment, here and below.
        unsafe { std::env::set_var("ISINGLASS_SIMD", isa.name()) };
        assert_eq!((Isa::chosen().unwrap(), Isa::best()), (isa, isa));
    }
    unsafe { std::env::set_var("ISINGLASS_SIMD", "sse9") };
    let refused = Isa::chosen().unwrap_err();
    assert!(matches!(&refused, Error::Isa(sentence) if sentence.starts_with("ISINGLASS_SIMD = sse9: this machine has ")), "{refused}");
    assert_eq!(*std::panic::catch_unwind(Isa::best).unwrap_err().downcast::<String>().unwrap(), refused.to_string());
}
