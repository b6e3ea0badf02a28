//! The meaning of names in a text form: the classes and objects that the text declares.

use super::handles::Named;
use super::reader::{Line, Parsed, label_length};
use super::{
    ClassDesc, ClassHandle, ConstValue, HostId, Names, ObjectDesc, ObjectHandle, Predefined, Type,
};
use std::collections::HashMap;

/// The meaning of names.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) host: HostId,
    names: Names,
    /// Classes and objects of the text, by their labels in it. The host may have given them other
    /// labels, and these labels to others: suffix numbers count earlier registrations.
    classes: HashMap<String, ClassHandle>,
    objects: HashMap<String, ObjectHandle>,
}

impl Scope {
    pub(crate) fn new(host: HostId, names: Names) -> Scope {
        let builtins = Predefined::ALL.iter().filter_map(|row| {
            let class = host.builtin_class(*row)?;
            Some((class.label()?.to_string(), class))
        });
        Scope {
            host,
            names,
            classes: builtins.collect(),
            objects: HashMap::new(),
        }
    }

    /// `"name": Row (base, ...) final layout token 0x10 = label`, or
    /// `builtin Row token 0x10 = label`
    pub(crate) fn class(&mut self, line: &mut Line) -> Parsed<()> {
        let start = line.at;
        if line.eat_word("builtin") {
            let row = predefined(line)?;
            let token = token(line)?;
            line.expect("=")?;
            return match self.host.builtin_class(row) {
                Some(class) => self.declare(line.remainder(), class, token),
                None => line.error_at(start, "the host has no such class"),
            };
        }
        let name = line.quoted("the class's name")?;
        line.expect(":")?;
        let predefined = predefined(line)?;
        line.expect("(")?;
        let mut bases = Vec::new();
        while !line.eat(")") {
            bases.push(self.known(line)?);
            if !line.eat(",") && !line.rest().starts_with(')') {
                return line.expected("`,` or `)`");
            }
        }
        let is_final = line.eat_word("final");
        let owns_layout = line.eat_word("layout");
        let token = token(line)?;
        line.expect("=")?;
        let label = line.remainder();
        let desc = ClassDesc {
            is_final,
            owns_layout,
            token,
            ..ClassDesc::new(name, bases, predefined)
        };
        match self.host.register_class(desc) {
            Ok(class) => self.declare(label, class, token),
            Err(refused) => line.error_at(start, refused.to_string()),
        }
    }

    pub(crate) fn declare(&mut self, label: &str, class: ClassHandle, token: u64) -> Parsed<()> {
        self.host.restore(Named::Class(class), label, token);
        self.classes.insert(label.to_owned(), class);
        self.objects.remove(label);
        Ok(())
    }

    /// `"name": class immortal token 0x10 denotes class = label`
    pub(crate) fn object(&mut self, line: &mut Line) -> Parsed<()> {
        let start = line.at;
        let name = line.quoted("the object's name")?;
        line.expect(":")?;
        let class = self.known(line)?;
        let immortal = line.eat_word("immortal");
        let token = token(line)?;
        let denotes = if line.eat_word("denotes") {
            Some(self.known(line)?)
        } else {
            None
        };
        line.expect("=")?;
        let label = line.remainder();
        let known = match denotes {
            Some(denoted) => denoted.as_object(),
            None if class.predefined() == Some(Predefined::NoneType) => self.host.none_object(),
            None => None,
        };
        if let Some(known) = known
            && token != 0
        {
            self.host.set_immortal(known, immortal);
        }
        let desc = ObjectDesc {
            immortal,
            denotes,
            token,
            ..ObjectDesc::new(name, class)
        };
        match known.map_or_else(|| self.host.register_object(desc), Ok) {
            Ok(object) => {
                self.host.restore(Named::Object(object), label, token);
                if denotes.is_none() {
                    // The host of the text may not have had the builtin class of this name.
                    self.classes.remove(label);
                    self.objects.insert(label.to_owned(), object);
                }
                Ok(())
            }
            Err(refused) => line.error_at(start, refused.to_string()),
        }
    }

    pub(crate) fn known(&self, line: &mut Line) -> Parsed<ClassHandle> {
        line.space();
        let at = line.at;
        let label = line.label();
        match self.classes.get(label) {
            Some(class) => Ok(*class),
            None => line.error_at(at, format!("unknown class `{label}`")),
        }
    }

    pub(crate) fn ty(&self, line: &mut Line) -> Parsed<Type> {
        line.space();
        let at = line.at;
        let text = line.type_text();
        let relabelled = self.relabel(text);
        match Type::parse(relabelled.as_deref().unwrap_or(text), &self.names) {
            Ok(ty) => Ok(ty),
            Err(error) => {
                // Columns in a text with another label would not be those of the line.
                let columns = if relabelled.is_some() {
                    0
                } else {
                    error.column - 1
                };
                let into: usize = text.chars().take(columns).map(char::len_utf8).sum();
                line.error_at(at + into, error.message)
            }
        }
    }

    /// The type's text with the host's label in place of the text's, if they differ.
    pub(crate) fn relabel(&self, text: &str) -> Option<String> {
        let start = text.find('[')? + 1;
        let length = label_length(&text[start..]);
        let printed = text[start..start + length].trim_end();
        let class = self.classes.get(printed).and_then(|class| class.label());
        let label = class
            .or_else(|| self.objects.get(printed)?.label())
            .filter(|label| **label != *printed)?;
        Some(format!(
            "{}{label}{}",
            &text[..start],
            &text[start + length..]
        ))
    }

    /// The object of a literal.
    pub(crate) fn make(&self, value: &ConstValue) -> Option<ObjectHandle> {
        let row = match value {
            ConstValue::None => Predefined::NoneType,
            ConstValue::Bool(_) => Predefined::Bool,
            ConstValue::Int(_) => Predefined::Long,
            ConstValue::Float(_) => Predefined::Float,
            ConstValue::Str(_) => Predefined::Unicode,
            ConstValue::Other => return None,
        };
        if let (Predefined::NoneType, Some(none)) = (row, self.host.none_object()) {
            return Some(none);
        }
        let class = self.host.builtin_class(row)?;
        let immortal = matches!(row, Predefined::NoneType | Predefined::Bool);
        self.host
            .register_object(ObjectDesc {
                immortal,
                ..ObjectDesc::new(value.to_string(), class)
            })
            .ok()
    }
}

/// The type of one object.
impl Scope {
    pub(crate) fn single_object(&self, line: &mut Line) -> Parsed<ObjectHandle> {
        line.space();
        let at = line.at;
        let ty = self.ty(line)?;
        ty.as_object_in(self.host).map_or_else(
            || line.error_at(at, format!("`{ty}` is no single object")),
            Ok,
        )
    }
}

/// The address of a class or an object, if there is one.
fn token(line: &mut Line) -> Parsed<u64> {
    if line.eat_word("token") {
        line.hexadecimal()
    } else {
        Ok(0)
    }
}

fn predefined(line: &mut Line) -> Parsed<Predefined> {
    line.space();
    let at = line.at;
    let row = line.word("a predefined type")?;
    let found = Predefined::ALL
        .iter()
        .copied()
        .find(|predefined| predefined.name() == row);
    found.map_or_else(
        || line.error_at(at, format!("there is no predefined class `{row}`")),
        Ok,
    )
}
