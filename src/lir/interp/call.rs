//! Calls of machine code from Rust, with a signature that is known only at run time.
//!
//! The calling conventions of C on 64-bit Unix number integer and float arguments separately, put
//! those that do not fit into registers onto the stack in order, and let the caller clean up. So
//! one function type serves all signatures: it has every argument register and some words of stack,
//! and a callee reads those of its parameters. The form of the results selects one of six return
//! types.

use crate::lir::graph::Signature;
use crate::ll::Ty;

/// The reason why a call can't be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The address is null.
    #[error("a call through null")]
    Null,
    /// No function is known at the address: a simulated machine has only the functions that were
    /// defined for it.
    #[error("a call of {0}, which this machine does not have")]
    Unknown(String),
    /// More arguments than the trampoline passes.
    #[error("{signature} needs {words} words of stack; {most} are passed at most")]
    TooManyArguments {
        /// The signature, as text.
        signature: String,
        /// The number of words that it needs.
        words: usize,
        /// The most words that can be passed.
        most: usize,
    },
    /// The machine's convention has no equivalent in Rust for such results.
    #[error("results of {0} can't be taken on this machine")]
    Results(String),
}

/// Integer argument registers.
#[cfg(not(target_arch = "aarch64"))]
const INT_REGISTERS: usize = 6;
#[cfg(target_arch = "aarch64")]
const INT_REGISTERS: usize = 8;
/// Float argument registers.
const FLOAT_REGISTERS: usize = 8;
/// The words of stack that are passed if registers do not suffice.
const STACK_WORDS: usize = if cfg!(target_arch = "x86_64") { 256 } else { 0 };
/// The words of stack that are passed if a few suffice.
const FEW: usize = 16;

#[repr(C)]
struct IntInt(u64, u64);
#[repr(C)]
struct IntFloat(u64, f64);
#[repr(C)]
struct FloatInt(f64, u64);
#[repr(C)]
struct FloatFloat(f64, f64);

