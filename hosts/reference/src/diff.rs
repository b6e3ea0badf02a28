//! Differences of texts, line by line.

/// The lines of both texts; lines of one text alone are marked with `-` and `+`, with `context`
/// lines around them.
pub fn diff(before: &str, after: &str, context: usize) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let lines = edit(&a, &b);
    let changed: Vec<bool> = lines.iter().map(|(mark, _)| *mark != ' ').collect();
    let mut text = String::new();
    let mut skipped = false;
    for (i, (mark, line)) in lines.iter().enumerate() {
        let near = &changed[i.saturating_sub(context)..(i + context + 1).min(lines.len())];
        if near.contains(&true) {
            text += &format!("{mark}{line}\n");
            skipped = false;
        } else if !skipped {
            text += "...\n";
            skipped = true;
        }
    }
    text
}

/// The shortest edit, by the longest common subsequence.
fn edit<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(char, &'a str)> {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a[start..], &b[start..]);
    let end = a_rest
        .iter()
        .rev()
        .zip(b_rest.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (m, n) = (a_rest.len() - end, b_rest.len() - end);
    // common[i][j]: the longest common subsequence of the lines from i of one and from j of the
    // other.
    let mut common = vec![vec![0u32; n + 1]; m + 1];
    for i in (0..m).rev() {
        for j in (0..n).rev() {
            common[i][j] = if a_rest[i] == b_rest[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut lines: Vec<(char, &str)> = a[..start].iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < m || j < n {
        if i < m && j < n && a_rest[i] == b_rest[j] {
            lines.push((' ', a_rest[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == n || i < m && common[i + 1][j] >= common[i][j + 1] {
            lines.push(('-', a_rest[i]));
            i += 1;
        } else {
            lines.push(('+', b_rest[j]));
            j += 1;
        }
    }
    lines.extend(a_rest[m..].iter().map(|line| (' ', *line)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_and_their_neighbours_are_shown() {
        let text = diff("a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\nf\n", 1);
        assert_eq!(text, "...\n b\n-c\n+x\n d\n e\n+f\n");
        assert_eq!(diff("a\n", "a\n", 1), "...\n");
        assert_eq!(diff("", "a\n", 1), "+a\n");
    }
}
