# Shared by the scripts: where the repository is, which Python, the virtual environment, and building into it.
# Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
venv="$root/.venv"

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# Whether an interpreter is a CPython of one of some versions.
is_wanted() {
    local python=$1
    shift
    "$python" -c 'import sys; sys.exit(sys.implementation.name != "cpython" or "%d.%d" % sys.version_info[:2] not in sys.argv[1:])' "$@" 2>/dev/null
}

# The CPython to use: $PYTHON if given, which may be a 3.14 (for which compiling is not supported yet), or the first 3.13 found.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_wanted "$PYTHON" 3.13 3.14 || fail "Cladonia needs CPython 3.13 or 3.14; \$PYTHON is $("$PYTHON" -V 2>/dev/null || echo "not a Python ($PYTHON)")."
        printf '%s\n' "$PYTHON"
        return
    fi
    local choice
    for choice in python3.13 python3 python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python3.13 /usr/local/bin/python3.13 /opt/python*/bin/python3.13; do
        if command -v "$choice" >/dev/null 2>&1 && is_wanted "$choice" 3.13; then
            # The interpreter itself, not a shim that looks at the current directory.
            "$choice" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "Cladonia needs CPython 3.13 and found none; put python3.13 on PATH or set \$PYTHON."
}

need_rust() {
    command -v cargo >/dev/null 2>&1 || { [ -x "$HOME/.cargo/bin/cargo" ] && PATH="$HOME/.cargo/bin:$PATH"; } \
        || fail "Rust is needed to build Cladonia: cargo is not on PATH."
    command -v cc >/dev/null 2>&1 || fail "A C compiler, with which Rust links, is needed to build Cladonia: cc is not on PATH."
}

# Puts the wheel that was built last where a Python without pip finds it.
install_wheel_into() {
    "$1" - "$root"/target/wheels/cladonia-*.whl <<'EOF'
import pathlib, shutil, sys, zipfile

target = next(path for path in map(pathlib.Path, reversed(sys.path)) if path.name in ("dist-packages", "site-packages"))
target.mkdir(parents=True, exist_ok=True)
for old in target.glob("cladonia*"):
    shutil.rmtree(old) if old.is_dir() else old.unlink()
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        # Files for the root of the folder lie in a folder of their own in a wheel.
        place = target / name.partition(".data/purelib/")[2] if ".data/purelib/" in name else target / name
        if not name.endswith("/"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(name))
EOF
}

# A virtual environment with a wheel of this checkout in it. Sets $python, the environment's interpreter.
install_here() {
    local base
    base=$(find_python) || exit 1
    need_rust
    if ! { [ -x "$venv/bin/python" ] && is_wanted "$venv/bin/python" "$("$base" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"; }; then
        rm -rf "$venv"
        "$base" -m venv "$venv" || fail "the virtual environment could not be made with $base."
    fi
    python="$venv/bin/python"
    export PYO3_PYTHON="$python"
    "$python" -m pip --disable-pip-version-check install --quiet 'maturin>=1.9,<2' \
        || fail "maturin could not be installed into .venv."
    rm -rf "$root/target/wheels"
    "$venv/bin/maturin" build --quiet --release --locked --manifest-path hosts/cpython/Cargo.toml \
        --interpreter "$python" --out "$root/target/wheels" || fail "the build failed."
    "$python" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps --no-index "$root"/target/wheels/cladonia-*.whl \
        || fail "the wheel could not be installed into .venv."
}
