//! Desktop, Finder, resources and documents from the command line, at a real hub and a scripted Computer.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use a2c_testbed::{PATIENCE, Peer};
use serde_json::{Value, json};

use crate::program::owner;
use crate::program::scripted::{Scripted, library};
use crate::program::{self, Ran, a2c, agent, hub, ran};

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
}

/// An Agent's command, on a clock that is the same everywhere.
fn command(hub: &Peer, rest: &[&str]) -> Command {
    let mut command = a2c(&[&["agent", "--url", hub.address(), "--office", "o"], rest].concat());
    command.env("TZ", "UTC");
    command
}

#[test]
fn a_desktop_is_shown() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    // There is no terminal behind a pipe: the text comes as it is.
    assert_eq!(agent(&hub, "o", &["desktop", "desk"]).ok(), "window://a\n\none\u{7}\n\nwindow://b\n\n二\n");
    let asked = desk.heard(|event, _| event == "client:get_desktop");
    assert!(asked.get("desktop_size").is_none() && asked.get("window").is_none(), "{asked}");
    agent(&hub, "o", &["desktop", "desk", "--size", "-3", "--window", "window://a"]).ok();
    let asked = desk.heard(|event, _| event == "client:get_desktop");
    assert_eq!((&asked["desktop_size"], &asked["window"]), (&json!(-3), &json!("window://a")));
    let answer = json_of(&agent(&hub, "o", &["desktop", "desk", "--json"]));
    assert_eq!(answer["desktops"][1], "window://b\n\n二");

    for (args, said) in [
        (&["--size", "0"], "--size 0 asks for none"),
        (&["--window", "window://none"], "no window window://none: `a2c agent desktop desk`"),
    ] {
        let empty = agent(&hub, "o", &[&["desktop", "desk"], &args[..]].concat());
        assert!(empty.code == Some(0) && empty.stdout.is_empty() && empty.stderr.contains(said), "{}", empty.stderr);
    }
    agent(&hub, "o", &["desktop", "missing"]).fails_saying(&["missing", "404", "`a2c agent members`"]);
}

#[test]
fn documents_are_found() {
    let hub = hub();
    let _desk = Scripted::join(&hub, "desk", library);
    let find = |rest: &[&str]| ran(command(&hub, &[&["finder", "desk"], rest].concat()).output().unwrap());
    let first = find(&[]);
    let lines: Vec<&str> = first.stdout.lines().collect();
    assert_eq!(lines.len(), 20);
    assert_eq!(lines[0], "年度报告\\u001b[2J  pdf   2 pages  2026-01-15 08:30  files  dpe://h/doc-0");
    assert_eq!(lines[1], "Report 1           xlsx  2 pages  2026-01-15 08:30  files  dpe://h/doc-1");
    assert_eq!(first.stderr, "20 of 1,234; next: --offset 20, or --all\n");
    assert_eq!(find(&["--offset", "1220"]).stderr, "14 of 1,234; these are the last\n");
    let narrowed = find(&["--keyword", "Report 1000", "--keyword", "Report 1001", "--file-type", "pdf"]);
    assert!(narrowed.stdout.contains("dpe://h/doc-1000\n") && narrowed.stderr == "1 document\n", "{}", narrowed.stderr);
    let answer = json_of(&find(&["--limit", "1", "--json"]));
    assert_eq!((&answer["total_count"], &answer["documents"][0]["uri"]), (&json!(1234), &json!("dpe://h/doc-0")));
    for (rest, said) in [
        (&["--keyword", "nothing"][..], "no documents match"),
        (&["--offset", "5000"], "no documents from --offset 5000 on: there are 1,234"),
        (&["--limit", "0"], "--limit 0 asks for none of 1,234"),
    ] {
        let empty = find(rest);
        assert!(empty.stdout.is_empty() && empty.stderr.contains(said), "{}", empty.stderr);
    }
    let all = find(&["--all", "--offset", "1000"]);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (234, "234 of 1,234; these are the last\n"));
    assert_eq!(find(&["--all", "--file-type", "pdf"]).stderr, "617 documents\n");
    let lines = find(&["--all", "--json"]).ok();
    let answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((answers.len(), &answers[12]["documents"][33]["uri"]), (13, &json!("dpe://h/doc-1233")));
    find(&["--offset", "-1"]).fails_saying(&["'-1'"]);
    find(&["--limit", "101"]).fails_saying(&["101", "0..=100"]);
    find(&["--all", "--limit", "5"]).fails_saying(&["--limit"]);
}

