//! Tests of code memory without a compiler: the bytes are written by hand.
