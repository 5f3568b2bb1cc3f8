//! The environment variable that holds the value of an input.

/// The variable of an input: `api-key` is read from `A2C_INPUT_API_KEY`.
pub(crate) fn input_variable(id: &str) -> String {
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("A2C_INPUT_{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_are_legal() {
        for (id, variable) in [("key", "KEY"), ("api-key", "API_KEY"), ("a.b c", "A_B_C"), ("schlüssel2", "SCHL_SSEL2")]
        {
            assert_eq!(input_variable(id), format!("A2C_INPUT_{variable}"));
        }
    }
}
