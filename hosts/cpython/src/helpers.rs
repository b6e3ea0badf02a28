//! The functions behind every general operation. Each has exactly the effects of the bytecode in
//! CPython's interpreter: the same errors with the same texts, in the same order.
//!
//! # Safety contract of all helpers
//! Only compiled code calls them, with the interpreter's lock held. Operands are borrowed, live
//! references. The references of a variadic array are taken over, also on error, and its entries
//! may be overwritten. Outputs are new references and are written only on success. `thread` is the
//! current thread, `frame` its current frame. A failing helper has set an exception.
//!
//! [`all`] lists them with the signatures that their Rust types have. The host's builder compares
//! these with the signatures that the core expects, so a helper with a wrong type is an error at
//! import.

pub(crate) mod abstract_classes;
mod asynchronous;
mod attributes;
mod build;
mod c_functions;
mod cache;
mod calls;
pub(crate) mod computed;
mod control;
pub(crate) mod dictionaries;
mod exceptions;
mod generators;
mod import;
mod instances;
mod keys;
mod matching;
pub mod native;
mod numbers;
mod operators;
mod overloads;
mod scopes;
mod sets;
mod slices;
mod strings;
#[cfg(test)]
mod tests;
mod texts;
pub mod traceback;
mod unpack;

pub use attributes::complete_error;
pub use c_functions::unfit_result;
pub use calls::{
    ORIGINAL_VECTORCALL, after_call, call_original, call_unknown, find_frame_readers, init_result,
    interpret, is_frame_reader, new_instance, new_tuple,
};
pub use dictionaries::get as dict_get;
pub use instances::is_instance;
pub use native::Entry;
pub(crate) use native::entry;
pub use numbers::{box_float, box_int};
pub use operators::range_iter;
pub use overloads::operator_rest;
pub use scopes::{bind_method, bound, new_cell};
pub use slices::{list_copy_slice, list_slice};
pub use strings::same_text;
pub use texts::{repr_of, text_of};
pub use unpack::seq_iter_at;

use cladonia::bytecode::GeneralOp;
use cladonia::host::{FREE_LEAF, MATH};

/// Helpers that need no [announcement](crate::runtime::generators::announce) of the frame before
/// the call: either they call nothing that looks at frames, or they announce it themselves.
pub fn announced() -> impl Iterator<Item = &'static str> {
    use GeneralOp as G;
    let general = GeneralOp::ALL.iter().filter(|op| {
        let does_it = matches!(op, G::GetIter | G::IterNext | G::GetYieldFromIter | G::Send);
        does_it || op.info().quiet
    });
    general
        .map(|op| op.info().name)
        .chain(MATH.iter().map(|row| row.0))
        .chain([FREE_LEAF, "free_int", "box_int", "box_float"])
}

/// Every helper that the core needs, except the exit hook, which the runtime provides.
pub fn all() -> Vec<(&'static str, Entry)> {
    let general = GeneralOp::ALL
        .iter()
        .map(|&op| (op.info().name, helper_of(op)));
    let math = [
        entry!(numbers::float_pow, 2),
        entry!(numbers::float_mod, 2),
        entry!(numbers::float_floordiv, 2),
    ];
    general
        .chain(MATH.iter().map(|row| row.0).zip(math))
        .collect()
}