#[test]
fn any_resource_is_read() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let read = |rest: &[&str]| agent(&hub, "o", &[&["read", "desk"], rest].concat());
    assert_eq!(read(&["window://a"]).ok(), "one");
    let page = "dpe://h/doc-1/pages/1?format=markdown";
    assert_eq!(read(&["dpe://h/doc-1?format=markdown", "--page", "1"]).ok(), format!("# Markdown of {page}"));
    assert_eq!(read(&[page]).ok(), format!("# Markdown of {page}"));
    assert_eq!(read(&["file:///blob"]).ok(), "abc", "bytes, where they are all there is");
    let both = read(&["file:///both"]).ok();
    let rest = both.strip_prefix("one\n").unwrap_or_else(|| panic!("{both}"));
    assert_eq!(serde_json::from_str::<Value>(rest).unwrap()["blob"], "YWJj");
    let empty = read(&["file:///empty"]);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("nothing in it"), "{}", empty.stderr);
    let answer = json_of(&read(&["window://a", "--server", "files", "--json"]));
    assert_eq!(answer["contents"][0]["text"], "one");
    desk.heard(|event, payload| event == "client:read_resource" && payload["mcp_server"] == "files");
    read(&["dpe://h/absent"]).fails_saying(&["there is no document dpe://h/absent", "4201"]);
    read(&["window://a", "--page", "1"]).fails_saying(&["has no pages"]);
    read(&["dpe://h/doc-1/pages/1", "--page", "0"]).fails_saying(&["is one page: leave --page out"]);
    read(&["dpe://h/doc-1", "--page", "-1"]).fails_saying(&["'-1'", "counted from 0"]);
    read(&["dpe://h/doc-1/pages/1", "--pages"]).fails_saying(&["a page of a document: give dpe://h/doc-1\n"]);
    read(&["window://a", "--pages"]).fails_saying(&["--pages is for documents"]);
    let refused = read(&["dpe://h/absent", "--json"]);
    assert_eq!((refused.code, &json_of(&refused)["code"]), (Some(1), &json!(4201)));
}

#[test]
fn resources_are_listed_to_their_end() {
    let hub = hub();
    let _desk = Scripted::join(&hub, "desk", library);
    let list = |rest: &[&str]| agent(&hub, "o", &[&["resources", "desk"], rest].concat());
    let first = list(&["files"]);
    assert_eq!(first.stdout, "file:///a  a  text/plain  3 B\nfile:///b  b  text/plain  3 B\n");
    assert!(first.stderr.contains("--cursor=c1, or --all"), "{}", first.stderr);
    assert_eq!(list(&["files", "--cursor", "c1"]).ok(), "file:///c  c  text/plain  3 B\n");
    let all = list(&["files", "--all"]);
    assert!(all.stdout.lines().count() == 3 && all.stderr.is_empty(), "{}{}", all.stdout, all.stderr);
    let lines = list(&["files", "--all", "--json"]).ok();
    let answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((answers.len(), &answers[0]["next_cursor"]), (2, &json!("c1")));
    list(&["files", "--all", "--cursor", "round"]).fails_saying(&["round in circles"]);
    list(&["x"]).fails_saying(&["no MCP server named 'x'", "404"]);
    let refused = list(&["x", "--all", "--json"]);
    assert_eq!((refused.code, &json_of(&refused)["mcp_server_name"]), (Some(1), &json!("x")));
}

