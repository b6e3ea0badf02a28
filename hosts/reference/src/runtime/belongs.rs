//! Checks that an object is one of those that inferred facts allow.

use super::call::code_of;
use super::class::Class;
use super::dict::Dict;
use super::heap::{
    Bool, CellObject, Float, Function, Instance, Int, List, Method, Native, Ref, SeqIter, Set,
};
use super::rt;
use cladonia::bytecode::ConstValue;
use cladonia::infer::{Analysis, Facts, Identity, Kind, Slot};
use cladonia::types::Type;

/// The depth to which the inside of objects is checked.
const DEPTH: u32 = 3;
/// The number of items of one object that are checked.
const ITEMS: usize = 12;

/// Checks that the content of a local or an entry of the stack is possible, given the facts.
///
/// # Errors
/// The contradiction.
pub fn belongs(analysis: &Analysis, facts: &Facts, object: Option<&Ref>) -> Result<(), String> {
    match object {
        None if facts.ty.could_be(Type::NULLPTR) => Ok(()),
        None => Err(format!("there is nothing, and the type is {}", facts.ty)),
        Some(object) => check(analysis, facts, object, DEPTH),
    }
}

fn check(analysis: &Analysis, facts: &Facts, object: &Ref, depth: u32) -> Result<(), String> {
    // This runtime has no class of its own for it.
    if object.is(&rt().not_implemented) {
        return Ok(());
    }
    let text = || super::ops::repr(object).unwrap_or_else(|_| object.class().name.to_string());
    // Nor does it have iterators over dicts and sets.
    let mut known = facts.objects().iter().map(|id| analysis.objects[id].kind);
    if object.get::<SeqIter>().is_some() && known.any(|kind| kind == Kind::Iterator) {
        return Ok(());
    }
    let ty = rt().type_of(object).unspecialized().drop_mortality();
    let is_of_type = ty <= facts.ty.unspecialized().drop_mortality();
    if !is_of_type {
        return Err(format!("{} is no {}", text(), facts.ty));
    }
    if let Some(constant) = &facts.constant
        && !is_constant(object, constant)
    {
        return Err(format!("{} is not {constant}", text()));
    }
    if facts.nonneg
        && let Some(int) = object.get::<Int>()
        && int.to_big().sign() == num_bigint::Sign::Minus
    {
        return Err(format!("{} is negative", text()));
    }
    // For these the type describes the object completely.
    let plain = Type::LONG | Type::FLOAT | Type::UNICODE | Type::NONE_TYPE | Type::CODE;
    if ty <= plain || facts.is_open() || facts.objects().is_empty() || depth == 0 {
        return Ok(());
    }
    let mut why = String::new();
    for id in facts.objects() {
        match is_one_of(analysis, *id, object, depth) {
            Ok(()) => return Ok(()),
            Err(what) => why = what,
        }
    }
    Err(why)
}

fn is_constant(object: &Ref, constant: &ConstValue) -> bool {
    match constant {
        ConstValue::None => object.is(&rt().none),
        ConstValue::Bool(value) => object
            .get::<Bool>()
            .is_some_and(|bool| (bool.value != 0) == *value),
        ConstValue::Int(value) => object
            .get::<Int>()
            .is_some_and(|int| int.to_i64() == Some(*value)),
        ConstValue::Float(value) => object
            .get::<Float>()
            .is_some_and(|float| float.value.to_bits() == value.to_bits() || float.value.is_nan()),
        ConstValue::Str(value) => object.as_str() == Some(value),
        ConstValue::Other => true,
    }
}

/// Checks that the object is one that the identity represents, as far as that can be tested.
fn is_one_of(analysis: &Analysis, id: Identity, object: &Ref, depth: u32) -> Result<(), String> {
    let known = &analysis.objects[&id];
    if known.escaped && !matches!(known.kind, Kind::Function | Kind::Class) {
        return Ok(());
    }
    let named = |name: &str| {
        if name == known.name {
            Ok(())
        } else {
            Err(format!("`{name}` is not `{}`", known.name))
        }
    };
    let holds = |slot: &Slot, object: &Ref| match known.slots.get(slot) {
        Some(facts) => check(analysis, facts, object, depth - 1)
            .map_err(|why| format!("{why}, in {slot} of {}", known.name)),
        None => Err(format!("nothing is known of {slot} of `{}`", known.name)),
    };
    let items = |slot: &Slot, items: &[Ref]| {
        let mut items = items.iter().take(ITEMS);
        items.try_for_each(|item| holds(slot, item))
    };
    let length = |length: usize| match known.slots.get(&Slot::Len) {
        Some(facts) => match &facts.constant {
            Some(ConstValue::Int(known)) if *known != length as i64 => {
                Err(format!("the length is {length} and not {known}"))
            }
            _ => Ok(()),
        },
        None => Ok(()),
    };
    match known.kind {
        Kind::List => {
            let list = object.get::<List>().ok_or("it is no list")?;
            length(list.len())?;
            items(&Slot::Items, &list.to_vec())
        }
        Kind::Set => {
            let set = object.get::<Set>().ok_or("it is no set")?;
            let dict = set.items.get::<Dict>().ok_or("it has no items")?;
            length(dict.len())?;
            let keys: Vec<Ref> = dict.items().into_iter().map(|(key, _)| key).collect();
            items(&Slot::Items, &keys)
        }
        Kind::Dict => {
            let dict = object.get::<Dict>().ok_or("it is no dict")?;
            length(dict.len())?;
            let (keys, values): (Vec<Ref>, Vec<Ref>) = dict.items().into_iter().unzip();
            items(&Slot::Keys, &keys)?;
            items(&Slot::Values, &values)
        }
        Kind::Tuple => {
            let all = object.as_tuple().ok_or("it is no tuple")?;
            length(all.len())?;
            for (index, item) in all.iter().enumerate().take(ITEMS) {
                let own = Slot::TupleItem(index as u32);
                if known.slots.contains_key(&Slot::Items) {
                    holds(&Slot::Items, item)?
                } else {
                    holds(&own, item)?
                }
            }
            Ok(())
        }
        Kind::Cell => match object.get::<CellObject>().ok_or("it is no cell")?.content() {
            Some(content) => holds(&Slot::Content, &content),
            None => Ok(()),
        },
        Kind::Function => {
            let function = object.get::<Function>().ok_or("it is no function")?;
            named(&code_of(function).code.name)
        }
        Kind::Bound => match object.get::<Method>() {
            Some(method) => {
                holds(&Slot::ImSelf, &method.this)?;
                holds(&Slot::ImFunc, &method.function)
            }
            None => Ok(()),
        },
        Kind::Builtin => {
            let native = object.get::<Native>().ok_or("it is no builtin")?;
            named(native.name).or_else(|why| {
                let last = known.name.rsplit('.').next();
                if last == Some(native.name) {
                    Ok(())
                } else {
                    Err(why)
                }
            })
        }
        Kind::Class => named(&object.get::<Class>().ok_or("it is no class")?.name),
        Kind::Instance | Kind::Exception => {
            named(&object.class().name)?;
            let Some(instance) = object.get::<Instance>() else {
                return Err("it is no instance".into());
            };
            if known.kind == Kind::Exception {
                return Ok(());
            }
            for (index, name) in instance.shape().names.iter().enumerate() {
                let name = &**name;
                if !(name == "args" && object.class().predefined.ty() <= Type::BASE_EXCEPTION) {
                    holds(&Slot::Attr(name.into()), &instance.slot(index))?;
                }
            }
            Ok(())
        }
        Kind::Iterator | Kind::Range | Kind::Namespace => Ok(()),
    }
}
