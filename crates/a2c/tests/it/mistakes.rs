//! What the program says about typical mistakes, as snapshots: exit code, standard output and standard error.
#![cfg(unix)]

use a2c_testbed::Peer;

use crate::program::owner::{Home, sample, servers};
use crate::program::{Ran, a2c, hub, ran};

/// A configuration with a mistake in every line that can have one.
const WRONG_COMPUTER: &str = r#"{
  "servers": {
    "weather": {"comand": "npx"},
    "files": {"command": "npx", "args": "all", "disabled": "yes"},
    "web": {"type": "streamable"}
  },
  "imputs": []
}"#;

const WRONG_HUB: &str = "listen = \"nowhere\"\nmax_paylod = 1\n[auth]\nkind = \"magic\"\n";

/// Files and a hub for the mistakes.
struct Mistakes {
    home: Home,
    hub: Peer,
}

impl Mistakes {
    fn new() -> Self {
        let home = Home::new();
        home.write("wrong.json", WRONG_COMPUTER);
        home.write("broken.json", "{\"servers\": {");
        home.write("hub.toml", WRONG_HUB);
        home.write("right.json", &servers(&serde_json::json!({"sample": sample()})));
        home.write("log.jsonl", "{\"not\": \"a record\"}\n");
        Self { home, hub: hub() }
    }

    /// Runs the words of a line; `HUB` stands for the address of the hub, `TLS-HUB` for the same with `https`.
    fn run(&self, line: &str) -> Ran {
        let with_tls = self.hub.address().replace("http://", "https://");
        let words = line.split(' ').map(|word| word.replace("TLS-HUB", &with_tls).replace("HUB", self.hub.address()));
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = a2c(&words);
        command.env("XDG_RUNTIME_DIR", self.home.path(".")).env("XDG_STATE_HOME", self.home.path("state"));
        command.env_remove("A2C_CONTROL").env_remove("A2C_STATE").current_dir(self.home.path("."));
        ran(command.stdin(std::process::Stdio::null()).output().unwrap())
    }

    /// Compares what a line leads to with what was agreed.
    fn check(&self, name: &str, line: &str) {
        let Ran { code, stdout, stderr } = self.run(line);
        let shown = format!(
            "$ a2c {line}\nexit code: {}\n----- stdout -----\n{stdout}----- stderr -----\n{stderr}",
            code.map_or_else(|| "none".to_owned(), |code| code.to_string()),
        );
        let authority = self.hub.address().trim_start_matches("http://");
        let shown = shown.replace(&self.home.arg("."), "[DIR]").replace(authority, "HUB");
        let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots/mistakes");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name.to_owned(), shown.join("\n")));
    }
}

#[test]
fn what_is_said_about_mistakes_is_as_it_was_agreed() {
    let mistakes = Mistakes::new();
    for (name, line) in [
        ("command_misspelt", "sever"),
        ("option_misspelt", "agent --ofice o members"),
        ("agent_without_address", "agent --office o members"),
        ("agent_without_office", "agent --url HUB members"),
        ("agent_with_odd_address", "agent --url ftp://hub.example --office o members"),
        ("agent_without_hub", "agent --url http://127.0.0.1:1 --office o members"),
        ("agent_with_tls_at_a_hub_without", "agent --url TLS-HUB --office o members"),
        ("agent_names_no_computer", "agent --url HUB --office o tools missing"),
        ("agent_with_broken_arguments", "agent --url HUB --office o call desk echo {"),
        ("computer_without_anything", "computer"),
        ("computer_without_file", "computer --log off --url HUB --office o --name desk --config none.json"),
        ("computer_with_broken_file", "computer --log off --url HUB --office o --name desk --config broken.json"),
        ("computer_with_wrong_file", "computer --log off --url HUB --office o --name desk --config wrong.json"),
        (
            "computer_with_tls_at_a_hub_without",
            "computer --log off --url TLS-HUB --office o --name desk --config right.json",
        ),
        ("status_without_computer", "computer status"),
        ("call_without_computer", "computer call echo {}"),
        ("import_without_file", "computer import none.json"),
        ("server_with_odd_address", "server --listen nowhere"),
        ("server_without_file", "server --config none.toml"),
        ("server_with_wrong_file", "server --log off --config hub.toml"),
        ("audit_without_file", "audit verify none.jsonl"),
        ("audit_of_another_file", "audit verify log.jsonl"),
    ] {
        mistakes.check(name, line);
    }
}