#[test]
fn where_a_document_can_be_had_is_told() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let dpe = |rest: &[&str]| ran(command(&hub, &[&["dpe", "desk"], rest].concat()).output().unwrap());
    let told = dpe(&["dpe://h/doc-1", "--timeout", "7"]);
    assert_eq!(told.stdout, "http://127.0.0.1:1/x\n", "the URL alone, for other programs");
    for part in ["application/json", "2.0 KiB", "2026-11-16 12:00", "e1"] {
        assert!(told.stderr.contains(part), "{part} is not in {}", told.stderr);
    }
    assert_eq!(desk.heard(|event, _| event == "client:get_dpe")["timeout"], 7);
    assert_eq!(json_of(&dpe(&["dpe://h/doc-1", "--json"]))["_meta"]["etag"], "e1");
    dpe(&["dpe://h/none"]).fails_saying(&["no DPE resolver", "4011", "--dpe-resolver"]);
    for wrong in ["dpe://h/doc-1?format=json", "http://h/doc-1", "dpe://h"] {
        dpe(&[wrong]).fails_saying(&["which document?"]);
    }
}

#[test]
fn what_cannot_be_meant_is_told_before_anything_is_connected() {
    let nowhere = ["agent", "--url", "http://127.0.0.1:1", "--office", "o"];
    for (ask, said) in [
        (&["dpe", "desk", "dpe://h/d/pages/0"][..], "this is a page of a document: give dpe://h/d\n"),
        (&["dpe", "desk", "dpe://h/d/elements/e", "-o", "-"], "this is an element of a document: give dpe://h/d\n"),
        (&["read", "desk", "nonsense"], "'nonsense' is no URI: one looks like dpe://"),
        (&["read", "desk", "nonsense", "--json"], "'nonsense' is no URI"),
        (&["desktop", "desk", "--window", "foo"], "which window?"),
    ] {
        let refused = program::run(&[&nowhere[..], ask].concat());
        assert_eq!(refused.code, Some(1), "{ask:?}");
        refused.fails_saying(&[said]);
    }
}

