//! `cladonia type`: the algebra of types on the command line.

use cladonia::types::{Hierarchy, check_laws, dot, evaluate};

use clap::ArgGroup;

use crate::report::{Failure, Report, file_name, read};

/// Evaluate expressions of types, check the laws of the operations, or draw the predefined types
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("what").required(true).args(["expressions", "laws", "dot"]))]
#[group(skip)]
pub struct Args {
    /// Types joined by `|`, `&`, `-`, compared by `==`, `!=`, `<=`, `<`, `>=`, `>`, `could_be` or
    /// joined by `join`; one line is printed for each
    #[arg(value_name = "EXPRESSION")]
    expressions: Vec<String>,

    /// A file that declares classes and objects (`-` for the standard input)
    #[arg(long, value_name = "FILE")]
    classes: Option<String>,

    /// Check every law of the operations over types made of those classes and objects; exit with 1
    /// if one fails
    #[arg(long)]
    laws: bool,

    /// Print the predefined types as a graph, in the language of Graphviz
    #[arg(long, conflicts_with = "classes")]
    dot: bool,
}

const EXAMPLES: &str = "\
The file of classes has lines like these, in any order:
  class MyClass
  class MyClassInt(MyInt, MyClass)      # bases in order
  class MyInt(int)
  class Metaclass(type)
  class WithMeta(metaclass=Metaclass)
  object my_obj: MyClass
  object forever: MyClass immortal
  object an_int: int = 5

Examples:
  cladonia type \"Long | ImmortalBytes\" \"CInt32[5] <= CInt\"
  cladonia type \"User[MyClass] & LongUser[MyInt]\" --classes classes.txt
  cladonia type --laws --classes classes.txt
  cladonia type --dot | dot -Tsvg -o types.svg";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    if args.dot {
        return Ok(Report::good(dot()));
    }
    let hierarchy = hierarchy(args.classes.as_deref())?;
    if args.laws {
        let report = check_laws(&hierarchy);
        return Ok(Report {
            text: report.to_string(),
            is_good: report.holds(),
        });
    }
    let names = hierarchy.names();
    let mut text = String::new();
    for expression in &args.expressions {
        match evaluate(expression, &names) {
            Ok(answer) => text.push_str(&format!("{answer}\n")),
            Err(error) => return Err(Failure::at_column(expression, error.column, error)),
        }
    }
    Ok(Report::good(text))
}

/// The classes and objects of the file; only the builtin classes without one.
fn hierarchy(file: Option<&str>) -> Result<Hierarchy, Failure> {
    let Some(file) = file else {
        return parse("", "no classes");
    };
    parse(&read(file)?, file_name(file))
}

fn parse(text: &str, file: &str) -> Result<Hierarchy, Failure> {
    Hierarchy::parse(text).map_err(|error| {
        let said = format!("{file}: {error}");
        match text.lines().nth(error.line.wrapping_sub(1)) {
            Some(line) => Failure::at_column(line, error.column, said),
            None => Failure::new(said),
        }
    })
}
