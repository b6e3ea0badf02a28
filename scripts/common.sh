# Shared by the scripts: the repository's root, the Python to use, the virtual environment, and
# building into it. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
venv="$root/.venv"

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# The versions of CPython that a wheel can be built for, the newest first.
supported=(3.15 3.14 3.13)

# Prints one line with the reason why no wheel of one of some versions can be built for an
# interpreter; prints nothing if one can.
why_not() {
    local python=$1
    shift
    "$python" - "$@" 2>/dev/null <<'END' || printf '%s is no Python\n' "$python"
import sys
version = "%d.%d" % sys.version_info[:2]
flags = getattr(sys, "abiflags", "")
wanted = " or ".join(reversed(sys.argv[1:]))
if sys.implementation.name != "cpython":
    print(f"Cladonia needs CPython {wanted}; {sys.executable} is {sys.implementation.name}")
elif version not in sys.argv[1:]:
    print(f"Cladonia needs CPython {wanted}; {sys.executable} is CPython {version}")
elif "t" in flags:
    print(f"Cladonia does not support the free-threaded build of CPython: {sys.executable}")
elif "d" in flags:
    print(f"Cladonia does not support debug builds of CPython: {sys.executable}")
END
}

is_wanted() { [ -z "$(why_not "$@")" ]; }

# Prints the CPython to use: $PYTHON if given, or the first one found of some versions, the preferred one first.
find_python() {
    local versions=("$@") version choice why
    [ $# -gt 0 ] || versions=("${supported[@]}")
    if [ -n "${PYTHON:-}" ]; then
        why=$(why_not "$PYTHON" "${supported[@]}")
        [ -z "$why" ] || fail "$why"
        printf '%s\n' "$PYTHON"
        return
    fi
    for version in "${versions[@]}"; do
        for choice in "python$version" python3 python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version"*/bin/"python$version" \
            /usr/local/bin/"python$version" /opt/python*/bin/"python$version"; do
            if command -v "$choice" >/dev/null 2>&1 && is_wanted "$choice" "$version"; then
                # The interpreter itself, not a shim that depends on the current directory.
                "$choice" -c 'import sys; print(sys.executable)'
                return
            fi
        done
    done
    fail "Cladonia needs CPython 3.13 to 3.15 and found none; put one on PATH, or name it by --python or \$PYTHON."
}

# Reads `--python P`, an alternative to $PYTHON; the other arguments are left in $arguments.
read_python() {
    arguments=()
    while [ $# -gt 0 ]; do
        case "$1" in
            --python) [ $# -gt 1 ] || fail "--python needs an interpreter"; export PYTHON=$2; shift 2 ;;
            --python=*) export PYTHON=${1#*=}; shift ;;
            *) arguments+=("$1"); shift ;;
        esac
    done
}

need_rust() {
    command -v cargo >/dev/null 2>&1 || { [ -x "$HOME/.cargo/bin/cargo" ] && PATH="$HOME/.cargo/bin:$PATH"; } \
        || fail "Rust is needed to build Cladonia: cargo is not on PATH."
    command -v cc >/dev/null 2>&1 || fail "A C compiler, with which Rust links, is needed to build Cladonia: cc is not on PATH."
}

# Installs the wheel that was built last into a Python without pip; a second argument names another
# folder of wheels.
install_wheel_into() {
    "$1" - "${2:-$root/target/wheels}"/cladonia-*.whl <<'EOF'
import pathlib, shutil, sys, zipfile

target = next(path for path in map(pathlib.Path, reversed(sys.path)) if path.name in ("dist-packages", "site-packages"))
target.mkdir(parents=True, exist_ok=True)
for old in target.glob("cladonia*"):
    shutil.rmtree(old) if old.is_dir() else old.unlink()
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        # Files for the root of the folder are in a folder of their own in a wheel.
        place = target / name.partition(".data/purelib/")[2] if ".data/purelib/" in name else target / name
        if not name.endswith("/"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(name))
EOF
}

# Builds a wheel for an interpreter into an otherwise empty folder, with the environment's maturin.
build_wheel() {
    rm -rf "$2"
    PYO3_PYTHON=$1 "$venv/bin/maturin" build --quiet --release --locked --manifest-path hosts/cpython/Cargo.toml --interpreter "$1" --out "$2"
}

# A virtual environment with a wheel of this checkout in it, for the first CPython of some versions
# that is found. Sets $python, the environment's interpreter.
install_here() {
    local base
    base=$(find_python "$@") || exit 1
    need_rust
    if ! { [ -x "$venv/bin/python" ] && is_wanted "$venv/bin/python" "$("$base" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"; }; then
        rm -rf "$venv"
        "$base" -m venv "$venv" || fail "the virtual environment could not be made with $base."
    fi
    python="$venv/bin/python"
    export PYO3_PYTHON="$python"
    "$python" -m pip --disable-pip-version-check install --quiet 'maturin>=1.9,<2' \
        || fail "maturin could not be installed into .venv."
    build_wheel "$python" "$root/target/wheels" || fail "the build failed."
    "$python" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps --no-index "$root"/target/wheels/cladonia-*.whl \
        || fail "the wheel could not be installed into .venv."
}
