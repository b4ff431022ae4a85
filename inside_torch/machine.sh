#!/bin/sh
# Is what `make` cannot install there? $1: the Python to use. Says what is missing and the line that installs it.
python=${1:-python3}
missing=0

miss() {
    missing=1
    printf '%s is missing.\n  Debian, Ubuntu:  %s\n  Fedora:          %s\n  macOS:           %s\n' "$1" "$2" "$3" "$4" >&2
}

command -v make >/dev/null || miss "make" "sudo apt install make" "sudo dnf install make" "xcode-select --install"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    miss "Python 3.10 or newer (looked for '$python'; another: make PYTHON=/path/to/python)" \
        "sudo apt install python3" "sudo dnf install python3" "brew install python"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    miss "Python's venv" "sudo apt install python3-venv" "sudo dnf install python3" "brew install python"
command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null ||
    miss "a C++ compiler" "sudo apt install g++" "sudo dnf install gcc-c++" "xcode-select --install"
exit $missing
