//! Instruction plans: the steps of an access plan, in execution order.
//!
//! An instruction's operands are names and other instructions, whose results it takes. The last
//! instruction's result is the access's; for a call, it is the callable.

use super::guards::{Aspect, Exactness, Test};
use super::plan::{AccessPlan, Context, ContextTest, FinalMethod, FirstMethod, Mode};
use super::world::Name;
use std::fmt;

macro_rules! instructions {
    ($($(#[$doc:meta])* $op:ident $name:literal;)*) => {
        /// An instruction.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Instruction { $($(#[$doc])* $op),* }
        impl Instruction {
            /// All instructions.
            pub const ALL: &'static [Instruction] = &[$(Instruction::$op),*];
            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(Instruction::$op => $name),* }
            }
        }
    };
}

instructions! {
    /// The attribute from the object's class.
    LoadViaClass "__load_via_class";
    /// The attribute from the object.
    LoadViaObject "__load_via_object";
    /// The attribute from the class of an instance, or from a class.
    GetClassAndLoad "__get_class_and_load";
    /// The attribute from the classes after a given one in the method resolution order of the
    /// instance's class.
    LoadViaSuper "__load_via_super";
    /// Store the attribute into the object.
    StoreViaObject "__store_via_object";
    /// Delete the attribute of the object.
    DeleteViaObject "__delete_via_object";
    /// The attribute from the object's class, which may lack it; the object's own attribute may
    /// hide it.
    CheckAndLoadViaClass "__check_and_load_via_class";
    /// The attribute from the object, which may lack it.
    CheckAndLoadViaObject "__check_and_load_via_object";
    /// The attribute from the object or its class, both of which may lack it.
    CheckAndLoadViaAny "__check_and_load_via_any";
    /// Store after testing for a property or a class attribute that prevents a plain store.
    CheckAndStoreViaAny "__check_and_store_via_any";
    /// Delete after testing for a property or a class attribute that prevents a plain delete.
    CheckAndDeleteViaAny "__check_and_delete_via_any";
    /// The object, if it is an instance of the type or of one derived from it.
    TestCommonInstance "__test_common_instance";
    /// The object, if it or its class is the type or one derived from it.
    TestCommonObject "__test_common_object";
    /// The object, if it is the type or one derived from it.
    TestCommonType "__test_common_type";
    /// The object, if its class is the type.
    TestSpecificInstance "__test_specific_instance";
    /// The object, if it or its class is the type.
    TestSpecificObject "__test_specific_object";
    /// The object, if it is the type.
    TestSpecificType "__test_specific_type";
    /// A known object.
    LoadStaticIgnore "__load_static_ignore";
    /// A known object, bound to the context.
    LoadStaticReplace "__load_static_replace";
    /// A known object, bound to the context if it is a function.
    LoadStaticTest "__load_static_test";
    /// Call a known getter with the accessor.
    CallGetter "__call_getter";
    /// The attribute, bound to the context.
    UpdateContext "__update_context";
    /// The attribute, bound to the context if it is a function.
    TestContext "__test_context";
    /// The attribute; the context is dropped if the attribute does not bind.
    TestContextRevert "<test_context_revert>";
    /// A known object; the context is dropped if the object does not bind.
    TestContextStatic "<test_context_static>";
    /// Keep the accessor.
    SetAccessor "<set_accessor>";
    /// Keep the accessor of an assignment.
    SetTargetAccessor "<set_target_accessor>";
    /// Keep the context of a call.
    SetContext "<set_context>";
    /// Keep a context for the attribute alone.
    SetPrivateContext "<set_private_context>";
    /// The generic load of the language.
    LoadGeneric "__load_generic";
    /// The generic store of the language.
    StoreGeneric "__store_generic";
    /// The generic delete of the language.
    DeleteGeneric "__delete_generic";
}

/// An instruction with its operands, or an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// An operand, by name.
    Name(String),
    /// An instruction's result.
    Of(Instruction, Vec<Step>),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Name(name) => f.write_str(name),
            Step::Of(instruction, operands) => {
                write!(f, "{}(", instruction.name())?;
                for (index, operand) in operands.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{operand}")?;
                }
                f.write_str(")")
            }
        }
    }
}

fn name(text: impl Into<String>) -> Step {
    Step::Name(text.into())
}

fn of(instruction: Instruction, operands: impl Into<Vec<Step>>) -> Step {
    Step::Of(instruction, operands.into())
}

