//! How deep the expressions of a program nest, estimated before the program is compiled.
//!
//! The compiler and the runtime follow an expression by recursion and have no limit of their own: some hundred
//! parentheses or operators in one expression overflow a thread's stack, which ends the whole process. The estimate is
//! never too low: every open bracket and every operator left of a position, in the statements around it, counts one.

/// The deepest program that is compiled. A stack of 2 MiB holds more than 100 levels in a debug build, but not 200.
pub(crate) const MAX_DEPTH: usize = 64;

/// The deepest nesting of a program, at most.
pub(crate) fn depth(source: &str) -> usize {
    // The operators of this statement, and of the statements around the open brackets.
    let (mut operators, mut around) = (0, Vec::new());
    let (mut depth, mut deepest) = (0_usize, 0);
    // The last character that is neither blank nor comment, and whether a line ended since.
    let (mut last, mut line_ended) = (' ', false);
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '#' => {
                while characters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            '\n' => {
                line_ended = true;
                continue;
            }
            blank if blank.is_whitespace() => continue,
            _ => {}
        }
        // An expression goes on over the end of a line only next to an operator.
        let new_statement = line_ended && !is_operator(last) && !is_operator(character);
        if new_statement || matches!(character, ';' | ',') {
            depth -= operators;
            operators = 0;
        }
        match character {
            '(' | '[' | '{' => {
                around.push(std::mem::take(&mut operators));
                depth += 1;
            }
            ')' | ']' | '}' => {
                if let Some(outer) = around.pop() {
                    depth -= operators + 1;
                    operators = outer;
                }
            }
            '"' => skip_quoted(&mut characters, '"'),
            '\'' if matches!(last, 's' | 'r' | 't') => skip_quoted(&mut characters, '\''),
            // `!` stacks up, other operators of several characters are one.
            _ if character == '!' || is_operator(character) && (line_ended || !is_operator(last)) => {
                operators += 1;
                depth += 1;
            }
            _ => {}
        }
        (last, line_ended) = (character, false);
        deepest = deepest.max(depth);
    }
    deepest
}

fn is_operator(character: char) -> bool {
    matches!(character, '+' | '-' | '*' | '/' | '=' | '!' | '<' | '>' | '&' | '|' | '?')
}

fn skip_quoted(characters: &mut impl Iterator<Item = char>, end: char) {
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            character if character == end => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_operators_count_within_a_statement() {
        let check = |source: &str, expected| assert_eq!(depth(source), expected, "{source}");
        check("", 0);
        check(".a = 1", 1);
        check(".a = 1\n.b = 2; .c = 3", 1);
        check(".a = (1 + (2))", 4);
        check(".a = !!true", 3);
        check(".a = .b == 1 || .c", 3);
        check(".a = \"((((\" # ((((", 1);
        check(".a = r'\\'((' + s'(('", 2);
        check(".a = \"x\" +\n  \"y\" +\n  \"z\"", 3);
        check(".a = parse_json(.b)\n  ?? {}", 3);
        check(".a = [1 + 1, 2 + 2, 3 + 3]", 3);
        check("))) .a = 1", 1);
        check(&"(".repeat(5_000), 5_000);
    }

    #[test]
    fn a_long_flat_program_is_shallow() {
        let line = "if exists(.a.b) { .c = to_string!(.a.b) + \"x\" } else { del(.c) }\n";
        assert!(depth(&line.repeat(500)) < 10);
    }
}
