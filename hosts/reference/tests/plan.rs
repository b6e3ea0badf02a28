//! Tests of `cladonia plan`: properties of every plan of every program of the file tests, and the
//! command itself.

mod tool;

use cladonia::access::{
    AttributeOwner, Check, FinalMethod, FirstMethod, PlanReport, Planned, Test, Watch,
};
use cladonia::bytecode::Document;
use cladonia_reference::plan::planned;
use std::path::Path;

fn programs() -> Vec<(String, Document)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files");
    let mut all = Vec::new();
    for folder in ["access", "infer", "run"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, Document::parse(&text).unwrap()));
        }
    }
    all
}

/// The fault of a plan, for any program.
fn fault(report: &PlanReport, planned: &Planned) -> Option<String> {
    use FinalMethod as F;
    let (access, plan) = (&planned.access, &planned.plan);
    let attr = access.attrs.last().unwrap();
    let is_static = matches!(
        plan.final_method,
        F::Static | F::StaticInvoke | F::StaticGet
    );
    let names = plan.traversed.len() + plan.attrnames.len();
    let watches = |watch: Watch| plan.watches.contains(&watch);
    if plan.traversed.len() != plan.traversal_modes.len() {
        return Some("a chain's names and modes do not go together".into());
    }
    if names == 0 || names > access.attrs.len() {
        return Some("a chain has lost its attributes".into());
    }
    if is_static != plan.origin.is_some() {
        return Some("a known object without a method for one, or the reverse".into());
    }
    if is_static {
        for candidate in &plan.candidates {
            let owner = candidate.provider.name();
            if report.mutated.contains(&(owner.clone(), attr.clone())) {
                return Some(format!("{owner}.{attr} may change and is folded"));
            }
            let is_builtin = owner.chars().next().is_some_and(char::is_lowercase);
            let covered = match &candidate.accessor {
                AttributeOwner::Module(module) => {
                    watches(Watch::Name(module.clone(), attr.clone()))
                }
                AttributeOwner::Class(class) | AttributeOwner::Instance(class) => {
                    is_builtin || watches(Watch::Class(class.clone()))
                }
            };
            if !covered {
                return Some("what is folded is not watched".into());
            }
            let hides = plan.final_method != F::StaticGet && !access.is_super && !is_builtin;
            let is_shared = matches!(candidate.accessor, AttributeOwner::Instance(_));
            if hides && is_shared && !plan.checks.contains(&Check::NotHidden(attr.clone())) {
                return Some("an instance's own attribute would not be seen".into());
            }
        }
    }
    if plan.final_method == F::StaticAssign && plan.parent != plan.base {
        return Some("something is assigned to that is not the base".into());
    }
    if let Test::Guarded(check) | Test::Checked(check) = &plan.test
        && plan.base.as_ref() == Some(&check.ty)
        && check.to_string().starts_with("common")
    {
        return Some("an ancestor stands for its descendants".into());
    }
    if plan.final_method == F::Generic && plan.why.is_none() {
        return Some("nobody says why it is generic".into());
    }
    if plan.test == Test::Validate
        && plan.base.is_none()
        && plan.final_method != F::Generic
        && !matches!(
            plan.first_method,
            FirstMethod::CheckObject | FirstMethod::CheckClass | FirstMethod::CheckObjectClass
        )
    {
        return Some("the first attribute is taken without a check".into());
    }
    None
}

#[test]
fn every_plan_is_covered_by_its_checks_and_watches() {
    let mut accesses = 0;
    for (name, document) in programs() {
        for facts in [false, true] {
            let report = planned(&document, facts).unwrap_or_else(|e| panic!("{name}: {e}"));
            for function in &report.functions {
                for planned in &function.accesses {
                    accesses += 1;
                    if let Some(fault) = fault(&report, planned) {
                        panic!("{name}: {}: {fault}\n{planned}", function.name);
                    }
                }
            }
        }
    }
    assert!(accesses > 300, "only {accesses} accesses");
}

#[test]
fn plans_depend_on_the_program_alone() {
    for (name, document) in programs() {
        let texts = [(); 2].map(|()| planned(&document, false).unwrap().text(None));
        assert_eq!(texts[0], texts[1], "{name}");
    }
}

const PROGRAM: &str = include_str!("../../../jit-tests/files/access/l07_static_call.tbc");

#[test]
fn the_command_prints_a_function_all_or_the_kinds() {
    let one = tool::run(&["plan", "-", "g"], PROGRAM);
    assert_eq!(one.status, 0, "{}", one.err);
    assert!(one.out.starts_with("g\n"), "{}", one.out);
    assert!(one.out.contains("origin=C.m"), "{}", one.out);
    let all = tool::run(&["plan", "-"], PROGRAM);
    assert!(all.out.starts_with("C.__init__\n"), "{}", all.out);
    let kinds = tool::run(&["plan", "-", "--kinds"], PROGRAM);
    let expected = "3 accesses: static-invoke 1, access 1, assign 1; 0 validated\n";
    assert_eq!(kinds.out, expected);
}

#[test]
fn the_command_reports_errors() {
    let output = tool::run(&["plan", "-", "h"], PROGRAM);
    assert_ne!(output.status, 0);
    assert!(
        output.err.contains("there is no code `h`"),
        "{}",
        output.err
    );
    let output = tool::run(&["plan", "-"], "nonsense");
    assert_ne!(output.status, 0);
    assert!(!output.err.is_empty());
}