/// The steps of a plan.
pub(super) fn steps(plan: &AccessPlan, attrs: &[Name]) -> Vec<Step> {
    use FinalMethod as F;
    let last = attrs.last().map_or("", |attr| &**attr);
    if plan.final_method == F::Generic {
        return vec![generic(plan, attrs)];
    }
    let is_invoke = matches!(plan.final_method, F::StaticInvoke | F::AccessInvoke);
    let is_write = matches!(plan.final_method, F::StaticAssign | F::Assign | F::Delete);
    let mut steps = Vec::new();
    // The original accessor.
    let needs_temporary = plan.context_test == ContextTest::Test && is_invoke;
    let original = match (&plan.base, &plan.name) {
        (Some(base), _) => name(&**base),
        (None, Some(text)) if !needs_temporary || is_plain(plan) => name(text.as_str()),
        _ => name("<expr>"),
    };
    let is_expression = matches!(&original, Step::Name(text) if text == "<expr>");
    let names: Vec<&Name> = plan.traversed.iter().chain(&plan.attrnames).collect();
    let first_emitted = matches!(
        plan.final_method,
        F::Access | F::AccessInvoke | F::Assign | F::Delete
    ) || names.len() > 1 && plan.context_test != ContextTest::Ignore;
    let mut context = None;
    let mut accessor = original.clone();
    match plan.context {
        Context::Base => context = Some(original.clone()),
        Context::OriginalAccessor if is_expression && is_invoke => {
            steps.push(of(Instruction::SetContext, [accessor_text(plan)]));
            accessor = name("<context>");
            context = Some(accessor.clone());
        }
        Context::OriginalAccessor if is_expression => {
            steps.push(of(Instruction::SetAccessor, [accessor_text(plan)]));
            accessor = name("<accessor>");
            context = Some(accessor.clone());
        }
        Context::OriginalAccessor => context = Some(original.clone()),
        Context::FinalAccessor | Context::Unset if is_expression => {
            let is_target = is_write && names.len() == 1;
            let keep = if is_target {
                Instruction::SetTargetAccessor
            } else {
                Instruction::SetAccessor
            };
            if first_emitted || plan.base.is_none() {
                steps.push(of(keep, [accessor_text(plan)]));
                accessor = name("<accessor>");
            }
        }
        Context::FinalAccessor | Context::Unset => {}
    }
    // The test.
    let tested = tested(plan, &accessor);
    if let Some(test) = &tested {
        if plan.base.is_some() || !first_emitted {
            steps.push(test.clone());
        } else {
            accessor = test.clone();
        }
    }
    // The attributes.
    if first_emitted {
        for (index, attr) in names.iter().enumerate() {
            let is_end = index + 1 == names.len();
            if is_end && plan.context == Context::FinalAccessor {
                let keep = if is_invoke {
                    Instruction::SetContext
                } else {
                    Instruction::SetPrivateContext
                };
                steps.push(of(keep, [accessor]));
                accessor = name("<context>");
                context = Some(accessor.clone());
            }
            if is_end && plan.origin.is_some() {
                break;
            }
            let way = match plan.traversal_modes.get(index) {
                _ if index == 0 => lookup_of(plan.first_method),
                Some(Mode::Object) => Lookup::Object,
                Some(Mode::Class) => Lookup::Class,
                None => Lookup::CheckAny,
            };
            let at = name(&***attr);
            if let Some(class) = &plan.above {
                accessor = of(Instruction::LoadViaSuper, [accessor, name(&**class), at]);
                continue;
            }
            accessor = if is_end && is_write {
                write(plan, way, accessor, at)
            } else {
                of(load(way), [accessor, at])
            };
        }
    }
    steps.extend(last_step(plan, last, accessor, context));
    steps
}

/// The test of an accessor's type, if the access makes it.
fn tested(plan: &AccessPlan, accessor: &Step) -> Option<Step> {
    match &plan.test {
        Test::Checked(check) if plan.base.is_none() || check.aspect == Aspect::Type => {
            let test = match (check.exactness, check.aspect) {
                (Exactness::Specific, Aspect::Instance) => Instruction::TestSpecificInstance,
                (Exactness::Specific, Aspect::Type) => Instruction::TestSpecificType,
                (Exactness::Specific, _) => Instruction::TestSpecificObject,
                (Exactness::Common, Aspect::Instance) => Instruction::TestCommonInstance,
                (Exactness::Common, Aspect::Type) => Instruction::TestCommonType,
                (Exactness::Common, _) => Instruction::TestCommonObject,
            };
            let what = match (&plan.base, &plan.name) {
                (Some(_), Some(text)) => name(text.as_str()),
                _ => accessor.clone(),
            };
            Some(of(test, [what, name(&*check.ty)]))
        }
        _ => None,
    }
}

