//! The part of protobuf that writing ONNX needs.
//!
//! A message is a sequence of fields. Each begins with the number `8·field + kind`: kind 0 is followed by a number, kind 2 by a length and as many bytes, be they text, raw data or another
//! message. Numbers are written seven bits at a time, the lowest first, with the highest bit set on all bytes but the last; negative ones as unsigned numbers of 64 bits. Repeated
//! fields are written repeatedly.

use alloc::vec::Vec;

/// A message under construction.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// Adds a number.
    pub fn number(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// Adds text, or raw data.
    pub fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a message.
    pub fn message(self, field: u32, value: Self) -> Self {
        self.bytes(field, value.0)
    }

    /// The encoded message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(8 * field + kind));
    }

    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf's own description of its encoding.
    #[test]
    fn fields_are_encoded_as_protobuf_describes() {
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().bytes(2, "testing").into_bytes(), *b"\x12\x07testing");
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = Message::default().number(1, -2).into_bytes();
        assert_eq!(minus_two, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        assert_eq!(Message::default().number(20, 0).into_bytes(), [0xa0, 0x01, 0x00]);
    }
}