#[cfg(not(target_arch = "aarch64"))]
macro_rules! registers {
    ($how:ident, $address:expr, $ret:ty, $words:expr) => {
        $how!($address, $ret, $words, (u64 u64 u64 u64 u64 u64), (0 1 2 3 4 5))
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! registers {
    ($how:ident, $address:expr, $ret:ty, $words:expr) => {
        $how!($address, $ret, $words, (u64 u64 u64 u64 u64 u64 u64 u64), (0 1 2 3 4 5 6 7))
    };
}
macro_rules! call_as {
    ($address:expr, $ret:ty, $words:expr, ($($int:ty)*), ($($n:literal)*)) => {{
        let Words { ints: i, floats: f, stack, spilled } = $words;
        let p = std::ptr::with_exposed_provenance::<u8>($address as usize);
        if *spilled == 0 {
            type Entry = unsafe extern "C" fn($($int,)* f64, f64, f64, f64, f64, f64, f64, f64) -> $ret;
            // SAFETY: see the module's documentation; the caller promises the signature.
            unsafe {
                let entry: Entry = std::mem::transmute(p);
                entry($(i[$n],)* f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
            }
        } else if *spilled <= FEW {
            type Entry =
                unsafe extern "C" fn($($int,)* f64, f64, f64, f64, f64, f64, f64, f64, Stack<FEW>) -> $ret;
            // SAFETY: as above.
            unsafe {
                let entry: Entry = std::mem::transmute(p);
                entry($(i[$n],)* f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], Stack::of(stack))
            }
        } else {
            type Entry = unsafe extern "C" fn(
                $($int,)* f64, f64, f64, f64, f64, f64, f64, f64, Stack<STACK_WORDS>,
            ) -> $ret;
            // SAFETY: as above.
            unsafe {
                let entry: Entry = std::mem::transmute(p);
                entry($(i[$n],)* f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], Stack::of(stack))
            }
        }
    }};
}

/// Words of stack, which this machine's convention passes unchanged: a structure of more than two
/// words is passed there. On machines that pass such a structure by its address, nothing is passed
/// on the stack.
#[repr(C)]
struct Stack<const N: usize>([u64; N]);

impl<const N: usize> Stack<N> {
    fn of(words: &[u64]) -> Stack<N> {
        let mut stack = [0; N];
        stack[..words.len().min(N)].copy_from_slice(&words[..words.len().min(N)]);
        Stack(stack)
    }
}

/// The places of the arguments.
#[derive(Default)]
struct Words {
    ints: [u64; INT_REGISTERS],
    floats: [f64; FLOAT_REGISTERS],
    stack: Vec<u64>,
    /// Words of stack in use.
    spilled: usize,
}

impl Words {
    fn new(signature: &Signature, args: &[u64]) -> Words {
        let mut words = Words::default();
        let (mut ints, mut floats) = (0, 0);
        for (&ty, &arg) in signature.params.iter().zip(args) {
            let in_register = match ty {
                Ty::F64 if floats < FLOAT_REGISTERS => {
                    words.floats[floats] = f64::from_bits(arg);
                    floats += 1;
                    true
                }
                Ty::Bool | Ty::I64 | Ty::Ptr if ints < INT_REGISTERS => {
                    words.ints[ints] = arg;
                    ints += 1;
                    true
                }
                _ => false,
            };
            if !in_register {
                words.stack.push(arg);
                words.spilled += 1;
            }
        }
        words
    }
}

/// Checks that a function of this signature can be called.
///
/// # Errors
/// The reason why not.
pub fn check_signature(signature: &Signature) -> Result<(), CallError> {
    let is_float = |&&ty: &&Ty| ty == Ty::F64;
    let floats = signature.params.iter().filter(is_float).count();
    let ints = signature.params.len() - floats;
    let words = ints.saturating_sub(INT_REGISTERS) + floats.saturating_sub(FLOAT_REGISTERS);
    if words > STACK_WORDS {
        return Err(CallError::TooManyArguments {
            signature: signature.to_string(),
            words,
            most: STACK_WORDS,
        });
    }
    // On x86-64 a pair of an integer and a float is returned in two kinds of registers, as compiled
    // code returns it.
    let takes_mixed = cfg!(target_arch = "x86_64");
    match &signature.results[..] {
        [] | [_] => Ok(()),
        [a, b] if takes_mixed || (*a == Ty::F64) == (*b == Ty::F64) => Ok(()),
        _ => Err(CallError::Results(signature.to_string())),
    }
}

/// Calls machine code. Returns the results' words; words that the signature lacks are 0.
///
/// # Errors
/// A [`CallError`]; then no call was made.
///
/// # Safety
/// At the address is a function of the C calling convention with this signature, and it may be
/// called with these arguments now.
pub unsafe fn call_address(
    address: u64,
    signature: &Signature,
    args: &[u64],
) -> Result<[u64; 2], CallError> {
    if address == 0 {
        return Err(CallError::Null);
    }
    check_signature(signature)?;
    let words = &Words::new(signature, args);
    let is_float = |&ty: &Ty| ty == Ty::F64;
    let bits = f64::to_bits;
    Ok(match &signature.results[..] {
        [] => {
            registers!(call_as, address, (), words);
            [0, 0]
        }
        [Ty::F64] => [bits(registers!(call_as, address, f64, words)), 0],
        [_] => [registers!(call_as, address, u64, words), 0],
        [a, b] => match (is_float(a), is_float(b)) {
            (false, false) => {
                let pair = registers!(call_as, address, IntInt, words);
                [pair.0, pair.1]
            }
            (true, true) => {
                let pair = registers!(call_as, address, FloatFloat, words);
                [bits(pair.0), bits(pair.1)]
            }
            (false, true) => {
                let pair = registers!(call_as, address, IntFloat, words);
                [pair.0, bits(pair.1)]
            }
            (true, false) => {
                let pair = registers!(call_as, address, FloatInt, words);
                [bits(pair.0), pair.1]
            }
        },
        _ => return Err(CallError::Results(signature.to_string())),
    })
}
