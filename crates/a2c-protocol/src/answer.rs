//! Acknowledgements: the structure that was asked for, or the error that came instead.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::ErrorBody;

/// What an acknowledgement may be instead of the structure asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The peer answered with an error.
    #[error(transparent)]
    Refused(#[from] ErrorBody),
    /// The peer answered with something that is neither the structure nor an error.
    #[error("the answer has the wrong shape: {reason}")]
    WrongShape {
        /// What is wrong with it, and where.
        reason: String,
    },
}

/// Looks at the two places where an error shows, without building the rest of a large answer.
#[derive(Deserialize)]
struct ErrorProbe<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Decodes the first argument of an acknowledgement.
pub fn decode<T: DeserializeOwned>(json: &str) -> Result<T, AnswerError> {
    let wrong_shape = |reason: String| AnswerError::WrongShape { reason };
    let may_be_error =
        serde_json::from_str::<ErrorProbe<'_>>(json).is_ok_and(|seen| seen.code.is_some() || seen.error.is_some());
    if may_be_error {
        let value: Value = serde_json::from_str(json).map_err(|e| wrong_shape(e.to_string()))?;
        if let Some(error) = ErrorBody::decode(&value) {
            return Err(error.into());
        }
    }
    serde_json::from_str(json).map_err(|error| wrong_shape(located::<T>(json).unwrap_or_else(|| error.to_string())))
}

/// Where an answer is wrong. Following the path costs more than reading the answer, so this is for those that are.
fn located<T: DeserializeOwned>(json: &str) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize::<_, T>(&mut deserializer).err().map(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::tool::GetToolsRet;

    #[test]
    fn an_answer_is_the_structure_or_the_error_or_the_wrong_shape() {
        let good = decode::<GetToolsRet>(r#"{"tools": [], "req_id": "1", "later": true}"#).unwrap();
        assert_eq!(good.req_id, "1");
        let refused = decode::<GetToolsRet>(r#"{"code": 404, "message": "no"}"#).unwrap_err();
        assert!(matches!(refused, AnswerError::Refused(e) if e.code == ErrorCode::NotFound));
        let nested = decode::<GetToolsRet>(r#"{"error": {"code": 403, "message": "no"}}"#).unwrap_err();
        assert!(matches!(nested, AnswerError::Refused(e) if e.code == ErrorCode::Forbidden));
        for odd in [
            "null",
            "[]",
            "7",
            r#"{"tools": 3, "req_id": "1"}"#,
            r#"{"code": "x"}"#,
            "{",
            r#"{"tools": [], "req_id": "1"} 2"#,
        ] {
            assert!(matches!(decode::<GetToolsRet>(odd), Err(AnswerError::WrongShape { .. })), "{odd}");
        }
        for (wrong, place) in [
            (r#"{"tools": 3, "req_id": "1"}"#, "tools"),
            (r#"{"tools": [{"name": "a", "params_schema": {}}, {"name": 7, "params_schema": {}}]}"#, "tools[1].name"),
        ] {
            let named = decode::<GetToolsRet>(wrong).unwrap_err();
            assert!(named.to_string().contains(place), "{named}");
        }
    }
}
