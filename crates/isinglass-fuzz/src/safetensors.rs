//! Files whose first eight bytes are the length of a JSON header.

/// Puts the length of a safetensors file's header right, so that a reader comes to what the header says.
pub fn repair_safetensors(file: &mut [u8]) {
    let Some((length, rest)) = file.split_first_chunk_mut::<8>() else { return };
    let (mut depth, mut in_text, mut is_escaped) = (0usize, false, false);
    let end = rest.iter().position(|&byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && !in_text
    });
    let Some(end) = end else { return };
    let padding = rest[end + 1..].iter().take_while(|&&byte| byte == b' ').count();
    *length = (end as u64 + 1 + padding as u64).to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_ends_where_its_object_does() {
        let mut file = [&[0xff; 8][..], br#"{"a":{"b":"}\""}}   "#, &[1, 2, 3]].concat();
        repair_safetensors(&mut file);
        assert_eq!(file[..8], 20u64.to_le_bytes());
    }
}
