//! Configuration files as owners write them: both shapes, all languages, and every mistake told with its place.

mod config_mistakes;
mod config_of_hosts;
mod config_shapes;
mod expect_problem;
mod strange_texts;
