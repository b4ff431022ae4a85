"""What may differ from run to run in an output, and what is shown in its place.

The rules are applied once, when a block has run: page, cache and approved outputs all hold the result.
"""

import re

# pattern, replacement, why a run cannot repeat it
RULES = (
    (r"\bat 0x[0-9a-f]+", "at 0x…", "an object's address"),
    (r"\b0x[57][0-9a-f]{11}\b", "0x…", "an address in the heap or a library"),
    (r"(___check_(?:obj|type)_id\([^\n]*?, )\d+", r"\1<id>", "a guard compares with id(object)"),
    (r"(__compiled_fn_\d+)_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}", r"\1_<uuid>", "Dynamo names with a uuid"),
    (r"<eval_with_key>\.\d+", "<eval_with_key>", "counts every graph the process made"),
    (r"(?m)^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ ", "", "date, time and process before a log line"),
    (r"\[[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ (\w+\.cpp:\d+)\]", r"[\1]", "date and time in a log line of C++"),
    (r"\b\d+(?:\.\d+)? (?:ns|us|µs|ms)\b", "<time>", "a duration"),
    (r"/\S*?/site-packages/", "", "where torch is installed"),
    (r"/__w/pytorch/pytorch/", "", "where PyTorch's wheel was built"),
    (r"/\S*?/extensions/[0-9a-f]{16}/", "", "where extensions are compiled, a folder for each block"),
    (r"/\S*?/inside-torch-\w+/\w+/(?:work|tmp)\b", ".", "the block's own folder"),
)

# pattern, what of the machine it is about: a notice that no block can help, and that is not held against one
NOTICES = (
    (r"(?m)^.*\bNo CUDA runtime is found, using CUDA_HOME=.*\n", "a CUDA toolkit without a GPU"),
    (r"(?m)^ERROR:.*DeviceProperties\.cpp.* gpuGetDeviceCount failed.*\n", "the same, said by the profiler"),
    (r"(?m)^USDT:.*ActivityProfiler.*profiler_(?:start|stop)\n", "when the profiler ran; the build has it silenced"),
    (r"(?m)^.*: RuntimeWarning: Guards may run slower on Python 3\.13\.0\b.*\n(?:  .*\n)?", "one release of Python"),
)


def normalised(output: str) -> str:
    """`output` with everything that no run can repeat replaced."""
    for pattern, replacement, _ in RULES:
        output = re.sub(pattern, replacement, output)
    return output


def without_notices(stderr: str) -> str:
    """`stderr` without what says something of the machine alone."""
    for pattern, _ in NOTICES:
        stderr = re.sub(pattern, "", stderr)
    return stderr
