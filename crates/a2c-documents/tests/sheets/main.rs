//! Workbooks that other programs wrote, and hostile ones.

mod hostile;
mod other_formats;
mod outline;
mod xlsx;
