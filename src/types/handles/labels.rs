//! The form of a class's or object's name between brackets.

/// The most printed characters of a literal or a name.
const SHOWN: usize = 20;
/// The most printed characters of a name that has to be quoted, or is no literal.
const SHOWN_NAME: usize = 60;

/// The form of a name between brackets: unchanged where the parser can't misread it, otherwise
/// between backticks; cut if it is long.
pub(super) fn label_text(name: &str) -> String {
    if let Some(literal) = cut_literal(name) {
        return literal;
    }
    let is_plain = |c: char| c.is_alphanumeric() || "_.<>+-".contains(c);
    let is_number = name.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let limit = if is_number { SHOWN } else { SHOWN_NAME };
    let cut = cut(name, limit);
    if !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('<') {
        return format!("{cut}{}", dots(cut, name));
    }
    let escaped: String = cut.chars().flat_map(escape).collect();
    format!("`{escaped}`{}", dots(cut, name))
}

fn escape(c: char) -> Box<dyn Iterator<Item = char>> {
    if c == '`' || c.is_control() {
        Box::new(c.escape_unicode())
    } else {
        Box::new(std::iter::once(c))
    }
}

fn dots(cut: &str, whole: &str) -> &'static str {
    if cut.len() < whole.len() { "..." } else { "" }
}

fn cut(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .map_or(text, |(end, _)| &text[..end])
}

/// `name` cut to size, if it is a well-formed string or bytes literal.
fn cut_literal(name: &str) -> Option<String> {
    let quoted = name.strip_prefix('b').unwrap_or(name);
    let prefix = &name[..name.len() - quoted.len()];
    let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut escaped = false;
    for c in inner.chars() {
        if c.is_control() || (c == quote && !escaped) {
            return None;
        }
        escaped = c == '\\' && !escaped;
    }
    if escaped {
        return None;
    }
    let mut shown = cut(inner, SHOWN);
    let slashes = shown.chars().rev().take_while(|c| *c == '\\').count();
    if shown.len() < inner.len() && slashes % 2 == 1 {
        shown = &shown[..shown.len() - 1];
    }
    Some(format!(
        "{prefix}{quote}{shown}{quote}{}",
        dots(shown, inner)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_quote_characters_that_do_not_print_well() {
        for (name, label) in [
            ("MyClass", "MyClass"),
            ("outer.<locals>.Inner", "outer.<locals>.Inner"),
            ("-17", "-17"),
            ("123456789012345678901234567890", "12345678901234567890..."),
            (r#""hello!""#, r#""hello!""#),
            (
                r#""a long long long long text""#,
                r#""a long long long lon"..."#,
            ),
            (r"'ab\'c'", r"'ab\'c'"),
            (r"'0123456789012345678\'rest'", r"'0123456789012345678'..."),
            ("b'hi'", "b'hi'"),
            ("'not closed", "`'not closed`"),
            ("we]ird:", "`we]ird:`"),
            ("a`b\n", "`a\\u{60}b\\u{a}`"),
            ("<stale 1.2>", "`<stale 1.2>`"),
            ("", "``"),
        ] {
            assert_eq!(label_text(name), label);
        }
    }
}
