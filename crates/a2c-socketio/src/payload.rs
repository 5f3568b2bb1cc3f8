//! The arguments of an event or acknowledgement, kept as the JSON text they travel as.
//!
//! Arguments are neither parsed into a tree nor written again on their way through: a payload
//! that is received and passed on is byte for byte the same. Binary data travels next to the
//! text; where it belongs in the text stands a [`Placeholder`].

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::PayloadError;

/// Arguments as raw JSON, with their binary attachments.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    args: Vec<Box<RawValue>>,
    attachments: Vec<Bytes>,
}

impl Payload {
    /// No arguments.
    pub fn empty() -> Self {
        Payload::default()
    }

    /// One argument.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, PayloadError> {
        Payload::empty().arg(value)
    }

    /// Arguments and attachments as they are.
    ///
    /// Every `{"_placeholder":true,"num":n}` in the arguments must have its attachment `n`.
    pub fn from_raw(args: Vec<Box<RawValue>>, attachments: Vec<Bytes>) -> Self {
        Payload { args, attachments }
    }

    /// Adds one more argument.
    pub fn arg<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, PayloadError> {
        self.args.push(to_raw_value(value).map_err(PayloadError::Serialize)?);
        Ok(self)
    }

    /// Adds an attachment and gives the placeholder that marks its place in an argument.
    ///
    /// ```
    /// # use a2c_socketio::Payload;
    /// # fn main() -> Result<(), a2c_socketio::PayloadError> {
    /// let mut payload = Payload::empty();
    /// let file = payload.attach(vec![1, 2, 3]);
    /// let payload = payload.arg(&serde_json::json!({ "name": "a.bin", "data": file }))?;
    /// # assert_eq!(payload.attachments().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn attach(&mut self, bytes: impl Into<Bytes>) -> Placeholder {
        self.attachments.push(bytes.into());
        Placeholder { marker: true, num: self.attachments.len() - 1 }
    }

    /// One argument that is nothing but these bytes.
    pub fn binary(bytes: impl Into<Bytes>) -> Self {
        let mut payload = Payload::empty();
        let placeholder = payload.attach(bytes);
        let text = format!("{{\"_placeholder\":true,\"num\":{}}}", placeholder.num);
        payload.args.push(RawValue::from_string(text).expect("a placeholder is valid JSON"));
        payload
    }

    /// How many arguments there are.
    pub fn len(&self) -> usize {
        self.args.len()
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Argument `index` as JSON text.
    pub fn raw(&self, index: usize) -> Option<&RawValue> {
        self.args.get(index).map(AsRef::as_ref)
    }

    /// Argument `index` as a `T`.
    pub fn get<T: DeserializeOwned>(&self, index: usize) -> Result<T, PayloadError> {
        let raw = self.raw(index).ok_or(PayloadError::Missing { index, len: self.len() })?;
        serde_json::from_str(raw.get()).map_err(|source| PayloadError::Deserialize { index, source })
    }

    /// All arguments as JSON text.
    pub fn args(&self) -> &[Box<RawValue>] {
        &self.args
    }

    /// The attachments, in the order of their numbers.
    pub fn attachments(&self) -> &[Bytes] {
        &self.attachments
    }

    /// The attachment a placeholder stands for.
    pub fn attachment(&self, placeholder: &Placeholder) -> Option<&Bytes> {
        self.attachments.get(placeholder.num)
    }

    /// The arguments and attachments themselves.
    pub fn into_parts(self) -> (Vec<Box<RawValue>>, Vec<Bytes>) {
        (self.args, self.attachments)
    }
}

/// The mark `{"_placeholder":true,"num":n}` that stands in an argument for attachment `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placeholder {
    #[serde(rename = "_placeholder")]
    marker: bool,
    num: usize,
}

impl Placeholder {
    /// The number of the attachment.
    pub fn num(&self) -> usize {
        self.num
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_text() {
        let text = r#"{ "b":1,  "a":1.0 }"#;
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let payload = Payload::from_raw(vec![raw], Vec::new());
        assert_eq!(payload.raw(0).unwrap().get(), text);
    }

    #[test]
    fn a_missing_or_wrong_argument_is_named() {
        let payload = Payload::json("text").unwrap();
        assert_eq!(payload.get::<u32>(1).unwrap_err().to_string(), "there is no argument 1: the payload has 1");
        assert!(
            payload.get::<u32>(0).unwrap_err().to_string().starts_with("argument 0 does not have the expected shape")
        );
    }

    #[test]
    fn a_placeholder_finds_its_attachment() {
        let mut payload = Payload::empty();
        payload.attach(vec![0]);
        let second = payload.attach(vec![7]);
        let payload = payload.arg(&second).unwrap();
        assert_eq!(payload.raw(0).unwrap().get(), r#"{"_placeholder":true,"num":1}"#);
        let read: Placeholder = payload.get(0).unwrap();
        assert_eq!(payload.attachment(&read).unwrap().as_ref(), [7]);
    }

    #[test]
    fn binary_is_one_placeholder() {
        let payload = Payload::binary(vec![9]);
        assert_eq!(payload.get::<Placeholder>(0).unwrap().num(), 0);
        assert_eq!(payload.attachments(), [Bytes::from_static(&[9])]);
    }
}
