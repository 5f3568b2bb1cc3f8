//! Workbooks that other programs wrote, and hostile ones.

mod hostile;
mod outline;
mod xlsx;
