use pyo3_ffi as _;