#[test]
fn the_owner_of_what_is_up_works_beside_a_watching_agent() {
    let home = owner::Home::new();
    let office = up(&home, "ready http");
    office.line_where(PATIENCE, |line| line.ends_with(" --office o watch"));
    office
        .line_where(PATIENCE, |line| line.ends_with(r#" computer call note '{"text": "hi"}' --name desk --office o"#));
    let mut watching = Watching::begin(&office, &["--count", "1"]);
    assert!(watching.told().contains("watching office 'o'"));
    agent(&office, "o", &["members"]).fails_saying(&["`a2c agent watch`", "`a2c computer call` works beside it"]);
    assert!(home.run(&["status"]).ok().starts_with("desk@o"));
    assert_eq!(home.run(&["call", "note", r#"{"text": "hi"}"#]).ok(), "written\n");
    assert!(watching.line().ends_with("  desk: Desktop changed"));
    assert_eq!(watching.ended().0, Some(0));
    // A second one is not operated, but runs.
    let second = up(&home, "another Computer answers at");
    second.line_where(PATIENCE, |line| line.starts_with("ready http"));
    second.line_where(PATIENCE, |line| {
        assert!(!line.contains("computer call"), "{line}");
        line == "Stop with Ctrl-C."
    });
}

#[test]
fn options_of_the_hub_stand_before_and_after_the_command() {
    let hub = hub();
    let _desk = Scripted::join(&hub, "desk", library);
    let place = ["--url", hub.address(), "--office", "o"];
    let before = program::run(&[&["agent"][..], &place, &["--json", "desktop", "desk"]].concat()).ok();
    let after = program::run(&[&["agent", "desktop", "desk"][..], &place, &["--json"]].concat()).ok();
    let without_key = |text: &str| serde_json::from_str::<Value>(text).unwrap()["desktops"].clone();
    assert_eq!(without_key(&before), without_key(&after));
    program::run(&["agent", "desktop", "desk", "--office", "o"]).fails_saying(&["--url"]);
}

/// A watching program, and what it prints.
struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Watching {
    fn begin(hub: &Peer, rest: &[&str]) -> Self {
        let mut command = command(hub, &[&["watch"], rest].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// The next line on standard error.
    fn told(&mut self) -> String {
        let mut line = String::new();
        BufReader::with_capacity(1, self.child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    fn ended(self) -> (Option<i32>, String) {
        drop(self.lines);
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
fn an_office_is_watched() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let mut watching = Watching::begin(&hub, &["--json"]);
    desk.agent_came();
    desk.emit("server:update_desktop", "desk");
    assert_eq!(watching.line(), r#"{"event":"notify:update_desktop","data":{"computer":"desk"}}"#);
    desk.emit("server:update_later", "desk");
    assert_eq!(watching.line(), r#"{"event":"notify:update_later","data":{"computer":"desk"}}"#);
    for signal in ["-TERM", "-INT"] {
        // From here on it watches; the hub knows of it a little earlier.
        let told = watching.told();
        assert!(told.contains("watching office 'o'"), "{told}");
        watching.signal(signal);
        assert_eq!(watching.ended().0, Some(0), "{signal}");
        desk.agent_went();
        watching = Watching::begin(&hub, &["--count", "2"]);
        desk.agent_came();
    }
    desk.emit("server:update_finder", "desk");
    let line = watching.line();
    assert!(line.ends_with("  desk: Finder changed"), "{line}");
    let other = Scripted::join(&hub, "other", library);
    assert!(watching.line().ends_with("  other came"));
    assert_eq!(watching.ended().0, Some(0), "--count is reached");
    drop(other);
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_leaves_ends_the_watching() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let watching = Watching::begin(&hub, &[]);
    desk.agent_came();
    // Nothing happens in the office: it is the reader alone who ends it.
    let (code, told) = watching.ended();
    assert_eq!(code, Some(0), "{told}");
    desk.agent_went();
}

#[test]
fn a_watcher_tells_when_the_hub_goes_and_comes_back() {
    let mut first = hub();
    let address = first.address().trim_start_matches("http://").to_owned();
    let mut watching = command(&first, &["watch"]);
    // What is told of the connection stands on standard error: here it is what the test waits for.
    let script = format!("exec {:?} \"$@\" 2>&1 >/dev/null", watching.get_program());
    let mut piped = Command::new("sh");
    piped.args(["-c", &script, "sh"]).args(watching.get_args());
    piped.envs(watching.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let mut watching = Peer::spawn(
        {
            watching = piped;
            watching
        },
        PATIENCE,
        |line| line.contains("watching office"),
    );
    first.kill();
    watching.line_where(PATIENCE, |line| line.contains("is lost"));
    let _second = Peer::ready(a2c(&["server", "--listen", &address, "--auth", "none"]));
    watching.line_where(PATIENCE, |line| line.contains("is back"));
    assert!(watching.terminate().success());
}

/// A terminal for a program, with a screen that can be read. Its steps are `wait` (until a text is seen, or `gone`),
/// `keys`, `resize` and `signal`; what is left of the terminal in the end is printed.
const AT_A_TERMINAL: &str = r#"
import fcntl, json, os, pty, re, select, signal, struct, sys, termios, time, unicodedata
steps, argv = json.loads(sys.argv[1]), sys.argv[2:]
gate, go = os.pipe()
child, terminal = pty.fork()
if child == 0:
    os.read(gate, 1)
    os.execv(argv[0], argv)
def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
resize(20, 100)
before = termios.tcgetattr(terminal)
os.write(go, b".")
cells, at, raw, rest = {}, [0, 0], b"", b""
TOKEN = re.compile(rb"\x1b\[([?0-9;]*)([a-zA-Z])|\x1b[()=>78].?|[\x00-\x1f]|[^\x00-\x1f]+")
def feed(piece):
    global rest
    data = rest + piece
    rest = b""
    cut = data.rfind(b"\x1b")
    if cut >= 0 and not re.match(rb"\x1b(\[[?0-9;]*[a-zA-Z]|[()=>78])", data[cut:]):
        data, rest = data[:cut], data[cut:]
    try: data.decode()
    except UnicodeDecodeError as error:
        if error.start > len(data) - 4: data, rest = data[:error.start], data[error.start:] + rest
    for token in TOKEN.finditer(data):
        whole = token.group(0)
        if token.group(2) == b"H":
            row, _, column = token.group(1).partition(b";")
            at[:] = [int(row or 1) - 1, int(column or 1) - 1]
        elif token.group(2) == b"J": cells.clear()
        elif whole == b"\r": at[1] = 0
        elif whole == b"\n": at[0] += 1
        elif whole[0] >= 32:
            for c in whole.decode(errors="replace"):
                cells[at[0], at[1]] = c
                at[1] += 1
                if unicodedata.east_asian_width(c) in "WF":
                    cells[at[0], at[1]] = ""
                    at[1] += 1
def screen():
    rows = 1 + max((row for row, _ in cells), default=-1)
    line = lambda row: "".join(cells.get((row, column), " ") for column in range(200)).rstrip()
    return "\n".join(line(row) for row in range(rows))
def fail(why):
    print(why + ", but this is seen:\n" + screen() + "\n" + repr(raw[-400:]))
    os.kill(child, signal.SIGKILL)
    sys.exit(3)
def read(deadline):
    global raw
    if not select.select([terminal], [], [], max(0, deadline - time.time()))[0]: return None
    try: piece = os.read(terminal, 65536)
    except OSError: piece = b""
    raw += piece
    feed(piece)
    return piece
for step in steps:
    deadline = time.time() + 60
    def holds():
        if "gone" in step: return step["gone"] not in screen()
        return step.get("wait", "") in screen()
    while not holds():
        if not read(deadline): fail("waited for %r" % step)
    if "resize" in step:
        cells.clear()
        resize(*step["resize"])
    if "keys" in step: os.write(terminal, step["keys"].encode())
    if "signal" in step: os.kill(child, step["signal"])
deadline = time.time() + 60
while True:
    piece = read(deadline)
    if piece is None: fail("waited for the end")
    if piece == b"": break
restored = termios.tcgetattr(terminal) == before
_, status = os.waitpid(child, 0)
left = raw.rfind(b"\x1b[?1049l") > raw.rfind(b"\x1b[?1049h") >= 0
shown = raw.rfind(b"\x1b[?25h") >= raw.rfind(b"\x1b[?25l")
text = raw[max(0, raw.rfind(b"\x1b[?1049l")):].decode(errors="replace")
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "restored": restored, "left": left, "cursor": shown, "after": text}))
"#;

/// A program on a terminal, used by these steps.
fn at_a_terminal(program: &Command, steps: &Value) -> Child {
    let mut command = Command::new(a2c_testbed::python());
    command.args(["-c", AT_A_TERMINAL, &steps.to_string()]).arg(program.get_program()).args(program.get_args());
    command.env("TZ", "UTC").env("TERM", "xterm-256color");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the terminal is like afterwards.
fn left(at_terminal: Child) -> Value {
    let ran = ran(at_terminal.wait_with_output().unwrap());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

fn browse(hub: &Peer, rest: &[&str], steps: &Value) -> Value {
    left(at_a_terminal(&command(hub, &[&["browse"], rest].concat()), steps))
}

#[track_caller]
fn assert_restored(ended: &Value, code: i64) {
    assert_eq!(
        (&ended["code"], &ended["restored"], &ended["left"], &ended["cursor"]),
        (&json!(code), &json!(true), &json!(true), &json!(true)),
        "{ended}"
    );
}

#[test]
fn documents_are_browsed_on_a_terminal() {
    let hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let steps = json!([
        // The only Computer is opened by itself; what documents say does not steer the terminal.
        {"wait": "> 年度报告\\u001b[2J"},
        {"wait": "1 of 1,234", "keys": "j"},
        {"wait": "Quarterly.", "keys": "\r"},
        {"wait": "desk › Report 1"},
        // Here no type is chosen, and the browser stays on the page.
        {"wait": "# Markdown of", "keys": "tj"},
        {"wait": "pages/1?format=markdown", "keys": "k\r"},
        {"wait": "desk › Report 1 › page 0: Cover"},
        {"wait": "> [heading] Hello"},
        {"wait": "Salutations", "keys": "\r"},
        {"wait": "The-whole-element", "resize": [5, 20]},
        {"wait": "> [heading] Hel…", "resize": [20, 100]},
        {"wait": "The-whole-element", "keys": "hh"},
        {"wait": "2 of 1,234", "keys": "/1200 1100\r"},
        {"wait": "> Report 1100"},
        {"wait": "desk  /1200 1100", "keys": "?"},
        {"wait": "this help; Esc closes it", "keys": "\u{1b}"},
        {"gone": "this help", "keys": "q"},
    ]);
    assert_restored(&browse(&hub, &[], &steps), 0);
    desk.heard(|event, payload| event == "client:get_finder" && payload["keywords"] == json!(["1200", "1100"]));
    desk.agent_went();
}

#[test]
fn a_browser_gives_the_terminal_back_whatever_ends_it() {
    let mut hub = hub();
    let desk = Scripted::join(&hub, "desk", library);
    let ready = "> 年度报告";
    for end in [json!({"keys": "\u{3}"}), json!({"signal": 15}), json!({"signal": 1}), json!({"keys": "/x\u{3}"})] {
        assert_restored(&browse(&hub, &["desk"], &json!([{"wait": ready}, end])), 0);
        desk.agent_went();
    }
    // A mistyped name is told without taking the screen.
    let ended = browse(&hub, &["missing"], &json!([]));
    let said = ended["after"].as_str().unwrap();
    assert!(
        ended["code"] == 1 && ended["left"] == false && said.contains("'missing' in the office; there are: desk"),
        "{ended}"
    );
    // The loss of the hub is told in the status line.
    let steps = json!([{"wait": "the hub is not connected", "keys": "q"}]);
    let browsing = at_a_terminal(&command(&hub, &["browse", "desk"]), &steps);
    desk.heard(|event, _| event == "client:get_finder");
    hub.kill();
    assert_restored(&left(browsing), 0);
}

#[test]
fn a_browser_follows_what_changes() {
    let hub = hub();
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(1));
    let seen = count.clone();
    let desk = Scripted::join(&hub, "desk", move |event, request| {
        let mut answer = library(event, request);
        if event == "client:get_finder" {
            answer["documents"][0]["title"] =
                format!("Version-{}", seen.load(std::sync::atomic::Ordering::SeqCst)).into();
        }
        answer
    });
    let other = Scripted::join(&hub, "other", library);
    let steps = json!([
        {"wait": "> desk"},
        {"wait": "other", "keys": "\r"},
        {"wait": "Version-2", "keys": "q"},
    ]);
    let browsing = at_a_terminal(&command(&hub, &["browse"]), &steps);
    desk.heard(|event, _| event == "client:get_finder");
    // The first answer is on its way, and says 1.
    count.store(2, std::sync::atomic::Ordering::SeqCst);
    desk.emit("server:update_finder", "desk");
    assert_restored(&left(browsing), 0);
    drop(other);
}

#[test]
fn a_browser_needs_a_terminal() {
    let hub = hub();
    agent(&hub, "o", &["browse", "desk"]).fails_saying(&["needs a terminal", "a2c agent finder"]);
    agent(&hub, "o", &["browse", "--json"]).fails_saying(&["finder COMPUTER --json"]);
}

#[test]
fn rows_fit_the_terminal() {
    let hub = hub();
    let _desk = Scripted::join(&hub, "desk", |event, request| {
        let mut answer = library(event, request);
        answer["documents"][0]["title"] = "很长的标题".repeat(20).into();
        answer
    });
    let program = command(&hub, &["finder", "desk", "--limit", "2"]);
    let ended = left(at_a_terminal(&program, &json!([])));
    let shown = ended["after"].as_str().unwrap();
    let first = shown.lines().find(|line| line.contains("dpe://h/doc-0")).unwrap_or_else(|| panic!("{shown}"));
    assert!(first.contains("…  pdf") && first.trim_end().ends_with("dpe://h/doc-0"), "{first}");
    assert!(first.chars().count() < 100, "{first}");
}

#[test]
fn the_help_of_a_command_begins_with_its_own_options() {
    for (command, first, later) in [
        (&["agent", "finder"][..], "--keyword", "exactly as it is listed"),
        (&["agent", "dpe"], "--timeout", "[default: 30]"),
        (&["agent", "watch"], "--count", "only Agent seat"),
        (&["agent", "browse"], "--log", "next, previous screen"),
        (&["computer"], "--log", "--dpe-resolver"),
    ] {
        let help = program::run(&[command, &["--help"]].concat()).ok();
        let (_, options) = help.split_once("\nOptions:\n").unwrap_or_else(|| panic!("{help}"));
        assert!(options.trim_start().trim_start_matches("-o, ").starts_with(first), "{help}");
        let (own, connection) = options.split_once("\nConnection:\n").unwrap_or_else(|| panic!("{help}"));
        assert!(!own.contains("--url") && connection.contains("--url") && help.contains(later), "{help}");
    }
    assert!(program::run(&["agent", "browse", "--help"]).ok().contains("only Agent seat"));
    assert!(program::run(&["up", "--help"]).ok().contains("served on a loopback address"));
}

/// What `a2c up` says on both of its outputs, from the first line that is wanted on.
fn up(home: &owner::Home, wanted: &'static str) -> Peer {
    let up = a2c(&["up", "--office", "o"]);
    let mut both = Command::new("sh");
    both.args(["-c", "exec \"$0\" \"$@\" 2>&1"]).arg(up.get_program()).args(up.get_args());
    both.env_clear().envs(std::env::vars().filter(|(variable, _)| !variable.starts_with("A2C_")));
    both.env("XDG_RUNTIME_DIR", home.path(""));
    Peer::spawn(both, PATIENCE, move |line| line.contains(wanted))
}

#[test]
fn what_a_computer_sends_does_not_steer_a_terminal_as_json() {
    const STEERING: &str = "a\u{9b}2J\u{7f}\u{202e}b";
    let hub = hub();
    let _desk = Scripted::join(&hub, "desk", |event, _| match event {
        "client:get_config" => json!({"servers": {"s": {"name": STEERING}}}),
        "client:read_resource" => json!({"contents": [{"uri": STEERING}, {"uri": STEERING}]}),
        "client:tool_call" => json!({"content": [{"type": "image", "data": STEERING}]}),
        _ => json!({"code": 400, "message": STEERING}),
    });
    for command in [
        &["config", "desk"][..],
        &["config", "desk", "--json"],
        &["read", "desk", "x:y"],
        &["read", "desk", "x:y", "--json"],
        &["call", "desk", "draw"],
        &["call", "desk", "draw", "--json"],
        &["tools", "desk", "--json"],
    ] {
        let printed = agent(&hub, "o", command).stdout;
        assert!(printed.contains(r"a\u009b2J\u007f\u202eb"), "{command:?}: {printed}");
        assert!(!printed.contains(['\u{9b}', '\u{7f}', '\u{202e}']), "{command:?}: {printed}");
        let values = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        assert!(values.map(|value| value.expect("it is JSON").to_string()).any(|value| value.contains(STEERING)));
    }
}

#[test]
fn a_list_is_printed_page_by_page() {
    use std::io::{BufRead as _, BufReader};
    let hub = hub();
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    // The second page comes only after the first was printed.
    let _desk = Scripted::join(&hub, "desk", move |event, request| {
        let is_first = request["cursor"].is_null() && request["offset"] != 1;
        if !is_first {
            wait.lock().unwrap().recv().unwrap();
        }
        match (event, is_first) {
            ("client:get_resources", true) => json!({"resources": [{"uri": "a:1", "name": "n"}], "next_cursor": "2"}),
            ("client:get_resources", false) => json!({"resources": [{"uri": "a:2", "name": "n"}]}),
            _ => {
                let title = if is_first { "first" } else { "second" };
                let document = json!({
                    "doc_ref": title, "uri": format!("dpe://h/{title}"), "file_uri": "file:///x", "file_type": "pdf",
                    "title": title, "page_count": 2, "server": "s"
                });
                json!({"documents": [document], "total_count": 2})
            }
        }
    });
    for (args, first, second) in [
        (&["resources", "desk", "s", "--all"][..], "a:1", "a:2"),
        (&["finder", "desk", "--all"], "dpe://h/first", "dpe://h/second"),
    ] {
        let mut command = command(&hub, args);
        let mut listing = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(listing.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.next().unwrap().contains(first));
        release.send(()).unwrap();
        assert!(lines.next().unwrap().contains(second) && lines.next().is_none());
        assert!(listing.wait().unwrap().success());
    }
}
