//! Source code: one element, with its language.

use std::path::Path;

use a2c_document_model::{DocumentProperties, ElementContent, PageDraft, UnreadableFile};

use crate::encoding::decoded;
use crate::flow::FlowDocument;
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

pub(crate) fn open(source: &Source, path: &Path, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let text = decoded(&bytes).into_owned();
    let content = ElementContent::Code { language: language(path).map(ToOwned::to_owned), text, truncated: false };
    let title = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let page = PageDraft { title, elements: vec![content.into()], ..PageDraft::default() };
    Ok(Box::new(FlowDocument::new(DocumentProperties::default(), vec![page])))
}

/// The language of a file, by its name.
pub(crate) fn language(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    if let Some(known) = [("dockerfile", "dockerfile"), ("makefile", "makefile"), ("cmakelists.txt", "cmake")]
        .iter()
        .find_map(|(file, language)| (name == *file).then_some(*language))
    {
        return Some(known);
    }
    Some(match Path::new(&name).extension()?.to_str()? {
        "rs" => "rust",
        "py" => "python",
        "js" | "mjs" | "cjs" | "jsx" => "javascript",
        "ts" | "tsx" => "typescript",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" => "cpp",
        "cs" => "csharp",
        "go" => "go",
        "rb" => "ruby",
        "php" => "php",
        "swift" => "swift",
        "scala" => "scala",
        "sh" | "bash" | "zsh" => "bash",
        "fish" => "fish",
        "ps1" => "powershell",
        "bat" => "batch",
        "sql" => "sql",
        "r" => "r",
        "jl" => "julia",
        "lua" => "lua",
        "pl" | "pm" => "perl",
        "hs" => "haskell",
        "ml" => "ocaml",
        "ex" | "exs" => "elixir",
        "erl" => "erlang",
        "clj" => "clojure",
        "dart" => "dart",
        "zig" => "zig",
        "nim" => "nim",
        "vue" => "vue",
        "svelte" => "svelte",
        "css" => "css",
        "scss" => "scss",
        "less" => "less",
        "xml" | "xsd" | "xsl" => "xml",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "ini" | "cfg" | "conf" | "properties" => "ini",
        "proto" => "protobuf",
        "graphql" => "graphql",
        "tf" => "hcl",
        "cmake" => "cmake",
        "gradle" | "groovy" => "groovy",
        "make" | "mk" => "makefile",
        "dockerfile" => "dockerfile",
        "diff" | "patch" => "diff",
        "tex" | "bib" => "latex",
        "vim" => "vim",
        "el" | "lisp" | "scm" => "lisp",
        "asm" | "s" => "asm",
        "v" => "verilog",
        "vhd" => "vhdl",
        _ => return None,
    })
}
