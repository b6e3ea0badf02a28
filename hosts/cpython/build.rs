//! Sets the version of CPython that the crate is compiled for: the one that pyo3 builds for
//! (`PYO3_PYTHON`, or its configuration).

/// The newest minor version for which `src/abi` has a module.
const NEWEST: u8 = 15;
/// The oldest one.
const OLDEST: u8 = 13;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    let config = pyo3_build_config::get();
    let version = config.version();
    assert!(
        version.major == 3 && (OLDEST..=NEWEST).contains(&version.minor),
        "Cladonia supports CPython 3.{OLDEST} to 3.{NEWEST}, this is {version}"
    );
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // CPython 3.15 has symbols of its own that tell debuggers of code made at run time
        // (`__jit_debug_descriptor`): the module must use its own ones.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
