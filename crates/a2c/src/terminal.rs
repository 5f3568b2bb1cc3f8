//! Asking the owner on the terminal: values of inputs, and whether a tool may run.
//!
//! Questions go to the controlling terminal and not to the standard streams, so that those can be pipes. One question is
//! asked at a time. Nothing blocks: a question that is dropped is over at once, the terminal is as it was before, and
//! the next question can be asked.

use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;

use a2c_computer::async_trait;
use a2c_computer::inputs::{InputQuestion, PromptError, Prompter};
use rustix::fs::{Mode, OFlags};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::output::printable;

#[cfg(test)]
mod tests;

/// What Ctrl-C types while a question is open.
const INTERRUPT: u8 = 3;

/// A terminal hands out lines of 4,095 bytes at most; longer ones come from elsewhere.
const LINE_LIMIT: usize = 16 * 1024;

/// The terminal of the owner.
pub(crate) struct Terminal {
    tty: AsyncFd<OwnedFd>,
    /// Held while a question is open.
    turn: Mutex<()>,
}

impl Terminal {
    /// The controlling terminal, where a user is likely to look at it: `None` for services and in pipelines. To be
    /// called inside of a runtime.
    pub(crate) fn open() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        // macOS cannot wait for /dev/tty; the device behind it will do.
        let path = match cfg!(target_os = "macos") {
            true => rustix::termios::ttyname(io::stderr(), Vec::new()).ok()?,
            false => c"/dev/tty".to_owned(),
        };
        // An open file of its own: the flag that it does not block concerns no other process.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Self::on(rustix::fs::open(path, flags, Mode::empty()).ok()?).ok()
    }

    #[expect(
        deprecated,
        reason = "only descriptors that can change are unsound there, and an `OwnedFd` stays the same"
    )]
    fn on(tty: OwnedFd) -> io::Result<Self> {
        Ok(Self { tty: AsyncFd::new(tty)?, turn: Mutex::new(()) })
    }

    /// Asks a question that takes yes or no; just Enter is no. `None` without an answer. Dropping the future
    /// withdraws the question.
    pub(crate) async fn yes_no(&self, text: &str) -> Option<bool> {
        let text = format!("{}\n", printable(text.trim_end()));
        let accept = |line: &str| match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(Some(true)),
            "" | "n" | "no" => Ok(Some(false)),
            _ => Err("Please answer y or n.".to_owned()),
        };
        self.converse(&text, "Allow? [y/N] ", Echo::On, accept).await.ok().flatten()
    }

    /// Puts a question until there is an answer that is accepted; the complaint about any other is told.
    async fn converse<T>(
        &self,
        text: &str,
        prompt: &str,
        echo: Echo,
        accept: impl Fn(&str) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, PromptError> {
        let _turn = self.turn.lock().await;
        let mut asking = Asking::begin(&self.tty, echo)?;
        self.write(text).await?;
        loop {
            self.write(prompt).await?;
            let Some(line) = self.read_line().await? else {
                self.write("\n").await?;
                asking.settled = true;
                return Ok(None);
            };
            match accept(&line) {
                Ok(answer) => {
                    asking.settled = true;
                    return Ok(answer);
                }
                Err(complaint) => self.write(&format!("{}\n", printable(&complaint))).await?,
            }
        }
    }

    async fn write(&self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let written = self.tty.async_io(Interest::WRITABLE, |tty| Ok(rustix::io::write(tty, rest)?)).await?;
            rest = &rest[written..];
        }
        Ok(())
    }

    /// A line as it was typed; `None` after Ctrl-C and Ctrl-D.
    async fn read_line(&self) -> Result<Option<Zeroizing<String>>, PromptError> {
        // Reserved once: a buffer that grows leaves copies of a password behind.
        let mut line = Zeroizing::new(Vec::with_capacity(LINE_LIMIT));
        let mut piece = Zeroizing::new([0; 4096]);
        loop {
            let read = |tty: &OwnedFd| {
                // To read in the background would stop the whole program.
                foreground(tty)?;
                Ok(rustix::io::read(tty, &mut piece[..])?)
            };
            let length = self.tty.async_io(Interest::READABLE, read).await?;
            line.extend_from_slice(&piece[..length]);
            if length == 0 || line.contains(&INTERRUPT) {
                return Ok(None);
            }
            if line.len() + piece.len() > LINE_LIMIT {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long").into());
            }
            if let Some(line) = line.strip_suffix(b"\n") {
                let text = str::from_utf8(line).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))?;
                return Ok(Some(Zeroizing::new(text.to_owned())));
            }
        }
    }
}

