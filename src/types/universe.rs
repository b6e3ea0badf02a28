//! The types over which laws are checked.

use super::hierarchy::Hierarchy;
use super::repr::Type;

/// The most types a universe has.
const UNIVERSE: usize = 480;
/// The types over which laws are checked: predefined ones, those of the hierarchy's classes and
/// objects, literals, and results of operations on these; the same for the same hierarchy.
pub fn universe(hierarchy: &Hierarchy) -> Vec<Type> {
    let mut types = vec![
        Type::BOTTOM,
        Type::TOP,
        Type::OBJECT,
        Type::PRIMITIVE,
        Type::USER,
        Type::BUILTIN_EXACT,
    ];
    let add = |ty: Type, types: &mut Vec<Type>| {
        if types.len() < UNIVERSE && !types.contains(&ty) {
            types.push(ty);
        }
    };
    let world = [
        Type::OBJECT_USER,
        Type::LONG,
        Type::LONG_EXACT,
        Type::LONG_USER,
        Type::BOOL,
        Type::BYTES_USER,
        Type::LIST,
        Type::DICT_EXACT,
        Type::TYPE,
        Type::TYPE_USER,
        Type::NONE_TYPE,
        Type::FUNC,
        Type::NULLPTR,
        Type::CBOOL,
        Type::CINT,
        Type::CSIGNED,
        Type::CINT32,
        Type::CINT64,
        Type::CUINT8,
        Type::CDOUBLE,
        Type::CPTR,
        Type::LONG_USER | Type::BYTES_USER,
        Type::LIST | Type::CINT32,
    ];
    let literals = [
        Type::from_cbool(true),
        Type::from_cbool(false),
        Type::from_cptr(16),
        Type::from_cdouble(0.0),
        Type::from_cdouble(-0.0),
        Type::from_cdouble(f64::NAN),
    ];
    let integers = [
        (Type::CINT32, 5),
        (Type::CINT32, -5),
        (Type::CINT64, 5),
        (Type::CUINT8, 255),
    ];
    world
        .into_iter()
        .chain(literals)
        .for_each(|ty| add(ty, &mut types));
    for ty in integers
        .into_iter()
        .filter_map(|(base, value)| Type::from_cint(base, value).ok())
    {
        add(ty, &mut types);
    }
    let mut special = Vec::new();
    for class in hierarchy.classes() {
        special.extend([Type::from_class(*class), Type::from_class_exact(*class)]);
        special.extend(class.as_object().map(Type::from_object));
        special.push(Type::from_class(*class) & Type::OBJECT_USER);
        special.push(Type::from_class(*class) & Type::LONG_USER);
    }
    special.extend(
        hierarchy
            .objects()
            .iter()
            .map(|object| Type::from_object(*object)),
    );
    special.iter().for_each(|ty| add(*ty, &mut types));
    for ty in types.clone() {
        add(ty.mortal(), &mut types);
        add(ty.immortal(), &mut types);
        if !ty.is_specialized() {
            add(ty.opt(), &mut types);
        }
    }
    // The results of operations on them, evenly chosen from all pairs.
    let base = types.clone();
    let mut step = 1;
    while types.len() < UNIVERSE && step < base.len() {
        for (index, a) in base.iter().enumerate().step_by(3) {
            let b = base[(index * 7 + step) % base.len()];
            [*a | b, *a & b, *a - b, a.join(b)]
                .into_iter()
                .for_each(|ty| add(ty, &mut types));
        }
        step += 1;
    }
    types
}
