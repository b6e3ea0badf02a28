//! The names of types, as they are written.

use super::types::{Primitive, Type, TypeId, Types};

impl Primitive {
    fn name(self) -> String {
        match self {
            Primitive::SignedBits(bits) => format!("Signed{bits}"),
            Primitive::UnsignedBits(bits) => format!("Unsigned{bits}"),
            other => format!("{other:?}"),
        }
    }
}

impl Types {
    /// The type as it is written: `GcStruct point { x: Signed, y: Signed }`.
    pub fn name(&self, id: TypeId) -> String {
        self.name_at(id, 2)
    }

    fn name_at(&self, id: TypeId, depth: u32) -> String {
        let gc = |gc: &bool| if *gc { "Gc" } else { "" };
        let list = |types: &[TypeId]| {
            let names: Vec<String> = types.iter().map(|&t| self.name_at(t, depth)).collect();
            names.join(", ")
        };
        match self.get(id) {
            Type::Primitive(primitive) => primitive.name(),
            Type::Struct {
                name,
                fields,
                gc: owned,
                ..
            } => {
                let head = format!("{}Struct {name}", gc(owned));
                if depth == 0 || fields.is_empty() {
                    return head;
                }
                let field = |(name, ty): &(String, TypeId)| {
                    format!("{name}: {}", self.name_at(*ty, depth - 1))
                };
                let fields: Vec<String> = fields.iter().map(field).collect();
                format!("{head} {{ {} }}", fields.join(", "))
            }
            Type::Array {
                item, gc: owned, ..
            } => format!(
                "{}Array of {}",
                gc(owned),
                self.name_at(*item, depth.saturating_sub(1))
            ),
            Type::FixedArray { item, length } => {
                format!(
                    "FixedArray {length} of {}",
                    self.name_at(*item, depth.saturating_sub(1))
                )
            }
            Type::Ptr(target) => format!("* {}", self.name_at(*target, depth.saturating_sub(1))),
            Type::Func { .. } if depth == 0 => "Func".to_owned(),
            Type::Func { params, result } => {
                format!("Func({}) -> {}", list(params), self.name_at(*result, depth))
            }
            Type::Opaque { name, gc: owned } => format!("{}Opaque {name}", gc(owned)),
            Type::Forward { .. } => "ForwardReference".to_owned(),
        }
    }
}
