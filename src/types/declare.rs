//! Classes and objects as text, so that another process can register them. [`Scope`](super::Scope)
//! reads the text.

use super::{ClassHandle, ObjectHandle, Quoted, Spec, Type};
use std::collections::HashSet;

/// Classes and objects in the order in which they can be registered.
#[derive(Default)]
pub(crate) struct Declarations {
    with_tokens: bool,
    classes: HashSet<ClassHandle>,
    objects: HashSet<ObjectHandle>,
    pub(crate) text: String,
}

impl Declarations {
    /// Declarations with the address of each in its host.
    pub(crate) fn with_tokens() -> Declarations {
        Declarations {
            with_tokens: true,
            ..Declarations::default()
        }
    }

    /// Declares the class or object of a type.
    pub(crate) fn ty(&mut self, ty: Type) {
        match ty.spec() {
            Spec::Class(class) | Spec::Exact(class) => self.class(class),
            Spec::Object(object) => self.object(object),
            Spec::None | Spec::Int(_) | Spec::Double(_) => {}
        }
    }

    fn token(&self, token: u64) -> String {
        if self.with_tokens && token != 0 {
            format!(" token {token:#x}")
        } else {
            String::new()
        }
    }

    pub(crate) fn class(&mut self, class: ClassHandle) {
        let (Some(label), Some(row)) = (class.label(), class.predefined()) else {
            return;
        };
        if !self.classes.insert(class) {
            return;
        }
        if class.is_builtin_itself() {
            let token = self.token(class.token());
            // Another class may have taken its name first.
            if *label != *row.spelled() || !token.is_empty() {
                self.text
                    .push_str(&format!("class builtin {}{token} = {label}\n", row.name()));
            }
            return;
        }
        let mro = class.mro();
        mro.iter().rev().for_each(|base| self.class(*base));
        let bases: Vec<String> = mro
            .iter()
            .filter_map(|base| Some(base.label()?.to_string()))
            .collect();
        let layout = if class.owns_layout() { " layout" } else { "" };
        let token = self.token(class.token());
        let is_final = if class.is_final() { " final" } else { "" };
        self.text.push_str(&format!(
            "class {}: {} ({}){is_final}{layout}{token} = {label}\n",
            Quoted(&class.name()),
            row.name(),
            bases.join(", ")
        ));
    }

    pub(crate) fn object(&mut self, object: ObjectHandle) {
        let (Some(label), Some(class)) = (object.label(), object.class()) else {
            return;
        };
        if !self.objects.insert(object) {
            return;
        }
        self.class(class);
        let Some(class) = class.label() else { return };
        let denotes = match object.denotes() {
            Some(denoted) => {
                self.class(denoted);
                denoted
                    .label()
                    .map_or_else(String::new, |denoted| format!(" denotes {denoted}"))
            }
            None => String::new(),
        };
        let immortal = if object.is_immortal() {
            " immortal"
        } else {
            ""
        };
        let token = self.token(object.token());
        self.text.push_str(&format!(
            "object {}: {class}{immortal}{token}{denotes} = {label}\n",
            Quoted(&object.name())
        ));
    }
}
