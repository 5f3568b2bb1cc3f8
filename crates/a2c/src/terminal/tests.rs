//! The terminal, on real pseudo terminals: this side types and reads what a person would.

use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;

/// The person at the keyboard.
struct Person {
    keyboard: AsyncFd<OwnedFd>,
    seen: String,
}

#[expect(deprecated, reason = "an `OwnedFd` stays the same")]
fn pair() -> (Person, OwnedFd) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let path = ptsname(&keyboard, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let tty = rustix::fs::open(path, flags, Mode::empty()).unwrap();
    rustix::io::ioctl_fionbio(&keyboard, true).unwrap();
    (Person { keyboard: AsyncFd::new(keyboard).unwrap(), seen: String::new() }, tty)
}

impl Person {
    async fn types(&self, keys: &str) {
        let typed = self.keyboard.async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, keys.as_bytes())?)).await;
        assert_eq!(typed.unwrap(), keys.len());
    }

    /// Reads on until the text is on the screen, and forgets all up to its end.
    async fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let mut piece = [0; 1024];
            let read = self.keyboard.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut piece)?)).await;
            let read = read.unwrap_or_else(|error| panic!("{error}: no {text:?} after {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    }
}

fn modes(tty: &OwnedFd) -> (LocalModes, u8) {
    let termios = tcgetattr(tty).unwrap();
    (termios.local_modes, termios.special_codes[SpecialCodeIndex::VEOL])
}

/// A terminal that is asked, the person before it, and a second handle on the terminal to look at its state.
fn terminal() -> (Arc<Terminal>, Person, OwnedFd) {
    let (person, tty) = pair();
    let watch = tty.try_clone().unwrap();
    (Arc::new(Terminal::on(tty).unwrap()), person, watch)
}

fn question(change: impl FnOnce(&mut InputQuestion)) -> InputQuestion {
    let mut question = InputQuestion::new("api-key");
    question.description = "Key of the service".into();
    change(&mut question);
    question
}

/// Asks in the background and gives the answer.
fn ask(
    terminal: &Arc<Terminal>,
    question: InputQuestion,
) -> tokio::task::JoinHandle<Result<Option<String>, PromptError>> {
    let terminal = Arc::clone(terminal);
    tokio::spawn(async move { Ok(terminal.ask(&question).await?.map(|answer| answer.to_string())) })
}

#[tokio::test]
async fn a_line_is_the_answer() {
    let (terminal, mut person, tty) = terminal();
    let before = modes(&tty);
    let answer = ask(&terminal, question(|_| {}));
    let screen = person.sees("Value: ").await;
    assert!(screen.contains("Input 'api-key': Key of the service"), "{screen:?}");
    person.types("schl\u{fc}ssel mit  Raum \n").await;
    assert_eq!(answer.await.unwrap().unwrap().as_deref(), Some("schlüssel mit  Raum "));
    assert_eq!(modes(&tty), before);
}

#[tokio::test]
async fn a_password_is_not_shown() {
    let (terminal, mut person, tty) = terminal();
    let before = modes(&tty);
    let answer = ask(&terminal, question(|q| q.password = true));
    person.sees("Value (not shown): ").await;
    person.types("s3cret\n").await;
    assert_eq!(answer.await.unwrap().unwrap().as_deref(), Some("s3cret"));
    assert_eq!(modes(&tty), before);
    let next = ask(&terminal, question(|_| {}));
    let screen = person.sees("Value: ").await;
    assert!(!screen.contains("s3cret"), "{screen:?}");
    person.types("x\n").await;
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn options_are_picked_by_number_or_text() {
    let (terminal, mut person, _tty) = terminal();
    let pick = |q: &mut InputQuestion| q.options = ["s", "m", "1"].map(String::from).into();
    for (typed, picked) in [("2\n", "m"), (" m \n", "m"), ("1\n", "1"), ("3\n", "1")] {
        let answer = ask(&terminal, question(pick));
        let screen = person.sees("Number or text: ").await;
        assert!(screen.contains("1) s\r\n  2) m\r\n"), "{screen:?}");
        person.types(typed).await;
        assert_eq!(answer.await.unwrap().unwrap().as_deref(), Some(picked), "{typed:?}");
    }
    let answer = ask(&terminal, question(pick));
    for wrong in ["0\n", "4\n", "xl\n"] {
        person.sees("Number or text: ").await;
        person.types(wrong).await;
        person.sees("no such option").await;
    }
    person.sees("Number or text: ").await;
    person.types("s\n").await;
    assert_eq!(answer.await.unwrap().unwrap().as_deref(), Some("s"));
}

#[tokio::test]
async fn no_answer_is_none() {
    let (terminal, mut person, tty) = terminal();
    let before = modes(&tty);
    // Ctrl-C on an empty line and in the middle of one, Ctrl-D.
    for keys in ["\u{3}", "half\u{3}", "\u{4}"] {
        for password in [false, true] {
            let answer = ask(&terminal, question(|q| q.password = password));
            person.sees(": ").await;
            person.sees(": ").await;
            person.types(keys).await;
            assert_eq!(answer.await.unwrap().unwrap(), None, "{keys:?}");
            assert_eq!(modes(&tty), before);
        }
    }
}

#[tokio::test]
async fn an_empty_line_takes_the_default_or_is_asked_again() {
    let (terminal, mut person, _tty) = terminal();
    let answer = ask(&terminal, question(|q| q.default = Some("eu".into())));
    person.sees("Value [eu]: ").await;
    person.types("\n").await;
    assert_eq!(answer.await.unwrap().unwrap(), None);
    let hidden = ask(&terminal, question(|q| (q.default, q.password) = (Some("s3cret".into()), true)));
    let screen = person.sees("Enter for the default): ").await;
    assert!(!screen.contains("s3cret"), "{screen:?}");
    person.types("\n").await;
    assert_eq!(hidden.await.unwrap().unwrap(), None);
    let needed = ask(&terminal, question(|_| {}));
    person.sees("Value: ").await;
    person.types("\n").await;
    person.sees("Ctrl-C").await;
    person.sees("Value: ").await;
    person.types("v\n").await;
    assert_eq!(needed.await.unwrap().unwrap().as_deref(), Some("v"));
}

#[tokio::test]
async fn yes_and_no() {
    let (terminal, mut person, _tty) = terminal();
    for (keys, answer) in
        [("y\n", Some(true)), ("YES\n", Some(true)), ("n\n", Some(false)), ("\n", Some(false)), ("\u{3}", None)]
    {
        let asked = tokio::spawn({
            let terminal = Arc::clone(&terminal);
            async move { terminal.yes_no("run it\u{1b}[2J?").await }
        });
        let screen = person.sees("[y/N] ").await;
        assert!(screen.contains("run it\\u001b[2J?"), "{screen:?}");
        person.types(keys).await;
        assert_eq!(asked.await.unwrap(), answer, "{keys:?}");
    }
}

#[tokio::test]
async fn what_was_typed_before_the_question_is_no_answer() {
    let (terminal, mut person, tty) = terminal();
    person.types("y\n").await;
    person.sees("y\r\n").await;
    let asked = tokio::spawn(async move { terminal.yes_no("run it?").await });
    person.sees("[y/N] ").await;
    person.types("n\n").await;
    assert_eq!(asked.await.unwrap(), Some(false));
    drop(tty);
}

#[tokio::test]
async fn a_question_that_is_dropped_makes_room_for_the_next() {
    let (terminal, mut person, tty) = terminal();
    let before = modes(&tty);
    let dropped = ask(&terminal, question(|q| q.password = true));
    person.sees("(not shown): ").await;
    let waiting = ask(&terminal, question(|q| q.id = "other".into()));
    person.types("half of a pass").await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    person.sees("(no longer needed)").await;
    let screen = person.sees("Value: ").await;
    assert!(screen.contains("'other'") && !screen.contains("half"), "{screen:?}");
    person.types("answer\n").await;
    assert_eq!(waiting.await.unwrap().unwrap().as_deref(), Some("answer"));
    assert_eq!(modes(&tty), before);
}

#[tokio::test]
async fn questions_take_turns() {
    let (terminal, mut person, _tty) = terminal();
    let both = [ask(&terminal, question(|_| {})), ask(&terminal, question(|_| {}))];
    for _ in 0..2 {
        let screen = person.sees("Value: ").await;
        assert_eq!(screen.matches("Input").count(), 1, "{screen:?}");
        assert!(!person.seen.contains("Input"), "{:?}", person.seen);
        person.types("v\n").await;
    }
    for answer in both {
        assert_eq!(answer.await.unwrap().unwrap().as_deref(), Some("v"));
    }
}

#[tokio::test]
async fn a_terminal_that_goes_away_is_an_error() {
    let (terminal, mut person, tty) = terminal();
    let answer = ask(&terminal, question(|_| {}));
    person.sees("Value: ").await;
    drop(person);
    assert!(!matches!(answer.await.unwrap(), Ok(Some(_))));
    drop(tty);
}

/// Runs a test of this binary in a session of its own whose terminal is the other end, with pipes as standard streams
/// except for standard error.
fn in_a_session(tty: &OwnedFd, script: &str, test: &str) -> tokio::task::JoinHandle<std::process::Output> {
    let this = std::env::current_exe().unwrap();
    let test = format!("terminal::tests::{test}");
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait", "sh", "-c", script, "sh"]).arg(this);
    command.args(["--exact", &test, "--ignored", "--nocapture"]);
    let blocking = |tty: &OwnedFd| {
        let tty = tty.as_fd().try_clone_to_owned().unwrap();
        Stdio::from(tty)
    };
    command.stdin(blocking(tty)).stderr(blocking(tty)).stdout(Stdio::piped());
    tokio::task::spawn_blocking(move || command.output().unwrap())
}

#[tokio::test]
async fn the_terminal_is_asked_when_the_standard_streams_are_pipes() {
    let (mut person, tty) = pair();
    let ended = in_a_session(&tty, r#"exec "$@" </dev/null"#, "asks");
    person.sees("[y/N] ").await;
    person.types("y\n").await;
    let stdout = String::from_utf8(ended.await.unwrap().stdout).unwrap();
    assert!(stdout.contains("answer: Some(true)"), "{stdout}");
}

#[tokio::test]
async fn no_question_is_asked_from_the_background() {
    let (_person, tty) = pair();
    let ended = in_a_session(&tty, r#"set -m; "$@" </dev/null & wait $!"#, "asks");
    let stdout = String::from_utf8(ended.await.unwrap().stdout).unwrap();
    assert!(stdout.contains("answer: None"), "{stdout}");
}

#[tokio::test]
async fn without_a_terminal_no_question_is_asked() {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "terminal::tests::asks", "--ignored", "--nocapture"]).stdin(Stdio::null());
    let stdout = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(stdout.contains("no terminal"), "{stdout}");
}

#[tokio::test]
#[ignore = "runs in the sessions that other tests make"]
async fn asks() {
    match Terminal::open() {
        Some(terminal) => println!("answer: {:?}", terminal.yes_no("run it?").await),
        None => println!("no terminal"),
    }
}
