//! Calls of machine code from Rust, with a signature that is known only when the call is made.
//!
//! The calling conventions of C on 64-bit Unix number integer and float arguments apart, put what does not fit into
//! registers onto the stack in order, and let the caller clean up. So one function type serves all signatures: it has
//! every argument register and some words of stack, of which a callee looks at those that it has parameters for. How
//! results come back decides between six return types.

use crate::lir::graph::Signature;
use crate::ll::Ty;

/// Why a call can't be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The address is null.
    #[error("a call through null")]
    Null,
    /// Nothing is known at the address: a simulated machine has only what was defined for it.
    #[error("a call of {0}, which this machine does not have")]
    Unknown(String),
    /// More arguments than the trampoline passes.
    #[error("{signature} needs {words} words of stack; {most} are passed at most")]
    TooManyArguments {
        /// The signature, as text.
        signature: String,
        /// Words that it needs.
        words: usize,
        /// Words that there are.
        most: usize,
    },
    /// The machine's convention has no such results for Rust.
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
/// Words of stack that are passed where registers do not suffice.
const STACK_WORDS: usize = if cfg!(target_arch = "x86_64") { 256 } else { 0 };
/// Words of stack that are passed where few suffice.
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
            // SAFETY: see the module's head; the caller promises the signature.
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

/// Words of stack, which this machine's convention passes as they are: where a structure of more than two words goes.
/// On machines that pass such a structure by its address, nothing is passed on the stack.
#[repr(C)]
struct Stack<const N: usize>([u64; N]);

impl<const N: usize> Stack<N> {
    fn of(words: &[u64]) -> Stack<N> {
        let mut stack = [0; N];
        stack[..words.len().min(N)].copy_from_slice(&words[..words.len().min(N)]);
        Stack(stack)
    }
}

/// Where the arguments go.
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

/// Whether a function of this signature can be called.
///
/// # Errors
/// Why not.
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
    // There a pair of an integer and a float comes back in two kinds of registers, as compiled code gives it.
    let takes_mixed = cfg!(target_arch = "x86_64");
    match &signature.results[..] {
        [] | [_] => Ok(()),
        [a, b] if takes_mixed || (*a == Ty::F64) == (*b == Ty::F64) => Ok(()),
        _ => Err(CallError::Results(signature.to_string())),
    }
}

/// Call machine code. Gives the results' words; those that the signature lacks are 0.
///
/// # Errors
/// A [`CallError`]; nothing was called then.
///
/// # Safety
/// At the address is a function of the C calling convention with this signature, and it may be called with these
/// arguments now.
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
