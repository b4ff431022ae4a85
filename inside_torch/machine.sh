#!/bin/sh
# Is what `make` cannot install there? $1: the Python to use. Says what is missing and the line that installs it.
python=${1:-python3}
missing=0

miss() {
    missing=1
    printf '%s is missing.\n  Debian, Ubuntu:  %s\n  Fedora:          %s\n  macOS:           %s\n' "$1" "$2" "$3" "$4" >&2
}

command -v make >/dev/null || miss "make" "sudo apt install make" "sudo dnf install make" "xcode-select --install"
if ! "$python" -c 'import sys; sys.exit(not (3, 11, 5) <= sys.version_info < (3, 14))' 2>/dev/null; then
    found=$("$python" -V 2>&1) || found="not there"
    miss "A Python from 3.11.5 to 3.13 ('$python' is $found; once you have one: make PYTHON=python3.13)" \
        "sudo apt install python3.13-venv" "sudo dnf install python3.13" "brew install python@3.13"
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    miss "Python's venv" "sudo apt install python3-venv" "sudo dnf install python3" "brew install python"
fi
command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null ||
    miss "a C++ compiler" "sudo apt install g++" "sudo dnf install gcc-c++" "xcode-select --install"
exit $missing
