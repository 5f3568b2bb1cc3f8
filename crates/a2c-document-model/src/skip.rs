//! Values that JSON leaves out.
#![expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

pub(crate) fn is_zero(value: &usize) -> bool {
    *value == 0
}
