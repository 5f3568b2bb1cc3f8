//! The functions a program may call: those that compute.
//!
//! The dependency is built without its environment, system and network functions. The list below holds as well where
//! another crate of the same build turns them on, since cargo joins features.

use vrl::compiler::Function;

/// What a program must not call, though the library may have it.
const LEFT_OUT: [&str; 11] = [
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
    // Our log: a tool's result does not belong there, and nothing would bound how much of it.
    "log",
];

/// The functions of the standard library that only compute.
pub(super) fn functions() -> Vec<Box<dyn Function>> {
    let mut functions = vrl::stdlib::all();
    functions.retain(|function| !LEFT_OUT.contains(&function.identifier()));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_reaches_out_is_offered() {
        let names: Vec<_> = functions().iter().map(|function| function.identifier()).collect();
        for name in LEFT_OUT {
            assert!(!names.contains(&name), "{name}");
        }
        assert!(names.contains(&"parse_json") && names.contains(&"map_values"));
    }

    /// The dependency comes without them: with a feature too many, they would be in the binary.
    #[test]
    fn the_dependency_is_built_without_them() {
        let built: Vec<_> = vrl::stdlib::all().iter().map(|function| function.identifier()).collect();
        for name in LEFT_OUT.into_iter().filter(|name| *name != "log") {
            assert!(!built.contains(&name), "{name}");
        }
    }
}
