//! Settings that can be spelled in more than one way in files, or whose type is not enough to say what is expected.

use std::fmt;

use isinglass_files::nearest;
use isinglass_net::{Carry, Neuron};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

/// Settings at their default of 0 are left out of files and hashes, so that those of earlier versions stay the same.
pub(super) fn is_off<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// `carry = "auto"`, `"on"`, `"off"`, or TOML's own truth values.
pub(super) fn carry_or_truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Carry>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "carry is \"auto\", \"on\", \"off\", true or false")]
    enum Choice {
        Bool(bool),
        Name(Carry),
    }
    Ok(Some(match Choice::deserialize(deserializer)? {
        Choice::Bool(true) => Carry::On,
        Choice::Bool(false) => Carry::Off,
        Choice::Name(carry) => carry,
    }))
}

/// TOML's own truth values, and the words of the flag.
pub(super) fn on_or_off<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a switch is true, false, \"on\" or \"off\"")]
    enum Switch {
        Bool(bool),
        Word(Word),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Word {
        On,
        Off,
    }
    Ok(matches!(Switch::deserialize(deserializer)?, Switch::Bool(true) | Switch::Word(Word::On)))
}

/// `samples = 10` and `samples = [5, 100]`.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number of networks, or a list of them")]
    enum Samples {
        One(usize),
        Many(Vec<usize>),
    }
    Ok(match Samples::deserialize(deserializer)? {
        Samples::One(count) => vec![count],
        Samples::Many(counts) => counts,
    })
}

/// The neuron of this name; the error says which was meant.
///
/// # Errors
///
/// A sentence.
pub fn parse_neuron(text: &str) -> Result<Neuron, String> {
    text.parse().map_err(|error: isinglass_theory::Error| {
        let (name, parameter) = text.split_at(text.find(':').unwrap_or(text.len()));
        let meant = nearest(name, ["sign", "probit", "logistic", "erf", "tanh", "relu", "linear"]).filter(|meant| *meant != name);
        meant.map_or_else(|| error.to_string(), |meant| format!("{error}; did you mean {meant}{parameter}?"))
    })
}

pub(super) mod neuron_text {
    use isinglass_net::Neuron;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(neuron: &Option<Neuron>, serializer: S) -> Result<S::Ok, S::Error> {
        neuron.map(|neuron| neuron.to_string()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Neuron>, D::Error> {
        super::parse_neuron(&String::deserialize(deserializer)?).map(Some).map_err(serde::de::Error::custom)
    }
}

/// `hidden = [512, 256]`. In a grid an axis of lists is a list of lists, which is easily forgotten.
pub(super) fn list_of_neurons<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<usize>>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<usize>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of the neurons of every hidden layer, such as [512, 256]")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_seq(List).map(Some)
}
