//! Parsing of calls with literals.

use cladonia::bytecode::ConstValue;

/// `name(literal, ...)`
pub fn parse_call(text: &str) -> Option<(String, Vec<ConstValue>)> {
    let (name, rest) = text.trim().split_once('(')?;
    let mut rest = rest.strip_suffix(')')?.trim();
    let mut values = Vec::new();
    while !rest.is_empty() {
        let (value, after) = parse_literal(rest)?;
        values.push(value);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    Some((name.trim().to_owned(), values))
}

/// A literal at the start of a text, and the rest.
fn parse_literal(text: &str) -> Option<(ConstValue, &str)> {
    if let Some(body) = text.strip_prefix('"') {
        let end = body.find('"')?;
        return Some((ConstValue::Str(body[..end].to_owned()), &body[end + 1..]));
    }
    let end = text.find([',', ' ']).unwrap_or(text.len());
    let (token, rest) = text.split_at(end);
    let value = match token {
        "None" => ConstValue::None,
        "True" => ConstValue::Bool(true),
        "False" => ConstValue::Bool(false),
        number => match number.parse() {
            Ok(int) => ConstValue::Int(int),
            Err(_) => ConstValue::Float(number.parse().ok()?),
        },
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_literals() {
        let call = parse_call("f(1, -2.5, \"a, b\", None, True)").unwrap();
        assert_eq!(call.0, "f");
        assert_eq!(
            call.1,
            [
                ConstValue::Int(1),
                ConstValue::Float(-2.5),
                ConstValue::Str("a, b".into()),
                ConstValue::None,
                ConstValue::Bool(true)
            ]
        );
        assert_eq!(parse_call("f()"), Some(("f".into(), vec![])));
        assert_eq!(parse_call("f(x)"), None);
        assert_eq!(parse_call("f(1 2)"), None);
    }
}
