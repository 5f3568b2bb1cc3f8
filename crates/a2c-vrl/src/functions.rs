//! The functions that a program may call: only those that compute.
//!
//! The dependency is built without its environment, system and network functions. The list below also holds if another
//! crate of the same build turns them on, because cargo unites features.

use vrl::compiler::Function;

/// What a program must not call, though the library may have it.
const EXCLUDED: [&str; 11] = [
    // The network.
    "dns_lookup",
    "http_request",
    "reverse_dns",
    // The machine and its environment.
    "get_env_var",
    "get_hostname",
    "get_timezone_name",
    // Files named by the program.
    "encode_proto",
    "parse_etld",
    "parse_proto",
    "validate_json_schema",
    // The log: a tool's result does not belong there, and its size would have no limit.
    "log",
];

/// The functions of the standard library that only compute.
pub(crate) fn allowed() -> Vec<Box<dyn Function>> {
    let mut functions = vrl::stdlib::all();
    functions.retain(|function| !EXCLUDED.contains(&function.identifier()));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_reach_out_are_not_allowed() {
        let names: Vec<_> = allowed().iter().map(|function| function.identifier()).collect();
        for name in EXCLUDED {
            assert!(!names.contains(&name), "{name}");
        }
        assert!(names.contains(&"parse_json") && names.contains(&"map_values"));
    }

    /// The dependency comes without them: with a feature too many, they would be in the binary.
    #[test]
    fn the_dependency_is_built_without_them() {
        let built: Vec<_> = vrl::stdlib::all().iter().map(|function| function.identifier()).collect();
        for name in EXCLUDED.into_iter().filter(|name| *name != "log") {
            assert!(!built.contains(&name), "{name}");
        }
    }
}