/// The step behind the look-ups: the call, the load of a constant, the store, or the last look-up
/// itself.
fn last_step(plan: &AccessPlan, last: &str, accessor: Step, context: Option<Step>) -> Option<Step> {
    use FinalMethod as F;
    let is_invoke = matches!(plan.final_method, F::StaticInvoke | F::AccessInvoke);
    let origin = || name(plan.origin.as_deref().unwrap_or("-"));
    match plan.final_method {
        F::StaticAssign => {
            let parent = plan.parent.as_deref().unwrap_or("-");
            let operands = [name(parent), name(last), name("<value>")];
            Some(of(Instruction::StoreViaObject, operands))
        }
        F::StaticGet => {
            let instance = context.unwrap_or(accessor);
            Some(of(Instruction::CallGetter, [instance, origin()]))
        }
        F::Static | F::StaticInvoke => {
            let context = context.unwrap_or_else(|| accessor.clone());
            match (plan.context_test, is_invoke) {
                (ContextTest::Ignore, _) => Some(of(Instruction::LoadStaticIgnore, [origin()])),
                (ContextTest::Replace, true) => None,
                (ContextTest::Replace, false) => {
                    Some(of(Instruction::LoadStaticReplace, [context, origin()]))
                }
                (ContextTest::Test, true) => {
                    Some(of(Instruction::TestContextStatic, [context, origin()]))
                }
                (ContextTest::Test, false) => {
                    Some(of(Instruction::LoadStaticTest, [context, origin()]))
                }
            }
        }
        F::Access | F::AccessInvoke => {
            let context = context.unwrap_or_else(|| name("<context>"));
            let is_access = plan.final_method == F::Access;
            Some(match (plan.context_test, is_access) {
                (ContextTest::Ignore, _) | (ContextTest::Replace, false) => accessor,
                (ContextTest::Replace, true) => of(Instruction::UpdateContext, [context, accessor]),
                (ContextTest::Test, true) => of(Instruction::TestContext, [context, accessor]),
                (ContextTest::Test, false) => {
                    of(Instruction::TestContextRevert, [context, accessor])
                }
            })
        }
        F::Assign | F::Delete => Some(accessor),
        F::Generic => None,
    }
}

/// Returns true if a name may represent the accessor of a call: the accessor is known to have the
/// attribute.
fn is_plain(plan: &AccessPlan) -> bool {
    plan.context_test != ContextTest::Test
}

/// The accessor as the program writes it.
fn accessor_text(plan: &AccessPlan) -> Step {
    name(plan.name.as_deref().unwrap_or("<expr>"))
}

fn generic(plan: &AccessPlan, attrs: &[Name]) -> Step {
    let mut accessor = accessor_text(plan);
    for (index, attr) in attrs.iter().enumerate() {
        let is_end = index + 1 == attrs.len();
        let at = name(&**attr);
        if let Some(class) = &plan.above {
            accessor = of(Instruction::LoadViaSuper, [accessor, name(&**class), at]);
            continue;
        }
        accessor = match (is_end, plan.is_delete(), plan.is_store()) {
            (true, true, _) => of(Instruction::DeleteGeneric, [accessor, at]),
            (true, _, true) => of(Instruction::StoreGeneric, [accessor, at, name("<value>")]),
            _ => of(Instruction::LoadGeneric, [accessor, at]),
        };
    }
    accessor
}

#[derive(Clone, Copy)]
enum Lookup {
    Object,
    Class,
    ObjectClass,
    CheckObject,
    CheckClass,
    CheckAny,
}

fn lookup_of(first: FirstMethod) -> Lookup {
    match first {
        FirstMethod::RelativeObject => Lookup::Object,
        FirstMethod::RelativeClass => Lookup::Class,
        FirstMethod::RelativeObjectClass => Lookup::ObjectClass,
        FirstMethod::CheckObject => Lookup::CheckObject,
        FirstMethod::CheckClass => Lookup::CheckClass,
        FirstMethod::CheckObjectClass => Lookup::CheckAny,
    }
}

fn load(way: Lookup) -> Instruction {
    match way {
        Lookup::Object => Instruction::LoadViaObject,
        Lookup::Class => Instruction::LoadViaClass,
        Lookup::ObjectClass => Instruction::GetClassAndLoad,
        Lookup::CheckObject => Instruction::CheckAndLoadViaObject,
        Lookup::CheckClass => Instruction::CheckAndLoadViaClass,
        Lookup::CheckAny => Instruction::CheckAndLoadViaAny,
    }
}

/// A plain store is correct only if the object itself has the attribute: an instance's store hides
/// its class's attribute, or calls a setter.
fn write(plan: &AccessPlan, way: Lookup, accessor: Step, attr: Step) -> Step {
    let is_delete = plan.final_method == FinalMethod::Delete;
    match (way, is_delete) {
        (Lookup::Object, false) => of(
            Instruction::StoreViaObject,
            [accessor, attr, name("<value>")],
        ),
        (_, false) => of(
            Instruction::CheckAndStoreViaAny,
            [accessor, attr, name("<value>")],
        ),
        (Lookup::Object, true) => of(Instruction::DeleteViaObject, [accessor, attr]),
        (_, true) => of(Instruction::CheckAndDeleteViaAny, [accessor, attr]),
    }
}
