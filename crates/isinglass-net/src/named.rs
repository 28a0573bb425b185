//! Choices that have names on the command line and in files.

/// Names the variants of an enum: `ALL`, `name`, `Display`, `FromStr`, and serde as a string.
macro_rules! named {
    ($kind:literal, $type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// All choices.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the command line and in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                Self::ALL.iter().copied().find(|choice| choice.name() == text).ok_or_else(|| $crate::Error::UnknownName {
                    kind: $kind,
                    name: text.to_owned(),
                    known: [$($name),+].join(", "),
                })
            }
        }

        $crate::named::serde_as_text!($type);
    };
}

/// Serialises a type as its `Display` text and reads it back with `FromStr`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {named, serde_as_text};