#[async_trait]
impl Prompter for Terminal {
    async fn ask(&self, question: &InputQuestion) -> Result<Option<Zeroizing<String>>, PromptError> {
        let echo = if question.password { Echo::Off } else { Echo::On };
        self.converse(&text(question), &prompt(question), echo, |line| accept(question, line)).await
    }
}

/// What is asked for, and what can be picked.
fn text(question: &InputQuestion) -> String {
    let mut text = match question.description.as_str() {
        "" => format!("Input '{}' needs a value.\n", question.id),
        description => format!("Input '{}': {description}\n", question.id),
    };
    for (index, option) in question.options.iter().enumerate() {
        text.push_str(&format!("  {}) {option}\n", index + 1));
    }
    printable(&text)
}

/// What stands before the cursor.
fn prompt(question: &InputQuestion) -> String {
    let what = if question.options.is_empty() { "Value" } else { "Number or text" };
    match (&question.default, question.password) {
        (Some(_), true) => format!("{what} (not shown; Enter for the default): "),
        (None, true) => format!("{what} (not shown): "),
        (Some(default), false) => format!("{what} [{}]: ", printable(default)),
        (None, false) => format!("{what}: "),
    }
}

/// Takes an answer, or says what is wrong with it. No answer is the default, which the asker knows.
fn accept(question: &InputQuestion, line: &str) -> Result<Option<Zeroizing<String>>, String> {
    let taken = |text: &str| Ok(Some(Zeroizing::new(text.to_owned())));
    if line.is_empty() {
        return match question.default {
            Some(_) => Ok(None),
            None => Err("Type a value, or Ctrl-C to go on without one.".to_owned()),
        };
    }
    if question.options.is_empty() {
        return taken(line);
    }
    // The text first: options may be numbers themselves.
    let picked = line.trim();
    if question.options.iter().any(|option| option == picked) {
        return taken(picked);
    }
    let by_number = picked.parse::<usize>().ok().and_then(|number| question.options.get(number.checked_sub(1)?));
    match by_number {
        Some(option) => taken(option),
        None => Err(format!("There is no such option: type a number from 1 to {}.", question.options.len())),
    }
}

/// Whether what is typed can be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    On,
    Off,
}

/// A question that is open. The terminal is put back when it is over, however it ends.
struct Asking<'a> {
    tty: &'a AsyncFd<OwnedFd>,
    before: Termios,
    /// Whether it was answered or refused.
    settled: bool,
}

impl<'a> Asking<'a> {
    fn begin(tty: &'a AsyncFd<OwnedFd>, echo: Echo) -> Result<Self, PromptError> {
        let fd = tty.get_ref();
        foreground(fd).map_err(|error| PromptError::Unavailable { reason: error.to_string() })?;
        let before = tcgetattr(fd).map_err(io::Error::from)?;
        let mut during = before.clone();
        // Ctrl-C ends the question, not the program; and nothing stops the program while the terminal is in our state.
        during.local_modes -= LocalModes::ISIG;
        during.local_modes |= LocalModes::ICANON;
        during.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        if echo == Echo::Off {
            during.local_modes -= LocalModes::ECHO;
            during.local_modes |= LocalModes::ECHONL;
        }
        let asking = Self { tty, before, settled: false };
        tcsetattr(fd, OptionalActions::Now, &during).map_err(io::Error::from)?;
        // What was typed before the question was seen is no answer to it.
        tcflush(fd, QueueSelector::IFlush).map_err(io::Error::from)?;
        Ok(asking)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let fd = self.tty.get_ref();
        // Who has the terminal now has set it up for itself; to touch it would stop the whole program.
        if foreground(fd).is_err() {
            return;
        }
        if !self.settled {
            // Half an answer must not show up at the next prompt.
            let _ = tcflush(fd, QueueSelector::IFlush);
            let _ = rustix::io::write(fd, b"\n(no longer needed)\n");
        }
        let _ = tcsetattr(fd, OptionalActions::Now, &self.before);
    }
}

/// Whether we may use the terminal: those who do so in the background are stopped by the system.
fn foreground(tty: &OwnedFd) -> io::Result<()> {
    match tcgetpgrp(tty) {
        Ok(group) if group == getpgrp() => Ok(()),
        // Not the terminal that controls this process: reading from it is allowed.
        Err(rustix::io::Errno::NOTTY) => Ok(()),
        Ok(_) => Err(io::Error::other("the program runs in the background of its terminal")),
        Err(error) => Err(error.into()),
    }
}
