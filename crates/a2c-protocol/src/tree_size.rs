//! How much memory a JSON text takes once it is a tree of values: what is to be known before one is built.

/// What one value takes in a list or an object.
const VALUE: usize = 32;
/// What the first field of an object takes besides: room is made for eleven.
const OBJECT: usize = 640;
/// What a text takes besides its bytes.
const TEXT: usize = 24;

/// Estimates the memory that a tree of a JSON text takes, from above and without building it.
///
/// ```
/// use a2c_protocol::tree_size::TreeSize;
///
/// assert!(TreeSize::of(&format!("[{}0]", "0,".repeat(1000))).bytes() > 32_000);
/// assert!(TreeSize::of(&format!("{:?}", "x".repeat(1000))).bytes() < 1_100);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeSize {
    bytes: usize,
    in_text: bool,
    escaped: bool,
}

impl TreeSize {
    /// The size for a whole text.
    pub fn of(json: &str) -> Self {
        let mut size = Self::default();
        size.add(json.as_bytes());
        size
    }

    /// Goes on with the next part of a text.
    pub fn add(&mut self, json: &[u8]) {
        for byte in json {
            if self.in_text {
                self.bytes += 1;
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_text = true;
                    self.bytes += TEXT;
                }
                b'{' => self.bytes += VALUE + OBJECT,
                b'[' | b',' => self.bytes += VALUE,
                _ => {}
            }
        }
    }

    /// The estimate, in bytes.
    pub fn bytes(self) -> usize {
        self.bytes + VALUE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_outside_of_texts() {
        for (json, bytes) in [
            ("7", VALUE),
            (r#""a,b[{\",""#, VALUE + TEXT + 9),
            ("[1,2]", 3 * VALUE),
            (r#"{"a":1}"#, 2 * VALUE + OBJECT + TEXT + 2),
            (r#"[{"":0},{"":0}]"#, 5 * VALUE + 2 * (OBJECT + TEXT + 1)),
        ] {
            assert_eq!(TreeSize::of(json).bytes(), bytes, "{json}");
            let mut in_parts = TreeSize::default();
            json.as_bytes().chunks(1).for_each(|part| in_parts.add(part));
            assert_eq!(in_parts.bytes(), bytes, "{json}");
        }
    }
}