fn helper_of(op: GeneralOp) -> Entry {
    use GeneralOp as G;
    match op {
        G::Binary => entry!(operators::binary, 3),
        G::BinaryInts => entry!(operators::binary_ints, 3),
        G::Compare => entry!(operators::compare, 3),
        G::CompareBool => entry!(operators::compare_bool, 3),
        G::OperatorRest => entry!(overloads::operator_rest, 7),
        G::Contains => entry!(operators::contains, 2),
        G::Truth => entry!(operators::truth, 1),
        G::Negative => entry!(operators::negative, 1),
        G::Invert => entry!(operators::invert, 1),
        G::GetItem => entry!(operators::get_item, 2),
        G::FindItem => entry!(operators::find_item, 3),
        G::SetItem => entry!(operators::set_item, 3),
        G::DelItem => entry!(operators::del_item, 2),
        G::GetSlice => entry!(slices::get_slice, 3),
        G::SetSlice => entry!(slices::set_slice, 4),
        G::GetExtendedSlice => entry!(slices::get_extended_slice, 3),
        G::BuildSlice => entry!(slices::build_slice, 3),
        G::LoadAttr => entry!(attributes::load_attr, 3),
        G::StoreAttr => entry!(attributes::store_attr, 4),
        G::DeleteAttr => entry!(attributes::delete_attr, 3),
        G::InitResult => entry!(calls::init_result, 1),
        G::LoadMethod => entry!(attributes::load_method, 4),
        G::LoadSuperAttr => entry!(attributes::load_super_attr, 7),
        G::LoadGlobal => entry!(scopes::load_global, 2),
        G::LoadName => entry!(scopes::load_name, 2),
        G::StoreName => entry!(scopes::store_name, 3),
        G::DeleteName => entry!(scopes::delete_name, 2),
        G::StoreGlobal => entry!(scopes::store_global, 3),
        G::DeleteGlobal => entry!(scopes::delete_global, 2),
        G::LoadLocals => entry!(scopes::load_locals, 1),
        G::LoadFromDictOrGlobals => entry!(scopes::load_from_dict_or_globals, 3),
        G::LoadFromDictOrDeref => entry!(scopes::load_from_dict_or_deref, 3),
        G::CopyFreeVars => entry!(scopes::copy_free_vars, 2),
        G::Call => entry!(calls::call, 4),
        G::CallLent => entry!(calls::call_lent, 5),
        G::CallEx => entry!(calls::call_ex, 3),
        G::CallIntrinsic1 => entry!(calls::call_intrinsic_1, 3),
        G::CallIntrinsic2 => entry!(calls::call_intrinsic_2, 4),
        G::GetIter => entry!(unpack::get_iter, 2),
        G::IterNext => entry!(unpack::iter_next, 3),
        G::GetterRaised => entry!(attributes::getter_raised, 3),
        G::IterNextBy => entry!(unpack::iter_next_by, 4),
        G::NextItems => entry!(unpack::next_items, 5),
        G::EndIteration => entry!(unpack::end_iteration, 1),
        G::BuildTuple => entry!(build::build_tuple, 2),
        G::BuildList => entry!(build::build_list, 2),
        G::BuildSet => entry!(build::build_set, 2),
        G::BuildMap => entry!(build::build_map, 2),
        G::BuildKeywords => entry!(build::build_map, 2),
        G::BuildInterpolation => entry!(strings::build_interpolation, 3),
        G::BuildConstKeyMap => entry!(build::build_const_key_map, 3),
        G::BuildString => entry!(build::build_string, 2),
        G::ConcatStrings => entry!(build::concat_strings, 2),
        G::ListAppend => entry!(build::list_append, 2),
        G::ListExtend => entry!(build::list_extend, 3),
        G::SetAdd => entry!(build::set_add, 2),
        G::SetUpdate => entry!(build::set_update, 2),
        G::MapAdd => entry!(build::map_add, 3),
        G::DictUpdate => entry!(build::dict_update, 3),
        G::DictMerge => entry!(build::dict_merge, 4),
        G::UnpackSequence => entry!(unpack::unpack_sequence, 4),
        G::UnpackEx => entry!(unpack::unpack_ex, 4),
        G::FormatSimple => entry!(build::format_simple, 1),
        G::FormatWithSpec => entry!(build::format_with_spec, 2),
        G::ConvertValue => entry!(build::convert_value, 2),
        G::MakeFunction => entry!(scopes::make_function, 2),
        G::SetFunctionAttribute => entry!(scopes::set_function_attribute, 3),
        G::LoadBuildClass => entry!(scopes::load_build_class, 1),
        G::LoadAssertionError => entry!(control::load_assertion_error, 0),
        G::Raise => entry!(exceptions::raise, 4),
        G::ImportName => entry!(import::import_name, 6),
        G::ImportFrom => entry!(import::import_from, 4),
        G::MatchMapping => entry!(matching::match_mapping, 1),
        G::MatchSequence => entry!(matching::match_sequence, 1),
        G::MatchKeys => entry!(matching::match_keys, 3),
        G::MatchClass => entry!(matching::match_class, 5),
        G::GetLen => entry!(operators::get_len, 1),
        G::RangeIter => entry!(operators::range_iter, 3),
        G::SetupAnnotations => entry!(scopes::setup_annotations, 1),
        G::BeforeWith => entry!(control::before_with, 3),
        G::LoadSpecial => entry!(control::load_special, 3),
        G::Catch => entry!(exceptions::catch, 2),
        G::CompleteTraceback => entry!(exceptions::complete_traceback, 1),
        G::IsRaised => entry!(exceptions::is_raised, 1),
        G::PushExcInfo => entry!(exceptions::push_exc_info, 2),
        G::ForgetTraceback => entry!(exceptions::forget_traceback, 2),
        G::PopExcept => entry!(exceptions::pop_except, 4),
        G::CheckExcMatch => entry!(exceptions::check_exc_match, 3),
        G::CheckEgMatch => entry!(exceptions::check_eg_match, 4),
        G::SetHandled => entry!(exceptions::set_handled, 1),
        G::WithExceptStart => entry!(exceptions::with_except_start, 2),
        G::RaiseAgain => entry!(exceptions::raise_again, 0),
        G::Reraise => entry!(exceptions::reraise, 4),
        G::MakeGenerator => entry!(generators::make_generator, 4),
        G::ResumeInterpreted => entry!(crate::runtime::generators::resume_interpreted, 4),
        G::GetYieldFromIter => entry!(generators::get_yield_from_iter, 3),
        G::Send => entry!(generators::send, 4),
        G::GetAwaitable => entry!(asynchronous::get_awaitable, 3),
        G::GetAiter => entry!(asynchronous::get_aiter, 2),
        G::GetAnext => entry!(asynchronous::get_anext, 2),
        G::EndAsyncFor => entry!(asynchronous::end_async_for, 1),
        G::BeforeAsyncWith => entry!(asynchronous::before_async_with, 3),
        G::HandlePending => entry!(control::handle_pending, 1),
        G::CallInterpreted => entry!(crate::runtime::entries::call_interpreted, 4),
    }
}
