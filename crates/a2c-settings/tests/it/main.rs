//! The public interface: any text is read or refused, and no message quotes a value.

mod strange_texts;
