//! What the guide quotes is what stands in the example.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Lines without what indents them.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

fn is_in(excerpt: &[&str], source: &[&str]) -> bool {
    source
        .windows(excerpt.len())
        .any(|window| window == excerpt)
}

#[test]
fn every_excerpt_of_the_guide_stands_in_the_example() {
    let guide = read("docs/guide.md");
    let rust = read("examples/tiny_host/main.rs");
    let text = read("examples/tiny_host/intrinsics.lir") + &read("examples/tiny_host/program.tbc");
    let tests = read("jit-tests/embedding.rs");
    let tracing = read("jit-tests/tracing/vm.rs");
    let units = read("hosts/reference/src/runtime/units.rs");
    let mut found = 0;
    let mut rest = guide.as_str();
    while let Some((_, after)) = rest.split_once("```") {
        let (language, after) = after.split_once('\n').expect("a fence ends its line");
        let (excerpt, after) = after.split_once("```").expect("a fence that is closed");
        let source = match language {
            "rust" => &rust,
            "text" => &text,
            "rust,embedding" => &tests,
            "rust,tracing" => &tracing,
            "rust,units" => &units,
            other => panic!("an excerpt of what? `{other}`"),
        };
        assert!(
            is_in(&lines(excerpt), &lines(source)),
            "not in the source any more:\n{excerpt}"
        );
        found += 1;
        rest = after;
    }
    assert!(found > 10, "only {found} excerpts");
}

#[test]
fn the_example_is_as_short_as_the_guide_says() {
    let guide = read("docs/guide.md");
    let parts = ["main.rs", "intrinsics.lir"];
    let parts = parts.map(|part| read(&format!("examples/tiny_host/{part}")).lines().count());
    let lines: usize = parts.iter().sum();
    assert!(lines < 500, "{lines} lines");
    let words: Vec<&str> = guide.split_whitespace().collect();
    let said = format!("{lines} lines of Rust and LIR");
    assert!(words.join(" ").contains(&said), "{lines} lines");
    // In the style of the repository: no file says that lines may be longer, or that none is to be broken.
    assert!(
        !Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/examples/tiny_host/rustfmt.toml"
        ))
        .exists()
    );
}
